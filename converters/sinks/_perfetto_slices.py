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
from ._slice_rows import Rows

__all__ = ["Argument", "SliceColumns", "slice_blocks"]


@dataclass(frozen=True, eq=False)
class Argument:
    """Something that slices tell of themselves.

    Attributes:
        name: Number of its name.
        values: Gives the values of some rows.
        form: Which field of a debug annotation takes them.
        absent: What stands for none, besides ABSENT.
    """

    name: int
    values: Callable[[Rows], Int32 | Int64]
    form: int
    absent: int

    @classmethod
    def number(cls, name: int, values: Callable[[Rows], Int64]) -> Argument:
        """A number, int64; ABSENT where a row has none."""
        return cls(name, values, 4, ABSENT)

    @classmethod
    def identifier(cls, name: int, values: Callable[[Rows], Int64]) -> Argument:
        """A number of 64 bits without sign, as int64 of the same bits; 0 where a row has none."""
        return cls(name, values, 3, 0)

    @classmethod
    def text(cls, name: int, values: Callable[[Rows], Int32]) -> Argument:
        """A text, by its number, int32; 0 where a row has none."""
        return cls(name, values, 17, 0)

    def columns(self, rows: Rows) -> list[Column]:
        """The debug annotation of some rows."""
        values = self.values(rows)
        if int(values.min()) > self.absent:
            return self._told(values)
        present = (values != self.absent) & (values != ABSENT)
        if not present.any():
            return []
        told = [column for column in self._told(values[present]) if isinstance(column, (bytes, np.ndarray))]
        return [Entries(stack(int(present.sum()), told), present.astype(np.int64))]

    def _told(self, values: Int32 | Int64) -> list[Column]:
        return message(4, [number(1, self.name), *numbers(self.form, values)])


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

    Perfetto orders packets by time and takes those of one time as they come, and an end ends what began last on its track. So all
    ends are written before all begins: at one moment slices end first. Of those that end together the inner ones come first, which
    began later. An empty slice ends right behind its begin.

    Args:
        slices: The slices.
        begins, ends: Arrows that begin and end with these packets, by rows of the slices.

    Yields:
        How many slices begin, and the packets.
    """
    is_empty = slices.duration_ns == 0
    closing = (slices.rows[~is_empty[slices.rows]] if is_empty.any() else slices.rows)[::-1]
    for at in range(0, len(closing), _BLOCK_ROWS):
        rows = closing[at : at + _BLOCK_ROWS]
        yield 0, join(len(rows), _ends(slices, rows, *ends.entries(rows))).tobytes()
    for block in slices.names.blocks(slices.rows):
        yield len(block), join(len(block), _begins(slices, block, begins)).tobytes()


_BLOCK_ROWS: Final = 8192


def _ends(slices: SliceColumns, rows: Rows, *more: Column) -> list[Column]:
    end_ns = slices.start_ns[rows] + slices.duration_ns[rows]
    return event(EVENT_END, end_ns, numbers(11, slices.track[rows]), SEQUENCE, *more)


def _begins(slices: SliceColumns, block: Int64, flows: FlowEnds) -> list[Column]:
    # Rows that follow each other are taken without a copy.
    is_run = int(block[-1]) - int(block[0]) == len(block) - 1 and bool((np.diff(block) == 1).all())
    rows: Rows = slice(int(block[0]), int(block[-1]) + 1) if is_run else block
    on = slices.track[rows]
    told = [column for argument in slices.arguments for column in argument.columns(rows)]
    said = (*numbers(3, slices.categories[on]), *told, *flows.entries(block), *message(23, [Padded(*slices.names.take(rows))]))
    packets = event(EVENT_BEGIN, slices.start_ns[rows], numbers(11, on), SEQUENCE, *said)
    is_empty = slices.duration_ns[rows] == 0
    if is_empty.any():
        ended = [column for column in _ends(slices, block[is_empty]) if isinstance(column, (bytes, np.ndarray))]
        packets.append(Entries(stack(int(is_empty.sum()), ended), is_empty.astype(np.int64)))
    return packets
