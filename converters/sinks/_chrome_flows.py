"""Flows of a host trace: which of them a viewer can draw, under which id, on which row.

A flow is a start ("s"), any number of steps ("t") and ends ("f") that have id, category and name in common. Each stands for the
innermost slice of its thread at its time. Perfetto reads them in order of time: an end before every start is an error, and so
is a start under an id that has been started already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT
from rblnpb.errors import Finding
from rblnpb.row_order import order_by

from ..timeline import Bool, HostTrace, Int32, Int64
from ._changes import changes
from ._host_slices import HostSlices, has_phase, innermost, threads

__all__ = ["DrawnFlows", "draw_flows", "move_flows"]

_START = ord("s")


@dataclass(frozen=True, eq=False)
class DrawnFlows:
    """What has to change for the flows of a host trace to be drawn.

    Attributes:
        left_out: int64[k]; rows of flow events that cannot be drawn, ascending.
        renamed: int64[m]; rows of flow events that need another id, since theirs was in use already; ascending.
        chain: int64[m]; those with the same number here get the same id; numbers from 0.
        findings: What that was, counted.
    """

    left_out: Int64
    renamed: Int64
    chain: Int64
    findings: tuple[Finding, ...]

    @property
    def chain_count(self) -> int:
        """How many new ids are needed."""
        return int(self.chain.max()) + 1 if len(self.chain) else 0


def draw_flows(host: HostTrace, rows: Int64, is_around: Bool) -> DrawnFlows:
    """Decide about every flow of the trace.

    Args:
        host: The trace.
        rows: int64[n]; its flow events, ascending.
        is_around: bool[n]; whether a slice is around each.
    """
    events = host.events
    # Where slices are told by their begin and their end apart, every flow is taken to be in one.
    begun_apart = np.unique(events.track[events.phase == ord("B")])
    inside = is_around | np.isin(events.track[rows], begun_apart)
    drawable = rows[inside]
    keys = (events.name[drawable], events.category[drawable], events.flow_id[drawable])
    by_time = order_by(*keys, events.start_ns[drawable])
    drawable = drawable[by_time]
    is_next = np.any([np.diff(key[by_time], prepend=-1) != 0 for key in keys], axis=0)
    starts = np.cumsum(events.phase[drawable] == _START)
    # How many starts of the same flow came until here: all of them, but those before the flow's first event.
    before = (starts - (events.phase[drawable] == _START))[is_next]
    turn = starts - before[np.cumsum(is_next) - 1]
    endless, again = turn == 0, turn > 1
    chain = np.unique(starts[again], return_inverse=True)[1].astype(np.int64)
    order = np.argsort(drawable[again])
    return DrawnFlows(
        left_out=np.sort(np.concatenate((rows[~inside], drawable[endless]))),
        renamed=drawable[again][order],
        chain=chain[order],
        findings=changes(
            {
                "flows-outside-slices": int((~inside).sum()),
                "flows-without-start": int(endless.sum()),
                "flow-ids-repeated": len(np.unique(chain)),
            }
        ),
    )


def move_flows(host: HostTrace, row: Int32, flows: Int64, around: HostSlices) -> Int32:
    """Rows of all events, with each flow event on the row of the slice that it stands for.

    Args:
        host: The trace.
        row: int32[n]; the row of every event; slices that left the row of their thread have theirs already.
        flows: int64[k]; the flow events.
        around: The slices around any of them.

    Returns:
        int32[n].
    """
    of_track = threads(host)
    thread = of_track[host.events.track[flows]]
    split = _split_threads(of_track, host, row) if len(flows) else np.empty(0, np.int64)
    split = split[np.isin(split, thread)]
    if not len(split):
        return row
    row = row.copy()
    own = around.take(np.isin(around.thread, split))
    points = flows[np.isin(thread, split)]
    place = innermost(host, own, row[own.rows], points)
    row[points[place >= 0]] = row[own.rows[place[place >= 0]]]
    return row


def _split_threads(of_track: Int32, host: HostTrace, row: Int32) -> Int64:
    """Threads whose slices and flows stand on more than one row."""
    events = host.events
    if row is events.track and (of_track == np.arange(len(of_track))).all():
        return np.empty(0, np.int64)
    width, pairs = int(row.max(initial=0)) + 1, np.empty(0, np.int64)
    for rows in row_blocks(len(row)):
        own = has_phase(events.phase[rows], "Xstf") & (events.start_ns[rows] != ABSENT)
        pairs = np.union1d(pairs, of_track[events.track[rows][own]] * np.int64(width) + row[rows][own])
    numbers, row_count = np.unique(pairs // width, return_counts=True)
    split: Int64 = numbers[row_count > 1]
    return split
