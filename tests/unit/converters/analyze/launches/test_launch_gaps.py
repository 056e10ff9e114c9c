"""Time in which nothing was submitted, and what the submitting thread did meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.host.host_stack import host_stack
from rblnpb.converters.analyze.launches.launch_gaps import LaunchGaps, launch_gaps
from rblnpb.converters.analyze.launches.launch_work import launch_work
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import OverheadRecords, Track
from tests.support.small_run import small_profile, small_trace
from tests.support.timelines import launches, runtime, slices, timeline

TRACKS = tuple(Track(f"rbln:{at}", "engine", "compute", is_work=True, order=at) for at in range(2))


def gaps(*rows: tuple[int, int | None, int], **parts: Any) -> LaunchGaps:
    """Gaps between launches, each (submitted, start of 10 ns of work or None, device)."""
    work = [
        {"start": start, "duration": 10, "launch": at, "track": device}
        for at, (_, start, device) in enumerate(rows)
        if start is not None
    ]
    given = timeline(
        launches=launches(*({"start": submitted} for submitted, _, _ in rows)), slices=slices(*work), tracks=TRACKS, **parts
    )
    return launch_gaps(given, launch_work(given), None)


def test_a_gap_is_between_the_end_of_all_work_and_the_next_launch() -> None:
    found = gaps((0, 5, 0), (50, 60, 0))
    assert (found.launch.tolist(), found.duration_ns.tolist(), found.at_work_ns.tolist()) == ([1], [35], [0])


def test_where_launches_queue_up_there_is_none() -> None:
    assert gaps((0, 5, 0), (12, 20, 0), (30, 35, 0)).duration_ns.tolist() == []


def test_devices_have_gaps_of_their_own() -> None:
    assert gaps((0, 5, 0), (20, 25, 1), (50, 60, 0)).duration_ns.tolist() == [35]


def test_beside_a_launch_whose_work_is_lost_nothing_is_told() -> None:
    assert gaps((0, 5, 0), (20, None, 0), (50, 60, 0), (90, 95, 0)).duration_ns.tolist() == [20]


def test_what_the_runtime_recorded_on_that_thread_is_told_apart() -> None:
    elsewhere = runtime((20, 10, 0, 1), (25, 10, 0, 1), (16, 30, 0, 2))
    found = gaps((0, 5, 0), (50, 60, 0), runtime=elsewhere)
    assert (found.at_work_ns.tolist(), found.recorded_ns.tolist()) == ([15], [15])


def test_hidden_work_counts_where_its_time_is_known() -> None:
    zero = np.zeros(2, np.int32)
    overheads = OverheadRecords(
        zero.astype(np.uint32), zero, zero, zero, np.array([8, 8]), np.full(2, ABSENT), np.array([20, ABSENT]), np.array([1, 1])
    )
    assert gaps((0, 5, 0), (50, 60, 0), overheads=overheads).at_work_ns.tolist() == [8]


def test_operators_of_the_trace_are_recorded_as_well() -> None:
    joined = merge(small_profile(), small_trace())
    assert joined.host is not None
    found = launch_gaps(joined, launch_work(joined), host_stack(joined.host))
    assert (found.launch.tolist(), found.duration_ns.tolist()) == ([1, 3], [13_500, 5_000])
    # Of the first: aten::mm until 10,000, aten::add from 12,000 to 20,000, aten::mm from 22,000 on.
    assert (found.at_work_ns.tolist(), found.recorded_ns.tolist()) == ([6_800, 0], [500 + 8_000 + 1_000, 0])


def test_without_launches_there_is_no_gap() -> None:
    assert len(gaps()) == 0
