"""The simulated runtime, from a command line or for a host trace."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import rblnpb
from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import launch_plan, simulate_to_file, simulation_choices
from rblnpb.converters.sources.kineto import read_host
from rblnpb.errors import ClockError, OutputError, UsageError, verdict
from tests.support.vendor_traces import BASE_NS, HOST_PID, MAIN, WORKER, document, host_trace, metadata, op, unix_ns

OPS = (op("aten::mm", 1000, 2000), op("aten::add", 5000, 6000, tid=WORKER), op("aten::mm", 7000, 8000))


def test_a_plan_has_a_launch_for_each_op_that_computes() -> None:
    plan = launch_plan(host_trace([*OPS, metadata("thread_name", HOST_PID, MAIN, name="main")]))
    assert [plan.ops[row] for row in plan.op_row.tolist()] == ["aten::mm", "aten::add", "aten::mm"]
    assert plan.time_ns.tolist() == [unix_ns(1250), unix_ns(5250), unix_ns(7250)]
    assert (plan.thread_id.tolist(), plan.threads) == ([MAIN, WORKER, MAIN], ((MAIN, "main"),))


def test_a_trace_in_absolute_microseconds_can_be_planned_for() -> None:
    absolute = {**OPS[0], "ts": BASE_NS // 1000}
    assert launch_plan(host_trace([absolute], base_time=False, window_ns=None)).time_ns.tolist() == [BASE_NS + 250]


def test_a_trace_with_a_zero_of_its_own_cannot() -> None:
    with pytest.raises(ClockError, match="baseTimeNanoseconds"):
        launch_plan(host_trace(OPS, base_time=False))


def test_a_trace_without_an_op_that_computes_cannot() -> None:
    with pytest.raises(UsageError, match="no operator that would launch work"):
        launch_plan(host_trace([op("aten::view", 0, 9)]))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    path.write_bytes(document(OPS, host_name="there"))
    return path


def test_what_is_simulated_for_a_trace_joins_with_it_without_a_warning(trace: Path, tmp_path: Path) -> None:
    report = simulate_to_file(tmp_path / "a.pb", from_host=trace)
    timeline = merge(rblnpb.read(tmp_path / "a.pb"), read_host(trace))
    assert verdict(timeline.findings) == "ok"
    assert len(timeline.launches) == 3
    assert (timeline.launches.host_row >= 0).all()
    assert (timeline.slices.host_row >= 0).all()
    assert report.splitlines()[0] == "RBLN Profiler Generation Status Report"
    assert report.endswith(f"Saved: {tmp_path / 'a.pb'}\n")


@pytest.mark.parametrize("faults", [(), ("two-writers",)])
def test_a_stream_gets_the_same_bytes_as_a_file(tmp_path: Path, faults: tuple[str, ...]) -> None:
    stream = io.BytesIO()
    assert simulate_to_file(stream, faults=faults).endswith("Saved: <stdout>\n")
    simulate_to_file(tmp_path / "a.pb", faults=faults)
    assert (tmp_path / "a.pb").read_bytes() == stream.getvalue()


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"program": "mm"}, "--program and --from-host exclude each other"),
        ({"threads": 2}, "--threads and --instances do not go with --from-host"),
        ({"instances": 2}, "--threads and --instances do not go with --from-host"),
    ],
)
def test_choices_that_the_trace_makes_are_refused(trace: Path, tmp_path: Path, choices: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        simulate_to_file(tmp_path / "a.pb", from_host=trace, **choices)
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


@pytest.mark.parametrize("jobs", [0, 2])
def test_processes_that_would_have_no_trace_to_read_are_refused(tmp_path: Path, jobs: int) -> None:
    with pytest.raises(UsageError, match="--jobs goes with --from-host alone: without a host trace there is nothing to read"):
        simulate_to_file(tmp_path / "a.pb", jobs=jobs)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("jobs", [None, 1])
def test_a_simulation_that_reads_no_trace_is_that_of_this_process(tmp_path: Path, jobs: int | None) -> None:
    assert simulate_to_file(tmp_path / "a.pb", jobs=jobs).endswith(f"Saved: {tmp_path / 'a.pb'}\n")


def test_a_file_that_is_there_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "a.pb").touch()
    with pytest.raises(OutputError, match="exists already"):
        simulate_to_file(tmp_path / "a.pb", from_host="never read")


def test_choices_have_a_line_each() -> None:
    lines = simulation_choices().splitlines()
    assert {"programs:", "faults:"} <= set(lines)
    assert any(line.split()[0] == "truncate" for line in lines)
