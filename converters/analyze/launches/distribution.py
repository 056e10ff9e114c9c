"""Lengths of time summed up, on whole columns: exact sums, and percentiles that are values which occurred."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...results import Distribution
from ...timeline import Int64
from ..grouping import exact_sums, nearest_ranks

__all__ = ["distribution", "distributions"]

_PERCENTS: Final = (0, 50, 90, 99, 100)


def distribution(values_ns: Int64) -> Distribution:
    """All values as one distribution.

    Args:
        values_ns: int64[n]; not negative.

    >>> distribution(np.array([5, 1, 9])).p50_ns
    5
    """
    return distributions(values_ns, np.zeros(len(values_ns), np.int64), 1)[0]


def distributions(values_ns: Int64, group: Int64, group_count: int) -> tuple[Distribution, ...]:
    """The distribution of each group.

    Args:
        values_ns: int64[n]; not negative.
        group: int64[n]; from 0, below `group_count`.
        group_count: How many groups.

    Returns:
        One a group, in their order.
    """
    counts = np.bincount(group, minlength=group_count).tolist()
    sums = exact_sums(group, values_ns, group_count).tolist()
    ranks = nearest_ranks(group, values_ns, group_count, _PERCENTS).T.tolist()
    return tuple(
        Distribution(count, total, (2 * total + count) // (2 * count), *values) if count else Distribution(0, 0, *[None] * 6)
        for count, total, values in zip(counts, sums, ranks, strict=True)
    )
