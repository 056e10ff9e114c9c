"""What says that a gap has its causes: names, ids and times of the records that each part was told by, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...results import CAUSES, Coded, Fact, Numbers
from ...timeline import Bool, Int64, Timeline
from ..grouping import numbered
from ..host.host_threads import host_threads
from .cause_times import GapParts
from .gap_frames import gap_frames
from .gaps import Gaps, Predecessors
from .hidden_places import HiddenPlaces
from .lost_records import device_losses
from .occupancy import Calls, OrderedWork
from .piece_table import PieceTable

__all__ = ["Evidence", "ExplainedGaps", "PartColumns", "coded"]

_CAUSE: Final = {name: code for code, name in enumerate(CAUSES)}
_ON_HOST: Final = tuple(_CAUSE[name] for name in ("runtime", "serialised-by-profiling", "waiting-for-host"))
_OF_LAUNCH: Final = (*_ON_HOST, _CAUSE["queue-empty"], _CAUSE["submission"])
"""Causes whose evidence names the launch that was late."""


@dataclass(frozen=True, eq=False)
class ExplainedGaps:
    """Gaps with all that was found out about them.

    Attributes:
        work, calls: Of the timeline.
        gaps, pieces, parts: Of the same gaps.
        lanes: Device and engine of each lane; an empty engine stands for the device as a whole.
        inside: bool[k]; which gaps lie in a call.
        uncertainty_ns: Of each lane; None = not known.
    """

    work: OrderedWork
    calls: Calls
    gaps: Gaps
    pieces: PieceTable
    parts: GapParts
    lanes: tuple[tuple[str, str], ...]
    inside: Bool
    uncertainty_ns: tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class PartColumns:
    """Parts of listed gaps, gap by gap, the longest of each first; all columns have the same length p.

    Attributes:
        row: int64[p]; row of `GapParts`.
        gap: int64[p]; row of `Gaps`.
        place: int64[p]; place of the gap among those whose parts these are.
        cause: int64[p]; place in `results.CAUSES`.
        duration_ns: int64[p].
        touches: int64[p]; as in `GapParts`.
        name, name_ns: int64[p]; row of `PieceTable.names` that stands for most of the part, and how long; 0 = none.
        steps: Times by step, p rows each.
    """

    row: Int64
    gap: Int64
    place: Int64
    cause: Int64
    duration_ns: Int64
    touches: Int64
    name: Int64
    name_ns: Int64
    steps: tuple[Fact, ...]


def coded(rows: Int64, texts: Sequence[object] | Mapping[int, object]) -> Coded:
    """A column of those rows of a table that occur in it; -1 = none."""
    distinct, code = numbered(rows)
    if len(distinct) and distinct[0] < 0:
        distinct, code = distinct[1:], code - 1
    return Coded(code, tuple(texts[row] for row in distinct.tolist()))


def _known(column: Coded) -> Coded:
    """The same, of which what says nothing is not told."""
    says = np.array([*(value not in (None, "", ()) for value in column.values), False], np.bool_)
    return Coded(np.where(says[column.code], column.code, -1), column.values)


class Evidence:
    """Looks up the evidence of gaps that are listed."""

    def __init__(self, timeline: Timeline, found: ExplainedGaps, rows: Int64) -> None:
        """Prepare for these rows of the gaps."""
        self._timeline, self._found = timeline, found
        lane = host_threads(timeline).launch
        self._threads = _ThreadIds(timeline, lane)
        self._frames = gap_frames(
            timeline, found.pieces.blocks(), found.parts, _launching_tracks(timeline, found, rows, lane), _ON_HOST
        )
        self._until = Predecessors(timeline).ends(found.work, found.gaps.take(rows))
        row_of = {name: row for row, name in enumerate(found.pieces.names)}
        self._places = HiddenPlaces.of(timeline, row_of)
        self._engines = np.array([*(row_of.get(track.name, -1) for track in timeline.tracks), -1], np.int64)
        lost: dict[int, int] = {}
        for loss in device_losses(timeline):
            lost[row_of.get(loss.reason, -1)] = lost.get(row_of.get(loss.reason, -1), 0) + loss.count
        self._lost_counts = lost

    def of(self, low: int, parts: PartColumns) -> tuple[Fact, ...]:
        """The evidence of parts of gaps; what is not known is not told.

        Args:
            low: Place of the first of their gaps in the list.
            parts: Those of a stretch of the list.
        """
        names, timeline = self._found.pieces.names, self._timeline
        launch = self._found.work.launch[self._found.gaps.before[parts.gap]]
        is_of = {name: parts.cause == code for name, code in _CAUSE.items()}
        is_on_host, is_op = np.isin(parts.cause, _ON_HOST), is_of["waiting-for-host"]
        is_activity = is_on_host & ~is_op & (parts.name > 0)
        is_op &= parts.name > 0
        reason = np.where(is_of["unknown"] | is_of["recording-lost"], parts.name, -1)
        is_late = np.isin(parts.cause, _OF_LAUNCH) | (is_of["unknown"] & (launch < 0))
        place = self._places.at(self._found.gaps, parts.gap, np.where(is_on_host, parts.name, -1))
        return (
            Fact("reason", _known(coded(reason, names))),
            Fact("lost_count", coded(np.where(is_of["recording-lost"], parts.name, -1), self._lost_counts)),
            *self._dependencies(low + parts.place, parts.name, is_of["dependency"]),
            Fact("op", coded(np.where(is_op, parts.name, -1), names)),
            Fact("op_ns", Numbers(parts.name_ns, is_op)),
            Fact("activity", coded(np.where(is_activity, parts.name, -1), names)),
            Fact("activity_ns", Numbers(parts.name_ns, is_activity)),
            Fact("place", _known(coded(place, timeline.strings))),
            Fact("python_frames", self._frames.stacks(np.where(is_on_host, parts.row, -1))),
            Fact("steps_ns", parts.steps),
            *self._launches(parts.gap, np.where(is_late, launch, -1), is_late),
            Fact("latency_ns", self._latency(parts.gap, launch, is_of["submission"])),
        )

    def _dependencies(self, listed: Int64, name: Int64, is_one: Bool) -> tuple[Fact, ...]:
        """The engine that was waited for, and the work on it, where that is the predecessor of the slice that ends the gap."""
        names, slices = self._found.pieces.names, self._timeline.slices
        predecessor = self._until.predecessor[listed]
        is_its = is_one & (predecessor >= 0) & (self._engines[np.where(predecessor >= 0, slices.track[predecessor], -1)] == name)
        rows, code = numbered(np.where(is_its, predecessor, -1))
        texts = tuple(text.decode(errors="replace") for text in slices.names.take(rows).render().tolist())
        return (
            Fact("engine", _known(coded(np.where(is_one, name, -1), names))),
            Fact("predecessor", _known(Coded(np.where(is_its, code, -1), texts))),
            Fact("ended_ns", Numbers(self._until.end_ns[listed], is_its)),
        )

    def _launches(self, gap: Int64, launch: Int64, is_late: Bool) -> tuple[Fact, ...]:
        """The launch that ends a gap, the op that it lies in, and who submitted it, as far as that is known."""
        launches, host, strings = self._timeline.launches, self._timeline.host, self._timeline.strings
        is_launched = launch >= 0
        event = _launching_events(self._timeline, self._found, gap, launch)
        op = Coded(np.full(len(gap), -1), ())
        if host is not None:
            op = _known(coded(np.where(is_late & (event >= 0), host.events.name[event], -1), host.strings))
        program = np.where(is_launched, np.append(launches.name, 0)[launch], -1)
        launch_id = np.append(launches.launch_id, 0)[launch]
        pid, tid = self._threads.of(launch, np.where(is_late, event, -1))
        return (
            Fact("launching_op", Coded(np.where(is_launched, -1, op.code), op.values)),
            Fact("program", _known(coded(program, strings))),
            Fact("launch_id", Numbers(launch_id, is_launched & (launch_id != 0))),
            Fact("submitted_ns", Numbers(np.append(launches.start_ns, 0)[launch], is_launched)),
            Fact("pid", _known(pid)),
            Fact("tid", _known(tid)),
            Fact("launching_op", Coded(np.where(is_launched, op.code, -1), op.values)),
        )

    def _latency(self, gap: Int64, launch: Int64, is_one: Bool) -> Numbers:
        submitted_ns = np.append(self._timeline.launches.start_ns, 0)[launch]
        return Numbers(self._found.gaps.end_ns[gap] - submitted_ns, is_one & (launch >= 0))


def _launching_events(timeline: Timeline, found: ExplainedGaps, gap: Int64, launch: Int64) -> Int64:
    """int64[n]; row of the host's events: the op that launched what ends each gap, -1 = not known."""
    of_slice = timeline.slices.host_row[found.work.row[found.gaps.before[gap]]]
    return np.where(launch >= 0, np.append(timeline.launches.host_row, -1)[launch], of_slice)


