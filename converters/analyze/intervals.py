"""Arithmetic on half-open intervals, on whole columns."""

from __future__ import annotations

import numpy as np

from ..timeline import Int64

__all__ = ["exact_sum", "overlap_count", "union_ns"]


def exact_sum(values: Int64) -> int:
    """The sum of a column, whatever its size: a few long times are more than 64 bits hold.

    >>> exact_sum(np.array([2**62, 2**62, -1]))
    9223372036854775807
    """
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFF_FFFF).sum())


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
    order = np.argsort(start_ns, kind="stable")
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
    order = np.argsort(start_ns, kind="stable")
    start = start_ns[order]
    reach = np.maximum.accumulate(start + duration_ns[order]) if len(order) else start
    return int((start[1:] < reach[:-1]).sum())
