"""The device side of a Chrome trace: a process per device, a row per engine, and a row per thread for what the runtime did there.

Slices that came out of the host trace are in the output already and are left alone here.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding, Severity
from rblnpb.lanes import lanes

from ..json_text import Texts, as_texts, inside_json_string, json_string
from ..timeline import AlignedSlices, HostTrack, Id, Int32, Int64, Timeline, Track
from ._chrome_ids import FreeNumbers, Label, id_text
from ._chrome_slices import Numbers, Rows, SliceTable, Words

__all__ = ["DevicePlan", "plan_device", "row_text"]

# Work has torch's own categories, so that whoever reads torch's traces counts it. What is no work has categories of ours: under
# the vendor's privateuse1_… torch's rules would count it as time of the host, and the ops around it would lose that time.
_COPY, _KERNEL = "gpu_memcpy", "kernel"
_WAIT, _WORKLOAD, _RUNTIME = "rbln_sync", "rbln_workload", "rbln_runtime"
_CATEGORIES: Final = {
    "copy": _COPY,
    "neural_dma": _COPY,
    "task_dma": _COPY,
    "external_hdma": _COPY,
    "device_hdma": _COPY,
    "sync": _WAIT,
    "device_sync": _WAIT,
    "host": _WORKLOAD,
    "workload": _WORKLOAD,
}
"""Categories as the vendor's bridge to torch.profiler gives them (RBLN-SW/torch-rbln, `rbln_kineto_adapter`)."""

_SORT_AFTER_HOST: Final = 6_000_000
"""Kineto sorts processes of the host by their ids, which are below 2^22, and devices of its own from 5,000,000 on."""


@dataclass(frozen=True, eq=False)
class DevicePlan:
    """How everything that is not the host trace goes into the output.

    Attributes:
        rows: Ids of its rows.
        labels: Metadata of the rows and their processes.
        tables: Slices, frames and runtime slices, in this order; their rows are rows of `rows`.
        processes: Process of each device.
        findings: What had to be moved, counted.
    """

    rows: tuple[HostTrack, ...]
    labels: tuple[Label, ...]
    tables: tuple[SliceTable, SliceTable, SliceTable]
    processes: dict[str, Id]
    findings: tuple[Finding, ...]


@dataclass
class _RowBook:
    """The rows of the output while they are made."""

    free: FreeNumbers
    rows: list[HostTrack] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    prefixes: list[bytes] = field(default_factory=list)

    def add_lanes(self, pid: Id, name: str, category: str, count: int, sort_index: int) -> int:
        """`count` rows for one track; the number of the first."""
        first = len(self.rows)
        for lane in range(count):
            row = HostTrack(pid, self.free.take())
            self.rows.append(row)
            self.labels.append(Label("thread_name", row, name if lane == 0 else f"{name} ({lane + 1})"))
            self.labels.append(Label("thread_sort_index", row, sort_index))
            self.prefixes.append(b',\n{"ph":"X","cat":"%s",%s,"name":"' % (category.encode(), row_text(row)))
        return first


def row_text(row: HostTrack) -> bytes:
    """The ids of a row as members of an event."""
    return b'"pid":%s,"tid":%s' % (id_text(row.pid), id_text(row.tid))


