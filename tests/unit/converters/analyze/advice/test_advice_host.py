"""Rules on what a host trace shows."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.converters.analyze.advice.advice_host import host_habits
from rblnpb.converters.analyze.host.host_classes import host_classes
from rblnpb.converters.merging import merge
from rblnpb.converters.results import Advice
from tests.support.vendor_traces import host_trace, op, span


def habits(*events: dict[str, Any]) -> list[Advice]:
    host = host_trace(events)
    return list(host_habits(host_classes(merge(None, host), host)))


def told(advice: list[Advice]) -> list[tuple[str, int | None, int, str]]:
    return [(one.code, one.cost_ns, one.count, one.place) for one in advice]


def call(name: str, start_ns: int, correlation: int = 0) -> dict[str, Any]:
    return span("cuda_runtime", name, start_ns, start_ns + 10, correlation=correlation)


def scanned(name: str, start_ns: int) -> list[dict[str, Any]]:
    """An operator of 100 ns whose one input is scanned for 30."""
    return [
        op(name, start_ns, start_ns + 100),
        op("aten::isinf", start_ns + 10, start_ns + 25),
        op("aten::isnan", start_ns + 25, start_ns + 40),
    ]


def test_scans_cost_their_time() -> None:
    (found,) = habits(*scanned("aten::mm", 0), *scanned("aten::add", 200), *scanned("aten::mm", 400), op("aten::relu", 600, 700))
    assert told([found]) == [("nan-inf-checks", 90, 3, "aten::mm, aten::add")]
    assert found.evidence == "3 scans ahead of 3 operators, 22.5 % of the host's 400 ns"
    assert "TORCH_RBLN_DEPLOY=ON" in found.advice


def test_of_many_operators_three_are_named() -> None:
    (found,) = habits(*(event for at, name in enumerate("abcde") for event in scanned(f"aten::{name}", 200 * at)))
    assert found.place == "aten::a, aten::b, aten::c and 2 more"


@pytest.mark.parametrize("count", [7, 8])
def test_waits_of_one_name_are_told_from_eight_on(count: int) -> None:
    step = [op("aten::step", 0, 10_000), *(call("cudaStreamSynchronize", 100 * at + 50) for at in range(count))]
    wanted = [("synchronise-in-loop", 80, 8, "aten::step")] if count == 8 else []
    assert told(habits(*step)) == wanted


def test_waits_in_no_operator_are_named_by_the_call() -> None:
    waits = [call("cudaDeviceSynchronize", 100 * at) for at in range(8)]
    assert told(habits(op("aten::mm", 5_000, 6_000), *waits)) == [("synchronise-in-loop", 80, 8, "cudaDeviceSynchronize")]


def test_waits_of_two_places_are_two() -> None:
    waits = [
        event
        for at in range(15)
        for event in (op(f"aten::f{at % 2}", 100 * at, 100 * at + 90), call("hipSynchronize", 100 * at + 20))
    ]
    assert told(habits(*waits)) == [("synchronise-in-loop", 80, 8, "aten::f0")]


def test_numbers_that_are_read_back_one_by_one_are_small_downloads() -> None:
    items = [
        event
        for at in range(8)
        for event in (
            op("aten::item", 1_000 * at, 1_000 * at + 100),
            op("aten::_local_scalar_dense", 1_000 * at + 10, 1_000 * at + 90),
            call("cudaMemcpyAsync", 1_000 * at + 20, at + 1),
            span("gpu_memcpy", "Memcpy DtoH", 1_000 * at + 40, 1_000 * at + 50, pid=0, tid=7, correlation=at + 1),
        )
    ]
    assert told(habits(*items)) == [("small-downloads", 640, 8, "aten::_local_scalar_dense")]
    assert habits(*items[:28]) == []


def test_numbers_of_the_cpu_are_no_copies() -> None:
    assert habits(*(op("aten::_local_scalar_dense", 100 * at, 100 * at + 50) for at in range(20))) == []
