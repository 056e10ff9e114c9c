"""Which rows of a trace are what."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.intervals import union_ns
from rblnpb.converters.dialect import DeviceRows, device_rows, op_rows, slice_rows
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace
from tests.support.shared_traces import SHARED, needs_shared
from tests.support.vendor_traces import (
    DEVICE_PID,
    HOST_PID,
    Json,
    Launch,
    annotation,
    first_emitter,
    host_trace,
    metadata,
    newer_emitter,
    op,
    span,
)

EXPECTED = SHARED / "traces" / "public" / "expected_device_timeline.json"
FILES: dict[str, dict[str, int]] = json.loads(EXPECTED.read_bytes())["files"] if EXPECTED.exists() else {}

RUN = (Launch(1, 1500, 2500), Launch(2, 5500, 6500))
OPS = (op("aten::mm", 1000, 2000), op("aten::add", 5000, 6000))


def found(*events: Json) -> tuple[HostTrace, DeviceRows]:
    trace = host_trace(events)
    return trace, device_rows(trace)


def kinds(*events: Json) -> list[tuple[str, bool]]:
    _, rows = found(*events)
    return [(rows.kinds[kind], is_work) for kind, is_work in zip(rows.kind.tolist(), rows.is_work.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("category", "kind", "is_work"),
    [
        ("kernel", "compute", True),
        ("Kernel", "compute", True),
        ("gpu_memcpy", "copy", True),
        ("Memcpy", "copy", True),
        ("gpu_memset", "copy", True),
        ("Memset", "copy", True),
        ("mtia_ccp_events", "compute", True),
        ("mtia_workloadd", "compute", True),
        ("hpu_op", "compute", True),
        ("collective_comm", "collective", True),
        ("cuda_sync", "sync", False),
        ("cuda_event", "sync", False),
        ("xpu_sync", "sync", False),
        ("gpu_user_annotation", "annotation", False),
        ("cuda_profiler_range", "annotation", False),
        ("mtia_insight", "host", False),
        ("mtia_runtime", "host", False),
        ("privateuse1_runtime", "host", False),
        ("privateuse1_driver", "sync", False),
    ],
)
def test_device_rows_are_told_by_their_category(category: str, kind: str, is_work: bool) -> None:
    assert kinds(OPS[0], span(category, "row", 0, 9, pid=DEVICE_PID, tid=0)) == [(kind, is_work)]


@pytest.mark.parametrize(
    "category",
    [
        *(
            "cpu_op",
            "user_annotation",
            "python_function",
            "cuda_runtime",
            "cuda_driver",
            "hip_runtime",
            "xpu_runtime",
            "xpu_driver",
        ),
        *("Operator", "Runtime", "mtia_runtime", "mtia_insight", "collective_comm", "glow_runtime", "Trace", "overhead", ""),
    ],
)
def test_host_rows_are_none(category: str) -> None:
    assert kinds(OPS[0], span(category, "row", 0, 9)) == []


def test_what_a_backend_does_on_the_host_is_no_device_row() -> None:
    trace, rows = found(OPS[0], span("privateuse1_runtime", "launch", 1100, 1200, correlation=5))
    assert (len(rows), rows.markers.tolist(), rows.calls.tolist()) == (0, [], [1])
    assert trace.strings[trace.events.name[1]] == "launch"


def test_markers_of_the_vendor_are_told_by_their_launch_id_on_a_host_thread() -> None:
    trace, rows = found(*OPS, *first_emitter(RUN))
    assert [trace.strings[row] for row in trace.events.name[rows.markers].tolist()] == ["rbln_run", "rbln_run"]
    assert trace.events.launch_id[rows.markers].tolist() == [1, 2]
    assert len(rows) == 12


def test_a_marker_may_be_an_instant() -> None:
    instant = {**span("privateuse1_runtime", "rbln_run", 1_500, 1_500, launch_id=1), "ph": "i", "s": "t"}
    del instant["dur"]
    elsewhere = {**instant, "pid": 99}
    _, rows = found(*OPS, instant, elsewhere, span("kernel", "mm", 2_000, 2_500, launch_id=1))
    assert (rows.markers.tolist(), len(rows)) == ([2], 1)


def test_a_marker_with_launch_id_0_is_none() -> None:
    _, rows = found(*OPS, *first_emitter([Launch(0, 1500, 2500)]))
    assert rows.markers.tolist() == []


@pytest.mark.parametrize("host_rows", [(annotation("step", 0, 9),), (metadata("process_labels", HOST_PID, labels="CPU"),)])
def test_the_hosts_process_is_known_by_its_rows_or_its_label(host_rows: tuple[Json, ...]) -> None:
    marker = span("privateuse1_runtime", "rbln_run", 5, 5, launch_id=1)
    _, rows = found(*host_rows, marker)
    assert (len(rows.markers), len(rows)) == (1, 0)


def test_drivers_rows_are_waits_in_one_emitter_and_collectives_in_the_other() -> None:
    assert kinds(*OPS, *first_emitter(RUN[:1]))[3] == ("sync", False)
    assert kinds(*OPS, *newer_emitter(RUN[:1]))[3] == ("collective", True)


def test_work_is_what_moves_or_computes() -> None:
    trace, rows = found(*OPS, *first_emitter(RUN))
    duration = trace.events.duration_ns[rows.rows]
    assert (int(duration[rows.is_work].sum()), int(duration.sum())) == (2 * 900, 2 * 2000)


@pytest.mark.parametrize("change", [{"ph": "B"}, {"dur": None}, {"ts": None}, {"dur": -1}])
def test_rows_without_a_length_are_no_slices(change: Json) -> None:
    row = {key: value for key, value in {**op("aten::mm", 0, 9), **change}.items() if value is not None}
    trace = host_trace([row])
    assert (op_rows(trace).tolist(), slice_rows(trace, "Trace").tolist()) == ([], [1])


def test_where_nothing_says_which_process_is_the_hosts_it_is_the_one_without_work_of_a_device() -> None:
    marker = span("privateuse1_runtime", "rbln_run", 5, 5, launch_id=1)
    frame = span("privateuse1_runtime", "Device Workload", 9, 19, pid=DEVICE_PID, tid=0, launch_id=1)
    _, rows = found(marker, span("kernel", "mm", 9, 19, pid=DEVICE_PID, tid=1, launch_id=1), frame)
    assert (rows.markers.tolist(), rows.rows.tolist()) == ([0], [1, 2])


def test_a_python_function_in_the_devices_process_does_not_make_its_frames_markers() -> None:
    stray = span("python_function", "f", 0, 9, pid=DEVICE_PID, tid=0)
    plain, with_stray = (found(*OPS, *first_emitter(RUN), *more)[1] for more in ((), (stray,)))
    assert (with_stray.markers.tolist(), with_stray.rows.tolist()) == (plain.markers.tolist(), plain.rows.tolist())


def test_calls_stand_on_the_host_whatever_their_category() -> None:
    events = (OPS[0], *(span(category, "c", 0, 9, correlation=1) for category in ("mtia_runtime", "tomorrows_runtime", "cpu_op")))
    on_device = (
        span(category, "d", 0, 9, pid=DEVICE_PID, tid=1, correlation=1) for category in ("kernel", "mtia_runtime", "unknown")
    )
    _, rows = found(*events, *on_device)
    assert (rows.calls.tolist(), rows.rows.tolist()) == ([1, 2], [4, 5])


def test_a_trace_without_anything_has_nothing() -> None:
    rows = device_rows(host_trace([], window_ns=None))
    assert [len(column) for column in (rows.rows, rows.kind, rows.is_work, rows.markers, rows.calls)] == [0] * 5


@needs_shared
@pytest.mark.parametrize("name", sorted(FILES), ids=lambda name: name.split("/")[-1][:40])
def test_busy_idle_and_span_of_public_traces_to_the_nanosecond(name: str) -> None:
    trace = read_host(EXPECTED.parent / name)
    rows = device_rows(trace)
    work = rows.rows[rows.is_work]
    start, duration = trace.events.start_ns[work], trace.events.duration_ns[work]
    busy_ns, span_ns = union_ns(start, duration), int((start + duration).max() - start.min())
    compute = rows.kind[rows.is_work] == rows.kinds.index("compute")
    ours: dict[str, Any] = {
        "device_events": len(work),
        "kernels": int(np.count_nonzero(compute)),
        "span_ns": span_ns,
        "busy_union_ns": busy_ns,
        "idle_ns": span_ns - busy_ns,
        "sum_ns": int(duration.sum()),
        "kernel_union_ns": union_ns(start[compute], duration[compute]),
        "kernel_sum_ns": int(duration[compute].sum()),
    }
    assert ours == {key: FILES[name][key] for key in ours}