def plan_device(timeline: Timeline, free: FreeNumbers, host_pids: dict[Id, Id]) -> DevicePlan:
    """Give every device a process, every track of it a row, and more rows to tracks on which slices cross.

    Args:
        timeline: The timeline.
        free: Where numbers for processes and threads come from.
        host_pids: Process ids of the host trace, and what they are in the output.
    """
    book = _RowBook(free)
    processes = _add_devices(timeline, book)
    slice_lane, frame_lane, lane_count = _device_lanes(timeline)
    first_row = np.full(len(timeline.tracks), -1, np.int32)
    for number in _own_tracks(timeline):
        track = timeline.tracks[number]
        count, place = int(lane_count[number]), len(book.rows) + 1
        first_row[number] = book.add_lanes(processes[track.device], track.name, _category(track), count, place)
    runtime_lane, runtime_row = _add_runtime(timeline, book, host_pids)
    prefixes = as_texts(book.prefixes)
    moved = sum(int((lane > 0).sum()) for lane in (slice_lane, frame_lane, runtime_lane))
    message = f"{moved} slices of the device or its runtime cross another on their row; they went to further rows"
    return DevicePlan(
        rows=tuple(book.rows),
        labels=tuple(book.labels),
        tables=(
            _device_table(timeline, timeline.slices, _rows_of(timeline.slices, first_row, slice_lane), prefixes),
            _device_table(timeline, timeline.frames, _rows_of(timeline.frames, first_row, frame_lane), prefixes),
            _runtime_table(timeline, runtime_row, prefixes),
        ),
        processes=processes,
        findings=(Finding(Severity.INFO, "device-slices-moved", message, moved),) if moved else (),
    )


def _add_devices(timeline: Timeline, book: _RowBook) -> dict[str, Id]:
    counters = (timeline.strings[row] for row in np.unique(timeline.counters.device).tolist())
    tracks = (timeline.tracks[number].device for number in _own_tracks(timeline))
    processes: dict[str, Id] = {}
    for place, device in enumerate(dict.fromkeys([*tracks, *counters])):
        row = HostTrack(book.free.take(), 0)
        processes[device] = row.pid
        book.labels.append(Label("process_name", row, device))
        book.labels.append(Label("process_labels", row, timeline.device_name.upper() or "device"))
        book.labels.append(Label("process_sort_index", row, _SORT_AFTER_HOST + place))
    return processes


def _own_tracks(timeline: Timeline) -> list[int]:
    """Tracks that do not merely repeat rows of the host trace, device by device, in the order in which they are shown."""
    tracks = timeline.tracks
    is_own, is_host = np.zeros((2, len(tracks)), np.bool_)
    for slices in (timeline.slices, timeline.frames):
        is_own[slices.track[slices.event < 0]] = True
        is_host[slices.track[slices.event >= 0]] = True
    devices = {device: place for place, device in enumerate(dict.fromkeys(track.device for track in tracks))}
    numbers = np.flatnonzero(is_own | ~is_host).tolist()
    return sorted(numbers, key=lambda number: (devices[tracks[number].device], tracks[number].order, number))


def _category(track: Track) -> str:
    return _CATEGORIES.get(track.kind, _KERNEL if track.is_work else _WORKLOAD)


def _device_lanes(timeline: Timeline) -> tuple[Int32, Int32, Int64]:
    """Lanes of slices and of frames, which may share a track, and how many lanes each track needs."""
    both = (timeline.slices, timeline.frames)
    own = [np.flatnonzero(slices.event < 0) for slices in both]
    track = np.concatenate([slices.track[rows] for slices, rows in zip(both, own, strict=True)])
    start = np.concatenate([slices.start_ns[rows] for slices, rows in zip(both, own, strict=True)])
    duration = np.concatenate([slices.duration_ns[rows] for slices, rows in zip(both, own, strict=True)])
    lane = lanes(track, start, duration)
    slice_lane, frame_lane = (np.zeros(len(slices), np.int32) for slices in both)
    slice_lane[own[0]], frame_lane[own[1]] = np.split(lane, [len(own[0])])
    return slice_lane, frame_lane, _lane_counts(len(timeline.tracks), track, lane)


def _lane_counts(track_count: int, track: npt.NDArray[np.integer], lane: Int32) -> Int64:
    """How many rows each track needs."""
    count = np.ones(track_count, np.int64)
    moved = np.flatnonzero(lane)
    np.maximum.at(count, track[moved], lane[moved] + 1)
    return count


def _rows_of(slices: AlignedSlices, first_row: Int32, lane: Int32) -> Int32:
    return np.where(slices.event < 0, first_row[slices.track] + lane, np.int32(-1))


