"""Packed columns made by the words of proto/README.md, a number at a time: all that a reader must undo."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import zstandard

from rblnpb.v1 import columns_pb2

__all__ = ["VALUES", "packed_chunks", "packed_values"]

PLAIN, DIFFERENCE, SHUFFLE = 0, 1, 2
VALUES = {1: (3, 1, 255, 0, 7), 4: (70_000, 5, 2**32 - 1, 0, 9), 8: (2**63, 1, 2**64 - 1, 0, 2**53 + 1)}
"""Of each width, bytes."""
_SMALL = (40, 45, 41, 41, 100)
"""Whose differences fit in a byte."""


def packed_chunks() -> Iterator[columns_pb2.Chunk]:
    """Chunks of five device slices; of each all that differs is how their starts are packed."""
    ordinal = 0
    for codec, transforms, width, stored in product(
        (0, 1, 2), ([], [PLAIN], [DIFFERENCE], [SHUFFLE], [1, 2]), (1, 4, 8), (1, 4, 8)
    ):
        if stored != width and DIFFERENCE not in transforms:
            continue
        values = VALUES[width] if stored == 8 or DIFFERENCE not in transforms else _SMALL
        chunk = columns_pb2.Chunk(count=len(values), clock_id=16, first_ordinal=ordinal)
        chunk.device_slices.start_ticks.packed.CopyFrom(packed_values(values, codec, transforms, width, stored))
        ordinal += len(values)
        yield chunk


def packed_values(values: Sequence[int], codec: int, transforms: list[int], width: int, stored: int) -> columns_pb2.PackedValues:
    """Unsigned values of `width` bytes, stored in `stored` bytes each; differences begin at 30."""
    first = 30 if DIFFERENCE in transforms else 0
    numbers = list(values)
    if DIFFERENCE in transforms:
        deltas = [_signed((value - before) % 2**64) for before, value in zip([first, *values], values, strict=False)]
        numbers = [(delta << 1 ^ delta >> 63) % 2**64 for delta in deltas]
    data = b"".join(number.to_bytes(stored, "little") for number in numbers)
    if SHUFFLE in transforms:
        data = b"".join(data[place::stored] for place in range(stored))
    data = (bytes, zstandard.ZstdCompressor().compress, zlib.compress)[codec](data)
    said: dict[str, Any] = {"codec": codec, "transforms": transforms, "value_width": width, "stored_width": stored}
    return columns_pb2.PackedValues(**said, first_value=first, data=data)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number
