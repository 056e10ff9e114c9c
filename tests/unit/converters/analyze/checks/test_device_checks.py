"""The device side of a profile."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rblnpb.columns import Counters, Launches, WorkloadSlices
from rblnpb.converters.analyze.checks.device_checks import device_findings, profile_findings
from rblnpb.converters.merging import merge
from rblnpb.converters.results import Place
from rblnpb.errors import Finding, Severity
from rblnpb.profile import Device, Engine, EngineKind, Profile
from tests.support.vendor_traces import Launch, device_profile, host_trace, op, unix_ns

RUN = (Launch(1, 1000, 2000), Launch(2, 3000, 4000))


def found(profile: Profile) -> dict[str, tuple[Severity, int, str, list[int]]]:
    """Code -> severity, count, where and the first few records."""
    return {
        one.finding.code: (one.finding.severity, one.finding.count, one.finding.where, [place.row for place in one.places])
        for one in profile_findings(profile, merge(profile))
    }


def test_a_plain_run_has_nothing() -> None:
    profile = device_profile(RUN)
    assert found(profile) == {}
    assert list(device_findings(merge(profile, host_trace([op("mm", 0, 9000)])))) == []


def test_work_before_its_launch_has_its_place() -> None:
    profile = device_profile((Launch(1, 1000, 900), Launch(2, 3000, 4000), Launch(3, 5000, 6000)))
    (one,) = device_findings(merge(profile))
    message = "1 device slice starts before being launched, by up to 100 ns, a sign of clocks that do not quite fit"
    assert one.finding == Finding(Severity.WARNING, "device-before-launch", message, 1)
    assert one.places == (Place("device_slices", 0, "mm", unix_ns(900)),)


def test_most_work_before_its_launch_is_the_clocks() -> None:
    (one,) = device_findings(merge(device_profile((Launch(1, 1000, 900), Launch(2, 3000, 2500)))))
    assert one.finding.message.endswith("by up to 500 ns, so do most: the clocks are off by at least that")


def test_spans_that_do_not_meet() -> None:
    host = host_trace([op("mm", 0, 1000)], window_ns=1000)
    for device_ns, severity in ((1500, Severity.WARNING), (500_000, Severity.ERROR)):
        timeline = merge(device_profile((Launch(1, 500, device_ns),)), host)
        assert [(one.finding.code, one.finding.severity) for one in device_findings(timeline)] == [("disjoint-spans", severity)]


def test_slices_that_cross_on_an_engine() -> None:
    profile = device_profile((Launch(1, 1000, 2000), Launch(2, 1100, 2500)))
    assert found(profile) == {"overlapping-slices": (Severity.INFO, 1, "", [1])}


def test_launches_without_a_record() -> None:
    profile = device_profile(RUN, launched_by=(1, 1))
    assert found(profile) == {"launches-without-work": (Severity.WARNING, 1, "", [1])}


def test_launches_without_a_record_on_one_of_two_devices() -> None:
    run = tuple(Launch(number, 1000 * number, 1000 * number + 500) for number in (1, 2, 3))
    profile = device_profile(run)
    slices = profile.device_slices
    twice = type(slices).concat([slices, slices.take(slice(0, 2)).replace(engine_id=np.full(2, 3, np.uint32))])
    both = profile.replace(
        devices=(*profile.devices, Device(2, "rbln:1", 1, 4, 16)),
        engines=(*profile.engines, Engine(3, 2, EngineKind.NEURAL_ENGINE_CLUSTERS, chiplet=0)),
        device_slices=twice,
    )
    assert found(both) == {"launches-without-work": (Severity.WARNING, 1, "rbln:1", [2])}


def test_calls_that_were_never_counted() -> None:
    launches = device_profile(RUN).launches
    for sequence, gap in (((0, 1), None), ((0, 4), (Severity.WARNING, 3, "launches.sequence", [1])), ((7, 7), None)):
        counted = launches.replace(instance=np.ones(2, np.uint32), sequence=np.array(sequence, np.int64))
        expected = {} if gap is None else {"sequence-gap": gap}
        assert found(device_profile(RUN, launches=counted)) == expected


def test_without_launches_frames_tell_of_calls() -> None:
    frames = WorkloadSlices.of(2, clock_id=16, engine_id=2, instance=1, sequence=np.array([0, 2]), launch_id=np.array([1, 2]))
    profile = device_profile(RUN, launches=Launches.empty(), workload_slices=frames)
    assert found(profile)["sequence-gap"] == (Severity.WARNING, 1, "workload_slices.sequence", [1])


def test_counters_out_of_order_or_falling() -> None:
    counters = Counters.of(
        clock_id=16,
        name_strindex=np.array([1, 1, 2, 2]),
        device_id=1,
        time_ticks=np.array([9, 5, 5, 9]),
        value=np.array([1, 2, 3, 2.0]),
    )
    profile = device_profile(RUN, counters=counters, strings=("", "mm", "sent_total"))
    assert found(profile) == {
        "unsorted-samples": (Severity.INFO, 1, "counters", [1]),
        "counter-fell": (Severity.WARNING, 1, "counters", [3]),
    }


def test_without_a_timeline_what_needs_no_clock_is_told() -> None:
    launches = replace(device_profile(RUN).launches, instance=np.ones(2, np.uint32), sequence=np.array([0, 2]))
    assert [one.finding.code for one in profile_findings(device_profile(RUN, launches=launches), None)] == ["sequence-gap"]
