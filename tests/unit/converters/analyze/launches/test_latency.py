"""Latency, by launch, program and thread, and what it suffers from."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb import sim
from rblnpb.converters.analyze.launches.latency import latency
from rblnpb.converters.merging import merge
from rblnpb.converters.results import Distribution, Latency, LatencyFigures, LatencyGroup
from rblnpb.converters.timeline import ClockQuality
from rblnpb.errors import Finding, Severity
from rblnpb.profile import HostActivity
from tests.support.small_run import BASE_NS, MAIN, WORKER, small_profile, small_trace
from tests.support.timelines import launches, slices, timeline
from tests.support.vendor_traces import Launch, first_emitter, host_trace, newer_emitter, op


def small() -> Latency:
    return latency(merge(small_profile(), small_trace()))


def of(differences: list[int], **parts: Any) -> Latency:
    """The latency of launches 100 ns apart, each with 1 ns of work so long after it."""
    starts = [1_000 + 100 * at for at in range(len(differences))]
    work = [
        {"start": start + after, "duration": 1, "launch": at}
        for at, (start, after) in enumerate(zip(starts, differences, strict=True))
    ]
    return latency(timeline(slices=slices(*work), launches=launches(*({"start": start} for start in starts)), **parts))


def codes(found: Latency) -> list[tuple[Severity, str, int]]:
    return [(finding.severity, finding.code, finding.count) for finding in found.findings]


def test_the_small_run_has_the_figures_that_were_worked_out_by_hand() -> None:
    found = small()
    assert found.total == LatencyFigures(
        latency=Distribution(4, 11_100, 2_775, 0, 1_000, 9_100, 9_100, 9_100),
        least_ns=-100,
        n_negative=1,
        waited_count=1,
        waiting_ns=9_000,
        submission_ns=2_100,
    )
    assert (found.launch_count, found.launches_without_work, found.slices_without_launch, found.uncertainty_ns) == (5, 1, 1, 0)


def test_the_parts_of_the_latency_add_up() -> None:
    found = small()
    assert (found.waiting.sum_ns, found.submission.sum_ns) == (9_000, 2_100)
    assert found.waiting.sum_ns + found.submission.sum_ns == found.total.latency.sum_ns


def test_programs_and_threads_have_figures_of_their_own() -> None:
    found = small()
    mm = LatencyFigures(Distribution(3, 2_000, 667, 0, 1_000, 1_000, 1_000, 1_000), -100, 1, 0, 0, 2_000)
    mul = LatencyFigures(Distribution(1, 9_100, 9_100, *[9_100] * 5), 9_100, 0, 1, 9_000, 100)
    assert found.programs == (LatencyGroup("mm", "", None, None, mm), LatencyGroup("mul", "", None, None, mul))
    main = LatencyFigures(Distribution(2, 2_000, 1_000, *[1_000] * 5), 1_000, 0, 0, 0, 2_000)
    worker = LatencyFigures(Distribution(2, 9_100, 4_550, 0, 0, 9_100, 9_100, 9_100), -100, 1, 1, 9_000, 100)
    assert found.threads == (LatencyGroup("main", "", MAIN, MAIN, main), LatencyGroup("worker", "", MAIN, WORKER, worker))


def test_the_queue_of_the_small_run() -> None:
    found = small()
    assert [queue.device for queue in (found.queue, *found.queues)] == ["", "rbln:0"]
    for queue in (found.queue, *found.queues):
        assert (queue.time_ns - BASE_NS).tolist() == [6_000, 9_500, 23_000, 25_000, 34_000, 40_000, 45_000, 46_000]
        assert queue.length.tolist() == [1, 0, 1, 2, 1, 0, 1, 0]
        assert (queue.max_length, queue.mean_length, queue.time_at_length_ns) == (2, 0.7625, (18_500, 12_500, 9_000))


def test_without_a_host_trace_the_figures_are_the_same() -> None:
    alone, joined = latency(merge(small_profile())), small()
    assert alone.total == joined.total
    assert [(group.tid, group.name, group.figures) for group in alone.threads] == [
        (group.tid, "", group.figures) for group in joined.threads
    ]


@pytest.mark.parametrize("emitter", [first_emitter, newer_emitter])
def test_a_trace_with_device_rows_has_launches_of_its_own(emitter: Any) -> None:
    run = (Launch(1, 1_500, 2_500), Launch(2, 5_000, 5_700))
    found = latency(merge(None, host_trace([op("aten::mm", 1_000, 6_000), *emitter(run)])))
    assert found.total.latency == Distribution(2, 1_700, 850, 700, 700, 1_000, 1_000, 1_000)
    assert found.uncertainty_ns is None


def test_a_device_that_starts_first_now_and_then_is_an_accident() -> None:
    assert codes(of([-5] + [50] * 99)) == [(Severity.INFO, "queue-never-used", 100)]


def test_a_device_that_starts_first_too_often_has_another_clock() -> None:
    found = of([-5, -9] + [50] * 98, is_serialised=False)
    assert codes(found) == [(Severity.WARNING, "clock-skew", 2)]
    assert found.findings[0].message.startswith(
        "the device starts before 2 of 100 launches, by up to 9 ns (median of all: 50 ns after)"
    )
    assert (found.total.n_negative, found.total.least_ns, found.total.latency.min_ns) == (2, -9, 0)


def test_recording_that_waits_says_so() -> None:
    assert codes(of([5] * 3, is_serialised=True)) == [(Severity.WARNING, "queue-drained", 3)]


def test_few_launches_prove_nothing() -> None:
    assert codes(of([5] * 7)) == []


def test_a_queue_that_is_used_was_not_drained() -> None:
    assert codes(of([5] * 8 + [150, 60])) == []


def test_without_launches_there_is_no_latency() -> None:
    assert latency(timeline()).findings == (
        Finding(
            Severity.WARNING,
            "nothing-launched",
            "there is no latency to tell: no launch was recorded: give a device profile, or a trace with device rows",
        ),
    )


def test_launches_without_work_are_no_latency() -> None:
    found = latency(timeline(launches=launches({"start": 1})))
    assert codes(found) == [(Severity.WARNING, "nothing-launched", 1)]
    assert (found.launch_count, found.launches_without_work, found.total.latency.count) == (1, 1, 0)


def test_the_clock_of_the_device_says_how_exact_it_is() -> None:
    clocks = (
        ClockQuality("host real time", 2, 70, 800, 0.0, 0, 0),
        ClockQuality("rbln:0", 2, 40, 160, 0.0, 0, 0),
        ClockQuality("rbln:1", 2, 5, 190, 0.0, 0, 0),
    )
    assert of([5], clocks=clocks).uncertainty_ns == 200


def test_a_queue_that_overruns_holds_sixteen_and_one_that_waits_for_room() -> None:
    found = latency(merge(sim.simulate(program="decoder", calls=96, faults=["queue-overrun"])))
    assert found.queue.max_length == 17
    assert found.total.waited_count == 93


@pytest.mark.parametrize("drained", [True, False])
def test_latency_is_what_the_simulation_put_between_launch_and_device(drained: bool) -> None:
    profile = sim.simulate(calls=400, drained=drained)
    found = latency(merge(profile))
    submit_ns = profile.host_slices.duration_ns[profile.host_slices.activity == HostActivity.SUBMIT]
    # What follows a submission is 4 µs, give or take a quarter; the first transfer begins 300 ns into its frame.
    expected_ns = int(submit_ns.sum()) + 400 * (4_000 + 300)
    assert found.uncertainty_ns is not None
    assert abs(found.submission.sum_ns - expected_ns) <= 400 * found.uncertainty_ns + expected_ns // 100
