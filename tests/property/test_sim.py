"""What holds of every simulated recording, and that the vectorised scheduler says what the slow one says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.columns import ABSENT
from rblnpb.profile import EngineKind, Profile
from rblnpb.sim import NPUS, PROGRAMS, LaunchPlan, simulate
from rblnpb.sim.clockwork import DeviceClock
from rblnpb.sim.compiled import compile_recipes
from rblnpb.sim.draws import Draws
from rblnpb.sim.npu import npu_of
from rblnpb.sim.programs import recipe
from rblnpb.sim.schedule import lay_out, queue_starts
from rblnpb.strings import StringTable
from tests.support import slow_schedule

recordings = st.builds(
    simulate,
    program=st.sampled_from([*PROGRAMS, "aten::addmm"]),
    calls=st.integers(1, 6),
    seed=st.integers(0, 2**64 - 1),
    npu=st.sampled_from(sorted(NPUS)),
    instances=st.integers(1, 3),
    threads=st.integers(1, 3),
    drained=st.booleans(),
) | st.builds(
    lambda times_ns, npu, seed: simulate(
        launches=LaunchPlan.of(
            np.array(times_ns) + 1_790_000_000_000_000_000,
            7,
            [8 + time_ns % 3 for time_ns in times_ns],
            [("aten::mm", "aten::add", "aten::copy_")[time_ns % 3] for time_ns in times_ns],
        ),
        npu=npu,
        seed=seed,
    ),
    times_ns=st.lists(st.integers(0, 100_000), min_size=1, max_size=12),
    npu=st.sampled_from(sorted(NPUS)),
    seed=st.integers(0, 2**64 - 1),
)


def _ends(profile: Profile) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return profile.device_slices.start_ticks + profile.device_slices.duration_ticks


@settings(max_examples=30)
@given(recordings)
def test_every_command_starts_after_its_predecessors_have_ended(profile: Profile) -> None:
    slices, ends = profile.device_slices, _ends(profile)
    row_of = {
        (int(launch), int(row)): at for at, (launch, row) in enumerate(zip(slices.launch_id, slices.command_row, strict=True))
    }
    early = [
        (at, before)
        for (launch, row), at in row_of.items()
        for before in profile.commands.predecessors(row)
        if slices.start_ticks[at] < ends[row_of[launch, before]]
    ]
    assert early == []


@settings(max_examples=30)
@given(recordings)
def test_an_engine_runs_one_thing_at_a_time(profile: Profile) -> None:
    slices, ends = profile.device_slices, _ends(profile)
    for engine_id in np.unique(slices.engine_id):
        own = np.flatnonzero(slices.engine_id == engine_id)
        own = own[np.argsort(slices.start_ticks[own], kind="stable")]
        assert (slices.start_ticks[own][1:] >= ends[own][:-1]).all()


@settings(max_examples=30)
@given(recordings)
def test_frames_enclose_their_commands_and_do_not_overlap(profile: Profile) -> None:
    slices, frames, ends = profile.device_slices, profile.workload_slices, _ends(profile)
    frame_ends = frames.start_ticks + frames.duration_ticks
    assert (frames.start_ticks[1:] >= frame_ends[:-1]).all()
    for at in range(len(frames)):
        own = (slices.launch_id == frames.launch_id[at]) & (slices.workload == frames.workload[at])
        assert own.any()
        assert slices.start_ticks[own].min() >= frames.start_ticks[at]
        assert ends[own].max() <= frame_ends[at]


@settings(max_examples=30)
@given(recordings)
def test_what_is_carried_ended_before_it_is_needed(profile: Profile) -> None:
    edges, ends = profile.dependencies, _ends(profile)
    assert (ends[edges.predecessor_ordinal] <= profile.device_slices.start_ticks[edges.successor_ordinal]).all()


@settings(max_examples=30)
@given(recordings)
def test_every_slice_has_a_launch_and_only_the_hosts_have_no_workload(profile: Profile) -> None:
    slices = profile.device_slices
    host = [engine.engine_id for engine in profile.engines if engine.kind == EngineKind.HOST]
    assert set(slices.launch_id.tolist()) == set(profile.launches.launch_id.tolist())
    assert ((slices.workload == ABSENT) == np.isin(slices.engine_id, host)).all()


@settings(max_examples=30)
@given(recordings)
def test_launches_count_up_in_order_of_time(profile: Profile) -> None:
    launches = profile.launches
    assert launches.launch_id.tolist() == list(range(1, len(launches) + 1))
    assert (np.diff(launches.start_ns) >= 0).all()


@pytest.mark.parametrize("npu", sorted(NPUS))
@pytest.mark.parametrize("program", PROGRAMS)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_the_scheduler_lays_out_as_the_slow_one_does(program: str, npu: str, seed: int) -> None:
    kind = npu_of(npu)
    compiled = compile_recipes([recipe("mm", kind), recipe(program, kind)], kind.engines(1), StringTable().intern)
    count = compiled.programs[1].command_count
    duration_ns = Draws(seed).between(np.zeros((count, 3), np.int64), 5_000)
    fast = lay_out(compiled, 1, duration_ns).start_ns.T.tolist()
    assert fast == [slow_schedule.lay_out_one(compiled, 1, call) for call in duration_ns.T.tolist()]


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**5)), max_size=30))
def test_the_queue_is_the_slow_queue(calls: list[tuple[int, int]]) -> None:
    arrivals = sorted(arrival for arrival, _ in calls)
    lengths = [length for _, length in calls]
    fast = queue_starts(np.array(arrivals, np.int64), np.array(lengths, np.int64)).tolist()
    assert fast == slow_schedule.queue(arrivals, lengths)


@given(
    seed=st.integers(0, 2**32),
    hz=st.sampled_from([1, 19_200_000, 250_000_000, 899_577_000, 10**9]),
    times_ns=st.lists(st.integers(0, 30 * 86_400 * 10**9), min_size=1, max_size=20),
)
def test_a_device_clock_never_goes_back_and_is_exact_to_a_tick(seed: int, hz: int, times_ns: list[int]) -> None:
    clock = DeviceClock.of(1, "rbln:0", hz, 0, Draws(seed))
    times_ns = sorted(times_ns)
    readings = clock.ticks(times_ns).tolist()
    exact = [slow_schedule.ticks(clock.origin_ticks, 0, hz, clock.drift_ppb, time_ns) for time_ns in times_ns]
    assert readings == sorted(readings)
    assert max(abs(reading - value) for reading, value in zip(readings, exact, strict=True)) <= 1
