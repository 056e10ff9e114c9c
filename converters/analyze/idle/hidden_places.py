"""Which line of the program led to hidden work in a gap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.row_order import order_by

from ...timeline import Int64, Timeline
from .gaps import Gaps
from .host_activity import overhead_name

__all__ = ["HiddenPlaces"]


@dataclass(frozen=True, eq=False)
class HiddenPlaces:
    """Records of hidden work in order of start, m of them, under each of their names.

    Attributes:
        start_ns, end_ns: int64[m]; trace clock.
        place: int64[m]; row of `Timeline.strings`.
        key: int64[k]; row of a name times m, plus the place of a record that has it; ascending.
    """

    start_ns: Int64
    end_ns: Int64
    place: Int64
    key: Int64

    @classmethod
    def of(cls, timeline: Timeline, row_of: Mapping[str, int]) -> HiddenPlaces:
        """The records of a timeline; what has no name among those of `row_of` is of no interest."""
        records = timeline.overheads
        order = order_by(records.start_ns)
        start_ns = records.start_ns[order]
        ops = np.array([row_of.get(text, -1) for text in timeline.strings], np.int64)[records.op[order]]
        kinds = {kind: row_of.get(overhead_name(kind), -1) for kind in set(records.kind.tolist())}
        of_kind = np.array([kinds[kind] for kind in records.kind[order].tolist()], np.int64)
        names, at = np.concatenate((ops, of_kind)), np.tile(np.arange(len(order)), 2)
        key = np.unique((names * len(order) + at)[names >= 0])
        duration_ns = records.duration_ns[order]
        # What has no known duration reaches nowhere.
        end_ns = np.where((start_ns != ABSENT) & (duration_ns != ABSENT), start_ns + duration_ns, ABSENT)
        return cls(start_ns, end_ns, records.place[order].astype(np.int64), key)

    def at(self, gaps: Gaps, gap: Int64, name: Int64) -> Int64:
        """int64[n]; row of `Timeline.strings`: the place of the first record of a name that reaches into a gap; -1 = none.

        Args:
            gaps: Some.
            gap: int64[n]; rows of them.
            name: int64[n]; -1 = none.
        """
        found = np.full(len(gap), -1)
        asking = np.flatnonzero(name >= 0) if len(self.key) else np.empty(0, np.int64)
        start_ns, end_ns = gaps.start_ns[gap[asking]], gaps.end_ns[gap[asking]]
        # What began before the gap may reach into it, or not.
        first = np.maximum(np.searchsorted(self.start_ns, start_ns) - 1, 0)
        base = name[asking] * len(self.start_ns)
        at = np.searchsorted(self.key, base + first)
        stop = np.searchsorted(self.key, base + np.searchsorted(self.start_ns, end_ns))
        while len(asking):
            left = at < stop
            asking, at, stop, base, start_ns = (column[left] for column in (asking, at, stop, base, start_ns))
            record = self.key[at] - base
            reaches = self.end_ns[record] > start_ns
            found[asking[reaches]] = self.place[record[reaches]]
            asking, at, stop, base, start_ns = (column[~reaches] for column in (asking, at + 1, stop, base, start_ns))
        return found
