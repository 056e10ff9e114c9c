"""Scans that nobody wrote, and those that somebody did."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.converters import read_host
from rblnpb.converters.analyze.host.host_stack import host_stack
from rblnpb.converters.analyze.host.input_checks import input_checks
from tests.support.shared_traces import needs_shared, shared_file
from tests.support.vendor_traces import host_trace, op, span


def found(*events: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The outermost rows of scans, and the operators ahead of which they were made; names with their start."""
    stack = host_stack(host_trace(events, window_ns=None))
    checks = input_checks(stack)
    base_ns = int(stack.start_ns.min()) if len(stack) else 0

    def told(rows: Any) -> list[str]:
        return [f"{stack.names[stack.name[row]].removeprefix('aten::')} {stack.start_ns[row] - base_ns}" for row in rows.tolist()]

    return told(checks.roots), told(checks.scanned_for)


def test_a_scan_is_a_pair_within_an_operator_with_the_copy_ahead_of_it() -> None:
    assert found(
        op("aten::mm", 0, 100),
        op("aten::to", 10, 20),
        op("aten::isinf", 20, 30),
        op("aten::abs", 21, 25),
        op("aten::isnan", 30, 40),
        op("aten::ne", 31, 35),
        op("aten::mm", 50, 90),
    ) == (["to 10", "isinf 20", "isnan 30"], ["mm 0"])


def test_each_input_is_a_scan() -> None:
    calls = ("to", "isinf", "isnan", "to", "isinf", "isnan")
    assert found(
        op("aten::mm", 0, 100), *(op(f"aten::{name}", 10 * at, 10 * at + 5) for at, name in enumerate(calls, start=1))
    ) == (
        ["to 10", "isinf 20", "isnan 30", "to 40", "isinf 50", "isnan 60"],
        ["mm 0", "mm 0"],
    )


def test_a_scan_needs_no_copy_and_may_begin_with_either_half() -> None:
    assert found(op("aten::mm", 0, 100), op("aten::isnan", 10, 20), op("aten::isinf", 20, 30)) == (
        ["isnan 10", "isinf 20"],
        ["mm 0"],
    )


def test_what_the_program_calls_itself_is_no_scan() -> None:
    assert found(op("aten::isinf", 0, 10), op("aten::isnan", 10, 20)) == ([], [])


def test_a_range_or_a_frame_of_the_program_is_no_operator() -> None:
    for category in ("user_annotation", "python_function"):
        assert found(span(category, "mine::check", 0, 100), op("aten::isinf", 10, 20), op("aten::isnan", 20, 30)) == ([], [])


@pytest.mark.parametrize("name", ["autograd::engine::evaluate_function: MyBackward", "MyBackward", "Torch-Compiled Region: 0/0"])
def test_code_of_the_program_runs_in_frames_of_autograd_and_of_compiled_regions(name: str) -> None:
    assert found(op(name, 0, 100), op("aten::isinf", 10, 20), op("aten::isnan", 20, 30)) == ([], [])


def test_frames_between_an_operator_and_its_scan_do_not_hide_it() -> None:
    assert found(
        op("aten::mm", 0, 100),
        span("python_function", "placing.py(9): f", 5, 60),
        op("aten::isinf", 10, 20),
        op("aten::isnan", 20, 30),
    ) == (["isinf 10", "isnan 20"], ["mm 0"])


def test_halves_of_one_kind_are_no_pair() -> None:
    assert found(op("aten::isclose", 0, 100), op("aten::isnan", 10, 20), op("aten::isnan", 20, 30)) == ([], [])


def test_halves_with_something_between_them_are_no_pair() -> None:
    events = op("aten::f", 0, 100), op("aten::isinf", 10, 20), op("aten::add", 20, 30), op("aten::isnan", 30, 40)
    assert found(*events) == ([], [])


def test_the_operator_itself_is_not_taken_for_a_half() -> None:
    # The program asks for NaN; its input is scanned ahead, then the operator itself runs.
    assert found(op("aten::isnan", 0, 100), op("aten::isinf", 10, 20), op("aten::isnan", 20, 30), op("aten::isnan", 30, 40)) == (
        ["isinf 10", "isnan 20"],
        ["isnan 0"],
    )


def test_halves_on_two_threads_are_no_pair() -> None:
    assert found(
        op("aten::mm", 0, 100), op("aten::isinf", 10, 20), op("aten::mm", 0, 100, tid=7), op("aten::isnan", 20, 30, tid=7)
    ) == (
        [],
        [],
    )


@needs_shared
@pytest.mark.parametrize("folder", ["profile_matmul_rbln_sim_vendorlike", "profile_matmul_rbln_sim_attributed"])
def test_three_products_scan_six_inputs(folder: str) -> None:
    stack = host_stack(read_host(shared_file("traces", "host", folder, "trace.json")))
    checks = input_checks(stack)
    names = [stack.names[row] for row in stack.name[checks.roots].tolist()]
    assert (len(checks.scanned_for), len(set(checks.scanned_for.tolist()))) == (6, 3)
    assert names == ["aten::to", "aten::isinf", "aten::isnan"] * 6


@needs_shared
@pytest.mark.parametrize("folder", ["profile_matmul_cpu", "transformer_train_full", "resnet_train_flops", "schedule_cycle0"])
def test_runs_on_a_cpu_scan_nothing(folder: str) -> None:
    path = next(iter(sorted(shared_file("traces", "host", folder).glob("trace.json*"))))
    assert len(input_checks(host_stack(read_host(path))).roots) == 0
