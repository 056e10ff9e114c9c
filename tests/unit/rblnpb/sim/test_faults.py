"""Each fault reads back and is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import rblnpb
from rblnpb.clock import ClockSnapshot
from rblnpb.errors import OutputError, UsageError
from rblnpb.profile import LossReason
from rblnpb.sim import FAULTS, apply_faults, simulate, write_faulty
from rblnpb.sim.injections import INJECTIONS
from tests.support.profiles import tiny

NAMED = {
    "drop": ["dropped-records", "dropped-records"],
    "drift": ["clock-drift"],
    "step": ["clock-step"],
    "wrap32": ["counter-wrap"],
    "launch0": ["launch-id-0", "launch-id-0"],
    "lost-buffer": ["dropped-records", "dropped-records"],
    "truncate": ["truncated", "not-ended"],
    "two-writers": ["several-sessions"],
    # What slows a run down is no damage to its recording.
    **{name: [] for name in INJECTIONS},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_reads_and_is_named(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "rbln_0.pb"
    write_faulty(simulate(calls=100, faults=[fault]), path, [fault])
    profiles = rblnpb.read_all(path)
    assert [[finding.code for finding in profile.findings] for profile in profiles] == [NAMED[fault]] * len(profiles)


def test_without_a_fault_of_files_the_file_is_that_of_write(tmp_path: Path) -> None:
    profile = simulate()
    write_faulty(profile, tmp_path / "a.pb", ["drop"])
    rblnpb.write(profile, tmp_path / "b.pb")
    assert (tmp_path / "a.pb").read_bytes() == (tmp_path / "b.pb").read_bytes()


def test_dropped_slices_are_counted_and_the_rest_is_whole() -> None:
    good, faulty = simulate(calls=100), simulate(calls=100, faults=["drop"])
    assert len(faulty.device_slices) + faulty.dropped(faulty.device_slices.kind) == len(good.device_slices)
    assert len(faulty.dependencies) + faulty.dropped(faulty.dependencies.kind) == len(good.dependencies)
    slices, edges = faulty.device_slices, faulty.dependencies
    assert (slices.command_row[edges.predecessor_ordinal] == slices.command_row[edges.successor_ordinal]).all()
    assert (slices.sequence[edges.predecessor_ordinal] + 1 == slices.sequence[edges.successor_ordinal]).all()


def test_a_buffer_that_is_lost_is_one_run_of_slices() -> None:
    good, faulty = simulate(calls=100), simulate(calls=100, faults=["lost-buffer"])
    count = faulty.dropped(faulty.device_slices.kind)
    kept = set(faulty.device_slices.start_ticks.tolist())
    lost = [row for row, ticks in enumerate(good.device_slices.start_ticks.tolist()) if ticks not in kept]
    assert lost == list(range(lost[0], lost[0] + count))
    assert 50 <= count <= 100
    assert {loss.reason for loss in faulty.losses} == {LossReason.BUFFER_FULL}


def test_a_lost_buffer_tells_when_its_slices_ran() -> None:
    good, faulty = simulate(calls=100), simulate(calls=100, faults=["lost-buffer"])
    kept = set(faulty.device_slices.launch_id.tolist())
    whole = [launch for launch in good.launches.launch_id.tolist() if launch not in kept]
    first, last = faulty.losses[0].first_monotonic_ns, faulty.losses[0].last_monotonic_ns
    assert first is not None
    assert last is not None
    submitted_ns = good.launches.start_ns[[whole[0] - 1, whole[-1]]].tolist()
    assert first <= submitted_ns[0] + 100_000
    assert submitted_ns[0] < last < submitted_ns[1] + 100_000


def test_a_clock_that_was_set_back_goes_back_once() -> None:
    starts = simulate(calls=100, faults=["step"]).workload_slices.start_ticks.astype("int64")
    assert [step for step in (starts[1:] - starts[:-1]).tolist() if step < 0] == [min(starts[1:] - starts[:-1])]


def test_a_counter_of_32_bits_turns_over_once() -> None:
    profile = simulate(calls=100, faults=["wrap32"])
    starts = profile.workload_slices.start_ticks
    assert profile.clocks[0].width_bits == 32
    assert int((starts[1:] < starts[:-1]).sum()) == 1
    assert int(starts.max()) < 1 << 32


def test_launch_ids_of_zero_are_everywhere() -> None:
    profile = simulate(faults=["launch0"])
    tables = (profile.launches, profile.device_slices, profile.workload_slices, profile.host_slices)
    assert [int(table.launch_id.max()) for table in tables] == [0, 0, 0, 0]


def test_a_drifting_clock_runs_ever_faster() -> None:
    good, faulty = (simulate(program="decoder", calls=4_000, faults=faults) for faults in ((), ("drift",)))
    gain = (faulty.workload_slices.start_ticks - good.workload_slices.start_ticks).astype("int64")
    halves = gain[len(gain) // 2] - gain[0], gain[-1] - gain[len(gain) // 2]
    assert 0 < halves[0] < halves[1]


def test_a_clock_that_warmed_up_for_a_day_is_still_a_number() -> None:
    readings = (ClockSnapshot(16, 5, 0, 0), ClockSnapshot(16, 5 + 86_400 * 10**9, 1, 1))
    faulty = apply_faults(tiny(clock_snapshots=readings), ["drift"])
    # 400 ppm of a day, and 25 ppm a second times half the square of its seconds.
    assert [reading.value_ticks for reading in faulty.clock_snapshots] == [5, 5 + 86_400 * 10**9 + 34_560_000_000 + 93_312 * 10**9]


def test_two_writers_are_two_processes_with_the_same_records(tmp_path: Path) -> None:
    profile = simulate()
    write_faulty(profile, tmp_path / "two.pb", ["two-writers"])
    one, other = rblnpb.read_all(tmp_path / "two.pb")
    assert one.session.process_id != other.session.process_id
    assert one.device_slices.equals(profile.device_slices)
    assert other.device_slices.equals(profile.device_slices)


def test_a_file_with_two_writers_can_be_cut_as_well(tmp_path: Path) -> None:
    write_faulty(simulate(), tmp_path / "both.pb", ["two-writers", "truncate"])
    assert "truncated" in {finding.code for profile in rblnpb.read_all(tmp_path / "both.pb") for finding in profile.findings}


def test_an_unknown_fault_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no fault 'gremlin'; there are drop, drift"):
        apply_faults(simulate(), ["gremlin"])


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "there.pb").write_bytes(b"mine")
    with pytest.raises(OutputError, match="exists already"):
        write_faulty(simulate(), tmp_path / "there.pb", ["truncate"])
    assert (tmp_path / "there.pb").read_bytes() == b"mine"
