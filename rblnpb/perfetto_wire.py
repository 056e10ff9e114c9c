"""Slices as Perfetto's own track events, so that a profile opens in Perfetto's viewer as it is.

Field numbers are those of `perfetto/trace/trace_packet.proto` and the messages that it refers to. Numbers that differ from packet
to packet are varints of one fixed width (longer than need be, which every protobuf reader takes), so that a block of packets is a
byte matrix that numpy fills column by column; only names are as long as they are, and are put between its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.clock import clock_maps
from rblnpb.columns import DeviceSlices, TextArray, WorkloadSlices, frozen
from rblnpb.container import varint
from rblnpb.lanes import lanes, outer_first
from rblnpb.naming import render
from rblnpb.profile import ENGINE_NAMES, Device, Engine, EngineKind, Profile

try:  # four times as fast as zlib
    from isal import isal_zlib as deflate
except ImportError:  # a platform without its wheel
    import zlib as deflate  # type: ignore[no-redef]  # the same function

__all__ = ["bundle", "display_packets", "engine_rows", "process_packet", "shown_engines", "slice_packets", "thread_packet"]

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
UInt8 = npt.NDArray[np.uint8]

_BLOCK_ROWS: Final = 8192
_BLOCK_BYTES: Final = 1 << 24
_TIME_BYTES: Final = 10
_FIRST_PID: Final = 5_000_000
"""Above every process id of Linux, whose greatest is 2^22."""
_FIRST_TID: Final = 6_000_000
_GOLDEN: Final = 0x9E37_79B9_7F4A_7C15
"""2^64 by the golden ratio: its multiples lie far apart, modulo 2^64."""


def display_packets(profile: Profile) -> bytes:
    """Device slices and workload frames of a profile as ready Perfetto packets.

    Each device is a process and each engine a thread of it, in the order in which the profile shows them; slices that cross others
    of their engine stand on further threads of the same name. Times are those of the host's monotonic clock. What no clock can
    place is left out; where that is everything, the answer is empty.

    Args:
        profile: The profile.

    Returns:
        Packets that each bundle thousands of slices, compressed. They refer to nothing but themselves, so packets of others
        may stand before, after and between them.
    """
    parts = [part for table in (profile.device_slices, profile.workload_slices) for part in _placed(profile, table)]
    if not sum(len(part.rows) for part in parts):
        return b""
    return b"".join(bundle(packets) for packets in _packets(profile, parts))


def bundle(packets: bytes) -> bytes:
    """One packet that holds all of these, compressed: whoever passes over them passes over one."""
    return _field(1, _field(50, deflate.compress(packets, 1)))


def process_packet(uuid: int, pid: int, name: str, sequence_id: int) -> bytes:
    """The packet that introduces a process, real or not.

    Args:
        uuid: 1 to 2^64 - 1, unlike that of any other track of the file.
        pid: Below 2^31.
        name: What the viewer calls it.
        sequence_id: Number of the writer, the same for all packets of one; not 0.
    """
    process = _number(1, pid) + _field(6, _utf8(name))
    return _field(1, _number(10, sequence_id) + _field(60, _number(1, uuid) + _field(3, process)))


def thread_packet(uuid: int, pid: int, tid: int, name: str, sequence_id: int) -> bytes:
    """The packet that introduces a row of a process: a thread, real or not. It precedes the row's slices.

    Args:
        uuid: 1 to 2^64 - 1, unlike that of any other track of the file.
        pid, tid: Below 2^31.
        name: What the viewer calls it.
        sequence_id: As of the process.
    """
    thread = _number(1, pid) + _number(2, tid) + _field(5, _utf8(name))
    return _field(1, _number(10, sequence_id) + _field(60, _number(1, uuid) + _field(4, thread)))


def slice_packets(
    uuids: npt.NDArray[np.uint64], track: Int32, start_ns: Int64, end_ns: Int64, names: TextArray, sequence_id: int
) -> bytes:
    """A begin and an end for every slice.

    Perfetto orders packets by time and takes those of one time as they come. So slices come in the order of their starts, outer
    ones first: then at one moment all ends stand before all begins, and it does not matter which end is whose.

    Args:
        uuids: uint64[k]; of the tracks.
        track: int32[n]; rows of `uuids`.
        start_ns, end_ns: int64[n]; not negative; no two slices of a track cross, and they are ordered by start, the longer first.
        names: n names; UTF-8.
        sequence_id: As of the tracks.

    Returns:
        The packets.
    """
    name_bytes = names.sizes()
    sequence = _number(10, sequence_id)
    # Every length is written in as many bytes as the longest could need.
    size_bytes = len(varint(int(name_bytes.max(initial=0)) + 256))
    end_bytes = 2 + 1 + _TIME_BYTES
    event_bytes = end_bytes + 2 + size_bytes + name_bytes
    packet_bytes = 1 + _TIME_BYTES + len(sequence) + 1 + size_bytes + event_bytes
    uuid = _fixed_varints(uuids, _TIME_BYTES)[track]
    before: list[bytes | UInt8] = [
        b"\x0a",
        _fixed_varints(packet_bytes, size_bytes),
        b"\x40",
        _fixed_varints(start_ns, _TIME_BYTES),
        sequence + b"\x5a",
        _fixed_varints(event_bytes, size_bytes),
        b"\x48\x01\x58",
        uuid,
        b"\xba\x01",
        _fixed_varints(name_bytes, size_bytes),
    ]
    after: list[bytes | UInt8] = [
        b"\x0a" + varint(1 + _TIME_BYTES + len(sequence) + 2 + end_bytes) + b"\x40",
        _fixed_varints(end_ns, _TIME_BYTES),
        sequence + b"\x5a" + varint(end_bytes) + b"\x48\x02\x58",
        uuid,
    ]
    rows = _matrix([*before, *after], len(names))
    lengths = np.empty((len(names), 3), np.int64)
    lengths[:, 0] = _matrix(before, 0).shape[1]
    lengths[:, 1] = name_bytes
    lengths[:, 2] = rows.shape[1] - lengths[:, 0]
    is_text = np.repeat(np.tile([False, True, False], len(names)), lengths.reshape(-1))
    packets = np.empty(len(is_text), np.uint8)
    packets[is_text] = names.text
    packets[~is_text] = rows.reshape(-1)
    return packets.tobytes()


def _matrix(columns: list[bytes | UInt8], count: int) -> UInt8:
    """uint8[count, total width]; columns side by side, bytes the same in every row."""
    widths = [len(column) if isinstance(column, bytes) else column.shape[1] for column in columns]
    rows = np.empty((count, sum(widths)), np.uint8)
    at = 0
    for column, width in zip(columns, widths, strict=True):
        rows[:, at : at + width] = np.frombuffer(column, np.uint8) if isinstance(column, bytes) else column[:count]
        at += width
    return rows


@dataclass(frozen=True, eq=False)
class _Placed:
    """Slices of one clock that have a place in time: rows of their table, and when they are, in ns."""

    table: DeviceSlices | WorkloadSlices
    rows: Int64
    start_ns: Int64
    end_ns: Int64


def _placed(profile: Profile, table: DeviceSlices | WorkloadSlices) -> Iterator[_Placed]:
    maps = clock_maps(profile.clocks, profile.clock_snapshots)
    for clock_id in np.unique(table.clock_id).tolist():
        rows = np.flatnonzero(table.clock_id == clock_id)
        if clock_id not in maps:
            continue
        start, duration = maps[clock_id].span_to_ns(table.start_ticks[rows], table.duration_ticks[rows])
        # A broken clock may say anything; Perfetto takes a time before its zero for an error.
        is_sane = (start >= 0) & (duration >= 0)
        yield _Placed(table, rows[is_sane].astype(np.int64), start[is_sane], (start + duration)[is_sane])


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
    names = _Names(profile, parts)
    order = outer_first(start, end)
    for rows in _blocks(order, names.sizes(order)):
        yield slice_packets(track_uuids, track[rows].astype(np.int32), start[rows], end[rows], names.take(rows), sequence_id)


def _blocks(order: npt.NDArray[np.intp], size_bytes: Int64) -> Iterator[npt.NDArray[np.intp]]:
    """The rows in pieces of so few rows and bytes that they need little memory."""
    until_bytes = np.cumsum(size_bytes)
    first = 0
    while first < len(order):
        end_bytes = until_bytes[first] + _BLOCK_BYTES
        last = min(first + _BLOCK_ROWS, int(np.searchsorted(until_bytes, end_bytes, side="right")))
        yield order[first:last]
        first = last


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


class _Names:
    """Names of the slices of several parts, which follow each other: each has a text of few, and parts around it."""

    def __init__(self, profile: Profile, parts: list[_Placed]) -> None:
        self._profile = profile
        self._parts = parts
        programs = {program.program_id: program.name or f"program {program.program_id}" for program in profile.programs}
        self._texts = [_utf8(text) for text in (*profile.strings, "Device Workload", *programs.values())]
        self._text_bytes = np.array(list(map(len, self._texts)), np.int64)
        self._program_rows = {program_id: len(profile.strings) + 1 + row for row, program_id in enumerate(programs)}
        self._text_rows = np.concatenate([self._rows_of(part) for part in parts])
        self._firsts = np.cumsum([0, *(len(part.rows) for part in parts)])

    def _rows_of(self, part: _Placed) -> Int64:
        """int64[n]; rows of the texts of a part's slices."""
        table, rows = part.table, part.rows
        if isinstance(table, WorkloadSlices):
            ids, of_slice = np.unique(table.program_id[rows], return_inverse=True)
            nameless = len(self._profile.strings)
            found = np.array([self._program_rows.get(number, nameless) for number in ids.tolist()], np.int64)[of_slice]
        else:
            layer = self._profile.commands.layer_strindex[table.command_row[rows]]
            stage, whole = table.stage_strindex[rows], table.name_strindex[rows]
            found = np.where(whole > 0, whole, np.where(stage > 0, stage, layer)).astype(np.int64)
        return found

    def sizes(self, rows: npt.NDArray[np.intp]) -> Int64:
        """int64[n]; bytes that the packets of some slices take, about."""
        sizes: Int64 = self._text_bytes[self._text_rows[rows]] + 256
        return sizes

    def take(self, rows: npt.NDArray[np.intp]) -> TextArray:
        """The names of some slices."""
        part_of = np.searchsorted(self._firsts, rows, side="right") - 1
        # numpy pads texts to the longest, so those of about one length go together.
        length_class = np.frexp(self._text_bytes[self._text_rows[rows]])[1]
        kinds, kind_of = np.unique(part_of * 64 + length_class, return_inverse=True)
        order = np.argsort(kind_of, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(kind_of))[:-1])
        found = [
            self._of_part(self._parts[kind // 64], rows[group] - self._firsts[kind // 64], self._text_rows[rows[group]])
            for kind, group in zip(kinds.tolist(), groups, strict=True)
        ]
        back = np.empty(len(rows), np.int64)
        back[order] = np.arange(len(rows))
        return TextArray.concat(found).take(back) if len(found) > 1 else found[0]

    def _of_part(self, part: _Placed, places: npt.NDArray[np.intp], text_rows: Int64) -> TextArray:
        distinct, of_slice = np.unique(text_rows, return_inverse=True)
        texts = np.array([self._texts[row] for row in distinct.tolist()], dtype=np.bytes_)[of_slice]
        table, rows = part.table, part.rows[places]
        if isinstance(table, DeviceSlices):
            by_parts = render(
                self._profile.session.name_style,
                layer=texts,
                command=self._profile.commands.command_index[table.command_row[rows]],
                instance=table.instance[rows],
                sequence=table.sequence[rows],
                workload=table.workload[rows],
            )
            texts = np.where(table.name_strindex[rows] > 0, texts, by_parts)
        sizes = np.strings.str_len(texts)
        padded = texts.view(np.uint8).reshape(len(texts), -1)
        return TextArray(frozen(np.cumsum(sizes)), frozen(padded[np.arange(padded.shape[1]) < sizes[:, None]]))


def _number(number: int, value: int) -> bytes:
    """A field with a number."""
    return varint(number << 3) + varint(value)


def _field(number: int, content: bytes) -> bytes:
    """A field with bytes, a text or a message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _fixed_varints(values: npt.NDArray[np.integer], width: int) -> UInt8:
    """uint8[n, width]; numbers from 0 to 2^64 - 1 as varints of this many bytes, which must be enough."""
    shifts = np.arange(width, dtype=np.uint64) * np.uint64(7)
    digits = (values.astype(np.uint64)[:, None] >> shifts).astype(np.uint8) & np.uint8(0x7F)
    digits[:, :-1] |= np.uint8(0x80)
    return digits
