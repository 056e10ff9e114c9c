"""One column: values to an encoded Column, raw or packed, and back.

The raw forms *are* arrays on the wire, so they are written and viewed by hand; compressed ones go through protobuf's own parser.
What a file claims is checked before it is believed: forms, lengths, widths, ranges, decompressed sizes.
"""

from __future__ import annotations

import zlib
from collections import Counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import zstandard
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from rblnpb.column_arrays import ABSENT, StoredColumn, TextArray, frozen
from rblnpb.container import Buffer, fields, varint
from rblnpb.v1 import columns_pb2

__all__ = ["CODECS", "TEXT_LIMIT", "CodecError", "decode_column", "decode_text", "encode_column", "encode_text", "length_delimited"]

CODECS: Final = {
    "raw": columns_pb2.CODEC_UNSPECIFIED,
    "none": columns_pb2.CODEC_UNSPECIFIED,
    "zstd": columns_pb2.CODEC_ZSTD,
    "zlib": columns_pb2.CODEC_ZLIB,
}
"""How a writer may store columns: as raw arrays, or packed with a codec of the schema (none: transformed only)."""

TEXT_LIMIT: Final = 1 << 30
"""Most bytes of one text column of one chunk: a frame that claims more is a bomb."""

_ZSTD_LEVEL: Final = 1
_NUMBERS: Final = {field.name: field.number for field in columns_pb2.Column.DESCRIPTOR.fields}
_RAW_FORMS: Final = {1: _NUMBERS["u8"], 4: _NUMBERS["u32"], 8: _NUMBERS["u64"]}
"""Width of a raw form of integers to its field number."""
_RAW_WIDTHS: Final = {number: width for width, number in _RAW_FORMS.items()}
_F64, _PACKED = _NUMBERS["f64"], _NUMBERS["packed"]
_CONSTANT, _VALIDITY = _NUMBERS["constant"], _NUMBERS["validity"]
_FIXED64: Final = 1
_DELTA_ZIGZAG: Final = columns_pb2.TRANSFORM_DELTA_ZIGZAG
_BYTE_SHUFFLE: Final = columns_pb2.TRANSFORM_BYTE_SHUFFLE

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]


class CodecError(ValueError):
    """A body that cannot be decoded, or records that cannot be encoded; its text says what and why."""


