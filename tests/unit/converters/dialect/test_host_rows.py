"""The host's side of a trace."""

from __future__ import annotations

import pytest

from rblnpb.converters.dialect import annotation_rows, op_rows
from rblnpb.converters.dialect.host_rows import host_pids
from tests.support.vendor_traces import HOST_PID, Json, annotation, host_trace, metadata, op, span


@pytest.mark.parametrize(
    "name",
    ["ProfilerStep#7", "enumerate(DataLoader)#_SingleProcess", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"],
)
def test_ranges_that_old_torch_wrote_as_operators_are_annotations(name: str) -> None:
    trace = host_trace([span("Operator", name, 0, 9), span("Operator", "aten::mm", 1, 2), annotation("mine", 0, 9)])
    assert (op_rows(trace).tolist(), annotation_rows(trace).tolist()) == ([1], [0, 2])


@pytest.mark.parametrize(
    "event", [op("aten::mm", 0, 9), annotation("step", 0, 9), metadata("process_labels", HOST_PID, labels="CPU")]
)
def test_a_process_of_the_host_runs_ops_or_annotations_or_has_its_label(event: Json) -> None:
    assert host_pids(host_trace([event, span("kernel", "k", 0, 9, pid=0, tid=0)]), {0}) == {HOST_PID}


def test_functions_whose_thread_is_not_known_make_a_device_no_host() -> None:
    stray = span("python_function", "f", 0, 9, pid=0, tid=0)
    assert host_pids(host_trace([stray]), {0}) == set()
    assert host_pids(host_trace([stray]), set()) == {0}
