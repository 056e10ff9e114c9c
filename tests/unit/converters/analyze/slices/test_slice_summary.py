"""Summaries of device slices: what stands in them beside the plain numbers, and that simulated profiles add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb import sim
from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.slices.slice_summary import SLICE_KEYS, slice_summary
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import RuntimeSlices, Timeline, Track
from rblnpb.errors import UsageError
from tests.support.timelines import host_trace, launches, slices, timeline

ARGUMENTS = ("compute_cycles", "size_bytes", "planned_bytes")
STRINGS = ("", "decoder", "0/0", "compile", "wait")
TRACKS = (
    Track("rbln:0", "Neural Engine Clusters (chiplet 0)", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Neural DMA (chiplet 1)", "neural_dma", is_work=True, order=1),
)


def source(*rows: dict[str, Any], **parts: Any) -> Timeline:
    return timeline(
        parts.pop("host", None),
        slices=slices(*rows, argument_names=ARGUMENTS),
        tracks=TRACKS,
        argument_names=ARGUMENTS,
        strings=STRINGS,
        **parts,
    )


def compiling(*rows: tuple[int, int, int]) -> RuntimeSlices:
    """What the runtime did, each (duration, row of STRINGS, launch)."""
    duration, name, launch = np.array(rows, np.int64).T
    zero = np.zeros_like(duration)
    return RuntimeSlices(zero, duration, name.astype(np.int32), zero + 1, zero + 1, launch, zero + ABSENT, zero - 1)


@pytest.mark.parametrize("program", ["mm", "decoder", "all_reduce", "aten::add"])
@pytest.mark.parametrize("by", SLICE_KEYS)
def test_rows_of_a_simulated_profile_add_up_to_its_work(program: str, by: str) -> None:
    profile = merge(sim.simulate(program=program, calls=5, npu="atom" if program == "mm" else "rebel100"), None)
    is_work = profile.is_work()
    summary = slice_summary(profile, by)
    assert sum(summary.statistics.total_ns.tolist()) == summary.totals.total_ns == int(profile.slices.duration_ns[is_work].sum())
    assert sum(summary.statistics.count.tolist()) == int(is_work.sum())
    assert summary.findings == ()


def test_a_simulated_decoder_is_known_by_all_its_names() -> None:
    profile = merge(sim.simulate(program="decoder", calls=2), None)
    names = {by: set(slice_summary(profile, by).name) for by in ("family", "program", "step")}
    assert names == {
        "family": {"linear", "paged_attn", "fused(linear+silu+mul)", "fused(rms_norm+rope)", "args", "out"},
        "program": {"decoder"},
        "step": {"(whole window)"},
    }
    assert "linear_0" in slice_summary(profile, "layer").name


def test_programs_stages_and_steps_have_bounds_and_a_stage_has_one_on_all_its_engines() -> None:
    rows = (
        {"stage": "mm", "track": 0, "duration": 1000, "compute_cycles": 100},
        {"stage": "mm", "track": 1, "duration": 4000, "size_bytes": 4000},
    )
    bounds = {by: slice_summary(source(*rows), by).bounds for by in SLICE_KEYS}
    assert {by: found and found.verdict for by, found in bounds.items()} == {
        "stage": ("dma-bound", "dma-bound"),
        "program": ("dma-bound",),
        "step": ("dma-bound",),
        **dict.fromkeys(("layer", "family", "engine", "call")),
    }


def test_a_call_has_its_times_and_its_program_the_first_against_the_later_ones() -> None:
    rows = [
        {"launch": launch, "start": start, "duration": 10}
        for launch, start in ((0, 100), (0, 150), (1, 200), (2, 300), (2, 310), (3, 400))
    ]
    launched = launches(*({"name": 1, "compile_id": 2} for _ in range(4)))
    done = compiling((500, 3, 0), (70, 3, 2), (90, 4, 1), (30, 3, -1))
    summary = slice_summary(source(*rows, launches=launched, runtime=done), "call")
    assert {name: column.tolist() for name, column in summary.times.items()} == {
        "start_ns": [100, 200, 300, 400],
        "span_ns": [60, 10, 20, 10],
    }
    assert summary.overview is not None
    assert (summary.overview.by, summary.overview.columns) == (
        "program",
        {
            "name": ("decoder",),
            "compile_id": ("0/0",),
            "call_count": (4,),
            "first_span_ns": (60,),
            "later_p50_span_ns": (10,),
            "first_by_later": (6.0,),
            "compile_ns": (570,),
        },
    )


def test_a_program_of_one_call_has_nothing_to_compare_with() -> None:
    summary = slice_summary(source({"launch": 0, "duration": 10}, {"duration": 5}, launches=launches({"name": 1})), "call")
    assert summary.overview is not None
    assert [summary.overview.columns[name] for name in ("call_count", "later_p50_span_ns", "first_by_later", "compile_ns")] == [
        (1,),
        (None,),
        (None,),
        (None,),
    ]


def test_steps_have_their_times_and_phases_stand_apart() -> None:
    names = ("execute_new_2_cached_0", "execute_new_0_cached_2", "execute_new_0_cached_2")
    events = [
        {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": 10 * at, "dur": 5 + at}
        for at, name in enumerate(names)
    ]
    rows = [
        {"launch": launch, "start": 10_000 * launch, "duration": duration}
        for launch, duration in enumerate((9_000, 4_000, 1_000, 7))
    ]
    launched = launches(*({"start": 10_000 * at} for at in range(4)))
    summary = slice_summary(source(*rows, host=host_trace(*events), launches=launched), "step")
    assert summary.keys == {
        "name": (*names, "(no step)"),
        "phase": ("prefill", "decode", "decode", ""),
    }
    assert {name: column.tolist() for name, column in summary.times.items()} == {
        "start_ns": [0, 10_000, 20_000, ABSENT],
        "duration_ns": [5_000, 6_000, 7_000, ABSENT],
        "launch_count": [1, 1, 1, ABSENT],
        "carried_over_ns": [4_000, 0, 0, ABSENT],
    }
    assert summary.overview is not None
    assert (summary.overview.by, summary.overview.columns) == (
        "phase",
        {
            "name": ("prefill", "decode"),
            "step_count": (1, 2),
            "launch_count": (1, 2),
            "total_ns": (9_000, 5_000),
            "p50_total_ns": (9_000, 1_000),
            "duration_ns": (5_000, 13_000),
            "p50_duration_ns": (5_000, 6_000),
            "carried_over_ns": (4_000, 0),
        },
    )


def test_a_step_without_device_time_is_a_row_too() -> None:
    events = [
        {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 1}
        for at, name in ((3, "a"), (7, "b"))
    ]
    summary = slice_summary(source(host=host_trace(*events)), "step")
    assert (summary.name, summary.statistics.count.tolist(), summary.origin_ns, summary.overview) == (
        ("a", "b"),
        [0, 0],
        3_000,
        None,
    )


def test_where_the_peak_comes_from_is_told_where_one_is_used() -> None:
    assert "4.8 TB/s" in slice_summary(source({"track": 1, "size_bytes": 1}), "engine").peak_basis
    assert slice_summary(source({"track": 0}), "engine").peak_basis == ""


def test_a_summary_is_by_what_is_known() -> None:
    with pytest.raises(UsageError, match=r"by op, stage, .*step; not by 'kernel'"):
        slice_summary(source(), "kernel")
