"""Rows on which no two slices cross."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rblnpb.lanes
from rblnpb.lanes import crossing, lanes, one_line
from tests.support.row_oracle import Slice, crosses, slow_lanes


def lanes_of(*slices: Slice) -> list[int]:
    track, start, duration = np.array(slices, np.int64).reshape(-1, 3).T
    return list(lanes(track.astype(np.int32), start, duration).tolist())


def test_a_slice_that_starts_inside_of_another_and_ends_after_it_gets_a_row_of_its_own() -> None:
    assert lanes_of((0, 0, 10), (0, 5, 10)) == [0, 1]


def test_slices_inside_of_others_or_beside_them_stay() -> None:
    assert lanes_of((0, 0, 10), (0, 0, 10), (0, 2, 8), (0, 2, 3), (0, 5, 5), (0, 10, 5)) == [0, 0, 0, 0, 0, 0]


def test_only_slices_that_cross_move_and_not_their_children() -> None:
    assert lanes_of((0, 0, 10), (0, 5, 10), (0, 6, 2), (0, 11, 2)) == [0, 1, 0, 0]


def test_a_child_that_crosses_too_moves_with_its_parent() -> None:
    assert lanes_of((0, 0, 10), (0, 5, 10), (0, 6, 8)) == [0, 1, 1]


def test_a_third_row_is_made_when_two_do_not_do() -> None:
    assert lanes_of((0, 0, 10), (0, 1, 10), (0, 2, 10)) == [0, 1, 2]


def test_slices_that_all_cross_each_other_take_time_in_proportion() -> None:
    count = 20_000
    start = np.arange(count)

    assert lanes(np.zeros(count, np.int32), start, np.full(count, count)).tolist() == start.tolist()


def test_slices_between_two_that_cross_are_not_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    first_fit = rblnpb.lanes._first_fit

    def counted(starts: list[int], ends: list[int]) -> list[int]:
        taken.append(len(starts))
        return first_fit(starts, ends)

    monkeypatch.setattr(rblnpb.lanes, "_first_fit", counted)
    between = [(0, 10 * at, 7) for at in range(1, 500)]

    assert lanes_of((0, 0, 5001), (0, 3, 6000), *between) == [0, 1] + [0] * 499
    assert lanes_of((0, 0, 4989), *between, (0, 4988, 2)) == [0] * 499 + [0, 1]
    assert taken == [2, 2]


@pytest.mark.parametrize("is_sorted", [True, False])
def test_a_slice_around_all_others_does_not_make_them_take_more_memory(is_sorted: bool) -> None:
    count = 1_500_000
    start = np.arange(count) * 10 if is_sorted else np.arange(count)[::-1] * 10
    duration = np.full(count, 9)
    duration[np.argmin(start)] = 10 * count
    track = np.zeros(count, np.int32)
    tracemalloc.start()
    lane = lanes(track, start, duration)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert not lane.any()
    assert peak_bytes < 50 * count


def test_tracks_do_not_see_each_other() -> None:
    assert lanes_of((0, 0, 10), (1, 5, 10)) == [0, 0]


def test_an_empty_slice_crosses_nothing() -> None:
    assert lanes_of((0, 0, 10), (0, 10, 0), (0, 5, 0), (0, 5, 0)) == [0, 0, 0, 0]


def test_no_slices_no_lanes() -> None:
    assert lanes_of() == []


few_slices = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 8)), max_size=14)


@given(few_slices, st.sampled_from([1, 3, 1 << 17]), st.sampled_from([1, 4, 1 << 13]))
def test_columns_agree_with_the_slow_way(slices: list[Slice], batch: int, few: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rblnpb.lanes, "_BATCH", batch)
        patch.setattr(rblnpb.lanes, "_FEW", few)

        assert lanes_of(*slices) == slow_lanes(slices)


@given(few_slices)
def test_times_too_far_apart_for_one_line_are_told_by_rank(slices: list[Slice]) -> None:
    far = [(track * 1000, start * 2**50, duration * 2**50) for track, start, duration in slices]

    assert lanes_of(*far) == slow_lanes(slices)


@given(few_slices, st.sampled_from([(1, 1), (1000, 2**50)]))
def test_of_two_slices_that_cross_the_later_one_is_told(slices: list[Slice], apart: tuple[int, int]) -> None:
    track, start, duration = np.array(slices, np.int64).reshape(-1, 3).T
    found = crossing(track * apart[0], start * apart[1], (start + duration) * apart[1])

    assert found.tolist() == [any(one[0] == own[0] and one[1] < own[1] and crosses(own, one) for one in slices) for own in slices]


def test_one_line_keeps_equal_moments_equal() -> None:
    line = one_line(np.array([0, 1, 1, 0]), np.array([5, 0, 0, 7]))

    assert line[1] == line[2]
    assert line[0] < line[3] < line[1]
