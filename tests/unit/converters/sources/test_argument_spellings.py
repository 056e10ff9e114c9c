"""Ids under unusual names, and what else links the rows of a trace."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace

USUAL = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1.0, "dur": 2.0, "args": {"External id": 7}}


def read(*events: dict[str, Any]) -> HostTrace:
    return read_host(io.BytesIO(json.dumps({"baseTimeNanoseconds": 0, "traceEvents": events}).encode()))


def links(category: str, args: dict[str, Any], phase: str = "X") -> tuple[int, int, int]:
    """External id, correlation id and launch id of an event with these arguments, among usual ones."""
    events = read(USUAL, {**USUAL, "ph": phase, "cat": category, "args": {"grid": [1], **args}}, USUAL).events
    return tuple(int(column[1]) for column in (events.external_id, events.correlation_id, events.launch_id))  # type: ignore[return-value]


@pytest.mark.parametrize("category", ["kernel", "cuda_runtime", "cpu_op"])
@pytest.mark.parametrize("key", ["External id", "external id", "External Id", "EXTERNAL ID", "external_id", "ExternalID"])
def test_the_id_of_an_op_may_be_written_in_any_case(key: str, category: str) -> None:
    assert links(category, {key: 5}) == (5, 0, 0)


@pytest.mark.parametrize(
    "key", ["correlation", "Correlation", "Correlation ID", "correlation id", "correlation_id", "CorrelationId"]
)
def test_the_id_of_a_call_may_be_written_in_any_case(key: str) -> None:
    assert links("kernel", {"External id": 3, key: 5}) == (3, 5, 0)


@pytest.mark.parametrize("key", ["launch_id", "Launch_ID", "launch id", "LaunchId"])
def test_the_id_of_a_launch_may_be_written_in_any_case(key: str) -> None:
    assert links("privateuse1_runtime", {key: 5}) == (0, 0, 5)


@pytest.mark.parametrize(("value", "expected"), [("5", 5), (5.0, 5), (2**63 + 1, 1 - 2**63), (2**64 - 1, 0), ("x", 0), (None, 0)])
@pytest.mark.parametrize("key", ["correlation", "Correlation ID"])
def test_an_id_may_be_a_text_and_have_64_bits(key: str, value: Any, expected: int) -> None:
    assert links("kernel", {key: value}) == (0, expected, 0)


def test_the_usual_name_goes_first() -> None:
    assert links("kernel", {"Correlation ID": 4, "correlation": 5, "External Id": 6}) == (0, 5, 0)


@pytest.mark.parametrize(("category", "phase"), [("python_function", "X"), ("Trace", "X"), ("", "X"), ("kernel", "i")])
def test_rows_that_nothing_links_are_not_looked_at(category: str, phase: str) -> None:
    assert links(category, {"Correlation ID": 5}, phase) == (0, 0, 0)


def test_what_is_no_number_is_counted_under_its_own_name() -> None:
    trace = read({**USUAL, "cat": "kernel", "args": {"Correlation ID": "x"}})
    assert [(finding.code, finding.count, finding.where) for finding in trace.findings] == [("odd-number", 1, "Correlation ID")]


def test_all_ids_of_a_file_may_have_64_bits() -> None:
    rows = [{**USUAL, "cat": "kernel", "args": {"correlation": 2**63 + place}} for place in range(3)]
    trace = read(*rows)
    assert trace.events.correlation_id.view("uint64").tolist() == [2**63 + place for place in range(3)]
    assert trace.findings == ()


def test_the_context_of_a_range_is_kept() -> None:
    trace = read(USUAL, {**USUAL, "args": {"External id": 8, "context": "0/0"}})
    assert [trace.strings[row] for row in trace.events.context.tolist()] == ["", '"0/0"']


@pytest.mark.parametrize(
    ("phase", "bound", "expected"), [("f", "e", "e"), ("t", "e", "e"), ("s", "e", ""), ("f", None, ""), ("f", "x", "")]
)
def test_where_an_arrow_ends_is_kept(phase: str, bound: str | None, expected: str) -> None:
    flow = {"ph": phase, "cat": "ac2g", "name": "ac2g", "id": 5, "pid": 1, "tid": 1, "ts": 1.5, "bp": bound}
    events = read(USUAL, {key: value for key, value in flow.items() if value is not None}, {**USUAL, "ph": "f"}).events
    assert events.binding_point.tolist() == [0, ord(expected) if expected else 0, 0]


@pytest.mark.parametrize("args", [{"correlation": 0}, {"Correlation ID": 0}, {"Correlation ID": "x"}])
def test_links_that_are_none_make_no_column(args: dict[str, Any]) -> None:
    events = read(*[{**USUAL, "args": {"External id": 0, **args}}] * 3).events

    # One value stands for all rows.
    assert events.correlation_id.strides == (0,)
    assert events.correlation_id.tolist() == [0, 0, 0]


@pytest.mark.parametrize("key", ["External id", "external id", "External ID"])
def test_an_id_that_is_none_is_counted_once(key: str) -> None:
    trace = read(USUAL, {**USUAL, "args": {key: 1.5}}, USUAL)

    assert [(finding.code, finding.count, finding.where) for finding in trace.findings] == [("odd-number", 1, key)]
