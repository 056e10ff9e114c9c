"""The device side of a Perfetto trace: a process per device, a row per chiplet and engine, and rows for what the runtime did."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.lanes import outer_first
from rblnpb.name_columns import NameParts, Speller
from rblnpb.naming import NameStyle
from rblnpb.perfetto_wire import utf8

from ..timeline import AlignedSlices, Bool, DeferredSlices, Id, Int32, Int64, Rows, SliceNames, Timeline
from ._device_lanes import FRAME_CATEGORY, RUNTIME_CATEGORY, DeviceLanes, category
from ._perfetto_names import ANNOTATION_NAMES, ANNOTATION_TEXTS, CATEGORIES, Interning
from ._perfetto_slices import Argument, SliceTable, Told
from ._perfetto_tracks import TrackBook
from ._slice_rows import linked

__all__ = ["DeviceTracks", "add_device_tracks", "device_tables"]

_CHIPLET: Final = re.compile(r"(.+) \((chiplet [0-9]+)\)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class DeviceTracks:
    """Tracks of everything that is not the host trace.

    Attributes:
        devices: Track of each device.
        slices, frames, runtime: Give the tracks of some rows of each table, int32; of no use for what is shown in the host trace.
        categories: The category of what stands on each track, unless it is a frame.
    """

    devices: dict[str, int]
    slices: Callable[[Rows], Int32]
    frames: Callable[[Rows], Int32]
    runtime: Callable[[Rows], Int32]
    categories: dict[int, str]


def add_device_tracks(timeline: Timeline, shown: DeviceLanes, book: TrackBook, processes: dict[Id, int]) -> DeviceTracks:
    """Introduce the tracks.

    Args:
        timeline: The timeline.
        shown: Which rows it needs.
        book: Where tracks are introduced.
        processes: Tracks of the processes of the host trace; those that only the runtime knows are added.
    """
    first, first_frame = np.zeros((2, len(timeline.tracks)), np.int32)
    devices, categories = {}, {}
    for device in shown.devices:
        devices[device] = book.process(None, device, timeline.device_name.upper() or "device")[0]
        chiplets: dict[str, int] = {}
        for number in (number for number in shown.tracks if timeline.tracks[number].device == device):
            name, parent = timeline.tracks[number].name, devices[device]
            if match := _CHIPLET.fullmatch(name):
                name = match[1]
                if match[2] not in chiplets:
                    chiplets[match[2]] = book.row(parent, match[2])
                parent = chiplets[match[2]]
            # Each table is written in an order of its own, so slices and frames do not share a row.
            names = [name, f"{name}, frames"] if shown.is_shared[number] else [name]
            added = [_add_lanes(book, parent, one, int(shown.lane_count[number])) for one in names]
            first[number], first_frame[number] = added[0][0], added[-1][0]
            categories.update(dict.fromkeys((row for rows in added for row in rows), category(timeline.tracks[number])))
    of_thread = np.zeros(len(shown.thread_lane_count), np.int32)
    for number, (pid, tid) in enumerate(shown.threads.T.tolist()):
        if pid not in processes:
            processes[pid] = book.process(pid, f"process {pid}")[0]
        rows = _add_lanes(book, processes[pid], f"runtime {tid}", int(shown.thread_lane_count[number]))
        of_thread[number] = rows[0]
        categories.update(dict.fromkeys(rows, RUNTIME_CATEGORY))
    return DeviceTracks(
        devices=devices,
        slices=_tracks_of(timeline.slices.track, first, shown.slice_lane),
        frames=_tracks_of(timeline.frames.track, first_frame, shown.frame_lane),
        runtime=_tracks_of(shown.thread, of_thread, shown.runtime_lane),
        categories=categories,
    )


def _add_lanes(book: TrackBook, parent: int, name: str, count: int) -> list[int]:
    """So many rows for one track; their numbers follow each other."""
    return [book.row(parent, name if lane == 0 else f"{name} ({lane + 1})") for lane in range(count)]


def _tracks_of(track: npt.NDArray[np.integer[Any]], first: Int32, lane: Int32) -> Callable[[Rows], Int32]:
    """Gives the numbers of the tracks of some rows: the first of their own, and further ones for lanes."""
    lanes = lane if lane.any() else None

    def of(rows: Rows) -> Int32:
        numbers: Int32 = first.take(track[rows])
        return numbers if lanes is None else numbers + lanes[rows]

    return of


def device_tables(timeline: Timeline, tracks: DeviceTracks, texts: Interning, shift_ns: int) -> Iterator[SliceTable]:
    """What is to be written: device slices, frames, and what the runtime did.

    Args:
        timeline: The timeline.
        tracks: Where everything stands.
        texts: Where texts get their numbers.
        shift_ns: What is added to every time.
    """
    categories = np.zeros(max(tracks.categories, default=0) + 1, np.int32)
    for row, text in tracks.categories.items():
        categories[row] = texts.number(CATEGORIES, text)
    frames = np.full_like(categories, texts.number(CATEGORIES, FRAME_CATEGORY)) if len(timeline.frames) else categories
    tables = ((timeline.slices, tracks.slices, categories), (timeline.frames, tracks.frames, frames))
    for slices, track, category_of in tables:
        speller = Speller(_style(slices), list(map(utf8, slices.strings)))
        is_own = None if bool((slices.event < 0).all()) else slices.event < 0
        read = _reader(timeline, slices, texts)
        order = _order(slices.start_ns, slices.duration_ns, is_own)
        yield SliceTable(order, slices.start_ns, slices.duration_ns, shift_ns, track, category_of, speller, read)
    runtime = timeline.runtime
    speller, read = Speller(NameStyle.PLAIN, list(map(utf8, timeline.strings))), _runtime_reader(timeline, texts)
    order = _order(runtime.start_ns, runtime.duration_ns, None)
    yield SliceTable(order, runtime.start_ns, runtime.duration_ns, shift_ns, tracks.runtime, categories, speller, read)


def _style(slices: AlignedSlices) -> NameStyle:
    # One slice is enough to know it, and reads no more than that.
    return slices.take(slice(0, 1)).names.style


def _order(start_ns: Int64, duration_ns: Int64, is_own: Bool | None) -> Int32 | None:
    """As of `SliceTable`; of all rows, or of some."""
    if bool((start_ns[1:] > start_ns[:-1]).all()):
        return None if is_own is None else np.flatnonzero(is_own).astype(np.int32)
    order = outer_first(start_ns, start_ns + duration_ns).astype(np.int32)
    return order if is_own is None else order[is_own[order]]


def _reader(timeline: Timeline, slices: AlignedSlices, texts: Interning) -> Callable[[Rows], Told]:
    """What slices tell: as in the Chrome trace, and the op that caused them."""
    host, launches = timeline.host, timeline.launches
    named = partial(texts.number, ANNOTATION_NAMES)
    stage, stages = Argument.text(named("stage")), texts.table(ANNOTATION_TEXTS, slices.strings, slices.text_rows())
    op, ops = Argument.text(named("op")), np.zeros(0, np.int32)
    if host is not None:
        ops = texts.table(ANNOTATION_TEXTS, host.strings, _op_names(timeline, slices))
    external_id, launch_id = Argument.identifier(named("External id")), Argument.identifier(named("launch_id"))
    columns = [(Argument.identifier if name == "launch_id" else Argument.number)(named(name)) for name in timeline.argument_names]

    def read(rows: Rows) -> Told:
        block = slices.take(rows)
        told: list[tuple[Argument, Int32 | Int64]] = [(stage, stages.take(block.names.stage))]
        if host is not None and len(host.events):
            is_known, owner = block.host_row >= 0, np.maximum(block.host_row, 0)
            told.append((op, np.where(is_known, ops[host.events.name[owner]], 0)))
            told.append((external_id, np.where(is_known, host.events.external_id[owner], 0)))
        if "launch_id" not in timeline.argument_names:
            told.append((launch_id, linked(block.launch, launches.launch_id, slice(None))))
        # Each is looked at several times, and a column whose values lie side by side is looked at in half the time.
        told += list(zip(columns, np.ascontiguousarray(block.arguments.T), strict=True))
        return Told(_parts(block.names), told)

    return read


def _op_names(timeline: Timeline, slices: AlignedSlices) -> Int64:
    """Rows of the host's strings: the names of all ops that slices may be on."""
    host = timeline.host
    if host is None:
        return np.empty(0, np.int64)
    rows = [timeline.launches.host_row, *(() if isinstance(slices, DeferredSlices) else (slices.host_row,))]
    is_used = np.zeros(len(host.strings), np.bool_)
    for row in rows:
        for first in range(0, len(row), _BATCH):
            some = row[first : first + _BATCH]
            is_used[host.events.name[some[some >= 0]]] = True
    return np.flatnonzero(is_used)


_BATCH: Final = 1 << 16


def _parts(names: SliceNames) -> NameParts:
    is_whole = names.override > 0
    if not is_whole.any():
        return NameParts(names.stage, None, names.command, names.instance, names.sequence, names.workload)
    text = np.where(is_whole, names.override, names.stage)
    return NameParts(text, is_whole, names.command, names.instance, names.sequence, names.workload)


def _runtime_reader(timeline: Timeline, texts: Interning) -> Callable[[Rows], Told]:
    runtime, launches = timeline.runtime, timeline.launches
    launch_id = Argument.identifier(texts.number(ANNOTATION_NAMES, "launch_id"))
    size_bytes = Argument.number(texts.number(ANNOTATION_NAMES, "size_bytes"))

    def read(rows: Rows) -> Told:
        name = runtime.name[rows]
        nothing = np.zeros(len(name), np.int32)
        numbers = linked(runtime.launch, launches.launch_id, rows)
        parts = NameParts(name, np.ones(len(name), np.bool_), nothing, nothing, nothing, nothing)
        return Told(parts, [(launch_id, numbers), (size_bytes, runtime.size_bytes[rows])])

    return read
