"""Which ops of a host trace would have launched work."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.analyze.launches.launch_plan import planned_launches
from rblnpb.converters.merging.correlate import match_launches, native_tracks
from rblnpb.converters.sources.kineto import read_host
from tests.support.shared_traces import BUNDLED_TRACE
from tests.support.vendor_traces import HOST_PID, MAIN, WORKER, Json, annotation, host_trace, metadata, op, span, unix_ns


def planned(*events: Json) -> list[tuple[str, int]]:
    """(op, time since the session's start) of each launch."""
    plan = planned_launches(host_trace(events))
    return [(name, time_ns - unix_ns(0)) for name, time_ns in zip(plan.ops, plan.time_ns.tolist(), strict=True)]


def test_an_op_that_computes_launches_a_quarter_into_itself() -> None:
    assert planned(op("aten::mm", 1000, 2000)) == [("aten::mm", 1250)]


def test_of_nested_ops_the_one_that_holds_no_other_launches() -> None:
    assert planned(op("aten::linear", 1000, 2000), op("aten::addmm", 1100, 1500)) == [("aten::addmm", 1200)]


def test_an_op_around_one_that_launches_nothing_launches_after_it() -> None:
    assert planned(op("aten::softmax", 1000, 2000), op("aten::empty", 1100, 1200)) == [("aten::softmax", 1400)]


def test_each_thread_has_its_own_ops_in_order_of_time() -> None:
    plan = planned_launches(host_trace([op("aten::mm", 5000, 5400), op("aten::add", 1000, 1400, tid=WORKER)]))
    assert (plan.ops, plan.tid.tolist(), plan.pid.tolist()) == (("aten::add", "aten::mm"), [WORKER, MAIN], [HOST_PID, HOST_PID])


@pytest.mark.parametrize(
    "name",
    [
        "aten::view",
        "aten::t",
        "aten::empty_strided",
        "aten::_local_scalar_dense",
        "aten::resolve_conj",
        "aten::to",
        "autograd::engine::evaluate_function: MmBackward0",
        "ProfilerStep#1",
        "Torch-Compiled Region: 0/0",
        "nccl:all_reduce",
        "c10d::allreduce_",
    ],
)
def test_what_only_describes_reserves_or_waits_launches_nothing(name: str) -> None:
    assert planned(op(name, 1000, 2000)) == []


@pytest.mark.parametrize(
    "row",
    [
        annotation("aten::mm", 1000, 2000),
        op("aten::mm", 1000, 1000),
        span("cpu_op", "aten::mm", 1000, 2000, tid="worker"),
        span("kernel", "aten::mm", 1000, 2000),
    ],
)
def test_only_ops_of_a_native_thread_that_take_time_launch(row: Json) -> None:
    assert planned(row) == []


def test_threads_that_the_trace_names_keep_their_names() -> None:
    plan = planned_launches(host_trace([metadata("thread_name", HOST_PID, MAIN, name="main")]))
    assert (len(plan), plan.thread_names) == (0, {MAIN: "main"})


def test_every_launch_of_a_real_trace_lies_on_the_op_that_it_was_planned_for() -> None:
    host = read_host(BUNDLED_TRACE)
    plan = planned_launches(host)
    rows, _ = match_launches(host, native_tracks(host, plan.pid, plan.tid), plan.time_ns)
    assert [host.strings[name] for name in host.events.name[rows].tolist()] == list(plan.ops)
    assert np.unique(rows).size == len(plan) > 300
