"""Which slice lies in which, told from times alone, on whole columns.

Merge asks it for the op around a launch, analyses for the caller of an op.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .timeline import Int64

__all__ = ["nest"]

_ABOVE_ALL: Final = np.iinfo(np.int64).max


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
