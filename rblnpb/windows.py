"""A stretch of the host's monotonic time, and which records lie in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.clock import ClockMap
from rblnpb.columns import Int64, Table, UInt64
from rblnpb.record_times import first_tick_from, record_times

__all__ = ["Window"]

Mask = npt.NDArray[np.bool_]

_SLACK_NS: Final = 1_000_000
_LAST_INT64: Final = (1 << 63) - 1


@dataclass(frozen=True)
class Window:
    """From a moment to another, which is out, in ns of the host monotonic clock.

    Attributes:
        start_ns, end_ns: The two moments.
        maps: Clocks of the session that can be placed, by id.
    """

    start_ns: int
    end_ns: int
    maps: Mapping[int, ClockMap]

    def mask(self, table: Table) -> Mask | None:
        """bool[n]; which records overlap the window; None: all do, as those whose kind or clock tells no moment.

        A record from start to end does so when it starts before the window ends, and ends after the window starts, or starts in it.
        Moments are those of section 6 of the specification, exact.

        Args:
            table: At least one record; all of one clock.
        """
        times = record_times(table)
        clock_map = None if times is None else self.maps.get(times.clock_id)
        if times is None or clock_map is None:
            return None
        start = clock_map.unwrap(times.start_ticks)
        inside: Mask = start >= first_tick_from(clock_map, self.start_ns)
        if times.duration_ticks is not None and not inside.all():
            inside |= _reach(start, times.duration_ticks, first_tick_from(clock_map, self.start_ns + 1))
        inside &= start < first_tick_from(clock_map, self.end_ns)
        return inside

    def may_hold(self, clock_id: int, start_ns: int, end_ns: int) -> bool:
        """Whether records of a chunk may overlap the window.

        Args:
            clock_id: Clock of the chunk.
            start_ns, end_ns: Least start and greatest end, as the writer placed them when it wrote the chunk.
        """
        clock_map = self.maps.get(clock_id)
        if clock_map is None:
            return True
        slack_ns = _slack_ns(clock_map)
        return slack_ns is None or (start_ns - slack_ns < self.end_ns and end_ns + slack_ns >= self.start_ns)


def _reach(start: Int64, duration: UInt64, tick: int) -> Mask:
    """bool[n]; which of the stretches end at a tick or later, for starts before it."""
    beyond = max(tick - _LAST_INT64, 0)
    if beyond >= 1 << 64:
        return np.zeros(len(start), np.bool_)
    # Differences of int64 fit in uint64.
    missing = np.uint64(min(tick, _LAST_INT64) & (1 << 64) - 1) - start.view(np.uint64)
    reaches: Mask = (duration >= beyond) & (duration - np.uint64(beyond) >= missing)
    return reaches


def _slack_ns(clock_map: ClockMap) -> int | None:
    """How far off the moments may be that a writer knew before it had all readings of a clock; None: they tell nothing.

    It went on from the last reading at the rate that it knew; what that was off by is bounded by twice the drift over the whole.
    """
    first, last = int(clock_map.anchor_ticks[0]), int(clock_map.anchor_ticks[-1])
    if clock_map.step_count or 2 * (last - first) >= 1 << clock_map.clock.width_bits:
        return None
    span_ns = int(clock_map.anchor_ns[-1] - clock_map.anchor_ns[0])
    return _SLACK_NS + int(2e-6 * abs(clock_map.drift_ppm) * span_ns)
