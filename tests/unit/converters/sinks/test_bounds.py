"""What bounds the device, as lines and as values."""

from __future__ import annotations

from typing import Any

import orjson

from rblnpb.converters.analyze.slices.bounds import device_bounds
from rblnpb.converters.sinks.bounds import bounds_values, render_bounds_text
from rblnpb.converters.timeline import Timeline, Track
from tests.support.timelines import launches, slices, timeline

ARGUMENTS = ("compute_cycles", "size_bytes", "planned_bytes")
TRACKS = (
    Track("rbln:0", "Neural Engine Clusters (chiplet 0)", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Neural DMA (chiplet 1)", "neural_dma", is_work=True, order=1),
)


def source(*rows: dict[str, Any], **parts: Any) -> Timeline:
    return timeline(slices=slices(*rows, argument_names=ARGUMENTS), tracks=TRACKS, argument_names=ARGUMENTS, **parts)


COMPUTED = {"track": 0, "duration": 1000, "compute_cycles": 1500, "launch": 0}
MOVED = {"track": 1, "start": 500, "duration": 1500, "size_bytes": 1_500_000, "launch": 0}
BOTH = source(COMPUTED, MOVED, launches=launches({"name": 1}), strings=("", "decoder"))


def test_a_verdict_comes_with_all_that_it_rests_on() -> None:
    needs = (
        "Neural Engine Clusters (chiplet 0) needs 1.000 µs at its best rate, Neural DMA (chiplet 1) needs 1.500 µs at its best rate"
    )
    verdict = f"dma-bound ({needs})"
    assert render_bounds_text(device_bounds(BOTH)).splitlines() == [
        f"What bounds the device while it works: {verdict}",
        "  Time: compute alone 500 ns (25.0 %), DMA alone 1.000 µs (50.0 %), both 500 ns (25.0 %), neither 0 ns (0.0 %)",
        "  Compute engines did 100.0 % of what they could while at work",
        "  DMA engines did 100.0 % of what they could while at work",
        "  Best rate of Neural Engine Clusters: 1.50 GHz (1 slice)",
        "  Best rate of Neural DMA: 1.00 TB/s, peak of the memory behind it 1.20 TB/s (1 slice)",
        "  Busy by chiplet: 0: 1.000 µs, 1: 1.500 µs",
        "  Skew of rbln:0: its busiest chiplet worked 1.20 times as long as the mean",
        f"  program decoder: {verdict}",
    ]


def test_nothing_counted_says_so() -> None:
    text = render_bounds_text(device_bounds(source({"track": 0, "duration": 5})))
    assert text.splitlines()[0] == "What bounds the device while it works: unknown (no cycles and no bytes were counted)"


def test_of_many_groups_those_with_the_greatest_need_are_shown() -> None:
    rows = [{**COMPUTED, "stage": f"mm_{at}", "compute_cycles": 100 + at} for at in range(12)]
    found = [line.split(":")[0] for line in render_bounds_text(device_bounds(source(*rows), "stage")).splitlines()[-11:]]
    assert found == [*(f"  stage mm_{at}" for at in range(11, 1, -1)), "  2 more"]


def test_values_are_integers_with_their_units_and_can_be_written() -> None:
    values = bounds_values(device_bounds(BOTH))
    bound = {
        "bound": "dma-bound",
        "needed_compute_ns": 1000,
        "needed_dma_ns": 1500,
        "most_needed_compute_ns": 1000,
        "most_needed_dma_ns": 1500,
        "compute_use": 1.0,
        "dma_use": 1.0,
        "compute_engine": "Neural Engine Clusters (chiplet 0)",
        "dma_engine": "Neural DMA (chiplet 1)",
    }
    assert orjson.loads(orjson.dumps(values)) == {
        **bound,
        "overlaps": [{"device": "", "compute_only_ns": 500, "dma_only_ns": 1000, "both_ns": 500, "neither_ns": 0, "span_ns": 2000}],
        "chiplets": [
            {"device": "rbln:0", "chiplet": 0, "busy_ns": 1000},
            {"device": "rbln:0", "chiplet": 1, "busy_ns": 1500},
        ],
        "skew": [{"device": "rbln:0", "skew": 1.2}],
        "rates": [
            {
                "kind": "neural_engine_clusters",
                "name": "Neural Engine Clusters",
                "is_compute": True,
                "per_second": 1_500_000_000,
                "slice_count": 1,
                "high_count": 0,
                "low_count": 0,
                "peak_per_second": None,
            },
            {
                "kind": "neural_dma",
                "name": "Neural DMA",
                "is_compute": False,
                "per_second": 1_000_000_000_000,
                "slice_count": 1,
                "high_count": 0,
                "low_count": 0,
                "peak_per_second": 1_200_000_000_000,
            },
        ],
        "by": "program",
        "rows": [{"name": "decoder", "compile_id": "", **bound}],
        "findings": [],
    }


def test_values_of_nothing_are_null() -> None:
    values = bounds_values(device_bounds(source()))
    assert (values["bound"], values["compute_use"], values["compute_engine"], values["rows"]) == ("unknown", None, None, [])
