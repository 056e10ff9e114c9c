"""Perfetto's packets out of a file, one by one: the file is never parsed as one message, and a cut end costs only itself.

A bundle of compressed packets is opened where it stands. What cannot be read is counted.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import zstandard
from google.protobuf.message import DecodeError
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

from rblnpb.container import Buffer, WireError, read_varint
from rblnpb.errors import FormatError

from ._document import InputDocument

__all__ = ["Packets"]

_PACKET_FIELD: Final = 1
_OUR_PAYLOAD_TAG: Final = b"\xc2\xc5\x03"
_LONGEST_NUMBER: Final = 10
_HEAD_BYTES: Final = 4096

_FREE_BYTES: Final = 1 << 30
_EXPANSION: Final = 1_000
"""A file may inflate to _FREE_BYTES, or to this many times its own size; more is made to fill the memory."""


class Packets:
    """The packets of one file: iterate once.

    Attributes:
        name: What messages call the file.
        head: Its first bytes, inflated.
        packet_count: Packets that were read, those in bundles included.
        odd: What could not be read, by what it is, in the plural.
        whole_bytes: Bytes up to the end of the last whole packet.
        rest_bytes: Bytes after it; 0 when the file is whole.
        reason: Why there is such a rest.
    """

    def __init__(self, document: InputDocument) -> None:
        self.name = document.name
        self.head = b""
        self.packet_count = 0
        self.odd: Counter[str] = Counter()
        self.whole_bytes = 0
        self.rest_bytes = 0
        self.reason = ""
        self._document = document
        self._free_bytes = max(_FREE_BYTES, _EXPANSION * document.size_bytes)
        self._needed_bytes = 0
        self._is_broken = False

    def __iter__(self) -> Iterator[Any]:
        waiting = bytearray()
        for block in self._blocks():
            self.head = self.head or block[:_HEAD_BYTES]
            self.rest_bytes += len(block)
            if self._is_broken:
                continue
            waiting += block
            if len(waiting) >= self._needed_bytes:
                yield from self._whole(waiting)

    def _blocks(self) -> Iterator[bytes]:
        """The file, inflated if it is gzip data; damage of that data ends it, unless nothing was read yet."""
        blocks = self._document.blocks()
        block: bytes | None = b""
        while block is not None:
            try:
                block = next(blocks, None)
            except FormatError as error:
                if block == b"":
                    raise
                self.odd["ends of gzip data"] += 1
                self.reason = error.reason
                return
            if block is not None:
                self._spend(len(block))
                yield block

    def _whole(self, waiting: bytearray) -> Iterator[Any]:
        """The whole packets at the beginning of a buffer, which are taken out of it."""
        text = memoryview(bytes(waiting))
        self.reason = ""
        at = 0
        while at < len(text):
            try:
                number, first, stop = _extent(text, at)
            except WireError as error:
                self.reason = error.reason
                self._is_broken = error.offset < 0 or len(text) - error.offset >= _LONGEST_NUMBER
                self._needed_bytes = 0
                break
            if stop > len(text):
                self._needed_bytes = stop - at
                self.reason = "the last packet is cut"
                break
            at = stop
            if number == _PACKET_FIELD:
                yield from self._decoded(text[first:stop])
            else:
                self.odd["fields that are no packet"] += 1
        self.whole_bytes += at
        self.rest_bytes -= at
        del waiting[:at]

    def _decoded(self, content: Buffer, *, is_bundled: bool = False) -> Iterator[Any]:
        if content[:3] == _OUR_PAYLOAD_TAG:
            self.odd["packets of rblnpb's own format"] += 1
            return
        try:
            packet = TracePacket.FromString(content)
        except (DecodeError, UnicodeDecodeError):
            self.odd["unreadable packets"] += 1
            return
        self.packet_count += 1
        inflate, packed = _packed(packet)
        if not packed:
            yield packet
        elif is_bundled:
            self.odd["bundles within bundles"] += 1
        else:
            yield from self._opened(inflate, packed)

    def _opened(self, inflate: Any, packed: bytes) -> Iterator[Any]:
        """The packets of a bundle."""
        try:
            text = memoryview(inflate(packed, self._free_bytes))
        except (zlib.error, zstandard.ZstdError):
            self.odd["unreadable bundles"] += 1
            return
        self._spend(len(text))
        at = 0
        while at < len(text):
            try:
                number, first, at = _extent(text, at)
            except WireError:
                at = len(text) + 1
                break
            if at <= len(text) and number == _PACKET_FIELD:
                yield from self._decoded(text[first:at], is_bundled=True)
        self.odd["cut bundles"] += at != len(text)

    def _spend(self, size_bytes: int) -> None:
        self._free_bytes -= size_bytes
        if self._free_bytes < 0:
            reason = "it inflates to more than a thousand times its size: it is made to fill the memory"
            raise FormatError(self.name, reason)


def _extent(text: Buffer, at: int) -> tuple[int, int, int]:
    """Number, and begin and end of the content of the field at a byte; the end may lie beyond the text.

    Raises:
        WireError: There is no field, which has no offset then, or its head is cut.
    """
    size = len(text)
    tag, first = read_varint(text, at, size)
    number, wire = tag >> 3, tag & 7
    if number == 0 or wire not in _FIXED_BYTES:
        raise WireError(-1, f"byte 0x{text[at]:02x} begins no packet")
    if wire == 0:
        return number, first, read_varint(text, first, size)[1]
    length, first = read_varint(text, first, size) if wire == 2 else (_FIXED_BYTES[wire], first)
    return number, first, first + length


_FIXED_BYTES: Final = {0: 0, 1: 8, 2: 0, 5: 4}
"""Wire types that are in use, and the bytes of a value that does not say its length itself."""


def _packed(packet: Any) -> tuple[Any, bytes]:
    """How to open the bundle that a packet is, and its bytes; none for other packets."""
    if packet.compressed_packets:
        return _inflate, packet.compressed_packets
    # Bindings of before 2026 do not know the field.
    return _unpack_zstd, getattr(packet, "zstd_compressed_packets", b"")


def _inflate(packed: bytes, limit_bytes: int) -> bytes:
    # A bundle that is cut gives what comes out of the rest; the packet that is cut with it is counted where it is missed.
    return zlib.decompressobj().decompress(packed, limit_bytes + 1)


def _unpack_zstd(packed: bytes, limit_bytes: int) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
        return reader.read(limit_bytes + 1)
