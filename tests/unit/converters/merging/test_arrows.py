"""Where arrows of a trace end, and which beginning they have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.converters.dialect import device_rows, op_rows
from rblnpb.converters.merging.arrows import arrows_to
from tests.support.vendor_traces import DEVICE_PID, HOST_PID, MAIN, WORKER, Json, at, host_trace, op, span

MM, ADD = op("aten::mm", 1000, 2000), op("aten::add", 1000, 2000, tid=WORKER)


def kernel(start_ns: int, end_ns: int, *, tid: int = 7, pid: int = DEVICE_PID) -> Json:
    return span("kernel", "k", start_ns, end_ns, pid=pid, tid=tid)


def begin(time_ns: int, identity: Any = 5, **more: Any) -> Json:
    return {"ph": "s", "cat": "flow", "name": "f", "id": identity, "pid": HOST_PID, "tid": MAIN, "ts": at(time_ns), **more}


def end(time_ns: int, identity: Any = 5, **more: Any) -> Json:
    row = {"ph": "f", "cat": "flow", "name": "f", "id": identity, "pid": DEVICE_PID, "tid": 7, "ts": at(time_ns), "bp": "e", **more}
    return {key: value for key, value in row.items() if value is not None}


def found(*events: Json) -> list[tuple[int | None, bool]]:
    """For each kernel, when its arrow begins, and whether that is in an op; without one, whether an arrow ends there."""
    trace = host_trace(events)
    arrows = arrows_to(trace, device_rows(trace).rows, op_rows(trace))
    times = trace.events.start_ns - trace.events.start_ns[0]
    return [
        (int(times[start]) if start >= 0 else None, bool(is_on_op if start >= 0 else is_end))
        for start, is_on_op, is_end in zip(arrows.start.tolist(), arrows.is_on_op, arrows.is_end, strict=True)
    ]


@pytest.mark.parametrize("time_ns", [3000, 3050, 3099])
def test_an_arrow_ends_at_the_row_around_its_end(time_ns: int) -> None:
    assert found(MM, kernel(3000, 3100), begin(1500), end(time_ns)) == [(500, True)]


@pytest.mark.parametrize("time_ns", [2999, 3100])
def test_an_arrow_that_ends_beside_a_row_does_not_end_at_it(time_ns: int) -> None:
    assert found(MM, kernel(3000, 3100), begin(1500), end(time_ns)) == [(None, False)]


def test_without_a_binding_point_an_arrow_ends_at_the_row_that_comes_next() -> None:
    rows = (kernel(3000, 3100), kernel(3200, 3300), kernel(3400, 3500))
    assert found(MM, *rows, begin(1500), end(3050, bp=None)) == [(None, False), (500, True), (None, False)]


def test_without_a_binding_point_an_arrow_may_end_where_a_row_starts() -> None:
    assert found(MM, kernel(3000, 3100), kernel(3200, 3300), begin(1500), end(3000, bp=None)) == [(500, True), (None, False)]


def test_a_row_of_no_length_has_its_arrow_too() -> None:
    assert found(MM, kernel(3000, 3000), begin(1500), end(3000)) == [(500, True)]


def test_rows_that_start_together_have_their_arrows_in_turn() -> None:
    rows = (kernel(3000, 3100), kernel(3000, 3050), begin(1100, 1), begin(1200, 2), end(3000, 1), end(3000, 2))
    assert found(MM, *rows) == [(100, True), (200, True)]


def test_an_arrow_on_another_lane_is_anothers() -> None:
    assert found(MM, kernel(3000, 3100, tid=8), begin(1500), end(3000)) == [(None, False)]


@pytest.mark.parametrize("change", [{"id": 6}, {"cat": "other"}, {"name": "g"}])
def test_an_arrow_is_told_by_category_name_and_id(change: Json) -> None:
    assert found(MM, kernel(3000, 3100), begin(1500), end(3000) | change) == [(None, True)]


@pytest.mark.parametrize("identity", ["5", 5])
def test_an_id_may_be_a_number_at_one_end_and_its_text_at_the_other(identity: Any) -> None:
    assert found(MM, kernel(3000, 3100), begin(1500, "5"), end(3000, identity)) == [(500, True)]


def test_ids_that_are_counted_anew_mean_the_last_arrow_before() -> None:
    rows = (kernel(3000, 3100), kernel(5000, 5100), begin(1100), begin(4000), end(3000), end(5000))
    assert found(MM, *rows) == [(100, True), (3000, False)]


def test_of_several_arrows_to_a_row_the_one_from_an_op_counts() -> None:
    rows = (kernel(3000, 3100), begin(1100, 1), begin(2500, 2), end(3000, 1), end(3000, 2, cat="flow"))
    assert found(MM, *rows) == [(100, True)]


def test_a_step_of_an_arrow_is_an_end_of_it() -> None:
    assert found(MM, kernel(3000, 3100), kernel(3200, 3300), begin(1500), end(3000, ph="t"), end(3200)) == [(500, True)] * 2


def test_an_arrow_between_rows_of_the_device_is_no_launch() -> None:
    rows = (kernel(3000, 3100), kernel(4000, 4100, tid=8), begin(3050, pid=DEVICE_PID, tid=7), end(4000, tid=8))
    assert found(MM, *rows) == [(None, False), (None, True)]


def test_the_thread_may_be_written_as_a_text() -> None:
    assert found(MM, kernel(3000, 3100), begin(1500, tid=str(MAIN)), end(3000, tid="7")) == [(500, True)]


@pytest.mark.parametrize("rows", [(), (begin(1500),), (end(3000),)])
def test_without_arrows_there_are_none(rows: tuple[Json, ...]) -> None:
    assert found(MM, kernel(3000, 3100), *rows) == [(None, rows == (end(3000),))]


def test_no_rows_have_no_arrows() -> None:
    trace = host_trace([MM, begin(1500), end(3000)])
    assert len(arrows_to(trace, np.empty(0, np.int64), op_rows(trace)).start) == 0
