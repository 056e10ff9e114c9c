"""How one clock lies to another, piece by piece, from pairs of records: robust against pairs that are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ..timeline import Int64

__all__ = ["MOST_DRIFT", "ClockLine", "fit_line"]

MOST_DRIFT: Final = 1e-3
"""No clock of a device is further off its rate: quartz is within 0.01 %."""

_PIECES: Final = 64
_PIECE_ROWS: Final = 8

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClockLine:
    """Offsets of one clock to another.

    Attributes:
        tick, offset_ns: Zero of the anchors.
        anchor_ticks, anchor_offsets: float64[m]; since that zero; ascending ticks.
        slope: How the offset goes on beyond the anchors, ns a tick.
        slope_error: How far the slope may be off.
        noise_ns: Median distance of a pair from the line.
    """

    tick: int
    offset_ns: int
    anchor_ticks: Float64
    anchor_offsets: Float64
    slope: float
    slope_error: float
    noise_ns: float

    @classmethod
    def level(cls, tick: int, offset_ns: int) -> ClockLine:
        """One offset everywhere, of which nothing else is known."""
        return cls(tick, offset_ns, np.zeros(1), np.zeros(1), 0.0, MOST_DRIFT, 0.0)

    def at(self, ticks: Int64) -> Int64:
        """int64[n]; what is added to these times of the one clock for those of the other, to the nearest ns."""
        x = (ticks - self.tick).astype(np.float64)
        y = np.interp(x, self.anchor_ticks, self.anchor_offsets)
        y += self.slope * (np.minimum(x - self.anchor_ticks[0], 0) + np.maximum(x - self.anchor_ticks[-1], 0))
        return np.rint(y).astype(np.int64) + self.offset_ns


def _robust_slope(ticks: Float64, offsets: Float64, noise_ns: float) -> tuple[float, float]:
    """Slope of a cloud of points in the order of ticks, from the medians of its outer thirds, and how far it may be off."""
    third = max(len(ticks) // 3, 1)
    run = float(np.median(ticks[-third:]) - np.median(ticks[:third]))
    if run <= 0:
        return 0.0, MOST_DRIFT
    error = min(4 * max(noise_ns, 1.0) / run, MOST_DRIFT)
    slope = float(np.median(offsets[-third:]) - np.median(offsets[:third])) / run
    return min(max(slope, -MOST_DRIFT), MOST_DRIFT), error


def fit_line(ticks: Int64, times_ns: Int64, tick: int, offset_ns: int) -> ClockLine:
    """The line through pairs of records.

    Args:
        ticks: int64[k]; times in the one clock, ascending, at least one.
        times_ns: int64[k]; those of the same records in the other.
        tick, offset_ns: Zero of the line's numbers, near to the pairs.
    """
    x = (ticks - tick).astype(np.float64)
    y = (times_ns - ticks - offset_ns).astype(np.float64)
    pieces = min(max(len(x) // _PIECE_ROWS, 1), _PIECES)
    # The noise comes from within pieces, so that drift is none of it.
    slope, _ = _robust_slope(x, y, 0.0)
    noise = _noise(_piecewise(y - slope * x, pieces))
    slope, error = _robust_slope(x, y, noise)
    level = _piecewise(y - slope * x, pieces)
    at = np.median(_piecewise(x, pieces), axis=1)
    return ClockLine(tick, offset_ns, at, np.median(level, axis=1) + slope * at, slope, error, _noise(level))


def _piecewise(values: Float64, pieces: int) -> Float64:
    """float64[pieces, n]; the values in pieces of one length; a few at the end, which do not fill a piece, are left out."""
    size = len(values) // pieces
    return values[: pieces * size].reshape(pieces, size)


def _noise(values: Float64) -> float:
    """Median distance of values from the median of their piece."""
    return float(np.median(np.abs(values - np.median(values, axis=1, keepdims=True))))
