"""The index is believed where the chunk agrees with it."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.chunk_index import ChunkIndex
from rblnpb.codec import ChunkHead
from rblnpb.container import Frame
from rblnpb.v1 import stream_pb2

FRAME = Frame(offset=150, size=40, session_id=7, sequence=3, body=11, start=160, end=190, crc32=None)
HEAD = ChunkHead(kind=17, count=3, clock_id=16, first_ordinal=0)


def index(**changes: Any) -> ChunkIndex:
    row = {"offset_bytes": 50, "size_bytes": 40, "kind": 17, "count": 3, "clock_id": 16}
    row |= {"start_monotonic_ns": -5, "end_monotonic_ns": 9} | changes
    summary = stream_pb2.ChunkSummary(**{name: value for name, value in row.items() if value is not None})
    return ChunkIndex(stream_pb2.Closing(index=[summary]), header_offset=100)


def test_bounds_of_a_chunk_that_agrees() -> None:
    assert index().bounds(FRAME, HEAD) == (-5, 9)


@pytest.mark.parametrize(
    "change",
    [
        {"offset_bytes": 51},
        {"size_bytes": 41},
        {"kind": 18},
        {"count": 2},
        {"clock_id": 1},
        {"start_monotonic_ns": None},
        {"end_monotonic_ns": None},
        {"start_monotonic_ns": 10},
    ],
)
def test_an_index_that_does_not_fit_tells_nothing(change: dict[str, Any]) -> None:
    assert index(**change).bounds(FRAME, HEAD) is None


def test_without_a_closing_packet_nothing_is_told() -> None:
    assert ChunkIndex(None, 0).bounds(FRAME, HEAD) is None
