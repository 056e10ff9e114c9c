"""Slices of a trace: crossing, doubled, without time, without end, far too long."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.analyze.checks.slice_checks import QUEUE_STEPS, outlasting
from rblnpb.errors import Severity
from tests.support.checked_traces import checked, event, kernel, op, x

DAY_US = 86_400 * 10**6


def test_of_two_that_cross_the_later_one_is_told() -> None:
    assert checked([x("a", 0, 10), x("b", 2, 3), x("c", 5, 10)]) == {"crossing-slices": (Severity.WARNING, 1, [2])}


def test_on_a_device_that_is_an_overlap() -> None:
    assert checked([kernel(0, 10), kernel(5, 10), op("mm", 0, 1)]) == {"overlapping-slices": (Severity.INFO, 1, [1])}


@pytest.mark.parametrize(
    "others",
    [
        [x("b", 0, 20)],
        [x("b", 0, 10)],
        [x("b", 10, 5)],
        [x("b", 5, 5)],
        [x("b", 10, 0), x("c", 0, 0)],
        [x("b", 5, 10, tid=2)],
        [event("i", 5, name="i")],
    ],
    ids=["around it", "equal", "after it", "to its end", "empty", "elsewhere", "an instant"],
)
def test_what_does_not_cross_a_slice_of_ten(others: list[dict[str, object]]) -> None:
    assert checked([x("a", 0, 10), *others]) == {}


def test_an_event_that_stands_there_twice_is_an_error() -> None:
    same = x("a", 0, 1, args={"k": 1})
    assert checked([same, same, same]) == {
        "duplicate-events": (Severity.ERROR, 2, [1, 2]),
        "unfinished-slices": (Severity.WARNING, 3, [0, 1, 2]),
    }


def test_other_arguments_make_another_event() -> None:
    assert checked([x("a", 0, 1, args={"k": 1}), x("a", 0, 1, args={"k": 2})]) == {}


def test_device_slices_without_any_time() -> None:
    rows = [kernel(0, 0), kernel(5, 0), kernel(6, 1), op("mm", 0, 9)]
    assert checked(rows) == {"untimed-record": (Severity.WARNING, 1, [0]), "empty-slices": (Severity.INFO, 1, [1])}


def test_three_calls_of_one_name_that_end_together_did_not_end() -> None:
    rows = [x("f", 0, 10), x("g", 1, 9), x("f", 2, 8), x("f", 3, 7)]
    assert checked(rows) == {"unfinished-slices": (Severity.WARNING, 3, [0, 2, 3])}
    assert checked(rows[:3]) == {}


def test_a_kernel_that_ends_after_the_next_fifty() -> None:
    rows = [kernel(0, 1000), *(kernel(10 + 2 * number, 1) for number in range(QUEUE_STEPS)), op("mm", 0, 2000)]
    assert checked(rows) == {"outlasting-slices": (Severity.WARNING, 1, [0])}
    assert checked(rows[:-2] + rows[-1:]) == {}


def test_a_slice_of_more_than_a_day() -> None:
    assert checked([x("a", 0, DAY_US), x("b", 0, DAY_US + 1)]) == {"endless-slices": (Severity.ERROR, 1, [1])}


def test_lanes_do_not_outlast_each_other() -> None:
    count = QUEUE_STEPS + 1
    start_ns, end_ns = np.arange(count), np.arange(count) + 1
    end_ns[0] = 1000
    assert outlasting(np.zeros(count, np.int64), start_ns, end_ns).tolist() == [True] + [False] * QUEUE_STEPS
    assert not outlasting(np.append(0, np.ones(count - 1, np.int64)), start_ns, end_ns).any()
