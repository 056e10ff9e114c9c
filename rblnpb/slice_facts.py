"""What the checks ask of the device slices of a profile, gathered block by block: the table itself need not be in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT, DeviceSlices, Int64, UInt64
from rblnpb.profile import Profile
from rblnpb.row_order import order_by

__all__ = ["SliceFacts", "distinct", "launch_counts"]


class SliceFacts:
    """Counts over device slices.

    Slices that archived events tell of are no records of their own: only their clocks and launches count.

    Attributes:
        count: All slices.
        recorded_count: Those that no archived event tells of.
        clock_ids: Clocks of all slices.
        recorded_clock_ids: Clocks of those that no archived event tells of.
        untimed_count: Recorded ones that neither start nor last.
    """

    def __init__(self) -> None:
        """Of no slice yet."""
        self.count = self.recorded_count = self.untimed_count = 0
        self.clock_ids: set[int] = set()
        self.recorded_clock_ids: set[int] = set()
        self._launched: list[tuple[UInt64, Int64]] = []
        self._archived_ids: list[UInt64] = []

    @classmethod
    def of(cls, profile: Profile) -> SliceFacts:
        """The facts about the slices that a profile holds."""
        facts = cls()
        for rows in row_blocks(len(profile.device_slices)):
            facts.add(profile.device_slices.take(rows))
        return facts

    def add(self, block: DeviceSlices) -> None:
        """Count the slices of a block, at least one."""
        self.count += len(block)
        self.clock_ids.update(distinct(block.clock_id))
        is_recorded = block.event_ordinal == ABSENT
        if not is_recorded.all():
            self._archived_ids.append(_launches_named(block.launch_id[~is_recorded])[0])
            block = block.take(is_recorded)
        if not len(block):
            return
        self.recorded_count += len(block)
        self.recorded_clock_ids.update(distinct(block.clock_id))
        self._launched.append(_launches_named(block.launch_id))
        if not int(block.start_ticks.min()):
            self.untimed_count += int(((block.start_ticks == 0) & (block.duration_ticks == 0)).sum())

    def launch_ids(self) -> UInt64:
        """uint64[n]; launches that slices name, ascending, each once; 0 among them where one names none."""
        return np.unique(np.concatenate([np.empty(0, np.uint64), *self._archived_ids, *(ids for ids, _ in self._launched)]))

    def launch_counts(self, known: UInt64) -> tuple[int, int]:
        """How many recorded ones name no launch, and how many name one that is none of these (ascending, each once)."""
        counts = np.array([_counts(ids, count, known) for ids, count in self._launched], np.int64).reshape(-1, 2)
        without, unknown = counts.sum(axis=0).tolist()
        return without, unknown


def distinct(values: npt.NDArray[Any]) -> set[int]:
    """The values that occur, at least one; neighbours are mostly equal."""
    return set(np.unique(_runs(values)[0]).tolist())


def _launches_named(launch_id: UInt64) -> tuple[UInt64, Int64]:
    """The launch ids that occur among at least one, ascending, and how often each."""
    ids, lengths = _runs(launch_id)
    order = order_by(ids)
    ids, lengths = ids[order], lengths[order]
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    return ids[starts], np.add.reduceat(lengths, starts)


def launch_counts(launch_id: UInt64, known: UInt64) -> tuple[int, int]:
    """How many of at least one launch id are 0, and how many are neither that nor known (ascending, each once)."""
    return _counts(*_launches_named(launch_id), known)


def _counts(ids: UInt64, counts: Int64, known: UInt64) -> tuple[int, int]:
    is_known = ids == 0
    without = int(counts[is_known].sum())
    if len(known):
        at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        is_known |= known[at] == ids
    return without, int(counts[~is_known].sum())


def _runs(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Int64]:
    """Values of the runs of equal neighbours, and their lengths: slices of one launch stand together, so there are few."""
    starts = np.flatnonzero(values[1:] != values[:-1]) + 1
    edges = np.concatenate([[0], starts, [len(values)]])
    return values[edges[:-1]], np.diff(edges)
