"""Device clocks that turn over, again and again, or are set while recording: slices come out where they really were."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import DeviceSlices, Launches
from rblnpb.converters.merging import merge
from rblnpb.profile import Profile, Session

SECOND = 10**9
HZ = 800_000_000
OFFSET_NS = 1_700_000_000 * SECOND


@dataclass(frozen=True)
class Run:
    """A run on a device whose counter is not what it seems.

    Attributes:
        width_bits: Of the counter.
        length_s: Of the run; the clock is read every second.
        set_at_s, set_by: When the counter was set, if it was, and by how many ticks; None = to zero.
        drift_ppm: How much faster than its nominal rate it runs.
    """

    width_bits: int = 64
    length_s: int = 10
    set_at_s: float | None = None
    set_by: int | None = None
    drift_ppm: int = 0

    def raw(self, at_ns: int) -> int:
        """What the counter shows at a time of the host."""
        rate = HZ * (1_000_000 + self.drift_ppm)
        ticks = 5_000_000_000 + at_ns * rate // (SECOND * 1_000_000)
        if self.set_at_s is not None and at_ns >= self.set_at_s * SECOND:
            zero = 5_000_000_000 + int(self.set_at_s * SECOND) * rate // (SECOND * 1_000_000)
            ticks = ticks - zero if self.set_by is None else ticks + self.set_by
        return ticks % (1 << self.width_bits)

    def profile(self, starts_ns: list[int], delay_ns: int, read_s: list[int] | None = None) -> Profile:
        """Slices that begin at these times, each of a launch so long before."""
        times = np.array(sorted(starts_ns), np.int64)
        reads = range(self.length_s + 1) if read_s is None else read_s
        readings = [ClockSnapshot(16, self.raw(at * SECOND), at * SECOND, at * SECOND) for at in reads]
        ids = np.arange(1, len(times) + 1, dtype=np.uint64)
        return Profile(
            Session(1),
            clocks=(Clock(16, "device", HZ, self.width_bits, 0, ClockKind.DEVICE),),
            clock_snapshots=(*readings, ClockSnapshot(HOST_REALTIME, OFFSET_NS, 0, 0)),
            launches=Launches.of(launch_id=ids, start_ns=times - delay_ns),
            device_slices=DeviceSlices.of(
                clock_id=16,
                launch_id=ids,
                start_ticks=np.array([self.raw(at) for at in times.tolist()], np.uint64),
                duration_ticks=np.full(len(times), 800, np.uint64),
            ),
        )


def check(run: Run, starts_ns: list[int], delay_ns: int, read_s: list[int] | None = None, error_ns: int = 3) -> set[str]:
    """That every slice comes out where it was; the codes of what is said about it."""
    timeline = merge(run.profile(starts_ns, delay_ns, read_s))
    expected = np.array(sorted(starts_ns)) + OFFSET_NS
    assert len(timeline.slices) == len(expected)
    assert np.abs(timeline.slices.start_ns - expected).max(initial=0) <= error_ns
    return {finding.code for finding in timeline.findings}


TIMES = st.lists(st.integers(0, 60 * SECOND), min_size=1, max_size=30)
DELAYS = st.integers(0, 300_000_000)


@settings(max_examples=40)
@given(TIMES, DELAYS, st.sampled_from([32, 36, 48]), st.integers(-100, 100))
def test_a_narrow_counter_that_turns_over_many_times(starts: list[int], delay: int, width: int, drift: int) -> None:
    codes = check(Run(width, 60, drift_ppm=drift), starts, delay)
    assert "ambiguous-wrap" not in codes


@settings(max_examples=40)
@given(TIMES, DELAYS, st.sampled_from([32, 36]))
def test_even_several_times_between_two_readings(starts: list[int], delay: int, width: int) -> None:
    check(Run(width, 60), starts, delay, read_s=[0, 60])


@settings(max_examples=40)
@given(st.lists(st.integers(0, 10 * SECOND), min_size=1, max_size=30), st.integers(0, 5_000_000), st.floats(1.5, 8.5))
def test_a_counter_that_is_reset(starts: list[int], delay: int, at_s: float) -> None:
    check(Run(set_at_s=at_s), starts, delay)


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 10 * SECOND), min_size=1, max_size=30),
    st.integers(0, 5_000_000),
    st.floats(1.5, 8.5),
    st.sampled_from([-32_000_000, -80_000_000, 80_000_000, 4_000_000_000]),
)
def test_a_counter_that_is_set(starts: list[int], delay: int, at_s: float, by: int) -> None:
    check(Run(set_at_s=at_s, set_by=by), starts, delay)


@given(st.lists(st.integers(0, 2 * SECOND), min_size=1, max_size=9), DELAYS)
def test_one_reading_is_enough_for_the_turn(starts: list[int], delay: int) -> None:
    check(Run(32, 2), starts, delay, read_s=[1])


def test_what_is_told_of_a_counter_that_turns_over_many_times() -> None:
    found = merge(Run(32, 60).profile([5 * SECOND, 50 * SECOND], 1000))
    told = {finding.code: (finding.count, finding.message) for finding in found.findings}
    assert told["placed-by-launch"] == (2, "readings leave the times of 2 device slices open: they follow from their launches")
    assert found.clocks[-1].extrapolated_count == 0


def test_records_without_a_launch_stand_beside_their_neighbours_and_are_counted() -> None:
    run = Run(32, 60)
    profile = run.profile([20 * SECOND, 20 * SECOND + 1000, 50 * SECOND], 1000)
    ids = profile.device_slices.launch_id.copy()
    ids[1] = 0
    found = merge(profile.replace(device_slices=profile.device_slices.replace(launch_id=ids)))
    assert np.abs(found.slices.start_ns - OFFSET_NS - np.array([20 * SECOND, 20 * SECOND + 1000, 50 * SECOND])).max() <= 3
    told = {finding.code: finding.count for finding in found.findings}
    assert told["placed-by-neighbour"] == 1
