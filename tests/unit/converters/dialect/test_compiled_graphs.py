"""Which ranges name the compiled graph that ran in them."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.converters.dialect import compile_id_rows
from tests.support.vendor_traces import Json, host_trace, span


def graphs(*events: Json) -> list[str]:
    trace = host_trace(events)
    rows, graph, ids = compile_id_rows(trace)
    assert len(rows) == len(graph)
    return [ids[row] for row in graph.tolist()]


def region(name: str, **args: Any) -> Json:
    return span("cpu_op", name, 0, 9, **args)


@pytest.mark.parametrize(
    ("name", "graph"),
    [
        ("Torch-Compiled Region: 0/0", "0/0"),
        ("Torch-Compiled Region: 12/3_1", "12/3_1"),
        ("Torch-Compiled Region: !0/1/2 (backward)", "!0/1/2"),
        ("Dispatched Region: 4/0", "4/0"),
        ("Dispatched Region: decoder", "decoder"),
    ],
)
def test_a_region_names_its_graph_behind_a_colon(name: str, graph: str) -> None:
    assert graphs(region(name)) == [graph]


@pytest.mark.parametrize(("context", "graph"), [("0/1", "0/1"), ("Torch-Compiled Region: 0/1", "0/1"), ("0/1 of the model", "0/1")])
def test_a_region_may_name_its_graph_beside_its_name(context: str, graph: str) -> None:
    assert graphs(region("Torch-Compiled Region", context=context)) == [graph]


@pytest.mark.parametrize(
    "event",
    [
        region("Torch-Compiled Region"),
        region("aten::mm", context="0/0"),
        region("a Torch-Compiled Region: 0/0"),
        {**region("Torch-Compiled Region: 0/0"), "ph": "i"},
    ],
)
def test_what_names_no_graph_is_left_out(event: Json) -> None:
    assert graphs(event) == []


def test_each_range_has_its_own_graph() -> None:
    names = ("Torch-Compiled Region: 0/0", "Torch-Compiled Region: 1/0", "Torch-Compiled Region: 0/0", "aten::mm")
    assert graphs(*map(region, names)) == ["0/0", "1/0", "0/0"]


def test_a_trace_without_events_has_no_graphs() -> None:
    trace = host_trace([], window_ns=None)
    assert [len(column) for column in compile_id_rows(trace)] == [0, 0, 0]
