"""TraceLens's reference reports of public traces: time of each op, of each kernel, and busy and idle time of the device.

TraceLens counts in floating point and leaves out work that was launched before the window; its numbers agree to 0.01 % with exact
ones. Its table of kernels holds kernels alone, though its times of ops hold copies and fills as well.
"""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache

import numpy as np
import pytest

from rblnpb.converters.analyze.intervals import union_ns
from rblnpb.converters.merging import merge
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import Int64, Timeline
from tests.support.shared_traces import SHARED, needs_shared

pytestmark = needs_shared

TRACES = SHARED / "traces" / "public" / "tracelens" / "tests" / "traces"
WITH_OPS = (
    "h100/Falconsai_nsfw_image_detection__1016002",
    "mi300/Falconsai_nsfw_image_detection__1016002",
    "h100/Qwen_Qwen1.5-0.5B-Chat__1016005",
)
ALL = (*WITH_OPS, "mi210/gpu_only_trace/gpu_only_trace")

Key = tuple[str, ...]


@cache
def timeline_of(name: str) -> Timeline:
    return merge(None, read_host(TRACES / f"{name}.json.gz"))


def report(name: str, table: str) -> list[dict[str, str]]:
    with (TRACES / f"{name}_perf_report_csvs" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def summed(rows: Int64, keys: list[Key], duration_ns: Int64) -> tuple[dict[Key, float], Counter[Key]]:
    """Time in µs and number of rows, by key."""
    total_ns: Counter[Key] = Counter()
    for key, duration in zip(keys, duration_ns[rows].tolist(), strict=True):
        total_ns[key] += duration
    return {key: time / 1000 for key, time in total_ns.items()}, Counter(keys)


def ops_of(timeline: Timeline, rows: Int64) -> list[str]:
    """The name of the op that launched each slice; "" = none."""
    host = timeline.host
    assert host is not None
    return ["" if row < 0 else host.strings[host.events.name[row]] for row in timeline.slices.host_row[rows].tolist()]


@pytest.mark.parametrize("name", WITH_OPS)
def test_direct_device_time_of_each_op(name: str) -> None:
    timeline = timeline_of(name)
    rows = np.flatnonzero(timeline.is_work() & (timeline.slices.host_row >= 0))
    times, _ = summed(rows, [(op,) for op in ops_of(timeline, rows)], timeline.slices.duration_ns)
    expected = {(row["name"],): float(row["total_direct_kernel_time_sum"]) for row in report(name, "ops_summary")}
    assert times == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", ALL)
def test_time_and_number_of_each_kernel_by_op_and_stream(name: str) -> None:
    timeline = timeline_of(name)
    host, slices = timeline.host, timeline.slices
    assert host is not None
    is_kernel = np.array([track.kind == "compute" for track in timeline.tracks], np.bool_)
    rows = np.flatnonzero(is_kernel[slices.track])
    kernels = [host.strings[row] for row in host.events.name[slices.event[rows]].tolist()]
    streams = [str(host.tracks[row].tid) for row in host.events.track[slices.event[rows]].tolist()]
    times, counts = summed(rows, list(zip(ops_of(timeline, rows), kernels, streams, strict=True)), slices.duration_ns)
    table = report(name, "kernel_summary")
    keys = [(row.get("Parent cpu_op", ""), row["Kernel name"], row["Kernel stream"]) for row in table]
    assert times == pytest.approx(dict(zip(keys, (float(row["Kernel duration (µs)_sum"]) for row in table), strict=True)), rel=1e-4)
    assert counts == dict(zip(keys, (int(row["Kernel duration (µs)_count"]) for row in table), strict=True))


@pytest.mark.parametrize("name", ALL)
def test_busy_and_idle_time_of_what_was_launched_in_the_window(name: str) -> None:
    timeline = timeline_of(name)
    slices = timeline.slices
    rows = np.flatnonzero(timeline.is_work() & (slices.launch >= 0))
    start_ns, end_ns = slices.start_ns[rows], slices.start_ns[rows] + slices.duration_ns[rows]
    busy_ns, span_ns = union_ns(start_ns, slices.duration_ns[rows]), int(end_ns.max() - start_ns.min())
    expected = {row["type"]: float(row["time ms"]) for row in report(name, "gpu_timeline")}
    ours = {"busy_time": busy_ns / 1e6, "idle_time": (span_ns - busy_ns) / 1e6, "total_time": span_ns / 1e6}
    assert ours == pytest.approx({key: expected[key] for key in ours}, rel=1e-4)
