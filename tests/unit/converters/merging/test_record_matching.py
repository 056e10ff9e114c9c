"""Which record of one table is which of another, when their places are known."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.merging.record_matching import Records, are_alike, nearest_pairs


def records(*rows: tuple[int, int, int]) -> Records:
    """Each (key, start, duration)."""
    return Records(*np.array(rows, np.int64).reshape(-1, 3).T)


def pairs(own: Records, other: Records, tolerance: int = 10) -> list[tuple[int, int]]:
    found, partner = nearest_pairs(own, own.start, other, tolerance)
    return sorted(zip(found.tolist(), partner.tolist(), strict=True))


def test_each_has_the_nearest_of_its_name() -> None:
    own = records((1, 100, 5), (2, 100, 5), (1, 200, 5))
    other = records((2, 103, 5), (1, 198, 5), (1, 102, 5), (1, 150, 5))
    assert pairs(own, other) == [(0, 2), (1, 0), (2, 1)]


def test_what_is_too_far_or_of_another_name_is_no_partner() -> None:
    assert pairs(records((1, 100, 5), (2, 300, 5)), records((1, 111, 5), (3, 300, 5))) == []


def test_one_has_one_partner_the_nearer_of_two() -> None:
    assert pairs(records((1, 98, 5), (1, 101, 5)), records((1, 100, 5))) == [(1, 0)]


def test_the_second_nearest_is_taken_when_the_nearest_is() -> None:
    own, other = records((1, 100, 5), (1, 101, 5)), records((1, 100, 5), (1, 107, 5))
    assert pairs(own, other) == [(0, 0), (1, 1)]


def test_neighbours_of_one_name_are_told_by_their_length() -> None:
    own, other = records((1, 100, 900)), records((1, 97, 100), (1, 106, 900))
    assert pairs(own, other) == [(0, 1)]


def test_records_of_one_name_and_one_moment_pair_by_their_order_of_length() -> None:
    own = records((1, 100, 30), (1, 100, 10), (1, 100, 20), (1, 100, 40))
    other = records((1, 101, 10), (1, 101, 40), (1, 101, 30), (1, 101, 20))
    assert pairs(own, other) == [(0, 2), (1, 0), (2, 3), (3, 1)]


def test_of_equal_records_the_order_decides() -> None:
    assert pairs(records(*[(1, 5, 7)] * 3), records(*[(1, 5, 7)] * 3)) == [(0, 0), (1, 1), (2, 2)]


def test_of_nothing_nothing_pairs() -> None:
    assert pairs(records(), records((1, 0, 0))) == pairs(records((1, 0, 0)), records()) == []


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"), [(0, 1000, True), (0, 1001, False), (640_000, 651_000, True), (640_000, 660_000, False)]
)
def test_durations_may_differ_by_a_microsecond_and_a_little(mine: int, theirs: int, expected: bool) -> None:
    assert are_alike(np.array([mine]), np.array([theirs])).tolist() == [expected]
