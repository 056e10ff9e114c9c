"""The device side of a Perfetto trace: a process per device, a row per chiplet and engine, and rows for what the runtime did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from rblnpb.lanes import outer_first
from rblnpb.name_columns import NameColumns
from rblnpb.naming import NameStyle
from rblnpb.perfetto_wire import utf8

from ..timeline import AlignedSlices, Bool, Id, Int32, Int64, SliceNames, Timeline
from ._device_lanes import RUNTIME_CATEGORY, DeviceLanes, category
from ._perfetto_names import ANNOTATION_NAMES, ANNOTATION_TEXTS, CATEGORIES, Interning
from ._perfetto_slices import Argument, SliceColumns
from ._perfetto_tracks import TrackBook
from ._slice_rows import Rows, linked

__all__ = ["DeviceTracks", "add_device_tracks", "device_tables"]

_CHIPLET: Final = re.compile(r"(.+) \((chiplet [0-9]+)\)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class DeviceTracks:
    """Tracks of everything that is not the host trace.

    Attributes:
        devices: Track of each device.
        slices, frames, runtime: int32; the track of each; 0 for those that are shown in the host trace.
        categories: The category of what stands on each track.
    """

    devices: dict[str, int]
    slices: Int32
    frames: Int32
    runtime: Int32
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
    has_both = _has_own(timeline, timeline.slices) & _has_own(timeline, timeline.frames)
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
            names = [name, f"{name}, frames"] if has_both[number] else [name]
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
        slices=_tracks_of(timeline.slices, first, shown.slice_lane),
        frames=_tracks_of(timeline.frames, first_frame, shown.frame_lane),
        runtime=of_thread[shown.thread] + shown.runtime_lane,
        categories=categories,
    )


def _has_own(timeline: Timeline, slices: AlignedSlices) -> Bool:
    """Which tracks have slices that are not shown in the host trace."""
    has_own = np.zeros(len(timeline.tracks), np.bool_)
    has_own[slices.track if (slices.event < 0).all() else slices.track[slices.event < 0]] = True
    return has_own


def _add_lanes(book: TrackBook, parent: int, name: str, count: int) -> list[int]:
    """So many rows for one track; their numbers follow each other."""
    return [book.row(parent, name if lane == 0 else f"{name} ({lane + 1})") for lane in range(count)]


def _tracks_of(slices: AlignedSlices, first: Int32, lane: Int32) -> Int32:
    tracks: Int32 = first[slices.track]
    tracks += lane
    tracks[slices.event >= 0] = 0
    return tracks


def device_tables(timeline: Timeline, tracks: DeviceTracks, texts: Interning, shift_ns: int) -> Iterator[SliceColumns]:
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
    for slices, track in ((timeline.slices, tracks.slices), (timeline.frames, tracks.frames)):
        names, arguments = _names(slices.names), _arguments(timeline, slices, texts)
        yield _columns(slices.start_ns, slices.duration_ns, track, categories, names, arguments, shift_ns)
    runtime = timeline.runtime
    names = _plain_names(timeline.strings, runtime.name)
    named = partial(texts.number, ANNOTATION_NAMES)
    arguments = [
        Argument.identifier(named("launch_id"), partial(linked, runtime.launch, timeline.launches.launch_id)),
        Argument.number(named("size_bytes"), lambda rows: runtime.size_bytes[rows]),
    ]
    yield _columns(runtime.start_ns, runtime.duration_ns, tracks.runtime, categories, names, arguments, shift_ns)


def _columns(
    start_ns: Int64,
    duration_ns: Int64,
    track: Int32,
    categories: Int32,
    names: NameColumns,
    arguments: list[Argument],
    shift_ns: int,
) -> SliceColumns:
    is_ordered = bool((start_ns[1:] > start_ns[:-1]).all())
    order = np.arange(len(start_ns)) if is_ordered else outer_first(start_ns, start_ns + duration_ns)
    return SliceColumns(
        rows=order if track.all() else order[track[order] > 0],
        track=track,
        start_ns=start_ns + shift_ns if shift_ns else start_ns,
        duration_ns=duration_ns,
        names=names,
        categories=categories,
        arguments=arguments,
    )


def _names(names: SliceNames) -> NameColumns:
    is_whole = names.override > 0
    return NameColumns(
        names.style,
        list(map(utf8, names.strings)),
        text=np.where(is_whole, names.override, names.stage) if is_whole.any() else names.stage,
        is_whole=is_whole,
        command=names.command,
        instance=names.instance,
        sequence=names.sequence,
        workload=names.workload,
    )


def _plain_names(strings: tuple[str, ...], name: Int32) -> NameColumns:
    nothing = np.zeros(len(name), np.int32)
    return NameColumns(
        NameStyle.PLAIN,
        list(map(utf8, strings)),
        text=name,
        is_whole=np.ones(len(name), np.bool_),
        command=nothing,
        instance=nothing,
        sequence=nothing,
        workload=nothing,
    )


def _arguments(timeline: Timeline, slices: AlignedSlices, texts: Interning) -> list[Argument]:
    """What slices tell: as in the Chrome trace, and the op that caused them."""
    named = partial(texts.number, ANNOTATION_NAMES)
    stages = texts.table(ANNOTATION_TEXTS, slices.names.strings, slices.names.stage)
    told = [Argument.text(named("stage"), lambda rows: stages[slices.names.stage[rows]])]
    if timeline.host is not None:
        events = timeline.host.events
        op = np.where(slices.host_row < 0, 0, events.name[slices.host_row]) if len(events) else np.zeros(len(slices), np.int32)
        ops = texts.table(ANNOTATION_TEXTS, timeline.host.strings, op)
        told.append(Argument.text(named("op"), lambda rows: ops[op[rows]]))
        told.append(Argument.identifier(named("External id"), partial(linked, slices.host_row, events.external_id)))
    if "launch_id" not in timeline.argument_names:
        told.append(Argument.identifier(named("launch_id"), partial(linked, slices.launch, timeline.launches.launch_id)))
    for column, name in enumerate(timeline.argument_names):
        form = Argument.identifier if name == "launch_id" else Argument.number
        told.append(form(named(name), partial(_argument, slices.arguments, column)))
    return told


def _argument(arguments: Int64, column: int, rows: Rows) -> Int64:
    values: Int64 = arguments[rows, column]
    return values
