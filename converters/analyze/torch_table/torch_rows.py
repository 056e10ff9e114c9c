"""Which rows of a host trace torch makes events of, and as what: the knowledge about categories and names.

Nothing here computes; `torch_events.py` reads rows with it, `device_links.py` finds the links between them.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT

from ...dialect import LAUNCHED
from ...timeline import HostTrace, Id, Int32, Int64

__all__ = [
    "ANNOTATION",
    "DEVICE",
    "DEVICE_ANNOTATION_CATEGORIES",
    "DEVICE_CATEGORIES",
    "HOST_CATEGORIES",
    "KINDS",
    "MEMORY_RECORD",
    "OP",
    "OUT_OF_MEMORY",
    "RUNTIME",
    "is_async_name",
    "kind_table",
    "launching_rows",
    "main_tracks",
    "shown_name",
    "timed_rows",
    "without_overload",
]

KINDS: Final = ("op", "device", "annotation", "runtime")
OP, DEVICE, ANNOTATION, RUNTIME = range(4)

HOST_CATEGORIES: Final = {
    "cpu_op": OP,
    "Operator": OP,
    "python_function": OP,
    "user_annotation": ANNOTATION,
    "Runtime": RUNTIME,
    "cuda_runtime": RUNTIME,
    "cuda_driver": RUNTIME,
    "xpu_runtime": RUNTIME,
    "xpu_driver": RUNTIME,
    "mtia_runtime": RUNTIME,
    "privateuse1_runtime": RUNTIME,
    "privateuse1_driver": RUNTIME,
    "overhead": RUNTIME,
}
"""Categories whose slices are events on the CPU, with the kind of their row. Capitals: torch up to 1.10."""

DEVICE_ANNOTATION_CATEGORIES: Final = frozenset({"gpu_user_annotation"})
DEVICE_CATEGORIES: Final = LAUNCHED | DEVICE_ANNOTATION_CATEGORIES | {"cuda_sync", "mtia_ccp_events", "mtia_workloadd", "hpu_op"}
"""Categories whose slices are events on a device."""

MEMORY_RECORD: Final = "[memory]"
OUT_OF_MEMORY: Final = "[OutOfMemory]"

_LEFT_OUT: Final = frozenset(
    {
        MEMORY_RECORD,
        OUT_OF_MEMORY,
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version",
    }
)
"""Names that torch leaves out of its events."""

_STEP: Final = "ProfilerStep#"
_OVERLOAD: Final = re.compile(r"(\w+::\w+)\.\w+")
_COLLECTIVE: Final = re.compile(r"(?:gloo|nccl|mpi|ucc|xccl|hccl):")


def without_overload(name: str) -> str:
    """An operator's name without its overload, which traces carry where they were told to, and the table never shows.

    >>> without_overload("aten::add_.Tensor"), without_overload("step 1.5")
    ('aten::add_', 'step 1.5')
    """
    match = _OVERLOAD.fullmatch(name)
    return match[1] if match else name


def shown_name(name: str) -> str | None:
    """The name under which torch lists a row; None where it leaves the row out.

    >>> shown_name("ProfilerStep#12"), shown_name("aten::is_leaf")
    ('ProfilerStep*', None)
    """
    if name in _LEFT_OUT:
        return None
    return "ProfilerStep*" if name.startswith(_STEP) else name


def is_async_name(name: str) -> bool:
    """Whether a row of this name may end on another thread: c10d marks all of its work so, and traces do not tell."""
    return _COLLECTIVE.match(name) is not None


def kind_table(host: HostTrace) -> Int32:
    """For every row of `host.strings`, as a category: the kind of event on the CPU, -1 = none. Int32[strings]."""
    return np.array([HOST_CATEGORIES.get(text, -1) for text in host.strings], np.int32)


def timed_rows(host: HostTrace, kinds: Int32) -> Int64:
    """Slices with a start and a duration whose category has a kind in `kinds` (-1 = none), ascending."""
    events = host.events
    is_slice = (events.phase == ord("X")) & (kinds[events.category] >= 0)
    return np.flatnonzero(is_slice & (events.start_ns != ABSENT) & (events.duration_ns != ABSENT)).astype(np.int64)


def launching_rows(host: HostTrace) -> Int64:
    """Host rows that device work and runtime calls can belong to: listed, on one thread, and no runtime calls.

    Args:
        host: The trace.

    Returns:
        Rows of `host.events`, ascending.
    """
    kinds = kind_table(host)
    rows = timed_rows(host, np.where(kinds == RUNTIME, -1, kinds).astype(np.int32))
    can_launch = np.zeros(len(host.strings), np.bool_)
    for row in np.unique(host.events.name[rows]).tolist():
        can_launch[row] = shown_name(host.strings[row]) is not None and not is_async_name(host.strings[row])
    return rows[can_launch[host.events.name[rows]]]


def main_tracks(host: HostTrace, op_tracks: Int32) -> Int32:
    """The track on which torch files a runtime call that is linked to no op: that of the thread which ended the trace.

    The trace does not say which thread that was. It is taken to be the main thread, whose id is the process id, or else
    the first one with an op.

    Args:
        host: The trace.
        op_tracks: int32[k]; the track of each op, in file order.

    Returns:
        int32[tracks]; for every track of the trace, the one that stands for its process; itself where there is no op.
    """
    result = np.arange(len(host.tracks), dtype=np.int32)
    first_of: dict[Id, int] = {}
    distinct, first = np.unique(op_tracks, return_index=True)
    in_order = distinct[np.argsort(first)].tolist()
    for row in sorted(in_order, key=lambda row: str(host.tracks[row].pid) != str(host.tracks[row].tid)):
        first_of.setdefault(host.tracks[row].pid, row)
    if not first_of:
        return result
    anywhere = next(iter(first_of.values()))
    for row, track in enumerate(host.tracks):
        result[row] = first_of.get(track.pid, anywhere)
    return result
