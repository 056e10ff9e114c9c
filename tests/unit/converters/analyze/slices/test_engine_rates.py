"""Best rates of engines and known peaks, on slices made by hand."""

from __future__ import annotations

from typing import Any

from rblnpb.converters.analyze.slices.engine_rates import engine_rates, frequency_findings, peak_bytes_per_s
from rblnpb.converters.results import EngineRate
from rblnpb.converters.timeline import Timeline, Track
from rblnpb.errors import Severity
from tests.support.timelines import slices, timeline

ARGUMENTS = ("compute_cycles", "size_bytes", "planned_bytes")
NEURAL = Track("rbln:0", "Neural Engine Clusters (chiplet 0)", "neural_engine_clusters", is_work=True, order=0)
DMA = Track("rbln:0", "Neural DMA (chiplet 0)", "neural_dma", is_work=True, order=1)
OTHER_DMA = Track("rbln:0", "Neural DMA (chiplet 1)", "neural_dma", is_work=True, order=2)
HDMA = Track("rbln:0", "External HDMA", "external_hdma", is_work=True, order=3)


def source(*rows: tuple[int, int, int], tracks: tuple[Track, ...] = (NEURAL, DMA, OTHER_DMA, HDMA)) -> Timeline:
    """Slices, each (track, duration, cycles or bytes)."""
    kinds = ["compute_cycles" if track.kind == "neural_engine_clusters" else "size_bytes" for track in tracks]
    made: list[dict[str, Any]] = [{"track": track, "duration": duration, kinds[track]: amount} for track, duration, amount in rows]
    return timeline(slices=slices(*made, argument_names=ARGUMENTS), tracks=tracks, argument_names=ARGUMENTS)


def test_the_best_rate_is_the_99th_percentile_of_slices_of_a_microsecond_and_more() -> None:
    rows = [(0, 1000, 1000 + at) for at in range(200)] + [(0, 10, 90)]
    (rate,) = engine_rates(source(*rows))
    assert rate == EngineRate("neural_engine_clusters", "Neural Engine Clusters", True, 1_197_000_000, 201, 0, 0, None)


def test_where_no_slice_is_that_long_all_count() -> None:
    (rate,) = engine_rates(source((0, 10, 15), (0, 20, 10)))
    assert rate.per_second == 1_500_000_000


def test_a_rate_of_ten_times_the_median_is_not_believed_and_told() -> None:
    rows = [(0, 1000, 1000)] * 5 + [(0, 1000, 10_001), (0, 1000, 99), (0, 1000, 10_000)]
    rates = engine_rates(source(*rows))
    assert [(rate.per_second, rate.high_count, rate.low_count) for rate in rates] == [(10_000_000_000, 1, 1)]
    assert [(finding.severity, finding.code, finding.count) for finding in frequency_findings(rates)] == [
        (Severity.WARNING, "frequency-too-high", 1),
        (Severity.INFO, "frequency-low", 1),
    ]


def test_bytes_have_no_frequency() -> None:
    assert frequency_findings(engine_rates(source(*[(1, 1000, 1000)] * 5, (1, 1000, 99_999)))) == ()


def test_slices_that_count_nothing_or_take_no_time_say_nothing() -> None:
    assert engine_rates(source((0, 1000, 0), (1, 0, 0))) == ()
    (rate,) = engine_rates(source((0, 0, 100)))
    assert (rate.per_second, rate.slice_count) == (0, 1)


def test_compute_comes_before_data_movement_and_each_kind_has_its_peak() -> None:
    rates = engine_rates(source((3, 1000, 5), (1, 1000, 7), (0, 1000, 9)))
    assert [(rate.kind, rate.is_compute, rate.per_second, rate.peak_per_second) for rate in rates] == [
        ("neural_engine_clusters", True, 9_000_000, None),
        ("neural_dma", False, 7_000_000, 1_200_000_000_000),
        ("external_hdma", False, 5_000_000, None),
    ]


def test_only_memory_of_a_rebel_has_a_known_peak() -> None:
    assert peak_bytes_per_s((NEURAL, DMA, OTHER_DMA, HDMA)).tolist() == [0, 1_200_000_000_000, 1_200_000_000_000, 0]
    # One chiplet alone may be an ATOM.
    assert peak_bytes_per_s((NEURAL, DMA, HDMA)).tolist() == [0, 0, 0]
    general = Track("rbln:0", "General Compute Engine (chiplet 0)", "general_compute_engine", is_work=True, order=3)
    assert peak_bytes_per_s((DMA, general)).tolist() == [1_200_000_000_000, 0]
    # An engine of the whole device: how much of the memory it reaches is not known.
    assert peak_bytes_per_s((Track("rbln:0", "Neural DMA", "neural_dma", is_work=True, order=0), general)).tolist() == [0, 0]
