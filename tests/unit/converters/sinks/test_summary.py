"""The key_averages table for programs."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.torch_table.key_averages import key_averages
from rblnpb.converters.results import KeyAverages
from rblnpb.converters.sinks.summary import render_summary_csv, render_summary_json
from rblnpb.errors import Finding, Severity
from tests.support.vendor_traces import DEVICE_PID, host_trace, op, span

KERNEL = span("kernel", "mm", 2500, 2600, pid=DEVICE_PID, tid=7, **{"External id": 2})
LOST = span("gpu_memcpy", "copy", 2600, 2660, pid=DEVICE_PID, tid=7)
EVENTS = (op("aten::matmul", 1000, 3000, external_id=1), op("aten::mm", 1200, 2000, external_id=2), KERNEL, LOST)


def table(*events: Any, **more: Any) -> KeyAverages:
    return key_averages(host_trace(events or EVENTS, **more))


def row(name: str, kind: str, *numbers: int) -> dict[str, Any]:
    keys = ("count", "self_cpu_time_total_ns", "cpu_time_total_ns", "self_device_time_total_ns", "device_time_total_ns")
    return {"name": name, "kind": kind, **dict(zip(keys, numbers, strict=True))}


def test_the_whole_as_json() -> None:
    text = render_summary_json(table(), [0, 1, 2, 3], (Finding(Severity.INFO, "a-note", "n"),))
    assert text.endswith(b"}\n")
    assert json.loads(text) == {
        "schema": "rblnpb.summary/1",
        "by": "op",
        "device_name": "RBLN",
        "rows": [
            row("aten::matmul", "op", 1, 1200, 2000, 0, 100),
            row("aten::mm", "op", 1, 800, 800, 100, 100),
            row("mm", "device", 1, 0, 0, 100, 100),
            row("copy", "device", 1, 0, 0, 60, 60),
        ],
        "totals": {
            "self_cpu_time_total_ns": 2000,
            "self_device_time_total_ns": 160,
            "attributed_device_time_ns": 100,
            "unattributed_device_time_ns": 60,
            "row_count": 4,
        },
        "findings": [{"severity": "info", "code": "a-note", "message": "n", "count": 1, "where": ""}],
    }


def test_rows_come_in_the_order_asked_for_and_totals_speak_of_all() -> None:
    value = json.loads(render_summary_json(table(), [2], ()))
    assert ([found["name"] for found in value["rows"]], value["totals"]["row_count"]) == (["mm"], 4)


@pytest.mark.parametrize(
    ("metadata", "keys"),
    [
        ({}, []),
        (
            {"profile_memory": 1},
            ["cpu_memory_bytes", "self_cpu_memory_bytes", "device_memory_bytes", "self_device_memory_bytes"],
        ),
        ({"with_flops": 1}, ["flops"]),
    ],
)
def test_memory_and_operations_are_told_where_they_were_recorded(metadata: dict[str, int], keys: list[str]) -> None:
    (found, *_) = json.loads(render_summary_json(table(**metadata), [0], ()))["rows"]
    assert list(found)[7:] == keys


def test_shapes_are_told_where_rows_are_told_apart_by_them() -> None:
    averages = key_averages(host_trace([op("aten::mm", 0, 9)]), group_by_input_shape=True)
    assert json.loads(render_summary_json(averages, [0], ()))["rows"][0]["input_shapes"] == "[]"


def test_the_whole_as_csv() -> None:
    assert render_summary_csv(table(), [1, 2]) == (
        "name,kind,count,self_cpu_time_total_ns,cpu_time_total_ns,self_device_time_total_ns,device_time_total_ns\n"
        "aten::mm,op,1,800,800,100,100\n"
        "mm,device,1,0,0,100,100\n"
    )


def test_csv_of_nothing_is_its_header() -> None:
    assert len(render_summary_csv(table(op("aten::mm", 0, 9)), []).splitlines()) == 1


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", "\ta", "\ra"])
def test_a_name_that_a_spreadsheet_would_compute_is_a_text(name: str) -> None:
    (_, found) = csv.reader(io.StringIO(render_summary_csv(table(op(name, 0, 9)), [0]), newline=""))
    assert found[0] == f"'{name}"


def test_commas_quotes_and_line_feeds_come_back() -> None:
    name = 'a,"b"\nc'
    (_, found) = csv.reader(io.StringIO(render_summary_csv(table(op(name, 0, 9)), [0]), newline=""))
    assert found[0] == name


def test_numbers_are_never_quoted_against_formulas() -> None:
    averages = table()
    averages = KeyAverages(**{**vars(averages), "self_cpu_time_total_ns": np.full(4, -5)})
    assert ",-5," in render_summary_csv(averages, [0])
