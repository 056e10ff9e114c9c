"""What bounds the device, on slices made by hand: verdicts and the numbers that they rest on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.slices.bounds import device_bounds
from rblnpb.converters.results import ChipletActivity, EngineOverlap
from rblnpb.converters.timeline import Timeline, Track
from rblnpb.errors import UsageError
from tests.support.timelines import launches, slices, timeline

ARGUMENTS = ("compute_cycles", "size_bytes", "planned_bytes")
TRACKS = (
    Track("rbln:0", "Neural Engine Clusters (chiplet 0)", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Neural Engine Clusters (chiplet 1)", "neural_engine_clusters", is_work=True, order=1),
    Track("rbln:0", "Neural DMA (chiplet 0)", "neural_dma", is_work=True, order=2),
    Track("rbln:0", "External HDMA", "external_hdma", is_work=True, order=3),
    Track("rbln:0", "Device Sync", "device_sync", is_work=False, order=4),
)
FIRST, SECOND, DMA, HDMA, SYNC = range(5)


def source(*rows: dict[str, Any], tracks: tuple[Track, ...] = TRACKS, **parts: Any) -> Timeline:
    return timeline(slices=slices(*rows, argument_names=ARGUMENTS), tracks=tracks, argument_names=ARGUMENTS, **parts)


def cycles(track: int, duration: int, count: int, **more: Any) -> dict[str, Any]:
    return {"track": track, "duration": duration, "compute_cycles": count, **more}


def moves(track: int, duration: int, size: int, **more: Any) -> dict[str, Any]:
    return {"track": track, "duration": duration, "size_bytes": size, **more}


# One cycle and two bytes a nanosecond is the best that these show.
BEST = (cycles(FIRST, 1000, 1000, name="a"), moves(DMA, 1000, 2000, name="a"))


def verdict(*rows: dict[str, Any]) -> tuple[str, int, int]:
    """Of the stage "x": its bound, and what the busiest engines need."""
    bounds = device_bounds(source(*BEST, *({**row, "name": "x"} for row in rows)), "stage")
    at = bounds.keys["name"].index("x")
    return bounds.groups.verdict[at], int(bounds.groups.compute_ns[at]), int(bounds.groups.dma_ns[at])


def test_an_engine_that_was_busy_but_counted_few_cycles_waited() -> None:
    # Both were at work all the time; only one got done what it could.
    assert verdict(cycles(FIRST, 8000, 2000), moves(DMA, 8000, 16_000)) == ("dma-bound", 2000, 8000)
    assert verdict(cycles(FIRST, 8000, 8000), moves(DMA, 8000, 4000)) == ("compute-bound", 8000, 2000)


def test_a_quarter_more_decides() -> None:
    assert verdict(cycles(FIRST, 5000, 5000), moves(DMA, 5000, 8000)) == ("compute-bound", 5000, 4000)
    assert verdict(cycles(FIRST, 5000, 4999), moves(DMA, 5000, 8000)) == ("balanced", 4999, 4000)
    assert verdict(cycles(FIRST, 5000, 3999), moves(DMA, 5000, 8000)) == ("balanced", 3999, 4000)
    assert verdict(cycles(FIRST, 5000, 3200), moves(DMA, 5000, 8000)) == ("dma-bound", 3200, 4000)


def test_the_busiest_engine_bounds_not_the_sum_of_all() -> None:
    assert verdict(cycles(FIRST, 3000, 3000), cycles(SECOND, 3000, 3000), moves(DMA, 4000, 8000)) == ("dma-bound", 3000, 4000)


def test_one_side_alone_bounds() -> None:
    assert verdict(cycles(FIRST, 10, 10)) == ("compute-bound", 10, 0)
    assert verdict(moves(DMA, 10, 10)) == ("dma-bound", 0, 5)


def test_without_cycles_and_bytes_nothing_is_known() -> None:
    assert verdict({"track": FIRST, "duration": 10}, {"track": DMA, "duration": 90}) == ("unknown", 0, 0)


def test_what_was_not_counted_decides_only_where_it_could_not_matter() -> None:
    # Bytes of 100 ns were not told: at the most the engine needed all of that time.
    assert verdict(cycles(FIRST, 1000, 1000), {"track": DMA, "duration": 100})[0] == "compute-bound"
    assert verdict(cycles(FIRST, 1000, 1000), {"track": DMA, "duration": 900})[0] == "unknown"
    assert verdict({"track": FIRST, "duration": 100}, moves(DMA, 1000, 2000))[0] == "dma-bound"
    assert verdict({"track": FIRST, "duration": 900}, moves(DMA, 1000, 2000))[0] == "unknown"


def test_the_evidence_names_the_engines_and_how_much_they_got_done() -> None:
    rows = (cycles(SECOND, 2000, 500), moves(DMA, 4000, 4000), moves(HDMA, 1000, 1))
    bounds = device_bounds(source(*BEST, *rows)).whole
    assert (bounds.compute_engine, bounds.dma_engine) == (("Neural Engine Clusters (chiplet 0)",), ("Neural DMA (chiplet 0)",))
    assert bounds.compute_use.tolist() == [(1000 + 500) / 3000]
    # The other engine moves a byte in a microsecond at its best, and did.
    assert bounds.dma_use.tolist() == [(1000 + 2000 + 1000) / 6000]


def test_nothing_counted_is_no_use_at_all() -> None:
    bounds = device_bounds(source({"track": FIRST, "duration": 5})).whole
    assert (bounds.compute_engine, np.isnan(bounds.compute_use).tolist()) == (("",), [True])
    assert (bounds.compute_ns.tolist(), bounds.most_compute_ns.tolist()) == ([0], [5])


def test_programs_and_steps_have_bounds_of_their_own() -> None:
    launched = launches({"name": 1}, {"name": 2})
    rows = (cycles(FIRST, 1000, 1000, launch=0), moves(DMA, 1000, 2000, launch=1))
    timeline = source(*rows, launches=launched, strings=("", "decoder", "copy"))
    of_programs = device_bounds(timeline, "program")
    assert dict(zip(of_programs.keys["name"], of_programs.groups.verdict, strict=True)) == {
        "decoder": "compute-bound",
        "copy": "dma-bound",
    }
    assert device_bounds(timeline, "step").groups.verdict == ("balanced",)
    with pytest.raises(UsageError, match="by program, stage, step, not by 'op'"):
        device_bounds(timeline, "op")


def test_time_together_and_alone_adds_up_to_the_span() -> None:
    rows = (
        {"track": FIRST, "start": 0, "duration": 10},
        {"track": SECOND, "start": 5, "duration": 10},
        {"track": DMA, "start": 12, "duration": 8},
        {"track": HDMA, "start": 90, "duration": 10},
        {"track": SYNC, "start": 20, "duration": 500},
    )
    assert device_bounds(source(*rows)).overlaps == (EngineOverlap("", 12, 15, 3, 70, 100),)


def test_of_several_devices_each_has_its_overlap_in_the_span_of_all() -> None:
    other = (Track("rbln:0", "compute", "compute", is_work=True, order=0), Track("rbln:1", "copy", "copy", is_work=True, order=1))
    rows = ({"track": 0, "start": 0, "duration": 10}, {"track": 1, "start": 5, "duration": 15})
    assert device_bounds(source(*rows, tracks=other)).overlaps == (
        EngineOverlap("", 5, 10, 5, 0, 20),
        EngineOverlap("rbln:0", 10, 0, 0, 10, 20),
        EngineOverlap("rbln:1", 0, 15, 0, 5, 20),
    )


def test_chiplets_are_busy_with_any_of_their_engines_and_the_busiest_is_told() -> None:
    rows = (
        {"track": FIRST, "start": 0, "duration": 10},
        {"track": DMA, "start": 5, "duration": 25},
        {"track": SECOND, "start": 0, "duration": 10},
        {"track": HDMA, "start": 0, "duration": 99},
    )
    bounds = device_bounds(source(*rows))
    assert bounds.chiplets == (ChipletActivity("rbln:0", 0, 30), ChipletActivity("rbln:0", 1, 10))
    assert bounds.skew == (("rbln:0", 1.5),)


def test_damaged_counts_end_where_62_bits_do() -> None:
    bounds = device_bounds(source({"track": FIRST, "duration": 2**62}, {"track": FIRST, "duration": 2**62})).whole
    assert (bounds.verdict, bounds.most_compute_ns.tolist()) == (("unknown",), [2**62])


def test_tracks_without_a_chiplet_tell_of_none() -> None:
    bounds = device_bounds(source({"track": 0, "duration": 5}, tracks=(TRACKS[HDMA],)))
    assert (bounds.chiplets, bounds.skew) == ((), ())


def test_a_rate_beyond_64_bits_bounds_all_the_same() -> None:
    bounds = device_bounds(source(cycles(FIRST, 1, 2**62)))
    assert (bounds.rates[0].per_second, bounds.whole.verdict) == (2**62 * 10**9, ("compute-bound",))
    assert bounds.whole.compute_ns.tolist() == [1]
