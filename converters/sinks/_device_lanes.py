"""The device side of a timeline as rows of a viewer: which tracks are shown, in which order, and how many rows each needs.

Slices that came out of the host trace are shown there already and are left alone here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.column_arrays import row_blocks
from rblnpb.errors import Finding, Severity
from rblnpb.lanes import lanes
from rblnpb.wording import counted

from ..dialect.categories import OWN_FRAME, OWN_RUNTIME, OWN_WAIT
from ..timeline import AlignedSlices, Bool, Int32, Int64, Timeline, Track

__all__ = ["FRAME_CATEGORY", "RUNTIME_CATEGORY", "DeviceLanes", "category", "device_lanes"]

# Work has torch's own categories, so that whoever reads torch's traces counts it. What is no work has categories of ours: under
# the vendor's privateuse1_… torch's rules would count it as time of the host, and the ops around it would lose that time.
_COPY, _KERNEL = "gpu_memcpy", "kernel"
FRAME_CATEGORY: Final = OWN_FRAME
"""Of frames, on whatever track they stand: none is work, and one around work may stand on the track of the work."""
RUNTIME_CATEGORY: Final = OWN_RUNTIME
_CATEGORIES: Final = {
    "copy": _COPY,
    "neural_dma": _COPY,
    "task_dma": _COPY,
    "external_hdma": _COPY,
    "device_hdma": _COPY,
    "sync": OWN_WAIT,
    "device_sync": OWN_WAIT,
    "host": OWN_FRAME,
    "workload": OWN_FRAME,
}
"""Categories as the vendor's bridge to torch.profiler gives them (RBLN-SW/torch-rbln, `rbln_kineto_adapter`)."""


UsedTracks = tuple[Bool, Bool]
"""Which tracks have slices that are ours, and which have slices that the host trace shows."""


@dataclass(frozen=True, eq=False)
class DeviceLanes:
    """Where everything that is not the host trace is shown.

    Attributes:
        devices: Names of the devices that have tracks or counters, in order.
        tracks: Rows of `Timeline.tracks` that are shown, device by device, in order.
        lane_count: int64[tracks of the timeline]; how many rows each needs so that none of its slices cross on one.
        is_shared: bool[tracks of the timeline]; which have both slices and frames that are ours.
        slice_lane, frame_lane: int32; which of the rows of its track each slice and frame stands on.
        threads: int64[2, t]; process and thread of everything that the runtime did on the host.
        thread: int64; which of these each runtime slice is of.
        thread_lane_count: int64[t].
        runtime_lane: int32; of each runtime slice.
        findings: How many are not on the first row of theirs, if any.
    """

    devices: tuple[str, ...]
    tracks: tuple[int, ...]
    lane_count: Int64
    is_shared: Bool
    slice_lane: Int32
    frame_lane: Int32
    threads: Int64
    thread: Int64
    thread_lane_count: Int64
    runtime_lane: Int32
    findings: tuple[Finding, ...]


def category(track: Track) -> str:
    """The category of slices on a track."""
    return _CATEGORIES.get(track.kind, _KERNEL if track.is_work else OWN_FRAME)


def device_lanes(timeline: Timeline) -> DeviceLanes:
    """Rows for everything of a timeline that is not its host trace."""
    runtime = timeline.runtime
    used = (_used_tracks(timeline.slices, len(timeline.tracks)), _used_tracks(timeline.frames, len(timeline.tracks)))
    slice_lane, frame_lane, lane_count = _lanes(timeline, used)
    threads, thread = np.unique(np.stack((runtime.pid, runtime.tid)), axis=1, return_inverse=True)
    thread = thread.reshape(-1)
    runtime_lane = lanes(thread, runtime.start_ns, runtime.duration_ns)
    moved = sum(int(np.count_nonzero(lane)) for lane in (slice_lane, frame_lane, runtime_lane))
    crossing = counted(moved, "slice of the device or its runtime crosses", "slices of the device or its runtime cross")
    message = f"{crossing} another on the same row: shown on further rows"
    tracks = _own_tracks(timeline, used)
    counters = (timeline.strings[row] for row in np.unique(timeline.counters.device).tolist())
    return DeviceLanes(
        devices=tuple(dict.fromkeys([*(timeline.tracks[number].device for number in tracks), *counters])),
        tracks=tuple(tracks),
        lane_count=lane_count,
        is_shared=used[0][0] & used[1][0],
        slice_lane=slice_lane,
        frame_lane=frame_lane,
        threads=threads,
        thread=thread,
        thread_lane_count=_lane_counts(threads.shape[1], thread, runtime_lane),
        runtime_lane=runtime_lane,
        findings=(Finding(Severity.INFO, "device-slices-moved", message, moved),) if moved else (),
    )


def _own_tracks(timeline: Timeline, used: tuple[UsedTracks, UsedTracks]) -> list[int]:
    """Tracks that do not merely repeat rows of the host trace, device by device, in the order in which they are shown."""
    tracks = timeline.tracks
    is_own, is_host = (np.logical_or(*columns) for columns in zip(*used, strict=True))
    devices = {device: place for place, device in enumerate(dict.fromkeys(track.device for track in tracks))}
    numbers = np.flatnonzero(is_own | ~is_host).tolist()
    return sorted(numbers, key=lambda number: (devices[tracks[number].device], tracks[number].order, number))


def _used_tracks(slices: AlignedSlices, track_count: int) -> UsedTracks:
    """Which tracks have slices of their own, and which have slices that the host trace shows."""
    is_own, is_host = np.zeros((2, track_count), np.bool_)
    for rows in row_blocks(len(slices)):
        is_ours, track = slices.event[rows] < 0, slices.track[rows]
        if is_ours.all():
            is_own |= np.bincount(track, minlength=track_count) > 0
        else:
            is_own[track[is_ours]] = True
            is_host[track[~is_ours]] = True
    return is_own, is_host


def _lanes(timeline: Timeline, used: tuple[UsedTracks, UsedTracks]) -> tuple[Int32, Int32, Int64]:
    """Lanes of slices and of frames, which may share a track, and how many lanes each track needs."""
    tables = (timeline.slices, timeline.frames)
    track_count = len(timeline.tracks)
    is_shared = used[0][0] & used[1][0]
    found = []
    for table, (_, is_host) in zip(tables, used, strict=True):
        among = None if not is_shared.any() and not is_host.any() else (table.event < 0) & ~is_shared[table.track]
        found.append(lanes(table.track, table.start_ns, table.duration_ns, among))
    if is_shared.any():
        both = [np.flatnonzero((table.event < 0) & is_shared[table.track]) for table in tables]
        together = lanes(
            *(
                np.concatenate([getattr(table, name)[rows] for table, rows in zip(tables, both, strict=True)])
                for name in ("track", "start_ns", "duration_ns")
            )
        )
        found[0][both[0]], found[1][both[1]] = np.split(together, [len(both[0])])
    count = np.ones(track_count, np.int64)
    for table, lane in zip(tables, found, strict=True):
        np.maximum(count, _lane_counts(track_count, table.track, lane), out=count)
    return found[0], found[1], count


def _lane_counts(track_count: int, track: npt.NDArray[np.integer], lane: Int32) -> Int64:
    """How many rows each track needs."""
    count = np.ones(track_count, np.int64)
    moved = np.flatnonzero(lane)
    np.maximum.at(count, track[moved], lane[moved] + 1)
    return count
