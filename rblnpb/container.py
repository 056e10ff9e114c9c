"""The envelope: a stream of packets, and the protobuf wire format as far as the envelope needs it.

A profile is never parsed as one message. `scan` walks its packets by hand over any buffer (bytes or mmap) and gives the place of
each payload without copying; `frame` and `payload` make packets. What a body says is the codec's business.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = [
    "BODY_NAMES",
    "MAGIC",
    "SCHEMA_VERSION",
    "Frame",
    "Gap",
    "Scan",
    "WireError",
    "fields",
    "frame",
    "payload",
    "read_varint",
    "scan",
    "varint",
]

MAGIC: Final = "rblnpb"
SCHEMA_VERSION: Final = (1, 0)
"""(major, minor) of the schema that this package writes. A greater major is refused, a greater minor is read."""

BODY_NAMES: Final = {
    8: "header",
    9: "definitions",
    10: "clock_snapshots",
    11: "chunk",
    12: "losses",
    13: "trace_document",
    14: "closing",
}
"""Field numbers of the bodies of a Payload."""

_FIRST_BODY: Final = min(BODY_NAMES)
"""Fields of Payload from here on are bodies; those below are single numbers."""

_PAYLOAD_FIELD: Final = 7256
_PAYLOAD_TAG: Final = b"\xc2\xc5\x03"  # varint of (7256 << 3) | 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Buffer = bytes | memoryview


class WireError(ValueError):
    """Bytes that are not protobuf wire format; `offset` says where. Readers turn it into their own errors."""

    def __init__(self, offset: int, reason: str) -> None:
        self.offset = offset
        self.reason = reason
        super().__init__(f"at byte {offset}: {reason}")


def varint(value: int) -> bytes:
    """The base-128 encoding of a number from 0 to 2**64 - 1.

    >>> varint(300).hex()
    'ac02'
    """
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: Buffer, at: int, end: int) -> tuple[int, int]:
    """The number that begins at a byte, and where it ends.

    Raises:
        WireError: It does not end before `end`, or has more than ten bytes.
    """
    value = shift = 0
    for position in range(at, min(at + 10, end)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            # Ten bytes hold 70 bits; protobuf keeps 64.
            return value & 0xFFFF_FFFF_FFFF_FFFF, position + 1
        shift += 7
    raise WireError(at, "the input ends inside a number" if end - at < 10 else "a number has more than ten bytes")


def fields(data: Buffer, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """The fields of one message: (field number, value, start, end of content).

    For numbers the value is set and the content is empty; for bytes, strings and messages the content is `data[start:end]`.

    Raises:
        WireError: The bytes are no message.
    """
    while at < end:
        tag, start = read_varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise WireError(at, "a field has number 0")
        value, stop = 0, start
        if wire == _VARINT:
            value, stop = read_varint(data, start, end)
            start = stop
        elif wire in (_FIXED64, _FIXED32):
            stop = start + (8 if wire == _FIXED64 else 4)
            value = int.from_bytes(data[start : min(stop, end)], "little")
            start = stop
        elif wire == _BYTES:
            size, start = read_varint(data, start, end)
            stop = start + size
        else:
            raise WireError(at, f"field {number} has wire type {wire}, which this format does not use")
        if stop > end:
            raise WireError(at, f"field {number} reaches {stop - end} bytes beyond its message")
        yield number, value, start, stop
        at = stop


@dataclass(frozen=True)
class Frame:
    """Place of one payload in the stream.

    Attributes:
        offset: First byte of its packet.
        size: Bytes of the packet, tag and length included.
        session_id, sequence: As the payload says.
        body: Field number of the body; 0 when it has none that is a message.
        start, end: Content of the body, half open.
        crc32: As the payload says; None when it does not.
        unknown_count: Fields of the payload besides its body that this version does not know.
    """

    offset: int
    size: int
    session_id: int
    sequence: int
    body: int
    start: int
    end: int
    crc32: int | None
    unknown_count: int = 0

    def is_intact(self, data: Buffer) -> bool:
        """Whether the body has the checksum that the payload states; True when it states none."""
        return self.crc32 is None or zlib.crc32(data[self.start : self.end]) == self.crc32


@dataclass(frozen=True)
class Gap:
    """Bytes between packets that belong to none.

    Attributes:
        offset: The first of them.
        size: How many.
        reason: Why they are no packet.
    """

    offset: int
    size: int
    reason: str


@dataclass(frozen=True)
class Scan:
    """Result of walking a stream.

    Attributes:
        frames: Payloads in file order.
        unreadable: Byte offsets of packets that hold a payload of ours which is no message, or is of no session.
        display_packet_count: Packets without payload.
        gaps: What was passed over to find the next packet, in file order.
        end: Byte after the last whole packet.
        size: Size of the input; larger than `end` when it is cut or damaged there.
        reason: Why the walk ended early; empty when it did not.
    """

    frames: tuple[Frame, ...]
    unreadable: tuple[int, ...]
    display_packet_count: int
    gaps: tuple[Gap, ...]
    end: int
    size: int
    reason: str


def scan(data: Buffer) -> Scan:
    """All payloads of a stream. Behind a packet that is not whole the next payload is taken whose checksum fits.

    Never raises on bad bytes: what cannot be walked is named. Takes time in proportion to the input, whatever it holds.
    """
    return _Walk(data).result()


_LEAST_PACKET: Final = 13
"""Bytes of the smallest packet with a payload: tag, length and session."""


class _Walk:
    """State of walking a stream."""

    def __init__(self, data: Buffer) -> None:
        self._data = data
        self._size = len(data)
        self._frames: list[Frame] = []
        self._unreadable: list[int] = []
        self._gaps: list[Gap] = []
        self._display_count = 0
        self._attempts = _ATTEMPTS
        self._bytes_left = _CHECKED_TIMES * len(data)
        # Where the packet before, if it says a wrong length, may have swallowed others; -1: it cannot have.
        self._doubtful = -1

    def result(self) -> Scan:
        """Walk it all."""
        at, reason = 0, ""
        while at < self._size:
            at = self._pass_tiny(at)
            if at == self._size:
                break
            try:
                start, stop = _read_packet(self._data, at, self._size)
            except WireError as error:
                resumed = self._resume(at if self._doubtful < 0 else self._doubtful, self._size, error.reason)
                if resumed is None:
                    reason = error.reason
                    break
                at = resumed
                continue
            at = self._take(at, start, stop)
        gaps, frames = tuple(self._gaps), tuple(self._frames)
        return Scan(frames, tuple(self._unreadable), self._display_count, gaps, at, self._size, reason)

    def _pass_tiny(self, at: int) -> int:
        """Pass over packets that are too small for a payload; gives where the first other one begins. There may be millions."""
        data, last, count, before = self._data, self._size - 2, self._display_count, -1
        while at <= last and data[at] == 0x0A and (length := data[at + 1]) < _LEAST_PACKET and at + length <= last:
            if length and data[at + 2] == _PAYLOAD_TAG[0]:
                break
            before = at
            at += 2 + length
            count += 1
        if before >= 0:
            self._display_count, self._doubtful = count, before
        return at

    def _take(self, at: int, start: int, stop: int) -> int:
        """Keep what a packet holds; gives where the next one begins."""
        self._doubtful = at
        try:
            found = _find_payload(self._data, start, stop)
            if found is None:
                self._display_count += 1
            else:
                self._frames.append(_read_frame(self._data, at, stop, *found))
                # One that ends with its payload swallowed no other.
                self._doubtful = found[1] if found[1] < stop else -1
        except WireError as error:
            resumed = self._resume(at, start + 1, error.reason)
            if resumed is not None:
                return resumed
            # The packet is whole, so the next one is where it should be, if the length is right.
            self._unreadable.append(at)
            return stop
        if self._doubtful < 0:
            return stop
        return self._resume(self._doubtful, stop, "the packet before says a wrong length") or stop

    def _resume(self, at: int, stop: int, reason: str) -> int | None:
        """Take the next intact payload that begins between two bytes; gives where it ends, None when there is none."""
        for match in _PAYLOAD_HEAD.finditer(self._data, at):
            if match.start() >= stop or self._attempts <= 0 or self._bytes_left <= 0:
                return None
            frame = self._intact(match.start(), at)
            if frame is None:
                self._attempts -= 1
                continue
            if self._unreadable and self._unreadable[-1] == frame.offset:
                # Its length was wrong, and it is whole.
                self._unreadable.pop()
            self._frames.append(frame)
            self._gaps.append(Gap(at, frame.offset - at, reason))
            self._doubtful = -1
            return frame.offset + frame.size
        return None

    def _intact(self, tag: int, least: int) -> Frame | None:
        """The payload whose tag stands at a byte, if it is whole and has its checksum."""
        try:
            length, first = read_varint(self._data, tag + len(_PAYLOAD_TAG), self._size)
            last = first + length
            if last > self._size:
                return None
            frame = _read_frame(self._data, _packet_start(self._data, tag, least), last, first, last)
        except WireError:
            return None
        self._bytes_left -= frame.end - frame.start
        return frame if frame.crc32 is not None and frame.is_intact(self._data) else None


_PAYLOAD_HEAD: Final = re.compile(_PAYLOAD_TAG + rb"[\x80-\xff]{0,4}[\x00-\x7f]\x09")
"""A payload as writers begin it: tag, length, and the tag of its session."""

_ATTEMPTS: Final = 1 << 16
"""Most places of a file that look like a payload and are none; by chance there is hardly one in a terabyte."""

_CHECKED_TIMES: Final = 4
"""How often the size of a file is summed up at most to find payloads again."""


def _packet_start(data: Buffer, tag: int, least: int) -> int:
    """Where the packet begins whose payload has its tag at a byte: with tag and length, if these are there and whole."""
    for at in range(tag - 2, max(tag - 7, least - 1), -1):
        if data[at] == 0x0A and data[tag - 1] < 0x80 and all(data[place] >= 0x80 for place in range(at + 1, tag - 1)):
            return at
    return tag


def _read_packet(data: Buffer, at: int, size: int) -> tuple[int, int]:
    """Content of the packet that begins at a byte."""
    if data[at] != 0x0A:
        raise WireError(at, f"a packet begins with byte 0x0a, not 0x{data[at]:02x}")
    length, start = read_varint(data, at + 1, size)
    if start + length > size:
        raise WireError(at, f"the input ends {start + length - size} bytes before its last packet does")
    return start, start + length


def _find_payload(data: Buffer, start: int, stop: int) -> tuple[int, int] | None:
    """Content of the payload in a packet. Ours stands first; a stream that others rewrote may have it anywhere."""
    if data[start : start + 3] == _PAYLOAD_TAG:
        size, first = read_varint(data, start + 3, stop)
        if first + size > stop:
            raise WireError(start, "a payload reaches beyond its packet")
        return first, first + size
    if bytes(data[start:stop]).find(_PAYLOAD_TAG) < 0:
        return None
    try:
        for number, _, first, end in fields(data, start, stop):
            if number == _PAYLOAD_FIELD and end > first:
                return first, end
    except WireError:
        # A display packet of somebody else's; Perfetto judges it, not we.
        return None
    return None


def _read_frame(data: Buffer, offset: int, stop: int, start: int, end: int) -> Frame:
    session_id = sequence = body = body_start = body_end = unknown = 0
    crc32: int | None = None
    for number, value, first, last in fields(data, start, end):
        if number == 1:
            session_id = value
        elif number == 2:
            sequence = value
        elif number == 3:
            crc32 = value
        elif number >= _FIRST_BODY:
            body, body_start, body_end = number, first, last
        else:
            unknown += 1
    if session_id == 0:
        raise WireError(offset, "a payload without a session")
    return Frame(offset, stop - offset, session_id, sequence, body, body_start, body_end, crc32, unknown)


def payload(session_id: int, sequence: int, body: int, content: bytes) -> bytes:
    """One packet of the stream around the encoded content of a body.

    Args:
        session_id: Of the recording; not 0.
        sequence: Ordinal of the payload in its session.
        body: Field number, see BODY_NAMES.
        content: The encoded message.
    """
    head = b"\x09" + session_id.to_bytes(8, "little") + (b"\x10" + varint(sequence) if sequence else b"")
    head += b"\x1d" + zlib.crc32(content).to_bytes(4, "little") + varint(body << 3 | _BYTES) + varint(len(content))
    inner = len(head) + len(content)
    return frame(_PAYLOAD_TAG + varint(inner) + head + content)


def frame(packet: bytes) -> bytes:
    """A packet of the stream: field 1 of the outermost message."""
    return b"\x0a" + varint(len(packet)) + packet
