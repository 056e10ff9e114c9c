"""Submission latency: from the host's launch to the first work of the device, which no counter of a runtime shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from ...results import Latency, LatencyFigures, LatencyGroup, QueueUse
from ...timeline import ClockQuality, Int64, Timeline
from .distribution import distribution, distributions
from .launch_work import LaunchWork, launch_work
from .native_threads import thread_names
from .queue import queues

__all__ = ["SYSTEMATIC_PERCENT", "latency", "uncertainty_ns"]

SYSTEMATIC_PERCENT: Final = 1
"""More launches than this of which the device starts first are no accident of single records: the clocks do not fit."""

_ENOUGH_LAUNCHES: Final = 8
"""From fewer launches that never overlap nothing is concluded."""


def latency(timeline: Timeline) -> Latency:
    """Submission latency and queue length of a timeline."""
    work = launch_work(timeline)
    difference_ns, waiting_ns = work.difference_ns(), work.waiting_ns()
    latency_ns = np.maximum(difference_ns, 0)
    queue, each = queues(work)
    launches = timeline.launches
    columns = (difference_ns, latency_ns, waiting_ns)
    everything = np.zeros(len(work), np.int64)
    return Latency(
        sources=timeline.sources,
        launch_count=len(launches),
        launches_without_work=len(launches) - len(work),
        slices_without_launch=work.slices_without_launch,
        uncertainty_ns=uncertainty_ns(timeline.clocks),
        total=_figures(columns, everything, 1)[0],
        waiting=distribution(waiting_ns),
        submission=distribution(latency_ns - waiting_ns),
        programs=_programs(timeline, work, columns),
        threads=_threads(timeline, work, columns),
        queue=queue,
        queues=each,
        is_serialised=timeline.is_serialised,
        findings=(*_nothing(timeline, work), *_skew(difference_ns), *_drained(timeline, each)),
    )


def uncertainty_ns(clocks: Sequence[ClockQuality]) -> int | None:
    """By how much a difference between a device's time and the host's may be off; None where no clock of a device was placed.

    Both come to the trace clock by way of the host's monotonic clock, so that real time has no part in it.
    """
    return max((clock.uncertainty_ns + clock.residual_ns for clock in clocks if clock.name != "host real time"), default=None)


_Columns = tuple[Int64, Int64, Int64]
"""The difference as it stands, the latency, and the part of it that was waiting: int64[n] each."""


def _figures(columns: _Columns, group: Int64, group_count: int) -> tuple[LatencyFigures, ...]:
    difference_ns, latency_ns, waiting_ns = columns
    least_ns = np.full(group_count, np.iinfo(np.int64).max)
    np.minimum.at(least_ns, group, difference_ns)
    negative, waited = (np.bincount(group[mask], minlength=group_count).tolist() for mask in (difference_ns < 0, waiting_ns > 0))
    of_latency = distributions(latency_ns, group, group_count)
    of_waiting = distributions(waiting_ns, group, group_count)
    return tuple(
        LatencyFigures(
            latency=of_latency[at],
            least_ns=least if of_latency[at].count else None,
            n_negative=negative[at],
            waited_count=waited[at],
            waiting_ns=of_waiting[at].sum_ns,
            submission_ns=of_latency[at].sum_ns - of_waiting[at].sum_ns,
        )
        for at, least in enumerate(least_ns.tolist())
    )


def _programs(timeline: Timeline, work: LaunchWork, columns: _Columns) -> tuple[LatencyGroup, ...]:
    launches = timeline.launches
    key = launches.name[work.launch].astype(np.int64) * len(timeline.strings) + launches.compile_id[work.launch]
    distinct, group = np.unique(key, return_inverse=True)
    named = [divmod(one, len(timeline.strings)) for one in distinct.tolist()]
    texts = timeline.strings
    return _ordered(
        LatencyGroup(texts[name], texts[graph], None, None, figures)
        for (name, graph), figures in zip(named, _figures(columns, group, len(distinct)), strict=True)
    )


def _threads(timeline: Timeline, work: LaunchWork, columns: _Columns) -> tuple[LatencyGroup, ...]:
    launches = timeline.launches
    pid, tid = launches.pid[work.launch], launches.tid[work.launch]
    _, of_pid = np.unique(pid, return_inverse=True)
    threads, of_tid = np.unique(tid, return_inverse=True)
    _, first, group = np.unique(of_pid * (len(threads) + 1) + of_tid, return_index=True, return_inverse=True)
    names = {} if timeline.host is None else thread_names(timeline.host)
    found = []
    for at, figures in zip(first.tolist(), _figures(columns, group, len(first)), strict=True):
        ids = int(pid[at]), int(tid[at])
        found.append(LatencyGroup(names.get(ids, ""), "", *ids, figures))
    return _ordered(found)


def _ordered(groups: Iterable[LatencyGroup]) -> tuple[LatencyGroup, ...]:
    """Those that launched most often first, then by name and ids."""

    def key(group: LatencyGroup) -> tuple[int, str, str, int, int]:
        return -group.figures.latency.count, group.name, group.compile_id, group.pid or 0, group.tid or 0

    return tuple(sorted(groups, key=key))


def _nothing(timeline: Timeline, work: LaunchWork) -> tuple[Finding, ...]:
    if len(work):
        return ()
    has_some = len(timeline.launches) > 0
    why = (
        "no work is known of any launch"
        if has_some
        else "no launch was recorded: give a device profile, or a trace with device rows"
    )
    return (Finding(Severity.WARNING, "nothing-launched", f"there is no latency to tell: {why}"),)


def _skew(difference_ns: Int64) -> tuple[Finding, ...]:
    """Work ahead of its own launch, where that is the rule rather than an accident of single records."""
    early = np.flatnonzero(difference_ns < 0)
    count = len(difference_ns)
    if 100 * len(early) <= SYSTEMATIC_PERCENT * count:
        return ()
    median_ns = int(np.sort(difference_ns)[(count - 1) // 2])
    of_all = counted(count, "launch", "launches")
    message = (
        f"the device starts before {len(early):,} of {of_all}, by up to {-int(difference_ns[early].min()):,} ns (median "
        f"of all: {median_ns:,} ns after): the clocks of host and device do not fit, and latencies are too short by as much"
    )
    return (Finding(Severity.WARNING, "clock-skew", message, len(early)),)


def _drained(timeline: Timeline, queues_of_devices: Sequence[QueueUse]) -> tuple[Finding, ...]:
    """What profiling that waits for the device does to a queue."""
    count = sum(queue.launch_count for queue in queues_of_devices)
    if timeline.is_serialised:
        message = (
            "recording waited for the device after each run, so nothing could queue up: queue length and waiting are those of the "
            "profiled run alone"
        )
        return (Finding(Severity.WARNING, "queue-drained", message, max(count, 1)),)
    longest = max((queue.max_length for queue in queues_of_devices), default=0)
    if timeline.is_serialised is None and longest <= 1 and count >= _ENOUGH_LAUNCHES:
        message = (
            f"no launch was submitted before the work of the one ahead of it had ended ({count:,} launches): recording may have "
            "waited for the device after each run, as the vendor's does"
        )
        return (Finding(Severity.INFO, "queue-never-used", message, count),)
    return ()
