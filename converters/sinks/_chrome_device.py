"""The device side of a Chrome trace: a process per device, a row per engine, and a row per thread for what the runtime did there.

Slices that came out of the host trace are in the output already and are left alone here.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding

from ..json_text import Texts, as_texts, inside_json_string, json_string
from ..timeline import AlignedSlices, HostTrack, Id, Int32, Int64, Timeline
from ._chrome_ids import FreeNumbers, Label, id_text
from ._chrome_slices import Numbers, SliceTable, Words
from ._device_lanes import RUNTIME_CATEGORY, DeviceLanes, category, device_lanes
from ._slice_rows import Rows, linked

__all__ = ["DevicePlan", "plan_device", "row_text"]

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
    shown = device_lanes(timeline)
    processes = _add_devices(timeline, shown, book)
    first_row = np.full(len(timeline.tracks), -1, np.int32)
    for number in shown.tracks:
        track = timeline.tracks[number]
        count, place = int(shown.lane_count[number]), len(book.rows) + 1
        first_row[number] = book.add_lanes(processes[track.device], track.name, category(track), count, place)
    runtime_row = _add_runtime(shown, book, host_pids)
    prefixes = as_texts(book.prefixes)
    return DevicePlan(
        rows=tuple(book.rows),
        labels=tuple(book.labels),
        tables=(
            _device_table(timeline, timeline.slices, _rows_of(timeline.slices, first_row, shown.slice_lane), prefixes),
            _device_table(timeline, timeline.frames, _rows_of(timeline.frames, first_row, shown.frame_lane), prefixes),
            _runtime_table(timeline, runtime_row, prefixes),
        ),
        processes=processes,
        findings=shown.findings,
    )


def _add_devices(timeline: Timeline, shown: DeviceLanes, book: _RowBook) -> dict[str, Id]:
    processes: dict[str, Id] = {}
    for place, device in enumerate(shown.devices):
        row = HostTrack(book.free.take(), 0)
        processes[device] = row.pid
        book.labels.append(Label("process_name", row, device))
        book.labels.append(Label("process_labels", row, timeline.device_name.upper() or "device"))
        book.labels.append(Label("process_sort_index", row, _SORT_AFTER_HOST + place))
    return processes


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
    return _identifiers(values) if is_id else values


def _linked(link: Int64, numbers: Int64, rows: Rows) -> Int64:
    """As of `linked`."""
    return _identifiers(linked(link, numbers, rows))


def _identifiers(values: Int64) -> Int64:
    """The same, where 0 means that there is none."""
    return np.where(values == 0, ABSENT, values)


def _add_runtime(shown: DeviceLanes, book: _RowBook, host_pids: dict[Id, Id]) -> Int32:
    """Rows of the runtime's slices: a row of its own for each thread, beside the thread in its process."""
    first_row = np.zeros(len(shown.thread_lane_count), np.int32)
    pids = dict(host_pids)
    for number, (pid, tid) in enumerate(shown.threads.T.tolist()):
        if pid not in pids:
            pids[pid] = pid if 0 < pid < 1 << 32 else book.free.take()
            book.labels.append(Label("process_name", HostTrack(pids[pid], 0), f"process {pid}"))
        count = int(shown.thread_lane_count[number])
        first_row[number] = book.add_lanes(pids[pid], f"runtime {tid}", RUNTIME_CATEGORY, count, tid)
    return first_row[shown.thread] + shown.runtime_lane


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
