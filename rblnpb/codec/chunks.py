"""Chunks: record tables to encoded chunks and back.

A chunk is written and walked by hand, because its raw columns *are* arrays on the wire; the field numbers come out of the
generated descriptors, so that the schema stays their only source.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from rblnpb.codec.packing import TEXT_LIMIT, CodecError, decode_column, decode_text, encode_column, encode_text, length_delimited
from rblnpb.column_arrays import ABSENT, StoredColumn, TextArray, repeated
from rblnpb.columns import CHUNK_LIMIT, Table
from rblnpb.container import Buffer, WireError, fields, varint
from rblnpb.profile import KINDS
from rblnpb.v1 import columns_pb2

__all__ = ["ChunkHead", "chunk_head", "decode_chunk", "encode_chunk"]

_MESSAGES: Final[dict[int, Any]] = {
    field.number: field.message_type
    for field in columns_pb2.Chunk.DESCRIPTOR.fields
    if field.containing_oneof is not None and field.containing_oneof.name == "records"
}
_COLUMN_NUMBERS: Final = {kind: {field.name: field.number for field in message.fields} for kind, message in _MESSAGES.items()}
_FIRST_KIND: Final = min(_MESSAGES)
"""Fields of Chunk from here on are kinds; those below are single numbers."""
_ASCENDING: Final = frozenset(
    {
        *("start_ticks", "launch_id", "start_ns", "time_ticks", "predecessor_ordinal", "successor_ordinal", "sequence"),
        *("event_ordinal", "id_number"),
    }
)
"""Columns that mostly ascend: their differences compress, their values do not."""


@dataclass(frozen=True)
class ChunkHead:
    """What a chunk says of itself besides its columns.

    Attributes:
        kind: Field number of the kind, possibly one that this version does not know; 0 when it has none.
        count: Records.
        clock_id: Clock of its ticks; 0 = none.
        first_ordinal: Ordinal of its first record among those of its kind in the session.
        unknown_columns: Field numbers of columns that this version does not know.
        unknown_fields: How many other fields this version does not know, by message: of the chunk itself, and of the columns that
            were decoded.
    """

    kind: int
    count: int
    clock_id: int
    first_ordinal: int
    unknown_columns: tuple[int, ...] = ()
    unknown_fields: tuple[tuple[str, int], ...] = ()


def encode_chunk(table: Table, clock_id: int, first_ordinal: int, codec: str) -> bytes:
    """The encoded Chunk of these records.

    Args:
        table: 1 to 65,536 records of one clock. A `clock_id` column is not encoded: the chunk has it once.
        clock_id: Clock of the chunk.
        first_ordinal: Ordinal of the first record among those of its kind in the session.
        codec: A name of `CODECS`.

    Raises:
        CodecError: A value that its column cannot hold.
    """
    parts: list[bytes] = []
    numbers, signed, limits = _COLUMN_NUMBERS[table.kind], table.signed_columns(), table.limits()
    for name, (dtype, nullable) in table.schema().items():
        if name == "clock_id":
            continue
        values = getattr(table, name)
        try:
            if dtype is None:
                encoded = encode_text(values, codec)
            elif dtype.kind == "u" and limits[name][1] < np.iinfo(dtype).max and int(values.max()) > limits[name][1]:
                raise CodecError(f"{int(values.max())} is no value of it: its limit is {limits[name][1]}")
            else:
                ascends = name in _ASCENDING
                encoded = encode_column(values, codec, nullable=nullable, signed=name in signed, is_ascending=ascends)
        except CodecError as error:
            raise CodecError(f"{table.label}: column {name}: {error}") from error
        if encoded:
            parts.append(length_delimited(numbers[name], encoded))
    head = b"\x08" + varint(len(table))
    if clock_id:
        head += b"\x10" + varint(clock_id)
    if first_ordinal:
        head += b"\x18" + varint(first_ordinal)
    return head + length_delimited(table.kind, b"".join(parts))


def decode_chunk(
    data: Buffer, start: int, end: int, only: str = "", text_bytes: int = TEXT_LIMIT
) -> tuple[ChunkHead, Table | None]:
    """Head and records of the Chunk at `data[start:end]`; no table when its kind is not known.

    Raw columns are views of `data`; those that are narrower there become arrays of the table when they are asked for.

    Args:
        data, start, end: Where it is.
        only: The one column to decode; the others are as if they were absent. Empty: all.
        text_bytes: Most bytes of strings of one column, once decompressed.

    Raises:
        CodecError: The chunk contradicts the schema.
    """
    try:
        head, (first, last) = _read_head(data, start, end)
        if head.kind not in KINDS:
            return head, None
        if not 1 <= head.count <= CHUNK_LIMIT:
            raise CodecError(f"a chunk holds 1 to {CHUNK_LIMIT:,} records, this one says {head.count:,}")
        return _read_records(data, (first, last), head, only, text_bytes)
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
    count = clock_id = first_ordinal = kind = unknown = 0
    place = (end, end)
    for number, value, first, last in fields(data, start, end):
        if number == 1:
            count = value
        elif number == 2:
            clock_id = value
        elif number == 3:
            first_ordinal = value
        elif number >= _FIRST_KIND:
            kind, place = number, (first, last)
        else:
            unknown += 1
    unknown_fields = (("Chunk", unknown),) if unknown else ()
    return ChunkHead(kind, count, clock_id, first_ordinal, unknown_fields=unknown_fields), place


def _read_records(data: Buffer, place: tuple[int, int], head: ChunkHead, only: str, text_bytes: int) -> tuple[ChunkHead, Table]:
    table = KINDS[head.kind]
    names = {number: name for name, number in _COLUMN_NUMBERS[head.kind].items()}
    schema, signed = table.schema(), table.signed_columns()
    columns: dict[str, Any] = {}
    unknown: list[int] = []
    fields_unknown = Counter(dict(head.unknown_fields))
    for number, _, first, last in fields(data, *place):
        name = names.get(number)
        if name is None:
            unknown.append(number)
            continue
        if only and name != only:
            continue
        dtype, nullable = schema[name]
        try:
            if name in columns:
                raise CodecError("it stands twice")
            if dtype is None:
                columns[name] = decode_text(data, first, last, head.count, text_bytes, fields_unknown)
            else:
                said: dict[str, Any] = {"nullable": nullable, "signed": name in signed, "unknown": fields_unknown}
                columns[name] = decode_column(data, first, last, head.count, dtype, **said)
        except CodecError as error:
            raise CodecError(f"column {name}: {error}") from error
    if "clock_id" in schema:
        columns["clock_id"] = np.uint32(head.clock_id & 0xFFFFFFFF)
    for name, (dtype, nullable) in schema.items():
        value = columns.get(name, ABSENT if nullable else 0)
        if dtype is None:
            columns.setdefault(name, TextArray(np.zeros(head.count, np.int64), np.empty(0, np.uint8)))
        elif not isinstance(value, (StoredColumn, np.ndarray)):
            columns[name] = repeated(value, head.count, dtype)
    return replace(head, unknown_columns=tuple(unknown), unknown_fields=tuple(fields_unknown.items())), table(**columns)
