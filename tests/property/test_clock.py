"""The clock map against exact fractions, and its own inverse; the rule as proto/README.md states it, written out slowly."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import floor
from random import Random

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from rblnpb.clock import Clock, ClockMap, ClockSnapshot
from rblnpb.errors import ClockError


def slow_ns(ticks: int, anchors: list[tuple[int, int]], nominal_hz: int) -> int:
    """Host monotonic ns of unwrapped ticks on the line through the anchors, in fractions, halves up."""
    at = max((row for row, (x, _) in enumerate(anchors) if x <= ticks), default=0)
    if len(anchors) == 1:
        slope = Fraction(10**9, nominal_hz)
    else:
        first = min(at, len(anchors) - 2)
        (x0, y0), (x1, y1) = anchors[first], anchors[first + 1]
        slope = Fraction(y1 - y0, x1 - x0)
    x, y = anchors[at]
    return y + floor((ticks - x) * slope + Fraction(1, 2))


def mapped(anchors: list[tuple[int, int]], nominal_hz: int, width_bits: int = 64) -> ClockMap:
    """A map through these anchors: they are used as they are, whatever a reading would make of them."""
    x = np.array([ticks for ticks, _ in anchors], np.int64)
    y = np.array([ns for _, ns in anchors], np.int64)
    return ClockMap(Clock(16, "c", nominal_hz, width_bits), x, y, np.zeros(len(x), np.int64), 0, 0.0, 0)


@st.composite
def anchor_rows(draw: st.DrawFn, most: int = 4, top: int = 2**40) -> list[tuple[int, int]]:
    x, y = draw(st.integers(-top, top)), draw(st.integers(-top, top))
    rows = [(x, y)]
    step = st.one_of(st.integers(1, 20), st.integers(1, top))
    for _ in range(draw(st.integers(0, most - 1))):
        x, y = x + draw(step), y + draw(step)
        rows.append((x, y))
    return rows


rates = st.one_of(st.sampled_from((1, 3, 899_577_000, 10**9, 2**61)), st.integers(1, 2**61))
small = st.integers(-(2**41), 2**41)


@given(anchor_rows(), rates, st.lists(small, min_size=1, max_size=20))
def test_a_tick_is_placed_where_exact_fractions_place_it(anchors: list[tuple[int, int]], hz: int, ticks: list[int]) -> None:
    expected = [slow_ns(tick, anchors, hz) for tick in ticks]
    assume(all(abs(value) < 2**63 for value in expected))

    assert mapped(anchors, hz).unwrapped_to_ns(np.array(ticks, np.int64)).tolist() == expected


@given(st.integers(0, 2**32).map(Random), st.integers(49, 60), st.integers(49, 60))
def test_it_is_exact_at_very_large_distances_and_rates(random: Random, run_bits: int, rise_bits: int) -> None:
    """Numbers drawn evenly: hypothesis prefers small ones, with which nothing can overflow."""
    start = (random.randrange(-(2**61), 0), random.randrange(-(2**61), 0))
    anchors = [start, (start[0] + random.randrange(1, 2**run_bits), start[1] + random.randrange(1, 2**rise_bits))]
    ticks = [random.randrange(anchors[0][0], anchors[1][0] + 1) for _ in range(20)]

    placed = mapped(anchors, 1).unwrapped_to_ns(np.array(ticks, np.int64))

    assert placed.tolist() == [slow_ns(tick, anchors, 1) for tick in ticks]


@given(anchor_rows(), st.integers(1, 10**12), st.lists(small, min_size=2, max_size=20))
def test_time_ascends_with_ticks(anchors: list[tuple[int, int]], hz: int, ticks: list[int]) -> None:
    assume(all(abs(slow_ns(tick, anchors, hz)) < 2**63 for tick in ticks))
    ns = mapped(anchors, hz).unwrapped_to_ns(np.array(sorted(ticks), np.int64))

    assert (np.diff(ns) >= 0).all()


@given(anchor_rows(top=2**30), st.integers(10**6, 10**10), st.lists(st.integers(-(2**31), 2**31), min_size=1, max_size=20))
def test_align_then_invert_is_within_the_rounding(anchors: list[tuple[int, int]], hz: int, ticks: list[int]) -> None:
    clock_map = mapped(anchors, hz)
    back = clock_map.to_ticks(clock_map.unwrapped_to_ns(np.array(ticks, np.int64)))

    # Half a nanosecond in ticks of the steepest segment, half a tick of rounding, and the seam of two segments.
    rises = [(b - a, q - p) for (a, p), (b, q) in pairwise(anchors)] or [(hz, 10**9)]
    ticks_per_ns = max(Fraction(run, rise) for run, rise in rises)
    assert all(abs(was - now) <= ticks_per_ns / 2 + Fraction(1, 2) for was, now in zip(ticks, back.tolist(), strict=True))


@given(
    st.sampled_from((32, 48)),
    st.integers(0, 2**50),
    st.integers(1, 2**30),
    st.lists(st.integers(-(2**30), 2**31), min_size=1, max_size=20),
)
def test_a_counter_that_wraps_is_placed_as_one_that_does_not(width: int, origin: int, span: int, offsets: list[int]) -> None:
    """A recording shorter than half a turn on each side of its middle, anywhere on the counter."""
    assume(all(abs(offset - span // 2) < 1 << width - 1 for offset in offsets))
    turn = (1 << width) - 1
    readings = [(origin, 5_000), (origin + span, 5_000 + span)]
    snapshots = tuple(ClockSnapshot(16, ticks & turn, ns, ns) for ticks, ns in readings)
    clock_map = ClockMap.of(Clock(16, "c", 10**9, width), snapshots)

    raw = np.array([(origin + offset) & turn for offset in offsets], np.uint64)

    assert clock_map.step_count == 0
    assert clock_map.to_monotonic_ns(raw).tolist() == [5_000 + offset for offset in offsets]


@given(anchor_rows(most=2, top=2**40), st.integers(1, 2**61), small, st.lists(st.integers(0, 2**30), min_size=1, max_size=9))
def test_slices_that_touch_in_ticks_touch_in_ns(anchors: list[tuple[int, int]], hz: int, start: int, sizes: list[int]) -> None:
    edges = start + np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    assume(all(abs(slow_ns(edge, anchors, hz)) < 2**62 for edge in edges.tolist()))

    start_ns, duration_ns = mapped(anchors, hz).span_to_ns(edges[:-1].view(np.uint64), np.array(sizes, np.uint64))

    assert (start_ns[:-1] + duration_ns[:-1]).tolist() == start_ns[1:].tolist()
    assert (duration_ns >= 0).all()


def placed_by_the_rule(clock: Clock, snapshots: tuple[ClockSnapshot, ...], ticks: list[int]) -> tuple[list[int], int]:
    """Moments of raw ticks, and the number of steps: section 6 of proto/README.md, point by point."""
    half = 1 << clock.width_bits - 1

    def near(value: int, expected: int) -> int:
        return expected - half + (value - expected + half) % (2 * half)

    # 1 and 2
    readings = sorted(((s.monotonic_before_ns + s.monotonic_after_ns) // 2, s.value_ticks) for s in snapshots)
    moments = [m for m, _ in readings]
    unwrapped = [near(readings[0][1], 0) if clock.width_bits == 64 else readings[0][1]]
    for (before, _), (m, value) in pairwise(readings):
        expected = 0 if clock.width_bits == 64 else unwrapped[-1] + (m - before) * clock.nominal_hz // 10**9
        unwrapped.append(near(value, expected))
    # 3
    rates = sorted(Fraction(b - a, q - p) for (p, a), (q, b) in pairwise(zip(moments, unwrapped, strict=True)) if q != p)
    r = Fraction(clock.nominal_hz, 10**9) or (rates[len(rates) // 2] if rates else Fraction(0))
    anchors, steps = [(unwrapped[0], moments[0])], 0
    doubtful: list[tuple[int, int]] = []
    later = list(zip(moments, unwrapped, strict=True))[1:]
    for place, (m, value) in enumerate(later):
        run, time = value - anchors[-1][0], m - anchors[-1][1]
        if run == 0 and time <= 0:
            continue
        if doubtful and r > 0:
            run_since, time_since = value - doubtful[-1][0], m - doubtful[-1][1]
            off = abs(run_since - time_since * r)
            agrees = run_since > 0 and time_since > 0 and off <= max(time_since, 5_000_000) * r / 100
            if agrees and off < abs(run - time * r):
                steps += len(later) - place
                break
        if run <= 0 or time <= 0 or (r > 0 and abs(run - time * r) > max(time, 5_000_000) * r / 100):
            steps += 1
            doubtful.append((value, m))
        else:
            anchors.append((value, m))
            doubtful.clear()
    # 4 and 5
    middle = 0 if clock.width_bits == 64 else (anchors[0][0] + anchors[-1][0]) // 2
    return [slow_ns(near(tick, middle), anchors, clock.nominal_hz) for tick in ticks], steps


@st.composite
def read_clocks(draw: st.DrawFn) -> tuple[Clock, tuple[ClockSnapshot, ...]]:
    """Clocks of many widths that run by their rate, except where they were set; read at moments a while apart."""
    width = draw(st.sampled_from((4, 8, 16, 32, 48, 63, 64)))
    hz = draw(st.sampled_from((1_000, 899_577_000, 10**9, 2 * 10**9)))
    ticks, m = draw(st.integers(0, 2**width - 1)), draw(st.integers(-(10**9), 10**12))
    snapshots = []
    for _ in range(draw(st.integers(1, 6))):
        bracket = draw(st.integers(0, 3_000))
        snapshots.append(ClockSnapshot(16, ticks % 2**width, m - bracket // 2, m + (bracket + 1) // 2))
        gap_ns = draw(st.one_of(st.integers(0, 9), st.integers(0, 10**9)))
        ticks += gap_ns * hz // 10**9 + draw(st.sampled_from((0, 0, 0, 1, -50, 10**6, -(10**8))))
        m += gap_ns
    told_hz = draw(st.sampled_from((hz, hz, 0)))
    return Clock(16, "c", told_hz, width), tuple(draw(st.permutations(snapshots)))


@given(read_clocks(), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=9))
def test_the_rule_of_the_specification_is_what_is_computed(
    read_clock: tuple[Clock, tuple[ClockSnapshot, ...]], ticks: list[int]
) -> None:
    clock, snapshots = read_clock
    raw = [tick % 2**clock.width_bits for tick in ticks]
    try:
        clock_map = ClockMap.of(clock, snapshots)
    except ClockError:
        assume(False)
    expected, steps = placed_by_the_rule(clock, snapshots, raw)
    assume(all(abs(value) < 2**63 for value in expected))

    assert clock_map.step_count == steps
    assert clock_map.to_monotonic_ns(np.array(raw, np.uint64)).tolist() == expected
