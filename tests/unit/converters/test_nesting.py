"""Which slice lies in which."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.nesting import enclosing, latest, nearest, nest, partners


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


def test_the_innermost_wanted_row_is_looked_for_outwards() -> None:
    parent = np.array([-1, 0, 1, 2, -1], np.int64)
    wanted = np.array([True, False, False, False, False])
    assert nearest(parent, wanted).tolist() == [0, 0, 0, 0, -1]


def test_a_wanted_row_is_its_own_answer() -> None:
    assert nearest(np.array([-1, 0, 1], np.int64), np.array([True, True, False])).tolist() == [0, 1, 1]


def test_the_latest_row_of_a_group_is_of_no_other_group() -> None:
    group, time = np.array([1, 2, 1], np.int64), np.array([5, 3, 9], np.int64)
    asked = np.array([1, 1, 1, 2, 3], np.int64), np.array([4, 5, 99, 99, 99], np.int64)
    assert latest(group, time, *asked).tolist() == [-1, 0, 2, 1, -1]


def test_of_rows_of_one_time_the_latest_is_the_last() -> None:
    same = np.zeros(3, np.int64)
    assert latest(same, same, same[:1], same[:1]).tolist() == [2]


def test_among_no_rows_there_is_no_latest() -> None:
    nothing = np.empty(0, np.int64)
    assert latest(nothing, nothing, np.zeros(2, np.int64), np.zeros(2, np.int64)).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("stretch", "found"),
    [((0, 1), 0), ((12, 13), 1), ((12, 25), 0), ((49, 51), 0), ((50, 51), 0), ((99, 101), -1), ((100, 101), -1)],
)
def test_a_stretch_lies_in_the_innermost_slice_that_holds_all_of_it(stretch: tuple[int, int], found: int) -> None:
    lane, start, end = np.zeros(3, np.int64), np.array([0, 10, 22], np.int64), np.array([100, 20, 50], np.int64)
    begin, stop = (np.array([value], np.int64) for value in stretch)
    assert enclosing(lane, start, end, nest(lane, start, end), lane[:1], begin, stop).tolist() == [found]


brackets = st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 1), st.integers(0, 3), st.booleans()), max_size=14)


@given(brackets)
def test_a_begin_and_its_end_are_those_of_a_stack(events: list[tuple[int, int, int, bool]]) -> None:
    stacks: dict[tuple[int, int], list[int]] = {}
    expected = [-1] * len(events)
    for row in sorted(range(len(events)), key=lambda row: events[row][2]):
        stack = stacks.setdefault(events[row][:2], [])
        if events[row][3]:
            stack.append(row)
        elif stack:
            begin = stack.pop()
            expected[begin], expected[row] = row, begin
    thread, name, time_ns, is_begin = np.array(events, np.int64).reshape(-1, 4).T

    assert partners(is_begin == 1, time_ns, thread.astype(np.int32), name).tolist() == expected
