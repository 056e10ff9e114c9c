"""Arrows of a Perfetto trace between slices of one table, as many as there are slices or more: worked out as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.byte_rows import Entries
from rblnpb.column_arrays import row_blocks

from ..timeline import Bool, Int32, Int64
from ._perfetto_flows import begin_fields, end_fields, spread

__all__ = ["Dependencies"]

_BLOCK_EDGES: Final = 1 << 16


class Dependencies:
    """Arrows from slices to slices of the same table.

    Held is where those of each slice are; which packets they begin and end with is worked out anew at each use.

    Attributes:
        begins, ends: What the packets hold with which slices begin and end; see `Flows`.
    """

    def __init__(self, start_ns: Int64, duration_ns: Int64, source: Int64, target: Int64, first_number: int) -> None:
        """Find the arrows of each slice.

        Args:
            start_ns, duration_ns: int64[n]; of the slices. They are written in order of their starts, the outer ones first, then
                the earlier row.
            source, target: int64[k]; rows of the slices that each arrow joins.
            first_number: Number of the first arrow.
        """
        self._start_ns, self._duration_ns = start_ns, duration_ns
        self._source, self._target = source, target
        self._first_number = first_number
        self._of_source, self._of_target = (_Members(row, len(start_ns)) for row in (source, target))
        self.begins, self.ends = _Begins(self), _Ends(self)

    def __len__(self) -> int:
        return len(self._source)

    def lost_count(self) -> int:
        """How many arrows would have to end before they begin."""
        return sum(int((~(at_begin | at_end)).sum()) for at_begin, at_end in map(self.places, self._blocks()))

    def _blocks(self) -> Iterator[Int64]:
        for first in range(0, len(self), _BLOCK_EDGES):
            yield np.arange(first, min(first + _BLOCK_EDGES, len(self)))

    def places(self, arrows: Int64) -> tuple[Bool, Bool]:
        """Which of some arrows end where their target begins, and which where it ends."""
        source, target = self._source[arrows], self._target[arrows]
        begin_ns, target_ns = self._start_ns[source], self._start_ns[target]
        at_begin = begin_ns < target_ns
        tied = np.flatnonzero(begin_ns == target_ns)
        if len(tied):
            source_length, target_length = self._duration_ns[source[tied]], self._duration_ns[target[tied]]
            is_same = source_length == target_length
            at_begin[tied] = (source_length > target_length) | is_same & (source[tied] <= target[tied])
        if at_begin.all():
            return at_begin, ~at_begin
        return at_begin, ~at_begin & (target_ns + self._duration_ns[target] > begin_ns)

    def leaving(self, rows: Int64) -> tuple[Int64, Int64]:
        """The arrows that begin at some slices, those of one after those of another, and how many each has."""
        return self._of_source.of(rows)

    def arriving(self, rows: Int64) -> tuple[Int64, Int64]:
        """Likewise those that end there."""
        return self._of_target.of(rows)

    def numbers(self, arrows: Int64) -> Int64:
        """int64[m]; what the packets call some arrows."""
        return arrows + self._first_number


class _Begins:
    def __init__(self, arrows: Dependencies) -> None:
        self._arrows = arrows

    def __len__(self) -> int:
        return len(self._arrows)

    def entries(self, rows: Int64) -> list[Entries]:
        leaving, leaving_count = self._arrows.leaving(rows)
        arriving, arriving_count = self._arrows.arriving(rows)
        at_begin, at_end = self._arrows.places(leaving)
        begun, begun_count = _kept(leaving, leaving_count, at_begin | at_end)
        ended, ended_count = _kept(arriving, arriving_count, self._arrows.places(arriving)[0])
        begins = Entries(begin_fields(self._arrows.numbers(begun)), begun_count)
        ends = Entries(end_fields(self._arrows.numbers(ended)), ended_count)
        return [one for one in (begins, ends) if len(one.pieces)]


class _Ends:
    def __init__(self, arrows: Dependencies) -> None:
        self._arrows = arrows

    def __len__(self) -> int:
        return len(self._arrows)

    def entries(self, rows: Int64) -> list[Entries]:
        arriving, count = self._arrows.arriving(rows)
        ended, ended_count = _kept(arriving, count, self._arrows.places(arriving)[1])
        return [Entries(end_fields(self._arrows.numbers(ended)), ended_count)] if len(ended) else []


def _kept(arrows: Int64, count: Int64, is_kept: Bool) -> tuple[Int64, Int64]:
    """Some of the arrows of each row, and how many each row has now."""
    if is_kept.all():
        return arrows, count
    row = np.repeat(np.arange(len(count)), count)
    return arrows[is_kept], np.bincount(row[is_kept], minlength=len(count))


class _Members:
    """Which places of a column hold each number, in 4 bytes a place and a number; none a place where they ascend."""

    def __init__(self, numbers: Int64, count: int) -> None:
        """Find them.

        Args:
            numbers: int64[k]; below n.
            count: n.
        """
        kind: type[np.integer[Any]] = np.int32 if max(len(numbers), count) <= np.iinfo(np.int32).max else np.int64
        self._first: npt.NDArray[Any] = np.zeros(count + 1, kind)
        for block in row_blocks(len(numbers)):
            np.add.at(self._first, numbers[block] + 1, 1)
        np.cumsum(self._first, out=self._first, dtype=kind)
        is_ascending = bool((numbers[1:] >= numbers[:-1]).all())
        self._place: Int32 | Int64 | None = None if is_ascending else self._places(numbers)

    def _places(self, numbers: npt.NDArray[np.signedinteger[Any]]) -> npt.NDArray[Any]:
        """Places in order of their numbers, put there block by block: a sort of all would take several times the memory."""
        place = np.empty(len(numbers), self._first.dtype)
        free = self._first[:-1].copy()
        for block in row_blocks(len(numbers)):
            order = np.argsort(numbers[block], kind="stable")
            own = numbers[block][order]
            begins = np.flatnonzero(np.append(True, own[1:] != own[:-1]))  # the first of all begins a run
            sizes = np.diff(begins, append=len(own))
            place[free[own] + np.arange(len(own)) - np.repeat(begins, sizes)] = order + block.start
            free[own[begins]] += sizes.astype(free.dtype)
        return place

    def of(self, numbers: Int64) -> tuple[Int64, Int64]:
        """The places of some numbers, those of one after those of another, and how many each has."""
        first = self._first[numbers]
        count = (self._first[numbers + 1] - first).astype(np.int64)
        places = spread(first, count)
        return (places if self._place is None else self._place[places].astype(np.int64)), count
