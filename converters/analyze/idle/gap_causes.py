"""Why a device was idle: every nanosecond of its gaps with the first cause that explains it.

The slice that ends a gap could not begin before its launch was submitted. What lies before the submission is therefore the host's,
and told by what the submitting thread did: the runtime's own records first, then ops, then nothing. What lies after it is the
device's: what it is recorded to have waited for, the way from the submission to the device, or unknown. Where a trace names the op
of a slice and no launch, the submission came somewhere within the op: not before it began, and before it ended. Causes and their
order are those of `results.CAUSES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.row_order import order_by
from rblnpb.strings import StringTable

from ...dialect import host_window
from ...results import CAUSES, STEPS
from ...timeline import JOIN_RULES, HostTrace, Int64, Timeline
from ..grouping import numbered
from ..host.host_threads import HostThreads, host_threads
from .coverage import Stretches
from .device_waits import device_waits
from .gaps import Gaps, dependency_ends
from .host_activity import HostActivities, host_activities, interned, op_coverage, told_tracks
from .lost_records import device_losses, lost_coverage, unseen_since_ns
from .occupancy import Calls, OrderedWork

__all__ = ["INSIDE_PROGRAM", "WITHIN_OP", "GapPieces", "explain_gaps"]

_CAUSE: Final = {name: code for code, name in enumerate(CAUSES)}
_STEP: Final = {name: code for code, name in enumerate(STEPS)}

INSIDE_PROGRAM: Final = "inside a program"
"""What stands for unknown gaps whose launch is known and has begun."""

WITHIN_OP: Final = "submitted within its op, when is not recorded"
"""What stands for unknown gaps while the op runs that launched the next slice, where its launch is not known."""


@dataclass(frozen=True, eq=False)
class GapPieces:
    """Pieces of gaps, each with one cause; they add up to the gaps. In order of gap and time; all columns have the same length n.

    Attributes:
        gap: int64[n]; row of `Gaps`.
        start_ns, end_ns: int64[n]; trace clock.
        cause: int64[n]; place in `results.CAUSES`.
        step: int64[n]; place in `results.STEPS`; -1 = none.
        name: int64[n]; row of `names`: the op, activity, engine or program that stands for it; 0 = none.
        names: Texts; row 0 is "".
    """

    gap: Int64
    start_ns: Int64
    end_ns: Int64
    cause: Int64
    step: Int64
    name: Int64
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.gap)


@dataclass(frozen=True, eq=False)
class _Ends:
    """What is known of the slice that ends each gap; k rows.

    Attributes:
        device: int64[k]; row of `OrderedWork.devices`.
        launch: int64[k]; -1 = not known.
        op: int64[k]; row of the host's events: the op that submitted it; -1 = not known.
        lane: int64[k]; thread that submitted it, see `HostThreads`; -1 = not known.
        submitted_ns: int64[k]; trace clock; where the launch is not known, the start of its op, else of the gap.
        sent_ns: int64[k]; when it was submitted for sure: the end of its op where the launch is not known.
        begun_ns: int64[k]; when its call began on the device.
        program: int64[k]; name of the launch, else of the op, in the table of names.
    """

    device: Int64
    launch: Int64
    op: Int64
    lane: Int64
    submitted_ns: Int64
    sent_ns: Int64
    begun_ns: Int64
    program: Int64


class _Sorter:
    """Takes stretches with their causes as they are found."""

    def __init__(self) -> None:
        self.names = StringTable()
        self._parts: list[tuple[Int64, ...]] = []

    def add(self, stretches: Stretches, cause: str | Int64, step: str | Int64 = "", name: Int64 | int = 0) -> None:
        """Stretches with their cause: a column, or one for all."""
        codes = _CAUSE[cause] if isinstance(cause, str) else cause
        steps = _STEP.get(step, -1) if isinstance(step, str) else step
        spread = (np.broadcast_to(np.asarray(column, np.int64), (len(stretches),)) for column in (codes, steps, name))
        self._parts.append((stretches.gap, stretches.start_ns, stretches.end_ns, *spread))

    def pieces(self) -> GapPieces:
        """All of them, in order."""
        columns = [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]
        order = order_by(columns[0], columns[1])
        gap, start_ns, end_ns, cause, step, name = (column[order] for column in columns)
        return GapPieces(gap, start_ns, end_ns, cause, step, name, self.names.rows())


def explain_gaps(timeline: Timeline, work: OrderedWork, calls: Calls, gaps: Gaps, min_gap_ns: int) -> GapPieces:
    """The causes of gaps.

    Args:
        timeline: Any.
        work: Its work.
        calls: Its calls.
        gaps: Its gaps, of devices or of engines.
        min_gap_ns: Gaps below this are not looked into.
    """
    sorter = _Sorter()
    everything = Stretches(np.arange(len(gaps), dtype=np.int64), gaps.start_ns, gaps.end_ns)
    is_short = gaps.end_ns - gaps.start_ns < min_gap_ns
    sorter.add(everything.where(is_short), "short")
    threads = host_threads(timeline)
    ends = _ends(timeline, sorter, work, calls, gaps, threads)
    left = _lost(timeline, sorter, work, gaps, ends, everything.where(~is_short))
    before, after = left.split(ends.submitted_ns[left.gap])
    host = host_activities(timeline, threads, sorter.names)
    free = _host_work(sorter, host, ends, before)
    _host_ops(timeline, sorter, threads.track_count, ends, free)
    free = _waits(timeline, sorter, work, ends, after)
    free = _dependencies(timeline, sorter, work, gaps, ends, free, min_gap_ns)
    _the_rest(timeline, sorter, work, gaps, ends, host, free)
    return sorter.pieces()


def _ends(timeline: Timeline, sorter: _Sorter, work: OrderedWork, calls: Calls, gaps: Gaps, threads: HostThreads) -> _Ends:
    launches, host = timeline.launches, timeline.host
    launch, call = work.launch[gaps.before], calls.of_work[gaps.before]
    op = np.where(launch >= 0, np.append(launches.host_row, -1)[launch], timeline.slices.host_row[work.row[gaps.before]])
    lane = np.append(threads.launch, -1)[launch]
    submitted_ns = np.where(launch >= 0, np.append(launches.start_ns, 0)[launch], gaps.start_ns)
    sent_ns = submitted_ns.copy()
    program = np.append(interned(sorter.names, timeline.strings, launches.name.astype(np.int64)), 0)[launch]
    by_op = np.flatnonzero((launch < 0) & (op >= 0))
    if host is not None and len(by_op):
        events, rows = host.events, op[by_op]
        lane[by_op], submitted_ns[by_op] = events.track[rows], events.start_ns[rows]
        sent_ns[by_op] = events.start_ns[rows] + events.duration_ns[rows]
        program[by_op] = interned(sorter.names, host.strings, events.name[rows].astype(np.int64))
    begun_ns = np.where(call >= 0, np.append(calls.begun_ns, 0)[call], gaps.end_ns)
    return _Ends(work.device[gaps.before], launch, op, lane, submitted_ns, sent_ns, begun_ns, program)


def _lost(timeline: Timeline, sorter: _Sorter, work: OrderedWork, gaps: Gaps, ends: _Ends, left: Stretches) -> Stretches:
    """Take what may be busy time whose records are lost."""
    losses = device_losses(timeline)
    if not losses:
        return left
    names = np.array([sorter.names.intern(loss.reason) for loss in losses], np.int64)
    pieces = lost_coverage(losses, work.devices).cut(ends.device[left.gap], left)
    covered, loss = pieces.covered()
    sorter.add(covered, "recording-lost", name=names[loss])
    left = pieces.uncovered()
    without_time = [place for place, loss in enumerate(losses) if loss.start_ns is None or loss.end_ns is None]
    if without_time:
        left, unseen = left.split(unseen_since_ns(timeline, work, gaps)[left.gap])
        sorter.add(unseen, "recording-lost", name=int(names[without_time[0]]))
    return left


def _host_work(sorter: _Sorter, host: HostActivities, ends: _Ends, before: Stretches) -> Stretches:
    """Take what the submitting thread spent in the runtime, or in hidden work."""
    pieces = host.coverage.cut(ends.lane[before.gap], before)
    covered, owner = pieces.covered()
    sorter.add(covered, host.cause[owner], host.step[owner], host.name[owner])
    return pieces.uncovered()


def _host_ops(timeline: Timeline, sorter: _Sorter, track_count: int, ends: _Ends, free: Stretches) -> None:
    """Sort out the rest of what lies before submissions: by op where the trace shows the thread at that time."""
    host = timeline.host
    window = None if host is None else host_window(host)
    if host is not None and window is not None:
        lane = ends.lane[free.gap]
        is_told = np.append(told_tracks(host), False)[np.where(lane < track_count, lane, -1)]
        early, told = free.where(is_told).split(np.full(int(is_told.sum()), window[0]))
        told, late = told.split(np.full(len(told), window[1]))
        _ops(host, sorter, ends, told)
        free = free.where(~is_told).joined(early).joined(late)
    # Without the runtime's records there is no telling the recorder's wait from what followed it.
    is_drained = bool(timeline.is_serialised) and not len(timeline.runtime)
    sorter.add(free, "serialised-by-profiling" if is_drained else "queue-empty", name=ends.program[free.gap])


def _ops(host: HostTrace, sorter: _Sorter, ends: _Ends, told: Stretches) -> None:
    events = host.events
    is_in_op = ends.op[told.gap] >= 0
    coverage = op_coverage(host, numbered(ends.lane[told.gap])[0])
    before, inside = told.where(is_in_op).split(events.start_ns[ends.op[told.gap[is_in_op]]])
    for stretches, step in ((told.where(~is_in_op), "outside-ops"), (before, "before-op"), (inside, "inside-op")):
        pieces = coverage.cut(ends.lane[stretches.gap], stretches)
        covered, op = pieces.covered()
        sorter.add(covered, "waiting-for-host", step, interned(sorter.names, host.strings, events.name[op].astype(np.int64)))
        sorter.add(pieces.uncovered(), "waiting-for-host", step)


def _waits(timeline: Timeline, sorter: _Sorter, work: OrderedWork, ends: _Ends, after: Stretches) -> Stretches:
    """Take what the device is recorded to have waited."""
    waits = device_waits(timeline, work.devices, sorter.names)
    pieces = waits.coverage.cut(ends.device[after.gap], after)
    covered, owner = pieces.covered()
    sorter.add(covered, waits.cause[owner], waits.step[owner], waits.name[owner])
    return pieces.uncovered()


def _dependencies(
    timeline: Timeline, sorter: _Sorter, work: OrderedWork, gaps: Gaps, ends: _Ends, free: Stretches, min_gap_ns: int
) -> Stretches:
    """Take what lies before the end of the last recorded predecessor; and what lies behind it, where that is short."""
    found = dependency_ends(timeline, work, gaps)
    is_short = (found.end_ns > gaps.start_ns) & (gaps.end_ns - found.end_ns < min_gap_ns)
    until_ns = np.where(is_short, gaps.end_ns, found.end_ns)
    # A predecessor in the same call cannot hold up what lies before the call begins.
    since_ns = np.where(found.is_same_call, ends.begun_ns, gaps.start_ns)
    early, rest = free.split(since_ns[free.gap])
    waiting, rest = rest.split(until_ns[rest.gap])
    engine = timeline.slices.track[found.predecessor[waiting.gap]].astype(np.int64)
    sorter.add(waiting, "dependency", name=interned(sorter.names, tuple(track.name for track in timeline.tracks), engine))
    return early.joined(rest)


def _the_rest(
    timeline: Timeline, sorter: _Sorter, work: OrderedWork, gaps: Gaps, ends: _Ends, host: HostActivities, free: Stretches
) -> None:
    """Tell the way to the device from what nothing explains."""
    is_launched = (ends.launch[free.gap] >= 0) | (ends.op[free.gap] >= 0)
    on_the_way, begun = free.where(is_launched).split(ends.begun_ns[free.gap[is_launched]])
    within_op, on_the_way = on_the_way.split(ends.sent_ns[on_the_way.gap])
    sorter.add(within_op, "unknown", name=sorter.names.intern(WITHIN_OP))
    # The call that submits begins with the submission, whatever it is called.
    pieces = host.coverage.cut(ends.lane[on_the_way.gap], on_the_way)
    submits = np.append(host.start_ns, 0)[pieces.owner] == ends.submitted_ns[pieces.stretches.gap]
    step = np.where((pieces.owner >= 0) & submits, _STEP["submit-call"], _STEP["on-its-way"])
    sorter.add(pieces.stretches, "submission", step, ends.program[pieces.stretches.gap])
    sorter.add(begun, "unknown", name=sorter.names.intern(INSIDE_PROGRAM))
    without = free.where(~is_launched)
    # Inside a call that is told by its turn, it is the program's; else the launch is what is missing.
    is_inside = ends.begun_ns[without.gap] < gaps.end_ns[without.gap]
    sorter.add(without.where(is_inside), "unknown", name=sorter.names.intern(INSIDE_PROGRAM))
    rules = np.array([sorter.names.intern(rule) for rule in JOIN_RULES], np.int64)
    outside = without.where(~is_inside)
    rule = timeline.slices.rule[work.row[gaps.before[outside.gap]]]
    sorter.add(outside, "unknown", name=rules[rule])