def _launching_tracks(timeline: Timeline, found: ExplainedGaps, rows: Int64, lane: Int64) -> Int64:
    """int64[gaps]; thread that launched what ends each of some gaps; -1 = not known, or none of these gaps."""
    before = found.gaps.before[rows]
    launch, op = found.work.launch[before], timeline.slices.host_row[found.work.row[before]]
    tracks = np.full(len(found.gaps), -1)
    tracks[rows] = np.append(lane, -1)[launch]
    if timeline.host is not None:
        by_op = (launch < 0) & (op >= 0)
        tracks[rows[by_op]] = timeline.host.events.track[op[by_op]]
    return tracks


class _ThreadIds:
    """Ids of submitting threads, under which the host trace has them, or else the runtime."""

    def __init__(self, timeline: Timeline, lane: Int64) -> None:
        launches, host = timeline.launches, timeline.host
        self._host, self._lane = host, np.append(lane, -1)
        tracks = () if host is None else host.tracks
        self._track_count = len(tracks)
        pids, of_pid = numbered(launches.pid.astype(np.int64))
        tids, of_tid = numbered(launches.tid.astype(np.int64))
        self._codes = [np.append(own, 0) + self._track_count for own in (of_pid, of_tid)]
        self._values = [[*(track.pid for track in tracks), *pids.tolist()], [*(track.tid for track in tracks), *tids.tolist()]]

    def of(self, launch: Int64, event: Int64) -> list[Coded]:
        """Process and thread of each launch, or else of each op."""
        lane = self._lane[launch]
        track = np.where(lane < self._track_count, lane, -1)
        if self._host is not None:
            track = np.where(event >= 0, self._host.events.track[event], track)
        has_any = (track >= 0) | (launch >= 0)
        codes = (np.where(track >= 0, track, own[launch]) for own in self._codes)
        return [coded(np.where(has_any, code, -1), values) for code, values in zip(codes, self._values, strict=True)]
