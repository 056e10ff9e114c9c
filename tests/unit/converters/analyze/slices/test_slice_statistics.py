"""Numbers of groups of slices, exact, on slices made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.slices.slice_groups import SliceGroups
from rblnpb.converters.analyze.slices.slice_statistics import slice_statistics, slice_totals
from rblnpb.converters.results import SliceTotals
from rblnpb.converters.timeline import Timeline, Track
from tests.support.timelines import slices, timeline

ARGUMENTS = ("compute_cycles", "size_bytes", "planned_bytes")
TRACKS = (
    Track("rbln:0", "Neural DMA (chiplet 1)", "neural_dma", is_work=True, order=0),
    Track("rbln:0", "Neural DMA (chiplet 0)", "neural_dma", is_work=True, order=1),
    Track("rbln:0", "External HDMA", "external_hdma", is_work=True, order=2),
)


def source(*rows: dict[str, Any], names: tuple[str, ...] = ARGUMENTS) -> Timeline:
    return timeline(slices=slices(*rows, argument_names=names), tracks=TRACKS, argument_names=names)


def groups(*group: int, count: int | None = None) -> SliceGroups:
    """Slices one after the other, each in a group."""
    names = tuple(f"g{at}" for at in range(max(group, default=-1) + 1 if count is None else count))
    return SliceGroups(np.arange(len(group)), np.array(group, np.int64), {"name": names})


def numbers(timeline: Timeline, of: SliceGroups) -> dict[str, list[Any]]:
    return {name: column.tolist() for name, column in vars(slice_statistics(timeline, of)).items()}


def test_durations_are_summed_ranked_and_joined_group_by_group() -> None:
    rows = [{"start": start, "duration": duration} for start, duration in ((0, 10), (5, 10), (100, 1), (0, 3))]
    found = numbers(source(*rows), groups(0, 0, 0, 1))
    assert {name: found[name] for name in list(found)[:8]} == {
        "count": [3, 1],
        "total_ns": [21, 3],
        "min_ns": [1, 3],
        "p50_ns": [10, 3],
        "p90_ns": [10, 3],
        "p99_ns": [10, 3],
        "max_ns": [10, 3],
        "busy_ns": [16, 3],
    }


def test_bytes_and_cycles_are_of_the_slices_that_tell_them() -> None:
    rows = (
        {"duration": 10, "size_bytes": 100},
        {"duration": 20, "planned_bytes": 50},
        {"duration": 40},
        {"duration": 80, "compute_cycles": 7, "track": 2},
        {"duration": 1, "size_bytes": 0, "track": 2},
    )
    found = numbers(source(*rows), groups(0, 0, 0, 1, 2))
    assert {name: found[name] for name in list(found)[8:]} == {
        "size_bytes": [150, ABSENT, 0],
        "planned_bytes": [50, ABSENT, 0],
        "moving_ns": [30, ABSENT, 1],
        "peak_bytes_per_s": [1_200_000_000_000, ABSENT, ABSENT],
        "compute_cycles": [ABSENT, 7, ABSENT],
        "computing_ns": [ABSENT, 80, ABSENT],
    }


def test_a_timeline_that_counts_nothing_has_no_bytes_and_no_cycles() -> None:
    found = numbers(source({"duration": 5}, names=()), groups(0))
    assert (found["size_bytes"], found["compute_cycles"], found["total_ns"]) == ([ABSENT], [ABSENT], [5])


def test_a_peak_is_given_only_where_all_bytes_went_by_engines_that_have_it() -> None:
    rows = ({"size_bytes": 1}, {"size_bytes": 1, "track": 1}, {"size_bytes": 1}, {"size_bytes": 1, "track": 2})
    assert numbers(source(*rows), groups(0, 0, 1, 1))["peak_bytes_per_s"] == [1_200_000_000_000, ABSENT]


def test_a_group_without_slices_counts_nothing() -> None:
    found = numbers(source({"duration": 5}), groups(1, count=2))
    assert [found[name][0] for name in ("count", "total_ns", "min_ns", "p50_ns", "max_ns", "busy_ns")] == [
        0,
        0,
        ABSENT,
        ABSENT,
        ABSENT,
        0,
    ]


def test_totals_are_of_all_slices_whatever_their_group() -> None:
    rows = (
        {"start": 10, "duration": 10, "size_bytes": 100},
        {"start": 15, "duration": 20, "planned_bytes": 50},
        {"start": 50, "duration": 1, "compute_cycles": 7},
    )
    assert slice_totals(source(*rows), groups(0, 1, 1)) == SliceTotals(2, 3, 31, 26, 41, 150, 50, 7)
    assert slice_totals(source(), groups()) == SliceTotals(0, 0, 0, 0, 0, None, None, None)
