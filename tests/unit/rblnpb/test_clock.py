"""Clocks: which readings become anchors, what is counted, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.clock import HOST_MONOTONIC, HOST_REALTIME, Clock, ClockMap, ClockSnapshot, clock_maps
from rblnpb.errors import ClockError

GHZ = Clock(16, "rbln:0", 10**9, 64)


def reading(ticks: int, ns: int, *, bracket_ns: int = 0, clock_id: int = 16) -> ClockSnapshot:
    return ClockSnapshot(clock_id, ticks, ns - bracket_ns // 2, ns + bracket_ns // 2)


def placed(clock: Clock, snapshots: tuple[ClockSnapshot, ...], *ticks: int) -> list[int]:
    ns: list[int] = ClockMap.of(clock, snapshots).to_monotonic_ns(np.array(ticks, np.uint64)).tolist()
    return ns


def test_a_reading_belongs_to_the_middle_of_its_bracket_and_half_of_it_is_its_uncertainty() -> None:
    snapshot = ClockSnapshot(16, 5, 101, 104)

    assert (snapshot.monotonic_ns, snapshot.uncertainty_ns) == (102, 2)


def test_one_snapshot_gives_an_offset_and_the_nominal_rate() -> None:
    slow = Clock(16, "rbln:0", 500_000_000)

    assert placed(slow, (reading(1_000, 50),), 1_000, 1_001, 900) == [50, 52, -150]


def test_two_snapshots_give_the_measured_rate_and_the_drift() -> None:
    clock_map = ClockMap.of(GHZ, (reading(0, 0), reading(1_000_050, 1_000_000)))

    assert clock_map.to_monotonic_ns(np.array([500_025], np.uint64)).tolist() == [500_000]
    assert clock_map.drift_ppm == pytest.approx(50.0)


def test_halves_are_rounded_up() -> None:
    fast = Clock(16, "rbln:0", 2 * 10**9)

    assert placed(fast, (reading(10, 0),), 9, 10, 11, 12, 13, 7) == [0, 0, 1, 1, 2, -1]


def test_between_snapshots_the_line_is_piecewise_and_beyond_them_it_goes_on() -> None:
    readings = (reading(100, 0), reading(200, 100), reading(300, 201))

    assert placed(GHZ, readings, 100, 200, 250, 300, 400, 0) == [0, 100, 151, 201, 302, -100]


def test_the_distance_of_an_anchor_from_its_neighbours_line_is_its_residual() -> None:
    clock_map = ClockMap.of(GHZ, (reading(0, 0), reading(100, 104), reading(200, 200)))

    assert clock_map.residual_ns.tolist() == [0, 4, 0]


def test_the_order_of_snapshots_does_not_matter() -> None:
    readings = (reading(300, 201), reading(100, 0), reading(200, 100))

    assert placed(GHZ, readings, 250) == placed(GHZ, tuple(sorted(readings, key=lambda s: s.value_ticks)), 250)


@pytest.mark.parametrize("width", [32, 48])
def test_ticks_on_both_sides_of_a_wrap_are_placed(width: int) -> None:
    turn = 1 << width
    clock = Clock(16, "rbln:0", 10**9, width)

    assert placed(clock, (reading(turn - 100, 1_000), reading(100, 1_200)), turn - 150, turn - 1, 0, 150) == [
        950,
        1_099,
        1_100,
        1_250,
    ]


def test_a_slice_that_wraps_inside_keeps_its_duration() -> None:
    clock_map = ClockMap.of(Clock(16, "rbln:0", 10**9, 32), (reading(2**32 - 100, 1_000), reading(100, 1_200)))

    start_ns, duration_ns = clock_map.span_to_ns(np.array([2**32 - 20], np.uint64), np.array([50], np.uint64))

    assert (start_ns.tolist(), duration_ns.tolist()) == ([1_080], [50])


def test_readings_turns_apart_are_told_by_the_nominal_rate() -> None:
    """Two wraps between the snapshots: the anchors know, the records between them cannot."""
    ticks = 2 * 2**32 + 500
    clock_map = ClockMap.of(Clock(16, "rbln:0", 10**9, 32), (reading(0, 0), reading(ticks % 2**32, ticks)))

    assert clock_map.anchor_ticks.tolist() == [0, ticks]


def test_a_clock_that_was_set_back_is_counted_and_keeps_what_was_before() -> None:
    readings = tuple(reading(ms * 10**6 - (40_000_000 if ms > 50 else 0), ms * 10**6) for ms in range(0, 101, 10))
    clock_map = ClockMap.of(GHZ, readings)

    assert clock_map.step_count == 5
    assert clock_map.anchor_ns.tolist() == [ms * 10**6 for ms in range(0, 51, 10)]


def test_a_clock_that_was_set_forward_is_counted_too() -> None:
    clock_map = ClockMap.of(GHZ, (reading(0, 0), reading(10**9, 10**9), reading(5 * 10**9, 2 * 10**9)))

    assert (clock_map.step_count, clock_map.anchor_ticks.tolist()) == (1, [0, 10**9])


def test_the_same_reading_twice_is_no_step() -> None:
    clock_map = ClockMap.of(GHZ, (reading(5, 5), reading(5, 5), reading(9, 9)))

    assert (clock_map.step_count, clock_map.anchor_ticks.tolist()) == (0, [5, 9])


def test_without_a_nominal_rate_two_snapshots_are_enough() -> None:
    assert placed(Clock(16, "rbln:0"), (reading(0, 0), reading(100, 300)), 50) == [150]


@pytest.mark.parametrize(
    ("clock", "snapshots", "message"),
    [
        (GHZ, (), "clock rbln:0 was never read against the host's; times cannot be placed"),
        (GHZ, (reading(0, 0, clock_id=17),), "clock rbln:0 was never read against the host's; times cannot be placed"),
        (Clock(16), (reading(0, 0),), "clock 16 was read once and its rate is unknown; times cannot be placed"),
        (Clock(16, "x", 2**64 - 1), (reading(0, 0),), "clock x has readings or a rate beyond 2**62; times cannot be placed"),
        (
            Clock(16, "x", 2**62, 32),
            (reading(0, -(2**62)), reading(9, 2**62)),
            "clock x has readings or a rate beyond 2**62; times cannot be placed",
        ),
    ],
)
def test_a_clock_that_cannot_be_placed_says_why(clock: Clock, snapshots: tuple[ClockSnapshot, ...], message: str) -> None:
    with pytest.raises(ClockError) as raised:
        ClockMap.of(clock, snapshots)

    assert str(raised.value) == message


def test_maps_of_all_clocks_leave_out_those_that_cannot_be_placed() -> None:
    clocks = (GHZ, Clock(17, "unread", 10**9))
    maps = clock_maps(clocks, (reading(0, 0), reading(1_790_000_000 * 10**9, 7, clock_id=HOST_REALTIME)))

    assert sorted(maps) == [HOST_MONOTONIC, HOST_REALTIME, 16]


def test_the_monotonic_clock_of_the_host_is_its_own_measure() -> None:
    start_ns, duration_ns = clock_maps((), ())[HOST_MONOTONIC].span_to_ns(np.array([7, 2**62], np.uint64), np.array([0, 5]))

    assert (start_ns.tolist(), duration_ns.tolist()) == ([7, 2**62], [0, 5])


def test_of_two_clocks_with_one_id_the_first_counts() -> None:
    maps = clock_maps((GHZ, Clock(16, "other", 1)), (reading(0, 0),))

    assert maps[16].clock is GHZ


def test_real_time_is_a_clock_like_any_other() -> None:
    unix_ns = 1_790_000_000_123_456_789
    maps = clock_maps((), (reading(unix_ns, 7, clock_id=HOST_REALTIME), reading(unix_ns + 1_000, 1_007, clock_id=HOST_REALTIME)))

    assert maps[HOST_REALTIME].to_ticks(np.array([500], np.int64)).tolist() == [unix_ns + 493]


def test_a_clock_that_never_agrees_with_itself_takes_time_in_proportion_to_its_readings() -> None:
    stuck = ClockMap.of(GHZ, tuple(reading(5, row * 10**9) for row in range(3_000)))

    maps = [stuck]
    while later := maps[-1].later:
        maps.append(later)
    assert (stuck.step_count, len(maps)) == (2_999, 17)
