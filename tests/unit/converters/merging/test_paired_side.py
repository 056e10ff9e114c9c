"""The vendor's .pb with the trace.json of the same run: each record once, with what both know of it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import status, summarize
from rblnpb.converters.sources.vendor_pb import read_vendor_profile
from rblnpb.converters.timeline import JOIN_RULES, ClockQuality, HostTrace, Timeline
from rblnpb.errors import ClockError
from rblnpb.profile import Profile
from tests.support.vendor_profiles import (
    GENERATIONS,
    NEC,
    Layout,
    Slice,
    host_rows,
    launched,
    run,
    snapshot,
    trace_rows,
    vendor_file,
)
from tests.support.vendor_traces import Json, host_trace, unix_ns

AHEAD_NS = 50_000
CALLS = 4


def to_host(time_ns: int) -> int:
    """The device's clock is 50 µs behind the session, and 100 ppm slow."""
    return time_ns + time_ns // 10_000 + AHEAD_NS


def profile(slices: Sequence[Slice], layout: Layout | None = None, *more: Any) -> Profile:
    return read_vendor_profile(io.BytesIO(vendor_file(slices, layout, *more)))


def trace(slices: Sequence[Slice], *more: Json, markers: bool = True, **options: Any) -> HostTrace:
    """Launches 700 ns before each call, and these slices as rows of a device."""
    launches = host_rows([to_host(1000 + 10_000 * call) - 700 for call in range(CALLS)], has_markers=markers)
    return host_trace([*launches, *trace_rows(slices, to_host), *more], **options)


def codes(timeline: Timeline) -> list[str]:
    return [finding.code for finding in timeline.findings]


def rules(timeline: Timeline) -> list[str]:
    return [JOIN_RULES[row] for row in timeline.slices.rule.tolist()]


def names(slices: Any) -> list[str]:
    return [name.decode() for name in slices.names.render().tolist()]


def argument(timeline: Timeline, name: str) -> list[int | None]:
    column = timeline.slices.arguments[:, timeline.argument_names.index(name)]
    return [None if value == ABSENT else value for value in column.tolist()]


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_record_of_both_files_is_one(generation: str) -> None:
    slices = run(generation, CALLS)
    timeline = merge(profile(slices), trace(launched(slices)))
    count = sum(one.name != "Device Workload" for one in slices)
    assert (len(timeline.slices), len(timeline.frames)) == (count, len(slices) - count)
    assert set(rules(timeline)) == {"paired"}
    assert codes(timeline) == ["paired-records"]
    assert timeline.host is not None
    shown = np.concatenate((timeline.slices.event, timeline.frames.event))
    assert sorted(shown.tolist()) == sorted({*shown.tolist()})
    assert timeline.slices.start_ns.tolist() == timeline.host.events.start_ns[timeline.slices.event].tolist()


def test_a_pair_knows_what_both_files_know() -> None:
    slices = run("multi", CALLS)
    timeline = merge(profile(slices), trace(launched(slices)))
    assert names(timeline.slices)[:3] == ["i1_0_W0_args_0_0", "i1_0_W0_mm_0", "i1_0_W0_sync_0"]
    assert [timeline.tracks[row].kind for row in timeline.slices.track.tolist()][:3] == [
        "external_hdma",
        "neural_engine_clusters",
        "device_sync",
    ]
    assert argument(timeline, "size_bytes")[:2] == [4608, None]
    assert argument(timeline, "compute_cycles")[:2] == [None, 1000]
    assert argument(timeline, "launch_id")[::5] == [1, 2, 3, 4]
    assert timeline.launches.launch_id.tolist() == [1, 2, 3, 4]
    assert [timeline.strings[row] for row in timeline.launches.name.tolist()] == ["rbln_run"] * 4
    before = timeline.slices.start_ns[timeline.dependencies.predecessor]
    assert (before < timeline.slices.start_ns[timeline.dependencies.successor]).all()
    assert len(timeline.dependencies) == 2 * CALLS


def test_device_time_is_that_of_the_trace_alone() -> None:
    slices = run("multi", CALLS)
    alone, joined = merge(None, trace(launched(slices))), merge(profile(slices), trace(launched(slices)))
    for way in ("attributed", "recorded"):
        sums = [summarize(one, device_time=way).averages.self_device_time_total_ns.sum() for one in (alone, joined)]
        assert sums[0] == sums[1] > 0
    assert status(alone).values.busy_ns == status(joined).values.busy_ns


def test_how_well_the_clocks_fit_is_told() -> None:
    slices = run("multi", CALLS)
    (quality,) = merge(profile(slices), trace(launched(slices))).clocks
    assert quality == ClockQuality(
        "device clock of the file", 24, quality.residual_ns, quality.uncertainty_ns, quality.drift_ppm, 0, 0, basis="pairs"
    )
    assert (quality.residual_ns <= 3, quality.uncertainty_ns <= 2) == (True, True)


def test_drift_is_measured_over_a_longer_run() -> None:
    slices = run("multi", 300, step_ns=1_000_000)
    (quality,) = merge(profile(slices), host_trace(trace_rows(slices, to_host), window_ns=10**9)).clocks
    assert quality.drift_ppm == pytest.approx(100, abs=0.1)
    assert quality.residual_ns <= 2


