"""Which slices cross others of their lane, in n log n whatever their shape: a broken file may nest or cross as it likes."""

from __future__ import annotations

import numpy as np

from ...timeline import Bool, Int64

__all__ = ["crossing", "lane_keys", "least_cover"]

_NONE = np.iinfo(np.int64).max


def lane_keys(lane: Int64, *times: Int64) -> tuple[Int64, ...]:
    """Times as small numbers that keep their order within a lane, and of which every lane has a stretch of its own.

    Args:
        lane: int64[n]; not negative.
        times: int64[n] each; any one clock.

    Returns:
        int64[n] for each of `times`; less than 2**63 for less than 2**31 rows and lanes.

    >>> lane_keys(np.array([0, 1]), np.array([10, 10]), np.array([30, 20]))
    (array([0, 3]), array([2, 4]))
    """
    distinct, rank = np.unique(np.concatenate(times), return_inverse=True)
    return tuple(lane * len(distinct) + part for part in np.split(rank, len(times)))


def crossing(lane: Int64, start_ns: Int64, end_ns: Int64) -> Bool:
    """Slices that begin within another of their lane and end after it.

    Args:
        lane: int64[n]; not negative.
        start_ns, end_ns: int64[n]; any clock, any order; the end is not before the start.

    Returns:
        bool[n]; of two that cross, the one that begins later.

    >>> crossing(np.zeros(3, np.int64), np.array([0, 2, 5]), np.array([10, 8, 12]))
    array([False, False,  True])
    """
    start, end = lane_keys(lane, start_ns, end_ns)
    order = np.lexsort((-end, start))
    start, end = start[order], end[order]
    # A slice is open at the rows between its own and the first one that begins when it has ended.
    until = np.searchsorted(start, end, side="left")
    after = np.arange(1, len(start) + 1)
    is_open = until > after
    found = np.zeros(len(start), np.bool_)
    found[order] = least_cover(after[is_open], until[is_open], end[is_open], len(start)) < end
    return found


def least_cover(first: Int64, last: Int64, value: Int64, count: int) -> Int64:
    """At each place, the least value of the intervals that cover it.

    Each interval is the union of two of one power of two in length. From the longest on, what covers a stretch is handed down to
    both of its halves.

    Args:
        first, last: int64[k]; half-open intervals of places, none of them empty.
        value: int64[k].
        count: Places.

    Returns:
        int64[count]; the greatest int64 where nothing covers.

    >>> least_cover(np.array([0, 1]), np.array([3, 2]), np.array([7, 5]), 4).tolist()[:3]
    [7, 5, 7]
    """
    level = np.frexp((last - first).astype(np.float64))[1] - 1
    covered = np.full(count, _NONE, np.int64)
    for power in range(int(level.max(initial=-1)), -1, -1):
        half = 1 << power
        below = covered.copy()
        np.minimum(below[half:], covered[:-half], out=below[half:])
        own = level == power
        np.minimum.at(below, first[own], value[own])
        np.minimum.at(below, last[own] - half, value[own])
        covered = below
    return covered
