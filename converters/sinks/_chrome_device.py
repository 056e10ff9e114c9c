"""The device side of a Chrome trace: a process per device, a row per engine, and a row per thread for what the runtime did there.

Slices that came out of the host trace are in the output already and are left alone here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding
from rblnpb.naming import NameStyle

from ..json_text import TextTable, inside_json_string, json_string
from ..timeline import AlignedSlices, Bool, HostTrack, Id, Int32, Int64, SliceNames, Timeline
from ._chrome_ids import FreeNumbers, Label, id_text
from ._chrome_slices import Numbers, SliceTable
from ._device_lanes import FRAME_CATEGORY, RUNTIME_CATEGORY, DeviceLanes, category, device_lanes
from ._slice_rows import linked

__all__ = ["DevicePlan", "plan_device", "row_text"]

_SORT_AFTER_HOST: Final = 6_000_000
"""Kineto sorts processes of the host by their ids, which are below 2^22, and devices of its own from 5,000,000 on."""


@dataclass(frozen=True, eq=False)
class DevicePlan:
    """How everything that is not the host trace goes into the output.

    Attributes:
        rows: Ids of its rows.
        labels: Metadata of the rows and their processes.
        tables: Slices, frames and runtime slices, in this order; they stand on rows of `rows`.
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
    heads: list[bytes] = field(default_factory=list)

    def add_lanes(self, pid: Id, name: str, category: str, count: int, sort_index: int) -> int:
        """`count` rows for one track; the number of the first."""
        first = len(self.rows)
        for lane in range(count):
            row = HostTrack(pid, self.free.take())
            self.rows.append(row)
            self.labels.append(Label("thread_name", row, name if lane == 0 else f"{name} ({lane + 1})"))
            self.labels.append(Label("thread_sort_index", row, sort_index))
            self.heads.append(_head(category, row))
        return first


def _head(category: str, row: HostTrack) -> bytes:
    """As of `SliceTable`."""
    return b'%s",%s,"name":"' % (category.encode(), row_text(row))


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
    first_runtime_row = _add_runtime(shown, book, host_pids)
    heads = TextTable(book.heads)
    frame_heads = TextTable([_head(FRAME_CATEGORY, row) for row in book.rows])
    runtime = _as_slices(timeline, shown.thread)
    return DevicePlan(
        rows=tuple(book.rows),
        labels=tuple(book.labels),
        tables=(
            _table(timeline, timeline.slices, timeline.argument_names, shown.slice_lane, first_row, heads),
            _table(timeline, timeline.frames, timeline.argument_names, shown.frame_lane, first_row, frame_heads),
            _table(timeline, runtime, ("size_bytes",), shown.runtime_lane, first_runtime_row, heads),
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


def _table(
    timeline: Timeline, slices: AlignedSlices, argument_names: tuple[str, ...], lane: Int32, first_row: Int32, heads: TextTable
) -> SliceTable:
    inside = [b""] * len(slices.strings)
    for row in slices.text_rows().tolist():
        inside[row] = inside_json_string(slices.strings[row])
    return SliceTable(slices, lane, first_row, heads, TextTable(inside), tuple(_numbers(timeline, argument_names)))


def _numbers(timeline: Timeline, argument_names: tuple[str, ...]) -> Iterator[Numbers]:
    """What slices tell in numbers."""
    launch_id = timeline.launches.launch_id
    if "launch_id" not in argument_names:
        yield Numbers(b'"launch_id"', lambda block: _linked(block.launch, launch_id))
    for column, name in enumerate(argument_names):
        yield Numbers(json_string(name), partial(_argument, column, is_id=name == "launch_id"))
    if timeline.host is not None:
        external_id = timeline.host.events.external_id
        yield Numbers(b'"External id"', lambda block: _linked(block.host_row, external_id))


def _argument(column: int, block: AlignedSlices, *, is_id: bool) -> Int64:
    values: Int64 = np.ascontiguousarray(block.arguments[:, column])
    return _present(values, values != 0) if is_id else values


def _linked(link: Int64, numbers: Int64) -> Int64:
    """As `linked`, ABSENT for what is not known."""
    values = linked(link, numbers, slice(None))
    return _present(values, values != 0)


def _present(values: Int64, condition: Bool) -> Int64:
    return values if condition.all() else np.where(condition, values, ABSENT)


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
    return first_row


def _as_slices(timeline: Timeline, thread: Int64) -> AlignedSlices:
    """What the runtime did as slices, each on the track of its thread."""
    runtime = timeline.runtime
    count = len(runtime)
    zero, none = np.broadcast_to(np.int32(0), count), np.broadcast_to(np.int64(-1), count)
    names = SliceNames(NameStyle.PLAIN, timeline.strings, zero, zero, zero, none, none, runtime.name)
    return AlignedSlices(
        start_ns=runtime.start_ns,
        duration_ns=runtime.duration_ns,
        track=thread.astype(np.int32),
        names=names,
        launch=runtime.launch,
        host_row=none,
        rule=zero,
        event=none,
        arguments=runtime.size_bytes[:, None],
    )
