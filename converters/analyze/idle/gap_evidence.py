"""What says that a gap has its causes: names, ids and times of the records that each part was told by."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...results import CAUSES
from ...timeline import Bool, Int64, Timeline
from ..host.host_calls import MODULE, PYTHON, HostCalls, read_calls
from ..host.host_threads import host_threads
from .cause_times import GapParts
from .coverage import Coverage, Stretches
from .gap_causes import GapPieces
from .gaps import Gaps, dependency_ends
from .host_activity import overhead_name
from .lost_records import device_losses
from .occupancy import Calls, OrderedWork

__all__ = ["Evidence", "ExplainedGaps", "PartShares"]

_CAUSES: Final = tuple(CAUSES)
_ON_HOST: Final = ("runtime", "serialised-by-profiling", "waiting-for-host")
_OF_LAUNCH: Final = (*_ON_HOST, "queue-empty", "submission")
"""Causes whose evidence names the launch that was late."""

_MOST_FRAMES: Final = 8
"""Most Python frames that stand for a part: the innermost ones."""


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
    pieces: GapPieces
    parts: GapParts
    lanes: tuple[tuple[str, str], ...]
    inside: Bool
    uncertainty_ns: tuple[int | None, ...]


@dataclass(frozen=True)
class PartShares:
    """What a part of a gap is made of.

    Attributes:
        cause: One of `results.CAUSES`.
        duration_ns: How long.
        name, name_ns: The name that stands for most of it, and how long; empty = none.
        steps_ns: Its time by step.
    """

    cause: str
    duration_ns: int
    name: str
    name_ns: int
    steps_ns: dict[str, int]


class Evidence:
    """Looks up the evidence of gaps that are listed."""

    def __init__(self, timeline: Timeline, found: ExplainedGaps, rows: Int64) -> None:
        """Prepare for these rows of the gaps."""
        self._timeline, self._found = timeline, found
        self._threads = host_threads(timeline)
        self._until = dependency_ends(timeline, found.work, found.gaps.take(rows))
        self._listed = {row: at for at, row in enumerate(rows.tolist())}
        self._losses = device_losses(timeline)
        self._hidden = np.argsort(timeline.overheads.start_ns, kind="stable").tolist()
        self._hidden_ns = np.sort(timeline.overheads.start_ns).tolist()
        self._frames = _python_frames(timeline, found, self._threads.launch, rows)
        shown = np.unique(self._until.predecessor[self._until.predecessor >= 0])
        names = timeline.slices.names.take(shown).render().tolist()
        self._names = {row: name.decode(errors="replace") for row, name in zip(shown.tolist(), names, strict=True)}

    def of(self, row: int, part: PartShares) -> dict[str, object]:
        """The evidence of a part of a gap; what is not known is left out."""
        cause, name = part.cause, part.name
        facts: dict[str, object] = {}
        if cause == "unknown":
            facts["reason"] = name
        elif cause == "recording-lost":
            facts |= {"reason": name, "lost_count": sum(loss.count for loss in self._losses if loss.reason == name)}
        elif cause == "dependency":
            facts |= self._dependency(row, name)
        elif cause in _ON_HOST:
            what = "op" if cause == "waiting-for-host" else "activity"
            facts |= {what: name, f"{what}_ns": part.name_ns} if name else {}
            facts["place"] = self._place(row, name)
            facts["python_frames"] = self._frames.get((row, _CAUSES.index(cause)), ())
        facts["steps_ns"] = part.steps_ns
        if cause in _OF_LAUNCH or (cause == "unknown" and self._late_launch(row) < 0):
            facts |= self._launch(row)
        if cause == "submission" and self._late_launch(row) >= 0:
            facts["latency_ns"] = self._latency_ns(row)
        return {key: value for key, value in facts.items() if value not in (None, (), "", {})}

    def _place(self, row: int, name: str) -> str:
        """The line of the program that led to hidden work of this name in a gap, as far as its record tells it."""
        records, gaps, strings = self._timeline.overheads, self._found.gaps, self._timeline.strings
        begin, stop = (bisect_left(self._hidden_ns, int(at_ns)) for at_ns in (gaps.start_ns[row], gaps.end_ns[row]))
        # What began before the gap may reach into it, or not.
        for record in self._hidden[max(begin - 1, 0) : stop]:
            reaches = int(records.start_ns[record]) + int(records.duration_ns[record]) > gaps.start_ns[row]
            if reaches and name in (strings[int(records.op[record])], overhead_name(int(records.kind[record]))):
                return strings[int(records.place[record])]
        return ""

    def _dependency(self, row: int, engine: str) -> dict[str, object]:
        listed = self._listed[row]
        predecessor = int(self._until.predecessor[listed])
        track = int(self._timeline.slices.track[predecessor])
        if predecessor < 0 or self._timeline.tracks[track].name != engine:
            return {"engine": engine}
        return {"engine": engine, "predecessor": self._names[predecessor], "ended_ns": int(self._until.end_ns[listed])}

    def _late_launch(self, row: int) -> int:
        return int(self._found.work.launch[self._found.gaps.before[row]])

    def _latency_ns(self, row: int) -> int:
        return int(self._found.gaps.end_ns[row] - self._timeline.launches.start_ns[self._late_launch(row)])

    def _launch(self, row: int) -> dict[str, object]:
        """The launch that ends a gap, the op that it lies in, and who submitted it, as far as that is known."""
        launches, launch = self._timeline.launches, self._late_launch(row)
        if launch < 0:
            return self._op(int(self._timeline.slices.host_row[self._found.work.row[self._found.gaps.before[row]]]))
        return {
            "program": self._timeline.strings[int(launches.name[launch])],
            "launch_id": int(launches.launch_id[launch]) or None,
            "submitted_ns": int(launches.start_ns[launch]),
            "pid": int(launches.pid[launch]),
            "tid": int(launches.tid[launch]),
            **self._thread(int(self._threads.launch[launch])),
            **self._op(int(launches.host_row[launch])),
        }

    def _thread(self, lane: int) -> dict[str, object]:
        """A thread under the ids that the host trace has."""
        host = self._timeline.host
        if host is None or not 0 <= lane < self._threads.track_count:
            return {}
        return {"pid": host.tracks[lane].pid, "tid": host.tracks[lane].tid}

    def _op(self, event: int) -> dict[str, object]:
        """The op that submitted."""
        host = self._timeline.host
        if host is None or event < 0:
            return {}
        return {"launching_op": host.strings[int(host.events.name[event])], **self._thread(int(host.events.track[event]))}


def _python_frames(timeline: Timeline, found: ExplainedGaps, lanes: Int64, rows: Int64) -> dict[tuple[int, int], tuple[str, ...]]:
    """Where in the Python program most of a part was spent, by gap and cause: frames, the innermost first."""
    pieces, host = found.pieces, timeline.host
    if host is None:
        return {}
    is_listed = np.zeros(len(found.gaps), np.bool_)
    is_listed[rows] = True
    own = np.flatnonzero(is_listed[pieces.gap] & np.isin(pieces.cause, [_CAUSES.index(cause) for cause in _ON_HOST]))
    calls = read_calls(host, with_annotations=False)
    is_frame = (calls.kind == PYTHON) | (calls.kind == MODULE)
    frames = np.flatnonzero(is_frame)
    if not len(own) or not len(frames):
        return {}
    coverage = Coverage.of(calls.track[frames], calls.start_ns[frames], calls.end_ns[frames])
    before = found.gaps.before[pieces.gap[own]]
    launch, op = found.work.launch[before], timeline.slices.host_row[found.work.row[before]]
    of_op = np.append(host.events.track.astype(np.int64), -1)[op]
    lane = np.where(launch >= 0, np.append(lanes, -1)[launch], np.where(op >= 0, of_op, -1))
    # The number of a piece stands for its gap here: what it is cut into keeps it.
    stretches, owner = coverage.cut(lane, Stretches(own, pieces.start_ns[own], pieces.end_ns[own])).covered()
    spent: dict[tuple[int, int], dict[int, int]] = {}
    columns = (pieces.gap[stretches.gap], pieces.cause[stretches.gap], frames[owner], stretches.end_ns - stretches.start_ns)
    for gap, cause, frame, length_ns in zip(*(column.tolist() for column in columns), strict=True):
        times = spent.setdefault((gap, cause), {})
        times[frame] = times.get(frame, 0) + length_ns
    return {key: _stack(calls, is_frame, max(times, key=lambda call: times[call])) for key, times in spent.items()}


def _stack(calls: HostCalls, is_frame: Bool, call: int) -> tuple[str, ...]:
    """A Python frame and those around it, the innermost first."""
    names: list[str] = []
    while call >= 0 and len(names) < _MOST_FRAMES:
        if is_frame[call]:
            names.append(calls.frames[int(calls.frame[call])].name)
        call = int(calls.parent[call])
    return tuple(names)
