"""When the records of a device were submitted: what settles the time of a clock that its readings leave open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rblnpb.clock import ClockMap
from rblnpb.profile import Profile

from ..timeline import Bool, Int64
from .correlate import row_by_id

__all__ = ["LaunchTimes", "is_settled"]


@dataclass(frozen=True, eq=False)
class LaunchTimes:
    """Launches by their ids; both columns have the same length n.

    Attributes:
        ids: int64[n]; none is 0, none stands twice.
        start_ns: int64[n]; host monotonic.
    """

    ids: Int64
    start_ns: Int64

    @classmethod
    def of(cls, profile: Profile) -> LaunchTimes:
        """Those of a profile whose ids name one launch each."""
        ids, row, count = np.unique(profile.launches.launch_id.view(np.int64), return_index=True, return_counts=True)
        is_one = (count == 1) & (ids != 0)
        return cls(ids[is_one], profile.launches.start_ns[row[is_one]])

    def settle(self, clock_map: ClockMap) -> bool:
        """Whether they are needed to place what ticks on a clock: it was set, or the run may be longer than half a turn of it."""
        return len(self.ids) > 0 and not is_settled(clock_map, int(self.start_ns.min()), int(self.start_ns.max()))

    def near(self, launch_id: npt.NDArray[np.uint64]) -> tuple[Int64, Bool]:
        """When records were submitted, or, where that is not known, the one before them, or else the one behind.

        Args:
            launch_id: uint64[n]; of the records, in their order; 0 = unknown.

        Returns:
            int64[n], host monotonic; bool[n], whether it is their own.
        """
        row = row_by_id(self.ids, launch_id.view(np.int64))
        is_own = row >= 0
        if not is_own.any():
            return np.full(len(row), self.start_ns.min()), is_own
        known = np.flatnonzero(is_own)
        before = np.searchsorted(known, np.arange(len(row)), side="right") - 1
        return self.start_ns[row[known[np.maximum(before, 0)]]], is_own


def is_settled(clock_map: ClockMap, *times_ns: int) -> bool:
    """Whether the readings of a clock alone tell when its records were.

    Args:
        clock_map: Of the clock.
        times_ns: Further times that the run reached, host monotonic.
    """
    width = clock_map.clock.width_bits
    if clock_map.step_count or width >= 64:
        return not clock_map.step_count
    ticks = clock_map.to_ticks(np.array([*times_ns, int(clock_map.anchor_ns[0]), int(clock_map.anchor_ns[-1])], np.int64))
    return 2 * (int(ticks.max()) - int(ticks.min())) < 1 << width
