"""Unions and overlaps of half-open intervals."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.analyze.intervals import overlap_count, union_ns


@pytest.mark.parametrize(
    ("spans", "union", "overlaps"),
    [
        ([], 0, 0),
        ([(5, 10)], 10, 0),
        ([(0, 10), (10, 5)], 15, 0),
        ([(0, 10), (4, 2)], 10, 1),
        ([(0, 10), (5, 10)], 15, 1),
        ([(20, 1), (0, 10)], 11, 0),
        ([(0, 10), (0, 10)], 10, 1),
        ([(0, 100), (5, 1), (50, 1)], 100, 2),
        ([(3, 0), (3, 0)], 0, 0),
        ([(0, 10), (10, 0)], 10, 0),
        ([(0, 10), (5, 0)], 10, 1),
    ],
)
def test_time_is_counted_once_and_overlaps_each(spans: list[tuple[int, int]], union: int, overlaps: int) -> None:
    start, duration = np.array(spans, np.int64).reshape(-1, 2).T
    assert (union_ns(start, duration), overlap_count(start, duration)) == (union, overlaps)


def test_unix_times_stay_exact() -> None:
    start = np.array([1_790_000_000_000_000_001, 1_790_000_000_000_000_003])
    assert union_ns(start, np.array([1, 1])) == 2
