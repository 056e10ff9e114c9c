"""Stacks by the frames that are in them."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.analyze.attribution import frame_groups
from rblnpb.converters.analyze.attribution.frame_groups import FrameGroups, GroupedRows
from rblnpb.converters.analyze.attribution.stacks import Stacks

CHAIN = Stacks(np.array([-1, 0, 1, 0]), np.array([0, 1, 0, 2]), np.empty(0, np.int64))
"""Four stacks: 0; 0 > 1; 0 > 1 > 0; 0 > 2."""


def grouped(stack: list[int], is_around: str = "++++") -> GroupedRows:
    around = np.array([letter == "+" for letter in is_around], np.bool_)
    return FrameGroups(CHAIN, CHAIN.frame, around, 3).rows(np.array(stack, np.int64))


def test_a_total_counts_a_frame_that_called_itself_once() -> None:
    assert grouped([2, 2, 3]).sums(np.array([1, 10, 100])) == ([11, 0, 100], [111, 11, 100])


def test_what_is_not_around_has_only_its_own() -> None:
    assert grouped([2, 3, 0], "-+++").sums(np.array([1, 10, 100])) == ([101, 0, 10], [101, 1, 10])


def test_sums_are_exact_whatever_their_size() -> None:
    assert grouped([2, 2, 2]).sums(np.full(3, 1 << 62)) == ([3 << 62, 0, 0], [3 << 62, 3 << 62, 0])


@pytest.mark.parametrize("at_once", [1, 1 << 22])
def test_unions_count_a_moment_once_in_each_group(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_groups, "_STRETCHES_AT_ONCE", at_once)
    start, end = np.array([0, 5, 8, 30]), np.array([10, 12, 20, 31])
    assert grouped([1, 1, 3, 2]).unions(start, end) == ([1, 12, 12], [21, 13, 12])


def test_of_no_rows_there_is_nothing() -> None:
    rows = grouped([])
    assert rows.sums(np.empty(0, np.int64)) == rows.unions(np.empty(0, np.int64), np.empty(0, np.int64)) == ([0] * 3, [0] * 3)
