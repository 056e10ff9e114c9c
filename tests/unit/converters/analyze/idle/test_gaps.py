"""Where gaps lie: between which slices, in which calls, behind which predecessors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.idle.gaps import Gaps, Predecessors, gaps_between, inside_calls
from rblnpb.converters.analyze.idle.occupancy import device_calls, ordered_work
from rblnpb.converters.timeline import SliceDependencies, Timeline, Track
from tests.support.timelines import launches, slices, timeline

TRACKS = tuple(Track(device, "Task DMA", "task_dma", is_work=True, order=0) for device in ("rbln:0", "rbln:1"))


def of(*rows: dict[str, Any], edges: tuple[tuple[int, int], ...] = ()) -> Timeline:
    before, after = np.array(edges, np.int64).reshape(-1, 2).T
    launched = launches({"start": 0}, {"start": 0})
    return timeline(slices=slices(*rows), launches=launched, tracks=TRACKS, dependencies=SliceDependencies(before, after))


def gaps(one: Timeline) -> Gaps:
    work = ordered_work(one)
    return gaps_between(work, work.device)


def spans(found: Gaps) -> list[tuple[int, int]]:
    return list(zip(found.start_ns.tolist(), found.end_ns.tolist(), strict=True))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], []),
        ([(0, 5)], []),
        ([(0, 5), (5, 5)], []),
        ([(0, 5), (7, 5)], [(5, 7)]),
        ([(7, 5), (0, 5)], [(5, 7)]),
        ([(0, 20), (3, 4), (25, 1)], [(20, 25)]),
        ([(0, 5), (8, 0), (9, 1)], [(5, 8), (8, 9)]),
    ],
    ids=["none", "one", "touching", "two", "any-order", "around", "empty-slice"],
)
def test_a_gap_is_what_no_slice_covers(rows: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    assert spans(gaps(of(*({"start": start, "duration": length} for start, length in rows)))) == expected


def test_a_gap_lies_between_the_slice_that_ended_last_and_the_one_that_begins() -> None:
    rows = ({"start": 0, "duration": 20}, {"start": 3, "duration": 4}, {"start": 25, "duration": 1}, {"start": 25, "duration": 9})
    found = gaps(of(*rows))
    assert (found.after.tolist(), found.before.tolist()) == ([0], [2])


def test_of_slices_that_begin_together_one_with_a_launch_ends_the_gap() -> None:
    one = of({"start": 0, "duration": 2}, {"start": 5, "duration": 1, "launch": -1}, {"start": 5, "duration": 1, "launch": 1})
    work = ordered_work(one)
    assert work.row[gaps_between(work, work.device).before].tolist() == [2]


def test_each_device_has_its_own_gaps() -> None:
    rows = [{"start": start, "duration": 1, "track": track} for start in (0, 10) for track in (1, 0)]
    found = gaps(of(*rows))
    assert (found.lane.tolist(), spans(found)) == ([0, 1], [(1, 10), (1, 10)])


def test_a_gap_lies_in_a_call_that_began_before_it_and_ends_behind_it() -> None:
    rows = (
        {"start": 0, "duration": 1, "launch": 0},
        {"start": 10, "duration": 1, "launch": 0},
        {"start": 20, "duration": 1, "launch": 1},
    )
    one = of(*rows)
    work = ordered_work(one)
    assert inside_calls(gaps(one), work, device_calls(one, work)).tolist() == [True, False]


def test_the_call_may_be_another_than_those_beside_the_gap() -> None:
    slices_of = [{"start": start, "duration": 1, "launch": launch} for start, launch in ((0, 0), (5, 1), (10, 1), (20, 0))]
    one = of(*slices_of, {"start": 22, "duration": 1, "launch": -1})
    work = ordered_work(one)
    assert inside_calls(gaps(one), work, device_calls(one, work)).tolist() == [True, True, True, False]


def test_without_calls_no_gap_lies_in_one() -> None:
    one = of({"start": 0, "duration": 1}, {"start": 9, "duration": 1})
    work = ordered_work(one)
    assert inside_calls(gaps(one), work, device_calls(one, work)).tolist() == [False]


def test_the_predecessor_that_ended_last_is_found() -> None:
    rows = (
        {"start": 0, "duration": 5},
        {"start": 0, "duration": 9, "track": 1, "launch": 0},
        {"start": 20, "duration": 1, "launch": 0},
    )
    one = of(*rows, edges=((1, 2), (0, 2), (2, 0)))
    found = Predecessors(one).ends(ordered_work(one), gaps(one))
    assert (found.predecessor.tolist(), found.end_ns.tolist(), found.is_same_call.tolist()) == ([1], [9], [True])


def test_without_a_predecessor_there_is_nothing_to_wait_for() -> None:
    one = of({"start": 0, "duration": 5}, {"start": 20, "duration": 1}, edges=((1, 0),))
    found = Predecessors(one).ends(ordered_work(one), gaps(one))
    assert (found.predecessor.tolist(), found.end_ns.tolist(), found.is_same_call.tolist()) == ([-1], [5], [False])
