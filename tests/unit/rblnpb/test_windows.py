"""Which records overlap a window, and which chunks may hold some."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.clock import HOST_MONOTONIC, Clock, ClockMap, ClockSnapshot, clock_maps
from rblnpb.columns import ABSENT, Counters, DeviceSlices, HostSlices, Launches, Overheads, TraceEvents
from rblnpb.windows import Window
from tests.support.profiles import RBLN, SNAPSHOTS

MAPS = clock_maps((RBLN,), SNAPSHOTS)  # tick 0 is at 1,010 ns


@pytest.mark.parametrize(
    ("start_ns", "duration_ns", "is_in"),
    [
        (5, 0, False),
        (10, 0, True),
        (19, 0, True),
        (20, 0, False),
        (5, 5, False),  # ends where the window starts
        (5, 6, True),
        (5, 100, True),
        (19, 100, True),
        (20, 100, False),
        (12, 3, True),
    ],
)
def test_a_record_overlaps_a_window_that_begins_in_it_or_in_which_it_begins(
    start_ns: int, duration_ns: int, *, is_in: bool
) -> None:
    window = Window(10, 20, MAPS)
    on_host = HostSlices.of(1, start_ns=start_ns, duration_ns=duration_ns)
    on_device = DeviceSlices.of(1, clock_id=16, start_ticks=(start_ns - 1_010) % 2**48, duration_ticks=duration_ns)

    for table in (on_host, on_device):
        mask = window.mask(table)
        assert mask is not None
        assert mask.tolist() == [is_in]


def test_moments_are_in_a_window_that_has_them() -> None:
    window = Window(10, 20, MAPS)
    tables = (
        Launches.of(start_ns=np.array([9, 10, 19, 20])),
        Overheads.of(start_ns=np.array([9, 10, 19, 20]), duration_ns=ABSENT),
        Counters.of(clock_id=1, time_ticks=np.array([9, 10, 19, 20])),
    )

    masks = [window.mask(table) for table in tables]

    assert [None if mask is None else mask.tolist() for mask in masks] == [[False, True, True, False]] * 3


def test_what_has_no_moment_is_in_every_window() -> None:
    window = Window(10, 20, MAPS)

    assert window.mask(DeviceSlices.of(1, clock_id=17)) is None
    assert window.mask(TraceEvents.of(start_ns=np.array([99]))) is None


def test_numbers_beyond_64_bits_are_compared_as_they_are() -> None:
    table = DeviceSlices.of(
        clock_id=HOST_MONOTONIC,
        start_ticks=np.array([0, 2**63 - 1, 2**63, 5], np.uint64),  # the third is -2**63
        duration_ticks=np.array([2**64 - 1, 2**64 - 1, 2**64 - 1, 1], np.uint64),
    )
    far = Window(2**63 + 5, 2**65, MAPS).mask(table)
    early = Window(-(2**64), -5, MAPS).mask(table)

    assert far is not None
    assert far.tolist() == [True, True, False, False]
    assert early is not None
    assert early.tolist() == [False, False, True, False]


def test_a_chunk_may_hold_what_its_bounds_reach_with_a_millisecond_to_spare() -> None:
    window = Window(10_000_000, 20_000_000, MAPS)

    assert [
        window.may_hold(16, *bounds) for bounds in ((0, 8_999_999), (0, 9_000_000), (20_999_999, 10**9), (21_000_000, 10**9))
    ] == [
        False,
        True,
        True,
        False,
    ]


def test_a_clock_that_drifts_was_placed_less_exactly_when_its_chunk_was_written() -> None:
    # 100 ppm over 100 s.
    drifting = ClockMap.of(
        Clock(16, "", 10**9), (ClockSnapshot(16, 0, 0, 0), ClockSnapshot(16, 10**11, 10**11 + 10**7, 10**11 + 10**7))
    )
    window = Window(10**9, 2 * 10**9, {16: drifting})

    assert [window.may_hold(16, 0, end_ns) for end_ns in (10**9 - 22_000_000, 10**9 - 20_000_000)] == [False, True]


def test_the_index_tells_nothing_of_a_clock_that_was_set_turned_over_or_is_not_known() -> None:
    was_set = (ClockSnapshot(16, 10**9, 10**9, 10**9), ClockSnapshot(16, 5, 2 * 10**9, 2 * 10**9))
    long = (ClockSnapshot(16, 0, 0, 0), ClockSnapshot(16, 10**9, 10**9, 10**9))
    maps = {16: ClockMap.of(Clock(16, "", 10**9, 48), was_set), 17: ClockMap.of(Clock(16, "", 10**9, 30), long)}
    window = Window(10**12, 10**12 + 1, maps)

    assert [window.may_hold(clock_id, 0, 1) for clock_id in (16, 17, 18)] == [True, True, True]
