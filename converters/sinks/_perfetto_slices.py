"""Slices of a table as Perfetto's track events, a block of rows at a time: columns in, packets out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.name_columns import NameColumns
from rblnpb.perfetto_wire import (
    EVENT_BEGIN,
    EVENT_END,
    Column,
    Entries,
    Padded,
    event,
    join,
    message,
    number,
    numbers,
    stack,
)

from ..timeline import Int32, Int64
from ._perfetto_flows import FlowEnds
from ._perfetto_tracks import SEQUENCE

__all__ = ["Argument", "SliceColumns", "slice_blocks"]

_BLOCK_ROWS: Final = 8192
_BLOCK_BYTES: Final = 1 << 24
_UINT, _INT, _TEXT = 3, 4, 17


@dataclass(frozen=True, eq=False)
class Argument:
    """Something that slices tell of themselves.

    Attributes:
        name: Number of its name.
        values: Gives the values of some rows: int64 numbers, ABSENT where a row has none; or int32 numbers of texts, 0 = none.
        is_text: Whether these are texts.
    """

    name: int
    values: Callable[[Int64], Int32 | Int64]
    is_text: bool = False

    def columns(self, rows: Int64) -> list[Column]:
        """The debug annotation of some rows."""
        values = self.values(rows)
        present = values != (0 if self.is_text else ABSENT)
        if present.all():
            return self._told(values)
        if not present.any():
            return []
        told = [column for column in self._told(values[present]) if isinstance(column, (bytes, np.ndarray))]
        return [Entries(stack(int(present.sum()), told), present.astype(np.int64))]

    def _told(self, values: Int32 | Int64) -> list[Column]:
        return message(4, [number(1, self.name), *numbers(_TEXT if self.is_text else _INT, values)])


@dataclass(frozen=True, eq=False)
class SliceColumns:
    """Slices to be written; columns have the same length n.

    Attributes:
        rows: int64[k]; those to be written, in the order of their starts, outer ones first.
        track: int32[n]; number of the track.
        start_ns, end_ns: int64[n]; not negative.
        names: Their names.
        categories: int32; number of the category of what stands on a track.
        arguments: What they tell.
    """

    rows: Int64
    track: Int32
    start_ns: Int64
    end_ns: Int64
    names: NameColumns
    categories: Int32
    arguments: Sequence[Argument]


def slice_blocks(slices: SliceColumns, begins: FlowEnds, ends: FlowEnds) -> Iterator[tuple[int, bytes]]:
    """A begin and an end for every slice, in blocks of bounded size.

    Args:
        slices: The slices.
        begins, ends: Arrows that begin and end with these packets, by rows of the slices.

    Yields:
        How many slices, and their packets.
    """
    for rows in _row_blocks(slices):
        track = numbers(11, slices.track[rows])
        category = numbers(3, slices.categories[slices.track[rows]])
        texts = message(23, [Padded(*slices.names.take(rows))])
        told = [column for argument in slices.arguments for column in argument.columns(rows)]
        flows = begins.entries(rows)
        begin = event(EVENT_BEGIN, slices.start_ns[rows], track, SEQUENCE, *category, *told, *flows, *texts)
        end = event(EVENT_END, slices.end_ns[rows], track, SEQUENCE, *ends.entries(rows))
        packets = join(len(rows), [*begin, *end])
        yield len(rows), packets.tobytes()


def _row_blocks(slices: SliceColumns) -> Iterator[Int64]:
    """The rows in pieces of so few rows, and so few bytes when each takes as many as the longest, that they need little memory."""
    rest = [slices.rows[first : first + _BLOCK_ROWS] for first in range(0, len(slices.rows), _BLOCK_ROWS)][::-1]
    while rest:
        rows = rest.pop()
        if len(rows) > 1 and len(rows) * int(slices.names.sizes(rows).max()) > _BLOCK_BYTES:
            rest += [rows[len(rows) // 2 :], rows[: len(rows) // 2]]
        else:
            yield rows
