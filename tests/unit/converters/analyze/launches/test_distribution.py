"""Sums are exact, percentiles are values that occurred."""

from __future__ import annotations

import numpy as np

from rblnpb.converters.analyze.launches.distribution import distribution, distributions
from rblnpb.converters.results import Distribution


def test_percentiles_are_nearest_ranks() -> None:
    values = np.arange(1, 101)
    found = distribution(values[::-1].copy())
    assert found == Distribution(100, 5_050, 51, 1, 50, 90, 99, 100)


def test_a_single_value_is_every_percentile() -> None:
    assert distribution(np.array([7])) == Distribution(1, 7, 7, 7, 7, 7, 7, 7)


def test_of_nothing_there_is_no_value() -> None:
    assert distribution(np.empty(0, np.int64)) == Distribution(0, 0, *[None] * 6)


def test_groups_have_their_own() -> None:
    found = distributions(np.array([3, 9, 1, 5]), np.array([0, 2, 0, 0]), 3)
    assert found == (Distribution(3, 9, 3, 1, 3, 5, 5, 5), Distribution(0, 0, *[None] * 6), Distribution(1, 9, 9, 9, 9, 9, 9, 9))


def test_halves_are_rounded_up() -> None:
    assert distribution(np.array([1, 2])).mean_ns == 2


def test_sums_may_be_larger_than_64_bits() -> None:
    assert distribution(np.array([2**62, 2**62, 2**62])).sum_ns == 3 * 2**62
