"""Stacks, each distinct one once."""

from __future__ import annotations

import numpy as np

from rblnpb.converters.analyze.attribution.stacks import Stacks, add_leaves, distinct_stacks


def stacked(*rows: tuple[int, int], kept: str | None = None) -> Stacks:
    """Stacks of rows (caller, frame); `kept` has a letter a row, "-" for what is no part of a stack."""
    parent, frame = np.array(rows, np.int64).reshape(-1, 2).T
    return distinct_stacks(parent, frame, np.array([letter != "-" for letter in kept or "+" * len(rows)], np.bool_))


def paths(stacks: Stacks) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    for parent, frame in zip(stacks.parent.tolist(), stacks.frame.tolist(), strict=True):
        found.append(((*found[parent],) if parent >= 0 else ()) + (frame,))
    return found


def test_rows_with_the_same_frames_around_them_have_one_stack() -> None:
    found = stacked((-1, 9), (0, 5), (0, 5), (1, 7), (2, 7), (2, 8))
    assert paths(found) == [(9,), (9, 5), (9, 5, 7), (9, 5, 8)]
    assert found.of_row.tolist() == [0, 1, 1, 2, 2, 3]


def test_the_same_frame_below_another_is_another_stack() -> None:
    assert paths(stacked((-1, 1), (0, 2), (0, 3), (1, 4), (2, 4))) == [(1,), (1, 2), (1, 3), (1, 2, 4), (1, 3, 4)]


def test_what_is_not_kept_has_the_stack_of_its_caller() -> None:
    found = stacked((-1, 1), (0, 2), (1, 3), (2, 4), kept="+--+")
    assert (paths(found), found.of_row.tolist()) == ([(1,), (1, 4)], [0, 0, 0, 1])


def test_callers_need_not_stand_first() -> None:
    assert stacked((2, 5), (2, 5), (-1, 1)).of_row.tolist() == [1, 1, 0]


def test_of_nothing_there_are_no_stacks() -> None:
    assert len(stacked()) == 0


def test_leaves_come_after_the_stacks_that_were_there() -> None:
    found = add_leaves(stacked((-1, 1), (0, 2)), np.array([1, -1, 1, 0]), np.array([7, 7, 7, 2]))
    assert paths(found) == [(1,), (1, 2), (7,), (1, 2), (1, 2, 7)]
    assert found.of_row.tolist() == [4, 2, 4, 3]
