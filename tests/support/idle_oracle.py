"""Why a device was idle, told moment by moment: slow, and plain enough to be right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rblnpb.columns import ABSENT
from rblnpb.converters.dialect import device_rows, host_window, op_rows
from rblnpb.converters.timeline import JOIN_RULES, HostTrace, Timeline

CUDA_WAITS = ("cuda_sync", "cuda_event", "xpu_sync")
OVERHEADS = {1: "cpu fallback", 2: "recompilation", 3: "host copy"}

Piece = tuple[str, str, str]
"""Cause, step and name."""


@dataclass(frozen=True)
class Record:
    """Something with a time, and what it stands for; a later `order` is the inner one of equals."""

    start_ns: int
    end_ns: int
    order: int
    piece: Piece

    def covers(self, moment: int) -> bool:
        return self.start_ns <= moment < self.end_ns


@dataclass(frozen=True)
class FoundGap:
    """A gap of a lane: a device, or a track."""

    lane: str | int
    start_ns: int
    end_ns: int
    after: int
    before: int


def innermost(records: Sequence[Record], moment: int) -> Record | None:
    """The record that began last; of those the shortest, then the last."""
    inside = [record for record in records if record.covers(moment)]
    return max(inside, key=lambda record: (record.start_ns, -record.end_ns, record.order), default=None)


def work_rows(timeline: Timeline, lane: str | int) -> list[int]:
    """Rows of the work of a device, or of a track."""
    tracks = timeline.tracks
    return [
        row
        for row, track in enumerate(timeline.slices.track.tolist())
        if tracks[track].is_work and lane in (tracks[track].device, track)
    ]


def busy(timeline: Timeline, lane: str | int) -> tuple[int, int, int, int]:
    """Busy, idle, span and sum of a lane."""
    rows = work_rows(timeline, lane)
    if not rows:
        return 0, 0, 0, 0
    spans = [(int(timeline.slices.start_ns[row]), int(timeline.slices.duration_ns[row])) for row in rows]
    covered = {moment for start, length in spans for moment in range(start, start + length)}
    span = max(start + length for start, length in spans) - min(start for start, _ in spans)
    return len(covered), span - len(covered), span, sum(length for _, length in spans)


def gaps(timeline: Timeline, lane: str | int) -> list[FoundGap]:
    """Runs of moments without work, cut where an empty slice lies in them."""
    rows = work_rows(timeline, lane)
    spans = {row: (int(timeline.slices.start_ns[row]), int(timeline.slices.duration_ns[row])) for row in rows}
    if not spans:
        return []
    covered = {moment for start, length in spans.values() for moment in range(start, start + length)}
    starts = {start for start, _ in spans.values()}
    first, last = min(starts), max(start + length for start, length in spans.values())
    found, begin = [], None
    for moment in range(first, last + 1):
        if begin is not None and moment in starts:
            here = [row for row in rows if spans[row][0] == moment]
            order = {row: (spans[row][0], int(timeline.slices.launch[row]) < 0, row) for row in rows}
            ended = [row for row in rows if sum(spans[row]) == begin]
            found.append(
                FoundGap(lane, begin, moment, max(ended, key=lambda row: order[row]), min(here, key=lambda row: order[row]))
            )
            begin = None
        if begin is None and moment not in covered and moment < last:
            begin = moment
    return found


class Oracle:
    """What is known of a timeline, ready to be asked moment by moment."""

    def __init__(self, timeline: Timeline, min_gap_ns: int) -> None:
        self.timeline, self.min_gap_ns = timeline, min_gap_ns
        self.lanes: dict[Any, list[Record]] = {}
        self._runtime()
        self._overheads()
        self._calls()

    def thread_of(self, pid: int, tid: int) -> Any:
        """A thread: the row of the trace's tracks, else its ids."""
        tracks = self.timeline.host.tracks if self.timeline.host is not None else ()
        for row, track in enumerate(tracks):
            if (track.pid, track.tid) == (pid, tid):
                return row
        return (pid, tid)

    def _add(self, lane: Any, start_ns: int, length_ns: int, piece: Piece) -> None:
        if length_ns > 0:
            order = sum(map(len, self.lanes.values()))
            self.lanes.setdefault(lane, []).append(Record(start_ns, start_ns + length_ns, order, piece))

    def _runtime(self) -> None:
        runtime = self.timeline.runtime
        for row in range(len(runtime)):
            name = self.timeline.strings[int(runtime.name[row])]
            cause = "serialised-by-profiling" if name == "wait" and self.timeline.is_serialised else "runtime"
            lane = self.thread_of(int(runtime.pid[row]), int(runtime.tid[row]))
            self._add(lane, int(runtime.start_ns[row]), int(runtime.duration_ns[row]), (cause, "", name))

    def _overheads(self) -> None:
        records, timeline = self.timeline.overheads, self.timeline
        for row in range(len(records)):
            if records.start_ns[row] == ABSENT or records.duration_ns[row] == ABSENT:
                continue
            kind = int(records.kind[row])
            piece = ("runtime", "", OVERHEADS.get(kind, "unknown"))
            if kind == 1:
                piece = ("waiting-for-host", "fallback", timeline.strings[int(records.op[row])])
            lane = self.thread_of(timeline.process_id, int(records.tid[row]))
            self._add(lane, int(records.start_ns[row]), int(records.duration_ns[row]), piece)

    def _calls(self) -> None:
        host = self.timeline.host
        if host is None:
            return
        for row in device_rows(host).calls.tolist():
            name = host.strings[int(host.events.name[row])]
            times = int(host.events.start_ns[row]), int(host.events.duration_ns[row])
            self._add(int(host.events.track[row]), *times, ("runtime", "", name))

    def pieces(self, gap: FoundGap) -> Counter[Piece]:
        """How many moments of a gap have each cause, step and name."""
        if gap.end_ns - gap.start_ns < self.min_gap_ns:
            return Counter({("short", "", ""): gap.end_ns - gap.start_ns})
        return Counter(self.piece(gap, moment) for moment in range(gap.start_ns, gap.end_ns))

    def piece(self, gap: FoundGap, moment: int) -> Piece:
        """The first cause that explains a moment."""
        timeline, row, slices = self.timeline, gap.before, self.timeline.slices
        device = timeline.tracks[int(timeline.slices.track[row])].device
        launch = int(timeline.slices.launch[row])
        lost = [
            Record(loss.start_ns, loss.end_ns + 1, place, ("recording-lost", "", loss.reason))
            for place, loss in enumerate(timeline.losses)
            if loss.start_ns is not None and loss.end_ns is not None and loss.device in ("", device)
        ]
        found = innermost(lost, moment)
        if found is not None:
            return found.piece
        without_time = [loss.reason for loss in timeline.losses if loss.start_ns is None]
        if without_time and self.is_unseen(gap, launch, moment):
            return "recording-lost", "", without_time[0]
        if launch >= 0:
            launches = timeline.launches
            if moment < int(launches.start_ns[launch]):
                lane = self.thread_of(int(launches.pid[launch]), int(launches.tid[launch]))
                name = timeline.strings[int(launches.name[launch])]
                return self.before_submission(int(launches.host_row[launch]), lane, name, moment)
        elif timeline.host is not None and slices.host_row[row] >= 0:
            op, events = int(slices.host_row[row]), timeline.host.events
            if moment < int(events.start_ns[op]):
                name = timeline.host.strings[int(events.name[op])]
                return self.before_submission(op, int(events.track[op]), name, moment)
        return self.after_submission(gap, row, device, launch, moment)

    def is_unseen(self, gap: FoundGap, launch: int, moment: int) -> bool:
        """Whether a launch without any slice was submitted since the one before the gap, and up to the one behind it."""
        launches, slices = self.timeline.launches, self.timeline.slices
        last = int(slices.launch[gap.after])
        since = int(launches.start_ns[last]) if last >= 0 else gap.start_ns
        until = int(launches.start_ns[launch]) if launch >= 0 else gap.end_ns
        unseen = [int(at) for row, at in enumerate(launches.start_ns) if row not in slices.launch and since < at < until]
        return bool(unseen) and min(unseen) <= moment

    def before_submission(self, op: int, lane: Any, program: str, moment: int) -> Piece:
        """What the submitting thread did."""
        timeline, host = self.timeline, self.timeline.host
        found = innermost(self.lanes.get(lane, []), moment)
        if found is not None:
            return found.piece
        window = None if host is None else host_window(host)
        if host is not None and window is not None and window[0] <= moment < window[1]:
            ops = self.ops(host, lane)
            if ops:
                step = "outside-ops" if op < 0 else "before-op" if moment < int(host.events.start_ns[op]) else "inside-op"
                running = innermost(ops, moment)
                return "waiting-for-host", step, "" if running is None else running.piece[2]
        is_drained = timeline.is_serialised and not len(timeline.runtime)
        return "serialised-by-profiling" if is_drained else "queue-empty", "", program

    def ops(self, host: HostTrace, lane: Any) -> list[Record]:
        """Ops of a thread, by name."""
        events, found = host.events, []
        for row in op_rows(host).tolist():
            if int(events.track[row]) == lane:
                start = int(events.start_ns[row])
                piece = ("", "", host.strings[int(events.name[row])])
                found.append(Record(start, start + int(events.duration_ns[row]), row, piece))
        return found

    def after_submission(self, gap: FoundGap, row: int, device: str, launch: int, moment: int) -> Piece:
        """What the device waited for."""
        timeline = self.timeline
        slices = timeline.slices
        found = innermost(self.waits(device), moment)
        if found is not None:
            return found.piece
        begun = self.begun_ns(row, device)
        begun = gap.end_ns if begun is None else begun
        edges = timeline.dependencies
        before = edges.predecessor[edges.successor == row].tolist()
        if before:
            last = max(before, key=lambda one: (int(slices.start_ns[one] + slices.duration_ns[one]), before.index(one)))
            ended = int(slices.start_ns[last] + slices.duration_ns[last])
            until = gap.end_ns if ended > gap.start_ns and gap.end_ns - ended < self.min_gap_ns else ended
            same = self.call(last) == self.call(row)
            if (begun if same else gap.start_ns) <= moment < until:
                return "dependency", "", timeline.tracks[int(slices.track[last])].name
        if moment < begun and (launch >= 0 or slices.host_row[row] >= 0):
            return self.on_its_way(launch, int(slices.host_row[row]), moment)
        if launch >= 0 or slices.host_row[row] >= 0 or begun < gap.end_ns:
            return "unknown", "", "inside a program"
        return "unknown", "", JOIN_RULES[int(slices.rule[row])]

    def on_its_way(self, launch: int, op: int, moment: int) -> Piece:
        """Between the submission and the begin of the call."""
        timeline, launches = self.timeline, self.timeline.launches
        if launch >= 0:
            lane = self.thread_of(int(launches.pid[launch]), int(launches.tid[launch]))
            submitted, name = int(launches.start_ns[launch]), timeline.strings[int(launches.name[launch])]
        else:
            assert timeline.host is not None
            events = timeline.host.events
            if moment < int(events.start_ns[op] + events.duration_ns[op]):
                return "unknown", "", "submitted within its op, when is not recorded"
            lane, submitted, name = int(events.track[op]), int(events.start_ns[op]), timeline.host.strings[int(events.name[op])]
        inner = innermost(self.lanes.get(lane, []), moment)
        submits = inner is not None and inner.start_ns == submitted
        return "submission", "submit-call" if submits else "on-its-way", name

    def call(self, row: int) -> tuple[int, int, int]:
        """What tells the call of a slice."""
        slices = self.timeline.slices
        return int(slices.launch[row]), int(slices.names.instance[row]), int(slices.names.sequence[row])

    def begun_ns(self, row: int, device: str) -> int | None:
        """When the call of a slice began on its device; None where no call is told."""
        slices, tracks = self.timeline.slices, self.timeline.tracks
        launch, instance, sequence = self.call(row)
        if launch < 0 and (instance <= 0 or sequence < 0):
            return None
        key = (launch,) if launch >= 0 else (launch, instance, sequence)
        own = [
            other
            for other in range(len(slices))
            if tracks[int(slices.track[other])].device == device and self.call(other)[: len(key)] == key
        ]
        return min(int(slices.start_ns[other]) for other in own)

    def waits(self, device: str) -> list[Record]:
        """What a device is recorded to have waited."""
        timeline, host = self.timeline, self.timeline.host
        slices, found = timeline.slices, []
        for row in range(len(slices)):
            track = timeline.tracks[int(slices.track[row])]
            if track.device != device or slices.duration_ns[row] == 0:
                continue
            if track.kind == "host" and track.name == "Host":
                stage = slices.names.strings[int(slices.names.stage[row])]
                piece = ("waiting-for-host", "host-command", stage)
            elif track.kind in ("sync", "device_sync"):
                event = int(slices.event[row])
                if host is not None and event >= 0 and host.strings[int(host.events.category[event])] in CUDA_WAITS:
                    continue
                piece = ("dependency", "", track.name)
            else:
                continue
            start = int(slices.start_ns[row])
            found.append(Record(start, start + int(slices.duration_ns[row]), row, piece))
        return found