def test_records_that_one_file_lacks_are_there_too() -> None:
    slices = run("multi", CALLS)
    lost, late = [one for one in slices if one.name != "i1_1_W0_mm_0"], launched(slices)[:-1]
    timeline = merge(profile(lost), trace(late))
    assert len(timeline.slices) == 20
    both = dict(zip(names(timeline.slices), zip(rules(timeline), timeline.slices.event.tolist(), strict=True), strict=True))
    # The trace alone has it, and its launch by the trace's own rule.
    assert (both["i1_1_W0_mm_0"][0], both["i1_1_W0_mm_0"][1] >= 0) == ("launch-id", True)
    # The profile alone has it: it ran in the call of those around it.
    assert both["i1_3_W0_output_0"] == ("paired", -1)
    row = names(timeline.slices).index("i1_3_W0_output_0")
    assert abs(int(timeline.slices.start_ns[row]) - unix_ns(to_host(37_000))) <= 3
    assert [(one.code, one.count) for one in timeline.findings if "unpaired" in one.code] == [
        ("unpaired-records", 1),
        ("unpaired-rows", 1),
    ]


def test_a_slice_that_names_its_launch_is_joined_by_it() -> None:
    slices = run("newer", CALLS)
    timeline = merge(profile(slices), trace([one for one in launched(slices) if one.name != "mm"]))
    assert [rule for rule, name in zip(rules(timeline), names(timeline.slices), strict=True) if name == "mm"] == [
        "launch-id"
    ] * CALLS


def test_where_nothing_tells_the_launch_a_slice_has_none() -> None:
    slices = [replace(one, annotations={}) for one in run("newer", CALLS)]
    timeline = merge(profile(slices), trace([one for one in slices if one.name != "mm"], markers=False))
    assert [rule for rule, name in zip(rules(timeline), names(timeline.slices), strict=True) if name == "mm"] == ["no-link"] * CALLS


def test_names_of_different_releases_pair_by_their_layers() -> None:
    slices = [one for one in run("multi", CALLS) if one.name != "Device Workload"]
    older = [replace(one, name=one.name.replace("i1_", "").replace("W0_", "")) for one in slices]
    timeline = merge(profile(slices), trace(launched(older)))
    assert "paired-by-layer" in codes(timeline)
    assert set(rules(timeline)) == {"paired"}


def test_records_of_several_devices_pair_on_their_own() -> None:
    both = [replace(one, device=f"RBLN NPU {number}") for number in (0, 1) for one in run("multi", CALLS)]
    rows = [row for number in (0, 1) for row in trace_rows(launched(both[number * 24 : number * 24 + 24]), to_host, number)]
    timeline = merge(profile(both), host_trace([*host_rows([1000]), *rows]))
    assert len(timeline.slices) == 40
    assert timeline.host is not None
    pids = [timeline.host.tracks[row].pid for row in timeline.host.events.track[timeline.slices.event].tolist()]
    assert [f"RBLN NPU {pid}" for pid in pids] == [timeline.tracks[row].device for row in timeline.slices.track.tolist()]


def test_files_with_clocks_of_their_own_are_each_placed() -> None:
    parts = [run("multi", 1), [replace(one, name=one.name.replace("i1_0", "i1_1")) for one in run("multi", 1)]]
    sources: list[Any] = [io.BytesIO(vendor_file(part)) for part in parts]
    moved = [replace(one, start_ns=one.start_ns + 10_000, end_ns=one.end_ns + 10_000) for one in parts[1] if one.end_ns is not None]
    timeline = merge(read_vendor_profile(sources), trace(launched([*parts[0], *moved])))
    assert [quality.name for quality in timeline.clocks] == ["device clock of file 1", "device clock of file 2"]
    assert (len(timeline.slices), set(rules(timeline))) == (10, {"paired"})


def test_readings_of_the_file_give_way_to_pairs() -> None:
    slices = run("multi", CALLS)
    timeline = merge(profile(slices, Layout(clock=64), snapshot(c64=0, c3=5, c1=10**18)), trace(launched(slices)))
    assert [quality.basis for quality in timeline.clocks] == ["pairs"]
    assert set(rules(timeline)) == {"paired"}


def test_a_trace_with_a_zero_of_its_own_will_do() -> None:
    slices = run("multi", CALLS)
    timeline = merge(profile(slices), trace(launched(slices), base_time=False))
    assert set(rules(timeline)) == {"paired"}


def test_records_that_are_too_much_alike_are_said_to_be() -> None:
    slices = [Slice("mm", NEC, at * 10_000, at * 10_000 + 700) for at in range(200)]
    timeline = merge(profile(slices), host_trace(trace_rows(slices[10:], to_host), window_ns=10**7))
    assert "pairing-ambiguous" in codes(timeline)


def test_a_trace_of_another_run_is_refused() -> None:
    slices = run("multi", CALLS)
    other = [Slice(f"conv_{number}", NEC, at, at + 77) for number, at in enumerate((5, 900, 5000))]
    with pytest.raises(ClockError, match="none of the 3 device rows of <bytes> is like a record of the profile"):
        merge(profile(slices), host_trace(trace_rows(other, to_host)))
