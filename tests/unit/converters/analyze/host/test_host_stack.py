"""What threads of the host had open."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.converters import read_host
from rblnpb.converters.analyze.host.host_stack import HostStack, host_stack
from rblnpb.converters.analyze.torch_table.key_averages import key_averages
from tests.support.shared_traces import BUNDLED_TRACE, host_trace_paths
from tests.support.vendor_traces import Launch, first_emitter, host_trace, op, span

FRAME = "python_function"


def stack_of(*events: dict[str, Any]) -> HostStack:
    return host_stack(host_trace(events, window_ns=None))


def names(stack: HostStack) -> list[str]:
    return [stack.names[row] for row in stack.name.tolist()]


def test_callers_stand_before_what_they_call() -> None:
    stack = stack_of(op("aten::mm", 20, 30), op("aten::matmul", 10, 40), op("aten::add", 50, 60))
    assert names(stack) == ["aten::matmul", "aten::mm", "aten::add"]
    assert stack.parent.tolist() == [-1, 0, -1]
    assert stack.without_calls(stack.end_ns - stack.start_ns).tolist() == [20, 10, 10]


def test_threads_nest_apart() -> None:
    assert stack_of(op("a", 0, 40), op("b", 10, 20, tid=7)).parent.tolist() == [-1, -1]


def test_ranges_and_frames_are_no_operators() -> None:
    stack = stack_of(
        op("aten::mm", 0, 40),
        span(FRAME, "file.py(1): f", 5, 35),
        op("aten::isinf", 10, 20),
        span("user_annotation", "step", 50, 60),
    )
    assert stack.is_op.tolist() == [True, False, True, False]
    assert (stack.parent.tolist(), stack.op_parent.tolist()) == ([-1, 0, 1, -1], [-1, 0, 0, -1])


def test_rows_of_a_device_are_not_the_hosts() -> None:
    stack = stack_of(op("aten::mm", 1_000, 2_000), *first_emitter([Launch(1, 1_500, 2_500)]))
    assert names(stack) == ["aten::mm", "rbln_run"]


def test_overloads_are_no_names() -> None:
    stack = stack_of(op("aten::add.Tensor", 0, 1), op("aten::add", 2, 3))
    assert (stack.names, stack.name.tolist()) == (("aten::add",), [0, 0])
    assert stack.named("aten::add").tolist() == [True, True]


def test_what_may_end_elsewhere_neither_calls_nor_is_called() -> None:
    stack = stack_of(op("step", 0, 40), span("user_annotation", "gloo:all_reduce", 5, 30), op("aten::add", 10, 20))
    assert (stack.is_async.tolist(), stack.parent.tolist()) == ([False, True, False], [-1, -1, 0])


def test_a_trace_without_slices_has_no_rows() -> None:
    stack = stack_of()
    assert (len(stack), stack.named("aten::mm").tolist()) == (0, [])


@pytest.mark.parametrize("path", [BUNDLED_TRACE, *host_trace_paths().values()], ids=lambda path: path.parent.name)
def test_self_times_are_those_of_torchs_table(path: Any) -> None:
    host = read_host(path)
    stack = host_stack(host)
    total_ns = int(stack.without_calls(stack.end_ns - stack.start_ns).sum())
    assert total_ns == int(key_averages(host).self_cpu_time_total_ns.sum())
