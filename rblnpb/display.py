"""A profile's slices as Perfetto's own track events, so that the file opens in Perfetto's viewer as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.byte_rows import Column, Padded, join
from rblnpb.clock import clock_maps
from rblnpb.columns import DeviceSlices, WorkloadSlices
from rblnpb.lanes import lanes, outer_first
from rblnpb.name_columns import NameParts, Speller, distinct
from rblnpb.perfetto_wire import (
    EVENT_BEGIN,
    EVENT_END,
    bundle,
    event,
    message,
    number,
    numbers,
    process_packet,
    thread_packet,
    utf8,
)
from rblnpb.profile import ENGINE_NAMES, Device, Engine, EngineKind, Profile
from rblnpb.record_times import spans_by_clock

__all__ = ["DISPLAY_LIMIT", "display_packets", "engine_rows", "is_shown", "shown_engines", "slice_packets"]

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
UInt8 = npt.NDArray[np.uint8]
UInt64 = npt.NDArray[np.uint64]

_BLOCK_ROWS: Final = 8192
_FIRST_PID: Final = 5_000_000
"""Above every process id of Linux, whose greatest is 2^22."""
_FIRST_TID: Final = 6_000_000
_GOLDEN: Final = 0x9E37_79B9_7F4A_7C15
"""2^64 by the golden ratio: its multiples lie far apart, modulo 2^64."""


DISPLAY_LIMIT: Final = 200_000
"""Up to so many slices a profile carries display packets unless it is told otherwise: they take 15 to 18 bytes a slice, several
times what the records take, and 0.5 µs to make. That is 3.5 MB and a tenth of a second here."""


def is_shown(slice_count: int, *, display: bool | None) -> bool:
    """Whether a profile carries display packets.

    Args:
        slice_count: Its device slices and workload frames.
        display: What its writer was told; None = nothing, so that the size decides.
    """
    return slice_count <= DISPLAY_LIMIT if display is None else display


def display_packets(profile: Profile) -> Iterator[bytes]:
    """Device slices and workload frames of a profile as ready Perfetto packets.

    Each device is a process and each engine a thread of it, in the order in which the profile shows them; slices that cross others
    of their engine stand on further threads of the same name. Times are those of the host's monotonic clock. What no clock can
    place is left out.

    Args:
        profile: The profile.

    Yields:
        Packets that each bundle thousands of slices, compressed; none where no slice can be placed. They refer to nothing but
        themselves, so packets of others may stand before, after and between them.
    """
    parts = [part for table in (profile.device_slices, profile.workload_slices) for part in _placed(profile, table)]
    if sum(len(part.rows) for part in parts):
        yield from map(bundle, _packets(profile, parts))


@dataclass(frozen=True, eq=False)
class _Placed:
    """Slices of one clock that have a place in time: rows of their table, and when they are, in ns."""

    table: DeviceSlices | WorkloadSlices
    rows: Int64
    start_ns: Int64
    end_ns: Int64


def _placed(profile: Profile, table: DeviceSlices | WorkloadSlices) -> Iterator[_Placed]:
    for rows, start, duration in spans_by_clock(table, clock_maps(profile.clocks, profile.clock_snapshots)):
        # A broken clock may say anything; Perfetto takes a time before its zero for an error.
        is_sane = (start >= 0) & (duration >= 0)
        yield _Placed(table, rows[is_sane], start[is_sane], (start + duration)[is_sane])


def _packets(profile: Profile, parts: list[_Placed]) -> Iterator[bytes]:
    """Tracks, then slices, in pieces of bounded size."""
    start, end = (np.concatenate([getattr(part, name) for part in parts]) for name in ("start_ns", "end_ns"))
    engines = shown_engines(profile)
    engine = engine_rows(engines, np.concatenate([part.table.engine_id[part.rows] for part in parts]))
    lane = lanes(engine, start, end - start)
    lane_count = int(lane.max()) + 1
    used, track = np.unique(engine.astype(np.int64) * lane_count + lane, return_inverse=True)
    shown = [(engines[row // lane_count], row % lane_count) for row in used.tolist()]
    session_id = profile.session.session_id
    sequence_id = session_id % 0x7FFF_FFFF + 1
    # Two sessions in one file must not share a track: the session's number goes into the track's.
    uuids = [(session_id + place * _GOLDEN) % (1 << 64) or 1 for place in range(2 * len(shown))]
    yield _tracks(profile, shown, uuids, sequence_id)
    track_uuids = np.array(uuids[: len(shown)], np.uint64)
    speller, names = _names(profile, parts)
    order = outer_first(start, end)
    for first in range(0, len(order), _BLOCK_ROWS):
        block = order[first : first + _BLOCK_ROWS]
        for piece in speller.pieces(names.text[block]):
            rows = block[piece]
            head, tails, size = speller.spelled(names.take(rows))
            texts = (head, Padded(tails, size))
            yield slice_packets(track_uuids[track[rows]], start[rows], end[rows], texts, number(10, sequence_id)).tobytes()


def slice_packets(uuid: UInt64, start_ns: Int64, end_ns: Int64, names: Sequence[Column], sequence: bytes) -> UInt8:
    """A begin and an end for every slice.

    Perfetto orders packets by time and takes those of one time as they come. So slices come in the order of their starts, outer
    ones first: then at one moment all ends stand before all begins, and it does not matter which end is whose.

    Args:
        uuid: uint64[n]; of the tracks.
        start_ns, end_ns: int64[n]; not negative; no two slices of a track cross, and they are ordered by start, the longer first.
        names: Columns of n names; UTF-8.
        sequence: The field that says which writer the packets are of.

    Returns:
        uint8[m]; the packets.
    """
    track = numbers(11, uuid)
    begin = event(EVENT_BEGIN, start_ns, track, sequence, *message(23, names))
    return join(len(start_ns), [*begin, *event(EVENT_END, end_ns, track, sequence)])


def _tracks(profile: Profile, shown: list[tuple[Engine, int]], uuids: list[int], sequence_id: int) -> bytes:
    """A process for each device that has slices, and a thread for each lane of its engines."""
    devices = {device.device_id: device for device in (*profile.devices, Device(0, "device"))}
    pids = {device_id: _FIRST_PID + place for place, device_id in enumerate(dict.fromkeys(engine.device_id for engine, _ in shown))}
    packets = [
        process_packet(uuid, pid, device.name or f"device {device.ordinal}", sequence_id)
        for uuid, (device_id, pid) in zip(uuids[len(shown) :], pids.items(), strict=False)
        for device in [devices.get(device_id, Device(device_id, f"undefined device {device_id}"))]
    ]
    for place, (engine, lane) in enumerate(shown):
        name = engine.name or ENGINE_NAMES[engine.kind]
        chiplet = "" if engine.chiplet is None else f" (chiplet {engine.chiplet})"
        name += chiplet + (f" ({lane + 1})" if lane else "")
        packets.append(thread_packet(uuids[place], pids[engine.device_id], _FIRST_TID + place, name, sequence_id))
    return b"".join(packets)


def shown_engines(profile: Profile) -> list[Engine]:
    """Engines device by device, as they are to be shown, and one for slices whose engine is not defined."""
    known = sorted(profile.engines, key=lambda engine: (engine.device_id, engine.display_order, engine.engine_id))
    return [*known, Engine(0, 0, EngineKind.UNKNOWN, "Unknown engine")]


def engine_rows(engines: list[Engine], engine_id: npt.NDArray[np.uint32]) -> Int32:
    """int32[n]; rows of `shown_engines` for the engines of n slices; the last row for those that are not defined."""
    rows = {engine.engine_id: row for row, engine in enumerate(engines)}
    ids, of_slice = np.unique(engine_id, return_inverse=True)
    return np.array([rows.get(number, len(engines) - 1) for number in ids.tolist()], np.int32)[of_slice]


def _names(profile: Profile, parts: list[_Placed]) -> tuple[Speller, NameParts]:
    """Names of the slices of several parts, which follow each other; a frame is called by its program."""
    programs = {program.program_id: program.name or f"program {program.program_id}" for program in profile.programs}
    texts = [utf8(text) for text in (*profile.strings, "Device Workload", *programs.values())]
    program_rows = {program_id: len(profile.strings) + 1 + row for row, program_id in enumerate(programs)}
    columns = [_name_parts(profile, part, program_rows) for part in parts]
    names = NameParts(**{name: np.concatenate([part[name] for part in columns]) for name in columns[0]})
    return Speller(profile.session.name_style, texts), names


def _name_parts(profile: Profile, part: _Placed, program_rows: dict[int, int]) -> dict[str, npt.NDArray[Any]]:
    """Columns of `NameParts` for the slices of a part."""
    table, rows = part.table, part.rows
    if isinstance(table, WorkloadSlices):
        (ids,), of_slice = distinct(table.program_id[rows])
        text = np.array([program_rows.get(number, len(profile.strings)) for number in ids.tolist()], np.int64)[of_slice]
        nothing = np.zeros(len(rows), np.int64)
        return {
            "text": text,
            "is_whole": np.ones(len(rows), np.bool_),
            **dict.fromkeys(("command", "instance", "sequence", "workload"), nothing),
        }
    command = table.command_row[rows]
    layer, stage, whole = profile.commands.layer_strindex[command], table.stage_strindex[rows], table.name_strindex[rows]
    return {
        "text": np.where(whole > 0, whole, np.where(stage > 0, stage, layer)).astype(np.int64),
        "is_whole": whole > 0,
        "command": profile.commands.command_index[command].astype(np.int64),
        "instance": table.instance[rows].astype(np.int64),
        "sequence": table.sequence[rows].astype(np.int64),
        "workload": table.workload[rows].astype(np.int64),
    }
