"""Which op a launch lies in, and which launch a record names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.converters.dialect import host_window
from rblnpb.converters.merging.correlate import launch_by_id, match_launches, native_tracks, row_by_id, thread_lanes
from rblnpb.converters.timeline import MATCH_RULES
from tests.support.vendor_traces import (
    HOST_PID,
    MAIN,
    WORKER,
    Json,
    annotation,
    host_trace,
    metadata,
    op,
    span,
    unix_ns,
)

OUTER, INNER = op("aten::matmul", 100, 200), op("aten::mm", 120, 180)


def matched(time_ns: int, *events: Json, tid: int = MAIN, pid: int = HOST_PID, window_ns: int = 1000) -> tuple[str | None, str]:
    """Name of the op of one launch, and the rule."""
    trace = host_trace(events, window_ns=window_ns)
    track = native_tracks(trace, np.array([pid]), np.array([tid]))
    host_row, reason = match_launches(trace, track, np.array([unix_ns(time_ns)]))
    names = [*(trace.strings[row] for row in trace.events.name.tolist()), None]
    return names[int(host_row[0])], MATCH_RULES[int(reason[0])]


@pytest.mark.parametrize(
    ("time_ns", "name"),
    [
        (99, None),
        (100, "aten::matmul"),
        (119, "aten::matmul"),
        (120, "aten::mm"),
        (179, "aten::mm"),
        (180, "aten::matmul"),
        (199, "aten::matmul"),
        (200, None),
    ],
)
def test_an_op_holds_its_start_and_not_its_end(time_ns: int, name: str | None) -> None:
    assert matched(time_ns, OUTER, INNER)[0] == name


def test_an_op_of_no_length_holds_nothing() -> None:
    assert matched(150, OUTER, op("aten::empty", 150, 150)) == ("aten::matmul", "innermost-op")


def test_of_equal_ops_the_later_one_in_the_file_is_the_inner_one() -> None:
    assert matched(150, OUTER, op("aten::mm", 100, 200)) == ("aten::mm", "innermost-op")


def test_of_crossing_ops_the_one_that_began_last_is_meant() -> None:
    rows = (op("first", 100, 160), op("second", 140, 200))
    assert [matched(time_ns, *rows)[0] for time_ns in (139, 150, 170)] == ["first", "second", "second"]


def test_the_order_in_the_file_does_not_matter() -> None:
    assert matched(130, INNER, op("later", 300, 400), OUTER) == ("aten::mm", "innermost-op")


def test_another_thread_is_another_stack() -> None:
    assert matched(130, OUTER, op("other", 0, 500, tid=WORKER), tid=WORKER) == ("other", "innermost-op")


def test_an_equal_thread_id_in_another_process_is_another_stack() -> None:
    rows = (OUTER, span("cpu_op", "elsewhere", 0, 500, pid=7, tid=MAIN))
    assert [matched(130, *rows, pid=pid)[0] for pid in (HOST_PID, 7)] == ["aten::matmul", "elsewhere"]


def test_an_annotation_owns_no_launch_even_inside_an_op() -> None:
    assert matched(130, OUTER, annotation("step", 120, 180)) == ("aten::matmul", "innermost-op")


@pytest.mark.parametrize("category", ["user_annotation", "python_function"])
def test_in_an_annotation_alone_a_launch_says_so(category: str) -> None:
    assert matched(130, OUTER | {"tid": WORKER}, span(category, "step", 0, 500)) == (None, "annotation-only")


@pytest.mark.parametrize(
    ("time_ns", "tid", "reason"),
    [(500, MAIN, "between-ops"), (500, 99, "thread-not-in-trace"), (1000, MAIN, "outside-window"), (-1, 99, "outside-window")],
)
def test_a_launch_on_no_op_has_a_reason(time_ns: int, tid: int, reason: str) -> None:
    assert matched(time_ns, OUTER, tid=tid) == (None, reason)


def test_without_a_process_id_a_thread_id_that_occurs_once_is_enough() -> None:
    trace = host_trace([OUTER, op("other", 0, 5, tid=WORKER), span("cpu_op", "elsewhere", 0, 5, pid=7, tid=WORKER)])
    rows = {(track.pid, track.tid): row for row, track in enumerate(trace.tracks)}
    found = native_tracks(trace, np.array([0, 0, 8]), np.array([MAIN, WORKER, MAIN]))
    assert found.tolist() == [rows[HOST_PID, MAIN], -1, -1]


def test_ids_that_a_trace_writes_as_text_are_numbers_too() -> None:
    trace = host_trace([span("Operator", "aten::mm", 0, 5, pid="4242", tid="17"), span("Trace", "t", 0, 5, pid="Spans", tid="x")])
    assert native_tracks(trace, np.array([4242]), np.array([17])).tolist() == [0]


def test_tracks_of_one_thread_are_one_lane() -> None:
    pairs = ((1, 7), (1, "7"), ("1", 7), (1, -7), (1, "-7"), (1, "stream 7"), (2, 7))
    trace = host_trace([span("cpu_op", "a", 0, 5, pid=pid, tid=tid) for pid, tid in pairs], window_ns=None)
    assert thread_lanes(trace).tolist() == [0, 0, 0, 3, 3, 5, 6, -1]


def test_an_op_that_the_trace_names_goes_before_times() -> None:
    trace = host_trace([OUTER, INNER])
    track, time = np.array([0, 0]), np.array([unix_ns(130), unix_ns(130)])
    rows, reason = match_launches(trace, track, time, None, np.array([0, -1]))
    assert (rows.tolist(), [MATCH_RULES[code] for code in reason.tolist()]) == ([0, 1], ["recorded-link", "innermost-op"])


def test_no_launch_is_no_answer() -> None:
    nothing = np.empty(0, np.int64)
    trace = host_trace([OUTER])
    assert [len(column) for column in match_launches(trace, nothing, nothing)] == [0, 0]
    assert len(native_tracks(trace, nothing, nothing)) == 0


def call(start_ns: int, end_ns: int, *events: Json) -> Any:
    trace = host_trace(events)
    track = native_tracks(trace, np.array([HOST_PID]), np.array([MAIN]))
    rows, _ = match_launches(trace, track, np.array([unix_ns(start_ns)]), np.array([unix_ns(end_ns)]))
    return [*(trace.strings[row] for row in trace.events.name.tolist()), None][int(rows[0])]


def test_a_call_that_begins_before_the_op_ahead_of_it_ends_is_not_in_that_op() -> None:
    parent, ahead = op("parent", 40_000, 100_000), op("ahead", 50_000, 55_000)
    assert call(54_850, 62_000, parent, ahead) == "parent"
    assert call(54_850, 62_000, ahead) is None


def test_a_call_that_ends_with_its_op_is_in_it() -> None:
    assert call(150, 200, OUTER) == "aten::matmul"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([op("a", 10, 20)], (0, 1000)),
        ([span("Trace", "second session", 2000, 3000, pid="Spans", tid="x"), op("a", 10, 20)], (0, 3000)),
    ],
)
def test_the_window_is_that_of_the_profilers_own_spans(events: list[Json], expected: tuple[int, int]) -> None:
    assert host_window(host_trace(events, window_ns=1000)) == tuple(map(unix_ns, expected))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([OUTER, annotation("step", 50, 150), span("kernel", "k", 0, 900, pid=0, tid=0)], (50, 200)),
        ([span("kernel", "k", 0, 90, pid=0, tid=0)], (0, 90)),
    ],
)
def test_without_the_profilers_span_the_window_is_that_of_the_ops_or_of_all_slices(
    events: list[Json], expected: tuple[int, int]
) -> None:
    assert host_window(host_trace(events, window_ns=None)) == tuple(map(unix_ns, expected))


def test_a_trace_without_slices_has_no_window() -> None:
    assert host_window(host_trace([metadata("process_name", 1, name="python")], window_ns=None)) is None


def test_id_0_joins_nothing() -> None:
    assert row_by_id(np.array([0, 5, 0]), np.array([0, 5, 7])).tolist() == [-1, 1, -1]
    assert row_by_id(np.empty(0, np.int64), np.array([0, 5])).tolist() == [-1, -1]


def test_the_first_of_equal_ids_is_found() -> None:
    assert row_by_id(np.array([5, 3, 5]), np.array([5])).tolist() == [0]


def test_ids_beyond_63_bits_are_found() -> None:
    ids = np.array([2**64 - 1, 7], np.uint64).view(np.int64)
    assert launch_by_id(ids, np.array([0, 0]), ids, np.array([1, 1])).tolist() == [0, 1]


def test_of_launches_with_one_id_a_record_belongs_to_the_last_before_it() -> None:
    ids, starts = np.array([5, 6, 5]), np.array([100, 150, 200])
    at = np.array([120, 200, 999, 50, 300])
    assert launch_by_id(ids, starts, np.array([5, 5, 5, 5, 6]), at).tolist() == [0, 2, 2, 0, 1]


def test_id_0_joins_nothing_among_repeated_ids_either() -> None:
    ids = np.array([0, 5, 5, 0])
    assert launch_by_id(ids, np.array([1, 2, 3, 4]), np.array([0, 9]), np.array([10, 10])).tolist() == [-1, -1]
