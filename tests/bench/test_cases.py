"""Every bench runs, and its sides come to the same: a fast way to a wrong result is no fast way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.case import Case, Process, same
from tests.bench.cases import CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_sides_of_a_bench_find_the_same(case: Case, tmp_path: Path) -> None:
    work = case.set_up(case.tiny, tmp_path)
    # Twice, as a bench repeats it: no side may live on what an earlier turn left. A process leaves nothing.
    results = {
        name: [side.found(side.run()) for _ in range(1 if isinstance(side.run, Process) else 2)]
        for name, side in work.sides().items()
    }
    work.figures(work.ours.run())

    ours = results.pop("ours")
    assert same(ours[0], ours[-1])
    assert [name for name, found in results.items() if not all(same(one, ours[0]) for one in found)] == []
