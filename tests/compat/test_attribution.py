"""Device time by op, module and Python frame of real traces, against what others found in them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from rblnpb import sim
from rblnpb.converters import attribute, call_stacks, launch_plan, merge, read_host
from rblnpb.converters.analyze.attribution.forward_ops import forward_ops
from rblnpb.converters.analyze.host.host_calls import read_calls
from rblnpb.converters.pipeline import summarize
from rblnpb.converters.results import AttributionTable
from rblnpb.converters.timeline import Timeline
from tests.support.shared_traces import BUNDLED_TRACE, SHARED, needs_shared, shared_file
from tests.support.speedscope_format import faults

TRACELENS = SHARED / "traces" / "public" / "tracelens" / "tests" / "traces"
REPORTS = sorted(TRACELENS.glob("*/*_perf_report_csvs/ops_summary.csv"))
FULL = ("traces", "host", "transformer_train_full", "trace.json.gz")

WITH_FLOWS = ("transformer_train_full", "transformer_train_plain", "transformer_train_rbln_sim", "resnet_train_flops")


def simulated(path: Path) -> Timeline:
    """A real host trace with the work of a simulated device."""
    host = read_host(path)
    return merge(sim.simulate(launches=launch_plan(host)), host)


def numbers(table: AttributionTable, *names: str) -> dict[str, tuple[int, ...]]:
    """Columns of what the host ran, by name."""
    kept = [row for row, frame in enumerate(table.frame) if frame.kind != "none"]
    return {table.frame[row].name: tuple(getattr(table, name)[row] for name in names) for row in kept}


@needs_shared
@pytest.mark.parametrize("report", REPORTS, ids=lambda path: f"{path.parts[-3]}/{path.parts[-2][:9]}")
def test_direct_and_subtree_time_of_every_op_are_those_of_tracelens(report: Path) -> None:
    trace = report.parent.with_name(report.parent.name.replace("_perf_report_csvs", ".json.gz"))
    mine = numbers(attribute(merge(None, read_host(trace))).values, "device_self_sum_ns", "device_total_sum_ns")
    with report.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = ("total_direct_kernel_time_sum", "total_subtree_kernel_time_sum")
    # Theirs are float microseconds.
    theirs = {row["name"]: tuple(float(row[name]) * 1000 for name in columns) for row in rows}
    assert {name: mine[name] for name in theirs} == {name: pytest.approx(times, rel=1e-4) for name, times in theirs.items()}


@pytest.mark.parametrize("path", [pytest.param((), id="bundled"), pytest.param(FULL, id="full", marks=needs_shared)])
def test_times_of_ops_are_those_of_torchs_table(path: tuple[str, ...]) -> None:
    timeline = simulated(shared_file(*path) if path else BUNDLED_TRACE)
    averages = summarize(timeline).averages
    names = ("self_device_time_total_ns", "device_time_total_ns", "self_cpu_time_total_ns", "cpu_time_total_ns")
    columns = zip(averages.name, averages.kind, *(getattr(averages, name).tolist() for name in names), strict=True)
    theirs = {name: tuple(times) for name, kind, *times in columns if kind == "op"}
    mine = numbers(attribute(timeline).values, "device_self_sum_ns", "device_total_sum_ns", "host_self_ns", "host_total_ns")
    assert mine == {name: theirs[name] for name in mine}


@needs_shared
@pytest.mark.parametrize("name", WITH_FLOWS)
def test_sequence_numbers_tell_what_torchs_flows_tell(name: str) -> None:
    (path,) = shared_file("traces", "host", name).glob("trace.json*")
    host = read_host(path)
    calls = read_calls(host, with_annotations=False)
    by_both = forward_ops(host, calls)
    events = host.events
    mute = {**vars(events), "flow_id": events.flow_id * 0, "phase": events.phase * (events.phase == ord("X"))}
    by_number = forward_ops(type(host)(**{**vars(host), "events": type(events)(**mute)}), calls)
    assert by_both.tolist() == by_number.tolist()
    assert (by_both >= 0).any()


@needs_shared
def test_a_step_of_training_is_explained_frame_by_frame() -> None:
    timeline = simulated(shared_file(*FULL))
    table = attribute(timeline, "module").values
    cover = table.coverage
    times = numbers(table, "calls", "device_total_sum_ns", "device_self_sum_ns")
    encoder = times["nn.Module: TransformerEncoder_0"]
    assert cover.in_python == cover.on_ops == cover.total
    assert encoder[:2] == (2, cover.in_module.sum_ns + cover.in_module_by_forward.sum_ns)
    assert encoder[1] == sum(own for _, _, own in times.values())
    assert cover.in_module_by_forward.slices > cover.in_module.slices > 0


@needs_shared
@pytest.mark.parametrize("weight", ["device-sum", "device-union", "host-self"])
def test_stacks_of_a_step_of_training_are_a_file_that_speedscope_takes(weight: str) -> None:
    stacks = call_stacks(simulated(shared_file(*FULL)), weight=weight)
    file = json.loads(stacks.to_speedscope())
    assert faults(file) == []
    assert file["profiles"][0]["endValue"] == sum(stacks.values.weight_ns)
    assert {"name": "_single_tensor_adam", "file": "torch/optim/adam.py", "line": 347} in file["shared"]["frames"]


@needs_shared
def test_a_replayed_graph_is_where_python_replayed_it() -> None:
    trace = shared_file("traces", "public", "tracelens", "tests", "traces", "inference", "sglang_decode")
    (path,) = trace.glob("*.json.gz")
    table = attribute(merge(None, read_host(path)), "python").values
    replay = numbers(table, "launches_self", "slices_self")["torch/cuda/graphs.py(139): replay"]
    assert replay == (1, 544)
    assert (table.coverage.in_python, table.coverage.in_python_on_no_op.slices) == (table.coverage.total, 547)
