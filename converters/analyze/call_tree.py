"""Who called whom, told from times alone: torch's nesting of one thread's events, on whole columns.

Rows are events in torch's order (start ascending, then end descending); an event's caller always stands before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from ..timeline import Bool, Int64

__all__ = ["CallTree", "levels", "merge_same_name", "nest", "sum_below"]

Number = TypeVar("Number", np.int64, np.float64)

_ABOVE_ALL: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class CallTree:
    """Callers after torch has taken calls of the same name for one; all columns have the same length n.

    Attributes:
        is_kept: bool[n]; False where the event counts as part of its caller.
        parent: int64[n]; row of the caller, a kept row; -1 = called by nothing that was recorded.
        carrier: int64[n]; row whose device work counts for this one: its own, or of the innermost event that was merged
            into it. Torch overwrites here, so what lay on the outer ones is lost on purpose.
    """

    is_kept: Bool
    parent: Int64
    carrier: Int64


def nest(lane: Int64, start_ns: Int64, end_ns: Int64) -> Int64:
    """The caller of every event: the innermost open event of its lane that contains it.

    An event that crosses an open one closes it for good, and an empty event at the end of another lies outside of it;
    so says torch's stack. Its answer is the nearest row before that reaches far enough, because whatever lies between
    an event and that row ended too early for both. That makes it a climb along pointers in which all rows take their
    steps at once, each step as long as all steps before it together.

    Args:
        lane: int64[n]; events nest only within one lane.
        start_ns: int64[n]; any clock; rows in torch's order within each lane.
        end_ns: int64[n]; of the same clock.

    Returns:
        int64[n]; row of the caller, -1 where there is none.
    """
    by_lane = np.argsort(lane, kind="stable").astype(np.int64)
    # Row 0 is one that contains everything: what arrives there has no caller.
    end = np.concatenate((np.array([_ABOVE_ALL], np.int64), end_ns[by_lane]))
    needed = np.concatenate((end[:1], np.maximum(end[1:], start_ns[by_lane] + 1)))
    above = np.arange(-1, len(lane), dtype=np.int64)
    above[0] = 0
    lane_begins = np.flatnonzero(np.diff(lane[by_lane], prepend=-2)) + 1
    above[lane_begins] = 0
    climbing = np.arange(1, len(above), dtype=np.int64)
    while len(climbing):
        climbing = climbing[end[above[climbing]] < needed[climbing]]
        above[climbing] = above[above[climbing]]
    parent = np.empty(len(lane), np.int64)
    parent[by_lane] = np.concatenate((np.array([-1], np.int64), by_lane))[above[1:]]
    return parent


def merge_same_name(parent: Int64, name: Int64) -> CallTree:
    """Takes an event and its only call for one event where both have one name, along chains of any length.

    Args:
        parent: int64[n]; row of the caller, -1 = none; callers stand before their calls.
        name: int64[n]; equal numbers are equal names.

    Returns:
        The tree of what is left.
    """
    rows = np.arange(len(parent), dtype=np.int64)
    called = np.flatnonzero(parent >= 0)
    caller = parent[called]
    calls = np.bincount(caller, minlength=len(parent))
    merged = called[(name[called] == name[caller]) & (calls[caller] == 1)]
    into = rows.copy()
    into[merged] = parent[merged]
    passes_on = np.zeros(len(parent), np.bool_)
    passes_on[parent[merged]] = True
    while len(merged):
        further = into[into[merged]]
        if np.array_equal(further, into[merged]):
            break
        into[merged] = further
    carrier = rows.copy()
    innermost = merged[~passes_on[merged]]
    carrier[into[innermost]] = innermost
    is_kept = np.ones(len(parent), np.bool_)
    is_kept[merged] = False
    new_parent = parent.copy()
    new_parent[called] = into[caller]
    return CallTree(is_kept, new_parent, carrier)


def levels(parent: Int64) -> tuple[Int64, ...]:
    """Rows that have a caller, by the number of events around them, the deepest first, in row order within a level."""
    depth = (parent >= 0).astype(np.int64)
    above = parent.copy()
    inside = np.flatnonzero(above >= 0)
    while len(inside):
        # Both columns always speak of the same number of steps upwards, which doubles here.
        depth[inside] += depth[above[inside]]
        above[inside] = above[above[inside]]
        inside = inside[above[inside] >= 0]
    by_depth = np.argsort(depth, kind="stable").astype(np.int64)
    bounds = np.searchsorted(depth[by_depth], np.arange(1, depth.max(initial=0) + 1))
    return tuple(np.split(by_depth, bounds)[:0:-1])


def sum_below(parent: Int64, deepest_first: tuple[Int64, ...], own: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """What all events below each event have together.

    Children are added in row order to a sum that starts at zero, each with its own value first and the sum below it
    second. Torch adds in this order, so float sums have torch's very digits.

    Args:
        parent: int64[n]; row of the caller, -1 = none; callers stand before their calls.
        deepest_first: `levels(parent)`.
        own: Numbers[n]; each event's own value.

    Returns:
        Numbers[n]; the own value of an event is not in its own sum.
    """
    below = np.zeros_like(own)
    for level in deepest_first:
        np.add.at(below, parent[level], own[level] + below[level])
    return below
