"""Which slice lies in which."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.nesting import nest


def callers(*spans: tuple[int, int], lanes: tuple[int, ...] | None = None) -> list[int]:
    """The caller of each (start, end), rows in order of their start."""
    start, end = np.array(spans, np.int64).reshape(-1, 2).T
    found: list[int] = nest(np.array(lanes or [0] * len(spans), np.int64), start, end).tolist()
    return found


def test_the_innermost_open_slice_is_the_caller() -> None:
    assert callers((0, 100), (10, 50), (20, 30), (60, 90)) == [-1, 0, 1, 0]


def test_equal_slices_nest_in_their_order() -> None:
    assert callers((0, 10), (0, 10), (0, 10)) == [-1, 0, 1]


def test_a_slice_that_begins_where_another_ends_is_beside_it() -> None:
    assert callers((0, 10), (10, 20)) == [-1, -1]


@pytest.mark.parametrize(("at", "caller"), [(0, 0), (5, 0), (10, -1)])
def test_an_empty_slice_lies_in_what_holds_its_moment(at: int, caller: int) -> None:
    assert callers((0, 10), (at, at))[1] == caller


def test_empty_slices_at_one_moment_do_not_nest() -> None:
    assert callers((0, 10), (5, 5), (5, 5)) == [-1, 0, 0]


def test_a_crossing_slice_closes_the_one_it_crosses() -> None:
    assert callers((0, 10), (5, 15), (7, 9), (12, 14)) == [-1, -1, 1, 1]


def test_what_crosses_inside_a_caller_stays_inside_it() -> None:
    assert callers((0, 100), (10, 20), (15, 30), (16, 18)) == [-1, 0, 0, 2]


def test_lanes_do_not_see_each_other() -> None:
    assert callers((0, 100), (0, 100), (10, 20), (10, 20), lanes=(3, 1, 3, 1)) == [-1, -1, 0, 1]


def test_depth_costs_no_recursion() -> None:
    depth = 5000
    spans = tuple((level, 2 * depth - level) for level in range(depth))
    assert callers(*spans) == [level - 1 for level in range(depth)]


def test_of_nothing_there_is_nothing() -> None:
    assert callers() == []
