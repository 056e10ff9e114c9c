"""Which record of one table is which of another, once it is known about where in time each is to be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.row_order import order_by

from ..timeline import Bool, Int64
from .group_rows import turns

__all__ = ["Records", "all_pairs", "are_alike", "nearest_pairs"]

_ROUNDS: Final = 8
_LENGTH_SLACK_NS: Final = 1_000
"""Durations of one record may differ by so much, for one of the files may tell whole microseconds, and by a sixty-fourth."""


@dataclass(frozen=True, eq=False)
class Records:
    """What is compared of records; all columns have the same length n.

    Attributes:
        key: int64[n]; records of one key are called the same in both tables.
        start, duration: int64[n]; ns, or ticks of nearly that length.
    """

    key: Int64
    start: Int64
    duration: Int64

    def __len__(self) -> int:
        return len(self.key)

    def take(self, rows: npt.NDArray[np.integer] | slice) -> Records:
        """These records, in that order."""
        return Records(self.key[rows], self.start[rows], self.duration[rows])


def are_alike(mine: Int64, theirs: Int64) -> Bool:
    """bool[n]; whether durations may be those of one record."""
    alike: Bool = np.abs(mine - theirs) <= _LENGTH_SLACK_NS + (mine >> 6)
    return alike


def nearest_pairs(own: Records, expected: Int64, other: Records, tolerance: int) -> tuple[Int64, Int64]:
    """Pair records of one key that are nearest to each other, each with one.

    Records of one key that start at one moment are told apart by their order of length.

    Args:
        own: n records.
        expected: int64[n]; where each is expected in the clock of the others.
        other: m records.
        tolerance: How far from there its partner may start.

    Returns:
        int64[k], int64[k]; rows of both tables.
    """
    left, right = np.arange(len(own)), np.arange(len(other))
    pairs: list[tuple[Int64, Int64]] = []
    there = Records(own.key, expected, own.duration)
    keys = _numbered_keys(there, other)
    for _ in range(_ROUNDS):
        mine, theirs = _one_turn(replace(there, key=keys[0]).take(left), replace(other, key=keys[1]).take(right), tolerance)
        pairs.append((left[mine], right[theirs]))
        left, right = np.delete(left, mine), np.delete(right, theirs)
        if not len(left) or not len(right) or (not len(mine) and len(pairs) > 1):
            break
        # Those that are left had no partner of their rank: the name alone counts for them.
        keys = own.key, other.key
    return all_pairs(pairs)


def all_pairs(pairs: Sequence[tuple[Int64, Int64]]) -> tuple[Int64, Int64]:
    """Pairs that were found part by part, one part behind the other: int64[k], int64[k]."""
    nothing = np.empty(0, np.int64)
    return np.concatenate([nothing, *(mine for mine, _ in pairs)]), np.concatenate([nothing, *(theirs for _, theirs in pairs)])


def _numbered_keys(own: Records, other: Records) -> tuple[Int64, Int64]:
    """Keys that tell apart records of one name and one start, by their rank among these."""
    # The shortest first.
    ranks = [turns(one.key, one.start, by=one.duration) for one in (own, other)]
    count = 1 + max(int(rank.max(initial=0)) for rank in ranks)
    if count == 1:
        return own.key, other.key
    return own.key * count + ranks[0], other.key * count + ranks[1]


def _one_turn(own: Records, other: Records, tolerance: int) -> tuple[Int64, Int64]:
    """Each record with that of its key before or after it which is more like it, if no other record is nearer to that.

    Likeness is in start and in length: neighbours of one name differ by their lengths more than by where they are.
    """
    count = len(own)
    keys, times = np.concatenate((own.key, other.key)), np.concatenate((own.start, other.start))
    order = order_by(keys, times)
    is_other = order >= count
    place = np.arange(len(order))
    before = np.maximum.accumulate(np.where(is_other, place, -1))
    after = np.minimum.accumulate(np.where(is_other, place, len(order))[::-1])[::-1]
    rows = order[~is_other]
    best = np.full(count, -1, np.int64)
    cost = np.full(count, np.iinfo(np.int64).max, np.int64)
    for neighbour in (before[~is_other], after[~is_other]):
        at = np.flatnonzero((neighbour >= 0) & (neighbour < len(order)))
        mine, theirs = rows[at], order[neighbour[at]] - count
        gap = np.abs(other.start[theirs] - own.start[mine])
        fits = (other.key[theirs] == own.key[mine]) & (gap <= tolerance) & are_alike(own.duration[mine], other.duration[theirs])
        mine, theirs, gap = mine[fits], theirs[fits], gap[fits]
        gap += np.abs(other.duration[theirs] - own.duration[mine])
        is_nearer = gap < cost[mine]
        best[mine[is_nearer]], cost[mine[is_nearer]] = theirs[is_nearer], gap[is_nearer]
    found = np.flatnonzero(best >= 0)
    found = found[order_by(best[found], cost[found])]
    is_first = np.ones(len(found), np.bool_)
    is_first[1:] = np.diff(best[found]) != 0
    found = found[is_first].astype(np.int64)
    return found, best[found]
