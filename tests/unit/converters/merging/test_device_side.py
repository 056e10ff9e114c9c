"""A profile as the device side of a timeline, alone and joined with a host trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rblnpb.clock import HOST_MONOTONIC
from rblnpb.columns import (
    ABSENT,
    Counters,
    DeviceSlices,
    HostSlices,
    Launches,
    WorkloadSlices,
)
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import MATCH_RULES, RecordCount, Timeline, Track
from rblnpb.errors import ClockError, Severity, UsageError
from rblnpb.naming import NameStyle
from rblnpb.profile import Commands, Device, Engine, EngineKind, Loss, LossReason, Program, Session
from tests.support.vendor_traces import (
    HOST_PID,
    MAIN,
    TICKS_AHEAD,
    WORKER,
    Launch,
    annotation,
    device_profile,
    first_emitter,
    host_trace,
    op,
    unix_ns,
)

OPS = (op("aten::matmul", 1000, 3000), op("aten::mm", 1200, 2000), op("aten::add", 5000, 6000, tid=WORKER))
RUN = (Launch(1, 1500, 2500), Launch(2, 5500, 6500, tid=WORKER))


def names(timeline: Timeline, rows: Any) -> list[str | None]:
    """Names of host events, None for -1."""
    assert timeline.host is not None
    texts = [*(timeline.host.strings[row] for row in timeline.host.events.name.tolist()), None]
    return [texts[row] for row in rows.tolist()]


def codes(timeline: Timeline) -> list[str]:
    return [finding.code for finding in timeline.findings]


def test_a_slice_belongs_to_the_op_around_its_launch() -> None:
    timeline = merge(device_profile(RUN), host_trace(OPS))
    assert names(timeline, timeline.launches.host_row) == ["aten::mm", "aten::add"]
    assert names(timeline, timeline.slices.host_row) == ["aten::mm", "aten::add"]
    assert timeline.slices.launch.tolist() == [0, 1]
    assert timeline.slices.event.tolist() == [-1, -1]
    assert timeline.findings == ()


def test_device_ticks_become_unix_time() -> None:
    timeline = merge(device_profile(RUN), host_trace(OPS))
    assert timeline.slices.start_ns.tolist() == [unix_ns(2500), unix_ns(6500)]
    assert timeline.slices.duration_ns.tolist() == [700, 700]
    assert timeline.launches.start_ns.tolist() == [unix_ns(1500), unix_ns(5500)]


def test_alone_a_profile_has_no_op_to_charge() -> None:
    timeline = merge(device_profile(RUN))
    assert [MATCH_RULES[reason] for reason in timeline.launches.reason.tolist()] == ["no-host-trace"] * 2
    assert timeline.slices.host_row.tolist() == [-1, -1]
    assert timeline.findings == ()


def test_nothing_cannot_be_merged() -> None:
    with pytest.raises(UsageError, match="nothing to merge"):
        merge(None)


def test_what_a_launch_does_not_match_is_told_with_its_reason() -> None:
    run = (Launch(1, 500, 900), Launch(2, 4000, 4100), Launch(3, 9000, 9100, tid=99), Launch(4, 2_000_000, 2_000_100))
    timeline = merge(device_profile(run), host_trace([*OPS, annotation("step", 3500, 4500)]))
    reasons = [MATCH_RULES[reason] for reason in timeline.launches.reason.tolist()]
    assert reasons == ["between-ops", "annotation-only", "thread-not-in-trace", "outside-window"]
    assert set(codes(timeline)) == {
        *(f"unmatched-{reason}" for reason in reasons),
        "nothing-matched",
        "out-of-window",
    }


def test_launch_id_0_joins_nothing() -> None:
    timeline = merge(device_profile((Launch(0, 1500, 2500),)), host_trace(OPS))
    assert names(timeline, timeline.launches.host_row) == ["aten::mm"]
    assert (timeline.slices.launch.tolist(), timeline.slices.host_row.tolist()) == ([-1], [-1])
    assert timeline.slices.arguments[:, timeline.argument_names.index("launch_id")].tolist() == [ABSENT]
    assert codes(timeline) == ["unattributed-slices"]


def test_one_launch_may_have_hundreds_of_slices() -> None:
    slices = DeviceSlices.of(
        200, clock_id=16, engine_id=1, start_ticks=2500 + TICKS_AHEAD + np.arange(200) * 10, duration_ticks=10, launch_id=1
    )
    timeline = merge(device_profile(RUN, device_slices=slices), host_trace(OPS))
    assert set(names(timeline, timeline.slices.host_row)) == {"aten::mm"}


def test_a_launch_id_that_is_counted_anew_means_the_last_launch_before_the_slice() -> None:
    run = (Launch(1, 1500, 2500), Launch(1, 5500, 6500, tid=WORKER))
    timeline = merge(device_profile(run), host_trace(OPS))
    assert names(timeline, timeline.slices.host_row) == ["aten::mm", "aten::add"]


def test_a_slice_of_a_launch_that_is_not_in_the_file_stays_unattributed() -> None:
    timeline = merge(device_profile(RUN, launched_by=[1, 9]), host_trace(OPS))
    assert names(timeline, timeline.slices.host_row) == ["aten::mm", None]
    assert codes(timeline) == ["unattributed-slices"]


def test_without_any_launch_record_all_work_is_unattributed_and_said_to_be() -> None:
    timeline = merge(device_profile(RUN, launches=Launches.empty()), host_trace(OPS))
    (finding,) = timeline.findings
    assert (finding.code, finding.count, str(finding.severity)) == ("unattributed-slices", 2, "warning")


def test_a_slice_before_its_launch_is_joined_and_named() -> None:
    timeline = merge(device_profile((Launch(1, 1500, 1400),)), host_trace(OPS))
    assert names(timeline, timeline.slices.host_row) == ["aten::mm"]
    (finding,) = timeline.findings
    assert (finding.code, "by up to 100 ns" in finding.message) == ("device-before-launch", True)


def test_files_of_different_times_are_suspect() -> None:
    run = (Launch(1, 5_000_000, 5_000_500),)
    timeline = merge(device_profile(run), host_trace(OPS, window_ns=10_000))
    assert codes(timeline) == ["unmatched-outside-window", "nothing-matched", "disjoint-spans"]
    assert "4,990,500 ns" in timeline.findings[-1].message


def test_work_on_both_sides_of_the_window_is_outside_by_the_nearer_side() -> None:
    run = (Launch(1, 0, 500), Launch(2, 20_000, 30_000))
    rows = [op("aten::mm", 5000, 6000)]
    timeline = merge(device_profile(run), host_trace(rows, window_ns=None))
    assert "at least 4,500 ns" in next(finding for finding in timeline.findings if finding.code == "disjoint-spans").message


def test_another_process_and_another_host_are_named() -> None:
    session = Session(session_id=7, process_id=77, host_name="here")
    timeline = merge(device_profile(RUN, session=session), host_trace(OPS, host_name="there"))
    assert codes(timeline) == ["host-differs", "process-differs"]


def test_a_profile_whose_threads_are_of_another_process_matches_nothing_and_says_so() -> None:
    launches = device_profile(RUN).launches.replace(process_id=np.array([77, 77]))
    session = Session(session_id=7, process_id=77)
    timeline = merge(device_profile(RUN, session=session, launches=launches), host_trace(OPS))
    assert codes(timeline) == ["unmatched-thread-not-in-trace", "nothing-matched", "process-differs"]


def test_device_rows_of_the_trace_itself_are_named_and_not_counted() -> None:
    timeline = merge(device_profile(RUN), host_trace([*OPS, *first_emitter(RUN)]))
    assert len(timeline.slices) == 2
    (finding,) = timeline.findings
    assert (finding.code, finding.count, str(finding.severity)) == ("device-rows-twice", 12, "info")


def test_a_trace_without_a_base_time_but_in_unix_time_is_joined() -> None:
    absolute = [{**event, "ts": unix_ns(0) // 1000 + event["ts"] - 5_000_000} for event in OPS]
    timeline = merge(device_profile(RUN), host_trace(absolute, base_time=False, window_ns=None))
    assert names(timeline, timeline.slices.host_row) == ["aten::mm", "aten::add"]
    assert "no-base-time" in codes(timeline)


def test_a_trace_with_a_zero_of_its_own_is_refused() -> None:
    with pytest.raises(ClockError, match="baseTimeNanoseconds"):
        merge(device_profile(RUN), host_trace(OPS, base_time=False))


def test_engines_are_tracks_in_their_order_of_display() -> None:
    engines = (
        Engine(9, 1, EngineKind.NEURAL_DMA, chiplet=2, display_order=2),
        Engine(4, 1, EngineKind.DEVICE_SYNC, "sync unit", display_order=1),
    )
    slices = device_profile(RUN).device_slices.replace(engine_id=np.array([9, 4], np.uint32))
    timeline = merge(device_profile(RUN, engines=engines, device_slices=slices))
    assert timeline.tracks == (
        Track("rbln:0", "sync unit", "device_sync", is_work=False, order=0),
        Track("rbln:0", "Neural DMA (chiplet 2)", "neural_dma", is_work=True, order=1),
    )
    assert timeline.slices.track.tolist() == [1, 0]
    assert timeline.is_work().tolist() == [True, False]


@pytest.mark.parametrize("engine_id", [0, 3, 2**32 - 1])
def test_a_slice_of_no_known_engine_has_a_track_of_its_own(engine_id: int) -> None:
    slices = device_profile(RUN).device_slices.replace(engine_id=np.array([1, engine_id], np.uint32))
    timeline = merge(device_profile(RUN, device_slices=slices))
    assert timeline.tracks[-1] == Track("rbln:0", "Unknown engine", "unknown", is_work=True, order=2)
    assert timeline.slices.track.tolist() == [0, 2]


def test_an_engine_with_the_greatest_id_costs_no_memory() -> None:
    profile = device_profile(RUN, engines=(Engine(2**32 - 1, 1, EngineKind.COMPUTE),))
    slices = profile.device_slices.replace(engine_id=np.full(2, 2**32 - 1, np.uint32))
    assert merge(profile.replace(device_slices=slices)).slices.track.tolist() == [0, 0]


def test_frames_are_apart_from_slices_and_called_by_their_program() -> None:
    frames = WorkloadSlices.of(
        2, clock_id=16, engine_id=2, start_ticks=2400 + TICKS_AHEAD, duration_ticks=900, launch_id=1, program_id=np.array([1, 0])
    )
    timeline = merge(device_profile(RUN, workload_slices=frames), host_trace(OPS))
    assert timeline.frames.names.render().tolist() == [b"mm", b"Device Workload"]
    assert timeline.frames.start_ns.tolist() == [unix_ns(2400)] * 2
    assert names(timeline, timeline.frames.host_row) == ["aten::mm"] * 2
    assert not timeline.tracks[timeline.frames.track[0]].is_work


def test_slice_names_are_made_of_their_commands() -> None:
    absent = np.full(2, ABSENT, np.int64)
    commands = Commands(
        program_id=np.array([0, 1], np.uint32),
        layer_strindex=np.array([0, 1], np.uint32),
        command_index=np.array([0, 3], np.uint32),
        engine_kind=np.array([0, 2], np.uint32),
        size_bytes=absent,
        chiplet=absent,
        predecessor_ends=np.zeros(2, np.int64),
        predecessor_rows=np.empty(0, np.uint32),
    )
    slices = device_profile(RUN).device_slices.replace(
        command_row=np.array([1, 1], np.uint32),
        name_strindex=np.zeros(2, np.uint32),
        instance=np.array([1, 1], np.uint32),
        sequence=np.array([0, 1]),
        workload=np.array([0, ABSENT]),
    )
    session = Session(session_id=7, name_style=NameStyle.MULTI_STREAM)
    timeline = merge(device_profile(RUN, commands=commands, device_slices=slices, session=session))
    assert timeline.slices.names.render().tolist() == [b"i1_0_W0_mm_3", b"i1_1_mm_3"]
    instance = timeline.slices.arguments[:, timeline.argument_names.index("instance")]
    assert instance.tolist() == [1, 1]


def test_what_the_compiler_planned_stands_where_nothing_was_measured() -> None:
    commands = replace(
        Commands.none(),
        program_id=np.array([0, 1], np.uint32),
        layer_strindex=np.array([0, 1], np.uint32),
        command_index=np.array([0, 0], np.uint32),
        engine_kind=np.array([0, EngineKind.TASK_DMA], np.uint32),
        size_bytes=np.array([ABSENT, 512]),
        chiplet=np.array([ABSENT, ABSENT]),
        predecessor_ends=np.zeros(2, np.int64),
    )
    slices = device_profile(RUN).device_slices.replace(command_row=np.array([1, 1], np.uint32), size_bytes=np.array([500, ABSENT]))
    timeline = merge(device_profile(RUN, commands=commands, device_slices=slices))
    measured, planned = (timeline.argument_names.index(name) for name in ("size_bytes", "planned_bytes"))
    assert timeline.slices.arguments[:, [measured, planned]].tolist() == [[500, ABSENT], [ABSENT, 512]]


def test_what_the_runtime_did_on_the_host_has_its_launch_and_its_time() -> None:
    slices = HostSlices.of(
        2,
        activity=np.array([1, 99]),
        start_ns=np.array([1400, 5400]),
        duration_ns=100,
        process_id=HOST_PID,
        thread_id=np.array([MAIN, WORKER]),
        launch_id=np.array([1, 0]),
        size_bytes=np.array([ABSENT, 64]),
    )
    runtime = merge(device_profile(RUN, host_slices=slices), host_trace(OPS)).runtime
    assert (runtime.start_ns.tolist(), runtime.launch.tolist()) == ([unix_ns(1400), unix_ns(5400)], [0, -1])
    assert (runtime.tid.tolist(), runtime.size_bytes.tolist()) == ([MAIN, WORKER], [ABSENT, 64])


def test_activities_have_names_and_unknown_ones_are_the_runtimes() -> None:
    timeline = merge(device_profile(RUN, host_slices=HostSlices.of(2, activity=np.array([1, 99]))))
    assert [timeline.strings[row] for row in timeline.runtime.name.tolist()] == ["submit", "runtime"]


def test_samples_have_their_device_their_name_and_their_time() -> None:
    counters = Counters.of(
        clock_id=16,
        name_strindex=2,
        device_id=np.array([1, 5]),
        time_ticks=np.array([1, 2]) + TICKS_AHEAD,
        value=np.array([0.5, 2.0]),
    )
    timeline = merge(device_profile(RUN, counters=counters), host_trace(OPS))
    found = timeline.counters
    assert [timeline.strings[row] for row in found.device.tolist()] == ["rbln:0", ""]
    assert [timeline.strings[row] for row in found.name.tolist()] == ["bytes", "bytes"]
    assert (found.time_ns.tolist(), found.value.tolist()) == ([unix_ns(1), unix_ns(2)], [0.5, 2.0])


def test_nothing_that_has_no_place_is_left_out_silently() -> None:
    profile = device_profile(
        RUN,
        device_slices=device_profile(RUN).device_slices.replace(clock_id=np.array([16, 17], np.uint32)),
        workload_slices=WorkloadSlices.of(1, clock_id=17),
        counters=Counters.of(clock_id=np.array([17, 16, HOST_MONOTONIC]), value=np.array([1.0, np.nan, np.inf])),
    )
    timeline = merge(profile)
    assert (len(timeline.slices), len(timeline.frames), len(timeline.counters)) == (1, 0, 0)
    assert [(finding.code, finding.where, finding.count) for finding in timeline.findings] == [
        ("unplaced-records", "device_slices", 1),
        ("unplaced-records", "workload_slices", 1),
        ("unplaced-records", "counters", 3),
    ]


def test_launches_and_runtime_slices_without_a_place_are_told_too() -> None:
    profile = device_profile(RUN)
    profile = profile.replace(
        launches=profile.launches.replace(start_ns=np.array([2**62, 5500])),
        host_slices=HostSlices.of(
            start_ns=np.array([-(2**62), 10, 20]), duration_ns=np.array([1, 2**62, 5]), launch_id=np.array([1, 1, 2], np.uint64)
        ),
    )
    timeline = merge(profile)
    assert (timeline.launches.launch_id.tolist(), timeline.slices.launch.tolist()) == ([2], [-1, 0])
    assert (timeline.runtime.start_ns.tolist(), timeline.runtime.launch.tolist()) == ([unix_ns(20)], [0])
    assert [(finding.code, finding.where, finding.count) for finding in timeline.findings] == [
        ("unplaced-records", "launches", 1),
        ("unplaced-records", "host_slices", 2),
    ]


def test_records_are_counted_by_kind_with_what_was_lost() -> None:
    losses = (
        Loss(17, LossReason.BUFFER_FULL, 5, is_lower_bound=True),
        Loss(22, LossReason.BUFFER_FULL, 2),
        Loss(0, LossReason.UNKNOWN, 9),
    )
    assert merge(device_profile(RUN, losses=losses)).counts == (
        RecordCount("launches", 2, 0),
        RecordCount("device_slices", 2, 5, is_lower_bound=True),
        RecordCount("counters", 0, 2),
        RecordCount("unknown", 0, 9, is_lower_bound=True),
    )


def test_of_a_recording_that_was_not_ended_all_counts_are_lower_bounds() -> None:
    counts = merge(device_profile(RUN, is_complete=False)).counts
    assert [count.is_lower_bound for count in counts] == [True, True]


@pytest.mark.parametrize(
    ("devices", "expected"), [(("rbln:0", "rbln:1"), "rbln"), (("atom:0",), "atom"), (("rbln:0", "xpu:0"), "rbln"), (("",), "rbln")]
)
def test_the_device_is_called_as_its_devices_are(devices: tuple[str, ...], expected: str) -> None:
    made = tuple(Device(number + 1, name) for number, name in enumerate(devices))
    assert merge(device_profile(RUN, devices=made)).device_name == expected


def test_a_program_is_the_name_of_its_launches() -> None:
    profile = device_profile(RUN, programs=(Program(1, "decoder"),))
    timeline = merge(profile.replace(launches=profile.launches.replace(program_id=np.array([1, 6], np.uint32))))
    assert [timeline.strings[row] for row in timeline.launches.name.tolist()] == ["decoder", ""]


def test_an_empty_profile_is_an_empty_timeline() -> None:
    timeline = merge(device_profile(()), host_trace(OPS))
    assert [len(timeline.slices), len(timeline.launches), len(timeline.counts)] == [0, 0, 0]
    assert replace(timeline, findings=()).is_serialised is None


def test_a_slice_days_from_every_reading_is_told() -> None:
    profile = device_profile(RUN)
    slices = profile.device_slices
    far = np.where(np.arange(len(slices)) == 0, slices.start_ticks + np.uint64(2 * 86_400 * 10**9), slices.start_ticks)
    timeline = merge(profile.replace(device_slices=slices.replace(start_ticks=far)))
    assert [(finding.code, finding.count) for finding in timeline.findings if finding.severity == Severity.WARNING] == [
        ("far-from-readings", 1)
    ]
