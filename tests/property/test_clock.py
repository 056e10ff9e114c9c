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
