"""Arithmetic on half-open intervals, on whole columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.row_order import order_by

from ..timeline import Int64

__all__ = [
    "BusyStretches",
    "LaneTimes",
    "busy_stretches",
    "exact_sum",
    "halves",
    "known_sum",
    "lane_times",
    "overlap_count",
    "union_ns",
    "whole_sums",
]


def exact_sum(values: Int64) -> int:
    """The sum of a column, whatever its size: a few long times are more than 64 bits hold.

    >>> exact_sum(np.array([2**62, 2**62, -1]))
    9223372036854775807
    """
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFF_FFFF).sum())


def known_sum(values: Int64) -> int | None:
    """The sum of what is known, exact; None where nothing is, or all is ABSENT.

    >>> known_sum(np.array([3, ABSENT, 4])), known_sum(np.array([ABSENT]))
    (7, None)
    """
    known = values[values != ABSENT]
    return exact_sum(known) if len(known) else None


def union_ns(start_ns: Int64, duration_ns: Int64) -> int:
    """Time that at least one interval covers: overlapping work is counted once.

    Args:
        start_ns: int64[n]; any clock, any order.
        duration_ns: int64[n]; not negative.

    >>> union_ns(np.array([0, 5, 20]), np.array([10, 10, 1]))
    16
    """
    if not len(start_ns):
        return 0
    order = order_by(start_ns)
    start = start_ns[order]
    reach = np.maximum.accumulate(start + duration_ns[order])
    # A new stretch begins where everything before it has ended.
    begins = np.flatnonzero(start[1:] > reach[:-1]) + 1
    first = np.concatenate([start[:1], start[begins]])
    last = np.concatenate([reach[begins - 1], reach[-1:]])
    return int((last - first).sum())


def overlap_count(start_ns: Int64, duration_ns: Int64) -> int:
    """Intervals that start while an earlier one is running, on what should do one thing at a time.

    >>> overlap_count(np.array([0, 5, 20]), np.array([10, 10, 1]))
    1
    """
    order = order_by(start_ns)
    start = start_ns[order]
    reach = np.maximum.accumulate(start + duration_ns[order]) if len(order) else start
    return int((start[1:] < reach[:-1]).sum())


@dataclass(frozen=True, eq=False)
class BusyStretches:
    """Stretches of time that are covered without a break, in order of lane and time; all columns have the same length k.

    Attributes:
        lane: int64[k].
        start_ns, end_ns: int64[k]; clock of the intervals.
        first: int64[k]; row of the interval that begins the stretch: of those that start together the first.
        last: int64[k]; row of the interval that ends it: of those that end together the last.
    """

    lane: Int64
    start_ns: Int64
    end_ns: Int64
    first: Int64
    last: Int64

    def __len__(self) -> int:
        return len(self.lane)


def busy_stretches(lane: Int64, start_ns: Int64, end_ns: Int64) -> BusyStretches:
    """The union of the intervals of each lane.

    Args:
        lane: int64[n]; not negative, in order.
        start_ns: int64[n]; any clock, in order within each lane.
        end_ns: int64[n]; not before the start. An empty interval in the middle of nothing is a stretch of its own.

    >>> found = busy_stretches(np.array([0, 0, 0, 1]), np.array([0, 5, 20, 0]), np.array([10, 15, 21, 9]))
    >>> list(zip(found.lane.tolist(), found.start_ns.tolist(), found.end_ns.tolist(), found.first.tolist(), found.last.tolist()))
    [(0, 0, 15, 0, 1), (0, 20, 21, 2, 2), (1, 0, 9, 3, 3)]
    """
    furthest = _furthest(lane, end_ns)
    reach = end_ns[furthest]
    is_new = np.ones(len(lane), np.bool_)
    # A new stretch begins where everything before it has ended.
    is_new[1:] = (start_ns[1:] > reach[:-1]) | (lane[1:] != lane[:-1])
    first = np.flatnonzero(is_new)
    last = furthest[np.append(first[1:], len(lane))[: len(first)] - 1]
    return BusyStretches(lane[first], start_ns[first], end_ns[last], first, last)


def _furthest(lane: Int64, end_ns: Int64) -> Int64:
    """int64[n]; of the rows of its lane up to each row, the one that ends last."""
    count = len(lane)
    row = np.arange(count, dtype=np.int64)
    if not count:
        return row
    # Few columns are made, and these are used again: fresh memory is half of what all of this costs.
    least = int(end_ns.min())
    length = int(end_ns.max()) - least + 1
    if length * (int(lane[-1]) + 1) < 1 << 62:
        # As if the lanes came one after the other; what is more than 64 bits on the way is not in the end.
        height = lane * length
        height += end_ns
        height -= least
    else:
        # The place among all ends takes the place of the end itself: that many, times the lanes, are few enough for 64 bits.
        by_end = order_by(end_ns)
        height = lane * count
        height[by_end] += row
    reach = np.maximum.accumulate(height)
    row *= height >= reach
    return np.maximum.accumulate(row, out=reach)


@dataclass(frozen=True, eq=False)
class LaneTimes:
    """Occupancy of lanes; columns of one row a lane.

    Attributes:
        slice_count: int64[k]; intervals.
        first_ns, last_ns: int64[k]; least start and greatest end; 0 for a lane without intervals.
        busy_ns: int64[k]; their union.
        sum_halves: int64[2, k]; their sums, see `halves`: a few long times are more than 64 bits hold.
    """

    slice_count: Int64
    first_ns: Int64
    last_ns: Int64
    busy_ns: Int64
    sum_halves: Int64

    @property
    def span_ns(self) -> Int64:
        """int64[k]; from the first start to the last end."""
        return self.last_ns - self.first_ns

    @property
    def idle_ns(self) -> Int64:
        """int64[k]; the part of the span that nothing covers."""
        return self.span_ns - self.busy_ns

    def sums_ns(self) -> list[int]:
        """The sum of each lane, exact whatever its size."""
        return whole_sums(self.sum_halves)


def halves(values: Int64) -> Int64:
    """int64[2, n]; values in units of 2**32 and the rest, which can be summed apart without an overflow.

    >>> whole_sums(halves(np.array([2**62, 2**62])).sum(axis=1, keepdims=True))
    [9223372036854775808]
    """
    return np.stack((values >> 32, values & 0xFFFF_FFFF))


def whole_sums(sum_halves: Int64) -> list[int]:
    """Sums, from those of `halves`: int64[2, k]."""
    return [(high << 32) + low for high, low in sum_halves.T.tolist()]


def lane_times(lane: Int64, start_ns: Int64, end_ns: Int64, lane_count: int) -> LaneTimes:
    """Occupancy of each lane.

    Args:
        lane, start_ns, end_ns: int64[n]; as for `busy_stretches`.
        lane_count: More than the greatest lane.

    >>> found = lane_times(np.array([0, 0, 2]), np.array([0, 5, 7]), np.array([10, 6, 9]), 3)
    >>> found.busy_ns.tolist(), found.sums_ns(), found.idle_ns.tolist()
    ([10, 0, 2], [11, 0, 2], [0, 0, 0])
    """
    stretches = busy_stretches(lane, start_ns, end_ns)
    counts = np.bincount(lane, minlength=lane_count)
    has_any = counts > 0
    first_ns, last_ns, busy_ns = np.zeros((3, lane_count), np.int64)
    begins = np.flatnonzero(np.diff(stretches.lane, prepend=-1))
    if len(begins):
        first_ns[has_any] = stretches.start_ns[begins]
        last_ns[has_any] = stretches.end_ns[np.append(begins[1:], len(stretches)) - 1]
        busy_ns[has_any] = np.add.reduceat(stretches.end_ns - stretches.start_ns, begins)
    return LaneTimes(counts, first_ns, last_ns, busy_ns, _sum_halves(end_ns - start_ns, counts))


def _sum_halves(values: Int64, counts: Int64) -> Int64:
    """int64[2, k]; sums of consecutive runs of so many values each, see `LaneTimes`."""
    sums = np.zeros((2, len(counts)), np.int64)
    begins = (np.cumsum(counts) - counts)[counts > 0]
    if len(begins):
        sums[:, counts > 0] = np.add.reduceat(halves(values), begins, axis=1)
    return sums
