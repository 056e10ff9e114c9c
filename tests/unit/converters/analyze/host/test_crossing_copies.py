"""What calls of a runtime are for, and which operators copy across devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.host.crossing_copies import (
    COPY,
    DOWNLOAD,
    LAUNCH,
    NOTHING,
    UPLOAD,
    WAIT,
    call_purposes,
    copy_directions,
)
from rblnpb.converters.analyze.host.host_stack import host_stack
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import HostTrace
from tests.support.vendor_traces import host_trace, op, span


def call(name: str, start_ns: int, correlation: int) -> dict[str, Any]:
    return span("cuda_runtime", name, start_ns, start_ns + 10, correlation=correlation)


def row(category: str, name: str, start_ns: int, correlation: int) -> dict[str, Any]:
    return span(category, name, start_ns, start_ns + 10, pid=0, tid=7, correlation=correlation)


def purposes(*events: dict[str, Any]) -> list[int]:
    host = host_trace(events, window_ns=None)
    found: list[int] = call_purposes(host, host.rows("X", "cuda_runtime")).tolist()
    return found


@pytest.mark.parametrize(
    ("category", "name", "purpose"),
    [
        ("kernel", "gemm", LAUNCH),
        ("gpu_memset", "Memset (Device)", LAUNCH),
        ("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", UPLOAD),
        ("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", DOWNLOAD),
        ("gpu_memcpy", "Memcpy DtoD (Device -> Device)", LAUNCH),
        ("gpu_memcpy", "CopyHostToDevice", UPLOAD),
        ("cuda_sync", "Stream Sync", WAIT),
    ],
)
def test_a_call_is_for_what_it_leads_to(category: str, name: str, purpose: int) -> None:
    assert purposes(op("aten::f", 0, 100), call("anyName", 10, 5), row(category, name, 50, 5)) == [purpose]


def test_a_wait_without_a_row_of_its_own_is_told_by_its_name() -> None:
    assert purposes(op("aten::f", 0, 100), call("cudaDeviceSynchronize", 10, 5), call("cudaMalloc", 30, 6)) == [WAIT, NOTHING]


def test_correlation_0_joins_nothing() -> None:
    assert purposes(op("aten::f", 0, 100), call("a", 10, 0), row("kernel", "k", 50, 0)) == [NOTHING]


def directions(host: HostTrace) -> dict[str, int]:
    stack = host_stack(host)
    purpose = np.where(stack.is_op, NOTHING, call_purposes(host, stack.row))
    found = copy_directions(merge(None, host), host, stack, purpose)
    return dict(zip([stack.names[row] for row in stack.name.tolist()], found.tolist(), strict=True))


def test_operators_that_copy_within_each_other_share_the_way() -> None:
    events = [op(f"aten::{name}", at, 100 - at) for at, name in enumerate(("linear", "to", "_to_copy", "copy_"))]
    host = host_trace([*events, call("cudaMemcpyAsync", 20, 5), row("gpu_memcpy", "Memcpy HtoD", 60, 5)], window_ns=None)
    assert directions(host) == {
        "aten::linear": NOTHING,
        "aten::to": UPLOAD,
        "aten::_to_copy": UPLOAD,
        "aten::copy_": UPLOAD,
        "cudaMemcpyAsync": UPLOAD,
    }


def test_the_copy_of_a_device_without_calls_crosses_whichever_way() -> None:
    events = [op(f"aten::{name}", at, 100 - at) for at, name in enumerate(("to", "_to_copy", "copy_", "_copy_from"))]
    assert set(directions(host_trace(events, window_ns=None)).values()) == {COPY}


def test_a_copy_that_stays_on_the_host_does_not_cross() -> None:
    assert directions(host_trace([op("aten::to", 0, 100), op("aten::copy_", 10, 90)], window_ns=None)) == {
        "aten::to": NOTHING,
        "aten::copy_": NOTHING,
    }


def test_a_row_that_names_its_operator_tells_the_way() -> None:
    memcpy = span("gpu_memcpy", "Memcpy DtoH", 50, 60, pid=0, tid=7, **{"External id": 3})
    host = host_trace([op("aten::copy_", 0, 100, external_id=3), memcpy], window_ns=None)
    assert directions(host) == {"aten::copy_": DOWNLOAD}
