"""Stacks: who called whom, down to a frame, each distinct stack once.

Rows of a forest become stacks level by level, so that no step looks at one call at a time: two rows have the same stack if their
frames are the same and their callers have the same stack.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...nesting import nearest
from ...timeline import Bool, Int64
from ..torch_table.call_tree import levels

__all__ = ["Stacks", "add_leaves", "distinct_stacks"]


@dataclass(frozen=True, eq=False)
class Stacks:
    """Distinct stacks, callers before what they call; columns of m stacks, but for the last.

    Attributes:
        parent: int64[m]; row of the stack without its innermost frame; -1 = it has one frame.
        frame: int64[m]; its innermost frame.
        of_row: int64[n]; for each row that was stacked: its stack.
    """

    parent: Int64
    frame: Int64
    of_row: Int64

    def __len__(self) -> int:
        return len(self.parent)


def distinct_stacks(parent: Int64, frame: Int64, is_kept: Bool) -> Stacks:
    """The stacks of a forest.

    Args:
        parent: int64[n]; row of the caller, -1 = none.
        frame: int64[n]; not negative.
        is_kept: bool[n]; what is not kept is no part of a stack: its stack is that of its caller. Rows without a caller are kept.

    Returns:
        Stacks by depth, and among those of one depth by caller and frame.

    >>> distinct_stacks(np.array([-1, 0, 0, 1, 2]), np.array([7, 3, 3, 5, 5]), np.ones(5, bool)).of_row
    array([0, 1, 1, 2, 2])
    """
    innermost = nearest(parent, is_kept)
    kept = np.flatnonzero(is_kept)
    place = np.full(len(parent), -1, np.int64)
    place[kept] = np.arange(len(kept))
    above = np.append(place[innermost], -1)[parent[kept]]
    frame_count = int(frame.max(initial=0)) + 1
    # One place more, for what has no caller.
    of_kept = np.full(len(kept) + 1, -1, np.int64)
    found: list[Int64] = []
    count = 0
    for level in (np.flatnonzero(above < 0), *reversed(levels(above))):
        keys = (of_kept[above[level]] + 1) * frame_count + frame[kept[level]]
        distinct, of_level = np.unique(keys, return_inverse=True)
        of_kept[level] = count + of_level
        found.append(distinct)
        count += len(distinct)
    keys = np.concatenate(found)
    return Stacks(keys // frame_count - 1, keys % frame_count, of_kept[place[innermost]])


def add_leaves(stacks: Stacks, base: Int64, frame: Int64) -> Stacks:
    """More stacks: each is a base, or nothing where that is -1, with one frame more.

    Args:
        stacks: What there is.
        base: int64[k]; rows of `stacks`.
        frame: int64[k]; not negative.

    Returns:
        The stacks that were there, then the new ones by base and frame; `of_row` is int64[k], and speaks of the leaves.

    >>> one = distinct_stacks(np.array([-1]), np.array([0]), np.ones(1, bool))
    >>> add_leaves(one, np.array([0, -1, 0]), np.array([1, 1, 1])).of_row
    array([2, 1, 2])
    """
    frame_count = int(frame.max(initial=0)) + 1
    keys, of_row = np.unique((base + 1) * frame_count + frame, return_inverse=True)
    parent = np.concatenate((stacks.parent, keys // frame_count - 1))
    return Stacks(parent, np.concatenate((stacks.frame, keys % frame_count)), len(stacks) + of_row)
