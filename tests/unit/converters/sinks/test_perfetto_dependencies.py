"""Which arrows leave and reach each slice, found block by block."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from rblnpb.column_arrays import row_blocks
from rblnpb.converters.sinks import _perfetto_dependencies
from rblnpb.converters.sinks._perfetto_dependencies import Dependencies


@pytest.mark.parametrize("size", [1, 3, 100])
def test_arrows_of_a_slice_come_in_their_order_whatever_blocks_they_are_in(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_perfetto_dependencies, "row_blocks", partial(row_blocks, size=size))
    source = np.array([4, 0, 4, 2, 0, 0, 4, 1, 2, 4])
    target = np.array([0, 0, 1, 1, 1, 3, 3, 4, 4, 4])
    arrows = Dependencies(np.arange(5), np.ones(5, np.int64), source, target, 1)
    rows = np.array([4, 3, 0, 2])
    for found, ends in ((arrows.leaving(rows), source), (arrows.arriving(rows), target)):
        expected = [np.flatnonzero(ends == row).tolist() for row in rows.tolist()]
        assert found[1].tolist() == [len(own) for own in expected]
        assert found[0].tolist() == [at for own in expected for at in own]


def test_without_arrows_none_is_found() -> None:
    nothing = np.empty(0, np.int64)
    found = Dependencies(np.arange(2), np.ones(2, np.int64), nothing, nothing, 1).leaving(np.array([0, 1]))
    assert (found[0].tolist(), found[1].tolist()) == ([], [0, 0])
