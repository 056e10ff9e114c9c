"""What is injected has the size that is promised, and changes nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rblnpb.errors import UsageError
from rblnpb.profile import HostActivity, OverheadKind, Profile
from rblnpb.sim import LaunchPlan, simulate
from rblnpb.sim.injections import HOST_INJECTIONS, INJECTIONS

Int64 = npt.NDArray[np.int64]


def pair(fault: str, **choices: Any) -> tuple[Profile, Profile]:
    """A recording without and with a fault."""
    return simulate(calls=100, **choices), simulate(calls=100, faults=[fault], **choices)


def lost_ns(without: Profile, injected: Profile) -> Int64:
    """int64[n]; time that the host lost before each call."""
    later: Int64 = injected.launches.start_ns - without.launches.start_ns
    return np.diff(later, prepend=np.int64(0))


def hosts(profile: Profile, activity: HostActivity) -> Int64:
    """int64[k]; how long each of these activities took."""
    slices = profile.host_slices
    durations_ns: Int64 = slices.duration_ns[slices.activity == activity]
    return durations_ns


@pytest.mark.parametrize("drained", [True, False])
def test_a_stall_is_between_half_a_millisecond_and_three(drained: bool) -> None:
    stalls_ns = lost_ns(*pair("host-stall", drained=drained))
    stalls_ns = stalls_ns[stalls_ns > 0]
    assert 5 <= len(stalls_ns) <= 25
    assert 500_000 <= stalls_ns.min() < stalls_ns.max() <= 3_000_000


def test_a_stall_changes_nothing_that_the_device_does() -> None:
    without, stalled = pair("host-stall")
    ticks = stalled.device_slices.duration_ticks.astype(np.int64) - without.device_slices.duration_ticks.astype(np.int64)
    # The clock drifts and reads whole ticks.
    assert np.abs(ticks).max() <= 2


def test_a_fallback_is_recorded_with_the_time_that_it_took() -> None:
    without, injected = pair("fallback")
    took_ns = lost_ns(without, injected)
    records = injected.overheads.take(slice(len(without.overheads), None))
    assert records.duration_ns.tolist() == took_ns[took_ns > 0].tolist()
    assert set(records.overhead.tolist()) == {OverheadKind.CPU_FALLBACK}
    assert {injected.strings[row] for row in records.reason_strindex.tolist()} == {"dtype-not-fp16", "trace", "nan/inf input"}
    assert 20_000 <= records.duration_ns.min() < records.duration_ns.max() <= 200_000


def test_the_host_launches_when_its_fallback_is_over() -> None:
    without, injected = pair("fallback")
    records = injected.overheads.take(slice(len(without.overheads), None))
    fallen = np.flatnonzero(lost_ns(without, injected))
    copied_ns = hosts(injected, HostActivity.COPY_IN)[fallen]
    assert (records.start_ns + records.duration_ns + copied_ns).tolist() == injected.launches.start_ns[fallen].tolist()


def test_what_is_compiled_again_is_recorded_twice() -> None:
    without, injected = pair("recompilation")
    took_ns = lost_ns(without, injected)
    again = took_ns[took_ns > 0].tolist()
    assert hosts(injected, HostActivity.COMPILE).tolist() == [*hosts(without, HostActivity.COMPILE).tolist(), *again]
    assert injected.overheads.duration_ns.tolist()[len(without.overheads) :] == again
    assert 15_000_000 <= min(again) < max(again) <= 45_000_000


@pytest.mark.parametrize("program", ["mm", "decoder", "aten::add"])
def test_a_slow_transfer_is_one_command_of_some_calls(program: str) -> None:
    without, slow = pair("slow-dma", program=program)
    before, after = (profile.device_slices.duration_ticks.astype(np.int64) for profile in (without, slow))
    is_slow = np.abs(after - before) > 2
    factor = after[is_slow] / before[is_slow]
    assert len(set(slow.device_slices.command_row[is_slow].tolist())) == 1
    assert 5 <= is_slow.sum() <= 25
    assert 5.9 < factor.min() < factor.max() < 10.1
    assert slow.device_slices.size_bytes.tolist() == without.device_slices.size_bytes.tolist()


def test_a_launch_plan_may_have_slow_transfers() -> None:
    plan = LaunchPlan.of(np.arange(10) * 100_000 + 10**18, 1, 1, ["aten::mm"] * 10)
    without, slow = simulate(launches=plan), simulate(launches=plan, faults=["slow-dma"])
    assert slow.launches.equals(without.launches)
    assert slow.device_slices.duration_ticks.sum() > without.device_slices.duration_ticks.sum()


@pytest.mark.parametrize("fault", sorted(HOST_INJECTIONS))
def test_a_launch_plan_says_itself_when_the_host_launches(fault: str) -> None:
    with pytest.raises(UsageError, match="a launch plan says when the host launches"):
        simulate(launches=LaunchPlan.of([10**18], 1, 1, ["aten::mm"]), faults=[fault])


def test_a_submission_waits_for_the_launch_sixteen_before_it() -> None:
    # Much longer than the host needs to submit sixteen.
    injected = simulate(program="decoder", calls=100, faults=["queue-overrun"])
    submits = injected.host_slices.take(injected.host_slices.activity == HostActivity.SUBMIT)
    undisturbed_ns = hosts(simulate(program="decoder", calls=100, drained=False), HostActivity.SUBMIT)
    waited = np.flatnonzero(submits.duration_ns != undisturbed_ns)
    assert waited.tolist() == [call for call in range(100) if call % 32 >= 16]
    assert (submits.duration_ns >= undisturbed_ns).all()


def test_a_burst_is_submitted_back_to_back() -> None:
    injected = simulate(program="all_reduce", calls=64, faults=["queue-overrun"])
    submits = injected.host_slices.take(injected.host_slices.activity == HostActivity.SUBMIT)
    idle_ns = submits.start_ns[1:] - (submits.start_ns + submits.duration_ns)[:-1]
    assert np.flatnonzero(idle_ns > 0).tolist() == [31]


def test_a_host_that_waits_has_no_queue_to_overrun() -> None:
    with pytest.raises(UsageError, match="has no queue to overrun"):
        simulate(faults=["queue-overrun"], drained=True)


@pytest.mark.parametrize("fault", INJECTIONS)
def test_one_call_alone_can_have_each(fault: str) -> None:
    assert len(simulate(calls=1, faults=[fault]).launches) == 1


def test_several_do_not_change_each_other() -> None:
    without, stalled = pair("host-stall")
    both = simulate(calls=100, faults=["host-stall", "fallback"])
    fell_back = simulate(calls=100, faults=["fallback"])
    assert lost_ns(without, both).tolist() == (lost_ns(without, stalled) + lost_ns(without, fell_back)).tolist()