def _device_table(timeline: Timeline, slices: AlignedSlices, row: Int32, prefixes: Texts) -> SliceTable:
    inside = [inside_json_string(text) for text in slices.names.strings]
    names = dataclasses.replace(slices.names, strings=tuple(text.decode() for text in inside))
    stages = (b"", *(b'"%s"' % text for text in inside[1:]))
    size = np.array([len(text) for text in inside], np.int64)
    members: list[Numbers | Words] = [Words(b'"stage"', stages, slices.names.stage)]
    if "launch_id" not in timeline.argument_names:
        members.append(Numbers(b'"launch_id"', partial(_linked, slices.launch, timeline.launches.launch_id)))
    for column, name in enumerate(timeline.argument_names):
        is_id = name == "launch_id"
        members.append(Numbers(json_string(name), partial(_argument, slices.arguments, column, is_id=is_id)))
    if timeline.host is not None:
        members.append(Numbers(b'"External id"', partial(_linked, slices.host_row, timeline.host.events.external_id)))
    return SliceTable(
        prefixes=prefixes,
        row=row,
        start_ns=slices.start_ns,
        duration_ns=slices.duration_ns,
        names=lambda rows: names.take(rows).render(),
        text_bytes=lambda rows: 2 * size[slices.names.stage[rows]] + size[slices.names.override[rows]],
        members=tuple(members),
    )


def _argument(arguments: Int64, column: int, rows: Rows, *, is_id: bool) -> Int64:
    values: Int64 = arguments[rows, column]
    return np.where(values == 0, ABSENT, values) if is_id else values


def _linked(link: Int64, numbers: Int64, rows: Rows) -> Int64:
    """Numbers that stand in another table, to which `link` leads; -1 leads nowhere, and 0 is unknown."""
    found = link[rows]
    values = np.where(found < 0, 0, numbers[found]) if len(numbers) else np.zeros(len(found), np.int64)
    return np.where(values == 0, ABSENT, values)


def _add_runtime(timeline: Timeline, book: _RowBook, host_pids: dict[Id, Id]) -> tuple[Int32, Int32]:
    """Lanes and rows of the runtime's slices: a row of its own for each thread, beside the thread in its process."""
    runtime = timeline.runtime
    threads, thread = np.unique(np.stack((runtime.pid, runtime.tid)), axis=1, return_inverse=True)
    thread = thread.reshape(-1)
    lane = lanes(thread, runtime.start_ns, runtime.duration_ns)
    count = _lane_counts(threads.shape[1], thread, lane)
    first_row = np.zeros(len(count), np.int32)
    pids = dict(host_pids)
    for number, (pid, tid) in enumerate(threads.T.tolist()):
        if pid not in pids:
            pids[pid] = pid if 0 < pid < 1 << 32 else book.free.take()
            book.labels.append(Label("process_name", HostTrack(pids[pid], 0), f"process {pid}"))
        first_row[number] = book.add_lanes(pids[pid], f"runtime {tid}", _RUNTIME, int(count[number]), tid)
    return lane, first_row[thread] + lane


def _runtime_table(timeline: Timeline, row: Int32, prefixes: Texts) -> SliceTable:
    runtime = timeline.runtime
    used, name = np.unique(runtime.name, return_inverse=True)
    texts = as_texts([inside_json_string(timeline.strings[number]) for number in used.tolist()])
    return SliceTable(
        prefixes=prefixes,
        row=row,
        start_ns=runtime.start_ns,
        duration_ns=runtime.duration_ns,
        names=lambda rows: texts[name[rows]],
        text_bytes=lambda rows: np.full(len(name[rows]), texts.dtype.itemsize, np.int64),
        members=(
            Numbers(b'"launch_id"', partial(_linked, runtime.launch, timeline.launches.launch_id)),
            Numbers(b'"size_bytes"', lambda rows: runtime.size_bytes[rows]),
        ),
    )
