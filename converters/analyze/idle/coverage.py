"""Which of many nested records is innermost, at every moment of every lane; and stretches of time cut where that changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.row_order import order_by

from ...nesting import enclosing, nest
from ...timeline import Bool, Int64
from ..grouping import consecutive, numbered

__all__ = ["Coverage", "Cutter", "Pieces", "Stretches"]


@dataclass(frozen=True, eq=False)
class Stretches:
    """Stretches of time, none empty, each a part of a gap; all columns have the same length n.

    Attributes:
        gap: int64[n]; number of the gap.
        start_ns, end_ns: int64[n]; any clock.
    """

    gap: Int64
    start_ns: Int64
    end_ns: Int64

    def __len__(self) -> int:
        return len(self.gap)

    def split(self, moment_ns: Int64) -> tuple[Stretches, Stretches]:
        """What lies before a moment of each stretch, and what does not: int64[n], of the same clock.

        >>> before, after = Stretches(np.array([7]), np.array([0]), np.array([10])).split(np.array([4]))
        >>> before.end_ns.tolist(), after.start_ns.tolist()
        ([4], [4])
        """
        until = np.clip(moment_ns, self.start_ns, self.end_ns)
        is_before, is_after = until > self.start_ns, until < self.end_ns
        before = Stretches(self.gap[is_before], self.start_ns[is_before], until[is_before])
        return before, Stretches(self.gap[is_after], until[is_after], self.end_ns[is_after])

    def where(self, mask: Bool) -> Stretches:
        """Those of a mask."""
        return Stretches(self.gap[mask], self.start_ns[mask], self.end_ns[mask])

    def joined(self, other: Stretches) -> Stretches:
        """These, then the others."""
        pairs = zip((self.gap, self.start_ns, self.end_ns), (other.gap, other.start_ns, other.end_ns), strict=True)
        return Stretches(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True, eq=False)
class Pieces:
    """Stretches cut into pieces, in their order.

    Attributes:
        stretches: The pieces.
        owner: int64[n]; the record that is innermost throughout; -1 = none.
    """

    stretches: Stretches
    owner: Int64

    def covered(self) -> tuple[Stretches, Int64]:
        """The pieces that a record covers, and those records."""
        is_covered = self.owner >= 0
        return self.stretches.where(is_covered), self.owner[is_covered]

    def uncovered(self) -> Stretches:
        """The pieces that none covers."""
        return self.stretches.where(self.owner < 0)


@dataclass(frozen=True, eq=False)
class Coverage:
    """The innermost record of every moment. Rows in order of lane and time; all columns have the same length n.

    Attributes:
        lane: int64[n].
        since_ns: int64[n]; from here on, until the next row of the lane.
        owner: int64[n]; the record; -1 = none.
    """

    lane: Int64
    since_ns: Int64
    owner: Int64

    @classmethod
    def of(cls, lane: Int64, start_ns: Int64, end_ns: Int64) -> Coverage:
        """What these records cover: the one that began last is innermost; of those the shortest, then the last of the table.

        Args:
            lane: int64[m]; such as a thread.
            start_ns, end_ns: int64[m]; one that ends where it begins covers nothing.

        >>> found = Coverage.of(np.array([0, 0]), np.array([0, 3]), np.array([10, 5]))
        >>> found.since_ns.tolist(), found.owner.tolist()
        ([0, 3, 5, 10], [0, 1, 0, -1])
        """
        order = np.flatnonzero(end_ns > start_ns)
        order = order[order_by(lane[order], start_ns[order], -end_ns[order])]
        lane, start_ns, end_ns = lane[order], start_ns[order], end_ns[order]
        lanes, moments = np.concatenate((lane, lane)), np.concatenate((start_ns, end_ns))
        by_time = order_by(lanes, moments)
        lanes, moments = lanes[by_time], moments[by_time]
        is_new = np.ones(len(lanes), np.bool_)
        is_new[1:] = (lanes[1:] != lanes[:-1]) | (moments[1:] != moments[:-1])
        lanes, moments = lanes[is_new], moments[is_new]
        inner = enclosing(lane, start_ns, end_ns, nest(lane, start_ns, end_ns), lanes, moments, moments + 1)
        owner = np.append(order, -1)[inner]
        changes = np.ones(len(lanes), np.bool_)
        changes[1:] = (lanes[1:] != lanes[:-1]) | (owner[1:] != owner[:-1])
        return cls(lanes[changes], moments[changes], owner[changes])

    def cut(self, lane: Int64, stretches: Stretches) -> Pieces:
        """Stretches, cut wherever the innermost record of their lane changes; for many tables of them, see `Cutter`.

        Args:
            lane: int64[n]; of each stretch; one that no record has is not covered.
            stretches: n of them.
        """
        return Cutter(self).cut(lane, stretches)


class Cutter:
    """Cuts stretches, some after others: what it costs does not depend on how much the coverage holds."""

    def __init__(self, coverage: Coverage) -> None:
        """Order the rows by one number, which lane and time have together."""
        self._coverage = coverage
        self._lanes, which = numbered(coverage.lane)
        self._moments = np.sort(coverage.since_ns)
        # How many moments of any lane come until then takes the place of a time: it is small, however damaged times are.
        self._reach = len(self._moments) + 1
        self._key = which * self._reach + np.searchsorted(self._moments, coverage.since_ns, side="right")

    def cut(self, lane: Int64, stretches: Stretches) -> Pieces:
        """As `Coverage.cut`."""
        since_ns, owner = self._coverage.since_ns, self._coverage.owner
        if not len(since_ns):
            return Pieces(stretches, np.full(len(stretches), -1, np.int64))
        which = np.searchsorted(self._lanes, lane)
        is_there = np.append(self._lanes, 0)[which] == lane
        is_there &= which < len(self._lanes)
        # The row before the first one of a lane stands for the time before, in which nothing is covered.
        begins = np.searchsorted(self._key, which * self._reach) - 1
        first = self._latest(which, stretches.start_ns)
        last = np.where(is_there, self._latest(which, stretches.end_ns - 1), first)
        count = last - first + 1
        of_piece = np.repeat(np.arange(len(lane)), count)
        at = consecutive(first, count)
        is_first = np.append(True, of_piece[1:] != of_piece[:-1])[: len(at)]  # the first piece of all is one
        start_ns = np.where(is_first, stretches.start_ns[of_piece], since_ns[at])
        # Where a piece ends, the next one of its stretch begins.
        end_ns = stretches.end_ns[of_piece]
        goes_on = np.flatnonzero(~is_first[1:])
        end_ns[goes_on] = start_ns[goes_on + 1]
        is_covered = is_there[of_piece] & (at > begins[of_piece])
        return Pieces(Stretches(stretches.gap[of_piece], start_ns, end_ns), np.where(is_covered, owner[at], -1))

    def _latest(self, which: Int64, moment_ns: Int64) -> Int64:
        """int64[n]; the last row of a lane that comes no later than a moment; where there is none, the row before the lane."""
        key = which * self._reach + np.searchsorted(self._moments, moment_ns, side="right")
        rows: Int64 = np.searchsorted(self._key, key, side="right") - 1
        return rows
