"""Counters of a trace."""

from __future__ import annotations

from typing import Any

from rblnpb.errors import Severity
from tests.support.checked_traces import checked, event
from tests.support.vendor_traces import Json


def sample(ts: int, **args: Any) -> Json:
    return event("C", ts, name="power", args=args)


def test_values_that_are_no_numbers() -> None:
    rows = [
        sample(0, v=1, w=2.5),
        sample(1, v="3"),
        sample(2, v="x", w=None),
        sample(3, v=True),
        sample(4),
        event("C", 5, name="power"),
    ]
    assert checked(rows) == {
        "counter-without-value": (Severity.WARNING, 2, [4, 5]),
        "counter-not-a-number": (Severity.WARNING, 3, [2, 2, 3]),
    }


def test_values_that_are_not_finite() -> None:
    assert checked([sample(0, v="Infinity"), sample(1, v=1)]) == {"not-finite": (Severity.WARNING, 1, [0])}


def test_samples_out_of_order() -> None:
    assert checked([sample(5, v=1), sample(2, w=1), sample(3, v=1)]) == {"unsorted-samples": (Severity.INFO, 1, [2])}


def test_what_can_only_grow_and_falls() -> None:
    rows = [sample(0, sent_total=5, used=5), sample(1, sent_total=3, used=3), sample(2, sent_total=3), sample(3, sent_total=9)]
    assert checked(rows) == {"counter-fell": (Severity.WARNING, 1, [1])}
    # Of other processes and under other ids it is another counter.
    assert checked([rows[0], {**rows[1], "pid": 5}]) == {}
    assert checked([{**rows[0], "id": 1}, {**rows[1], "id": 2}]) == {}
