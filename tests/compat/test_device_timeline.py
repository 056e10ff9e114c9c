"""Busy and idle time of public traces, against exact unions, TraceLens' own tables and what HTA publishes."""

from __future__ import annotations

import csv
import json
from functools import cache
from pathlib import Path

import pytest

from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import idle
from rblnpb.converters.results import IdleReport
from rblnpb.converters.sources.kineto import read_host
from tests.support.shared_traces import SHARED, needs_shared, shared_file

PUBLIC = SHARED / "traces" / "public"
TRACES = sorted(path.relative_to(PUBLIC).as_posix() for path in PUBLIC.rglob("*.json.gz"))
EXPECTED = PUBLIC / "expected_device_timeline.json"
TIMELINES = sorted(path.relative_to(PUBLIC).as_posix() for path in PUBLIC.rglob("gpu_timeline.csv"))


@cache
def report(name: str) -> IdleReport:
    return idle(merge(None, read_host(shared_file("traces", "public", name)))).values


@needs_shared
def test_every_trace_with_a_known_answer_is_here() -> None:
    assert set(json.loads(EXPECTED.read_bytes())["files"]) <= set(TRACES)


@needs_shared
@pytest.mark.parametrize("name", sorted(json.loads(EXPECTED.read_bytes())["files"]) if EXPECTED.exists() else [])
def test_busy_idle_span_and_sum_are_exact(name: str) -> None:
    expected = json.loads(EXPECTED.read_bytes())["files"][name]
    found = report(name)
    assert (found.all.busy_ns, found.all.idle_ns, found.all.span_ns, found.all.sum_ns, found.all.slice_count) == tuple(
        expected[key] for key in ("busy_union_ns", "idle_ns", "span_ns", "sum_ns", "device_events")
    )
    (kernels,) = (kind.all for kind in found.kinds if kind.kind == "compute")
    assert (kernels.busy_ns, kernels.sum_ns, kernels.slice_count) == tuple(
        expected[key] for key in ("kernel_union_ns", "kernel_sum_ns", "kernels")
    )


@needs_shared
@pytest.mark.parametrize("name", TRACES)
def test_causes_add_up_in_every_trace(name: str) -> None:
    found = report(name)
    assert sum(cause.idle_ns for cause in found.causes) == sum(device.all.idle_ns for device in found.devices)


@needs_shared
@pytest.mark.parametrize("name", TIMELINES)
def test_what_was_launched_in_the_window_is_tracelens_busy_and_idle_time(name: str) -> None:
    with (PUBLIC / name).open(newline="") as file:
        times_ms = {row["type"]: float(row["time ms"]) for row in csv.DictReader(file)}
    folder = Path(name).parent
    found = report((folder.parent / folder.name.replace("_perf_report_csvs", ".json.gz")).as_posix()).launched_in_window
    # TraceLens reckons with microseconds since 1970 as floats, whose steps are a quarter of one.
    for key, exact_ns in (("busy_time", found.busy_ns), ("idle_time", found.idle_ns), ("total_time", found.span_ns)):
        assert exact_ns == pytest.approx(times_ms[key] * 1e6, abs=500)


@needs_shared
def test_work_from_before_the_window_makes_the_difference() -> None:
    found = report("tracelens/tests/traces/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz")
    assert (found.all.busy_ns, found.launched_in_window.busy_ns) == (45_647_300, 31_905_473)
    assert (found.all.slice_count, found.launched_in_window.slice_count) == (1_707, 1_198)


@needs_shared
def test_idle_time_has_no_error_of_rounding() -> None:
    found = report("hta/tests/data/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz")
    # HTA publishes 7,574.786 µs, from floats: 48 ns more.
    assert found.all.idle_ns == 7_574_738


@needs_shared
def test_overlapping_streams_are_busy_once() -> None:
    found = report("hta/tests/data/mtia_inference_trace/mtia_inference_rank_0.json.gz").all
    assert found.busy_ns < found.span_ns < found.sum_ns


@needs_shared
@pytest.mark.parametrize("name", [name for name in TRACES if "cpu_only" in name or "mixed_files" in name])
def test_traces_without_a_device_have_an_empty_report(name: str) -> None:
    found = report(name)
    assert (found.devices, len(found.gaps), [finding.code for finding in found.findings]) == ((), 0, ["no-device-work"])
