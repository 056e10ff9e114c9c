"""Which slice lies in which, told from times alone, on whole columns; and which end belongs to which begin.

Merge asks it for the op around a launch, analyses for the callers of an op and for what was open at a moment.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.row_order import order_by

from .timeline import Bool, Int64

__all__ = ["enclosing", "latest", "nearest", "nest", "partners"]

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
    by_lane = order_by(lane)
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


def nearest(parent: Int64, is_wanted: Bool) -> Int64:
    """Of every row and those around it, the innermost that is wanted.

    Args:
        parent: int64[n]; row of the caller, -1 = none.
        is_wanted: bool[n].

    Returns:
        int64[n]; the row itself where it is wanted, else a row around it; -1 where none is.

    >>> nearest(np.array([-1, 0, 1, -1]), np.array([True, False, False, False]))
    array([ 0,  0,  0, -1])
    """
    found = np.where(is_wanted, np.arange(len(parent), dtype=np.int64), parent)
    climbing = np.flatnonzero(~is_wanted & (parent >= 0))
    while len(climbing):
        # As in `nest`: each step is as long as all steps before it together.
        climbing = climbing[~is_wanted[found[climbing]]]
        found[climbing] = found[found[climbing]]
        climbing = climbing[found[climbing] >= 0]
    return found


def latest(group: Int64, time_ns: Int64, of_group: Int64, until_ns: Int64) -> Int64:
    """The last row of a group that comes no later than a moment.

    Args:
        group: int64[n]; rows are told apart by it.
        time_ns: int64[n]; any clock.
        of_group: int64[k]; in which group to look.
        until_ns: int64[k]; of the same clock; the moment itself counts.

    Returns:
        int64[k]; of rows of one time it is the last; -1 where there is none.

    >>> latest(np.array([1, 1, 2]), np.array([5, 9, 0]), np.array([1, 1, 2]), np.array([4, 9, 7]))
    array([-1,  1,  2])
    """
    count = len(group)
    groups = np.concatenate((group, of_group))
    times = np.concatenate((time_ns, until_ns))
    # Rows of one time keep their order, so that those which are asked about come last.
    order = order_by(groups, times)
    place = np.maximum.accumulate(np.where(order < count, np.arange(len(order)), -1)) if len(order) else order
    is_asked = order >= count
    found = np.concatenate((order, np.array([-1], np.int64)))[place[is_asked]]
    asked = order[is_asked] - count
    result = np.full(len(of_group), -1, np.int64)
    is_it = (found >= 0) & (np.append(group, 0)[found] == of_group[asked])
    result[asked[is_it]] = found[is_it]
    return result


def enclosing(  # a table of slices, and one of stretches
    lane: Int64, start_ns: Int64, end_ns: Int64, parent: Int64, of_lane: Int64, from_ns: Int64, until_ns: Int64
) -> Int64:
    """The innermost slice that contains a stretch of time.

    Args:
        lane, start_ns, end_ns: int64[n]; the slices, as `nest` takes them.
        parent: int64[n]; what `nest` says of them.
        of_lane: int64[k]; the lane of each stretch.
        from_ns, until_ns: int64[k]; its begin and end; for a moment, one is the other and one more.

    Returns:
        int64[k]; rows of slices, of equal slices the last; -1 where none contains it.
    """
    at = latest(lane, start_ns, of_lane, from_ns)
    climbing = np.flatnonzero(at >= 0)
    while len(climbing):
        # Where the last slice that has begun does not reach far enough, only those that contain that slice can.
        climbing = climbing[end_ns[at[climbing]] < until_ns[climbing]]
        at[climbing] = parent[at[climbing]]
        climbing = climbing[at[climbing] >= 0]
    return at


def partners(is_begin: Bool, time_ns: Int64, *groups: npt.NDArray[np.integer[Any]]) -> Int64:
    """Of begins and ends that are events of their own, which belong together: an end ends what began last and is still open.

    Seen as steps up and down, a begin and its end are the two sides of one step: on each height they take turns, wherever the
    height is that the events of a group begin at.

    Args:
        is_begin: bool[n]; the others are ends.
        time_ns: int64[n]; any clock; events of one time count in the order of their rows.
        *groups: Integers, n each, at least one column; what has the same values in all of them is paired.

    Returns:
        int64[n]; row of the end of each begin, and of the begin of each end; -1 where there is none.

    >>> partners(np.array([False, True, True, False, True]), np.arange(5), np.zeros(5, np.int64))
    array([-1, -1,  3,  2, -1])
    """
    order = order_by(*groups, time_ns)
    is_up = is_begin[order]
    is_new = np.zeros(len(order), np.bool_)
    for column in groups:
        ordered = column[order]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    group = np.cumsum(is_new)
    height = np.cumsum(np.where(is_up, 1, -1)) + ~is_up
    by_height = order_by(group, height)
    is_up, group, height, order = is_up[by_height], group[by_height], height[by_height], order[by_height]
    is_pair = is_up[:-1] & ~is_up[1:] & (height[1:] == height[:-1]) & (group[1:] == group[:-1])
    begin, end = order[:-1][is_pair], order[1:][is_pair]
    partner = np.full(len(order), -1, np.int64)
    partner[begin], partner[end] = end, begin
    return partner
