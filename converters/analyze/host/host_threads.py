"""Which thread of the host did what: launches, the runtime's slices, hidden work and the rows of the host trace on common lanes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...timeline import HostTrace, Int64, Timeline
from ..grouping import numbered

__all__ = ["HostThreads", "host_threads"]


@dataclass(frozen=True, eq=False)
class HostThreads:
    """The lane of each record: the row of `HostTrace.tracks` of its thread, or a number behind those of the trace.

    Attributes:
        launch, runtime, overhead: int64[n]; lanes of the records of a timeline; -1 = not known.
        track_count: Lanes below this are rows of `HostTrace.tracks`.
    """

    launch: Int64
    runtime: Int64
    overhead: Int64
    track_count: int


def host_threads(timeline: Timeline) -> HostThreads:
    """Threads, told by the op that a launch lies in, and by native ids where it lies in none."""
    launches, runtime, host = timeline.launches, timeline.runtime, timeline.host
    pid = np.concatenate((launches.pid, runtime.pid)).astype(np.int64)
    tid = np.concatenate((launches.tid, runtime.tid)).astype(np.int64)
    pids, of_pid = numbered(pid)
    tids, of_tid = numbered(tid)
    codes, of_record = numbered(of_pid * max(len(tids), 1) + of_tid)
    pairs = [(int(pids[code // len(tids)]), int(tids[code % len(tids)])) for code in codes.tolist()]
    track_count = 0 if host is None else len(host.tracks)
    lanes = np.arange(len(pairs), dtype=np.int64) + track_count
    if host is not None:
        native = _native_tracks(host, pairs)
        lanes = np.where(native >= 0, native, lanes)
    lane = lanes[of_record] if len(of_record) else of_record
    of_launch, of_runtime = np.split(lane, [len(launches)])
    if host is not None and len(of_launch):
        # A trace may number its threads in a way that is no native id; the op knows better.
        of_op = np.append(host.events.track.astype(np.int64), -1)[launches.host_row]
        of_launch = np.where(launches.host_row >= 0, of_op, of_launch)
    return HostThreads(of_launch, of_runtime, _by_thread_id(timeline, pairs, lanes), track_count)


def _native_tracks(host: HostTrace, pairs: list[tuple[int, int]]) -> Int64:
    """int64[k]; row of the trace's tracks for each (process id, thread id), -1 = none. Of process 0 the thread decides."""
    by_pair: dict[tuple[str, str], int] = {}
    by_tid: dict[str, list[int]] = {}
    for row, track in enumerate(host.tracks):
        by_pair.setdefault((str(track.pid), str(track.tid)), row)
        by_tid.setdefault(str(track.tid), []).append(row)
    found = []
    for pid, tid in pairs:
        alone = by_tid.get(str(tid), []) if pid == 0 else []
        found.append(by_pair.get((str(pid), str(tid)), alone[0] if len(alone) == 1 else -1))
    return np.array(found, np.int64)


def _by_thread_id(timeline: Timeline, pairs: list[tuple[int, int]], lanes: Int64) -> Int64:
    """int64[n]; lanes of overheads, which tell no process: that of the recording is meant, and the first that has such a thread."""
    by_tid: dict[int, int] = {}
    for place in sorted(range(len(pairs)), key=lambda at: pairs[at][0] != timeline.process_id):
        by_tid.setdefault(pairs[place][1], int(lanes[place]))
    distinct, of_record = numbered(timeline.overheads.tid.astype(np.int64))
    lane = np.array([by_tid.get(tid, -1) for tid in distinct.tolist()], np.int64)
    return lane[of_record] if len(of_record) else of_record
