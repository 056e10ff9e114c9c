"""Which record is innermost, and stretches cut where that changes."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.analyze.idle.coverage import Coverage, Cutter, Stretches


def coverage(*rows: tuple[int, int, int]) -> Coverage:
    """Records, each (lane, start, end)."""
    lane, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return Coverage.of(lane, start, end)


def stretch(start: int, end: int) -> Stretches:
    return Stretches(np.array([0]), np.array([start]), np.array([end]))


def cut(one: Coverage, lane: int, start: int, end: int) -> list[tuple[int, int, int]]:
    """Pieces of one stretch, each (start, end, owner)."""
    pieces = one.cut(np.array([lane]), stretch(start, end))
    columns = (pieces.stretches.start_ns, pieces.stretches.end_ns, pieces.owner)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize(
    ("rows", "pieces"),
    [
        ([], [(0, 100, -1)]),
        ([(0, 20, 30)], [(0, 20, -1), (20, 30, 0), (30, 100, -1)]),
        ([(0, -5, 500)], [(0, 100, 0)]),
        ([(0, 0, 100)], [(0, 100, 0)]),
        ([(0, 100, 200)], [(0, 100, -1)]),
        ([(0, 20, 20)], [(0, 100, -1)]),
        ([(1, 20, 30)], [(0, 100, -1)]),
        ([(0, 20, 80), (0, 40, 60)], [(0, 20, -1), (20, 40, 0), (40, 60, 1), (60, 80, 0), (80, 100, -1)]),
        ([(0, 40, 60), (0, 20, 80)], [(0, 20, -1), (20, 40, 1), (40, 60, 0), (60, 80, 1), (80, 100, -1)]),
        ([(0, 20, 60), (0, 40, 80)], [(0, 20, -1), (20, 40, 0), (40, 80, 1), (80, 100, -1)]),
        ([(0, 20, 80), (0, 20, 80)], [(0, 20, -1), (20, 80, 1), (80, 100, -1)]),
        ([(0, 20, 50), (0, 50, 80)], [(0, 20, -1), (20, 50, 0), (50, 80, 1), (80, 100, -1)]),
    ],
    ids=[
        *("nothing", "inside", "around", "equal", "behind", "empty", "other-lane", "nested", "nested-in-any-order"),
        *("crossing", "twice", "one-by-one"),
    ],
)
def test_a_stretch_is_cut_where_the_innermost_record_changes(
    rows: list[tuple[int, int, int]], pieces: list[tuple[int, int, int]]
) -> None:
    assert cut(coverage(*rows), 0, 0, 100) == pieces


def test_what_is_covered_and_what_is_not_are_all_pieces() -> None:
    pieces = coverage((3, 20, 30)).cut(np.array([3]), stretch(10, 40))
    covered, owner = pieces.covered()
    assert (covered.start_ns.tolist(), covered.end_ns.tolist(), owner.tolist()) == ([20], [30], [0])
    assert pieces.uncovered().start_ns.tolist() == [10, 30]


@pytest.mark.parametrize(("moment", "before", "after"), [(-5, 0, 1), (0, 0, 1), (4, 1, 1), (10, 1, 0), (15, 1, 0)])
def test_a_split_leaves_no_empty_stretch(moment: int, before: int, after: int) -> None:
    parts = stretch(0, 10).split(np.array([moment]))
    assert [len(part) for part in parts] == [before, after]


def test_stretches_join_with_their_gaps() -> None:
    joined = stretch(0, 10).joined(Stretches(np.array([4]), np.array([20]), np.array([30])))
    assert (joined.gap.tolist(), joined.start_ns.tolist(), joined.end_ns.tolist()) == ([0, 4], [0, 20], [10, 30])


def test_many_tables_of_stretches_are_cut_by_one_cutter_whatever_their_lanes_are() -> None:
    lowest, highest = np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max
    lane, start, end = np.array([(-1, lowest, 5), (3, 0, 4), (3, highest - 2, highest)], np.int64).T
    cutter = Cutter(Coverage.of(lane, start, end))
    for of_lane, begin, stop, expected in (
        (-1, lowest, 9, [(lowest, 5, 0), (5, 9, -1)]),
        (0, 1, 2, [(1, 2, -1)]),
        (3, -5, 2, [(-5, 0, -1), (0, 2, 1)]),
        (3, 3, highest, [(3, 4, 1), (4, highest - 2, -1), (highest - 2, highest, 2)]),
        (4, 1, 2, [(1, 2, -1)]),
    ):
        found = cutter.cut(np.array([of_lane]), Stretches(np.array([7]), np.array([begin]), np.array([stop])))
        pieces = (found.stretches.start_ns, found.stretches.end_ns, found.owner)
        assert list(zip(*(column.tolist() for column in pieces), strict=True)) == expected
        assert set(found.stretches.gap.tolist()) == {7}
