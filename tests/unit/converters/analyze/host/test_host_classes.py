"""What each moment of a thread was spent on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.columns import HostSlices
from rblnpb.converters.analyze.host.host_classes import CLASSES, covered_ns, host_classes, runtime_rows
from rblnpb.converters.analyze.host.host_split import host_split
from rblnpb.converters.merging import merge
from rblnpb.converters.results import HostShare, HostSplit
from rblnpb.profile import HostActivity
from tests.support.small_run import MAIN, WORKER, small_profile, small_trace
from tests.support.vendor_traces import HOST_PID, Launch, annotation, device_profile, host_trace, op, span


def split_of(*events: dict[str, Any], recorded: tuple[tuple[HostActivity, int, int], ...] = ()) -> dict[str, int]:
    """Time by class, without the classes that have none."""
    host = host_trace(events)
    activity, start_ns, end_ns = np.array(recorded, np.int64).reshape(-1, 3).T
    slices = HostSlices.of(
        len(recorded), activity=activity, start_ns=start_ns, duration_ns=end_ns - start_ns, process_id=HOST_PID, thread_id=HOST_PID
    )
    timeline = merge(device_profile([Launch(1, 900_000, 900_100)], host_slices=slices), host)
    found = host_split(host, host_classes(timeline, host))
    return {name: time_ns for name, time_ns in found.by_class.items() if time_ns}


def test_the_small_run_has_the_split_that_was_worked_out_by_hand() -> None:
    timeline = merge(small_profile(), small_trace())
    assert timeline.host is not None
    main = {
        **dict.fromkeys(CLASSES, 0),
        "dispatch": 14_500,
        "checks": 4_000,
        "fallback": 6_000,
        "compile": 800,
        "submit": 900,
        "download": 5_000,
        "wait": 7_000,
        "annotation": 21_800,
    }
    worker = {**dict.fromkeys(CLASSES, 0), "dispatch": 4_500, "submit": 500}
    assert host_split(timeline.host, host_classes(timeline, timeline.host)) == HostSplit(
        window_ns=60_000,
        total_ns=65_000,
        by_class={name: main[name] + worker[name] for name in CLASSES},
        threads=(HostShare(MAIN, MAIN, "main", 60_000, main), HostShare(MAIN, WORKER, "worker", 5_000, worker)),
    )


def test_operators_are_dispatch_and_what_is_around_them_is_not() -> None:
    assert split_of(annotation("step", 0, 100), op("aten::mm", 10, 40), span("python_function", "f", 50, 70)) == {
        "dispatch": 30,
        "annotation": 70,
    }


def test_calls_of_a_runtime_are_told_by_what_they_lead_to() -> None:
    def call(name: str, start_ns: int, correlation: int) -> dict[str, Any]:
        return span("cuda_runtime", name, start_ns, start_ns + 10, correlation=correlation)

    host = host_trace(
        [
            op("aten::mm", 0, 100),
            call("launch", 10, 1),
            call("cudaStreamSynchronize", 30, 2),
            call("cudaMalloc", 50, 3),
            span("kernel", "gemm", 60, 80, pid=0, tid=7, correlation=1),
        ]
    )
    found = host_split(host, host_classes(merge(None, host), host)).by_class
    assert {name: time_ns for name, time_ns in found.items() if time_ns} == {"dispatch": 70, "submit": 10, "wait": 10, "other": 10}


@pytest.mark.parametrize(
    ("activity", "name"),
    [
        (HostActivity.WAIT, "wait"),
        (HostActivity.COMPILE, "compile"),
        (HostActivity.SUBMIT, "submit"),
        (HostActivity.COPY_IN, "upload"),
        (HostActivity.COPY_OUT, "download"),
    ],
)
def test_records_of_the_runtime_take_time_from_what_they_lie_in(activity: HostActivity, name: str) -> None:
    found = split_of(op("aten::mm", 0, 100), op("aten::empty", 20, 40), recorded=((activity, 30, 70),))
    assert found == {"dispatch": 60, name: 40}


def test_of_records_that_overlap_one_counts() -> None:
    found = split_of(
        op("aten::mm", 0, 100), recorded=((HostActivity.SUBMIT, 10, 60), (HostActivity.WAIT, 20, 30), (HostActivity.WAIT, 25, 40))
    )
    assert found == {"dispatch": 50, "submit": 30, "wait": 20}


def test_records_outside_of_everything_are_no_time_of_the_trace() -> None:
    assert split_of(op("aten::mm", 0, 100), recorded=((HostActivity.WAIT, 90, 500),)) == {"dispatch": 90, "wait": 10}


@pytest.mark.parametrize(("activity", "name"), [(HostActivity.COPY_IN, "upload"), (HostActivity.COPY_OUT, "download")])
def test_a_copy_across_devices_goes_the_way_that_the_runtime_recorded(activity: HostActivity, name: str) -> None:
    copies = [op(f"aten::{called}", at, 100 - at) for at, called in enumerate(("to", "_to_copy", "copy_", "_copy_from"))]
    assert split_of(*copies, recorded=((activity, 20, 30),)) == {name: 100}
    assert split_of(*copies) == {"copy": 100}


def test_a_scan_keeps_its_time_whole() -> None:
    scan = op("aten::to", 10, 30), op("aten::_copy_from", 11, 29), op("aten::isinf", 30, 40), op("aten::isnan", 40, 50)
    found = split_of(op("aten::mm", 0, 100), *scan, recorded=((HostActivity.COPY_OUT, 12, 28), (HostActivity.WAIT, 28, 60)))
    assert found == {"dispatch": 50, "checks": 40, "wait": 10}


def test_a_scan_within_a_copy_is_a_scan() -> None:
    found = split_of(op("aten::to", 0, 100), op("aten::_copy_from", 60, 90), op("aten::isinf", 10, 20), op("aten::isnan", 20, 30))
    assert found == {"copy": 80, "checks": 20}


def test_what_may_end_elsewhere_is_no_time_of_its_thread() -> None:
    assert split_of(op("aten::add", 0, 10), span("user_annotation", "gloo:all_reduce", 0, 90)) == {"dispatch": 10}


def test_a_trace_of_nothing_has_no_time() -> None:
    assert split_of() == {}


def test_stretches_are_covered_once_however_many_intervals_overlap() -> None:
    lane, start, end = np.array([[0, 0, 1], [10, 15, 0], [20, 30, 100]])
    of_lane, from_ns, until_ns = np.array([[0, 0, 0, 1, 2], [0, 12, 30, 50, 0], [40, 16, 40, 200, 9]])
    assert covered_ns(lane, start, end, of_lane, from_ns, until_ns).tolist() == [20, 4, 0, 50, 0]


def test_rows_of_the_runtime_by_name() -> None:
    timeline = merge(small_profile())
    assert (runtime_rows(timeline, "copy out").tolist(), runtime_rows(timeline, "nothing").tolist()) == ([0, 5], [])
