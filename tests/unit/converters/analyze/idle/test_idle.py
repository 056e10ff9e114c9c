"""The whole report: totals of several devices, single gaps with their evidence, and what the numbers do not say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.idle.idle import device_idle
from rblnpb.converters.results import CauseTime, Gap, GapPart, NamedTime, SliceRef
from rblnpb.converters.timeline import AlignedLoss, ClockQuality, OverheadRecords, SliceDependencies, Timeline, Track
from tests.support.timelines import host_trace, launches, runtime, slices, timeline

TRACKS = (
    Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Task DMA", "task_dma", is_work=True, order=1),
    Track("rbln:1", "Task DMA", "task_dma", is_work=True, order=2),
)
STRINGS = ("", "mm", "wait", "compile", "aten::sub", "model.py:3(f)")
ROWS = (
    {"start": 0, "duration": 10, "launch": 0, "name": "i1_0_W0_mm_0"},
    {"start": 100, "duration": 10, "launch": 1, "name": "i1_1_W0_mm_0"},
)
LAUNCHES = ({"start": 0, "name": 1, "launch_id": 1}, {"start": 60, "name": 1, "launch_id": 2})
BEFORE, AFTER = (SliceRef(f"i1_{call}_W0_mm_0", "Neural Engine Clusters", "mm", call + 1) for call in (1, 0))
LAUNCH = {"program": "mm", "launch_id": 2, "submitted_ns": 60, "pid": 1, "tid": 1}


def event(category: str, name: str, start: int, end: int, **args: int) -> dict[str, Any]:
    times = {"ts": f"0.{start:03d}", "dur": f"0.{end - start:03d}"}
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, **times, "args": args}


def of(host: Any = None, **parts: Any) -> Timeline:
    rows = {"slices": slices(*ROWS), "launches": launches(*LAUNCHES), "tracks": TRACKS, "strings": STRINGS}
    return timeline(host, **{**rows, **parts})


def parts(one: Timeline, **options: Any) -> tuple[GapPart, ...]:
    (gap,) = device_idle(one, min_gap_ns=1, **options).gaps
    return gap.parts


def test_a_gap_tells_its_place_and_its_parts_the_longest_first() -> None:
    clocks = (ClockQuality("rbln:0", 2, 3, 4, 0.0, 0, 0),)
    submission = GapPart("submission", 40, 7, {"steps_ns": {"on-its-way": 40}, **LAUNCH, "latency_ns": 40})
    assert tuple(device_idle(of(clocks=clocks), min_gap_ns=1).gaps) == (
        Gap(
            device="rbln:0",
            engine="",
            start_ns=10,
            duration_ns=90,
            cause="queue-empty",
            uncertainty_ns=7,
            evidence=LAUNCH,
            after=AFTER,
            before=BEFORE,
            inside_program=None,
            parts=(GapPart("queue-empty", 50, 7, LAUNCH), submission),
        ),
    )


def test_a_gap_inside_a_call_names_its_program() -> None:
    rows = slices(ROWS[0], {**ROWS[1], "launch": 0})
    (gap,) = device_idle(of(slices=rows), min_gap_ns=1).gaps
    assert (gap.inside_program, gap.parts) == ("mm", (GapPart("unknown", 90, None, {"reason": "inside a program"}),))


def test_waiting_for_the_host_tells_op_frame_and_step() -> None:
    host = host_trace(
        event("Trace", "PyTorch Profiler", 0, 200),
        event("python_function", "train.py(7): main", 0, 190),
        event("python_function", "model.py(3): forward", 15, 95),
        event("python_function", "<built-in method add>", 48, 92),
        event("cpu_op", "aten::add", 50, 90),
        event("cpu_op", "aten::view", 20, 48),
    )
    rows = (LAUNCHES[0], {**LAUNCHES[1], "host_row": 4})
    assert parts(of(host, launches=launches(*rows)))[0] == GapPart(
        "waiting-for-host",
        50,
        None,
        {
            "op": "aten::view",
            "op_ns": 28,
            "python_frames": ("model.py(3): forward", "train.py(7): main"),
            "steps_ns": {"before-op": 40, "inside-op": 10},
            "launching_op": "aten::add",
            **LAUNCH,
        },
    )


def test_where_mostly_no_op_ran_none_is_named() -> None:
    host = host_trace(event("Trace", "PyTorch Profiler", 0, 200), event("cpu_op", "aten::view", 20, 25))
    assert parts(of(host))[0].evidence == {"steps_ns": {"outside-ops": 50}, **LAUNCH}


def test_where_a_trace_names_the_op_alone_the_evidence_does() -> None:
    host = host_trace(event("Trace", "PyTorch Profiler", 0, 200), event("cpu_op", "aten::add", 30, 70))
    op = {"launching_op": "aten::add", "pid": 1, "tid": 1}
    assert parts(of(host, slices=slices(ROWS[0], {**ROWS[1], "launch": -1, "host_row": 1}))) == (
        GapPart("unknown", 40, None, {"reason": "submitted within its op, when is not recorded", **op}),
        GapPart("submission", 30, None, {"steps_ns": {"on-its-way": 30}, **op}),
        GapPart("waiting-for-host", 20, None, {"steps_ns": {"before-op": 20}, **op}),
    )


def test_the_runtime_tells_its_activity() -> None:
    busy = runtime((10, 5, 2, 1), (15, 30, 3, 1))
    assert parts(of(runtime=busy))[1] == GapPart("runtime", 35, None, {"activity": "compile", "activity_ns": 30, **LAUNCH})
    serialised = parts(of(runtime=busy, is_serialised=True))
    assert serialised[-1] == GapPart("serialised-by-profiling", 5, None, {"activity": "wait", "activity_ns": 5, **LAUNCH})


def test_hidden_work_tells_its_place_in_the_program() -> None:
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int32)
    hidden = OverheadRecords(one.astype(np.uint32), zero + 4, zero, zero + 5, one * 20, one * ABSENT, one * 15, one)
    evidence = parts(of(overheads=hidden))[2].evidence
    assert evidence == {"op": "aten::sub", "op_ns": 20, "place": "model.py:3(f)", "steps_ns": {"fallback": 20}, **LAUNCH}


def test_of_hidden_work_that_comes_again_the_place_is_that_of_the_record_in_the_gap() -> None:
    two, zero = np.ones(2, np.int64), np.zeros(2, np.int32)
    starts, places = np.array([2, 15]), np.array([1, 5], np.int32)
    hidden = OverheadRecords(two.astype(np.uint32), zero + 4, zero, places, two * 6, two * ABSENT, starts, two)
    evidence = parts(of(overheads=hidden))[2].evidence
    assert (evidence["op"], evidence["op_ns"], evidence["place"]) == ("aten::sub", 6, "model.py:3(f)")


def test_a_dependency_tells_the_predecessor() -> None:
    rows = slices(*ROWS, {"start": 70, "duration": 25, "launch": 1, "track": 1, "name": "i1_1_W0_args_0"})
    one = of(slices=rows, dependencies=SliceDependencies(np.array([2]), np.array([1])))
    report = device_idle(one, min_gap_ns=6, by="engine")
    (gap,) = report.gaps
    assert (gap.engine, gap.duration_ns) == ("Neural Engine Clusters", 90)
    assert gap.parts[1] == GapPart("dependency", 30, None, {"engine": "Task DMA", "predecessor": "i1_1_W0_args_0", "ended_ns": 95})
    assert [(engine.name, [cause.cause for cause in engine.causes]) for engine in report.engines] == [
        ("Neural Engine Clusters", ["queue-empty", "dependency", "submission"]),
        ("Task DMA", []),
    ]
    assert report.devices[0].causes == ()


def test_a_wait_that_no_record_links_tells_its_engine_alone() -> None:
    tracks = (TRACKS[0], Track("rbln:0", "Device Sync", "device_sync", is_work=False, order=1))
    rows = slices(ROWS[0], {**ROWS[1], "launch": 0}, {"start": 10, "duration": 90, "track": 1})
    assert parts(of(slices=rows, tracks=tracks)) == (GapPart("dependency", 90, None, {"engine": "Device Sync"}),)


def test_lost_records_tell_reason_and_number() -> None:
    loss = AlignedLoss("device_slices", "buffer_full", 12, start_ns=0, end_ns=150)
    report = device_idle(of(losses=(loss,)), min_gap_ns=1)
    assert report.gaps[0].parts == (GapPart("recording-lost", 90, None, {"reason": "buffer_full", "lost_count": 12}),)
    assert [(finding.code, finding.count) for finding in report.findings] == [("records-lost", 12)]


def test_a_short_gap_has_no_evidence() -> None:
    assert device_idle(of(), min_gap_ns=91).gaps[0].parts == (GapPart("short", 90, None, {}),)


def test_the_longest_gaps_come_first_and_no_more_than_asked_for() -> None:
    rows = slices(*({"start": start, "duration": 5} for start in (0, 10, 30, 40, 55)))
    one = of(slices=rows)
    assert [(gap.start_ns, gap.duration_ns) for gap in device_idle(one, top=3).gaps] == [(15, 15), (45, 10), (5, 5)]
    assert len(device_idle(one, top=-1).gaps) == device_idle(one).gap_count == 4
    assert len(device_idle(one, top=0).gaps) == 0


def test_causes_of_several_devices_are_told_apart_and_together() -> None:
    rows = slices(*ROWS, *({**row, "track": 2, "start": int(str(row["start"])) * 2} for row in ROWS))
    report = device_idle(of(slices=rows), min_gap_ns=1)
    assert [(device.device, [cause.idle_ns for cause in device.causes]) for device in report.devices] == [
        ("rbln:0", [50, 40]),
        ("rbln:1", [50, 140]),
    ]
    assert report.causes == (
        CauseTime("queue-empty", 100, 2, None, {}, (NamedTime("mm", 100),)),
        CauseTime("submission", 180, 2, None, {"on-its-way": 180}, (NamedTime("mm", 180),)),
    )


def test_idle_time_inside_calls_and_between_them_is_all_of_it() -> None:
    rows = slices(*ROWS, {"start": 130, "duration": 5, "launch": 1})
    (device,) = device_idle(of(slices=rows)).devices
    assert (device.gap_count, device.inside_calls_ns, device.between_calls_ns, device.all.idle_ns) == (2, 20, 90, 110)


@pytest.mark.parametrize("host", [None, host_trace(event("cpu_op", "aten::add", 0, 9))], ids=["nothing", "host"])
def test_without_device_work_the_report_is_empty_and_says_so(host: Any) -> None:
    report = device_idle(timeline(host))
    assert (report.devices, report.causes, tuple(report.gaps), report.programs, report.all.span_ns) == ((), (), (), (), 0)
    assert [finding.code for finding in report.findings] == ["no-device-work"]


def test_a_serialised_recording_says_so() -> None:
    assert [finding.code for finding in device_idle(of(is_serialised=True)).findings] == ["serialised"]
