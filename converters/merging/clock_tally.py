"""How device slices came by their times, counted some slices at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from rblnpb.clock import ClockMap
from rblnpb.columns import DeviceSlices
from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from .align import Alignment

__all__ = ["ClockTally"]

_SETTLED: Final = frozenset({"ambiguous-wrap", "clock-step"})
"""Findings of a profile that speak of times which launches settle."""


class ClockTally:
    """Slices of a profile, by what their times follow from.

    Attributes:
        outside: How many lie outside the readings of their clock, by clock id.
        by_launch: How many have their turn of the counter, or its setting, from their own launch.
        by_neighbour: How many from that of another record.
    """

    def __init__(self, alignment: Alignment) -> None:
        self._alignment = alignment
        self.outside: Counter[int] = Counter()
        self.by_launch = 0
        self.by_neighbour = 0

    def add(self, slices: DeviceSlices) -> None:
        """Count these too."""
        alignment = self._alignment
        for clock_id, clock_map in alignment.maps.items():
            own = slices.clock_id == clock_id
            if not own.any():
                continue
            times = alignment.launched.get(clock_id)
            if times is None:
                starts = clock_map.unwrap(slices.start_ticks[own])
                is_outside = (starts < clock_map.anchor_ticks[0]) | (starts > clock_map.anchor_ticks[-1])
            else:
                near_ns, is_own = times.near(slices.launch_id[own])
                start_ns, _ = clock_map.span_near(slices.start_ticks[own], slices.duration_ticks[own], near_ns)
                is_outside = (start_ns < clock_map.anchor_ns[0]) | (start_ns > _last(clock_map).anchor_ns[-1])
                self.by_launch += int(is_own.sum())
                self.by_neighbour += int((~is_own).sum())
            self.outside[clock_id] += int(is_outside.sum())

    def findings(self, of_profile: Iterable[Finding]) -> Iterator[Finding]:
        """Those of the profile, unless launches settle what they doubt; and what was settled so."""
        is_settled = self.by_launch > 0 and self.by_neighbour == 0
        yield from (one for one in of_profile if not (is_settled and one.code in _SETTLED))
        if self.by_launch:
            message = f"readings leave the times of {counted(self.by_launch, 'device slice')} open: they follow from their launches"
            yield Finding(Severity.INFO, "placed-by-launch", message, self.by_launch)
        if self.by_neighbour:
            message = (
                f"readings leave the times of {counted(self.by_neighbour, 'device slice')} of no known launch open: "
                "they were placed beside their neighbours"
            )
            yield Finding(Severity.WARNING, "placed-by-neighbour", message, self.by_neighbour)


def _last(clock_map: ClockMap) -> ClockMap:
    return clock_map if clock_map.later is None else _last(clock_map.later)
