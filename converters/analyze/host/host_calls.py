"""Everything that threads of the host had open: Python frames, modules, named ranges and ops, as one tree of calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...dialect import annotation_rows, op_rows, slice_rows
from ...nesting import enclosing, nearest, nest
from ...results import FRAME_KINDS, Frame
from ...timeline import Bool, HostTrace, Int64
from ..grouping import first_rows, numbered
from ..torch_table.torch_rows import is_async_name, shown_name, without_overload

__all__ = ["ANNOTATION", "MODULE", "OP", "PYTHON", "HostCalls", "is_within", "read_calls"]

PYTHON, MODULE, ANNOTATION, OP = (FRAME_KINDS.index(kind) for kind in ("python", "module", "annotation", "op"))

_PYTHON_CATEGORY: Final = "python_function"
_MODULE_NAME: Final = "nn.Module: "
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True, eq=False)
class HostCalls:
    """Calls, thread by thread, callers before what they call; all columns have the same length n.

    Attributes:
        event: int64[n]; row of `HostTrace.events`.
        track: int64[n]; row of `HostTrace.tracks`: the thread.
        start_ns, end_ns: int64[n]; trace clock.
        parent: int64[n]; row of the innermost call around it; -1 = none.
        kind: int64[n]; row of `FRAME_KINDS`.
        frame: int64[n]; row of `frames`.
        frames: Distinct frames, in order of first appearance.
        left_out_count: Named ranges that lie around no call: they began in one that ended after them, or may end on another thread.
    """

    event: Int64
    track: Int64
    start_ns: Int64
    end_ns: Int64
    parent: Int64
    kind: Int64
    frame: Int64
    frames: tuple[Frame, ...]
    left_out_count: int

    def __len__(self) -> int:
        return len(self.event)


def is_within(calls: HostCalls, *kinds: int) -> Bool:
    """bool[n]; which calls are, or lie in, one of these kinds."""
    return nearest(calls.parent, np.isin(calls.kind, kinds)) >= 0


def read_calls(host: HostTrace, *, with_annotations: bool) -> HostCalls:
    """The calls of a trace.

    Calls of the runtime are none: their time is that of the op which made them. A named range is begun by one call of Python and
    ended by another, so it crosses both; here it lasts from the end of the first to the start of the second, and lies around what
    is in between.

    Args:
        host: The trace.
        with_annotations: Take ranges that somebody named for frames too.
    """
    python, ops = slice_rows(host, _PYTHON_CATEGORY), op_rows(host)
    events = host.events
    rows = np.concatenate((python, ops))
    kind = np.repeat([PYTHON, OP], [len(python), len(ops)])
    calls = _ordered(host, rows, kind, events.start_ns[rows], events.start_ns[rows] + events.duration_ns[rows])
    if not with_annotations:
        return calls
    ranges = annotation_rows(host)
    ranges = ranges[~np.isin(ranges, python, kind="table")]
    start_ns, end_ns = _between(calls, host, ranges)
    is_around = start_ns < end_ns
    more = (ranges[is_around], np.full(int(is_around.sum()), ANNOTATION), start_ns[is_around], end_ns[is_around])
    columns = zip((calls.event, calls.kind, calls.start_ns, calls.end_ns), more, strict=True)
    return _ordered(host, *map(np.concatenate, columns), left_out_count=int((~is_around).sum()))


def _ordered(host: HostTrace, rows: Int64, kind: Int64, start_ns: Int64, end_ns: Int64, *, left_out_count: int = 0) -> HostCalls:
    by_file = order_by(rows)
    rows, kind, start_ns, end_ns = rows[by_file], kind[by_file], start_ns[by_file], end_ns[by_file]
    track = host.events.track[rows].astype(np.int64)
    # Python calls ops and ranges, not the other way round, wherever times alone do not tell; else the file's order does.
    order = order_by(track, start_ns, -end_ns, np.where(kind == MODULE, PYTHON, kind))
    kind, frame, frames = _frames(host, rows, kind)
    track, start_ns, end_ns = track[order], start_ns[order], end_ns[order]
    parent = nest(track, start_ns, end_ns)
    return HostCalls(rows[order], track, start_ns, end_ns, parent, kind[order], frame[order], frames, left_out_count)


def _frames(host: HostTrace, rows: Int64, kind: Int64) -> tuple[Int64, Int64, tuple[Frame, ...]]:
    """Kind, which tells modules now, and frame of each row; and the distinct frames in the order in which the rows show them."""
    code = kind * len(host.strings) + host.events.name[rows]
    distinct, of_row = numbered(code)
    first = first_rows(of_row, len(distinct))
    number: dict[Frame, int] = {}
    kinds, frame = np.zeros((2, len(distinct)), np.int64)
    for at in np.argsort(first).tolist():
        one_kind, name = divmod(int(distinct[at]), len(host.strings))
        found = _frame(one_kind, host.strings[name])
        kinds[at], frame[at] = FRAME_KINDS.index(found.kind), number.setdefault(found, len(number))
    return kinds[of_row], frame[of_row], tuple(number)


def _frame(kind: int, name: str) -> Frame:
    if kind in (PYTHON, MODULE):
        # Where an object lay in memory differs from call to call, what was called does not.
        return Frame(_ADDRESS.sub("", name), "module" if name.startswith(_MODULE_NAME) else "python")
    if kind == ANNOTATION:
        return Frame(shown_name(name) or name, "annotation")
    return Frame(without_overload(name), "op")


def _between(calls: HostCalls, host: HostTrace, rows: Int64) -> tuple[Int64, Int64]:
    """Start and end of each range between the calls that began and ended it: int64[n] each; an end before the start where none is.

    What only touches a range's start or end does not cross it.
    """
    events = host.events
    track, start_ns = events.track[rows].astype(np.int64), events.start_ns[rows]
    end_ns = start_ns + events.duration_ns[rows]
    is_async = np.array([is_async_name(text) for text in host.strings], np.bool_)[events.name[rows]]
    tree = (calls.track, calls.start_ns, calls.end_ns, calls.parent)
    parent, call_start_ns, call_end_ns = (np.append(column, -1) for column in (calls.parent, calls.start_ns, calls.end_ns))
    began_in = enclosing(*tree, track, start_ns - 1, start_ns + 1)
    ended_in = enclosing(*tree, track, end_ns - 1, end_ns + 1)
    began_ns, ended_ns = start_ns.copy(), end_ns.copy()
    climbing = np.arange(len(rows))
    while len(climbing := climbing[(began_in[climbing] >= 0) & (call_end_ns[began_in[climbing]] < end_ns[climbing])]):
        began_ns[climbing] = call_end_ns[began_in[climbing]]
        began_in[climbing] = parent[began_in[climbing]]
    climbing = np.arange(len(rows))
    while len(climbing := climbing[(ended_in[climbing] >= 0) & (call_start_ns[ended_in[climbing]] > start_ns[climbing])]):
        ended_ns[climbing] = call_start_ns[ended_in[climbing]]
        ended_in[climbing] = parent[ended_in[climbing]]
    return began_ns, np.where(is_async, began_ns, ended_ns)
