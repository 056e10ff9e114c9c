"""Chunks: record tables to encoded columns and back.

A chunk is written and walked by hand, because its raw columns *are* arrays on the wire; the field numbers come out of the
generated descriptors, so that the schema stays their only source. Compressed columns go through protobuf's own parser.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import zstandard
from google.protobuf.message import DecodeError

from rblnpb.columns import ABSENT, CHUNK_LIMIT, Table, TextArray
from rblnpb.container import Buffer, WireError, fields, varint
from rblnpb.profile import KINDS
from rblnpb.v1 import columns_pb2

__all__ = ["CODECS", "ChunkHead", "CodecError", "chunk_head", "decode_chunk", "encode_chunk"]

CODECS: Final = {
    "raw": columns_pb2.CODEC_UNSPECIFIED,
    "none": columns_pb2.CODEC_UNSPECIFIED,
    "zstd": columns_pb2.CODEC_ZSTD,
    "zlib": columns_pb2.CODEC_ZLIB,
}
"""How a writer may store columns: as raw arrays, or packed with a codec of the schema (none: transformed only)."""

_ZSTD_LEVEL: Final = 1

_MESSAGES: Final[dict[int, Any]] = {
    field.number: field.message_type
    for field in columns_pb2.Chunk.DESCRIPTOR.fields
    if field.containing_oneof is not None and field.containing_oneof.name == "records"
}
_COLUMN_NUMBERS: Final = {kind: {field.name: field.number for field in message.fields} for kind, message in _MESSAGES.items()}
_NARROW: Final = {1: 1, 4: 2, 8: 3}
"""Width of a raw form to its field number in Column."""
_F64, _PACKED, _CONSTANT, _VALIDITY = 4, 5, 6, 7
_DELTA_COLUMNS: Final = frozenset(
    {"start_ticks", "launch_id", "start_ns", "time_ticks", "predecessor_ordinal", "successor_ordinal", "sequence"}
)
"""Columns that mostly ascend: their differences compress, their values do not."""
_DELTA_ZIGZAG: Final = columns_pb2.TRANSFORM_DELTA_ZIGZAG
_BYTE_SHUFFLE: Final = columns_pb2.TRANSFORM_BYTE_SHUFFLE

Array = npt.NDArray[Any]


class CodecError(ValueError):
    """A chunk that cannot be decoded; its text says which column and why."""


@dataclass(frozen=True)
class ChunkHead:
    """What a chunk says of itself besides its columns.

    Attributes:
        kind: Field number of the kind; 0 when it has none, or one that this version does not know.
        count: Records.
        clock_id: Clock of its ticks; 0 = none.
        first_ordinal: Ordinal of its first record among those of its kind in the session.
        unknown_columns: Field numbers of columns that this version does not know.
    """

    kind: int
    count: int
    clock_id: int
    first_ordinal: int
    unknown_columns: tuple[int, ...] = ()


# --- writing -------------------------------------------------------------------------------------------------------


def encode_chunk(table: Table, clock_id: int, first_ordinal: int, codec: str) -> bytes:
    """The encoded Chunk of these records.

    Args:
        table: 1 to 65,536 records of one clock. A `clock_id` column is not encoded: the chunk has it once.
        clock_id: Clock of the chunk.
        first_ordinal: Ordinal of the first record among those of its kind in the session.
        codec: A name of `CODECS`.
    """
    parts: list[bytes] = []
    numbers = _COLUMN_NUMBERS[table.kind]
    for name, (dtype, nullable) in table.schema().items():
        if name == "clock_id":
            continue
        values = getattr(table, name)
        if dtype is None:
            encoded = _encode_text(values, codec)
        else:
            encoded = _encode_column(values, codec, nullable=nullable, is_ascending=name in _DELTA_COLUMNS)
        if encoded:
            parts.append(_length_delimited(numbers[name], encoded))
    head = b"\x08" + varint(len(table))
    if clock_id:
        head += b"\x10" + varint(clock_id)
    if first_ordinal:
        head += b"\x18" + varint(first_ordinal)
    return head + _length_delimited(table.kind, b"".join(parts))


def _length_delimited(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def _encode_column(values: Array, codec: str, *, nullable: bool = False, is_ascending: bool = False) -> bytes:
    """An encoded Column; empty when it says nothing, that is all zero, or not recorded at all."""
    validity = b""
    if nullable:
        valid = values != ABSENT
        if not valid.any():
            return b""
        if not valid.all():
            validity = _encode_validity(valid, codec)
            values = np.where(valid, values, 0)
    # Equal bits, not equal values: -0.0 and NaN are doubles too.
    bits = values.view(np.uint64) if values.dtype == np.float64 else values
    low, high = int(bits.min()), int(bits.max())
    if low == high and not validity:
        says_nothing = low == 0 and not nullable
        return b"" if says_nothing else b"\x31" + (low & (1 << 64) - 1).to_bytes(8, "little")
    width = 8 if values.dtype.kind == "f" else _width(low, high, is_signed=values.dtype.kind == "i")
    narrow = values.astype(f"<{values.dtype.kind}{width}")
    if codec != "raw":
        return _encode_packed(narrow, codec, is_ascending=is_ascending) + validity
    return _length_delimited(_F64 if values.dtype.kind == "f" else _NARROW[width], narrow.tobytes()) + validity


def _width(low: int, high: int, *, is_signed: bool) -> int:
    """Bytes of the narrowest raw form that holds both."""
    for width in (1, 4):
        bits = 8 * width
        floor, ceiling = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
        if floor <= low and high <= ceiling:
            return width
    return 8


def _encode_packed(values: Array, codec: str, *, is_ascending: bool) -> bytes:
    number = CODECS[codec]
    message = columns_pb2.PackedValues(codec=number, value_width=values.dtype.itemsize)
    stored = values
    if is_ascending and values.dtype.itemsize > 1:
        wide = values.astype(np.int64) if values.dtype.kind == "i" else values.astype(np.uint64).view(np.int64)
        delta = np.diff(wide, prepend=wide[:1])
        zigzag = ((delta << 1) ^ (delta >> 63)).view(np.uint64)
        stored = zigzag.astype(f"<u{_width(0, int(zigzag.max()), is_signed=False)}")
        message.first_value = int(wide[0]) & (1 << 64) - 1
        message.transforms.append(_DELTA_ZIGZAG)
    message.stored_width = stored.dtype.itemsize
    data = stored.tobytes()
    if stored.dtype.itemsize > 1:
        data = np.frombuffer(data, np.uint8).reshape(-1, stored.dtype.itemsize).T.tobytes()
        message.transforms.append(_BYTE_SHUFFLE)
    message.data = _compress(data, number)
    return _length_delimited(_PACKED, message.SerializeToString())


def _encode_validity(valid: npt.NDArray[np.bool_], codec: str) -> bytes:
    number = CODECS[codec]
    bits = _compress(np.packbits(valid, bitorder="little").tobytes(), number)
    return _length_delimited(_VALIDITY, columns_pb2.Validity(bits=bits, codec=number).SerializeToString())


def _encode_text(values: TextArray, codec: str) -> bytes:
    number = CODECS[codec]
    sizes = _encode_column(values.sizes().astype(np.uint64), codec)
    if not sizes:
        return b""
    text = columns_pb2.TextColumn(text=_compress(values.text.tobytes(), number), codec=number)
    return _length_delimited(1, sizes) + text.SerializeToString()


def _compress(data: bytes, number: int) -> bytes:
    if number == columns_pb2.CODEC_ZSTD:
        return zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress(data)
    return zlib.compress(data, 1) if number == columns_pb2.CODEC_ZLIB else data


# --- reading -------------------------------------------------------------------------------------------------------


def decode_chunk(data: Buffer, start: int, end: int) -> tuple[ChunkHead, Table | None]:
    """Head and records of the Chunk at `data[start:end]`; no table when its kind is not known.

    Raw columns are views of `data` where their dtype in memory is that of the wire, and copies elsewhere.

    Raises:
        CodecError: The chunk contradicts the schema.
    """
    try:
        head, (first, last) = _read_head(data, start, end)
        if head.kind not in KINDS:
            return head, None
        if not 1 <= head.count <= CHUNK_LIMIT:
            raise CodecError(f"a chunk holds 1 to {CHUNK_LIMIT:,} records, this one says {head.count:,}")
        return _read_records(data, first, last, head)
    except WireError as error:
        raise CodecError(str(error)) from error


def chunk_head(data: Buffer, start: int, end: int) -> ChunkHead:
    """The head of the Chunk at `data[start:end]`, its columns not looked at.

    Raises:
        CodecError: It is no message.
    """
    try:
        return _read_head(data, start, end)[0]
    except WireError as error:
        raise CodecError(str(error)) from error


def _read_head(data: Buffer, start: int, end: int) -> tuple[ChunkHead, tuple[int, int]]:
    count = clock_id = first_ordinal = kind = 0
    place = (end, end)
    for number, value, first, last in fields(data, start, end):
        if number == 1:
            count = value
        elif number == 2:
            clock_id = value
        elif number == 3:
            first_ordinal = value
        elif number >= 16:
            kind, place = number, (first, last)
    return ChunkHead(kind, count, clock_id, first_ordinal), place


def _read_records(data: Buffer, start: int, end: int, head: ChunkHead) -> tuple[ChunkHead, Table]:
    table = KINDS[head.kind]
    names = {number: name for name, number in _COLUMN_NUMBERS[head.kind].items()}
    schema = table.schema()
    columns: dict[str, Any] = {}
    unknown: list[int] = []
    for number, _, first, last in fields(data, start, end):
        name = names.get(number)
        if name is None:
            unknown.append(number)
            continue
        dtype, nullable = schema[name]
        try:
            if dtype is None:
                columns[name] = _decode_text(data, first, last, head.count)
            else:
                columns[name] = _decode_column(data, first, last, head.count, dtype, nullable=nullable)
        except CodecError as error:
            raise CodecError(f"column {name}: {error}") from error
    if "clock_id" in schema:
        columns["clock_id"] = np.uint32(head.clock_id & 0xFFFFFFFF)
    records = table.of(head.count, **columns)
    return ChunkHead(head.kind, head.count, head.clock_id, head.first_ordinal, tuple(unknown)), records


def _decode_column(data: Buffer, start: int, end: int, count: int, dtype: np.dtype[Any], *, nullable: bool = False) -> Any:
    """The values of the Column at `data[start:end]`: an array, or the one value that all records have."""
    values: Any = np.zeros(1, dtype)[0]
    valid: npt.NDArray[np.bool_] | None = None
    for number, value, first, last in fields(data, start, end):
        if number in (1, 2, 3):
            values = _view(data, first, last, count, {1: 1, 2: 4, 3: 8}[number], dtype.kind)
        elif number == _F64:
            values = _view(data, first, last, count, 8, "f")
        elif number == _PACKED:
            values = _decode_packed(data[first:last], count, dtype.kind)
        elif number == _CONSTANT:
            values = np.array([value], np.uint64).view(f"<{dtype.kind}8")[0]
        elif number == _VALIDITY:
            valid = _decode_validity(data[first:last], count)
    if np.ndim(values) and values.dtype != dtype:
        values = values.astype(dtype)
    if valid is not None and nullable:
        values = np.where(valid, values, ABSENT)
    return values


def _view(data: Buffer, start: int, end: int, count: int, width: int, kind: str) -> Array:
    if end - start != count * width:
        raise CodecError(f"{end - start:,} bytes instead of {count:,} records x {width}")
    return np.frombuffer(data, f"<{kind}{width}", count, start)


def _decode_packed(content: Buffer, count: int, kind: str) -> Array:
    message = _parse(columns_pb2.PackedValues, content)
    value_width, stored_width = message.value_width, message.stored_width
    if value_width not in _NARROW or stored_width not in _NARROW:
        raise CodecError(f"widths are 1, 4 or 8 bytes, not {value_width} and {stored_width}")
    plain: Array = np.frombuffer(_decompress(message.data, message.codec, count * stored_width), np.uint8)
    for transform in reversed(message.transforms):
        if transform == _BYTE_SHUFFLE:
            plain = np.ascontiguousarray(plain.reshape(stored_width, count).T).reshape(-1)
        elif transform == _DELTA_ZIGZAG:
            plain = _undo_delta(plain.view(f"<u{stored_width}"), message.first_value, value_width)
        elif transform != 0:
            raise CodecError(f"transform {transform} is not known to this version")
    if plain.nbytes != count * value_width:
        raise CodecError(f"{plain.nbytes:,} bytes instead of {count:,} records x {value_width}")
    return plain.view(f"<{kind}{value_width}")


def _parse(message: Any, content: Buffer) -> Any:
    try:
        return message.FromString(bytes(content))
    except DecodeError as error:
        raise CodecError(f"its {message.DESCRIPTOR.name} is no message: {error}") from error


def _undo_delta(stored: Array, first_value: int, value_width: int) -> Array:
    zigzag = stored.astype(np.uint64)
    delta = (zigzag >> np.uint64(1)) ^ (np.uint64(0) - (zigzag & np.uint64(1)))
    # Sums wrap modulo 2**64 on purpose: that is what the transform says.
    values = np.cumsum(delta, dtype=np.uint64) + np.uint64(first_value)
    return values.astype(f"<u{value_width}").view(np.uint8)


def _decode_validity(content: Buffer, count: int) -> npt.NDArray[np.bool_]:
    message = _parse(columns_pb2.Validity, content)
    bits = np.frombuffer(_decompress(message.bits, message.codec, (count + 7) // 8), np.uint8)
    return np.unpackbits(bits, count=count, bitorder="little").view(np.bool_)


_TEXT_LIMIT: Final = 1 << 30
"""Most bytes of one text column of one chunk: a frame that claims more is a bomb."""


def _decode_text(data: Buffer, start: int, end: int, count: int) -> TextArray:
    message = _parse(columns_pb2.TextColumn, data[start:end])
    sizes: Any = np.int64(0)
    for number, _, first, last in fields(data, start, end):
        if number == 1:
            sizes = _decode_column(data, first, last, count, np.dtype(np.int64))
    sizes = np.full(count, sizes, np.int64) if np.ndim(sizes) == 0 else sizes
    total = int(sizes.sum())
    if (sizes < 0).any() or (sizes > _TEXT_LIMIT).any() or total > _TEXT_LIMIT:
        raise CodecError(f"its lengths add up to {total:,} bytes")
    return TextArray(np.cumsum(sizes), np.frombuffer(_decompress(message.text, message.codec, total), np.uint8))


def _decompress(content: Buffer, codec: int, size: int) -> Buffer:
    """The decompressed bytes, which must be exactly `size`: what a frame claims is checked before it is believed."""
    if codec == columns_pb2.CODEC_UNSPECIFIED:
        plain = content
    elif codec == columns_pb2.CODEC_ZSTD:
        try:
            claimed = zstandard.frame_content_size(content)
            if claimed != size:
                raise CodecError(f"its zstd frame holds {claimed:,} bytes instead of {size:,}")
            plain = zstandard.ZstdDecompressor().decompress(content, max_output_size=size) if size else b""
        except zstandard.ZstdError as error:
            raise CodecError(f"its zstd frame is damaged: {error}") from error
    elif codec == columns_pb2.CODEC_ZLIB:
        try:
            plain = zlib.decompressobj().decompress(content, size + 1)
        except zlib.error as error:
            raise CodecError(f"its zlib stream is damaged: {error}") from error
    else:
        raise CodecError(f"codec {codec} is not known to this version")
    if len(plain) != size:
        raise CodecError(f"{len(plain):,} bytes instead of {size:,} once decompressed")
    return plain
