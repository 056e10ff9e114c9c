"""Causes summed up, and how far clocks may move their borders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.idle.cause_times import cause_times, clock_uncertainty_ns, gap_parts
from rblnpb.converters.analyze.idle.gaps import Gaps
from rblnpb.converters.analyze.idle.piece_table import GapPieces
from rblnpb.converters.results import CAUSES, STEPS, CauseTime, NamedTime
from rblnpb.converters.timeline import ClockQuality
from tests.support.timelines import host_trace, timeline


def gaps(*rows: tuple[int, int, int]) -> Gaps:
    """Gaps, each (lane, start, end)."""
    lane, start, end = np.array(rows, np.int64).reshape(-1, 3).T
    return Gaps(lane, start, end, lane * 0, lane * 0)


def pieces(*rows: tuple[int, int, int, str, str, int]) -> GapPieces:
    """Pieces, each (gap, start, end, cause, step, name); names are "", "a" and "b"."""
    codes = [
        (gap, start, end, list(CAUSES).index(cause), list(STEPS).index(step) if step else -1, name)
        for gap, start, end, cause, step, name in rows
    ]
    gap, start, end, cause, step, name = np.array(codes, np.int64).reshape(-1, 6).T
    return GapPieces(gap, start, end, cause, step, name, ("", "a", "b"))


def summed(of: Gaps, found: GapPieces, *uncertainty_ns: int | None) -> dict[int, tuple[CauseTime, ...]]:
    return cause_times(of, [found], gap_parts(of, found), uncertainty_ns)


def test_pieces_are_summed_by_cause_step_and_name() -> None:
    found = pieces(
        (0, 0, 10, "waiting-for-host", "before-op", 1),
        (0, 10, 14, "runtime", "", 2),
        (0, 14, 20, "waiting-for-host", "inside-op", 2),
        (1, 30, 33, "waiting-for-host", "inside-op", 2),
    )
    assert summed(gaps((0, 0, 20), (0, 30, 33)), found, 0) == {
        0: (
            CauseTime("runtime", 4, 1, 0, {}, (NamedTime("b", 4),)),
            CauseTime("waiting-for-host", 19, 2, 0, {"before-op": 10, "inside-op": 9}, (NamedTime("a", 10), NamedTime("b", 9))),
        )
    }


def test_each_lane_has_its_own_causes() -> None:
    found = pieces((0, 0, 10, "unknown", "", 1), (1, 5, 7, "unknown", "", 0))
    assert summed(gaps((0, 0, 10), (3, 5, 7)), found, None, None, None, None) == {
        0: (CauseTime("unknown", 10, 1, None, {}, (NamedTime("a", 10),)),),
        3: (CauseTime("unknown", 2, 1, None, {}, (NamedTime("", 2),)),),
    }


def test_without_gaps_there_are_no_causes() -> None:
    assert summed(gaps(), pieces(), 5) == {}


@pytest.mark.parametrize(
    ("cause", "start", "end", "is_uncertain"),
    [
        ("runtime", 0, 6, True),
        ("runtime", 2, 6, False),
        ("runtime", 6, 10, True),
        ("submission", 6, 10, True),
        ("queue-empty", 0, 10, True),
        ("dependency", 0, 6, False),
        ("unknown", 0, 6, False),
        ("short", 0, 10, False),
    ],
)
def test_a_border_between_host_and_device_time_is_as_uncertain_as_the_clocks(
    cause: str, start: int, end: int, is_uncertain: bool
) -> None:
    rest = [(0, at, until, "unknown", "", 0) for at, until in ((0, start), (end, 10)) if at < until]
    found = pieces((0, start, end, cause, "", 0), *(row for row in rest if cause != "unknown"))
    (own,) = (one for one in summed(gaps((0, 0, 10)), found, 7)[0] if one.cause == cause)
    assert own.uncertainty_ns == (7 if is_uncertain else 0)


def clock(name: str, residual_ns: int, uncertainty_ns: int) -> ClockQuality:
    return ClockQuality(name, 2, residual_ns, uncertainty_ns, 0.0, 0, 0)


CLOCKS = (clock("host real time", 10, 20), clock("rbln:0", 1, 2), clock("rbln:1", 3, 5))


@pytest.mark.parametrize(
    ("device", "clocks", "with_host", "expected"),
    [
        ("rbln:0", CLOCKS, False, 3),
        ("rbln:1", CLOCKS, False, 8),
        ("another", CLOCKS, False, 8),
        ("rbln:0", CLOCKS, True, 33),
        ("rbln:0", CLOCKS[1:], True, 3),
        ("rbln:0", CLOCKS[:1], True, None),
        ("rbln:0", (), False, None),
    ],
)
def test_the_clocks_involved_are_those_of_the_device_and_of_the_host_trace(
    device: str, clocks: Any, with_host: bool, expected: int | None
) -> None:
    assert clock_uncertainty_ns(timeline(host_trace() if with_host else None, clocks=clocks), device) == expected
