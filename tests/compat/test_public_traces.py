"""Traces of other makers' devices, as public projects have them: exact times of each device, and where its work belongs."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.intervals import union_ns
from rblnpb.converters.analyze.torch_table.key_averages import key_averages
from rblnpb.converters.analyze.torch_table.timeline_links import timeline_links
from rblnpb.converters.dialect import device_rows, linked_ids, linked_rows, op_rows, owner_rows
from rblnpb.converters.merging import merge
from rblnpb.converters.merging.correlate import innermost
from rblnpb.converters.pipeline import status
from rblnpb.converters.results import KeyAverages
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import JOIN_RULES, MATCH_RULES, Timeline
from tests.support.shared_traces import SHARED, needs_shared

pytestmark = needs_shared

PUBLIC = SHARED / "traces" / "public"
EXPECTED = PUBLIC / "expected_device_timeline.json"
FILES: dict[str, dict[str, int]] = json.loads(EXPECTED.read_bytes())["files"] if EXPECTED.exists() else {}

RESNET50 = "kineto/tb_plugin/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz"
SIMPLE_ADD = "hta/tests/data/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz"
MTIA = "hta/tests/data/mtia_inference_trace/mtia_inference_rank_0.json.gz"
RESOLUTION = "hta/tests/data/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"
ANNOTATED = "hta/tests/data/with_gpu_user_annotation/step_based_trace_2543932.json.gz"
LARGE_INTEGER = "hta/tests/data/large_integer_trace/rank-70.Mar_25_20_48_12.2861.pt.trace.json.gz"
BASE, TEST = (f"hta/tests/data/trace_compare/{name}/{name}.json.gz" for name in ("base", "test"))
TRACELENS = "tracelens/tests/traces"
FALCON_H100 = f"{TRACELENS}/h100/Falconsai_nsfw_image_detection__1016002.json.gz"
FALCON_MI300 = f"{TRACELENS}/mi300/Falconsai_nsfw_image_detection__1016002.json.gz"
QWEN_H100 = f"{TRACELENS}/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
REPLAY = f"{TRACELENS}/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz"
GPU_ONLY = f"{TRACELENS}/mi210/gpu_only_trace/gpu_only_trace.json.gz"

# How the slices of work of each file were joined with ops, or why they were not.
RULES = {
    RESNET50: {"correlation": 9096},
    SIMPLE_ADD: {"correlation": 98},
    MTIA: {"launch-on-no-op": 991, "no-link": 322},
    RESOLUTION: {"correlation": 6095},
    ANNOTATED: {"correlation": 140},
    LARGE_INTEGER: {"no-link": 1},
    BASE: {"launch-not-recorded": 16, "launch-on-no-op": 2},
    TEST: {"launch-not-recorded": 16, "launch-on-no-op": 1},
    FALCON_H100: {"correlation": 156},
    FALCON_MI300: {"correlation": 155},
    QWEN_H100: {"correlation": 1198, "launch-not-recorded": 509},
    REPLAY: {"correlation": 11, "launch-on-no-op": 547},
    GPU_ONLY: {"no-host-trace": 562},
}
# Files whose rows name both their launch and their op.
LINKED = (RESNET50, RESOLUTION, FALCON_H100, FALCON_MI300, QWEN_H100, REPLAY)


@cache
def timeline_of(name: str) -> Timeline:
    return merge(None, read_host(PUBLIC / name))


def short(name: str) -> str:
    return "/".join(name.split("/")[-2:])[:50]


def times(timeline: Timeline, mask: Any) -> dict[str, int]:
    """Busy time, idle time, span and sum of these slices, in ns."""
    rows = np.flatnonzero(mask)
    start, duration = timeline.slices.start_ns[rows], timeline.slices.duration_ns[rows]
    busy_ns, span_ns = union_ns(start, duration), int((start + duration).max() - start.min())
    return {"busy_union_ns": busy_ns, "idle_ns": span_ns - busy_ns, "span_ns": span_ns, "sum_ns": int(duration.sum())}


@pytest.mark.parametrize("name", sorted(FILES), ids=short)
def test_busy_idle_span_and_sum_are_exact(name: str) -> None:
    timeline = timeline_of(name)
    is_work = timeline.is_work()
    expected = FILES[name]
    if not expected["device_events"]:
        assert not is_work.any()
        return
    assert int(is_work.sum()) == expected["device_events"]
    assert times(timeline, is_work) == {key: expected[key] for key in ("busy_union_ns", "idle_ns", "span_ns", "sum_ns")}


def test_what_was_launched_before_the_window_is_busy_time_of_all_and_not_of_what_was_launched_in_it() -> None:
    timeline = timeline_of(QWEN_H100)
    is_work = timeline.is_work()
    assert times(timeline, is_work)["busy_union_ns"] == 45_647_300
    assert times(timeline, is_work & (timeline.slices.launch >= 0))["busy_union_ns"] == 31_905_473


@pytest.mark.parametrize("name", RULES, ids=short)
def test_every_slice_of_work_has_the_rule_that_led_to_its_op_or_the_reason_why_none_did(name: str) -> None:
    timeline = timeline_of(name)
    rules = Counter(JOIN_RULES[rule] for rule in timeline.slices.rule[timeline.is_work()].tolist())
    assert rules == RULES[name]


@pytest.mark.parametrize("name", LINKED, ids=short)
def test_the_launch_of_a_row_lies_in_the_op_that_the_row_names(name: str) -> None:
    timeline = timeline_of(name)
    assert timeline.host is not None
    named = linked_rows(timeline.host, timeline.slices.event, op_rows(timeline.host))
    both = np.flatnonzero((named >= 0) & (timeline.slices.launch >= 0))
    assert len(both) > 10
    assert timeline.launches.host_row[timeline.slices.launch[both]].tolist() == named[both].tolist()


@pytest.mark.parametrize("name", LINKED, ids=short)
def test_the_op_that_a_call_names_is_the_innermost_around_it(name: str) -> None:
    host = timeline_of(name).host
    assert host is not None
    calls, ops, events = device_rows(host).calls, op_rows(host), host.events
    named = owner_rows(host, ops, linked_ids(host, calls))
    calls, named = calls[named >= 0], named[named >= 0]
    start = events.start_ns[calls]
    around = innermost(host, ops, events.track[calls].astype(np.int64), start, start + events.duration_ns[calls])
    assert len(calls) > 10
    assert around.tolist() == named.tolist()


def device_times(table: KeyAverages) -> dict[str, tuple[int, int]]:
    columns = (table.self_device_time_total_ns.tolist(), table.device_time_total_ns.tolist(), table.kind)
    return {name: row[:2] for name, *row in zip(table.name, *columns, strict=True) if row[2] == "op"}  # type: ignore[misc]


@pytest.mark.parametrize("name", LINKED, ids=short)
def test_times_by_every_rule_are_those_by_the_traces_own_links_where_it_has_them(name: str) -> None:
    timeline = timeline_of(name)
    assert timeline.host is not None
    attributed, recorded = (
        device_times(key_averages(timeline.host, timeline_links(timeline, is_recorded=flag))) for flag in (False, True)
    )
    assert attributed == recorded
    assert sum(own for own, _ in attributed.values()) > 0


def test_calls_that_stand_in_the_devices_process_are_no_launches() -> None:
    # Both runtime rows of one id, on the host and on the device, come before its work.
    timeline = timeline_of(MTIA)
    assert timeline.host is not None
    assert set(timeline.launches.pid.tolist()) == {865}
    assert Counter(MATCH_RULES[reason] for reason in timeline.launches.reason.tolist()) == {
        "between-ops": 445,
        "annotation-only": 112,
    }


def test_a_graph_replay_whose_time_is_on_no_op_is_not_called_sound() -> None:
    # One launch, 544 kernels, inside an annotation only.
    timeline = timeline_of(REPLAY)
    per_launch = np.bincount(timeline.slices.launch)
    assert (int(per_launch.max()), len(per_launch)) == (544, 15)
    values = status(timeline).values
    assert (values.verdict, values.slices_attributed, values.slices_unattributed) == ("warning", 11, 547)
    assert [finding.code for finding in values.findings if str(finding.severity) == "warning"] == ["mostly-unattributed"]


def test_a_trace_of_a_device_alone_has_launches_and_no_ops() -> None:
    values = status(timeline_of(GPU_ONLY)).values
    assert (values.launches_matched, values.launches_unmatched) == ({}, {"no-host-trace": 562})


def test_an_id_beyond_64_bits_elsewhere_is_no_trouble() -> None:
    timeline = timeline_of(LARGE_INTEGER)
    assert [finding.code for finding in timeline.findings if finding.code.startswith("odd")] == []


@pytest.mark.parametrize(("name", "inside", "own"), [(FALCON_H100, 6, 3), (RESOLUTION, 2980, 7), (QWEN_H100, 295, 6)])
def test_work_lies_in_ops_that_did_not_launch_it(name: str, inside: int, own: int) -> None:
    # Why no rule asks in which op a row of an asynchronous device lies.
    timeline = timeline_of(name)
    host, slices = timeline.host, timeline.slices
    assert host is not None
    rows, ops = np.flatnonzero(timeline.is_work() & (slices.host_row >= 0)), op_rows(host)
    start = slices.start_ns[rows]
    around = [
        innermost(host, ops, np.full(len(rows), track), start, start + slices.duration_ns[rows])
        for track in np.unique(host.events.track[ops]).tolist()
    ]
    assert int(np.any([found >= 0 for found in around], axis=0).sum()) == inside
    assert sum(int((found == slices.host_row[rows]).sum()) for found in around) == own
