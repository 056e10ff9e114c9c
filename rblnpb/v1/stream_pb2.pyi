from rblnpb.v1 import columns_pb2 as _columns_pb2
from rblnpb.v1 import session_pb2 as _session_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Stream(_message.Message):
    __slots__ = ("packet",)
    PACKET_FIELD_NUMBER: _ClassVar[int]
    packet: _containers.RepeatedCompositeFieldContainer[Packet]
    def __init__(self, packet: _Optional[_Iterable[_Union[Packet, _Mapping]]] = ...) -> None: ...

class Packet(_message.Message):
    __slots__ = ("payload",)
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    payload: Payload
    def __init__(self, payload: _Optional[_Union[Payload, _Mapping]] = ...) -> None: ...

class Payload(_message.Message):
    __slots__ = ("session_id", "sequence", "body_crc32", "header", "definitions", "clock_snapshots", "chunk", "losses", "trace_document", "closing")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    BODY_CRC32_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    DEFINITIONS_FIELD_NUMBER: _ClassVar[int]
    CLOCK_SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    TRACE_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CLOSING_FIELD_NUMBER: _ClassVar[int]
    session_id: int
    sequence: int
    body_crc32: int
    header: Header
    definitions: _session_pb2.Definitions
    clock_snapshots: _session_pb2.ClockSnapshots
    chunk: _columns_pb2.Chunk
    losses: _session_pb2.Losses
    trace_document: _columns_pb2.TraceDocument
    closing: Closing
    def __init__(self, session_id: _Optional[int] = ..., sequence: _Optional[int] = ..., body_crc32: _Optional[int] = ..., header: _Optional[_Union[Header, _Mapping]] = ..., definitions: _Optional[_Union[_session_pb2.Definitions, _Mapping]] = ..., clock_snapshots: _Optional[_Union[_session_pb2.ClockSnapshots, _Mapping]] = ..., chunk: _Optional[_Union[_columns_pb2.Chunk, _Mapping]] = ..., losses: _Optional[_Union[_session_pb2.Losses, _Mapping]] = ..., trace_document: _Optional[_Union[_columns_pb2.TraceDocument, _Mapping]] = ..., closing: _Optional[_Union[Closing, _Mapping]] = ...) -> None: ...

class Header(_message.Message):
    __slots__ = ("magic", "schema_major", "schema_minor", "session", "has_display_packets")
    MAGIC_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_MAJOR_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_MINOR_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    HAS_DISPLAY_PACKETS_FIELD_NUMBER: _ClassVar[int]
    magic: str
    schema_major: int
    schema_minor: int
    session: _session_pb2.Session
    has_display_packets: bool
    def __init__(self, magic: _Optional[str] = ..., schema_major: _Optional[int] = ..., schema_minor: _Optional[int] = ..., session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ..., has_display_packets: bool = ...) -> None: ...

class Closing(_message.Message):
    __slots__ = ("totals", "index", "ended_real_ns", "ended_monotonic_ns")
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ENDED_REAL_NS_FIELD_NUMBER: _ClassVar[int]
    ENDED_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    totals: _containers.RepeatedCompositeFieldContainer[KindTotal]
    index: _containers.RepeatedCompositeFieldContainer[ChunkSummary]
    ended_real_ns: int
    ended_monotonic_ns: int
    def __init__(self, totals: _Optional[_Iterable[_Union[KindTotal, _Mapping]]] = ..., index: _Optional[_Iterable[_Union[ChunkSummary, _Mapping]]] = ..., ended_real_ns: _Optional[int] = ..., ended_monotonic_ns: _Optional[int] = ...) -> None: ...

class KindTotal(_message.Message):
    __slots__ = ("kind", "written", "dropped")
    KIND_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    kind: int
    written: int
    dropped: int
    def __init__(self, kind: _Optional[int] = ..., written: _Optional[int] = ..., dropped: _Optional[int] = ...) -> None: ...

class ChunkSummary(_message.Message):
    __slots__ = ("offset_bytes", "size_bytes", "kind", "count", "clock_id", "start_monotonic_ns", "end_monotonic_ns")
    OFFSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    CLOCK_ID_FIELD_NUMBER: _ClassVar[int]
    START_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    END_MONOTONIC_NS_FIELD_NUMBER: _ClassVar[int]
    offset_bytes: int
    size_bytes: int
    kind: int
    count: int
    clock_id: int
    start_monotonic_ns: int
    end_monotonic_ns: int
    def __init__(self, offset_bytes: _Optional[int] = ..., size_bytes: _Optional[int] = ..., kind: _Optional[int] = ..., count: _Optional[int] = ..., clock_id: _Optional[int] = ..., start_monotonic_ns: _Optional[int] = ..., end_monotonic_ns: _Optional[int] = ...) -> None: ...
