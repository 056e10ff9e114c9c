"""What a host trace itself holds of devices: the vendor's two emitters, and other makers'."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import MATCH_RULES, RecordCount, Timeline
from tests.support.vendor_traces import (
    DEVICE_PID,
    MAIN,
    WORKER,
    Json,
    Launch,
    annotation,
    first_emitter,
    host_trace,
    metadata,
    newer_emitter,
    op,
    span,
    unix_ns,
)

OPS = (
    op("aten::matmul", 1000, 3000, external_id=1),
    op("aten::mm", 1200, 2000, external_id=2),
    op("aten::add", 5000, 6000, tid=WORKER, external_id=3),
    op("Torch-Compiled Region: 0/0", 7000, 7500, external_id=4),
)
RUN = (Launch(1, 1500, 2500), Launch(2, 5500, 6500, tid=WORKER), Launch(3, 7100, 8000))


def joined(*events: Json, **more: Any) -> Timeline:
    return merge(None, host_trace(events, **more))


def owners(timeline: Timeline, rows: Any = None) -> list[tuple[str, str | None]]:
    """(device row, op that it belongs to) of every slice of work."""
    host = timeline.host
    assert host is not None
    texts = [*(host.strings[row] for row in host.events.name.tolist()), None]
    slices = timeline.slices
    pairs = zip(slices.event.tolist(), (slices.host_row if rows is None else rows).tolist(), timeline.is_work(), strict=True)
    return [(str(texts[event]), texts[row]) for event, row, is_work in pairs if is_work]


def codes(timeline: Timeline) -> list[str]:
    return [finding.code for finding in timeline.findings]


@pytest.mark.parametrize("quoted", [False, True])
def test_the_first_emitters_device_work_belongs_to_the_op_around_the_marker(quoted: bool) -> None:
    timeline = joined(*OPS, *first_emitter(RUN, quoted=quoted))
    parts = ("i1_0_W0_args_0_0", "i1_0_W0_mm_0", "i1_0_W0_output_0")
    assert owners(timeline) == [
        (part, owner) for owner in ("aten::mm", "aten::add", "Torch-Compiled Region: 0/0") for part in parts
    ]
    assert timeline.findings == ()


def test_the_newer_emitters_device_work_belongs_to_the_op_around_the_marker() -> None:
    timeline = joined(*OPS, *newer_emitter(RUN))
    assert owners(timeline) == [
        (part, owner) for owner in ("aten::mm", "aten::add", "Torch-Compiled Region: 0/0") for part in ("mm", "copy", "all_reduce")
    ]
    assert timeline.findings == ()


@pytest.mark.parametrize("emitter", [first_emitter, newer_emitter])
def test_markers_are_launches_and_no_device_rows(emitter: Any) -> None:
    timeline = joined(*OPS, *emitter(RUN))
    launches = timeline.launches
    assert launches.start_ns.tolist() == [unix_ns(launch.at_ns) for launch in RUN]
    assert (launches.launch_id.tolist(), launches.tid.tolist()) == ([1, 2, 3], [MAIN, WORKER, MAIN])
    assert {MATCH_RULES[reason] for reason in launches.reason.tolist()} == {"innermost-op"}
    assert {timeline.strings[row] for row in launches.name.tolist()} <= {"rbln_run", "rbln launch"}


def test_lanes_of_the_first_emitter() -> None:
    timeline = joined(*OPS, *first_emitter(RUN))
    assert [(track.device, track.name, track.kind, track.is_work) for track in timeline.tracks] == [
        ("RBLN NPU 0 (0)", "Workload", "host", False),
        ("RBLN NPU 0 (0)", "Neural Engine Clusters", "compute", True),
        ("RBLN NPU 0 (0)", "External HDMA", "copy", True),
        ("RBLN NPU 0 (0)", "Device Sync", "sync", False),
        ("RBLN NPU 0 (0)", "Host", "host", False),
    ]


def test_lanes_of_the_newer_emitter() -> None:
    timeline = joined(*OPS, *newer_emitter(RUN))
    assert [(track.device, track.name, track.kind, track.is_work) for track in timeline.tracks] == [
        ("NPU 0 (0)", "compute", "compute", True),
        ("NPU 0 (0)", "copy", "copy", True),
        ("NPU 0 (0)", "host", "host", False),
        ("NPU 0 (0)", "collective", "collective", True),
    ]


def test_a_collective_is_known_by_its_lane_where_no_marker_was_written() -> None:
    rows = [row for row in newer_emitter(RUN) if row["name"] != "rbln launch"]
    timeline = joined(*OPS, *rows)
    assert [name for name, _ in owners(timeline)] == ["mm", "copy", "all_reduce"] * 3


def test_markers_are_on_the_host_where_no_op_was_recorded_too() -> None:
    timeline = joined(*first_emitter(RUN))
    assert len(timeline.launches) == 3
    assert all(track.device == "RBLN NPU 0 (0)" for track in timeline.tracks)
    assert codes(timeline) == ["unmatched-no-host-trace", "nothing-matched"]


def test_a_device_that_only_has_a_label_is_called_by_it() -> None:
    rows = [metadata("process_name", pid, name="python") for pid in (4242, DEVICE_PID)]
    rows.append(metadata("process_labels", DEVICE_PID, labels="GPU 0"))
    timeline = joined(OPS[0], *rows, span("kernel", "k", 0, 1, pid=DEVICE_PID, tid=3))
    assert [(track.device, track.name) for track in timeline.tracks] == [("GPU 0 (0)", "3")]


def test_the_parts_of_a_name_are_told_where_it_has_the_vendors_form() -> None:
    timeline = joined(*OPS, *first_emitter(RUN[:1]))
    names = timeline.slices.names
    assert [names.strings[row] for row in names.stage.tolist()] == ["", "args_0", "mm", "sync", "reshape", "output"]
    assert names.instance.tolist() == [0, 1, 1, 1, 1, 1]
    assert names.render().tolist()[:2] == [b"Device Workload", b"i1_0_W0_args_0_0"]


def kernel(start_ns: int, end_ns: int, category: str = "kernel", external_id: int = 0, **args: Any) -> Json:
    linked = {"External id": external_id} if external_id else {}
    return span(category, "k", start_ns, end_ns, pid=DEVICE_PID, tid=7, **linked, **args)


def call(start_ns: int, end_ns: int, correlation: int, category: str = "cuda_runtime", **more: Any) -> Json:
    return span(category, "launch", start_ns, end_ns, correlation=correlation, **more)


def test_work_belongs_to_the_op_around_the_call_that_launched_it() -> None:
    timeline = joined(*OPS, call(1300, 1400, 9), kernel(2500, 2600, correlation=9))
    assert owners(timeline) == [("k", "aten::mm")]
    assert timeline.launches.launch_id.tolist() == [9]


@pytest.mark.parametrize("category", ["cuda_driver", "privateuse1_runtime", "privateuse1_driver", "hip_runtime_of_tomorrow"])
def test_a_call_of_any_runtime_launches(category: str) -> None:
    timeline = joined(*OPS, call(1300, 1400, 9, category), kernel(2500, 2600, correlation=9))
    assert owners(timeline) == [("k", "aten::mm")]


def test_calls_that_launched_nothing_are_no_launches() -> None:
    timeline = joined(*OPS, call(1300, 1400, 8), call(1500, 1600, 9), kernel(2500, 2600, correlation=9))
    assert timeline.launches.launch_id.tolist() == [9]


def test_an_id_that_is_the_rows_own_correlation_id_links_it_to_nothing() -> None:
    # Op 3 is the worker's; the row got the number 3 as the third call of the process.
    timeline = joined(*OPS, call(1300, 1400, 3), kernel(2500, 2600, external_id=3, correlation=3))
    assert owners(timeline) == [("k", "aten::mm")]


def test_a_hundred_rows_of_correlation_id_0_are_joined_with_nothing() -> None:
    rows = [kernel(2500 + at, 2501 + at, correlation=0) for at in range(100)]
    timeline = joined(*OPS, call(1300, 1400, 0), *rows)
    assert timeline.slices.launch.tolist() == [-1] * 100
    (finding,) = timeline.findings
    assert (finding.code, finding.count) == ("unattributed-slices", 100)


def test_one_call_may_launch_hundreds_of_kernels_on_several_devices() -> None:
    rows = [kernel(2500 + at, 2501 + at, correlation=9) | {"pid": at % 2} for at in range(200)]
    timeline = joined(*OPS, call(1300, 1400, 9), *rows)
    assert {owner for _, owner in owners(timeline)} == {"aten::mm"}
    assert len(timeline.launches) == 1
    assert len(timeline.tracks) == 2


def test_a_correlation_id_that_is_counted_anew_means_the_last_call_before_the_row() -> None:
    timeline = joined(
        *OPS,
        call(1300, 1400, 9),
        call(5100, 5200, 9, tid=WORKER),
        kernel(2500, 2600, correlation=9),
        kernel(6500, 6600, correlation=9),
    )
    assert [owner for _, owner in owners(timeline)] == ["aten::mm", "aten::add"]
    assert codes(timeline) == ["repeated-launch-id"]


def test_numbers_of_markers_and_of_calls_are_not_compared() -> None:
    timeline = joined(*OPS, *first_emitter(RUN[:1]), call(5100, 5200, 1, tid=WORKER), kernel(6500, 6600, correlation=1))
    assert timeline.findings == ()


def test_a_row_that_starts_inside_its_call_is_not_early() -> None:
    assert joined(*OPS, call(1300, 1400, 9), kernel(1350, 1450, correlation=9)).findings == ()


def test_a_row_before_its_call_is_joined_and_named() -> None:
    timeline = joined(*OPS, call(1300, 1400, 9), kernel(1250, 1290, correlation=9))
    assert owners(timeline) == [("k", "aten::mm")]
    assert codes(timeline) == ["device-before-launch"]


def test_what_was_launched_before_the_window_is_named() -> None:
    timeline = joined(*OPS, call(1300, 1400, 9), kernel(2500, 2600, correlation=9), kernel(0, 900, correlation=4))
    assert [owner for _, owner in owners(timeline)] == ["aten::mm", None]
    (finding,) = timeline.findings
    assert (finding.code, finding.count, finding.where) == ("unattributed-slices", 1, "launch-not-recorded")
    assert finding.message.startswith("1 of 2 slices of work were launched before the recording began")


@pytest.mark.parametrize(("category", "kind"), [("gpu_user_annotation", "annotation"), ("cuda_sync", "sync")])
def test_annotations_and_waits_on_a_device_are_no_work(category: str, kind: str) -> None:
    timeline = joined(*OPS, kernel(2500, 2600, category))
    assert (timeline.tracks[0].kind, timeline.is_work().tolist(), timeline.findings) == (kind, [False], ())


def test_kinds_that_share_a_lane_are_tracks_of_their_own() -> None:
    rows = [kernel(0, 9, category) for category in ("gpu_user_annotation", "kernel", "gpu_memset", "Memcpy", "kernel")]
    timeline = joined(*OPS, *rows)
    assert [track.kind for track in timeline.tracks] == ["compute", "copy", "annotation"]
    assert timeline.slices.track.tolist() == [2, 0, 1, 1, 0]


def test_a_launch_in_an_annotation_alone_says_so_and_so_does_the_whole() -> None:
    timeline = joined(annotation("step", 1000, 3000), *first_emitter(RUN[:1]))
    assert codes(timeline) == ["unmatched-annotation-only", "nothing-matched"]
    assert [str(finding.severity) for finding in timeline.findings] == ["info", "warning"]


def test_rows_outside_of_the_window_are_counted_though_all_are() -> None:
    timeline = joined(*OPS, *first_emitter(RUN[:1]), window_ns=2000)
    assert codes(timeline) == ["out-of-window"]
    assert timeline.findings[0].count == 6


def test_a_trace_without_devices_is_a_timeline_without_a_device_side() -> None:
    timeline = joined(*OPS)
    assert (len(timeline.slices), len(timeline.launches), timeline.tracks, timeline.counts) == (0, 0, (), ())
    assert timeline.slices.names.render().tolist() == []
    assert timeline.findings == ()


def test_an_empty_trace_is_an_empty_timeline() -> None:
    timeline = joined(window_ns=None)
    assert (len(timeline.slices), codes(timeline)) == (0, ["no-events"])


def test_device_rows_are_counted_and_their_launch_ids_kept() -> None:
    timeline = joined(*OPS, *first_emitter(RUN[:1]), kernel(2500, 2600))
    assert timeline.counts == (RecordCount("device_rows", 7, 0),)
    assert timeline.argument_names == ("launch_id",)
    assert np.unique(timeline.slices.arguments).tolist() == [ABSENT, 1]
