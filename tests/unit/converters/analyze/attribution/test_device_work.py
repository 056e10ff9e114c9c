"""The work of devices as stacks weigh it."""

from __future__ import annotations

import numpy as np

from rblnpb.converters.analyze.attribution.device_work import busy_parts, device_work
from tests.support.attribution_oracle import Work, merged


def parts(*spans: tuple[int, int]) -> list[int]:
    start, duration = np.array(spans, np.int64).reshape(-1, 2).T
    found: list[int] = busy_parts(start, duration).tolist()
    return found


def test_a_moment_belongs_to_what_began_first() -> None:
    assert parts((0, 10), (2, 18), (5, 10)) == [10, 10, 0]


def test_of_what_begins_together_the_first_row_is_the_first() -> None:
    assert parts((0, 4), (0, 9)) == [4, 5]


def test_nothing_belongs_to_what_is_empty() -> None:
    assert parts((5, 0), (0, 10), (20, 0)) == [0, 10, 0]
    assert parts() == []


def test_waits_are_no_work() -> None:
    found = device_work(merged(None, [Work(0, 5, is_work=False), Work(7, 5, rule=6)]), np.array([-1]), np.empty(0, np.int64))
    assert (found.row.tolist(), found.duration_ns.tolist(), found.op.tolist(), found.rule.tolist()) == ([1], [5], [-1], [6])
