"""The viewers themselves: a trace with a known defect must make them complain, or their silence means nothing."""

from __future__ import annotations

import json

import pytest

from tests.browser.viewers import FLOW_ERRORS, IMPORT_ERRORS, CatapultModel, catapult_import, catapult_warnings, perfetto_query

pytestmark = pytest.mark.browser

OUTER = {"ph": "X", "name": "outer", "pid": 1, "tid": 1, "ts": 0, "dur": 10}
CROSSING = {"ph": "X", "name": "crossing", "pid": 1, "tid": 1, "ts": 5, "dur": 10}
FLOW_END = {"ph": "f", "bp": "e", "name": "arrow", "cat": "c", "id": 1, "pid": 1, "tid": 1, "ts": 5}


def document(*events: dict[str, object]) -> bytes:
    return json.dumps({"traceEvents": events}).encode()


def test_perfetto_rows_are_exact_and_in_order() -> None:
    queries = [
        "select name, dur from slice",
        "select 9007199254740993 as big, 0.5 as half, null as none",
        "select 1 as n where false",
    ]

    assert perfetto_query(document(OUTER), *queries) == [
        [{"name": "outer", "dur": 10_000}],
        [{"big": 9007199254740993, "half": 0.5, "none": None}],
        [],
    ]


def test_perfetto_names_slices_that_cross() -> None:
    (errors,) = perfetto_query(document(OUTER, CROSSING), IMPORT_ERRORS)

    assert errors == [{"name": "slice_drop_overlapping_complete_event", "value": 1, "severity": "error"}]


def test_perfetto_names_a_flow_end_without_a_start() -> None:
    (errors,) = perfetto_query(document(OUTER, FLOW_END), FLOW_ERRORS)

    assert errors == [{"name": "flow_end_without_start", "value": 1, "severity": "info"}]


def test_perfetto_refuses_what_is_no_trace() -> None:
    with pytest.raises(AssertionError, match="Unknown trace type"):
        perfetto_query(b"hello, world")


def test_perfetto_refuses_a_wrong_query() -> None:
    with pytest.raises(AssertionError, match="no such table"):
        perfetto_query(document(OUTER), "select 1 from nowhere")


def test_catapult_finds_no_fault_with_a_good_trace() -> None:
    assert catapult_import(document(OUTER)) == CatapultModel(slices=1, instants=0, counters=0, flows=0, warnings=())


def test_catapult_names_an_end_without_a_beginning() -> None:
    (warning,) = catapult_warnings(document({"ph": "E", "name": "outer", "pid": 1, "tid": 1, "ts": 0}))

    assert warning.startswith("duration_parse_error")


def test_catapult_names_a_flow_end_without_a_start() -> None:
    (warning,) = catapult_warnings(document(OUTER, FLOW_END))

    assert warning.startswith("flow_slice_ordering_error")
