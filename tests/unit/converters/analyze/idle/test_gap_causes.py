"""Each cause of a gap, by itself and exactly."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.idle.gap_causes import INSIDE_PROGRAM, WITHIN_OP, explain_gaps
from rblnpb.converters.analyze.idle.gaps import gaps_between
from rblnpb.converters.analyze.idle.occupancy import device_calls, ordered_work
from rblnpb.converters.analyze.idle.piece_table import PieceTable
from rblnpb.converters.results import CAUSES, STEPS
from rblnpb.converters.timeline import (
    JOIN_RULES,
    AlignedLoss,
    HostTrace,
    OverheadRecords,
    RuntimeSlices,
    SliceDependencies,
    Timeline,
    Track,
)
from tests.support.timelines import host_trace, launches, runtime, slices, timeline

TRACKS = (
    Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Task DMA", "task_dma", is_work=True, order=1),
    Track("rbln:0", "Device Sync", "device_sync", is_work=False, order=2),
    Track("rbln:0", "Host", "host", is_work=False, order=3),
    Track("rbln:1", "Task DMA", "task_dma", is_work=True, order=4),
)
ENGINE, DMA, SYNC, HOST, OTHER = range(5)
STRINGS = ("", "mm", "add", "wait", "compile", "submit", "aten::sub", "model.py:3(f)")
MM, ADD, WAIT, COMPILE, SUBMIT, SUB, PLACE = range(1, 8)

FIRST = {"start": 0, "duration": 10, "launch": 0, "track": ENGINE}
NEXT = {"start": 100, "duration": 10, "launch": 1, "track": ENGINE}
LAUNCHES = ({"start": 0, "name": MM}, {"start": 60, "name": ADD})
QUEUED = (10, 60, "queue-empty", "", "add")
ON_ITS_WAY = (60, 100, "submission", "on-its-way", "add")

Told = tuple[int, int, str, str, str]


def event(category: str, name: str, start: int, end: int, tid: Any = 1, **args: int) -> dict[str, Any]:
    times = {"ts": f"0.{start:03d}", "dur": f"0.{end - start:03d}"}
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, **times, "args": args}


def traced(*events: dict[str, Any], window: tuple[int, int] = (0, 200)) -> HostTrace:
    return host_trace(event("Trace", "PyTorch Profiler", *window, tid="PyTorch Profiler"), *events)


def of(host: HostTrace | None = None, **parts: Any) -> Timeline:
    """The first and the next slice, 90 ns apart; the launch of the next is submitted 40 ns before it begins."""
    rows = {"slices": slices(FIRST, NEXT), "launches": launches(*LAUNCHES), "tracks": TRACKS, "strings": STRINGS}
    return timeline(host, **{**rows, **parts})


def told(one: Timeline, *, by: str = "device", min_gap_ns: int = 1) -> list[Told]:
    work = ordered_work(one)
    gaps = gaps_between(work, work.device if by == "device" else work.track)
    pieces = explain_gaps(one, work, device_calls(one, work), gaps, min_gap_ns).of(np.arange(len(gaps)))
    steps = (*STEPS, "")
    found: list[Told] = []
    for at in range(len(pieces)):
        piece = (list(CAUSES)[int(pieces.cause[at])], steps[int(pieces.step[at])], pieces.names[int(pieces.name[at])])
        start, end = int(pieces.start_ns[at]), int(pieces.end_ns[at])
        # Where a record of something else begins, one piece may go on as another of the same.
        if found and found[-1][1:] == (start, *piece):
            start = found.pop()[0]
        found.append((start, end, *piece))
    return found


def overheads(*rows: tuple[int, int, int, int]) -> OverheadRecords:
    """Hidden work, each (kind, start, duration, tid)."""
    kind, start, duration, tid = np.array(rows, np.int64).T
    same = np.full(len(rows), SUB, np.int32)
    return OverheadRecords(kind.astype(np.uint32), same, same * 0, same * 0 + PLACE, duration, duration * 0 + ABSENT, start, tid)


# --- before the submission -----------------------------------------------------------------------------------------------


def test_without_a_host_trace_the_queue_is_empty_until_the_next_launch() -> None:
    assert told(of()) == [QUEUED, ON_ITS_WAY]


def test_with_a_host_trace_it_is_told_by_op_and_by_step() -> None:
    host = traced(event("cpu_op", "aten::add", 50, 90), event("cpu_op", "aten::view", 20, 40))
    rows = ({"start": 0, "name": MM}, {"start": 60, "name": ADD, "host_row": 1})
    assert told(of(host, launches=launches(*rows))) == [
        (10, 20, "waiting-for-host", "before-op", ""),
        (20, 40, "waiting-for-host", "before-op", "aten::view"),
        (40, 50, "waiting-for-host", "before-op", ""),
        (50, 60, "waiting-for-host", "inside-op", "aten::add"),
        ON_ITS_WAY,
    ]


def test_the_innermost_op_is_the_one_that_runs() -> None:
    host = traced(
        event("cpu_op", "aten::linear", 0, 90), event("cpu_op", "aten::t", 20, 30), event("cpu_op", "aten::addmm", 40, 80)
    )
    rows = ({"start": 0, "name": MM}, {"start": 60, "name": ADD, "host_row": 3})
    assert told(of(host, launches=launches(*rows))) == [
        (10, 20, "waiting-for-host", "before-op", "aten::linear"),
        (20, 30, "waiting-for-host", "before-op", "aten::t"),
        (30, 40, "waiting-for-host", "before-op", "aten::linear"),
        (40, 60, "waiting-for-host", "inside-op", "aten::addmm"),
        ON_ITS_WAY,
    ]


def test_a_launch_in_no_op_waited_outside_of_ops() -> None:
    host = traced(event("cpu_op", "aten::view", 20, 60))
    assert told(of(host)) == [
        (10, 20, "waiting-for-host", "outside-ops", ""),
        (20, 60, "waiting-for-host", "outside-ops", "aten::view"),
        ON_ITS_WAY,
    ]


def test_a_thread_that_shows_python_alone_is_told() -> None:
    assert told(of(traced(event("python_function", "train.py(3): step", 0, 90)))) == [
        (10, 60, "waiting-for-host", "outside-ops", ""),
        ON_ITS_WAY,
    ]


@pytest.mark.parametrize(
    "host", [traced(event("cpu_op", "aten::view", 20, 60, tid=2)), traced(), host_trace()], ids=["thread", "rows", "events"]
)
def test_what_the_host_trace_does_not_show_of_the_thread_is_an_empty_queue(host: HostTrace) -> None:
    assert told(of(host)) == [QUEUED, ON_ITS_WAY]


def test_outside_the_window_of_the_host_trace_the_queue_is_empty() -> None:
    host = traced(event("cpu_op", "aten::view", 0, 90), window=(20, 45))
    assert told(of(host)) == [
        (10, 20, "queue-empty", "", "add"),
        (20, 45, "waiting-for-host", "outside-ops", "aten::view"),
        (45, 60, "queue-empty", "", "add"),
        ON_ITS_WAY,
    ]


def test_the_runtime_comes_before_ops() -> None:
    host = traced(event("cpu_op", "aten::view", 0, 90))
    assert told(of(host, runtime=runtime((20, 30, COMPILE, 1)))) == [
        (10, 20, "waiting-for-host", "outside-ops", "aten::view"),
        (20, 50, "runtime", "", "compile"),
        (50, 60, "waiting-for-host", "outside-ops", "aten::view"),
        ON_ITS_WAY,
    ]


def test_calls_that_the_host_trace_shows_are_the_runtime_too() -> None:
    host = traced(event("cpu_op", "aten::item", 0, 90), event("cuda_runtime", "cudaStreamSynchronize", 5, 35, correlation=9))
    rows = ({"start": 0, "name": MM}, {"start": 60, "name": ADD, "host_row": 1})
    assert told(of(host, launches=launches(*rows))) == [
        (10, 35, "runtime", "", "cudaStreamSynchronize"),
        (35, 60, "waiting-for-host", "inside-op", "aten::item"),
        ON_ITS_WAY,
    ]


def test_the_runtime_of_another_thread_holds_nothing_up() -> None:
    assert told(of(runtime=runtime((20, 30, COMPILE, 2)))) == [QUEUED, ON_ITS_WAY]


def test_a_thread_is_one_in_the_records_of_the_runtime_and_in_the_host_trace() -> None:
    host = traced(event("cpu_op", "aten::view", 0, 90, tid="1"))
    assert told(of(host, runtime=runtime((20, 40, COMPILE, 1)))) == [
        (10, 20, "waiting-for-host", "outside-ops", "aten::view"),
        (20, 60, "runtime", "", "compile"),
        ON_ITS_WAY,
    ]


def test_the_wait_of_a_recorder_that_drains_the_device_is_its_own() -> None:
    busy = runtime((0, 30, WAIT, 1), (40, 20, COMPILE, 1))
    rest = [(30, 40, "queue-empty", "", "add"), (40, 60, "runtime", "", "compile"), ON_ITS_WAY]
    assert told(of(runtime=busy, is_serialised=True)) == [(10, 30, "serialised-by-profiling", "", "wait"), *rest]
    assert told(of(runtime=busy, is_serialised=False)) == [(10, 30, "runtime", "", "wait"), *rest]


def test_without_records_of_the_runtime_draining_is_all_that_is_known() -> None:
    assert told(of(is_serialised=True)) == [(10, 60, "serialised-by-profiling", "", "add"), ON_ITS_WAY]


def test_a_fallback_is_an_op_on_the_host_and_other_hidden_work_is_the_runtimes() -> None:
    hidden = overheads((1, 20, 10, 1), (3, 35, 5, 1), (2, 45, 5, 1), (9, 52, 3, 1))
    assert told(of(overheads=hidden)) == [
        (10, 20, "queue-empty", "", "add"),
        (20, 30, "waiting-for-host", "fallback", "aten::sub"),
        (30, 35, "queue-empty", "", "add"),
        (35, 40, "runtime", "", "host copy"),
        (40, 45, "queue-empty", "", "add"),
        (45, 50, "runtime", "", "recompilation"),
        (50, 52, "queue-empty", "", "add"),
        (52, 55, "runtime", "", "unknown"),
        (55, 60, "queue-empty", "", "add"),
        ON_ITS_WAY,
    ]


def test_hidden_work_of_other_threads_or_without_a_time_holds_nothing_up() -> None:
    assert told(of(overheads=overheads((1, 20, 10, 2), (1, ABSENT, 10, 1), (1, 20, ABSENT, 1)))) == [QUEUED, ON_ITS_WAY]


def test_a_launch_that_comes_after_its_own_work_was_late_all_the_time() -> None:
    late = launches({"start": 0, "name": MM}, {"start": 103, "name": ADD})
    assert told(of(launches=late)) == [(10, 100, "queue-empty", "", "add")]


# --- after the submission ------------------------------------------------------------------------------------------------


def test_a_launch_that_waits_in_the_queue_is_on_its_way() -> None:
    early = launches({"start": 0, "name": MM}, {"start": 5, "name": ADD})
    assert told(of(launches=early)) == [(10, 100, "submission", "on-its-way", "add")]


def test_until_the_call_that_submits_returns_it_is_the_call() -> None:
    assert told(of(runtime=runtime((60, 15, SUBMIT, 1)))) == [
        QUEUED,
        (60, 75, "submission", "submit-call", "add"),
        (75, 100, "submission", "on-its-way", "add"),
    ]


def test_what_the_thread_does_after_the_submission_holds_nothing_up() -> None:
    assert told(of(runtime=runtime((65, 30, WAIT, 1)), is_serialised=True)) == [QUEUED, ON_ITS_WAY]


def test_within_a_program_nothing_is_known_without_a_dependency() -> None:
    rows = slices(FIRST, {**NEXT, "launch": 0})
    assert told(of(slices=rows)) == [(10, 100, "unknown", "", INSIDE_PROGRAM)]


def test_a_turn_of_a_runtime_instance_is_a_call_too() -> None:
    turn = {"instance": 1, "sequence": 4, "launch": -1}
    assert told(of(slices=slices({**FIRST, **turn}, {**NEXT, **turn}))) == [(10, 100, "unknown", "", INSIDE_PROGRAM)]


@pytest.mark.parametrize("rule", ["no-link", "launch-not-recorded"])
def test_without_a_launch_it_is_said_why_none_is_known(rule: str) -> None:
    rows = slices(FIRST, {**NEXT, "launch": -1, "rule": JOIN_RULES.index(rule)})
    assert told(of(slices=rows)) == [(10, 100, "unknown", "", rule)]


def test_where_the_op_alone_is_known_the_submission_came_while_it_ran() -> None:
    host = traced(event("cpu_op", "aten::view", 15, 20), event("cpu_op", "aten::add", 30, 70))
    rows = slices(FIRST, {**NEXT, "launch": -1, "host_row": 2})
    assert told(of(host, slices=rows)) == [
        (10, 15, "waiting-for-host", "before-op", ""),
        (15, 20, "waiting-for-host", "before-op", "aten::view"),
        (20, 30, "waiting-for-host", "before-op", ""),
        (30, 70, "unknown", "", WITHIN_OP),
        (70, 100, "submission", "on-its-way", "aten::add"),
    ]


def test_a_device_waits_while_it_synchronises() -> None:
    rows = slices(FIRST, {**NEXT, "launch": 0}, {"start": 20, "duration": 70, "launch": 0, "track": SYNC})
    assert told(of(slices=rows)) == [
        (10, 20, "unknown", "", INSIDE_PROGRAM),
        (20, 90, "dependency", "", "Device Sync"),
        (90, 100, "unknown", "", INSIDE_PROGRAM),
    ]


def test_a_command_of_the_host_within_a_program_is_waited_for() -> None:
    rows = slices(FIRST, {**NEXT, "launch": 0}, {"start": 10, "duration": 90, "launch": 0, "track": HOST, "stage": "reshape"})
    assert told(of(slices=rows)) == [(10, 100, "waiting-for-host", "host-command", "reshape")]


def test_a_call_begins_with_its_first_slice_of_any_kind() -> None:
    rows = slices(FIRST, NEXT, {"start": 80, "duration": 10, "launch": 1, "track": HOST, "name": "reshape"})
    assert told(of(slices=rows)) == [
        QUEUED,
        (60, 80, "submission", "on-its-way", "add"),
        (80, 90, "waiting-for-host", "host-command", "reshape"),
        (90, 100, "unknown", "", INSIDE_PROGRAM),
    ]


def test_rows_that_say_when_the_host_waited_are_no_waits_of_the_device() -> None:
    host = traced(event("cuda_sync", "Context Sync", 20, 90))
    rows = slices(FIRST, {**NEXT, "launch": 0}, {"start": 20, "duration": 70, "track": SYNC, "event": 1})
    assert told(of(host, slices=rows)) == [(10, 100, "unknown", "", INSIDE_PROGRAM)]


def test_a_dependency_on_another_device_is_waited_for_until_it_ends() -> None:
    rows = slices(FIRST, NEXT, {"start": 0, "duration": 80, "launch": 0, "track": OTHER})
    edges = SliceDependencies(np.array([2]), np.array([1]))
    assert told(of(slices=rows, dependencies=edges)) == [
        QUEUED,
        (60, 80, "dependency", "", "Task DMA"),
        (80, 100, "submission", "on-its-way", "add"),
    ]


def test_of_an_engine_it_is_waited_for_from_the_begin_of_the_call() -> None:
    dma = {"start": 70, "duration": 28, "launch": 1, "track": DMA}
    one = of(slices=slices(FIRST, NEXT, dma), dependencies=SliceDependencies(np.array([2, 0]), np.array([1, 1])))
    begun = [QUEUED, (60, 70, "submission", "on-its-way", "add"), (70, 98, "dependency", "", "Task DMA")]
    assert told(one, by="engine") == [*begun, (98, 100, "unknown", "", INSIDE_PROGRAM)]


def test_what_lies_behind_a_dependency_is_its_own_where_it_is_short() -> None:
    dma = {"start": 70, "duration": 28, "launch": 1, "track": DMA}
    one = of(slices=slices(FIRST, NEXT, dma), dependencies=SliceDependencies(np.array([2]), np.array([1])))
    assert told(one, by="engine", min_gap_ns=3)[-1] == (70, 100, "dependency", "", "Task DMA")


def test_the_last_predecessor_counts() -> None:
    dma, clusters = (
        {"start": 62, "duration": 30, "launch": 1, "track": DMA},
        {"start": 61, "duration": 9, "launch": 1, "track": OTHER},
    )
    edges = SliceDependencies(np.array([2, 3]), np.array([1, 1]))
    assert (62, 92, "dependency", "", "Task DMA") in told(
        of(slices=slices(FIRST, NEXT, dma, clusters), dependencies=edges), by="engine"
    )


# --- the whole gap -------------------------------------------------------------------------------------------------------


def test_a_gap_below_the_threshold_is_not_looked_into() -> None:
    assert told(of(), min_gap_ns=91) == [(10, 100, "short", "", "")]
    assert told(of(), min_gap_ns=90) == [QUEUED, ON_ITS_WAY]


def test_where_records_are_lost_nothing_else_is_sure() -> None:
    loss = AlignedLoss("device_slices", "buffer_full", 3, start_ns=20, end_ns=70)
    assert told(of(losses=(loss,), runtime=runtime((10, 50, COMPILE, 1)))) == [
        (10, 20, "runtime", "", "compile"),
        (20, 71, "recording-lost", "", "buffer_full"),
        (71, 100, "submission", "on-its-way", "add"),
    ]


@pytest.mark.parametrize(
    "loss",
    [
        AlignedLoss("launches", "buffer_full", 3, start_ns=20, end_ns=70),
        AlignedLoss("device_slices", "buffer_full", 3, device="rbln:1", start_ns=20, end_ns=70),
        AlignedLoss("device_slices", "buffer_full", 0, start_ns=20, end_ns=70),
        AlignedLoss("device_slices", "buffer_full", 3),
    ],
    ids=["other-kind", "other-device", "none", "no-time"],
)
def test_losses_of_something_else_explain_nothing(loss: AlignedLoss) -> None:
    assert told(of(losses=(loss,))) == [QUEUED, ON_ITS_WAY]


def test_lost_slices_without_a_time_ran_where_a_launch_has_none() -> None:
    rows = ({"start": 0, "name": MM}, {"start": 60, "name": ADD}, {"start": 30, "name": ADD})
    loss = AlignedLoss("unknown", "device_overwrite", 3)
    assert told(of(launches=launches(*rows), losses=(loss,))) == [
        (10, 30, "queue-empty", "", "add"),
        (30, 100, "recording-lost", "", "device_overwrite"),
    ]
    # Without a loss such a launch had no work.
    assert told(of(launches=launches(*rows))) == [QUEUED, ON_ITS_WAY]


def test_devices_have_gaps_of_their_own() -> None:
    rows = slices(FIRST, NEXT, {**FIRST, "start": 30, "track": OTHER}, {**NEXT, "start": 70, "track": OTHER})
    assert told(of(slices=rows)) == [
        QUEUED,
        ON_ITS_WAY,
        (40, 60, "queue-empty", "", "add"),
        (60, 70, "submission", "on-its-way", "add"),
    ]


@pytest.mark.parametrize("rows", [(), (FIRST,), (FIRST, {**NEXT, "start": 10})], ids=["none", "one", "touching"])
def test_without_a_gap_there_is_no_cause(rows: tuple[Any, ...]) -> None:
    assert told(of(slices=slices(*rows))) == []


def test_runtime_slices_without_a_name_are_the_runtimes() -> None:
    none = np.array([-1])
    busy = RuntimeSlices(np.array([20]), np.array([40]), np.array([0], np.int32), np.array([1]), np.array([1]), none, none, none)
    assert told(of(runtime=busy)) == [(10, 20, "queue-empty", "", "add"), (20, 60, "runtime", "", ""), ON_ITS_WAY]


# --- many ----------------------------------------------------------------------------------------------------------------


def test_pieces_take_little_more_memory_than_their_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PieceTable, "BLOCK", 1)
    engines, waits = 30, 1000
    tracks = (
        *(Track("rbln:0", f"DMA {order}", "task_dma", is_work=True, order=order) for order in range(engines)),
        Track("rbln:0", "Device Sync", "device_sync", is_work=False, order=engines),
    )
    ends = [{"start": start, "duration": 1, "track": track} for track in range(engines) for start in (0, 2 * waits + 1)]
    sync = [{"start": 2 * at + 1, "duration": 1, "track": engines} for at in range(waits)]
    one = timeline(slices=slices(*ends, *sync), tracks=tracks)
    work = ordered_work(one)
    gaps, calls = gaps_between(work, work.track), device_calls(one, work)
    tracemalloc.start()
    pieces = explain_gaps(one, work, calls, gaps, 1)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(pieces) == 2 * waits * engines
    assert peak_bytes < 48 * len(pieces)
