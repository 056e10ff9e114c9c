"""When records are, exactly: the bounds of a chunk, and moments as the clock map has them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.clock import Clock, ClockMap, ClockSnapshot, clock_maps
from rblnpb.columns import ABSENT, Counters, Dependencies, DeviceSlices, HostSlices, Launches, Overheads, Table, TraceEvents
from rblnpb.record_times import bounds, first_tick_from, moment_ns, spans_by_clock
from tests.support.profiles import RBLN, SNAPSHOTS, tiny

MAPS = clock_maps((RBLN,), SNAPSHOTS)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (Launches.of(start_ns=np.array([5, -9, 2])), (-9, 5)),
        (HostSlices.of(start_ns=np.array([5, 1]), duration_ns=np.array([1, 20])), (1, 21)),
        (Overheads.of(start_ns=np.array([5, 1]), duration_ns=np.array([ABSENT, 2])), (1, 5)),
        (tiny().device_slices, (1_110, 1_960)),
        (Counters.of(clock_id=16, time_ticks=np.array([0, 10])), (1_010, 1_020)),
        (Counters.of(clock_id=1, time_ticks=np.array([7, 10])), (7, 10)),
        (Counters.of(clock_id=17, time_ticks=np.array([7, 10])), (None, None)),
        (Counters.of(clock_id=1, time_ticks=np.array([7, 2**63], np.uint64)), (None, None)),
        (Launches.of(start_ns=np.array([0, 2**63 - 1])), (None, None)),
        (DeviceSlices.of(clock_id=1, start_ticks=np.array([2**61]), duration_ticks=2**63), (None, None)),
        (Dependencies.of(predecessor_ordinal=np.array([1])), (None, None)),
        (TraceEvents.of(start_ns=np.array([1])), (None, None)),
    ],
)
def test_the_bounds_of_a_chunk_are_least_start_and_greatest_end(table: Table, expected: tuple[int | None, int | None]) -> None:
    assert bounds(table, MAPS) == expected


def test_bounds_on_both_sides_of_a_wrap_ascend() -> None:
    clock_map: ClockMap = MAPS[16]
    table = DeviceSlices.of(clock_id=16, start_ticks=np.array([2**48 - 10, 20], np.uint64), duration_ticks=1)

    assert bounds(table, {16: clock_map}) == (1_000, 1_031)


def test_bounds_beyond_64_bits_are_none() -> None:
    # A tick a second: the last record is 2**32 seconds away.
    clock = ClockMap.of(Clock(16, nominal_hz=1, width_bits=64), (ClockSnapshot(16, 0, 0, 0),))
    table = DeviceSlices.of(clock_id=16, start_ticks=np.array([2**35, 0]))

    assert bounds(table, {16: clock}) == (None, None)
    assert moment_ns(clock, 2**35) == 2**35 * 10**9


def test_slices_of_several_clocks_have_their_spans_a_clock_at_a_time() -> None:
    table = DeviceSlices.of(
        clock_id=np.array([16, 1, 99, 16]), start_ticks=np.array([0, 7, 5, 10]), duration_ticks=np.array([1, 2, 3, 4])
    )

    found = [tuple(column.tolist() for column in span) for span in spans_by_clock(table, MAPS)]

    assert found == [([1], [7], [2]), ([0, 3], [1_010, 1_020], [1, 4])]
    assert list(spans_by_clock(DeviceSlices.empty(), MAPS)) == []


def maps_of_three_readings() -> ClockMap:
    """At 100 ns 1,000 ticks, 1 % slower than its rate for a while, then as fast as it should be."""
    readings = ((1_000, 100), (1_000_991, 1_000_100), (2_000_991, 2_000_100))
    return ClockMap.of(Clock(16, "", 10**9), tuple(ClockSnapshot(16, ticks, ns, ns) for ticks, ns in readings))


@given(st.integers(-(10**7), 10**7))
def test_moments_are_those_of_the_clock_map(ticks: int) -> None:
    clock = maps_of_three_readings()

    assert moment_ns(clock, ticks) == clock.unwrapped_to_ns(np.array([ticks])).tolist()[0]


@given(st.integers(-(10**7), 10**7))
def test_ticks_compare_with_the_first_tick_of_a_moment_as_their_moments_do(ns: int) -> None:
    clock = maps_of_three_readings()

    first = first_tick_from(clock, ns)

    assert moment_ns(clock, first - 1) < ns <= moment_ns(clock, first)


@pytest.mark.parametrize("hz", [1, 10**9, 2**62])
def test_moments_of_one_reading_follow_the_nominal_rate(hz: int) -> None:
    clock = ClockMap.of(Clock(16, nominal_hz=hz), (ClockSnapshot(16, 5, 7, 7),))

    assert moment_ns(clock, 1_005) == 7 + int(Fraction(1_000 * 10**9, hz) + Fraction(1, 2))
