"""References between host and device."""

from __future__ import annotations

from rblnpb.errors import Severity
from tests.support.checked_traces import checked, kernel, op, x
from tests.support.vendor_traces import Json


def call(ts: int, correlation: int, name: str = "launch") -> Json:
    return x(name, ts, 1, cat="cuda_runtime", args={"correlation": correlation})


OP = op("mm", 0, 9, **{"External id": 4})


def test_what_fits() -> None:
    assert checked([OP, call(1, 5), kernel(3, 2, correlation=5, **{"External id": 4})]) == {}


def test_a_launch_that_is_not_there() -> None:
    rows = [OP, call(1, 5), kernel(3, 2, correlation=5), kernel(6, 1, correlation=6)]
    assert checked(rows) == {"launch-not-recorded": (Severity.WARNING, 1, [3])}


def test_where_no_launch_is_shown_at_all_none_can_be_missing() -> None:
    assert checked([OP, kernel(3, 2, correlation=5)]) == {"no-launches": (Severity.INFO, 1, [1])}


def test_a_launch_id_of_zero_is_none() -> None:
    rows = [OP, call(1, 5), kernel(3, 2, correlation=5), kernel(6, 1, correlation=0)]
    assert checked(rows) == {"launch-id-0": (Severity.WARNING, 1, [3])}
    # Where no row has an id, the format has none.
    assert checked([OP, kernel(6, 1)]) == {}


def test_an_op_that_is_not_there() -> None:
    rows = [OP, call(1, 5), kernel(3, 2, correlation=5, **{"External id": 77})]
    assert checked(rows) == {"op-not-recorded": (Severity.WARNING, 1, [2])}


def test_calls_without_work_of_a_name_that_launches() -> None:
    rows = [OP, call(1, 5), call(3, 6), call(5, 7, "synchronize"), kernel(4, 2, correlation=5)]
    assert checked(rows) == {"launches-without-work": (Severity.INFO, 1, [2])}
