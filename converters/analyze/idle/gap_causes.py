"""Why a device was idle: every nanosecond of its gaps with the first cause that explains it.

The slice that ends a gap could not begin before its launch was submitted. What lies before the submission is therefore the host's,
and told by what the submitting thread did: the runtime's own records first, then ops, then nothing. What lies after it is the
device's: what it is recorded to have waited for, the way from the submission to the device, or unknown. Where a trace names the op
of a slice and no launch, the submission came somewhere within the op: not before it began, and before it ended. Causes and their
order are those of `results.CAUSES`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rblnpb.row_order import order_by
from rblnpb.strings import StringTable

from ...dialect import host_window
from ...results import CAUSES, STEPS
from ...timeline import JOIN_RULES, Bool, HostTrace, Int32, Int64, Timeline
from ..grouping import numbered
from ..host.host_threads import host_threads
from .coverage import Cutter, Stretches
from .device_waits import device_waits
from .gap_ends import GapEnds, Submissions
from .gaps import Gaps, Predecessors
from .host_activity import host_activities, interned, op_coverage, told_tracks
from .lost_records import device_losses, lost_coverage, unseen_since_ns
from .occupancy import Calls, OrderedWork
from .piece_table import GapPieces, PieceTable

__all__ = ["INSIDE_PROGRAM", "WITHIN_OP", "explain_gaps"]

_CAUSE: Final = {name: code for code, name in enumerate(CAUSES)}
_STEP: Final = {name: code for code, name in enumerate(STEPS)}

INSIDE_PROGRAM: Final = "inside a program"
"""What stands for unknown gaps whose launch is known and has begun."""

WITHIN_OP: Final = "submitted within its op, when is not recorded"
"""What stands for unknown gaps while the op runs that launched the next slice, where its launch is not known."""


class _Sorter:
    """Takes stretches with their causes as they are found."""

    def __init__(self) -> None:
        self._parts: list[tuple[Int64, ...]] = []

    def add(self, stretches: Stretches, cause: str | Int64, step: str | Int64 = "", name: Int64 | int = 0) -> None:
        """Stretches with their cause: a column, or one for all."""
        codes = _CAUSE[cause] if isinstance(cause, str) else cause
        steps = _STEP.get(step, -1) if isinstance(step, str) else step
        spread = (np.broadcast_to(np.asarray(column, np.int64), (len(stretches),)) for column in (codes, steps, name))
        self._parts.append((stretches.gap, stretches.start_ns, stretches.end_ns, *spread))

    def pieces(self, names: tuple[str, ...]) -> GapPieces:
        """All of them, in order."""
        columns = [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]
        order = order_by(columns[0], columns[1])
        gap, start_ns, end_ns, cause, step, name = (column[order] for column in columns)
        return GapPieces(gap, start_ns, end_ns, cause, step, name, names)


def explain_gaps(timeline: Timeline, work: OrderedWork, calls: Calls, gaps: Gaps, min_gap_ns: int) -> PieceTable:
    """The causes of gaps.

    Args:
        timeline: Any.
        work: Its work.
        calls: Its calls.
        gaps: Its gaps, of devices or of engines.
        min_gap_ns: Gaps below this are not looked into.
    """
    explainer = _Explainer(timeline, work, calls, gaps, min_gap_ns)
    return PieceTable(gaps, explainer.names, explainer.pieces)


class _Explainer:
    """Explains some gaps at a time; what all of them ask for is made ready once."""

    def __init__(self, timeline: Timeline, work: OrderedWork, calls: Calls, gaps: Gaps, min_gap_ns: int) -> None:
        names = StringTable()
        self._timeline, self._work, self._gaps, self._min_gap_ns = timeline, work, gaps, min_gap_ns
        threads = host_threads(timeline)
        self._submissions = Submissions(timeline, work, calls, gaps, threads, names)
        self._losses = _Losses(timeline, work, gaps, names)
        self._host = host_activities(timeline, threads, names)
        self._activities = Cutter(self._host.coverage)
        self._activity_start_ns = np.append(self._host.start_ns, 0)
        self._ops = None if timeline.host is None else _Ops.of(timeline.host, self._submissions.lanes, threads.track_count, names)
        self._waits = device_waits(timeline, work.devices, names)
        self._waiting = Cutter(self._waits.coverage)
        self._predecessors = Predecessors(timeline)
        self._engines = np.array(names.intern_all(track.name for track in timeline.tracks), np.int64)
        self._within_op, self._inside = names.intern(WITHIN_OP), names.intern(INSIDE_PROGRAM)
        self._rules = np.array(names.intern_all(JOIN_RULES), np.int64)
        self.names = names.rows()

    def pieces(self, low: int, high: int) -> GapPieces:
        """The pieces of the gaps from a row on, up to another."""
        sorter = _Sorter()
        gaps = self._gaps.take(slice(low, high))
        ends = self._submissions.of(gaps)
        everything = Stretches(np.arange(len(gaps)), gaps.start_ns, gaps.end_ns)
        is_short = gaps.end_ns - gaps.start_ns < self._min_gap_ns
        sorter.add(everything.where(is_short), "short")
        left = self._losses.take(sorter, ends, low, everything.where(~is_short))
        before, after = left.split(ends.submitted_ns[left.gap])
        self._host_ops(sorter, ends, self._host_work(sorter, ends, before))
        self._the_rest(sorter, gaps, ends, self._dependencies(sorter, gaps, ends, self._device_waits(sorter, ends, after)))
        found = sorter.pieces(self.names)
        return replace(found, gap=found.gap + low)

    def _host_work(self, sorter: _Sorter, ends: GapEnds, before: Stretches) -> Stretches:
        """Take what the submitting thread spent in the runtime, or in hidden work."""
        pieces = self._activities.cut(ends.lane[before.gap], before)
        covered, owner = pieces.covered()
        host = self._host
        sorter.add(covered, host.cause[owner], host.step[owner], host.name[owner])
        return pieces.uncovered()

    def _host_ops(self, sorter: _Sorter, ends: GapEnds, free: Stretches) -> None:
        """Sort out the rest of what lies before submissions: by op where the trace shows the thread at that time."""
        if self._ops is not None:
            free = self._ops.take(sorter, ends, free)
        # Without the runtime's records there is no telling the recorder's wait from what followed it.
        is_drained = bool(self._timeline.is_serialised) and not len(self._timeline.runtime)
        sorter.add(free, "serialised-by-profiling" if is_drained else "queue-empty", name=ends.program[free.gap])

    def _device_waits(self, sorter: _Sorter, ends: GapEnds, after: Stretches) -> Stretches:
        """Take what the device is recorded to have waited."""
        waits = self._waits
        pieces = self._waiting.cut(ends.device[after.gap], after)
        covered, owner = pieces.covered()
        sorter.add(covered, waits.cause[owner], waits.step[owner], waits.name[owner])
        return pieces.uncovered()

    def _dependencies(self, sorter: _Sorter, gaps: Gaps, ends: GapEnds, free: Stretches) -> Stretches:
        """Take what lies before the end of the last recorded predecessor; and what lies behind it, where that is short."""
        found = self._predecessors.ends(self._work, gaps)
        is_short = (found.end_ns > gaps.start_ns) & (gaps.end_ns - found.end_ns < self._min_gap_ns)
        until_ns = np.where(is_short, gaps.end_ns, found.end_ns)
        # A predecessor in the same call cannot hold up what lies before the call begins.
        since_ns = np.where(found.is_same_call, ends.begun_ns, gaps.start_ns)
        early, rest = free.split(since_ns[free.gap])
        waiting, rest = rest.split(until_ns[rest.gap])
        engine = self._timeline.slices.track[found.predecessor[waiting.gap]]
        sorter.add(waiting, "dependency", name=self._engines[engine])
        return early.joined(rest)

    def _the_rest(self, sorter: _Sorter, gaps: Gaps, ends: GapEnds, free: Stretches) -> None:
        """Tell the way to the device from what nothing explains."""
        is_launched = (ends.launch[free.gap] >= 0) | (ends.op[free.gap] >= 0)
        on_the_way, begun = free.where(is_launched).split(ends.begun_ns[free.gap[is_launched]])
        within_op, on_the_way = on_the_way.split(ends.sent_ns[on_the_way.gap])
        sorter.add(within_op, "unknown", name=self._within_op)
        # The call that submits begins with the submission, whatever it is called.
        pieces = self._activities.cut(ends.lane[on_the_way.gap], on_the_way)
        submits = self._activity_start_ns[pieces.owner] == ends.submitted_ns[pieces.stretches.gap]
        step = np.where((pieces.owner >= 0) & submits, _STEP["submit-call"], _STEP["on-its-way"])
        sorter.add(pieces.stretches, "submission", step, ends.program[pieces.stretches.gap])
        sorter.add(begun, "unknown", name=self._inside)
        without = free.where(~is_launched)
        # Inside a call that is told by its turn, it is the program's; else the launch is what is missing.
        is_inside = ends.begun_ns[without.gap] < gaps.end_ns[without.gap]
        sorter.add(without.where(is_inside), "unknown", name=self._inside)
        outside = without.where(~is_inside)
        rule = self._timeline.slices.rule[self._work.row[gaps.before[outside.gap]]]
        sorter.add(outside, "unknown", name=self._rules[rule])


class _Losses:
    """Takes what may be busy time whose records are lost."""

    def __init__(self, timeline: Timeline, work: OrderedWork, gaps: Gaps, names: StringTable) -> None:
        losses = device_losses(timeline)
        self._names = np.array(names.intern_all(loss.reason for loss in losses), np.int64)
        self._known = Cutter(lost_coverage(losses, work.devices)) if losses else None
        without_time = [place for place, loss in enumerate(losses) if loss.start_ns is None or loss.end_ns is None]
        self._unseen_name = int(self._names[without_time[0]]) if without_time else 0
        self._unseen_since_ns = unseen_since_ns(timeline, work, gaps) if without_time else None

    def take(self, sorter: _Sorter, ends: GapEnds, low: int, left: Stretches) -> Stretches:
        """What is not taken of stretches of the gaps from a row on."""
        if self._known is None:
            return left
        pieces = self._known.cut(ends.device[left.gap], left)
        covered, loss = pieces.covered()
        sorter.add(covered, "recording-lost", name=self._names[loss])
        left = pieces.uncovered()
        if self._unseen_since_ns is not None:
            left, unseen = left.split(self._unseen_since_ns[low + left.gap])
            sorter.add(unseen, "recording-lost", name=self._unseen_name)
        return left


@dataclass(frozen=True, eq=False)
class _Ops:
    """Takes what the submitting thread spent in ops and between them, where the trace shows that.

    Attributes:
        is_told: bool[tracks + 1]; on which threads it does, and of none.
        window: From when until when; trace clock.
        cutter: The ops of these threads.
        start_ns: int64[events].
        name: int64[events' strings]; in the table of names.
        of_event: int32[events]; row of the events' strings.
    """

    is_told: Bool
    window: tuple[int, int]
    cutter: Cutter
    start_ns: Int64
    name: Int64
    of_event: Int32

    @classmethod
    def of(cls, host: HostTrace, lanes: Int64, track_count: int, names: StringTable) -> _Ops | None:
        """Those of a trace; None where it has no window.

        Args:
            host: The trace.
            lanes: Threads that submit.
            track_count: Lanes below this are tracks of the trace.
            names: Gets the names of their ops.
        """
        window = host_window(host)
        if window is None:
            return None
        is_told = np.append(told_tracks(host), False)
        lanes = numbered(lanes)[0]
        lanes = lanes[(lanes >= 0) & (lanes < track_count)]
        coverage = op_coverage(host, lanes[is_told[lanes]])
        name = np.zeros(len(host.strings), np.int64)
        rows = host.events.name[coverage.owner[coverage.owner >= 0]].astype(np.int64)
        name[rows] = interned(names, host.strings, rows)
        return cls(is_told, window, Cutter(coverage), host.events.start_ns, name, host.events.name)

    def take(self, sorter: _Sorter, ends: GapEnds, free: Stretches) -> Stretches:
        """What is not taken of stretches."""
        lane = ends.lane[free.gap]
        is_told = self.is_told[np.where(lane < len(self.is_told) - 1, lane, -1)]
        early, told = free.where(is_told).split(np.full(int(is_told.sum()), self.window[0]))
        told, late = told.split(np.full(len(told), self.window[1]))
        is_in_op = ends.op[told.gap] >= 0
        before, inside = told.where(is_in_op).split(self.start_ns[ends.op[told.gap[is_in_op]]])
        for stretches, step in ((told.where(~is_in_op), "outside-ops"), (before, "before-op"), (inside, "inside-op")):
            pieces = self.cutter.cut(ends.lane[stretches.gap], stretches)
            covered, op = pieces.covered()
            sorter.add(covered, "waiting-for-host", step, self.name[self.of_event[op]])
            sorter.add(pieces.uncovered(), "waiting-for-host", step)
        return free.where(~is_told).joined(early).joined(late)
