"""What each moment of a thread of the host was spent on: operators, checks, copies, waiting and so on.

A row of the host trace is of a class by what it is and by what it lies in: a scan of inputs, or a copy across devices, takes
everything in it along. What the runtime itself recorded (compilation, copies, waiting, submission, and operators on the CPU) has no
rows of its own there, and goes off the time of the rows that it lies in; where two records overlap, the one named first counts.
A scan keeps its time whole: it is what leaving it out would save.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.profile import OverheadKind
from rblnpb.row_order import order_by

from ...dialect import ANNOTATIONS
from ...results import HOST_CLASSES
from ...timeline import HostTrace, Int64, Timeline
from ..intervals import busy_stretches
from ..torch_table.call_tree import levels
from .crossing_copies import COPY, DOWNLOAD, LAUNCH, NOTHING, UPLOAD, WAIT, call_purposes, copy_directions
from .host_stack import HostStack, host_stack
from .host_threads import host_threads
from .input_checks import InputChecks, input_checks

__all__ = ["CLASSES", "HostClasses", "covered_ns", "host_classes", "runtime_rows"]

CLASSES: Final = tuple(HOST_CLASSES)

_CLASS: Final = {name: row for row, name in enumerate(CLASSES)}
_NONE: Final = -1
_RECORDED: Final = {"compile": "compile", "wait": "wait", "upload": "copy in", "download": "copy out", "submit": "submit"}
"""Class of the runtime's slices, by name, in the order in which they count; fallbacks, which are overheads, count before them."""


@dataclass(frozen=True, eq=False)
class HostClasses:
    """The rows of a stack by class.

    Attributes:
        stack: The rows.
        checks: Scans of inputs among them.
        self_ns: int64[n]; self time; 0 of what may end on another thread.
        row_class: int64[n]; row of `CLASSES`.
        recorded_ns: int64[c, n]; parts of the self time that records of the runtime give to each of the c classes.
    """

    stack: HostStack
    checks: InputChecks
    self_ns: Int64
    row_class: Int64
    recorded_ns: Int64

    def by_class(self) -> Iterator[tuple[Int64, Int64]]:
        """Parts of the self time: int64[n] rows of `CLASSES`, and int64[n] ns. All parts together are the self time, exactly."""
        yield self.row_class, self.self_ns - self.recorded_ns.sum(axis=0)
        for row, part_ns in enumerate(self.recorded_ns):
            yield np.full(len(part_ns), row), part_ns


def host_classes(timeline: Timeline, host: HostTrace) -> HostClasses:
    """The classes of a timeline's host trace.

    Args:
        timeline: Merged.
        host: `timeline.host`.
    """
    stack = host_stack(host)
    checks = input_checks(stack)
    duration_ns = stack.end_ns - stack.start_ns
    spans = list(_recorded_spans(timeline))
    purpose = np.where(stack.is_op, NOTHING, call_purposes(host, stack.row))
    own = _copies(timeline, host, stack, purpose, spans)
    own[checks.roots] = _CLASS["checks"]
    row_class = _inherited(own, stack)
    row_class = np.where(row_class == _NONE, _own_class(stack, host, purpose), row_class)
    recorded_ns = np.zeros((len(CLASSES), len(stack)), np.int64)
    is_check = row_class == _CLASS["checks"]
    before_ns = np.zeros(len(stack), np.int64)
    for number in range(1, len(spans) + 1):
        if not len(spans[number - 1][1][0]):
            continue
        lane, start_ns, end_ns = (np.concatenate(column) for column in zip(*(span for _, span in spans[:number]), strict=True))
        until_ns = stack.without_calls(covered_ns(lane, start_ns, end_ns, stack.track, stack.start_ns, stack.end_ns))
        recorded_ns[_CLASS[spans[number - 1][0]]] = np.where(is_check | stack.is_async, 0, until_ns - before_ns)
        before_ns = until_ns
    self_ns = np.where(stack.is_async, 0, stack.without_calls(duration_ns))
    return HostClasses(stack, checks, self_ns, row_class, recorded_ns)


_Span = tuple[Int64, Int64, Int64]
"""Lane, start and end: int64[k] each."""


def _recorded_spans(timeline: Timeline) -> Iterator[tuple[str, _Span]]:
    """What the runtime recorded on threads of the host: class, and when on which row of `HostTrace.tracks` or beyond them."""
    threads = host_threads(timeline)
    overheads, runtime = timeline.overheads, timeline.runtime
    is_fallback = (overheads.kind == OverheadKind.CPU_FALLBACK) & (overheads.start_ns != ABSENT) & (overheads.duration_ns != ABSENT)
    yield "fallback", _span(threads.overhead, overheads.start_ns, overheads.duration_ns, np.flatnonzero(is_fallback))
    for name, recorded in _RECORDED.items():
        yield name, _span(threads.runtime, runtime.start_ns, runtime.duration_ns, runtime_rows(timeline, recorded))


