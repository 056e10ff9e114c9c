"""The map of a clock through pairs of records."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.clock import Clock, ClockKind
from rblnpb.converters.merging.clock_fit import fit_clock

CLOCK = Clock(16, "device", 10**9, 64, 1, ClockKind.DEVICE)
OFFSET_NS = 1_790_000_000_000_000_000


def ticks(count: int, span: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.linspace(0, span, count).astype(np.int64) + 5 * 10**9


def test_one_pair_gives_an_offset_at_the_nominal_rate() -> None:
    fit = fit_clock(CLOCK, np.array([100]), np.array([OFFSET_NS]), (0, 10**10))
    assert fit.clock_map.unwrapped_to_ns(np.array([0, 100, 10**10])).tolist() == [
        OFFSET_NS - 100,
        OFFSET_NS,
        OFFSET_NS + 10**10 - 100,
    ]
    assert (fit.quality.snapshot_count, fit.quality.residual_ns, fit.quality.drift_ppm, fit.quality.basis) == (1, 0, 0.0, "pairs")


def test_pairs_that_lie_near_to_each_other_tell_no_rate() -> None:
    at = np.array([0, 1000, 2000])
    fit = fit_clock(CLOCK, at, at + OFFSET_NS + np.array([0, 2, -1]), (0, 10**12))
    assert fit.quality.drift_ppm == 0.0
    assert fit.clock_map.unwrapped_to_ns(np.array([10**12])).tolist() == [10**12 + OFFSET_NS]


@pytest.mark.parametrize("ppm", [-180, 0, 45, 900])
def test_the_rate_over_all_pairs_holds_beyond_them(ppm: int) -> None:
    at = ticks(500, 10**10)
    fit = fit_clock(CLOCK, at, at + at * ppm // 10**6 + OFFSET_NS, (0, 10**11))
    assert fit.quality.drift_ppm == pytest.approx(ppm, abs=0.01)
    assert fit.quality.residual_ns <= 1
    far = np.array([0, 10**11])
    assert np.abs(fit.clock_map.unwrapped_to_ns(far) - (far + far * ppm // 10**6 + OFFSET_NS)).max() < 1000


def test_a_rate_that_changes_is_followed_between_pairs() -> None:
    at = ticks(2000, 10**10)
    bent = at + ((at - at[0]) // 10**5) ** 2 // 10**5 + OFFSET_NS
    fit = fit_clock(CLOCK, at, bent, (int(at[0]), int(at[-1])))
    assert fit.quality.residual_ns < 500


def test_stray_pairs_are_no_anchors() -> None:
    at = ticks(320, 10**9)
    there = at + OFFSET_NS
    there[::40] += 50_000
    fit = fit_clock(CLOCK, at, there, (0, 10**10))
    assert (fit.quality.uncertainty_ns, fit.quality.residual_ns) == (0, 50_000)


def test_what_is_said_of_the_pairs_is_true_of_the_map() -> None:
    draw = np.random.default_rng(4)
    at = np.sort(draw.integers(0, 10**10, 300))
    there = at + OFFSET_NS + draw.integers(-30, 31, 300)
    fit = fit_clock(CLOCK, at, there, (0, 10**10))
    off = np.abs(fit.clock_map.unwrapped_to_ns(at) - there)
    assert (int(off.max()), int(np.median(off))) == (fit.quality.residual_ns, fit.quality.uncertainty_ns)
    assert (np.diff(fit.clock_map.anchor_ticks) > 0).all()
    assert (np.diff(fit.clock_map.anchor_ns) > 0).all()
