"""Begins and ends that stand in events of their own, paired as a stack pairs them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...nesting import partners
from ...timeline import Bool, Int64

__all__ = ["Pairs", "pair_events"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of rows, and what found no partner.

    Attributes:
        begin, end: int64[k]; rows of the pairs, begins ascending.
        unended, unbegun: int64[m]; rows of begins without an end, and of ends without a begin; ascending.
    """

    begin: Int64
    end: Int64
    unended: Int64
    unbegun: Int64


def pair_events(lane: Int64, time_ns: Int64, is_begin: Bool) -> Pairs:
    """Pair each end with the last begin of its lane that is still open.

    Args:
        lane: int64[n]; not negative.
        time_ns: int64[n]; any clock; of one time the order of the rows counts.
        is_begin: bool[n]; the others are ends.

    >>> found = pair_events(np.zeros(5, np.int64), np.arange(5), np.array([True, True, False, False, False]))
    >>> found.begin.tolist(), found.end.tolist(), found.unended.tolist(), found.unbegun.tolist()
    ([0, 1], [3, 2], [], [4])
    """
    partner = partners(is_begin, time_ns, lane)
    is_paired = partner >= 0
    begin = np.flatnonzero(is_begin & is_paired)
    return Pairs(begin, partner[begin], np.flatnonzero(is_begin & ~is_paired), np.flatnonzero(~is_begin & ~is_paired))