def runtime_rows(timeline: Timeline, name: str) -> Int64:
    """Rows of `timeline.runtime` of one name, such as "wait", ascending."""
    if name not in timeline.strings:
        return np.empty(0, np.int64)
    return np.flatnonzero(timeline.runtime.name == timeline.strings.index(name))


def _span(lane: Int64, start_ns: Int64, duration_ns: Int64, rows: Int64) -> _Span:
    rows = rows[lane[rows] >= 0]
    return lane[rows], start_ns[rows], start_ns[rows] + duration_ns[rows]


def covered_ns(lane: Int64, start_ns: Int64, end_ns: Int64, of_lane: Int64, of_start_ns: Int64, of_end_ns: Int64) -> Int64:
    """How much of each of n stretches at least one interval of its lane covers.

    Args:
        lane, start_ns, end_ns: int64[k]; the intervals, any order; the end not before the start.
        of_lane, of_start_ns, of_end_ns: int64[n]; the stretches.

    >>> one = np.array([1, 1]), np.array([0, 8]), np.array([10, 12])
    >>> covered_ns(*one, np.array([1, 0]), np.array([5, 5]), np.array([11, 11])).tolist()
    [6, 0]
    """
    covered = np.zeros(len(of_lane), np.int64)
    if not len(lane) or not len(of_lane):
        return covered
    order = order_by(lane, start_ns)
    union = busy_stretches(lane[order], start_ns[order], end_ns[order])
    lanes, first = np.unique(union.lane, return_index=True)
    by_lane = order_by(of_lane)
    ordered = of_lane[by_lane]
    bounds = np.append(first, len(union)).tolist()
    for one, begin, stop in zip(lanes.tolist(), bounds, bounds[1:], strict=False):
        own = by_lane[slice(*np.searchsorted(ordered, (one, one + 1)))]
        start, end = union.start_ns[begin:stop], union.end_ns[begin:stop]
        passed = np.append(0, np.cumsum(end - start))

        def until(time_ns: Int64, start: Int64 = start, end: Int64 = end, passed: Int64 = passed) -> Int64:
            place = np.searchsorted(start, time_ns, side="right")
            beyond: Int64 = np.maximum(np.append(np.iinfo(np.int64).min, end)[place] - time_ns, 0)
            return passed[place] - np.where(place > 0, beyond, 0)

        covered[own] = until(of_end_ns[own]) - until(of_start_ns[own])
    return covered


def _inherited(own: Int64, stack: HostStack) -> Int64:
    """int64[n]; the class of the outermost row around each that has one, itself included; scans are that wherever they lie."""
    found = own.copy()
    for level in reversed(levels(stack.parent)):
        above = found[stack.parent[level]]
        found[level] = np.where((above != _NONE) & (own[level] != _CLASS["checks"]), above, own[level])
    return found


def _own_class(stack: HostStack, host: HostTrace, purpose: Int64) -> Int64:
    """int64[n]; what a row is by itself."""
    is_range = np.array([text in ANNOTATIONS for text in host.strings], np.bool_)[host.events.category[stack.row]]
    by_purpose = np.full(DOWNLOAD + 1, _CLASS["other"])
    by_purpose[[LAUNCH, WAIT]] = _CLASS["submit"], _CLASS["wait"]
    called = np.where(is_range, _CLASS["annotation"], by_purpose[purpose])
    return np.where(stack.is_op, _CLASS["dispatch"], called)


def _copies(timeline: Timeline, host: HostTrace, stack: HostStack, purpose: Int64, spans: Sequence[tuple[str, _Span]]) -> Int64:
    """int64[n]; the class of rows that copy across devices, -1 elsewhere. The runtime's records tell the way where rows do not."""
    direction = copy_directions(timeline, host, stack, purpose)
    unknown = np.flatnonzero(direction == COPY)
    for name, known in (("download", DOWNLOAD), ("upload", UPLOAD)):
        span = dict(spans)[name]
        copied_ns = covered_ns(*span, stack.track[unknown], stack.start_ns[unknown], stack.end_ns[unknown])
        direction[unknown[copied_ns > 0]] = known
    classes = np.full(DOWNLOAD + 1, _NONE)
    classes[[COPY, UPLOAD, DOWNLOAD]] = _CLASS["copy"], _CLASS["upload"], _CLASS["download"]
    return classes[direction]
