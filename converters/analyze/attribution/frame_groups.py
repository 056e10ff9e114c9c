"""Stacks by the frames that are in them: what a frame has itself, and what it has together with everything that it called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...timeline import Bool, Int64
from ..grouping import consecutive
from ..intervals import busy_stretches, halves, whole_sums
from .stacks import Stacks

__all__ = ["FrameGroups", "GroupedRows"]

_STRETCHES_AT_ONCE: Final = 1 << 22
"""About how many stretches of time are sorted at once: some hundred megabytes."""


@dataclass(frozen=True, eq=False)
class FrameGroups:
    """Stacks, and the group of each one's innermost frame. A group is in a stack once, however often its frame is.

    Attributes:
        stacks: The stacks.
        group: int64[m]; for each stack.
        is_around: bool[m]; whether the innermost frame counts as around what it called.
        count: Number of groups.
    """

    stacks: Stacks
    group: Int64
    is_around: Bool
    count: int

    def rows(self, stack: Int64) -> GroupedRows:
        """Rows to be summed up: int64[n], the stack of each."""
        used, place = np.unique(stack, return_inverse=True)
        origin, at = np.arange(len(used), dtype=np.int64), used
        keys = [self.group[at] * len(used) + origin]
        while len(origin):
            at = self.stacks.parent[at]
            has_caller = at >= 0
            origin, at = origin[has_caller], at[has_caller]
            is_around = self.is_around[at]
            keys.append(self.group[at[is_around]] * len(used) + origin[is_around])
        # numpy's own `unique` tells distinct numbers by a hash, which takes fifty times as long for millions of them.
        every = np.sort(np.concatenate(keys))
        group, origin = np.divmod(every[np.diff(every, prepend=-1) > 0], max(len(used), 1))
        return GroupedRows(self.count, self.group[used], place, len(used), origin, group)


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Rows of stacks, with the groups that are in these.

    Attributes:
        count: Number of groups.
        innermost: int64[u]; for each stack that has a row: the group of its innermost frame.
        stack: int64[n]; for each row: its stack, of these u.
        stack_count: u.
        origin, group: int64[k]; every pair of such a stack and a group in it, by group and stack.
    """

    count: int
    innermost: Int64
    stack: Int64
    stack_count: int
    origin: Int64
    group: Int64

    def sums(self, values: Int64) -> tuple[list[int], list[int]]:
        """Exact sums by group: of rows whose innermost frame is of the group, and of all rows with such a frame in their stack.

        Args:
            values: int64[n].
        """
        by_stack = _half_sums(values, self.stack, self.stack_count)
        sums = np.zeros((2, 2, self.count), np.int64)
        for own, total, half in zip(*sums, by_stack, strict=True):
            np.add.at(own, self.innermost, half)
            np.add.at(total, self.group, half[self.origin])
        return whole_sums(sums[0]), whole_sums(sums[1])

    def unions(self, start_ns: Int64, end_ns: Int64) -> tuple[list[int], list[int]]:
        """The same two for the time that at least one of the rows covers.

        Args:
            start_ns, end_ns: int64[n]; any clock, any order.
        """
        order = order_by(self.stack, start_ns)
        # What runs at once on several engines is mostly of one launch, so that there are far fewer stretches than rows.
        found = busy_stretches(self.stack[order], start_ns[order], end_ns[order])
        first, size = _runs(found.lane, self.stack_count)
        times = _SortedTimes.of(found.start_ns, found.end_ns)
        own = times.union_ns(self.innermost[found.lane], times.place, self.count)
        total = np.zeros(self.count, np.int64)
        for pairs in _blocks(self.group, size[self.origin]):
            origin = self.origin[pairs]
            rows = consecutive(first[origin], size[origin])
            total += times.union_ns(np.repeat(self.group[pairs], size[origin]), times.place[rows], self.count)
        return own.tolist(), total.tolist()


@dataclass(frozen=True, eq=False)
class _SortedTimes:
    """Stretches in order of their start.

    Attributes:
        start_ns, end_ns: int64[n].
        ends_ns: int64[e]; distinct ends, ascending.
        end: int64[n]; row of `ends_ns`.
        place: int64[n]; for each stretch as it was given: where it is now.
    """

    start_ns: Int64
    end_ns: Int64
    ends_ns: Int64
    end: Int64
    place: Int64

    @classmethod
    def of(cls, start_ns: Int64, end_ns: Int64) -> _SortedTimes:
        order = order_by(start_ns)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        ends_ns, end = np.unique(end_ns[order], return_inverse=True)
        return cls(start_ns[order], end_ns[order], ends_ns, end, place)

    def union_ns(self, group: Int64, row: Int64, count: int) -> Int64:
        """int64[count]; the time that at least one row of each group covers."""
        if not len(row):
            return np.zeros(count, np.int64)
        # Numbers alone are sorted several times faster than rows by two columns.
        group, row = np.divmod(np.sort(group * len(self.place) + row), len(self.place))
        # By rank, for times of a group and those of the next cannot be compared.
        offset = group * len(self.ends_ns)
        reach_ns = self.ends_ns[np.maximum.accumulate(offset + self.end[row]) - offset]
        start_ns = self.start_ns[row]
        is_next = group[1:] == group[:-1]
        start_ns[1:][is_next] = np.maximum(start_ns[1:][is_next], reach_ns[:-1][is_next])
        union = np.zeros(count, np.int64)
        np.add.at(union, group, np.maximum(self.end_ns[row] - start_ns, 0))
        return union


def _runs(lane: Int64, count: int) -> tuple[Int64, Int64]:
    """First row and number of rows of each lane; rows are in order of lanes."""
    size = np.bincount(lane, minlength=count)
    return np.cumsum(size) - size, size


def _blocks(group: Int64, size: Int64) -> list[Int64]:
    """Rows in blocks of whole groups, each of about `_STRETCHES_AT_ONCE` in size; groups are ascending."""
    begins = np.flatnonzero(np.diff(group, prepend=-1))
    block = (np.cumsum(size) - size)[begins] // _STRETCHES_AT_ONCE
    bounds = begins[np.flatnonzero(np.diff(block, prepend=-1))]
    blocks: list[Int64] = np.split(np.arange(len(group), dtype=np.int64), bounds[1:])
    return blocks


def _half_sums(values: Int64, group: Int64, count: int) -> Int64:
    """int64[2, count]; sums by group in the two parts of `intervals.halves`, which hold any size; the whole is `whole_sums` of it.

    Args:
        values: int64[n].
        group: int64[n]; not negative.
        count: More than the greatest group.
    """
    sums = np.zeros((2, count), np.int64)
    for sum_of_half, half in zip(sums, halves(values), strict=True):
        np.add.at(sum_of_half, group, half)
    return sums
