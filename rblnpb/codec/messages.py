"""Small messages: what a session says of itself, its clock readings, losses and ends, to values and back."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, TypeVar

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from rblnpb.clock import ClockSnapshot
from rblnpb.codec.packing import CodecError, decode_text, encode_text
from rblnpb.columns import TextArray
from rblnpb.container import MAGIC, SCHEMA_VERSION, Buffer, WireError, fields
from rblnpb.naming import NameStyle
from rblnpb.profile import Loss, LossReason, Session, TraceDocument
from rblnpb.v1 import columns_pb2, session_pb2, stream_pb2

__all__ = [
    "ChunkSummary",
    "Message",
    "Unknowns",
    "clock_snapshots",
    "encode_closing",
    "encode_header",
    "encode_losses",
    "encode_snapshots",
    "encode_trace_document",
    "losses",
    "parse",
    "row_count",
    "row_count_up_to",
    "session",
    "trace_document",
]

Message = Any
"""A parsed message; its attributes are the schema's fields."""

ChunkSummary = stream_pb2.ChunkSummary
"""The schema's ChunkSummary, which a writer fills while it writes."""

_BODIES: Mapping[str, Any] = {
    "header": stream_pb2.Header,
    "definitions": session_pb2.Definitions,
    "clock_snapshots": session_pb2.ClockSnapshots,
    "losses": session_pb2.Losses,
    "trace_document": columns_pb2.TraceDocument,
    "closing": stream_pb2.Closing,
}

Enum = TypeVar("Enum", bound=IntEnum)


class Unknowns:
    """Counts what a session's messages hold that this version does not know, or refer to in vain.

    Attributes:
        counts: Values of enums that this version does not know, by enum and value.
        fields: Fields that this version does not know, by message.
        dangling_texts: Names that refer to a row of strings which is not there; they are read as empty.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.fields: Counter[str] = Counter()
        self.dangling_texts = 0

    def member(self, enum: type[Enum], value: int) -> Enum:
        """The member of this value, or the one of value 0 when there is none."""
        try:
            return enum(value)
        except ValueError:
            self.counts[f"{enum.__name__} {value}"] += 1
            return enum(0)

    def number(self, enum: type[IntEnum], value: int) -> int:
        """The value itself where a table keeps numbers; 0 for a negative one, which no table holds."""
        if value not in enum._value2member_map_:
            self.counts[f"{enum.__name__} {value}"] += 1
        return max(value, 0)

    def look_into(self, message: Message) -> None:
        """Count the fields that this version does not know, in a message and in those it embeds."""
        unknown = len(UnknownFieldSet(message))
        if unknown:
            self.fields[message.DESCRIPTOR.name] += unknown
        for field, value in message.ListFields():
            if field.message_type is not None:
                # Asked of the container: the descriptor is asked in two ways between protobuf 6.30 and 7.
                for embedded in value if hasattr(value, "add") else (value,):
                    self.look_into(embedded)


def utf8(text: str) -> str:
    """The text as protobuf takes it: half a surrogate pair, as undecodable file names have, becomes a question mark.

    A name with a flaw is better than a recording without its definitions.
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def parse(body: str, content: Buffer) -> Message:
    """The message of a body.

    Args:
        body: Its name, as in `rblnpb.container.BODY_NAMES`; not "chunk".
        content: Its encoded bytes.

    Raises:
        CodecError: The bytes are no such message.
    """
    try:
        return _BODIES[body].FromString(bytes(content))
    except DecodeError as error:
        raise CodecError(f"it is no {body} message: {error}") from error


_NESTED = {
    "definitions": session_pb2.Definitions.DESCRIPTOR.fields_by_name["programs"].number,
    "header": stream_pb2.Header.DESCRIPTOR.fields_by_name["session"].number,
}
"""Fields of bodies whose messages have rows of their own: the commands of a program, the settings of a session."""


def row_count(message: Message) -> int:
    """How many rows a body has; the commands of a program and the settings of a session are rows too."""
    rows = sum(len(value) for _, value in message.ListFields() if hasattr(value, "extend"))
    rows += sum(len(program.commands) for program in getattr(message, "programs", ()))
    return rows + (len(message.session.settings) if hasattr(message, "session") else 0)


def row_count_up_to(body: str, content: Buffer, enough: int) -> int:
    """The same of the encoded bytes of a body, for which no memory is taken; counted no further than `enough`.

    Raises:
        CodecError: The bytes are no message.
    """
    data, end, at, rows = bytes(content), len(content), 0, 0
    nested = _NESTED.get(body, 0)
    try:
        while at < end and rows < enough:
            # Of short rows there may be millions.
            tag, length = data[at], data[at + 1] if at + 1 < end else 0x80
            if tag & 0x87 == 2 and length < 0x80 and tag >> 3 != nested and at + 2 + length <= end:
                at, rows = at + 2 + length, rows + 1
                continue
            number, _, first, at = next(fields(data, at, end))
            rows += 1
            if number == nested:
                rows += sum(1 for _ in itertools.islice(fields(data, first, at), enough))
    except WireError as error:
        raise CodecError(str(error)) from error
    return rows


# --- header --------------------------------------------------------------------------------------------------------

_SESSION_TEXTS = ("host_name", "boot_id", "process_name", "tool_name", "tool_version", "npu")
_SESSION_NUMBERS = ("started_real_ns", "started_monotonic_ns", "process_id", "file_ordinal")
_SESSION_OPTIONALS = ("rank", "world_size", "drained_after_each_run")


