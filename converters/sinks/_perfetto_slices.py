"""Slices of a table as Perfetto's track events, a block of rows at a time: columns in, packets out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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

__all__ = ["Argument", "Rows", "SliceColumns", "slice_blocks"]

Rows = Int64 | slice
"""Some rows of a table, as numpy takes them."""

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
    values: Callable[[Rows], Int32 | Int64]
    is_text: bool = False

    def columns(self, rows: Rows) -> list[Column]:
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
        start_ns, duration_ns: int64[n]; not negative.
        names: Their names.
        categories: int32; number of the category of what stands on a track.
        arguments: What they tell.
    """

    rows: Int64
    track: Int32
    start_ns: Int64
    duration_ns: Int64
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
    for block in slices.names.blocks(slices.rows):
        # Rows that follow each other are taken without a copy.
        is_run = int(block[-1]) - int(block[0]) == len(block) - 1 and bool((np.diff(block) == 1).all())
        rows: Rows = slice(int(block[0]), int(block[-1]) + 1) if is_run else block
        start_ns, on = slices.start_ns[rows], slices.track[rows]
        track, category = numbers(11, on), numbers(3, slices.categories[on])
        told = [column for argument in slices.arguments for column in argument.columns(rows)]
        texts = message(23, [Padded(*slices.names.take(rows))])
        begin = event(EVENT_BEGIN, start_ns, track, SEQUENCE, *category, *told, *begins.entries(block), *texts)
        end = event(EVENT_END, start_ns + slices.duration_ns[rows], track, SEQUENCE, *ends.entries(block))
        yield len(block), join(len(block), [*begin, *end]).tobytes()
