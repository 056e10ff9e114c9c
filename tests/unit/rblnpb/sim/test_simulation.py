"""A whole simulated recording: names, counts, determinism."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb.clock import HOST_REALTIME, ClockMap
from rblnpb.columns import ABSENT
from rblnpb.errors import UsageError
from rblnpb.naming import NameStyle, render
from rblnpb.profile import EngineKind, HostActivity, Profile
from rblnpb.sim import LaunchPlan, simulate


def _names(profile: Profile) -> list[str]:
    slices, commands = profile.device_slices, profile.commands
    layers = np.array([text.encode() for text in profile.strings])[commands.layer_strindex[slices.command_row]]
    names = render(
        profile.session.name_style,
        layer=layers,
        command=commands.command_index[slices.command_row],
        instance=slices.instance,
        sequence=slices.sequence,
        workload=slices.workload,
    )
    return [name.decode() for name in names.tolist()]


def _monotonic(profile: Profile, table: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    start_ns, duration_ns = ClockMap.of(profile.clocks[0], profile.clock_snapshots).span_to_ns(
        table.start_ticks, table.duration_ticks
    )
    return start_ns, start_ns + duration_ns


def test_three_calls_of_mm_are_eighteen_slices_with_the_vendors_names() -> None:
    assert _names(simulate()) == [
        f"i1_{call}_W0_{command}" for call in range(3) for command in ("args_0_0", "args_0_1", "args_0_2", "mm_0", "mm_1", "mm_2")
    ]


def test_single_stream_names_leave_the_instance_out() -> None:
    assert _names(simulate(calls=1, name_style=NameStyle.SINGLE_STREAM))[0] == "0_W0_args_0_0"


def test_legacy_names_are_sequence_layer_and_command() -> None:
    assert _names(simulate(calls=1, name_style=NameStyle.LEGACY))[0] == "0_args_0_0"


def test_single_stream_names_need_a_single_instance() -> None:
    with pytest.raises(UsageError, match="single-stream names do not tell instances apart"):
        simulate(instances=2, name_style=NameStyle.SINGLE_STREAM)


def test_every_instance_counts_its_own_calls_from_zero() -> None:
    names = _names(simulate(calls=4, instances=2))
    assert [name[:5] for name in names[::6]] == ["i1_0_", "i2_0_", "i1_1_", "i2_1_"]


def test_what_the_host_runs_has_no_workload() -> None:
    profile = simulate(program="decoder", calls=1)
    assert [name for name in _names(profile) if "_W" not in name] == ["i1_0_reshape_0"]
    host = [engine.engine_id for engine in profile.engines if engine.kind == EngineKind.HOST]
    assert profile.device_slices.workload[profile.device_slices.engine_id == host[0]].tolist() == [ABSENT]


def test_the_second_runtime_call_of_a_call_is_w1() -> None:
    assert _names(simulate(program="decoder", calls=1))[-1] == "i1_0_W1_out_0"


def test_the_same_arguments_give_the_same_bytes() -> None:
    first, second = io.BytesIO(), io.BytesIO()
    rblnpb.write(simulate(seed=5), first)
    rblnpb.write(simulate(seed=5), second)
    assert first.getvalue() == second.getvalue()


def test_another_seed_gives_another_recording() -> None:
    one, other = simulate(seed=1), simulate(seed=2)
    assert one.session.session_id != other.session.session_id
    assert not one.device_slices.equals(other.device_slices)


def test_what_is_simulated_is_what_is_read_back() -> None:
    profile, buffer = simulate(program="decoder", calls=2, threads=2, instances=2), io.BytesIO()
    rblnpb.write(profile, buffer)
    assert rblnpb.read(buffer.getvalue()).equals(profile)


def test_nothing_about_a_simulated_profile_is_odd() -> None:
    assert rblnpb.check(simulate(program="decoder", calls=20, threads=2)) == ()


def test_records_ask_for_about_so_many_slices() -> None:
    assert len(simulate(records=1_000).device_slices) == 1_002


def test_durations_vary_by_five_percent() -> None:
    slices = simulate(calls=2_000).device_slices
    first = slices.duration_ticks[slices.command_row == 1].astype(np.int64)
    planned = 10_885 // 2
    assert planned * 949 // 1_000 <= first.min() < planned * 96 // 100
    assert planned * 104 // 100 < first.max() <= planned * 1_051 // 1_000


def test_a_million_records_take_at_most_six_and_a_half_bytes_each() -> None:
    # A tenth of the million: the chunks are as large, so the figure is the same. A million have no display packets by themselves.
    buffer = io.BytesIO()
    profile = simulate(records=100_000)
    rblnpb.write(profile, buffer, display=False)
    assert len(buffer.getvalue()) / len(profile.device_slices) <= 6.5


def test_dma_slices_carry_bytes_and_compute_slices_cycles() -> None:
    slices = simulate(calls=1).device_slices
    assert slices.size_bytes.tolist() == [524_288, 524_288, 524_288, ABSENT, ABSENT, ABSENT]
    assert slices.compute_cycles.tolist() == [ABSENT, ABSENT, ABSENT, 10_000, 9_000, 3_000]


def test_the_device_starts_after_the_launch() -> None:
    profile = simulate(calls=50)
    start_ns, _ = _monotonic(profile, profile.workload_slices)
    assert ((start_ns - profile.launches.start_ns) > 3_000).all()


def test_a_drained_run_ends_before_the_next_is_launched() -> None:
    profile = simulate(calls=50, threads=3)
    _, end_ns = _monotonic(profile, profile.workload_slices)
    assert profile.session.drained_after_each_run is True
    assert (end_ns[:-1] < profile.launches.start_ns[1:]).all()


def test_without_draining_launches_run_ahead_of_the_device() -> None:
    profile = simulate(calls=200, threads=4, drained=False)
    _, end_ns = _monotonic(profile, profile.workload_slices)
    assert profile.session.drained_after_each_run is False
    assert (end_ns[:-1] > profile.launches.start_ns[1:]).any()


def test_threads_take_turns_and_have_names() -> None:
    profile = simulate(calls=4, threads=2)
    assert profile.threads == ((4_242, "main"), (4_243, "worker 1"))
    assert profile.launches.thread_id.tolist() == [4_242, 4_243, 4_242, 4_243]


def test_the_host_compiles_once_and_copies_submits_and_waits_for_every_call() -> None:
    host = simulate(calls=2).host_slices
    assert [HostActivity(value).name for value in host.activity.tolist()] == [
        "COMPILE",
        *["COPY_IN", "SUBMIT", "WAIT", "COPY_OUT"] * 2,
    ]


def test_host_slices_of_a_thread_do_not_overlap() -> None:
    host = simulate(calls=40, threads=2, drained=False).host_slices
    for thread in (4_242, 4_243):
        own = host.take(host.thread_id == thread)
        assert ((own.start_ns + own.duration_ns)[:-1] <= own.start_ns[1:]).all()


def test_a_carried_command_depends_on_itself_in_the_call_before_on_its_instance() -> None:
    edges = simulate(calls=4, instances=2).dependencies
    assert (edges.predecessor_ordinal.tolist(), edges.successor_ordinal.tolist()) == ([5, 11], [17, 23])


def test_hidden_work_of_the_host_comes_before_every_sixteenth_call() -> None:
    profile = simulate(calls=49)
    assert profile.overheads.overhead.tolist() == [1, 2, 3]
    assert [profile.strings[row] for row in profile.overheads.op_strindex.tolist()] == [
        "aten::sub.out",
        "aten::add.out",
        "aten::copy_",
    ]


def test_device_memory_grows_when_a_program_is_compiled() -> None:
    counters = simulate(calls=1).counters
    assert counters.value.tolist() == [0.0, 0.0, 0.0, 0.0, 1_572_864.0]


def test_readings_of_the_clocks_are_taken_at_both_ends_and_every_second() -> None:
    profile = simulate(program="all_reduce", calls=40_000)
    seconds = (profile.session.ended_monotonic_ns - profile.session.started_monotonic_ns) // 10**9
    assert len(profile.clock_snapshots) == 2 * (seconds + 2)


PLAN = LaunchPlan.of(
    [1_790_000_000_000_300_000, 1_790_000_000_000_100_000, 1_790_000_000_000_200_000],
    process_id=7,
    thread_id=[8, 9, 9],
    ops=["aten::add", "aten::mm", "aten::mm"],
)


def test_a_launch_plan_is_launched_at_its_times_from_its_threads() -> None:
    profile = simulate(launches=PLAN)
    real = profile.clock(HOST_REALTIME)
    assert real is not None
    launched = ClockMap.of(real, profile.clock_snapshots).to_ticks(profile.launches.start_ns)
    assert launched.tolist() == sorted(PLAN.time_ns.tolist())
    assert profile.launches.thread_id.tolist() == [9, 9, 8]
    assert profile.launches.process_id.tolist() == [7, 7, 7]


def test_operators_of_one_name_share_a_program() -> None:
    profile = simulate(launches=PLAN)
    assert [(program.name, program.op) for program in profile.programs] == [("add", "aten::add"), ("mm", "aten::mm")]
    assert profile.launches.program_id.tolist() == [2, 2, 1]
    assert profile.host_slices.activity.tolist().count(HostActivity.COMPILE) == 2


def test_launches_of_a_plan_queue_on_the_device() -> None:
    plan = LaunchPlan.of(np.full(20, 1_790_000_000_000_000_000), 7, 8, ["aten::mm"] * 20)
    profile = simulate(launches=plan)
    start_ns, end_ns = _monotonic(profile, profile.workload_slices)
    assert (start_ns[1:] >= end_ns[:-1]).all()
    assert rblnpb.check(profile) == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"calls": 0}, "counted from 1"),
        ({"records": 0}, "counted from 1"),
        ({"threads": 0}, "counted from 1"),
        ({"npu": "tpu"}, "no NPU 'tpu'"),
        ({"program": "nm"}, "no program 'nm'"),
        ({"faults": ["gremlin"]}, "no fault 'gremlin'"),
        ({"launches": PLAN, "drained": True}, "cannot be drained"),
        ({"launches": LaunchPlan.of([], 1, 1, [])}, "at least one launch"),
    ],
)
def test_what_cannot_be_is_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        simulate(**arguments)
