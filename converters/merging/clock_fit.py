"""The map of a clock that pairs of records give, in whole numbers: its anchors are pairs, each the median of its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.clock import Clock, ClockMap
from rblnpb.row_order import order_by

from ..timeline import ClockQuality, Int64
from .clock_lines import MOST_DRIFT

__all__ = ["ClockFit", "fit_clock"]

_ANCHOR_PAIRS: Final = 16
_FEW_PAIRS: Final = 3 * _ANCHOR_PAIRS
_MOST_ANCHORS: Final = 512
_SURE_RATE: Final = 20e-6
"""A rate that is less sure than this is worse than the nominal one, which quartz keeps."""
_BEYOND_TICKS: Final = 10**9
_WILD_RATE: Final = 100
"""Anchors between which a clock seems to run a hundredth off its rate are too near to each other for their noise."""


@dataclass(frozen=True, eq=False)
class ClockFit:
    """A clock as pairs of records place it.

    Attributes:
        clock_map: Ticks to ns of the trace clock.
        quality: How well; `uncertainty_ns` is the median distance of a pair, `residual_ns` the largest.
    """

    clock_map: ClockMap
    quality: ClockQuality


def fit_clock(clock: Clock, ticks: Int64, times_ns: Int64, cover: tuple[int, int]) -> ClockFit:
    """The map of a clock through pairs of records.

    Args:
        clock: Nanoseconds, as far as is known.
        ticks: int64[k]; starts of records in that clock, at least one.
        times_ns: int64[k]; starts of the same records in the trace clock.
        cover: First and last tick that is to be placed: beyond the pairs the rate over all of them holds.

    Returns:
        A map that ascends in both clocks, piecewise linear between its anchors.
    """
    order = order_by(ticks)
    ticks, times_ns = ticks[order], times_ns[order]
    at, ns = (_anchors if len(ticks) >= _FEW_PAIRS else _ends)(ticks, times_ns - ticks)
    rise, run = int(ns[-1] - ns[0]), int(at[-1] - at[0])
    noise_ns = max(_median_distance(ticks, times_ns, at, ns), 1)
    if run <= 0 or 2 * noise_ns > _SURE_RATE * run or abs(rise - run) > MOST_DRIFT * run:
        middle = _median_row(times_ns - ticks)
        at, ns, rise, run = ticks[middle : middle + 1], times_ns[middle : middle + 1], 1, 1
    at, ns = _with_ends(at, ns, rise, run, cover)
    drift_ppm = (rise / run - 1) * 1e6
    clock_map = ClockMap(clock, at, ns, np.zeros(len(at), np.int64), 0, drift_ppm, 0)
    residual_ns = np.abs(clock_map.unwrapped_to_ns(ticks) - times_ns)
    quality = ClockQuality(
        name=clock.name or f"clock {clock.clock_id}",
        snapshot_count=len(ticks),
        residual_ns=int(residual_ns.max()),
        uncertainty_ns=int(np.median(residual_ns)),
        drift_ppm=drift_ppm,
        step_count=0,
        extrapolated_count=0,
        basis="pairs",
    )
    return ClockFit(clock_map, quality)


def _anchors(ticks: Int64, offsets: Int64) -> tuple[Int64, Int64]:
    """Ticks and times of pairs that stand for their neighbours; ascending in both."""
    parts = min(len(ticks) // _ANCHOR_PAIRS, _MOST_ANCHORS)
    rows = [int(part[_median_row(offsets[part])]) for part in np.array_split(np.arange(len(ticks)), parts)]
    kept = rows[:1]
    for row in rows[1:]:
        run = int(ticks[row] - ticks[kept[-1]])
        if run > 0 and abs(int(offsets[row] - offsets[kept[-1]])) * _WILD_RATE < run:
            kept.append(row)
    return ticks[kept], ticks[kept] + offsets[kept]


def _ends(ticks: Int64, offsets: Int64) -> tuple[Int64, Int64]:
    """Ends of the one line through few pairs, by the median of the slopes between each two: a wrong one of them bends it not."""
    x, y = (ticks - ticks[0]).astype(np.float64), (offsets - offsets[0]).astype(np.float64)
    first, second = np.triu_indices(len(x), 1)
    is_apart = x[second] > x[first]
    slopes = (y[second] - y[first])[is_apart] / (x[second] - x[first])[is_apart]
    slope = float(np.median(slopes)) if len(slopes) else 0.0
    level = float(np.median(y - slope * x))
    at = ticks[[0, -1]] if ticks[-1] > ticks[0] else ticks[:1]
    line = np.rint(level + slope * (at - ticks[0])).astype(np.int64)
    return at, at + offsets[0] + line


def _median_row(values: Int64) -> int:
    """Where the lower median stands."""
    return int(order_by(values)[(len(values) - 1) // 2])


def _median_distance(ticks: Int64, times_ns: Int64, at: Int64, ns: Int64) -> int:
    """Median distance of pairs from the lines between anchors: drift is none of the noise."""
    expected = np.interp(
        (ticks - at[0]).astype(np.float64), (at - at[0]).astype(np.float64), (ns - at - (ns[0] - at[0])).astype(np.float64)
    )
    return int(np.median(np.abs(times_ns - ticks - (ns[0] - at[0]) - expected)))


def _with_ends(at: Int64, ns: Int64, rise: int, run: int, cover: tuple[int, int]) -> tuple[Int64, Int64]:
    """The anchors with one before and one behind everything, at the rate over all: a last short piece would lead far astray."""
    first, last = min(cover[0], int(at[0])) - _BEYOND_TICKS, max(cover[1], int(at[-1])) + _BEYOND_TICKS
    before = int(ns[0]) - (int(at[0]) - first) * rise // run
    behind = int(ns[-1]) + (last - int(at[-1])) * rise // run
    ends = np.array([[first, last], [before, behind]], np.int64)
    return np.concatenate((ends[0, :1], at, ends[0, 1:])), np.concatenate((ends[1, :1], ns, ends[1, 1:]))
