"""The tables that Kineto's TensorBoard plugin keeps beside its sample of a V100: operators and kernels, in whole microseconds.

Its operators are the rows of torch's `key_averages` that are ops, by either choice of links: calls of one name inside each other
are one, times are an op's own or with its calls, device time is that of the kernels, copies and fills that it launched. Ranges of
torch's own, which torch 1.9 wrote as operators, are none there.
"""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.slices.step_breakdown import step_breakdown
from rblnpb.converters.analyze.torch_table.key_averages import key_averages
from rblnpb.converters.analyze.torch_table.timeline_links import timeline_links
from rblnpb.converters.merging import merge
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import Timeline
from tests.support.shared_traces import SHARED, needs_shared

pytestmark = needs_shared

PUBLIC = SHARED / "traces" / "public"
RANGES = ("ProfilerStep*", "enumerate(DataLoader)#", "Optimizer.")
SAMPLE = "kineto/tb_plugin/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz"


@cache
def expected() -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((PUBLIC / "expected_resnet50_num_workers_0.json").read_text(encoding="utf-8"))
    return tables


@cache
def sample() -> Timeline:
    return merge(None, read_host(PUBLIC / SAMPLE))


@pytest.mark.parametrize("is_recorded", [False, True], ids=["attributed", "recorded"])
def test_every_operator_has_the_plugins_calls_and_times(is_recorded: bool) -> None:
    timeline = sample()
    assert timeline.host is not None
    table = key_averages(timeline.host, timeline_links(timeline, is_recorded=is_recorded))
    durations = ("device_self_duration", "device_total_duration", "host_self_duration", "host_total_duration")
    columns = (
        *(table.count, table.self_device_time_total_ns, table.device_time_total_ns),
        *(table.self_cpu_time_total_ns, table.cpu_time_total_ns),
    )
    rows = [row for row, name in enumerate(table.name) if table.kind[row] == "op" and not name.startswith(RANGES)]
    assert len(rows) == 76
    assert {table.name[row]: tuple(int(column[row]) for column in columns) for row in rows} == {
        row["name"]: (row["calls"], *(row[duration] * 1000 for duration in durations)) for row in expected()["operators"]
    }


def test_every_kernel_has_the_plugins_calls_and_times() -> None:
    timeline = sample()
    host, slices = timeline.host, timeline.slices
    assert host is not None
    is_kernel = np.array([track.kind == "compute" for track in timeline.tracks], np.bool_)
    rows = np.flatnonzero(is_kernel[slices.track])
    durations: dict[str, list[int]] = defaultdict(list)
    for name, duration_ns in zip(host.events.name[slices.event[rows]].tolist(), slices.duration_ns[rows].tolist(), strict=True):
        durations[host.strings[name]].append(duration_ns // 1000)
    columns = {name: place for place, name in enumerate(expected()["kernel_columns"])}
    wanted = ("Calls", "Total Duration (us)", "Mean Duration (us)", "Max Duration (us)", "Min Duration (us)")
    assert len(durations) == 67
    assert {name: (len(one), sum(one), round(sum(one) / len(one)), max(one), min(one)) for name, one in durations.items()} == {
        row[columns["Name"]]: tuple(row[columns[column]] for column in wanted) for row in expected()["kernels"]
    }


def test_every_step_is_spent_as_the_plugin_says() -> None:
    steps, told = step_breakdown(sample()), expected()
    rows = [[step.name.removeprefix("ProfilerStep#"), *(part // 1000 for part in step.parts_ns)] for step in steps]
    assert rows == told["steps_rows"]
    (average,) = told["performance"]
    count = len(steps)
    assert round(sum(step.duration_ns for step in steps) / count / 1000) == average["value"]
    for part, one in enumerate(average["children"]):
        assert round(sum(step.parts_ns[part] for step in steps) / count / 1000) == one["value"]
    kernel_ns, total_ns = (sum(values) for values in ((step.parts_ns[0] for step in steps), (step.duration_ns for step in steps)))
    assert f"{100 * kernel_ns / total_ns:.2f} %" == told["gpu_metrics"]["GPU Utilization"]
