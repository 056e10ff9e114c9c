"""Arrows of a trace."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.errors import Severity
from tests.support.checked_traces import Found, checked, event, x
from tests.support.vendor_traces import Json

SLICES = [x("a", 0, 10), x("b", 20, 10, tid=2)]


def arrow(phase: str, ts: int, **members: Any) -> Json:
    return event(phase, ts, **{"name": "f", "cat": "c", "id": 1, **({"bp": "e"} if phase == "f" else {}), **members})


def found(*arrows: Json) -> Found:
    return checked([*SLICES, *arrows])


def test_an_arrow_from_slice_to_slice_is_right_and_may_end_often() -> None:
    assert found(arrow("s", 1), arrow("t", 20, tid=2), arrow("f", 30, tid=2), arrow("f", 21, tid=2)) == {}


@pytest.mark.parametrize(
    ("arrows", "code", "severity", "rows"),
    [
        ([arrow("s", 1)], "flow-without-end", Severity.INFO, [2]),
        ([arrow("f", 20, tid=2)], "flow-without-start", Severity.INFO, [2]),
        ([arrow("t", 20, tid=2)], "flow-without-start", Severity.INFO, [2]),
        ([arrow("s", 1), arrow("s", 2), arrow("f", 20, tid=2)], "flow-started-twice", Severity.WARNING, [3]),
        ([arrow("s", 1), arrow("f", 5), arrow("s", 6), arrow("f", 20, tid=2)], "flow-id-reused", Severity.INFO, [4]),
        ([arrow("s", 1), arrow("s", 1), arrow("f", 20, tid=2)], "flow-id-reused", Severity.INFO, [3]),
        ([arrow("s", 1), arrow("f", 20, tid=2, bp="x")], "flow-to-next-slice", Severity.WARNING, [3]),
        ([arrow("s", 1), arrow("f", 31, tid=2)], "flow-outside-slices", Severity.WARNING, [3]),
        ([arrow("s", 11), arrow("f", 20, tid=2)], "flow-outside-slices", Severity.WARNING, [2]),
    ],
)
def test_an_arrow_that_is_not(arrows: list[Json], code: str, severity: Severity, rows: list[int]) -> None:
    assert found(*arrows) == {code: (severity, len(rows), rows)}


def test_an_end_before_its_start_is_two_halves() -> None:
    assert found(arrow("f", 1), arrow("s", 20, tid=2)) == {
        "flow-without-start": (Severity.INFO, 1, [2]),
        "flow-without-end": (Severity.INFO, 1, [3]),
    }


def test_ids_are_told_apart_by_category_and_name() -> None:
    assert found(arrow("s", 1), arrow("f", 20, tid=2, cat="d"))["flow-without-start"] == (Severity.INFO, 1, [3])
    assert found(arrow("s", 1), arrow("f", 20, tid=2, name="g"))["flow-without-start"] == (Severity.INFO, 1, [3])


def test_a_number_and_its_text_are_one_id() -> None:
    assert found(arrow("s", 1, id=16), arrow("f", 20, tid=2, id="0x10")) == {}
    assert found(arrow("s", 1, id="x"), arrow("f", 20, tid=2, id="x")) == {}


def test_without_an_id_there_is_no_arrow() -> None:
    rows = [{key: value for key, value in arrow(phase, 1).items() if key != "id"} for phase in "sf"]
    assert found(*rows) == {"flow-without-id": (Severity.WARNING, 2, [2, 3])}


def test_a_slice_of_begin_and_end_holds_an_arrow_too() -> None:
    rows = [event("B", 40, name="c"), event("E", 50, name="c"), arrow("s", 45), arrow("f", 20, tid=2)]
    # The file has an end before its start then, and no arrow outside of slices.
    assert "flow-outside-slices" not in found(*rows)
