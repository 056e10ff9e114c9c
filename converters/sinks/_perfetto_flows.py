"""Arrows of a Perfetto trace: the numbers that the packets of two slices have in common.

Perfetto takes packets in order of time, and of one time as they come. An arrow has to be begun before it ends: it begins where its
source does, and ends where its target begins; where that comes first, where the target ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from rblnpb.byte_rows import Entries, stack
from rblnpb.row_order import order_by

from ..timeline import Bool, Int64, UInt8

__all__ = ["Arrows", "Ends", "FlowEnds", "Flows", "begin_fields", "draw", "end_fields", "flow_fields", "spread"]

_ENTRY_BYTES: Final = 10
_BEGINS: Final = b"\xf9\x02"
_ENDS: Final = b"\x81\x03"
"""Fields 47 and 48 of a track event, fixed numbers of 64 bits."""


def begin_fields(number: Int64) -> UInt8:
    """uint8[m, 10]; fields with which packets begin the arrows of these numbers."""
    return _fields(_BEGINS, number)


def end_fields(number: Int64) -> UInt8:
    """uint8[m, 10]; fields with which packets end the arrows of these numbers."""
    return _fields(_ENDS, number)


def _fields(tag: bytes, number: Int64) -> UInt8:
    return stack(len(number), [tag, number.astype("<u8").view(np.uint8).reshape(-1, 8)])


class Flows(Protocol):
    """Arrows that begin or end with the packets of a table."""

    def __len__(self) -> int:
        """How many there may be."""

    def entries(self, rows: Int64) -> list[Entries]:
        """Their fields in the packets of some rows, as columns; none where no row has one."""


def flow_fields(flows: Sequence[Flows], rows: Callable[[], Int64]) -> list[Entries]:
    """Columns of several kinds of arrows in the packets of some rows, which are only numbered when there are any."""
    some = [one for one in flows if len(one)]
    asked = rows() if some else None
    return [column for one in some if asked is not None for column in one.entries(asked)]


@dataclass(frozen=True, eq=False)
class FlowEnds:
    """Fields with which packets begin and end arrows; m of them.

    Attributes:
        row: int64[m], ascending; the row of what the packet is of.
        pieces: uint8[m, 10]; the fields.
    """

    row: Int64
    pieces: UInt8

    def __len__(self) -> int:
        return len(self.row)

    @classmethod
    def of(cls, begins: tuple[Int64, Int64], ends: tuple[Int64, Int64]) -> FlowEnds:
        """From rows and numbers of the arrows that begin there, and of those that end there."""
        row = np.concatenate((begins[0], ends[0]))
        pieces = np.concatenate((begin_fields(begins[1]), end_fields(ends[1])))
        order = order_by(row)
        return cls(row[order], pieces[order])

    @classmethod
    def none(cls) -> FlowEnds:
        """No fields."""
        return cls(np.empty(0, np.int64), np.empty((0, _ENTRY_BYTES), np.uint8))

    def entries(self, rows: Int64) -> list[Entries]:
        """See `Flows.entries`."""
        first, count = self._found(rows)
        return [Entries(self.pieces[spread(first, count)], count)] if count.any() else []

    def texts(self, rows: Int64) -> npt.NDArray[np.object_]:
        """object[n]; the fields of some rows as bytes."""
        first, count = self._found(rows)
        found = np.full(len(rows), b"", np.object_)
        for number in np.unique(count[count > 0]).tolist():
            places = np.flatnonzero(count == number)
            pieces = self.pieces[first[places][:, None] + np.arange(number)].reshape(len(places), -1)
            found[places] = pieces.view(f"V{pieces.shape[1]}")[:, 0].tolist()
        return found

    def touch(self, rows: Int64) -> bool:
        """Whether there may be any between the least and the greatest of some rows."""
        low, high = np.searchsorted(self.row, (rows.min(), rows.max() + 1)) if len(rows) else (0, 0)
        return bool(high > low)

    def _found(self, rows: Int64) -> tuple[Int64, Int64]:
        first = np.searchsorted(self.row, rows)
        return first, np.searchsorted(self.row, rows, side="right") - first


def spread(first: npt.NDArray[np.integer[Any]], count: npt.NDArray[np.integer[Any]]) -> Int64:
    """Of each range, from `first` on and so many long, all numbers, one range after the other.

    >>> spread(np.array([5, 9, 0]), np.array([2, 0, 1])).tolist()
    [5, 6, 0]
    """
    before = np.cumsum(count) - count
    numbers: Int64 = np.arange(int(count.sum())) + np.repeat(first - before, count)
    return numbers


@dataclass(frozen=True, eq=False)
class Ends:
    """One side of arrows; columns have the same length n.

    Attributes:
        table: int64[n]; in which table the slice is; a table of a lower number is written first.
        begin_row, end_row: int64[n]; rows of what the packets are written of with which it begins and ends.
        begin_ns, end_ns: int64[n]; its times.
        rank: int64[n]; its place in the order in which the begins of its table are written.
    """

    table: Int64
    begin_row: Int64
    end_row: Int64
    begin_ns: Int64
    end_ns: Int64
    rank: Int64

    @classmethod
    def join(cls, parts: Sequence[Ends]) -> Ends:
        """All of the parts, in order."""
        names = ("table", "begin_row", "end_row", "begin_ns", "end_ns", "rank")
        return cls(*(np.concatenate([np.empty(0, np.int64), *(getattr(part, name) for part in parts)]) for name in names))


@dataclass(frozen=True, eq=False)
class Arrows:
    """Fields of the packets of all tables.

    Attributes:
        begins: For each table the fields of the packets with which its slices begin, by row.
        ends: Likewise of those with which they end.
        lost: How many arrows would have to end before they begin.
    """

    begins: list[FlowEnds]
    ends: list[FlowEnds]
    lost: int


def draw(source: Ends, target: Ends, table_count: int) -> Arrows:
    """Arrows from each source to its target, numbered from 1 on.

    Args:
        source, target: The slices.
        table_count: How many tables there are; they are numbered from 0.
    """
    number = np.arange(1, len(source.table) + 1)
    at_begin = _is_before(source, target)
    at_end = ~at_begin & (target.end_ns > source.begin_ns)
    drawn = at_begin | at_end

    def of(row: Int64, is_one: Bool) -> tuple[Int64, Int64]:
        return row[is_one], number[is_one]

    begins, ends = [], []
    for table in range(table_count):
        is_source, is_target = drawn & (source.table == table), target.table == table
        begins.append(FlowEnds.of(of(source.begin_row, is_source), of(target.begin_row, at_begin & is_target)))
        ends.append(FlowEnds.of((number[:0], number[:0]), of(target.end_row, at_end & is_target)))
    return Arrows(begins, ends, int((~drawn).sum()))


def _is_before(source: Ends, target: Ends) -> Bool:
    """Whether the packet with which each source begins comes before that of its target; a slice that is both is both at once."""
    is_same_time = source.begin_ns == target.begin_ns
    is_written_first = (source.table < target.table) | (source.table == target.table) & (source.rank <= target.rank)
    before: npt.NDArray[Any] = (source.begin_ns < target.begin_ns) | is_same_time & is_written_first
    return before