def encode_header(value: Session) -> bytes:
    """The encoded Header, of the schema version that this package writes."""
    said: dict[str, Any] = {name: getattr(value, name) for name in (*_SESSION_NUMBERS, *_SESSION_OPTIONALS)}
    said |= {name: utf8(getattr(value, name)) for name in _SESSION_TEXTS}
    said["name_style"] = int(value.name_style)
    said["settings"] = [session_pb2.Setting(name=utf8(name), value=utf8(text)) for name, text in value.settings]
    # None leaves an optional field out.
    message = session_pb2.Session(**said)
    header = stream_pb2.Header(
        magic=MAGIC,
        schema_major=SCHEMA_VERSION[0],
        schema_minor=SCHEMA_VERSION[1],
        session=message,
        has_display_packets=value.has_display_packets,
    )
    return header.SerializeToString(deterministic=True)


def session(session_id: int, header: Message, closing: Message | None, unknowns: Unknowns) -> Session:
    """The session of a parsed Header, and of the Closing when the recording ended properly."""
    message = header.session
    said: dict[str, Any] = {name: getattr(message, name) for name in (*_SESSION_TEXTS, *_SESSION_NUMBERS)}
    said |= {name: getattr(message, name) if message.HasField(name) else None for name in _SESSION_OPTIONALS}
    return Session(
        session_id=session_id,
        name_style=unknowns.member(NameStyle, message.name_style),
        settings=tuple((setting.name, setting.value) for setting in message.settings),
        schema_version=(header.schema_major, header.schema_minor),
        has_display_packets=header.has_display_packets,
        ended_real_ns=closing.ended_real_ns if closing else 0,
        ended_monotonic_ns=closing.ended_monotonic_ns if closing else 0,
        **said,
    )


# --- clocks, losses, frame and end ---------------------------------------------------------------------------------


def encode_snapshots(snapshots: Iterable[ClockSnapshot]) -> bytes:
    """The encoded ClockSnapshots, in the order given."""
    rows = [
        session_pb2.ClockSnapshot(
            clock_id=snapshot.clock_id,
            value_ticks=snapshot.value_ticks,
            monotonic_before_ns=snapshot.monotonic_before_ns,
            monotonic_after_ns=snapshot.monotonic_after_ns,
        )
        for snapshot in snapshots
    ]
    return session_pb2.ClockSnapshots(snapshots=rows).SerializeToString(deterministic=True)


def clock_snapshots(message: Message) -> list[ClockSnapshot]:
    """The readings of a parsed ClockSnapshots, in its order."""
    return [
        ClockSnapshot(row.clock_id, row.value_ticks, row.monotonic_before_ns, row.monotonic_after_ns) for row in message.snapshots
    ]


def encode_losses(losses: Iterable[Loss]) -> bytes:
    """The encoded Losses, in the order given."""
    message = session_pb2.Losses()
    for loss in losses:
        row = message.losses.add(
            kind=loss.kind,
            engine_id=loss.engine_id,
            reason=int(loss.reason),
            count=loss.count,
            is_lower_bound=loss.is_lower_bound,
        )
        if loss.first_monotonic_ns is not None:
            row.first_monotonic_ns = loss.first_monotonic_ns
        if loss.last_monotonic_ns is not None:
            row.last_monotonic_ns = loss.last_monotonic_ns
    encoded: bytes = message.SerializeToString(deterministic=True)
    return encoded


def losses(message: Message, unknowns: Unknowns) -> list[Loss]:
    """The losses of a parsed Losses, in its order."""
    return [
        Loss(
            kind=row.kind,
            reason=unknowns.member(LossReason, row.reason),
            count=row.count,
            engine_id=row.engine_id,
            is_lower_bound=row.is_lower_bound,
            first_monotonic_ns=row.first_monotonic_ns if row.HasField("first_monotonic_ns") else None,
            last_monotonic_ns=row.last_monotonic_ns if row.HasField("last_monotonic_ns") else None,
        )
        for row in message.losses
    ]


def encode_trace_document(document: TraceDocument, codec: str) -> bytes:
    """The encoded TraceDocument; what is around the events is stored with a codec of `CODECS`."""
    message = columns_pb2.TraceDocument(name=utf8(document.name))
    if document.base_time_ns is not None:
        message.base_time_ns = document.base_time_ns
    around = encode_text(TextArray.of([document.head, document.tail]), codec)
    if around:
        message.around.ParseFromString(around)
    encoded: bytes = message.SerializeToString(deterministic=True)
    return encoded


def trace_document(message: Message) -> TraceDocument:
    """The frame that a parsed TraceDocument describes.

    Raises:
        CodecError: What is around the events contradicts the schema.
    """
    base = message.base_time_ns if message.HasField("base_time_ns") else None
    if not message.HasField("around"):
        return TraceDocument(b"", b"", message.name, base)
    encoded = message.around.SerializeToString()
    around = decode_text(encoded, 0, len(encoded), 2)
    return TraceDocument(around[0], around[1], message.name, base)


def encode_closing(
    totals: Mapping[int, tuple[int, int]], index: Sequence[Message], ended_real_ns: int, ended_monotonic_ns: int
) -> bytes:
    """The encoded Closing.

    Args:
        totals: (written, dropped) by kind.
        index: ChunkSummary messages in file order.
        ended_real_ns, ended_monotonic_ns: End of the recording; 0 = unknown.
    """
    message = stream_pb2.Closing(index=index, ended_real_ns=ended_real_ns, ended_monotonic_ns=ended_monotonic_ns)
    for kind in sorted(totals):
        written, dropped = totals[kind]
        if written or dropped:
            message.totals.add(kind=kind, written=written, dropped=dropped)
    encoded: bytes = message.SerializeToString(deterministic=True)
    return encoded
