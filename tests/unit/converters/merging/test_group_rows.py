"""Numbers of groups, and the turns of rows in theirs, as a walk over the rows tells them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.merging.group_rows import group_numbers, ranges, turns

ROWS = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2), st.integers(0, 3)), max_size=20)


@given(ROWS)
def test_rows_that_are_equal_have_one_number(rows: list[tuple[int, int, int]]) -> None:
    first, second, _ = np.array(rows, np.int64).reshape(-1, 3).T
    distinct = sorted({row[:2] for row in rows})
    assert group_numbers(first, second.astype(np.uint64)).tolist() == [distinct.index(row[:2]) for row in rows]


@given(ROWS)
def test_a_turn_counts_the_rows_of_the_group_that_come_before(rows: list[tuple[int, int, int]]) -> None:
    first, second, by = np.array(rows, np.int64).reshape(-1, 3).T
    for order, found in ((range(len(rows)), turns(first, second)), (np.argsort(by, kind="stable"), turns(first, second, by=by))):
        seen: Counter[tuple[int, ...]] = Counter()
        expected = [0] * len(rows)
        for row in order:
            expected[row] = seen[rows[row][:2]]
            seen[rows[row][:2]] += 1
        assert found.tolist() == expected


def test_a_group_without_rows_has_no_range() -> None:
    least, most = ranges(np.array([2, 0, 2]), np.array([5, 1, -5]), 3)
    assert ((least <= most).tolist(), least[[0, 2]].tolist(), most[[0, 2]].tolist()) == ([True, False, True], [1, -5], [1, 5])
