"""Perfetto's wire format from columns: a block of packets is put together by numpy, not message by message.

Field numbers are those of `perfetto/trace/trace_packet.proto` and of the messages that it refers to. What differs from packet to
packet is written in fields of one width (numbers as varints longer than need be, which every protobuf reader takes), so that a
block of packets is a table of bytes that is filled column by column. Only what has a length of its own, such as a name, is put
between such columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.container import varint

try:  # four times as fast as zlib
    from isal import isal_zlib as deflate
except ImportError:  # a platform without its wheel
    import zlib as deflate  # type: ignore[no-redef]  # the same function

__all__ = [
    "EVENT_BEGIN",
    "EVENT_COUNTER",
    "EVENT_END",
    "EVENT_INSTANT",
    "Column",
    "Entries",
    "Padded",
    "bundle",
    "event",
    "field",
    "join",
    "message",
    "number",
    "numbers",
    "process_packet",
    "row_sizes",
    "sized",
    "stack",
    "thread_packet",
    "utf8",
    "varint_bytes",
    "varints",
]

Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.integer[Any]]

EVENT_BEGIN: Final = 1
EVENT_END: Final = 2
EVENT_INSTANT: Final = 3
EVENT_COUNTER: Final = 4
"""Values of `TrackEvent.type`."""


@dataclass(frozen=True, eq=False)
class Padded:
    """A text for every row; a table of rows has at most one such column.

    Attributes:
        texts: uint8[n, w]; each text from the left; what stands behind it does not matter.
        size: int64[n]; bytes of each.
    """

    texts: UInt8
    size: Int64


@dataclass(frozen=True, eq=False)
class Entries:
    """Any number of pieces of one length for every row.

    Attributes:
        pieces: uint8[m, w]; all pieces, those of the first row first.
        count: int64[n]; how many each row has; their sum is m.
    """

    pieces: UInt8
    count: Int64


Column = bytes | UInt8 | Padded | Entries
"""A part of every row: the same bytes in all of them, a table uint8[n, w], or parts of lengths of their own."""


def number(tag: int, value: int) -> bytes:
    """A field with a number from 0 to 2^64 - 1.

    >>> number(8, 300).hex()
    '40ac02'
    """
    return varint(tag << 3) + varint(value)


def field(tag: int, content: bytes) -> bytes:
    """A field with bytes, a text or a message.

    >>> field(1, b"ab").hex()
    '0a026162'
    """
    return varint(tag << 3 | 2) + varint(len(content)) + content


def utf8(text: str) -> bytes:
    """A text as protobuf wants it; half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace")


def bundle(packets: bytes) -> bytes:
    """One packet that holds all of these, compressed: whoever passes over them passes over one."""
    return field(1, field(50, deflate.compress(packets, 1)))


def process_packet(uuid: int, pid: int, name: str, sequence_id: int) -> bytes:
    """The packet that introduces a process, real or not.

    Args:
        uuid: 1 to 2^64 - 1, unlike that of any other track of the file.
        pid: Below 2^31.
        name: What the viewer calls it.
        sequence_id: Number of the writer, the same for all packets of one; not 0.
    """
    process = number(1, pid) + field(6, utf8(name))
    return field(1, number(10, sequence_id) + field(60, number(1, uuid) + field(3, process)))


def thread_packet(uuid: int, pid: int, tid: int, name: str, sequence_id: int) -> bytes:
    """The packet that introduces a row of a process: a thread, real or not. It precedes the row's slices.

    Args:
        uuid: 1 to 2^64 - 1, unlike that of any other track of the file.
        pid, tid: Below 2^31.
        name: What the viewer calls it.
        sequence_id: As of the process.
    """
    thread = number(1, pid) + number(2, tid) + field(5, utf8(name))
    return field(1, number(10, sequence_id) + field(60, number(1, uuid) + field(4, thread)))


