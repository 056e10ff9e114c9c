"""Work on several cores: the order, the bound, and errors are those of one core."""

from __future__ import annotations

import io
import threading
import time

import pytest

from rblnpb import sim
from rblnpb.converters import merge
from rblnpb.converters.sinks import chrome_trace
from rblnpb.converters.sinks._in_order import in_order
from rblnpb.converters.sinks.chrome_trace import write_chrome_trace


@pytest.mark.parametrize("jobs", [0, 1, 2, 5])
def test_results_come_in_the_order_of_what_was_given(jobs: int) -> None:
    def slow_first(number: int) -> int:
        time.sleep(0.002 if number % 3 == 0 else 0)
        return number * number

    assert list(in_order(slow_first, range(20), jobs)) == [number * number for number in range(20)]


def test_no_more_is_taken_than_is_worked_on_and_waits() -> None:
    taken = iter(range(100))
    made = in_order(lambda number: number, taken, 3)
    assert [next(made), next(made)] == [0, 1]
    assert next(taken) <= 6


def test_an_error_is_raised_where_its_result_would_come() -> None:
    def make(number: int) -> int:
        if number == 2:
            raise ValueError("two")
        return number

    made = in_order(make, range(5), 2)
    assert [next(made), next(made)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(made)


def test_threads_end_with_whoever_stops_early() -> None:
    before = threading.active_count()
    made = in_order(abs, range(50), 2)
    next(made)
    made.close()  # type: ignore[attr-defined]  # a generator
    assert threading.active_count() == before


@pytest.mark.parametrize("jobs", [2, 3])
def test_a_trace_is_the_same_whatever_the_number_of_jobs(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chrome_trace, "BLOCK_ROWS", 50)
    timeline = merge(sim.simulate(program="mm", calls=100))
    files = [io.BytesIO(), io.BytesIO()]
    for file, number in zip(files, (1, jobs), strict=True):
        write_chrome_trace(timeline, file, jobs=number)
    assert files[0].getvalue() == files[1].getvalue()
