"""The device clock: rate, offset, drift and width, and readings of it."""

from __future__ import annotations

import numpy as np

from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockMap
from rblnpb.sim.clockwork import DeviceClock, snapshots
from rblnpb.sim.draws import Draws
from tests.support.slow_schedule import ticks

CLOCK = Clock(16, "rbln:0", 500_000_000, 64, 1, ClockKind.DEVICE)


def test_a_clock_without_drift_ticks_at_its_nominal_rate() -> None:
    clock = DeviceClock(CLOCK, origin_ns=1_000, origin_ticks=7, drift_ppb=0)
    assert clock.ticks([1_000, 1_001, 1_002, 1_000_001_000]).tolist() == [7, 7, 8, 500_000_007]


def test_a_fast_clock_gains_its_drift() -> None:
    clock = DeviceClock(CLOCK, origin_ns=0, origin_ticks=0, drift_ppb=20_000)
    assert int(clock.ticks(10**9)) == 500_010_000


def test_days_after_its_origin_a_clock_is_still_exact_to_a_tick() -> None:
    clock = DeviceClock(CLOCK, origin_ns=0, origin_ticks=11, drift_ppb=-19_999)
    time_ns = 7 * 86_400 * 10**9 + 123_456_789
    assert abs(int(clock.ticks(time_ns)) - ticks(11, 0, 500_000_000, -19_999, time_ns)) <= 1


def test_readings_place_the_device_within_their_uncertainty() -> None:
    clock = DeviceClock.of(1, "rbln:0", 500_000_000, 0, Draws(3))
    readings = snapshots(clock, 10**18, np.arange(0, 5 * 10**9, 10**9), Draws(4))
    placed = ClockMap.of(clock.clock, readings)
    times_ns = np.arange(0, 4 * 10**9, 12_345_678)
    assert np.abs(placed.to_monotonic_ns(clock.ticks(times_ns)) - times_ns).max() <= placed.uncertainty_ns + 2


def test_readings_of_real_time_are_exact_in_the_middle() -> None:
    clock = DeviceClock(CLOCK, 0, 0, 0)
    readings = snapshots(clock, 10**18, np.array([0, 10**9]), Draws(4))
    real = [reading for reading in readings if reading.clock_id == HOST_REALTIME]
    assert [reading.value_ticks - reading.monotonic_ns for reading in real] == [10**18, 10**18]


def test_draws_are_the_same_everywhere() -> None:
    draws = Draws(1, 2)
    assert draws.between(np.zeros(4, np.int64), 99).tolist() == [44, 43, 41, 27]
    assert draws.around([1_000], 5).tolist() == [1_033]


def test_draws_reach_both_ends_and_nothing_beyond() -> None:
    drawn = Draws(0).between(np.full(10_000, -1), 1)
    assert sorted(set(drawn.tolist())) == [-1, 0, 1]
