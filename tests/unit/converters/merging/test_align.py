"""Times of a profile in the trace clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.clock import HOST_MONOTONIC, HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import Counters, DeviceSlices, Launches
from rblnpb.converters.merging import merge
from rblnpb.converters.merging.align import Alignment, RealTime, require_unix_time
from rblnpb.converters.merging.clock_fit import fit_clock
from rblnpb.converters.merging.clock_tally import ClockTally
from rblnpb.errors import ClockError
from rblnpb.profile import Profile, Session
from tests.support.vendor_traces import BASE_NS, document, host_trace, op, span

OFFSET_NS = 1_790_000_000_000_000_000


def outside(alignment: Alignment, slices: DeviceSlices) -> dict[int, int]:
    tally = ClockTally(alignment)
    tally.add(slices)
    return tally.outside


def real(at_ns: int, offset_ns: int = OFFSET_NS, bracket_ns: int = 20) -> ClockSnapshot:
    """A reading of real time in the middle of a bracket around `at_ns`."""
    return ClockSnapshot(HOST_REALTIME, at_ns + offset_ns, at_ns - bracket_ns // 2, at_ns + bracket_ns // 2)


def offsets(*snapshots: ClockSnapshot) -> list[int]:
    """What is added to 0, 1000, 2000 and 3000 s, beyond OFFSET_NS."""
    at = np.arange(4) * 10**12
    found: list[int] = (RealTime.of(snapshots).to_trace(at) - at - OFFSET_NS).tolist()
    return found


def test_the_reading_with_the_smallest_bracket_gives_the_offset() -> None:
    assert offsets(real(0, OFFSET_NS + 300, 900), real(10**12, OFFSET_NS + 7, 20), real(2 * 10**12, OFFSET_NS, 400)) == [7] * 4


def test_how_well_the_readings_agree_is_told() -> None:
    found = RealTime.of((real(0), real(10**12, OFFSET_NS + 40), real(2 * 10**12, OFFSET_NS - 30, 10)))
    assert (found.uncertainty_ns, found.spread_ns, found.snapshot_count) == (5, 70, 3)


def test_a_clock_that_was_set_has_an_offset_before_and_one_after() -> None:
    step = (real(0), real(10**12), real(2 * 10**12, OFFSET_NS + 10**9), real(3 * 10**12, OFFSET_NS + 10**9))
    assert offsets(*step) == [0, 0, 10**9, 10**9]


def test_readings_may_come_in_any_order() -> None:
    assert offsets(real(3 * 10**12, OFFSET_NS + 10**9), real(0)) == [0, 0, 0, 10**9]


def test_an_interrupted_reading_is_no_step() -> None:
    # Its bracket is 4 ms wide, and its offset 1 ms off: within the bracket.
    assert offsets(real(0), real(10**12, OFFSET_NS + 10**6, 4 * 10**6), real(2 * 10**12)) == [0] * 4


@pytest.mark.parametrize(
    "snapshots",
    [
        (),
        (ClockSnapshot(16, 1, 1, 1),),
        (ClockSnapshot(HOST_REALTIME, 2**64 - 1, 0, 0),),
        (ClockSnapshot(HOST_REALTIME, 0, -(2**63), 0),),
    ],
)
def test_without_a_sound_reading_real_time_is_not_known(snapshots: tuple[ClockSnapshot, ...]) -> None:
    with pytest.raises(ClockError, match="real time was never read"):
        RealTime.of(snapshots)


DEVICE = Clock(16, "rbln:0", 10**9, 64, 1, ClockKind.DEVICE)
READINGS = (ClockSnapshot(16, 500, 1000, 1000), ClockSnapshot(16, 10_500, 11_000, 11_000), real(1000))


def profile(*snapshots: ClockSnapshot, session: Session | None = None) -> Profile:
    return Profile(session or Session(session_id=7), clocks=(DEVICE,), clock_snapshots=snapshots)


def slices(clock_id: int, start: int, duration: int) -> DeviceSlices:
    return DeviceSlices.of(
        clock_id=np.array([clock_id], np.uint32), start_ticks=start, duration_ticks=np.array([duration], np.uint64)
    )


@pytest.mark.parametrize(
    ("clock_id", "start", "start_ns"),
    [(16, 600, 1100), (HOST_MONOTONIC, 1100, 1100), (HOST_REALTIME, 1100 + OFFSET_NS, 1100)],
    ids=["device", "monotonic", "real time"],
)
def test_a_slice_of_any_clock_has_its_place(clock_id: int, start: int, start_ns: int) -> None:
    alignment = Alignment.of(profile(*READINGS), needs_real_time=True)
    start_column, duration, placed = alignment.place(slices(clock_id, start, 40))
    assert (start_column.tolist(), duration.tolist(), placed.tolist()) == ([start_ns + OFFSET_NS], [40], [True])


@pytest.mark.parametrize("clock_id", [16, HOST_MONOTONIC, HOST_REALTIME])
def test_a_sample_of_any_clock_has_its_place(clock_id: int) -> None:
    ticks = {16: 600, HOST_MONOTONIC: 1100, HOST_REALTIME: 1100 + OFFSET_NS}[clock_id]
    counters = Counters.of(1, clock_id=clock_id, time_ticks=ticks, value=1.0)
    time_ns, placed = Alignment.of(profile(*READINGS), needs_real_time=True).place_counters(counters)
    assert (time_ns.tolist(), placed.tolist()) == ([1100 + OFFSET_NS], [True])


@pytest.mark.parametrize(("clock_id", "duration"), [(17, 40), (16, 2**63), (HOST_MONOTONIC, 2**64 - 1)])
def test_what_cannot_be_placed_is_told(clock_id: int, duration: int) -> None:
    start, length, placed = Alignment.of(profile(*READINGS), needs_real_time=True).place(slices(clock_id, 600, duration))
    assert (start.tolist(), length.tolist(), placed.tolist()) == ([0], [0], [False])


def codes(alignment: Alignment) -> list[str]:
    return [finding.code for finding in alignment.findings]


def test_alone_a_profile_without_real_time_stays_in_the_monotonic_clock() -> None:
    alignment = Alignment.of(profile(*READINGS[:2]), needs_real_time=False)
    assert alignment.place(slices(16, 600, 40))[0].tolist() == [1100]
    assert codes(alignment) == ["no-real-time-snapshot"]


def test_with_a_host_trace_a_profile_without_real_time_is_refused() -> None:
    with pytest.raises(ClockError, match="cannot be joined with a host trace: real time was never read"):
        Alignment.of(profile(*READINGS[:2]), needs_real_time=True)


def test_the_start_of_the_session_stands_in_for_a_reading() -> None:
    session = Session(session_id=7, started_real_ns=OFFSET_NS + 900, started_monotonic_ns=900)
    alignment = Alignment.of(profile(*READINGS[:2], session=session), needs_real_time=True)
    assert alignment.place(slices(16, 600, 40))[0].tolist() == [1100 + OFFSET_NS]
    assert codes(alignment) == ["no-real-time-snapshot"]


def test_a_set_clock_is_a_finding() -> None:
    alignment = Alignment.of(profile(*READINGS, real(10**12, OFFSET_NS + 10**9)), needs_real_time=True)
    assert codes(alignment) == ["real-time-step"]


def test_quality_of_every_clock_that_was_placed() -> None:
    alignment = Alignment.of(profile(*READINGS), needs_real_time=True)
    table = DeviceSlices.of(clock_id=16, start_ticks=np.array([499, 500, 10_500, 10_501], np.uint64))
    qualities = alignment.qualities(outside(alignment, table))
    found = [(quality.name, quality.snapshot_count, quality.extrapolated_count) for quality in qualities]
    assert found == [("host real time", 1, 0), ("rbln:0", 2, 2)]


def test_a_trace_that_says_when_its_zero_was_can_be_joined() -> None:
    require_unix_time(host_trace([op("a", 0, 1)]))


def test_a_trace_in_absolute_microseconds_needs_no_base_time() -> None:
    row = {**op("a", 0, 1), "ts": BASE_NS // 1000}
    require_unix_time(host_trace([row], base_time=False, window_ns=None))


def test_a_trace_without_times_has_nothing_to_be_placed() -> None:
    require_unix_time(host_trace([], base_time=False, window_ns=None))


def test_a_trace_that_counts_from_a_zero_of_its_own_cannot_be_joined() -> None:
    trace = host_trace([span("cpu_op", "a", 0, 1)], base_time=False)
    with pytest.raises(ClockError, match=r"cannot join <bytes> .* does not say when its zero was \(baseTimeNanoseconds\)"):
        require_unix_time(trace)
    assert b"baseTimeNanoseconds" not in document([], base_time=False)


@pytest.mark.parametrize("clock_id", [16, HOST_MONOTONIC, HOST_REALTIME])
@pytest.mark.parametrize(("start", "duration"), [(2**62, 1), (2**64 - 2**62, 1), (600, 2**62), (2**63 - 1, 2**63 - 1), (2**63, 0)])
def test_what_does_not_lie_within_62_bits_has_no_place(clock_id: int, start: int, duration: int) -> None:
    table = DeviceSlices.of(
        clock_id=np.array([clock_id], np.uint32),
        start_ticks=np.array([start], np.uint64),
        duration_ticks=np.array([duration], np.uint64),
    )
    placed = Alignment.of(profile(*READINGS), needs_real_time=True).place(table)
    assert [column.tolist() for column in placed] == [[0], [0], [False]]


def test_a_slow_clock_leaves_the_placeable_before_its_ticks_do() -> None:
    # One tick a second: 2**62 ns are 4,611,686,018 s.
    slow = Clock(16, "slow", 1, 64, 1, ClockKind.DEVICE)
    alignment = Alignment.of(
        Profile(Session(7), clocks=(slow,), clock_snapshots=(ClockSnapshot(16, 0, 0, 0),)), needs_real_time=False
    )
    table = DeviceSlices.of(
        clock_id=16, start_ticks=np.array([4_611_686_018, 4_611_686_019, 2**40]), duration_ticks=np.array([0, 0, 2**40])
    )
    start_ns, duration_ns, placed = alignment.place(table)
    assert start_ns.tolist() == [4_611_686_018 * 10**9, 0, 0]
    assert (duration_ns.tolist(), placed.tolist()) == ([0, 0, 0], [True, False, False])


def test_a_start_of_the_session_beyond_62_bits_tells_nothing() -> None:
    session = Session(session_id=7, started_real_ns=2**63 - 1, started_monotonic_ns=900)
    alignment = Alignment.of(profile(*READINGS[:2], session=session), needs_real_time=False)
    assert (alignment.real_time, codes(alignment)) == (None, ["no-real-time-snapshot"])


def test_many_readings_of_one_run_are_looked_at_once() -> None:
    looked_at = 0

    class Reading(ClockSnapshot):
        @property
        def uncertainty_ns(self) -> int:
            nonlocal looked_at
            looked_at += 1
            return super().uncertainty_ns

    found = RealTime.of(tuple(Reading(HOST_REALTIME, OFFSET_NS + at, at, at + 9) for at in range(1000)))
    assert (found.offset_ns.tolist(), found.snapshot_count) == ([OFFSET_NS - 4], 1000)
    assert looked_at < 5000


def ticking(*clock_ids: int, clocks: tuple[Clock, ...] = (DEVICE,), start: int = 600, **more: Any) -> Profile:
    """A profile with a slice on each of these clocks and no reading of any."""
    table = DeviceSlices.of(len(clock_ids), clock_id=np.array(clock_ids, np.uint32), start_ticks=start, duration_ticks=40)
    return Profile(Session(7), clocks=clocks, device_slices=table, **more)


def alone(made: Profile) -> tuple[list[int], list[bool], list[tuple[str, str]]]:
    alignment = Alignment.of(made, needs_real_time=False)
    start, _, placed = alignment.place(made.device_slices)
    assert alignment.qualities(outside(alignment, made.device_slices)) == () or not alignment.is_alone
    return start.tolist(), placed.tolist(), [(one.code, str(one.severity)) for one in alignment.findings]


def test_a_clock_that_nothing_places_is_the_trace_clock() -> None:
    assert alone(ticking(16)) == ([600], [True], [("device-clock-alone", "info")])


def test_times_of_such_a_clock_are_at_its_nominal_rate() -> None:
    slow = Clock(16, "slow", 10**8, 64, 1, ClockKind.DEVICE)
    assert alone(ticking(16, clocks=(slow,))) == ([6000], [True], [("device-clock-alone", "info")])


def test_a_narrow_counter_stays_in_the_turn_of_its_records() -> None:
    narrow = Clock(16, "narrow", 10**9, 32, 1, ClockKind.DEVICE)
    assert alone(ticking(16, clocks=(narrow,), start=2**32 - 5))[0] == [2**32 - 5]


def test_real_time_alone_is_unix_time() -> None:
    assert alone(ticking(HOST_REALTIME, start=OFFSET_NS)) == ([OFFSET_NS], [True], [("device-clock-alone", "info")])


def test_several_clocks_that_nothing_places_are_each_shown_and_said_to_be_unrelated() -> None:
    both = (DEVICE, Clock(17, "rbln:1", 10**9, 64, 2, ClockKind.DEVICE))
    assert alone(ticking(16, 17, clocks=both)) == ([600, 600], [True, True], [("device-clocks-unrelated", "warning")])


@pytest.mark.parametrize(
    "made",
    [
        # The records of the host have a clock that is known, so the device's would lie beside it anywhere.
        ticking(16, launches=Launches.of(1, start_ns=np.array([5]))),
        ticking(16, clocks=(Clock(16, "rate unknown"),)),
        ticking(16, clocks=(Clock(16, "no counter is so wide", 10**9, 200),)),
        ticking(16, 17),
        ticking(16, HOST_MONOTONIC),
    ],
)
def test_otherwise_a_clock_that_was_not_read_has_no_place(made: Profile) -> None:
    _, placed, findings = alone(made)
    assert (placed[0], findings) == (False, [("no-real-time-snapshot", "info")])


def test_a_clock_that_is_alone_is_not_far_from_any_reading() -> None:
    far = ticking(16, start=10**16)
    assert [one.code for one in merge(far).findings] == ["device-clock-alone"]


def test_what_pairs_place_is_placed_and_nothing_else() -> None:
    made = ticking(16, HOST_MONOTONIC)
    fit = fit_clock(DEVICE, np.array([600]), np.array([OFFSET_NS]), (0, 1000))
    alignment = Alignment.of_fits(made, {16: fit})
    start, length, placed = alignment.place(made.device_slices)
    assert (start.tolist(), length.tolist(), placed.tolist()) == ([OFFSET_NS, 0], [40, 0], [True, False])
    assert alignment.qualities(outside(alignment, made.device_slices)) == (fit.quality,)
    assert (alignment.places_any(made), Alignment.of_fits(made, {}).places_any(made)) == (True, False)
