"""Who called whom, told from times alone: torch's nesting of one thread's events, on whole columns.

Rows are events in torch's order (start ascending, then end descending); an event's caller always stands before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rblnpb.row_order import order_by

from ...timeline import Bool, Int64

__all__ = ["CallTree", "levels", "merge_same_name", "sum_below"]

Number = TypeVar("Number", np.int64, np.float64)


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
    by_depth = order_by(depth)
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
