"""What is checked beyond reading: each finding by the smallest profile that has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rblnpb
from rblnpb.clock import Clock, ClockSnapshot
from rblnpb.columns import ABSENT, Dependencies, DeviceSlices, Launches
from rblnpb.errors import Severity
from rblnpb.profile import Device, Engine, EngineKind, Loss, LossReason, Profile, Program, Session
from tests.support.profiles import RBLN, SNAPSHOTS, tiny


def found(profile: Profile) -> list[tuple[str, str, int]]:
    return [(str(finding.severity), finding.code, finding.count) for finding in rblnpb.check(profile)]


def wrapping(*ticks_ns: tuple[int, int]) -> Profile:
    """A profile whose clock has 32 bits at 1 GHz and these readings."""
    return tiny(
        clocks=(Clock(16, "rbln:0", 10**9, 32, 1),),
        clock_snapshots=tuple(ClockSnapshot(16, ticks % 2**32, ns, ns) for ticks, ns in ticks_ns),
    )


def slices(**columns: Any) -> DeviceSlices:
    return tiny().device_slices.replace(**columns)


def test_a_good_profile_has_no_finding() -> None:
    assert found(tiny()) == []


def test_a_rate_that_the_readings_cannot_tell_is_no_drift() -> None:
    # 0.1 % over 10 µs is less than readings 20 ns wide leave open.
    assert rblnpb.check(tiny(clocks=(Clock(16, "", 10**9 + 10**6, 48, 1),))) == ()


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        (Profile(Session(7)), ("info", "no-records", 1)),
        (tiny(is_complete=False), ("warning", "not-ended", 1)),
        (tiny(losses=(Loss(17, LossReason.BUFFER_FULL, 5),)), ("warning", "dropped-records", 5)),
        (tiny(losses=(Loss(99, LossReason.UNKNOWN, 0),)), ("warning", "dropped-records", 1)),
        (tiny(launches=Launches.of(3, launch_id=7)), ("warning", "repeated-launch-id", 2)),
        (tiny(device_slices=slices(launch_id=np.array([7, 0, 0]))), ("warning", "launch-id-0", 2)),
        (tiny(device_slices=slices(launch_id=np.array([8, 7, 9]))), ("warning", "launch-not-recorded", 2)),
        (tiny(device_slices=slices(start_ticks=np.zeros(3), duration_ticks=np.array([0, 0, 1]))), ("warning", "untimed-record", 2)),
        (tiny(device_slices=slices(clock_id=np.array([16, 17, 17]))), ("error", "unknown-clock", 1)),
        (tiny(clock_snapshots=()), ("error", "unplaced-clock", 1)),
        (tiny(clock_snapshots=SNAPSHOTS[:2]), ("info", "one-snapshot", 1)),
        (tiny(clocks=(Clock(16, "", 10**9 + 5 * 10**6, 48, 1),)), ("info", "clock-drift", 1)),
        (tiny(clock_snapshots=(*SNAPSHOTS, ClockSnapshot(16, 5, 99_000, 99_000))), ("warning", "clock-step", 1)),
        (
            tiny(
                clocks=(Clock(16, "", 10**9 + 5 * 10**6, 48, 1),),
                clock_snapshots=(*SNAPSHOTS, ClockSnapshot(16, 5, 99_000, 99_000)),
            ),
            ("warning", "clock-step", 1),
        ),
        (wrapping((2**32 - 9, 0), (2**32 + 9, 18)), ("info", "counter-wrap", 1)),
        (wrapping((0, 0), (2**33, 2**33)), ("error", "ambiguous-wrap", 2)),
        (tiny(device_slices=slices(engine_id=np.array([1, 2, 2**32 - 1]))), ("error", "dangling-reference", 2)),
        (tiny(device_slices=slices(name_strindex=np.array([3, 11, 99]))), ("error", "dangling-reference", 1)),
        (tiny(device_slices=slices(command_row=np.array([0, 0, 1]))), ("error", "dangling-reference", 1)),
        (tiny(dependencies=Dependencies.of(2, predecessor_ordinal=np.array([2, 3]))), ("error", "dangling-reference", 1)),
        (tiny(engines=(*tiny().engines, *tiny().engines)), ("error", "repeated-id", 1)),
        (tiny(programs=(Program(1, "a"), Program(1, "b"))), ("error", "repeated-id", 1)),
        (tiny(clocks=(RBLN, Clock(2, "not ours"))), ("error", "repeated-id", 1)),
        (tiny(engines=(Engine(1, 9, EngineKind.HOST),)), ("error", "dangling-definition", 1)),
        (tiny(devices=(Device(1, clock_id=99),)), ("error", "dangling-definition", 1)),
        (tiny(clock_snapshots=(*SNAPSHOTS, ClockSnapshot(77, 0, 0, 0))), ("error", "dangling-definition", 1)),
    ],
)
def test_one_thing_wrong_is_one_finding(profile: Profile, expected: tuple[str, str, int]) -> None:
    assert found(profile) == [expected]


def test_one_of_a_kind_is_singular() -> None:
    (finding,) = rblnpb.check(tiny(losses=(Loss(17, LossReason.BUFFER_FULL, 1),)))
    assert finding.message == "1 device_slice was dropped while recording (buffer full): counts and times are lower bounds"
    (finding,) = rblnpb.check(tiny(engines=(Engine(1, 9, EngineKind.HOST),)))
    assert finding.message == "1 definition refers by engines.device_id to what the profile does not define"


def test_a_loss_that_is_a_lower_bound_says_so() -> None:
    (finding,) = rblnpb.check(tiny(losses=(Loss(17, LossReason.DEVICE_OVERWRITE, 1_000, is_lower_bound=True),)))

    assert finding.message == (
        "at least 1,000 device_slices were dropped while recording (device overwrite): counts and times are lower bounds"
    )


def test_a_dangling_reference_names_column_first_record_and_value() -> None:
    (finding,) = rblnpb.check(tiny(device_slices=slices(engine_id=np.array([1, 5, 6]))))

    assert finding.severity is Severity.ERROR
    assert finding.where == "device_slices.engine_id"
    assert finding.message == "2 device_slices refer by engine_id to what the profile does not define (record 1: 5)"


def test_a_huge_id_costs_no_memory() -> None:
    profile = tiny(engines=(Engine(2**32 - 1, 1, EngineKind.HOST),), device_slices=slices(engine_id=np.array([2**32 - 1, 0, 0])))

    assert found(profile) == []


def test_slices_that_archived_events_tell_of_need_neither_launch_nor_time_nor_clock() -> None:
    archived = slices(event_ordinal=np.arange(3), launch_id=np.zeros(3), start_ticks=np.zeros(3), duration_ticks=np.zeros(3))

    assert found(tiny(device_slices=archived, clock_snapshots=())) == []
    assert found(tiny(device_slices=archived.replace(event_ordinal=np.array([0, 1, ABSENT])), clock_snapshots=())) == [
        ("warning", "launch-id-0", 1),
        ("error", "unplaced-clock", 1),
        ("warning", "untimed-record", 1),
    ]


def test_a_profile_that_knows_nothing_of_the_host_stands_alone() -> None:
    alone = tiny(launches=Launches.empty(), clock_snapshots=(), device_slices=slices(launch_id=np.zeros(3)))

    assert found(alone) == [("info", "no-launches", 3), ("info", "clock-alone", 1)]
