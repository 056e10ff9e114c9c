"""Slices of a table as Perfetto's track events, a block of rows at a time: columns in, packets out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.byte_rows import Column, Joiner, Optional, Padded
from rblnpb.columns import ABSENT
from rblnpb.name_columns import NameParts, Speller
from rblnpb.perfetto_wire import EVENT_BEGIN, EVENT_END, behind, bounds, event, message, number, numbers

from ..timeline import Bool, Int32, Int64, Rows
from ._perfetto_flows import Flows, flow_fields
from ._perfetto_tracks import SEQUENCE

__all__ = ["Argument", "SliceTable", "Told", "slice_blocks"]


@dataclass(frozen=True)
class Argument:
    """Something that slices tell of themselves.

    Attributes:
        name: Field of a debug annotation with the number of its name.
        form: Which field of a debug annotation takes the values.
        absent: What stands for none, besides ABSENT.
    """

    name: bytes
    form: int
    absent: int

    @classmethod
    def number(cls, name: int) -> Argument:
        """A number, int64; ABSENT where a row has none."""
        return cls(number(1, name), 4, ABSENT)

    @classmethod
    def identifier(cls, name: int) -> Argument:
        """A number of 64 bits without sign, as int64 of the same bits; 0 where a row has none."""
        return cls(number(1, name), 3, 0)

    @classmethod
    def text(cls, name: int) -> Argument:
        """A text, by its number, int32; 0 where a row has none."""
        return cls(number(1, name), 17, 0)

    def columns(self, values: Int32 | Int64) -> list[Column]:
        """The debug annotation of some rows, one at least.

        Args:
            values: What each tells.
        """
        within = bounds(values)
        if within[0] > self.absent:
            return self._told(values, within)
        is_there = (values != self.absent) & (values != ABSENT)
        if is_there.all():
            return self._told(values)
        if not is_there.any():
            return []
        told = self._told(np.where(is_there, values, values[is_there.argmax()]))
        return [Optional([column for column in told if isinstance(column, (bytes, np.ndarray))], is_there)]

    def _told(self, values: Int32 | Int64, within: tuple[int, int] | None = None) -> list[Column]:
        return message(4, behind(self.name, numbers(self.form, values, within)))


@dataclass(frozen=True, eq=False)
class Told:
    """What a block of slices tells.

    Attributes:
        names: Their names, by parts.
        arguments: What they tell besides, and the values.
    """

    names: NameParts
    arguments: Sequence[tuple[Argument, Int32 | Int64]]


@dataclass(frozen=True, eq=False)
class SliceTable:
    """Slices to be written, of a table of n.

    Attributes:
        order: int32[k]; rows of those to be written, in the order of their starts, outer ones first; None = all, and they are so.
        start_ns, duration_ns: int64[n]; not negative when `shift_ns` is added to the start.
        shift_ns: What is added to every time.
        track: Gives the numbers of the tracks of some rows, int32.
        categories: int32; number of the category of what stands on a track.
        speller: Spells their names.
        read: Gives what some rows tell; asked for each row once.
    """

    order: Int32 | None
    start_ns: Int64
    duration_ns: Int64
    shift_ns: int
    track: Callable[[Rows], Int32]
    categories: Int32
    speller: Speller
    read: Callable[[Rows], Told]

    def __len__(self) -> int:
        return len(self.start_ns if self.order is None else self.order)

    def rows(self, first: int, last: int) -> Rows:
        """Rows that are written one after the other, by their places; where they are, a slice, which is read without a copy."""
        return slice(first, last) if self.order is None else self.order[first:last]


def slice_blocks(slices: SliceTable, begins: Sequence[Flows], ends: Sequence[Flows]) -> Iterator[tuple[int, memoryview]]:
    """A begin and an end for every slice, in blocks of bounded size.

    Perfetto orders packets by time and takes those of one time as they come, and an end ends what began last on its track. So all
    ends are written before all begins: at one moment slices end first. Of those that end together the inner ones come first, which
    began later. An empty slice ends right behind its begin.

    Args:
        slices: The slices.
        begins, ends: Arrows that begin and end with these packets, by rows of the slices.

    Yields:
        How many slices begin, and the packets, which are of use until the next ones are asked for.
    """
    joiner = Joiner()
    for last in range(len(slices), 0, -_BLOCK_ROWS):
        rows = slices.rows(max(last - _BLOCK_ROWS, 0), last)
        yield 0, _ends_of(slices, rows, ends, joiner)
    for first in range(0, len(slices), _BLOCK_ROWS):
        rows = slices.rows(first, min(first + _BLOCK_ROWS, len(slices)))
        told = slices.read(rows)
        for piece in slices.speller.pieces(told.names.text):
            yield piece.stop - piece.start, _begins(slices, rows, told, piece, begins, joiner)


_BLOCK_ROWS: Final = 16_384
"""What is done once for a block costs little then, and what is worked on mostly stays in the processor's cache."""


def _numbered(rows: Rows) -> Int64:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows.astype(np.int64)


def _ends_of(slices: SliceTable, rows: Rows, flows: Sequence[Flows], joiner: Joiner) -> memoryview:
    """The packets that end some slices, the last one first; not those of empty ones."""
    duration_ns = slices.duration_ns[rows]
    is_empty = duration_ns == 0
    if is_empty.any():
        rows = _numbered(rows)[~is_empty]
        duration_ns = duration_ns[~is_empty]
    end_ns = (slices.start_ns[rows] + duration_ns)[::-1]
    fields = flow_fields(flows, lambda: _numbered(rows)[::-1])
    return joiner.join(len(end_ns), _ends(slices, end_ns, slices.track(rows)[::-1], *fields)).data.toreadonly()


def _ends(slices: SliceTable, end_ns: Int64, track: Int32, *more: Column) -> list[Column]:
    if slices.shift_ns:
        end_ns = end_ns + slices.shift_ns
    return event(EVENT_END, end_ns, numbers(11, track), SEQUENCE, *more)


def _tracks(slices: SliceTable, track: Int32) -> tuple[list[Column], list[Column]]:
    """The track of each of some slices, and its category."""
    least, greatest = within = bounds(track)
    # Mostly all tracks that may be theirs have the same one.
    categories = slices.categories[least : greatest + 1]
    if len(set(bounds(categories))) > 1:
        categories = slices.categories.take(track)
    return numbers(11, track, within), numbers(3, categories)


def _begins(slices: SliceTable, block: Rows, told: Told, piece: slice, flows: Sequence[Flows], joiner: Joiner) -> memoryview:
    """The packets that begin a piece of a block of slices; those of empty ones have their end behind them."""
    start_ns, track = slices.start_ns[block][piece], slices.track(block)[piece]
    tracks, categories = _tracks(slices, track)
    arguments = [column for argument, values in told.arguments for column in argument.columns(values[piece])]
    head, tails, size = slices.speller.spelled(told.names.take(piece))
    fields = flow_fields(flows, lambda: _numbered(block)[piece])
    # What has a length of its own comes last, so that the rest of a packet is one stretch of bytes.
    said = (*categories, *arguments, *message(23, [head, Padded(tails, size)]), *fields)
    shown_ns = start_ns + slices.shift_ns if slices.shift_ns else start_ns
    packets = event(EVENT_BEGIN, shown_ns, tracks, SEQUENCE, *said)
    is_empty: Bool = slices.duration_ns[block][piece] == 0
    if is_empty.any():
        ended = _ends(slices, start_ns, track)
        packets.append(Optional([column for column in ended if isinstance(column, (bytes, np.ndarray))], is_empty))
    return joiner.join(len(start_ns), packets).data.toreadonly()
