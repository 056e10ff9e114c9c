"""Listed gaps, one value after the other, and as JSON through an object for each: slow, and plain enough to be right."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice

import numpy as np
import orjson

from rblnpb.converters.analyze.grouping import consecutive
from rblnpb.converters.analyze.host.host_calls import MODULE, PYTHON, HostCalls, read_calls
from rblnpb.converters.analyze.host.host_threads import host_threads
from rblnpb.converters.analyze.idle.coverage import Coverage, Stretches
from rblnpb.converters.analyze.idle.gap_evidence import ExplainedGaps
from rblnpb.converters.analyze.idle.gaps import Predecessors
from rblnpb.converters.analyze.idle.host_activity import overhead_name
from rblnpb.converters.analyze.idle.lost_records import device_losses
from rblnpb.converters.results import CAUSES, STEPS, Gap, GapPart, SliceRef
from rblnpb.converters.sinks._json_values import exact
from rblnpb.converters.timeline import Bool, Int64, Timeline

_CAUSES, _STEPS = tuple(CAUSES), tuple(STEPS)
_ON_HOST = ("runtime", "serialised-by-profiling", "waiting-for-host")
_OF_LAUNCH = (*_ON_HOST, "queue-empty", "submission")
_MOST_FRAMES = 8


def slow_gaps_json(gaps: Sequence[Gap]) -> bytes:
    """The member "gaps" of the report, and the end of the object."""
    option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(exact({"gaps": [asdict(gap) for gap in gaps]}), option=option).removeprefix(b"{\n")


def slow_gaps(timeline: Timeline, found: ExplainedGaps, rows: Int64) -> tuple[Gap, ...]:
    """Gaps in full, as values.

    Args:
        timeline: Any.
        found: Its gaps.
        rows: int64[m]; which of them, in the order wanted.
    """
    gaps, calls = found.gaps, found.calls
    evidence = SlowEvidence(timeline, found, rows)
    beside = _slices_beside(timeline, found, rows)
    call = np.where(found.inside[rows], calls.of_work[gaps.before[rows]], -1)
    program = np.append(calls.program, -1)[call]
    columns = (rows, gaps.lane[rows], gaps.start_ns[rows], gaps.end_ns[rows] - gaps.start_ns[rows])
    places = (gaps.after[rows], gaps.before[rows], program)
    listed = []
    for (row, lane, start_ns, duration_ns, after, before, own), shares in zip(
        zip(*(column.tolist() for column in (*columns, *places)), strict=True), _parts(found, rows), strict=True
    ):
        (device, engine), per_border_ns = found.lanes[lane], found.uncertainty_ns[lane]
        parts = tuple(
            GapPart(
                part.cause,
                part.duration_ns,
                None if per_border_ns is None else per_border_ns * border_count,
                evidence.of(row, part) if part.cause != "short" else {},
            )
            for part, border_count in shares
        )
        most = parts[0]
        listed.append(
            Gap(
                device,
                engine,
                start_ns,
                duration_ns,
                most.cause,
                most.uncertainty_ns,
                most.evidence,
                beside[after],
                beside[before],
                calls.programs[own][0] if own >= 0 else None,
                parts,
            )
        )
    return tuple(listed)


def _slices_beside(timeline: Timeline, found: ExplainedGaps, rows: Int64) -> dict[int, SliceRef]:
    """Slices at the ends of gaps, by their place in the work."""
    work, launches = found.work, timeline.launches
    places = np.unique(np.concatenate((found.gaps.after[rows], found.gaps.before[rows])))
    launch = work.launch[places]
    columns = (
        places,
        work.track[places],
        np.append(launches.name, 0)[launch],
        np.append(launches.launch_id, 0)[launch],
    )
    names = timeline.slices.names.take(work.row[places]).render().tolist()
    return {
        place: SliceRef(text.decode(errors="replace"), timeline.tracks[track].name, timeline.strings[name], launch_id or None)
        for place, track, name, launch_id, text in zip(*(column.tolist() for column in columns), names, strict=True)
    }


def _parts(found: ExplainedGaps, rows: Int64) -> Iterator[list[tuple[PartShares, int]]]:
    """What each gap is made of, the longest part first, and how many uncertain borders each part has."""
    pieces, parts = found.pieces.of(np.arange(len(found.gaps))), found.parts
    own, counts = _rows_of(pieces.gap, rows)
    columns = (pieces.cause[own], pieces.name[own], pieces.step[own], pieces.end_ns[own] - pieces.start_ns[own])
    of_pieces = zip(*(column.tolist() for column in columns), strict=True)
    own, part_counts = _rows_of(parts.gap, rows)
    borders = iter(parts.touches[own].tolist())
    for count, part_count in zip(counts, part_counts, strict=True):
        made: dict[int, tuple[dict[int, int], dict[int, int]]] = {}
        for cause, name, step, length_ns in islice(of_pieces, count):
            names, steps = made.setdefault(cause, ({}, {}))
            names[name] = names.get(name, 0) + length_ns
            steps[step] = steps.get(step, 0) + length_ns
        # Parts are in order of causes.
        shares = zip((_shares(found, cause, *made[cause]) for cause in sorted(made)), islice(borders, part_count), strict=True)
        # Of two that are equally long, the cause that comes first.
        yield sorted(shares, key=lambda share: -share[0].duration_ns)


def _rows_of(gap: Int64, rows: Int64) -> tuple[Int64, list[int]]:
    """Rows of a table in order of gap that are of these gaps, one gap after the other, and how many each gap has."""
    first, last = np.searchsorted(gap, rows), np.searchsorted(gap, rows + 1)
    counts = last - first
    return consecutive(first, counts), counts.tolist()


def _shares(found: ExplainedGaps, cause: int, names: dict[int, int], steps: dict[int, int]) -> PartShares:
    # A name says more than none that has as much.
    most = max(names, key=lambda name: (names[name], name > 0))
    by_step = {_STEPS[step]: steps[step] for step in sorted(steps) if step >= 0}
    return PartShares(_CAUSES[cause], sum(names.values()), found.pieces.names[most], names[most], by_step)


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


class SlowEvidence:
    """Looks up the evidence of gaps that are listed."""

    def __init__(self, timeline: Timeline, found: ExplainedGaps, rows: Int64) -> None:
        """Prepare for these rows of the gaps."""
        self._timeline, self._found = timeline, found
        self._threads = host_threads(timeline)
        self._until = Predecessors(timeline).ends(found.work, found.gaps.take(rows))
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
    pieces, host = found.pieces.of(np.arange(len(found.gaps))), timeline.host
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
