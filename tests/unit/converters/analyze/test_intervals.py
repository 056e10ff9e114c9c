"""Unions and overlaps of half-open intervals."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.analyze.intervals import busy_stretches, lane_times, overlap_count, union_ns
from rblnpb.converters.timeline import Int64


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


def lanes(*rows: tuple[int, int, int]) -> tuple[Int64, Int64, Int64]:
    """Columns of intervals, each (lane, start, end)."""
    lane, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return lane, start, end


def test_lanes_are_measured_apart() -> None:
    found = lane_times(*lanes((1, 0, 10), (1, 5, 12), (3, 0, 4), (3, 9, 10)), 4)
    assert found.slice_count.tolist() == [0, 2, 0, 2]
    assert (found.first_ns.tolist(), found.last_ns.tolist()) == ([0, 0, 0, 0], [0, 12, 0, 10])
    assert (found.busy_ns.tolist(), found.idle_ns.tolist()) == ([0, 12, 0, 5], [0, 0, 0, 5])
    assert (found.span_ns.tolist(), found.sums_ns()) == ([0, 12, 0, 10], [0, 17, 0, 5])


def test_sums_of_lanes_are_exact_beyond_64_bits() -> None:
    most = 2**62 - 1
    assert lane_times(*lanes((0, -most, most), (0, -most, most)), 1).sums_ns() == [4 * most]


def test_lanes_late_in_time_are_measured_apart() -> None:
    late = 2**63 - 100
    found = lane_times(*lanes((0, late, late + 9), (1, late, late + 5), (1, late + 7, late + 99), (2, late + 1, late + 2)), 3)
    assert (found.busy_ns.tolist(), found.idle_ns.tolist()) == ([9, 97, 1], [0, 2, 0])
    assert found.last_ns.tolist() == [late + 9, late + 99, late + 2]


@pytest.mark.parametrize("more", [(), ((5, 100, 101),)], ids=["one-lane", "several"])
def test_a_stretch_names_the_intervals_at_its_ends(more: tuple[tuple[int, int, int], ...]) -> None:
    found = busy_stretches(*lanes((0, 0, 20), (0, 3, 20), (0, 4, 6), (0, 30, 31), (0, 30, 40), *more))
    assert (found.start_ns.tolist()[:2], found.end_ns.tolist()[:2]) == ([0, 30], [20, 40])
    assert (found.first.tolist()[:2], found.last.tolist()[:2]) == ([0, 3], [1, 4])
    assert len(found) == 2 + len(more)


def test_an_empty_interval_in_the_middle_of_nothing_is_a_stretch() -> None:
    found = busy_stretches(*lanes((0, 0, 5), (0, 8, 8), (0, 9, 10)))
    assert list(zip(found.start_ns.tolist(), found.end_ns.tolist(), strict=True)) == [(0, 5), (8, 8), (9, 10)]
