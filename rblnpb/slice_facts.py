"""What the checks ask of the device slices of a profile, gathered block by block: the table itself need not be in memory."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT, DeviceSlices, Launches, UInt64, WorkloadSlices
from rblnpb.profile import Profile

__all__ = ["SliceFacts", "distinct", "launch_counts"]

_BLOCK: Final = 1 << 16
"""Rows that are looked at together, so that what is worked out about them stays in the processor's cache."""


class SliceFacts:
    """Counts over device slices. Slices that archived events tell of are no records of their own: only their clocks count.

    Attributes:
        count: All slices.
        recorded_count: Those that no archived event tells of.
        clock_ids: Clocks of all slices.
        recorded_clock_ids: Clocks of those that no archived event tells of.
        without_launch_count: Recorded ones with launch id 0.
        unknown_launch_count: Recorded ones whose launch is not among the launches.
        untimed_count: Recorded ones that neither start nor last.
    """

    def __init__(self, launches: Launches) -> None:
        """Of no slice yet, in a profile with these launches."""
        self.count = self.recorded_count = 0
        self.clock_ids: set[int] = set()
        self.recorded_clock_ids: set[int] = set()
        self.without_launch_count = self.unknown_launch_count = self.untimed_count = 0
        self._launch_ids = np.unique(launches.launch_id)

    @classmethod
    def of(cls, profile: Profile) -> SliceFacts:
        """The facts about the slices that a profile holds."""
        facts = cls(profile.launches)
        for start in range(0, len(profile.device_slices), _BLOCK):
            facts.add(profile.device_slices.take(slice(start, start + _BLOCK)))
        return facts

    def add(self, block: DeviceSlices) -> None:
        """Count the slices of a block, at least one."""
        self.count += len(block)
        self.clock_ids.update(distinct(block.clock_id))
        is_recorded = block.event_ordinal == ABSENT
        if not is_recorded.all():
            block = block.take(is_recorded)
        if not len(block):
            return
        self.recorded_count += len(block)
        self.recorded_clock_ids.update(distinct(block.clock_id))
        without, unknown = launch_counts(block, self._launch_ids)
        self.without_launch_count += without
        self.unknown_launch_count += unknown
        if not int(block.start_ticks.min()):
            self.untimed_count += int(((block.start_ticks == 0) & (block.duration_ticks == 0)).sum())


def distinct(values: npt.NDArray[Any]) -> set[int]:
    """The values that occur, at least one; neighbours are mostly equal."""
    return set(np.unique(_runs(values)[0]).tolist())


def launch_counts(table: DeviceSlices | WorkloadSlices, launch_ids: UInt64) -> tuple[int, int]:
    """How many records have launch id 0, and how many name a launch that is none of these.

    Args:
        table: At least one record.
        launch_ids: uint64[n]; ascending, each once.
    """
    ids, counts = _runs(table.launch_id)
    is_known = ids == 0
    without = int(counts[is_known].sum())
    if len(launch_ids):
        at = np.minimum(np.searchsorted(launch_ids, ids), len(launch_ids) - 1)
        is_known |= launch_ids[at] == ids
    return without, int(counts[~is_known].sum())


def _runs(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Values of the runs of equal neighbours, and their lengths: slices of one launch stand together, so there are few."""
    starts = np.flatnonzero(values[1:] != values[:-1]) + 1
    edges = np.concatenate([[0], starts, [len(values)]])
    return values[edges[:-1]], np.diff(edges)
