"""Stretches in which a device, or an engine, had no work: between which slices they lie, and what was known when they began."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.row_order import order_by

from ...timeline import Bool, Int64, Timeline
from ..grouping import numbered
from ..intervals import busy_stretches
from .occupancy import Calls, OrderedWork

__all__ = ["DependencyEnds", "Gaps", "Predecessors", "gaps_between", "inside_calls"]


@dataclass(frozen=True, eq=False)
class Gaps:
    """Gaps of lanes, in order of lane and time; all columns have the same length k. `after` and `before` are rows of `OrderedWork`.

    Attributes:
        lane: int64[k]; row of `OrderedWork.devices`, or of `Timeline.tracks`.
        start_ns, end_ns: int64[k]; trace clock.
        after: int64[k]; the slice that ended last.
        before: int64[k]; the slice that ends the gap.
    """

    lane: Int64
    start_ns: Int64
    end_ns: Int64
    after: Int64
    before: Int64

    def __len__(self) -> int:
        return len(self.lane)

    def take(self, rows: Int64 | slice) -> Gaps:
        """These gaps, in that order."""
        return Gaps(self.lane[rows], self.start_ns[rows], self.end_ns[rows], self.after[rows], self.before[rows])


def gaps_between(work: OrderedWork, lane: Int64) -> Gaps:
    """The gaps of lanes: from the first to the last slice of a lane, whatever no slice of it covers.

    Args:
        work: The slices.
        lane: int64[n]; of each.
    """
    order = order_by(lane)
    busy = busy_stretches(lane[order], work.start_ns[order], work.end_ns[order])
    # A gap lies before every stretch but the first of its lane.
    at = np.flatnonzero(busy.lane[1:] == busy.lane[:-1]) + 1
    return Gaps(busy.lane[at], busy.end_ns[at - 1], busy.start_ns[at], order[busy.last[at - 1]], order[busy.first[at]])


def inside_calls(gaps: Gaps, work: OrderedWork, calls: Calls) -> Bool:
    """bool[k]; which gaps lie between the first and the last slice of some call on their device.

    Every call begins and ends with a slice, and no slice lies in a gap of a device: so a gap lies in a call as a whole, or not at
    all.

    Args:
        gaps: Gaps of devices.
        work: The work that they lie in.
        calls: Its calls.
    """
    inside = np.zeros(len(gaps), np.bool_)
    device = work.device[gaps.before]
    times = calls.times
    for one in numbered(device)[0].tolist():
        own = np.flatnonzero(calls.device == one)
        if not len(own):
            continue
        own = own[order_by(times.first_ns[own])]
        reach = np.maximum.accumulate(times.last_ns[own])
        mine = np.flatnonzero(device == one)
        place = np.searchsorted(times.first_ns[own], gaps.start_ns[mine], side="right") - 1
        inside[mine] = (place >= 0) & (reach[place] > gaps.start_ns[mine])
    return inside


@dataclass(frozen=True, eq=False)
class DependencyEnds:
    """What the slice that ends a gap had to wait for, as far as that is recorded; k rows.

    Attributes:
        predecessor: int64[k]; row of `Timeline.slices`, the one that ended last; -1 = none is recorded.
        end_ns: int64[k]; when it ended, trace clock; the start of the gap where there is none.
        is_same_call: bool[k]; whether it is of the call that the slice itself is of.
    """

    predecessor: Int64
    end_ns: Int64
    is_same_call: Bool


class Predecessors:
    """The recorded predecessor of each slice that ended last; of several the last one recorded."""

    def __init__(self, timeline: Timeline) -> None:
        """Sort out what is recorded."""
        slices, edges = timeline.slices, timeline.dependencies
        self._slices = slices
        self._of_slice = np.full(len(slices), -1, np.int64)
        ended_ns = slices.start_ns[edges.predecessor] + slices.duration_ns[edges.predecessor]
        order = order_by(edges.successor, ended_ns)
        after = edges.successor[order]
        is_last = np.append(after[1:] != after[:-1], True)[: len(after)]  # the last of all is one
        self._of_slice[after[is_last]] = edges.predecessor[order[is_last]]

    def ends(self, work: OrderedWork, gaps: Gaps) -> DependencyEnds:
        """What the slices that end some gaps had to wait for."""
        slices, names = self._slices, self._slices.names
        next_row = work.row[gaps.before]
        predecessor = self._of_slice[next_row]
        is_known = predecessor >= 0
        end_ns = np.where(is_known, slices.start_ns[predecessor] + slices.duration_ns[predecessor], gaps.start_ns)
        is_same = is_known & (slices.launch[predecessor] == slices.launch[next_row])
        for column in (names.instance, names.sequence):
            is_same &= column[predecessor] == column[next_row]
        return DependencyEnds(predecessor, end_ns, is_same)
