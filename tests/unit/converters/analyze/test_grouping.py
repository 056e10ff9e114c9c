"""Columns by group."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.analyze.grouping import exact_sums, group_unions, nearest_ranks, numbered


def test_numbers_far_apart_are_told_apart_as_those_close_together() -> None:
    distinct, place = numbered(np.array([2**62, -5, 2**62]))
    assert (distinct.tolist(), place.tolist()) == ([-5, 2**62], [1, 0, 1])


def test_percentiles_are_values_that_were_measured() -> None:
    values = np.arange(100, 0, -1)
    ranks = nearest_ranks(np.zeros(100, np.int64), values, 1, (0, 50, 90, 99, 100))
    assert ranks.T.tolist() == [[1, 50, 90, 99, 100]]
    assert nearest_ranks(np.zeros(3, np.int64), np.array([30, 10, 20]), 1, (0, 50, 90)).T.tolist() == [[10, 20, 30]]


def test_sums_beyond_64_bits_are_whole_numbers_all_the_same() -> None:
    sums = exact_sums(np.array([0, 0, 0, 1]), np.array([2**62, 2**62, 2**62, 1]), 2)
    assert sums.tolist() == [3 * 2**62, 1]


@pytest.mark.parametrize("scale", [1, 2**58])
def test_unions_of_damaged_times_are_exact_too(scale: int) -> None:
    group, start, length = np.array([0, 1, 0, 1, 2]), np.array([0, 0, 8, 15, 3]), np.array([9, 4, 9, 1, 0])
    assert group_unions(group, start * scale, length * scale, 3).tolist() == [17 * scale, 5 * scale, 0]
