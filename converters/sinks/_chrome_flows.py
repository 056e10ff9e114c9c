"""Flows of a host trace: which of them a viewer can draw, under which id, on which row.

A flow is a start ("s"), any number of steps ("t") and ends ("f") that have id, category and name in common. Each stands for the
innermost slice of its thread at its time. Perfetto reads them in order of time: an end before every start is an error, and so
is a start under an id that has been started already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.errors import Finding
from rblnpb.lanes import one_line

from ..timeline import Bool, HostTrace, Int32, Int64
from ._changes import changes
from ._host_slices import HostSlices, flow_rows, innermost, threads

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


def draw_flows(host: HostTrace, slices: HostSlices) -> DrawnFlows:
    """Decide about every flow of the trace."""
    events = host.events
    rows = flow_rows(host)
    inside = _touches_a_slice(host, rows, slices)
    drawable = rows[inside]
    keys = (events.flow_id[drawable], events.category[drawable], events.name[drawable])
    by_time = np.lexsort((drawable, events.start_ns[drawable], *keys))
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


def move_flows(host: HostTrace, row: Int32, slices: HostSlices) -> Int32:
    """Rows of all events, with each flow event on the row of the slice that it stands for.

    Args:
        host: The trace.
        row: int32[n]; the row of every event; slices that left the row of their thread have theirs already.
        slices: The slices.

    Returns:
        int32[n].
    """
    row = row.copy()
    flows = flow_rows(host)
    thread = threads(host)[host.events.track[flows]]
    split = _split_threads(slices.thread, row[slices.rows], thread, row[flows])
    if len(split):
        own = slices.take(np.isin(slices.thread, split))
        points = flows[np.isin(thread, split)]
        place = innermost(host, own, row[own.rows], points)
        row[points[place >= 0]] = row[own.rows[place[place >= 0]]]
    return row


def _split_threads(thread: Int32, row: Int32, flow_thread: Int32, flow_row: Int32) -> Int64:
    """Threads whose slices and flows stand on more than one row."""
    width = np.int64(max(row.max(initial=0), flow_row.max(initial=0)) + 1)
    pairs = np.unique(np.concatenate((thread, flow_thread)) * width + np.concatenate((row, flow_row)))
    numbers, row_count = np.unique(pairs // width, return_counts=True)
    split: Int64 = numbers[(row_count > 1) & np.isin(numbers, flow_thread)]
    return split


def _touches_a_slice(host: HostTrace, rows: Int64, slices: HostSlices) -> Bool:
    """Whether each event stands within a slice of its thread, both ends included, that is begun when the event comes.

    Where slices are told by their begin and their end apart ("B", "E"), it is taken to.
    """
    events = host.events
    begun_apart = np.unique(events.track[events.phase == ord("B")])
    touches = np.isin(events.track[rows], begun_apart)
    if not len(slices.rows) or not len(rows):
        return touches
    count = len(slices.rows)
    times = np.concatenate((slices.start_ns, slices.end_ns, events.start_ns[rows]))
    line = one_line(np.concatenate((slices.thread, slices.thread, threads(host)[events.track[rows]])), times)
    opens, closes, points = np.split(line, [count, 2 * count])
    is_empty = opens == closes
    begun, latest = _reach(opens[~is_empty], closes[~is_empty])
    before = np.searchsorted(begun, points, side="right") - 1
    touches |= (before >= 0) & (latest[before] >= points)
    # Perfetto takes what is of one time as the file has it, but slices with a length first.
    empty, first_row = np.unique(opens[is_empty], return_index=True)
    at = np.searchsorted(empty, points)
    at[at == len(empty)] = -1
    return touches | (empty[at] == points) & (slices.rows[is_empty][first_row[at]] < rows) if len(empty) else touches


def _reach(opens: Int64, closes: Int64) -> tuple[Int64, Int64]:
    """Beginnings in order, and how far the slices that have begun by then reach."""
    if not len(opens):
        return np.zeros(1, np.int64), np.full(1, -1, np.int64)
    order = np.argsort(opens, kind="stable")
    return opens[order], np.maximum.accumulate(closes[order])
