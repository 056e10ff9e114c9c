"""Device time by frame: text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from rblnpb.converters.results import AttributionTable, DeviceCoverage, DeviceTime, Frame
from rblnpb.converters.sinks.attribution import (
    attribution_order,
    render_attribution_csv,
    render_attribution_json,
    render_attribution_text,
    render_coverage,
)
from rblnpb.errors import Finding, Severity, UsageError

NONE = DeviceTime(0, 0, 0)
COVER = DeviceCoverage(
    total=DeviceTime(4, 4000, 3000),
    on_ops=DeviceTime(3, 3000, 2500),
    unattributed=DeviceTime(1, 1000, 500),
    by_rule={"launch-id": DeviceTime(3, 3000, 2500), "no-link": DeviceTime(1, 1000, 500)},
    in_module=DeviceTime(1, 1000, 900),
    in_module_by_forward=DeviceTime(1, 500, 400),
    in_python=DeviceTime(3, 3000, 2500),
    in_python_by_forward=NONE,
    in_python_on_no_op=NONE,
    launches=5,
    launches_on_ops=4,
)
TABLE = AttributionTable(
    by="module",
    frame=(Frame("nn.Module: L_0", "module"), Frame("=odd", "module"), Frame("(no module)", "none")),
    calls=(2, 1, 0),
    launches_self=(1, 0, 3),
    launches_total=(1, 1, 3),
    slices_self=(1, 1, 2),
    slices_total=(1, 2, 2),
    device_self_sum_ns=(1000, 500, 2500),
    device_self_union_ns=(900, 400, 1700),
    device_total_sum_ns=(1000, 1500, 2500),
    device_total_union_ns=(900, 1300, 1700),
    device_total_by_forward_ns=(0, 500, 0),
    host_self_ns=(70, 30, 1 << 64),
    host_total_ns=(70, 100, 1 << 64),
    sources=("a.pb", "t.json"),
    coverage=COVER,
    findings=(Finding(Severity.INFO, "crossing-calls", "2 calls cross", 2),),
)


def test_text_has_rows_and_below_them_what_they_speak_of() -> None:
    text = render_attribution_text(TABLE, [2, 0], width=200)
    assert [" ".join(line.split()) for line in text.splitlines() if not set(line) <= {"─", " "}] == [
        "Device time by module",
        "a.pb + t.json",
        "Module calls launches self sum self union self % total sum total union host self host total",
        "(no module) 0 3 2.500 µs 1.700 µs 62.5 % 2.500 µs 1.700 µs 18,446,744,073.710 s 18,446,744,073.710 s",
        "nn.Module: L_0 2 1 1.000 µs 900 ns 25.0 % 1.000 µs 900 ns 70 ns 70 ns",
        "1 of 3 rows are not shown",
        *(" ".join(line.split()) for line in render_coverage(COVER).splitlines()),
        "Findings: 1",
        "INFO 2 calls cross [crossing-calls]",
    ]


def test_a_narrow_text_has_the_most_telling_columns_and_says_what_is_missing() -> None:
    lines = [" ".join(line.split()) for line in render_attribution_text(TABLE, [0], width=80).splitlines()]
    assert lines[3] == "Module calls self sum self union self % total sum host total"
    assert "Left out for want of width: launches, total union, host self (--format json has all)" in " ".join(lines)


def test_coverage_says_what_has_no_answer() -> None:
    assert render_coverage(COVER).splitlines() == [
        "  Device time: 4.000 µs in 4 slices of work, 3.000 µs where overlaps count once",
        "  On an op: 3.000 µs (75.0 %), unattributed: 1.000 µs (25.0 %) (launch-id 3, no-link 1)",
        "  In a module: 1.000 µs (25.0 %), and 500 ns (12.5 %) by the op of the forward pass",
        "  In a Python frame: 3.000 µs (75.0 %)",
        "  Launches in an op: 4 of 5",
    ]


def test_coverage_tells_what_python_launched_in_no_op() -> None:
    lines = render_coverage(replace(COVER, in_python_on_no_op=DeviceTime(1, 400, 400))).splitlines()
    assert lines[3] == "  In a Python frame: 3.000 µs (75.0 %); 400 ns (10.0 %) of it on no op"


def test_coverage_of_nothing_has_no_percentages() -> None:
    nothing = DeviceCoverage(NONE, NONE, NONE, {}, NONE, NONE, NONE, NONE, NONE, 0, 0)
    assert render_coverage(nothing).splitlines()[1:3] == ["  On an op: 0 ns (-), unattributed: 0 ns (-)", "  In a module: 0 ns (-)"]


def test_json_has_exact_numbers_with_their_units() -> None:
    value = json.loads(render_attribution_json(TABLE, [1]))
    assert (value["schema"], value["by"], value["sources"]) == ("rblnpb.stacks/1", "module", ["a.pb", "t.json"])
    assert value["rows"] == [
        {
            "name": "=odd",
            "kind": "module",
            "calls": 1,
            "launches_self": 0,
            "launches_total": 1,
            "slices_self": 1,
            "slices_total": 2,
            "device_self_sum_ns": 500,
            "device_self_union_ns": 400,
            "device_total_sum_ns": 1500,
            "device_total_union_ns": 1300,
            "device_total_by_forward_ns": 500,
            "host_self_ns": 30,
            "host_total_ns": 100,
        }
    ]
    assert value["totals"] == {"row_count": 3, "device_self_sum_ns": 4000, "host_self_ns": str((1 << 64) + 100)}
    assert value["coverage"]["by_rule"]["no-link"] == {"slices": 1, "sum_ns": 1000, "busy_ns": 500}
    assert value["findings"][0]["code"] == "crossing-calls"


def test_csv_has_a_line_a_row_and_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(render_attribution_csv(TABLE, [1, 2]))))
    assert [(row["name"], row["kind"], row["device_self_sum_ns"]) for row in rows] == [
        ("'=odd", "module", "500"),
        ("(no module)", "none", "2500"),
    ]


@pytest.mark.parametrize(
    ("sort_by", "order"),
    [
        ("default", [2, 0, 1]),
        ("device_total_sum", [2, 1, 0]),
        ("calls", [0, 1, 2]),
        ("host_total_ns", [2, 1, 0]),
        (None, [0, 1, 2]),
    ],
)
def test_rows_are_sorted_by_a_column(sort_by: str | None, order: list[int]) -> None:
    assert attribution_order(TABLE, sort_by) == order


def test_without_a_device_the_hosts_time_sorts() -> None:
    assert attribution_order(replace(TABLE, coverage=replace(COVER, total=NONE)), "default") == [2, 0, 1]


def test_what_is_no_column_is_refused() -> None:
    with pytest.raises(UsageError, match="'name' is no column to sort by: calls, "):
        attribution_order(TABLE, "name")
