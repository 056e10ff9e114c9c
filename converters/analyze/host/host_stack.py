"""What threads of the host had open, and what it was: one tree of operators, ranges and calls of a runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...dialect import device_rows
from ...nesting import nearest, nest
from ...timeline import Bool, HostTrace, Int64
from ..torch_table.torch_rows import OP, is_async_name, kind_table, shown_name, timed_rows, without_overload

__all__ = ["HostStack", "host_stack"]

_PYTHON: Final = "python_function"


@dataclass(frozen=True, eq=False)
class HostStack:
    """Slices on threads of the host, in torch's order: callers stand before what they call. All columns have the same length n.

    Attributes:
        row: int64[n]; row of `HostTrace.events`.
        start_ns, end_ns: int64[n]; trace clock.
        track: int64[n]; row of `HostTrace.tracks`.
        parent: int64[n]; row of the caller; -1 = none.
        is_op: bool[n]; an operator; the others are ranges, Python frames and calls of a runtime.
        op_parent: int64[n]; row of the innermost operator around it; -1 = none.
        is_async: bool[n]; may end on another thread: neither calls nor is called.
        name: int64[n]; row of `names`.
        names: Names without overloads.
    """

    row: Int64
    start_ns: Int64
    end_ns: Int64
    track: Int64
    parent: Int64
    is_op: Bool
    op_parent: Int64
    is_async: Bool
    name: Int64
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.row)

    def without_calls(self, values: Int64) -> Int64:
        """int64[n]; of each value what the direct calls do not have: self time of durations, and so on."""
        alone = values.copy()
        called = np.flatnonzero(self.parent >= 0)
        np.subtract.at(alone, self.parent[called], values[called])
        return alone

    def named(self, *names: str) -> Bool:
        """bool[n]; which rows have one of these names."""
        return np.array([text in names for text in self.names], np.bool_)[self.name] if len(self) else np.zeros(0, np.bool_)


def host_stack(host: HostTrace) -> HostStack:
    """The slices of a host trace that torch's table counts as the host's, without those that are rows of a device."""
    events = host.events
    kinds = kind_table(host)
    is_device = np.zeros(len(events), np.bool_)
    is_device[device_rows(host).rows] = True
    rows = timed_rows(host, kinds)
    rows = rows[~is_device[rows] & (events.duration_ns[rows] >= 0)]
    numbers: dict[str, int] = {}
    is_shown = np.zeros(len(host.strings), np.bool_)
    number = np.zeros(len(host.strings), np.int64)
    for text in np.flatnonzero(np.bincount(events.name[rows])).tolist():
        is_shown[text] = shown_name(host.strings[text]) is not None
        number[text] = numbers.setdefault(without_overload(host.strings[text]), len(numbers))
    rows = rows[is_shown[events.name[rows]]]
    start_ns, end_ns, index = events.start_ns[rows], events.start_ns[rows] + events.duration_ns[rows], events.event_index[rows]
    order = order_by(start_ns, -end_ns, np.where(index >= 0, index, len(events)), rows)
    rows, start_ns, end_ns = rows[order], start_ns[order], end_ns[order]
    track, name = events.track[rows].astype(np.int64), number[events.name[rows]]
    is_python = np.array([text == _PYTHON for text in host.strings], np.bool_)[events.category[rows]]
    is_async = np.array([is_async_name(text) for text in numbers], np.bool_)[name] if len(rows) else np.zeros(0, np.bool_)
    is_op = (kinds[events.category[rows]] == OP) & ~is_python & ~is_async
    parent = _nested(~is_async, track, start_ns, end_ns)
    return HostStack(
        row=rows,
        start_ns=start_ns,
        end_ns=end_ns,
        track=track,
        parent=parent,
        is_op=is_op,
        op_parent=np.append(nearest(parent, is_op), -1)[parent],
        is_async=is_async,
        name=name,
        names=tuple(numbers),
    )


def _nested(is_nested: Bool, track: Int64, start_ns: Int64, end_ns: Int64) -> Int64:
    """int64[n]; caller of each row, among those that nest at all; -1 = none."""
    rows = np.flatnonzero(is_nested)
    parent = np.full(len(track), -1, np.int64)
    caller = nest(track[rows], start_ns[rows], end_ns[rows])
    parent[rows] = np.where(caller >= 0, rows[caller], -1) if len(rows) else caller
    return parent