def varint_bytes(greatest: int) -> int:
    """In how many bytes a column of numbers is written: 1, 2, 4, 8, 9 or 10, the least that hold the varint of the greatest.

    >>> varint_bytes(127), varint_bytes(128), varint_bytes(2**14)
    (1, 2, 4)
    """
    needed = max(1, (greatest.bit_length() + 6) // 7)
    return next(width for width in _WIDTHS if width >= needed)


_WIDTHS: Final = (1, 2, 4, 8, 9, 10)
"""Numpy moves numbers of 1, 2, 4 and 8 bytes several times as fast as other stretches of bytes; the last two are 8 and the rest."""


def varints(values: Integers, width: int) -> list[UInt8]:
    """Numbers as varints of one width.

    Args:
        values: int[n]; from 0 to 2^64 - 1; a negative one stands for its two's complement of 64 bits.
        width: Bytes of each; see `varint_bytes`.

    Returns:
        uint8[n, w]; one or two columns, side by side.

    >>> [column.tolist() for column in varints(np.array([1, 300]), 2)]
    [[[129, 0], [172, 2]]]
    """
    # Each step takes groups of bits apart, until every byte has seven.
    if width == 1:
        return [_bytes(values.astype(np.uint8))]
    if width == 2:
        low = values.astype("<u2")
        return [_bytes((low & 0x7F) | ((low & 0x3F80) << 1) | 0x80)]
    if width == 4:
        few: npt.NDArray[Any] = values.astype("<u4")
        few = (few & 0x3FFF) | ((few & 0xFFF_C000) << 2)
        few = (few & 0x7F_007F) | ((few & 0x3F80_3F80) << 1)
        return [_bytes(few | 0x80_8080)]
    whole = values.astype("<u8")
    many: npt.NDArray[Any] = (whole & 0x0FFF_FFFF) | ((whole & 0xFF_FFFF_F000_0000) << 4)
    many = (many & 0x3FFF_0000_3FFF) | ((many & 0xFFF_C000_0FFF_C000) << 2)
    many = (many & 0x7F_007F_007F_007F) | ((many & 0x3F80_3F80_3F80_3F80) << 1)
    if width == 8:
        return [_bytes(many | 0x80_8080_8080_8080)]
    rest = ((whole >> 56) & 0x7F).astype("<u2")
    if width == 10:
        rest |= ((whole >> 63) << 8).astype("<u2") | 0x80
    return [_bytes(many | 0x8080_8080_8080_8080), _bytes(rest)[:, : width - 8]]


def _bytes(numbers: npt.NDArray[Any]) -> UInt8:
    return numbers.view(np.uint8).reshape(len(numbers), numbers.dtype.itemsize)


def numbers(tag: int, values: Integers) -> list[Column]:
    """A field with a number in every row.

    Args:
        tag: Number of the field.
        values: int[n]; a negative one stands for its two's complement of 64 bits.
    """
    least, greatest = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if least == greatest:
        return [number(tag, least % (1 << 64))]
    return [varint(tag << 3), *varints(values, 10 if least < 0 else varint_bytes(greatest))]


def row_sizes(columns: Sequence[Column]) -> int | Int64:
    """Bytes of every row: one number where all have the same, else int64[n]."""
    size: int | Int64 = 0
    for column in columns:
        if isinstance(column, Padded):
            size = size + column.size
        elif isinstance(column, Entries):
            size = size + column.count * column.pieces.shape[1]
        else:
            size = size + _width(column)
    return size


def message(tag: int, columns: Sequence[Column]) -> list[Column]:
    """A field with a message, or a text, of these columns in every row."""
    size = row_sizes(columns)
    if isinstance(size, int):
        return [varint(tag << 3 | 2) + varint(size), *columns]
    return [*sized(tag, size), *columns]


def sized(tag: int, size: Int64) -> list[Column]:
    """Tag and length, in every row, of a field whose content follows."""
    return [varint(tag << 3 | 2), *varints(size, varint_bytes(int(size.max(initial=0))))]


def event(kind: int, time_ns: Int64, track: Sequence[Column], sequence: bytes, *columns: Column) -> list[Column]:
    """A packet with a track event in every row.

    Args:
        kind: One of EVENT_….
        time_ns: int64[n]; not negative.
        track: Columns of field 11, the track's number.
        sequence: Fields of the packet that are the same in all of them.
        *columns: What else the event says.
    """
    return message(1, [*numbers(8, time_ns), sequence, *message(11, [number(9, kind), *track, *columns])])


def stack(count: int, columns: Sequence[bytes | UInt8]) -> UInt8:
    """uint8[count, w]; columns side by side."""
    width = sum(_width(column) for column in columns)
    rows = np.empty((count, width), np.uint8)
    if not count or not width:
        return rows
    same = b"".join(column if isinstance(column, bytes) else bytes(_width(column)) for column in columns)
    rows.view(f"V{width}")[:, 0] = np.frombuffer(same, f"V{width}")
    at = 0
    for column in columns:
        if not isinstance(column, bytes) and _width(column):
            # One value of many bytes a row: numpy moves these several times as fast as many values.
            kind = _kind(_width(column))
            np.ndarray(count, kind, rows, at, (width,))[:] = column.view(kind)[:, 0]
        at += _width(column)
    return rows


def join(count: int, columns: Sequence[Column]) -> UInt8:
    """uint8[m]; all rows, one after the other: of each row what its columns hold, side by side."""
    sizes = row_sizes(columns)
    if isinstance(sizes, int):
        return stack(count, [column for column in columns if isinstance(column, (bytes, np.ndarray))]).reshape(-1)
    ends = np.cumsum(sizes)
    parts = _placed(count, columns, ends - sizes)
    # The last rows may be padded beyond the end.
    packets = np.empty(int(ends[-1]) + max(pieces.shape[1] for _, pieces, _ in parts) if count else 0, np.uint8)
    # What a padded text leaves behind it is written over, by the next one and then by all other parts.
    for _, pieces, at in sorted(parts, key=lambda part: not part[0]):
        if pieces.size:
            kind = _kind(pieces.shape[1])
            anywhere = np.ndarray(len(packets) - pieces.shape[1] + 1, kind, packets, 0, (1,))
            anywhere[at] = pieces.view(kind)[:, 0]
    return packets[: int(ends[-1]) if count else 0]


def _placed(count: int, columns: Sequence[Column], at: Int64) -> list[tuple[bool, UInt8, Int64]]:
    """Pieces of one length and where each begins; whether they are padded."""
    parts: list[tuple[bool, UInt8, Int64]] = []
    beside: list[bytes | UInt8] = []

    def flush(at: Int64) -> Int64:
        pieces = stack(count, beside)
        parts.append((False, pieces, at))
        beside.clear()
        behind: Int64 = at + pieces.shape[1]
        return behind

    for column in columns:
        if isinstance(column, (bytes, np.ndarray)):
            beside.append(column)
            continue
        at = flush(at) if beside else at
        if isinstance(column, Padded):
            parts.append((True, column.texts, at))
            at = at + column.size
        else:
            width = column.pieces.shape[1]
            first = np.cumsum(column.count) - column.count
            ordinal = np.arange(len(column.pieces)) - np.repeat(first, column.count)
            parts.append((False, column.pieces, np.repeat(at, column.count) + width * ordinal))
            at = at + width * column.count
    if beside:
        flush(at)
    return parts


def _width(column: bytes | UInt8) -> int:
    return len(column) if isinstance(column, bytes) else column.shape[1]


def _kind(width: int) -> np.dtype[Any]:
    return np.dtype(_NUMBERS.get(width) or f"V{width}")


_NUMBERS: Final = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}
