"""Columns by group: numbers for groups, exact sums, percentiles that occurred, unions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT
from rblnpb.row_order import order_by

from ..timeline import Int64
from .intervals import union_ns

__all__ = ["consecutive", "exact_sums", "first_rows", "group_unions", "nearest_ranks", "numbered"]

_TOP: Final = (1 << 63) - 1


def numbered(code: Int64) -> tuple[Int64, Int64]:
    """Distinct values, ascending, and the place of each value among them: `np.unique`, without its sort where values are dense.

    >>> numbered(np.array([7, 5, 7]))
    (array([5, 7]), array([1, 0, 1]))
    """
    if not len(code):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    least = int(code.min())
    reach = int(code.max()) - least + 1
    if reach > 4 * len(code) + 1024:
        order = order_by(code)
        ordered = code[order]
        is_new = np.append(True, ordered[1:] != ordered[:-1])  # the first value of all is new
        place = np.empty(len(code), np.int64)
        place[order] = np.cumsum(is_new) - 1
        return ordered[is_new].astype(np.int64), place
    is_there = np.zeros(reach, np.bool_)
    is_there[code - least] = True
    place = np.cumsum(is_there) - 1
    return np.flatnonzero(is_there) + least, place[code - least]


def first_rows(place: Int64, count: int) -> Int64:
    """The first row of each group.

    Args:
        place: int64[n]; group of each row, from 0, none without a row.
        count: Number of groups.

    >>> first_rows(np.array([1, 0, 1]), 2)
    array([1, 0])
    """
    first = np.empty(count, np.int64)
    # Of several that are put into one place the last one stays.
    first[place[::-1]] = np.arange(len(place) - 1, -1, -1)
    return first


def consecutive(first: Int64, count: Int64) -> Int64:
    """The numbers from each first on, so many of each, one run after the other.

    >>> consecutive(np.array([7, 0]), np.array([2, 3]))
    array([7, 8, 0, 1, 2])
    """
    numbers: Int64 = np.repeat(first - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    return numbers


def exact_sums(group: Int64, values: Int64, count: int) -> npt.NDArray[Any]:
    """Sums of values by group.

    Args:
        group: int64[n]; group of each, from 0.
        values: int64[n]; not negative.
        count: Number of groups.

    Returns:
        int64[count]; Python integers where 64 bits do not hold a sum.

    >>> exact_sums(np.array([0, 1, 0]), np.array([1, 2, 3]), 2)
    array([4, 2])
    """
    total = np.zeros(count, np.int64)
    if not len(values) or int(values.max()) <= _TOP // len(values):
        np.add.at(total, group, values)
        return total
    high, low = np.zeros(count, np.int64), total
    np.add.at(high, group, values >> 32)
    np.add.at(low, group, values & 0xFFFF_FFFF)
    sums = [(upper << 32) + lower for upper, lower in zip(high.tolist(), low.tolist(), strict=True)]
    return np.array(sums, np.int64 if max(sums) <= _TOP else object)


def nearest_ranks(group: Int64, values: Int64, count: int, percents: tuple[int, ...]) -> Int64:
    """Percentiles of values by group: of n in order, the p-th is number ceil(n p / 100), the 0-th the first.

    Args:
        group: int64[n]; group of each, from 0.
        values: int64[n]; not negative.
        count: Number of groups.
        percents: Which, from 0 to 100.

    Returns:
        int64[len(percents), count]; ABSENT for a group without values.

    >>> nearest_ranks(np.array([0, 0, 1]), np.array([9, 5, 7]), 2, (50, 100))
    array([[5, 7],
           [9, 7]])
    """
    sizes = np.bincount(group, minlength=count)
    ordered = _ordered(group, values, count)
    first = np.cumsum(sizes) - sizes
    found = np.full((len(percents), count), ABSENT, np.int64)
    filled = sizes > 0
    for row, percent in enumerate(percents):
        place = np.maximum((percent * sizes + 99) // 100 - 1, 0) + first
        found[row, filled] = ordered[place[filled]]
    return found


def _ordered(group: Int64, values: Int64, count: int) -> Int64:
    """Values in order of group, then of value."""
    bits = int(values.max()).bit_length() if len(values) else 0
    if bits + count.bit_length() <= 63:
        # One number that holds both sorts several times faster than two columns, and faster still when it is small.
        both = group << bits | values
        ordered = np.sort(both.astype(np.uint32) if bits + count.bit_length() <= 32 else both)
        return ordered.astype(np.int64) & ((1 << bits) - 1)
    return values[order_by(group, values)]


def group_unions(group: Int64, start_ns: Int64, duration_ns: Int64, count: int) -> Int64:
    """Time that at least one slice of each group covers.

    Args:
        group: int64[n]; group of each, from 0.
        start_ns: int64[n]; any clock, any order.
        duration_ns: int64[n]; not negative.
        count: Number of groups.

    Returns:
        int64[count].

    >>> group_unions(np.array([0, 1, 0]), np.array([0, 5, 8]), np.array([10, 1, 10]), 2)
    array([18,  1])
    """
    union = np.zeros(count, np.int64)
    if not len(group):
        return union
    order = order_by(group, start_ns)
    group, start, end = group[order], start_ns[order], start_ns[order] + duration_ns[order]
    begins = np.append(0, np.flatnonzero(np.diff(group)) + 1)
    length = np.maximum.reduceat(end, begins) - start[begins]
    if sum(length.tolist()) > _TOP:
        # Damaged times: laid end to end, the groups would be longer than time is.
        for one, own in zip(group[begins].tolist(), np.split(order, begins[1:]), strict=True):
            union[one] = union_ns(start_ns[own], duration_ns[own])
        return union
    # Groups laid end to end on one line of time, so that one running maximum never reaches from a group into the next.
    shift = np.repeat(np.cumsum(length) - length - start[begins], np.diff(np.append(begins, len(group))))
    start, reach = start + shift, np.maximum.accumulate(end + shift)
    covered = reach - np.maximum(start, np.append(start[:1], reach[:-1]))
    np.add.at(union, group, covered)
    return union
