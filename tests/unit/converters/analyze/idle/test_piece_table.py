"""Pieces of gaps that are kept in few bytes come back as they were, of all gaps or of some."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from rblnpb.converters.analyze.idle.gaps import Gaps
from rblnpb.converters.analyze.idle.piece_table import GapPieces, PieceTable
from rblnpb.converters.results import CAUSES, STEPS

NAMES = ("", "a", "b")
LAST_CAUSE, LAST_STEP = len(CAUSES) - 1, len(STEPS) - 1
ROWS = [(0, 5, 9, 0, -1, 2), (1, -3, 0, LAST_CAUSE, LAST_STEP, 1), (1, 0, 4, 2, 0, 0), (2, 10, 11, 1, -1, 0), (2, 11, 15, 3, 1, 2)]
"""Gap, start, end, cause, step, name."""


def table() -> PieceTable:
    start, end = np.array([5, -3, 10]), np.array([9, 4, 15])
    gaps = Gaps(np.zeros(3, np.int64), start, end, np.zeros(3, np.int64), np.zeros(3, np.int64))
    return PieceTable(gaps, NAMES, lambda low, high: columns(row for row in ROWS if low <= row[0] < high))


def columns(rows: Iterable[tuple[int, ...]]) -> GapPieces:
    gap, start, end, cause, step, name = np.array(list(rows), np.int64).reshape(-1, 6).T
    return GapPieces(gap, start, end, cause, step, name, NAMES)


def told(pieces: GapPieces) -> list[tuple[int, ...]]:
    made = (pieces.gap, pieces.start_ns, pieces.end_ns, pieces.cause, pieces.step, pieces.name)
    return list(zip(*(column.tolist() for column in made), strict=True))


@pytest.mark.parametrize("block", [1, 2, 3])
def test_blocks_have_all_pieces(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PieceTable, "BLOCK", block)
    found = table()
    assert len(found) == len(ROWS)
    assert [row for pieces in found.blocks() for row in told(pieces)] == ROWS


def test_pieces_of_some_gaps_are_told_by_the_places_of_these() -> None:
    renamed = {2: 0, 0: 1}
    expected = [(renamed[row[0]], *row[1:]) for gap in (2, 0) for row in ROWS if row[0] == gap]
    assert told(table().of(np.array([2, 0]))) == expected


def test_no_gap_has_no_pieces() -> None:
    assert told(table().of(np.empty(0, np.int64))) == []
