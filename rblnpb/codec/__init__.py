"""Messages to columns and values, and back: the only room that has seen the generated code."""

from rblnpb.codec.chunks import ChunkHead, chunk_head, decode_chunk, encode_chunk
from rblnpb.codec.definitions import Tables, encode_definitions
from rblnpb.codec.messages import (
    ChunkSummary,
    Message,
    Unknowns,
    clock_snapshots,
    encode_closing,
    encode_header,
    encode_losses,
    encode_snapshots,
    encode_trace_document,
    losses,
    parse,
    row_count,
    row_count_up_to,
    session,
    trace_document,
)
from rblnpb.codec.packing import CODECS, TEXT_LIMIT, CodecError

__all__ = [
    "CODECS",
    "TEXT_LIMIT",
    "ChunkHead",
    "ChunkSummary",
    "CodecError",
    "Message",
    "Tables",
    "Unknowns",
    "chunk_head",
    "clock_snapshots",
    "decode_chunk",
    "encode_chunk",
    "encode_closing",
    "encode_definitions",
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
