"""Perfetto's wire format from columns: a block of packets is put together by numpy, not message by message.

Field numbers are those of `perfetto/trace/trace_packet.proto` and of the messages that it refers to. What differs from packet to
packet is written in fields of one width (numbers as varints longer than need be, which every protobuf reader takes), so that they
are columns of `byte_rows`.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.byte_rows import Column, as_bytes, row_sizes
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
    "behind",
    "bounds",
    "bundle",
    "event",
    "field",
    "message",
    "number",
    "numbers",
    "process_packet",
    "sized",
    "thread_packet",
    "utf8",
    "varint_bytes",
    "varints",
]

Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.integer[Any]]

EVENT_BEGIN: Final = 1
EVENT_END: Final = 2
EVENT_INSTANT: Final = 3
EVENT_COUNTER: Final = 4
"""Values of `TrackEvent.type`."""


_key: Final = functools.cache(varint)
"""What stands before a field: its number, and what sort of content follows. Few are asked for, again and again."""


def number(tag: int, value: int) -> bytes:
    """A field with a number from 0 to 2^64 - 1.

    >>> number(8, 300).hex()
    '40ac02'
    """
    return _key(tag << 3) + varint(value)


def field(tag: int, content: bytes) -> bytes:
    """A field with bytes, a text or a message.

    >>> field(1, b"ab").hex()
    '0a026162'
    """
    return _key(tag << 3 | 2) + varint(len(content)) + content


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
    return _WIDTHS[bisect_left(_WIDTHS, needed)]


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
    # Each step takes groups of bits apart, until every byte has seven: adding the upper group once moves it by one bit, adding it
    # three times by two, and fifteen times by four.
    if width == 1:
        return [as_bytes(values.astype(np.uint8))]
    if width == 2:
        low = values.astype("<u2")
        low += low & 0x3F80
        low |= 0x80
        return [as_bytes(low)]
    if width == 4:
        return [as_bytes(_four_bytes(values.astype("<u4")))]
    whole = values.astype("<u8")
    many: npt.NDArray[Any] = whole & 0x00FF_FFFF_FFFF_FFFF
    for upper, times in ((0xFF_FFFF_F000_0000, 15), (0xFFF_C000_0FFF_C000, 3), (0x3F80_3F80_3F80_3F80, 1)):
        part = many & upper
        part *= times
        many += part
    if width == 8:
        return [as_bytes(many | 0x80_8080_8080_8080)]
    rest = ((whole >> 56) & 0x7F).astype("<u2")
    if width == 10:
        rest |= ((whole >> 63) << 8).astype("<u2") | 0x80
    return [as_bytes(many | 0x8080_8080_8080_8080), as_bytes(rest)[:, : width - 8]]


def _four_bytes(few: npt.NDArray[np.uint32], more: int = 0) -> npt.NDArray[np.uint32]:
    """uint32[n]; varints of numbers.

    Args:
        few: uint32[n]; numbers of 28 bits at most; they are written over.
        more: 0x8000_0000 where more bytes follow.
    """
    part = few & 0xFFF_C000
    part *= 3
    few += part
    np.bitwise_and(few, 0x3F80_3F80, out=part)
    few += part
    few |= 0x80_8080 | more
    return few


def bounds(values: Integers) -> tuple[int, int]:
    """The least and the greatest of some numbers; 0 and 0 of none."""
    return (int(np.minimum.reduce(values)), int(np.maximum.reduce(values))) if len(values) else (0, 0)


def numbers(tag: int, values: Integers, within: tuple[int, int] | None = None) -> list[Column]:
    """A field with a number in every row.

    Args:
        tag: Number of the field.
        values: int[n]; a negative one stands for its two's complement of 64 bits.
        within: Their bounds, where these are known.
    """
    least, greatest = within or bounds(values)
    if least == greatest:
        return [number(tag, least % (1 << 64))]
    width = 10 if least < 0 else varint_bytes(greatest)
    if width > _FEW and least >> _FEW_BITS == greatest >> _FEW_BITS:
        # Times that lie close together have their upper bytes in common.
        lower, upper = values.astype("<u4"), varint(greatest >> _FEW_BITS)
        lower &= (1 << _FEW_BITS) - 1
        return [_key(tag << 3), as_bytes(_four_bytes(lower, 0x8000_0000)), upper]
    return [_key(tag << 3), *varints(values, width)]


_FEW, _FEW_BITS = 4, 28
"""How many bytes hold the lower bits of a number, and how many bits these are."""


def message(tag: int, columns: Sequence[Column]) -> list[Column]:
    """A field with a message, or a text, of these columns in every row."""
    size = row_sizes(columns)
    if isinstance(size, int):
        return behind(_key(tag << 3 | 2) + varint(size), columns)
    return [*sized(tag, size), *columns]


def sized(tag: int, size: Int64) -> list[Column]:
    """Tag and length, in every row, of a field whose content follows."""
    return [_key(tag << 3 | 2), *varints(size, varint_bytes(int(np.maximum.reduce(size, initial=0))))]


def event(kind: int, time_ns: Int64, track: Sequence[Column], sequence: bytes, *columns: Column) -> list[Column]:
    """A packet with a track event in every row.

    Args:
        kind: One of EVENT_….
        time_ns: int64[n]; not negative.
        track: Columns of field 11, the track's number.
        sequence: Fields of the packet that are the same in all of them.
        *columns: What else the event says.
    """
    told = message(11, behind(number(9, kind), [*track, *columns]))
    return message(1, [*numbers(8, time_ns), *behind(sequence, told)])


def behind(same: bytes, columns: Sequence[Column]) -> list[Column]:
    """Columns with the same bytes before them in all rows: the fewer columns, the less there is to do for every block.

    >>> behind(b"a", [b"b", b"c"])
    [b'ab', b'c']
    """
    first, *others = columns
    return [same + first, *others] if isinstance(first, bytes) else [same, *columns]
