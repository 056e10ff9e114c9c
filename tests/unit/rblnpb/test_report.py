"""The generation report: values first, then the text that a runtime prints."""

from __future__ import annotations

from dataclasses import replace

from rblnpb.clock import Clock, ClockKind, ClockSnapshot
from rblnpb.columns import DeviceSlices
from rblnpb.profile import Device, Engine, EngineKind, Loss, LossReason, Profile, Session
from rblnpb.report import ClockReport, EngineReport, GenerationReport, KindReport, generation_report, render

PROFILE = Profile(
    session=Session(
        session_id=1, started_monotonic_ns=1_000, ended_monotonic_ns=9_001_000, drained_after_each_run=True, npu="rebel100"
    ),
    clocks=(Clock(16, "rbln:0", 10**9, 64, 1, ClockKind.DEVICE),),
    devices=(Device(1, "rbln:0", 0, 4, 16),),
    engines=(
        Engine(1, 1, EngineKind.NEURAL_DMA, "Neural DMA", 1, 2),
        Engine(2, 1, EngineKind.NEURAL_DMA, "Neural DMA", 0, 1),
        Engine(3, 1, EngineKind.TASK_DMA, "Task DMA", 0, 3),
    ),
    clock_snapshots=(ClockSnapshot(16, 500, 990, 1_010), ClockSnapshot(16, 1_000_500, 1_000_980, 1_001_020)),
    # Engine 1: [600, 700) and [650, 800), in another order; engine 2: [600, 600); engine 3 has none.
    device_slices=DeviceSlices.of(clock_id=16, engine_id=[1, 2, 1], start_ticks=[650, 600, 600], duration_ticks=[150, 0, 100]),
    losses=(
        Loss(17, LossReason.BUFFER_FULL, 4),
        Loss(20, LossReason.BUFFER_FULL, 2),
        Loss(17, LossReason.WRITE_FAILED, 1),
    ),
)
UNREAD = ClockReport("host real time", 0, None, None, None, 0)


def test_a_report_counts_what_was_kept_and_lost_and_when_each_engine_worked() -> None:
    assert generation_report(PROFILE, "rbln_0.pb") == GenerationReport(
        file_name="rbln_0.pb",
        npu="rebel100",
        devices=1,
        duration_ns=9_000_000,
        is_drained=True,
        kinds=(KindReport("device_slices", 3, 5), KindReport("host_slices", 0, 2)),
        engines=(
            EngineReport(2, "Neural DMA", 0, 1, 1_100, 1_100, 0),
            EngineReport(1, "Neural DMA", 1, 2, 1_100, 1_300, 200),
        ),
        clocks=(ClockReport("rbln:0", 2, 20, 0, 0.0, 0), UNREAD),
        losses=(("buffer full", 6), ("write failed", 1)),
    )


def test_times_of_a_clock_that_was_never_read_are_not_known() -> None:
    report = generation_report(PROFILE.replace(clock_snapshots=()), "rbln_0.pb")
    assert report.engines[1] == EngineReport(1, "Neural DMA", 1, 2, None, None, None)
    assert report.clocks == (ClockReport("rbln:0", 0, None, None, None, 0), UNREAD)


def test_slices_in_the_hosts_clock_have_their_place() -> None:
    slices = DeviceSlices.of(clock_id=1, engine_id=1, start_ticks=[650, 600], duration_ticks=[150, 100])
    report = generation_report(PROFILE.replace(clock_snapshots=(), device_slices=slices), "rbln_0.pb")
    assert report.engines == (EngineReport(1, "Neural DMA", 1, 2, 600, 800, 200),)


def test_slices_of_no_engine_or_of_one_that_is_not_defined_are_told_together() -> None:
    slices = DeviceSlices.of(clock_id=1, engine_id=[0, 3, 9], start_ticks=[650, 600, 700], duration_ticks=5)
    report = generation_report(PROFILE.replace(device_slices=slices), "rbln_0.pb")
    assert report.engines == (
        EngineReport(3, "Task DMA", 0, 1, 600, 605, 5),
        EngineReport(0, "Unknown engine", None, 2, 650, 705, 10),
    )


def test_a_recording_that_was_not_ended_has_no_duration() -> None:
    report = generation_report(PROFILE.replace(session=replace(PROFILE.session, ended_monotonic_ns=0)), "rbln_0.pb")
    assert report.duration_ns is None
    assert "  recorded   not ended properly, drained after each run" in render(report).splitlines()


def test_the_text_is_aligned_and_ends_with_the_file() -> None:
    assert render(generation_report(PROFILE, "rbln_0.pb")).splitlines() == [
        "RBLN Profiler Generation Status Report",
        "  npu        rebel100, 1 device",
        "  recorded   0.009000000 s, drained after each run",
        "  losses     6 (buffer full), 1 (write failed)",
        "  clock      rbln:0: 2 readings, ±20 ns, residual 0 ns, drift +0.00 ppm",
        "  clock      host real time: 0 readings, cannot be placed",
        "  records        kept  dropped",
        "  device slices     3        5",
        "  host slices       0        2",
        "  engine           slices   busy ms  first ms   last ms",
        "  Neural DMA (x2)       3  0.000200  0.000000  0.000200",
        "Saved: rbln_0.pb",
    ]


def test_engines_without_times_show_none() -> None:
    text = render(generation_report(PROFILE.replace(clock_snapshots=()), "rbln_0.pb"))
    assert "  Neural DMA (x2)       3        -         -        -" in text.splitlines()


def test_a_clock_that_was_set_says_how_often() -> None:
    report = GenerationReport("x.pb", "", 2, None, None, (), (), (ClockReport("rbln:0", 3, 5, 7, -1.5, 2),), ())
    assert render(report).splitlines()[1:5] == [
        "  npu        unknown, 2 devices",
        "  recorded   not ended properly",
        "  losses     none",
        "  clock      rbln:0: 3 readings, ±5 ns, residual 7 ns, drift -1.50 ppm, set 2 times",
    ]


def test_an_empty_profile_has_a_report() -> None:
    report = generation_report(Profile(Session(session_id=1)), "rbln_0.pb")
    assert report == GenerationReport("rbln_0.pb", "", 0, None, None, (), (), (UNREAD,), ())
