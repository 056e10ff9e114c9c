"""Begins and ends that stand in events of their own, paired as a stack pairs them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.row_order import order_by

from ...timeline import Bool, Int64

__all__ = ["Pairs", "pair_events"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of rows, and what found no partner.

    Attributes:
        begin, end: int64[k]; rows of the pairs, in order of lane and depth.
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
    order = order_by(lane, time_ns)
    lane, begins = lane[order], is_begin[order]
    depth = np.cumsum(np.where(begins, 1, -1)) if len(order) else np.empty(0, np.int64)
    is_first = np.diff(lane, prepend=-1) != 0
    number = np.cumsum(is_first) - 1
    before = np.append(0, depth)[np.flatnonzero(is_first)][number] if len(order) else depth
    # In a range of its own each lane lies below all lanes before it, so that one running minimum serves all.
    depth = depth - before - number * (2 * len(order) + 2)
    floor = np.minimum.accumulate(np.minimum(depth, -number * (2 * len(order) + 2))) if len(order) else depth
    # An end without a begin reaches a depth where its lane never was.
    floor_before = np.where(is_first, -number * (2 * len(order) + 2), np.append(0, floor)[:-1])
    is_unbegun = ~begins & (depth < floor_before)
    level = depth - floor + ~begins
    rows = np.flatnonzero(~is_unbegun)
    rows = rows[order_by(lane[rows], level[rows])]
    # In one level of one lane begins and ends take turns.
    follows = (lane[rows][1:] == lane[rows][:-1]) & (level[rows][1:] == level[rows][:-1])
    is_pair = follows & begins[rows][:-1] & ~begins[rows][1:]
    begin, end = rows[:-1][is_pair], rows[1:][is_pair]
    is_unended = begins.copy()
    is_unended[begin] = False
    return Pairs(order[begin], order[end], np.sort(order[is_unended]), np.sort(order[is_unbegun]))