def length_delimited(number: int, content: bytes) -> bytes:
    """A field of bytes, or of an encoded message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


# --- writing -------------------------------------------------------------------------------------------------------


def encode_column(values: Array, codec: str, *, nullable: bool = False, signed: bool = False, is_ascending: bool = False) -> bytes:
    """An encoded Column; empty when it says nothing, that is all zero, or not recorded at all.

    Args:
        values: One value a record, at least one.
        codec: A name of `CODECS`.
        nullable: Whether ABSENT stands for a record without a value.
        signed: Whether negative values are allowed.
        is_ascending: Whether differences compress better than values.

    Raises:
        CodecError: A negative value that is not allowed, or one that is not finite.
    """
    validity = b""
    if nullable:
        valid = values != ABSENT
        if not valid.any():
            return b""
        if not valid.all():
            validity = _encode_validity(valid, codec)
            values = np.where(valid, values, 0)
    kind = "f" if values.dtype.kind == "f" else "i" if signed else "u"
    if kind == "f" and not np.isfinite(values).all():
        raise CodecError("it holds what is no finite number")
    # Equal bits, not equal values: -0.0 is a double too.
    bits = values.view(np.uint64) if kind == "f" else values
    low, high = int(bits.min()), int(bits.max())
    if low < 0 and not signed:
        raise CodecError(f"{low} is no value of it: only columns that the schema calls signed go below 0")
    if low == high and not validity:
        says_nothing = low == 0 and not nullable
        return b"" if says_nothing else varint(_CONSTANT << 3 | _FIXED64) + (low & (1 << 64) - 1).to_bytes(8, "little")
    width = 8 if kind == "f" else _width(low, high, signed=signed)
    narrow = values.astype(f"<{kind}{width}")
    if codec != "raw":
        return _encode_packed(narrow, codec, is_ascending=is_ascending) + validity
    return length_delimited(_F64 if kind == "f" else _RAW_FORMS[width], narrow.tobytes()) + validity


def _width(low: int, high: int, *, signed: bool) -> int:
    """Bytes of the narrowest raw form that holds both."""
    for width in (1, 4):
        bits = 8 * width
        floor, ceiling = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
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
        stored = zigzag.astype(f"<u{_width(0, int(zigzag.max()), signed=False)}")
        message.first_value = int(wide[0]) & (1 << 64) - 1
        message.transforms.append(_DELTA_ZIGZAG)
    message.stored_width = stored.dtype.itemsize
    data = stored.view(np.uint8)
    if stored.dtype.itemsize > 1:
        data = _shuffle(data.reshape(-1, stored.dtype.itemsize))
        message.transforms.append(_BYTE_SHUFFLE)
    message.data = _compress(data, number)
    return length_delimited(_PACKED, message.SerializeToString())


def _shuffle(numbers: Bytes) -> Bytes:
    rows = np.empty(numbers.shape[::-1], np.uint8)
    for place in range(len(rows)):
        rows[place] = numbers[:, place]
    return rows.reshape(-1)


def _encode_validity(valid: npt.NDArray[np.bool_], codec: str) -> bytes:
    number = CODECS[codec]
    bits = _compress(np.packbits(valid, bitorder="little"), number)
    return length_delimited(_VALIDITY, columns_pb2.Validity(bits=bits, codec=number).SerializeToString())


def encode_text(values: TextArray, codec: str) -> bytes:
    """An encoded TextColumn; empty when all strings are.

    Raises:
        CodecError: The strings are longer than TEXT_LIMIT together.
    """
    number = CODECS[codec]
    if len(values.text) > TEXT_LIMIT:
        raise CodecError(f"its strings have {len(values.text):,} bytes, more than the {TEXT_LIMIT:,} that a chunk may hold")
    sizes = encode_column(values.sizes(), codec)
    if not sizes:
        return b""
    text = columns_pb2.TextColumn(text=_compress(np.ascontiguousarray(values.text), number), codec=number)
    return length_delimited(1, sizes) + text.SerializeToString()


def _compress(data: Bytes, number: int) -> bytes:
    if number == columns_pb2.CODEC_ZSTD:
        return zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress(data.data)
    return zlib.compress(data.data, 1) if number == columns_pb2.CODEC_ZLIB else data.tobytes()


# --- reading -------------------------------------------------------------------------------------------------------


Unknown = Counter[str]
"""How many fields this version does not know, by message."""


def decode_column(
    data: Buffer,
    start: int,
    end: int,
    count: int,
    dtype: np.dtype[Any],
    *,
    nullable: bool = False,
    signed: bool = False,
    unknown: Unknown | None = None,
) -> Any:
    """The values of the Column at `data[start:end]`: an array, or a StoredColumn, or the one value that all records have.

    Raises:
        CodecError: It contradicts the schema, or has a value that `dtype` does not hold.
    """
    kind = "f" if dtype.kind == "f" else "i" if signed else "u"
    values: Any = None
    valid: npt.NDArray[np.bool_] | None = None
    unknown = Counter() if unknown is None else unknown
    others: list[int] = []
    for number, value, first, last in fields(data, start, end):
        if number == _VALIDITY:
            valid = _decode_validity(data[first:last], count, unknown)
        elif number > _VALIDITY:
            others.append(number)
        elif values is not None:
            raise CodecError("it is given twice, or in two forms or segments")
        elif number == _CONSTANT:
            values = np.array([value], np.uint64).view(f"<{kind}8")
        elif number == _PACKED:
            values = _decode_packed(data[first:last], count, kind, unknown)
        elif (number == _F64) != (kind == "f"):
            raise CodecError(f"it is of {'doubles' if kind == 'f' else 'integers'} and stands in form {number}")
        else:
            values = _view(data, first, last, count, _RAW_WIDTHS.get(number, 8), kind)
    if values is None:
        raise CodecError(f"it has no form that this version knows{f': {others}' if others else ''}")
    if others:
        unknown["Column"] += len(others)
    is_bare = valid is None or not nullable
    if is_bare and len(values) == 1:
        return _as_dtype(values, dtype)[0]
    _refuse_beyond(values, dtype)
    if is_bare and values.dtype.itemsize == dtype.itemsize:
        return frozen(_as_dtype(values, dtype))
    return StoredColumn(frozen(values), dtype, None if is_bare else valid)


def _view(data: Buffer, start: int, end: int, count: int, width: int, kind: str) -> Array:
    if end - start != count * width:
        raise CodecError(f"{end - start:,} bytes instead of {count:,} records x {width}")
    return np.frombuffer(data, f"<{kind}{width}", count, start)


def _as_dtype(values: Array, dtype: np.dtype[Any]) -> Array:
    """The values as the table has them, without a copy where the bits are the same."""
    if values.dtype == dtype:
        return values
    _refuse_beyond(values, dtype)
    if values.dtype.itemsize == dtype.itemsize and values.dtype.isnative:
        return values.view(dtype)
    return values.astype(dtype)


def _refuse_beyond(values: Array, dtype: np.dtype[Any]) -> None:
    if values.dtype != dtype and values.dtype.itemsize >= dtype.itemsize:
        top = int(np.iinfo(dtype).max)
        if int(values.max()) > top:
            raise CodecError(f"it holds {int(values.max())}, its limit is {top}")


def _decode_packed(content: Buffer, count: int, kind: str, unknown: Unknown) -> Array:
    message = _parse(columns_pb2.PackedValues, content, unknown)
    value_width, stored_width, transforms = message.value_width, message.stored_width, list(message.transforms)
    if value_width not in _RAW_FORMS or stored_width not in _RAW_FORMS or (kind == "f" and value_width != 8):
        raise CodecError(f"widths are 1, 4 or 8 bytes (8 for doubles), not {value_width} and {stored_width}")
    if len(set(transforms)) < len(transforms):
        raise CodecError(f"transforms {transforms[:8]} repeat one")
    plain: Array = np.frombuffer(_decompress(message.data, message.codec, count * stored_width), np.uint8)
    width = stored_width
    for transform in reversed(transforms):
        if transform == _BYTE_SHUFFLE:
            plain = _undo_shuffle(plain.reshape(width, count))
        elif transform == _DELTA_ZIGZAG:
            plain, width = _undo_delta(plain.view(f"<u{width}"), message.first_value, value_width), value_width
        elif transform != columns_pb2.TRANSFORM_UNSPECIFIED:
            raise CodecError(f"transform {transform} is not known to this version")
    if width != value_width:
        raise CodecError(f"its values are stored in {width} bytes instead of {value_width}, and no difference explains it")
    return plain.view(f"<{kind}{value_width}")


def _undo_shuffle(rows: Bytes) -> Bytes:
    plain = np.empty(rows.shape[::-1], np.uint8)
    # Row by row: the transpose as a whole takes three times as long.
    for place, row in enumerate(rows):
        plain[:, place] = row
    return plain.reshape(-1)


def _undo_delta(stored: Array, first_value: int, value_width: int) -> Array:
    zigzag = stored.astype(np.uint64)
    delta = (zigzag >> np.uint64(1)) ^ (np.uint64(0) - (zigzag & np.uint64(1)))
    # Sums wrap modulo 2**64 on purpose: that is what the transform says.
    values = np.cumsum(delta, dtype=np.uint64) + np.uint64(first_value)
    return values.astype(f"<u{value_width}").view(np.uint8)


def _decode_validity(content: Buffer, count: int, unknown: Unknown) -> npt.NDArray[np.bool_]:
    message = _parse(columns_pb2.Validity, content, unknown)
    bits = np.frombuffer(_decompress(message.bits, message.codec, (count + 7) // 8), np.uint8)
    return np.unpackbits(bits, count=count, bitorder="little").view(np.bool_)


def decode_text(
    data: Buffer, start: int, end: int, count: int, limit: int = TEXT_LIMIT, unknown: Unknown | None = None
) -> TextArray:
    """The strings of the TextColumn at `data[start:end]`.

    Raises:
        CodecError: It contradicts the schema, or claims more than `limit` bytes.
    """
    unknown = Counter() if unknown is None else unknown
    message = _parse(columns_pb2.TextColumn, data[start:end], unknown)
    sizes: Any = np.int64(0)
    for number, _, first, last in fields(data, start, end):
        if number == 1:
            sizes = decode_column(data, first, last, count, np.dtype(np.int64), unknown=unknown)
    sizes = sizes.array() if isinstance(sizes, StoredColumn) else np.full(count, sizes, np.int64) if np.ndim(sizes) == 0 else sizes
    # The largest first: a sum of absurd lengths could come out small.
    total = int(sizes.max()) if int(sizes.max()) > limit else int(sizes.sum())
    if total > limit:
        raise CodecError(f"its strings have {total:,} bytes or more, and a chunk may hold {limit:,}")
    return TextArray(frozen(np.cumsum(sizes)), np.frombuffer(_decompress(message.text, message.codec, total), np.uint8))


def _parse(message: Any, content: Buffer, unknown: Unknown) -> Any:
    try:
        parsed = message.FromString(bytes(content))
    except DecodeError as error:
        raise CodecError(f"its {message.DESCRIPTOR.name} is no message: {error}") from error
    if count := len(UnknownFieldSet(parsed)):
        unknown[message.DESCRIPTOR.name] += count
    return parsed


def _decompress(content: bytes, codec: int, size: int) -> bytes:
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
        stream = zlib.decompressobj()
        try:
            plain = stream.decompress(content, size + 1)
        except zlib.error as error:
            raise CodecError(f"its zlib stream is damaged: {error}") from error
        if not stream.eof and len(plain) <= size:
            raise CodecError("its zlib stream ends early")
    else:
        raise CodecError(f"codec {codec} is not known to this version")
    if len(plain) != size:
        raise CodecError(f"{len(plain):,} bytes instead of {size:,} once decompressed")
    return plain
