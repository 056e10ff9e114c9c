"""The call that each launch was made in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rblnpb.converters.analyze.attribution.stacked_calls import stack_calls
from rblnpb.converters.analyze.launches.launch_calls import launch_calls
from tests.support.attribution_oracle import Call, Launch, merged, trace
from tests.support.timelines import host_trace, launches, timeline

CALLS = (
    Call("python", "replay", 0, 20),
    Call("op", "aten::mm", 1, 5),
    Call("annotation", "graph", 6, 18),
    Call("annotation", "alone", 30, 40),
)


def callers(*found: Launch, by: str = "all", calls: Sequence[Call] = CALLS) -> list[str | None]:
    """Names of the calls of launches."""
    line = merged(trace(calls), [], found)
    stacked = stack_calls(line.host, by)
    names = [stacked.calls.frames[row].name for row in stacked.calls.frame.tolist()]
    rows = launch_calls(line, stacked.calls, stacked.call_of_event).tolist()
    return [names[row] if row >= 0 else None for row in rows]


def test_a_matched_launch_is_in_its_op() -> None:
    assert callers(Launch(1, at=99)) == ["aten::mm"]


def test_without_an_op_the_innermost_frame_of_python_has_it() -> None:
    assert callers(Launch(at=5), Launch(at=19), by="python") == ["replay", "replay"]


def test_a_range_in_python_has_it_and_one_alone_does_not() -> None:
    assert callers(Launch(at=10), Launch(at=35)) == ["graph", None]


@pytest.mark.parametrize("lost", [Launch(at=25), Launch(at=10, tid=2)])
def test_what_is_in_nothing_or_on_another_thread_has_none(lost: Launch) -> None:
    assert callers(lost) == [None]


def test_an_op_that_does_not_hold_it_does_not_have_it() -> None:
    # A call of a runtime that ends after the op is not matched with it.
    assert callers(Launch(at=2)) == ["replay"]


@pytest.mark.parametrize(("pid", "threads", "found"), [(0, (1,), [0]), (0, (1, 2), [-1]), (3, (1,), [-1]), (1, (1, 2), [0])])
def test_of_an_unknown_process_a_thread_id_must_be_one(pid: int, threads: tuple[int, ...], found: list[int]) -> None:
    def frame(process: int) -> dict[str, object]:
        return {"ph": "X", "cat": "python_function", "name": "f", "pid": process, "tid": "7", "ts": 0, "dur": 9}

    host = host_trace(*map(frame, threads))
    stacked = stack_calls(host, "python")
    line = timeline(host, launches=launches({"pid": pid, "tid": 7, "start": 5000}))
    assert launch_calls(line, stacked.calls, stacked.call_of_event).tolist() == found
