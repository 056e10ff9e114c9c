"""Messages whose fields say odd things and whose bytes are well-formed: what is behind checksums and compression is reached too."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from typing import Any

import zstandard
from google.protobuf.message import DecodeError

from tests.fuzz.mutations import broken
from tests.support.profiles import body_of, payloads, stream

__all__ = ["odd_chunk", "odd_profile", "with_odd_fields"]

_INT64 = [0, 1, -1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
_UINT64 = [0, 1, 2, 16, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
_ODD: dict[int, list[Any]] = {
    1: [0, 1, -1, 2**31 - 1, -(2**31)],
    2: _INT64,
    3: [0, 1, 2, 7, 16, 17, 23, 24, 64, 65, 65_536, 65_537, 2**31, 2**32 - 1],
    4: _UINT64,
    5: [0.0, -0.0, float("nan"), float("inf"), -1.0, 1e308],
    7: [False, True],
    8: [0, 1, 2, 3, 14, 99, -1, 2**31 - 1],
    9: [
        "",
        "{",
        "\0",
        "\x1a",
        "\x1as3",
        "i99999999999_0_W0_mm_0",
        "Slice Arguments",
        "Device Workload 3",
        "Chiplet 99999999999999",
        "é",
    ],
}
"""By the class of the field's values, as protobuf numbers them."""
_ODD_BYTES = [b"", b"\0", b"\xff" * 9]
_BYTES = 12
_UNKNOWN = (b"\xc0\x3e\x01", b"\xca\x3e\x02ab", b"\xc1\x3e" + bytes(8))


def odd_profile(data: bytes, draw: random.Random) -> bytes:
    """A profile of which one to three payloads say something odd, with checksums that fit; other bytes just broken."""
    try:
        parts = payloads(data)
    except DecodeError:
        parts = []
    if not parts:
        return broken(data, draw)
    for _ in range(draw.randint(1, 3)):
        part = draw.choice(parts)
        if part.WhichOneof("body") is not None and draw.random() < 0.8:
            with_odd_fields(body_of(part), draw)
        elif draw.random() < 0.5:
            # Also how payloads stand: lost, doubled, in another order, of another session.
            parts = draw.choice((_without_one, _with_one_twice, _with_two_swapped))(parts, draw)
        else:
            part.sequence = draw.choice((part.sequence ^ 1, 0, 1, 2**31, 2**32 - 1))
        if not parts:
            break
    return stream(parts)


def odd_chunk(data: bytes, draw: random.Random) -> bytes:
    """The same of one encoded Chunk."""
    from rblnpb.v1 import columns_pb2

    chunk = columns_pb2.Chunk()
    try:
        chunk.ParseFromString(data)
    except DecodeError:
        return broken(data, draw)
    for _ in range(draw.randint(1, 3)):
        with_odd_fields(chunk, draw)
    return chunk.SerializeToString()


def _without_one(parts: list[Any], draw: random.Random) -> list[Any]:
    gone = draw.randrange(len(parts))
    return parts[:gone] + parts[gone + 1 :]


def _with_one_twice(parts: list[Any], draw: random.Random) -> list[Any]:
    return [*parts, draw.choice(parts)]


def _with_two_swapped(parts: list[Any], draw: random.Random) -> list[Any]:
    return draw.sample(parts, len(parts))


def with_odd_fields(message: Any, draw: random.Random) -> None:
    """Make one field of a message, or of one inside it, odd. The deeper the more often: most of what is read is in columns."""
    name = message.DESCRIPTOR.name
    if name in _COMPRESSED and draw.random() < 0.5:
        _COMPRESSED[name](message, draw)
        return
    inner = [embedded for field, value in message.ListFields() if field.message_type for embedded in _each(value)]
    if inner and draw.random() < 0.85:
        with_odd_fields(draw.choice(inner), draw)
    elif draw.random() < 0.05:
        message.MergeFromString(draw.choice(_UNKNOWN))
    else:
        _make_odd(message, draw.choice(message.DESCRIPTOR.fields), draw)


def _each(value: Any) -> list[Any]:
    return list(value) if hasattr(value, "extend") else [value]


def _make_odd(message: Any, field: Any, draw: random.Random) -> None:
    value = getattr(message, field.name)
    if hasattr(value, "extend"):
        _make_odd_rows(value, field, draw)
    elif draw.random() < 0.15:
        message.ClearField(field.name)
    elif field.message_type is not None:
        value.SetInParent()
    elif field.type == _BYTES and value and draw.random() < 0.8:
        setattr(message, field.name, broken(value, draw))
    else:
        setattr(message, field.name, _odd_value(field, draw))


def _odd_value(field: Any, draw: random.Random) -> Any:
    if field.enum_type is not None and field.enum_type.is_closed:
        return draw.choice(field.enum_type.values).number
    return draw.choice(_ODD_BYTES if field.type == _BYTES else _ODD[field.cpp_type])


def _make_odd_rows(rows: Any, field: Any, draw: random.Random) -> None:
    fault = draw.randrange(4)
    if fault == 0 and len(rows):
        del rows[draw.randrange(len(rows)) :]
    elif fault == 1 and len(rows):
        rows.extend([draw.choice(rows)] * draw.choice((1, 1, 9)))
    elif field.message_type is not None:
        rows.add()
    elif fault == 2 and len(rows):
        rows[draw.randrange(len(rows))] = _odd_value(field, draw)
    else:
        rows.append(_odd_value(field, draw))


# --- what is compressed --------------------------------------------------------------------------------------------


def _broken_inside(message: Any, name: str, draw: random.Random) -> None:
    """Break what a field of bytes says once it is decompressed, and compress it again with the codec that the message names."""
    unpack, pack = _CODECS.get(message.codec, (bytes, bytes))
    try:
        plain = unpack(getattr(message, name))
    except (zlib.error, zstandard.ZstdError):
        plain = b""
    # Mostly of the same length: what has another one is refused at once.
    odd = broken(plain, draw)
    odd = (odd + bytes(len(plain)))[: len(plain)] if draw.random() < 0.8 else odd
    setattr(message, name, pack(odd))


def _unpacked(frame: bytes) -> bytes:
    # A frame that claims much is given that much, whatever the limit says.
    size = zstandard.frame_content_size(frame)
    return zstandard.ZstdDecompressor().decompress(frame) if 0 <= size <= _MOST_BYTES else b""


def _inflated(data: bytes) -> bytes:
    return zlib.decompressobj().decompress(data, _MOST_BYTES)


_MOST_BYTES = 1 << 20
_CODECS: dict[int, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    1: (_unpacked, zstandard.ZstdCompressor().compress),
    2: (_inflated, zlib.compress),
}


def _odd_packets(message: Any, draw: random.Random) -> None:
    """A packet of Perfetto with packets inside."""
    try:
        plain = _inflated(message.compressed_packets)
    except zlib.error:
        plain = b""
    message.compressed_packets = zlib.compress(broken(plain, draw))


_COMPRESSED: dict[str, Callable[[Any, random.Random], None]] = {
    "PackedValues": lambda message, draw: _broken_inside(message, "data", draw),
    "Validity": lambda message, draw: _broken_inside(message, "bits", draw),
    "TextColumn": lambda message, draw: _broken_inside(message, "text", draw),
    "TracePacket": lambda message, draw: _odd_packets(message, draw) if message.HasField("compressed_packets") else None,
}
