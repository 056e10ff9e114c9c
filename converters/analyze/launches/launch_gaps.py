"""Time in which a device had nothing to do because nothing was submitted, and what the submitting thread did meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT

from ...timeline import Int64, Timeline
from ..host.host_classes import covered_ns
from ..host.host_stack import HostStack
from ..host.host_threads import host_threads
from .launch_work import LaunchWork

__all__ = ["LaunchGaps", "launch_gaps"]


@dataclass(frozen=True, eq=False)
class LaunchGaps:
    """Stretches between the end of all work that was submitted and the next launch; all columns have the same length n.

    Attributes:
        launch: int64[n]; row of `Timeline.launches`: the launch that ends the gap.
        duration_ns: int64[n]; above 0.
        at_work_ns: int64[n]; the part of it in which the runtime recorded something on the thread of that launch: compilation,
            copies, waiting, hidden work.
        recorded_ns: int64[n]; the same with operators of the host trace: the rest is time of which nothing is known.
    """

    launch: Int64
    duration_ns: Int64
    at_work_ns: Int64
    recorded_ns: Int64

    def __len__(self) -> int:
        return len(self.launch)


def launch_gaps(timeline: Timeline, work: LaunchWork, stack: HostStack | None) -> LaunchGaps:
    """The gaps of a timeline's devices. Next to launches whose work is not known nothing is told.

    Args:
        timeline: Merged.
        work: Its launches.
        stack: Rows of its host trace; None without one.
    """
    begin, end = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    is_without = np.ones(len(timeline.launches), np.bool_)
    is_without[work.launch] = False
    unknown_ns = np.sort(timeline.launches.start_ns[is_without])
    for _, own in work.by_device():
        idle_from_ns, next_ns = np.maximum.accumulate(work.end_ns[own])[:-1], work.submitted_ns[own][1:]
        # A launch that is lost ran somewhere between its neighbours.
        missing = np.searchsorted(unknown_ns, next_ns) - np.searchsorted(unknown_ns, work.submitted_ns[own][:-1])
        is_gap = np.flatnonzero((next_ns > idle_from_ns) & (missing == 0))
        begin.append(idle_from_ns[is_gap])
        end.append(own[1:][is_gap])
    ends = np.concatenate(end)
    start_ns, end_ns, launch = np.concatenate(begin), work.submitted_ns[ends], work.launch[ends]
    threads = host_threads(timeline)
    lane = threads.launch[launch]
    spans = [_span(threads.runtime, timeline.runtime.start_ns, timeline.runtime.duration_ns)]
    spans.append(_span(threads.overhead, timeline.overheads.start_ns, timeline.overheads.duration_ns))
    at_work_ns = covered_ns(*_joined(spans), lane, start_ns, end_ns)
    if stack is not None:
        spans.append((stack.track[stack.is_op], stack.start_ns[stack.is_op], stack.end_ns[stack.is_op]))
    recorded_ns = covered_ns(*_joined(spans), lane, start_ns, end_ns)
    return LaunchGaps(launch, end_ns - start_ns, at_work_ns, recorded_ns)


def _joined(spans: Sequence[tuple[Int64, Int64, Int64]]) -> tuple[Int64, Int64, Int64]:
    lane, start_ns, end_ns = (np.concatenate(column) for column in zip(*spans, strict=True))
    return lane, start_ns, end_ns


def _span(lane: Int64, start_ns: Int64, duration_ns: Int64) -> tuple[Int64, Int64, Int64]:
    """Lane, start and end of the records that have all of them."""
    known = np.flatnonzero((lane >= 0) & (start_ns != ABSENT) & (duration_ns != ABSENT))
    return lane[known], start_ns[known], start_ns[known] + duration_ns[known]
