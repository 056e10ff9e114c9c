"""In which order a host's events are written into a Perfetto trace, where that is not the order of the document.

Perfetto takes packets of one time as they come. So order matters only among slices that begin together on one row, or end together:
these are found, and nothing is held of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import numpy as np

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT
from rblnpb.row_order import order_by

from ..timeline import Bool, HostTrace, Int32, Int64
from ._host_slices import end_times, threads

__all__ = ["closing_order", "closing_rows", "slices_to_join", "writing_order"]

_WRITTEN_ROWS: Final = 8192


def writing_order(host: HostTrace, track: Int32) -> tuple[Int64 | None, Int64 | None]:
    """When each event is written: as the file has it, but slices that begin together on one row the outer one first.

    Args:
        host: The trace.
        track: int32[n]; the row of a viewer that each event stands on.

    Returns:
        As `HostSide.turn` and `HostSide.rank`.
    """
    rows = _together(host, track, lambda rows: host.events.start_ns[rows])
    start_ns, end_ns = host.events.start_ns[rows], end_times(host, rows)
    order = order_by(track[rows], start_ns)
    rows, start_ns, end_ns = rows[order], start_ns[order], end_ns[order]
    is_same = (start_ns[1:] == start_ns[:-1]) & (track[rows[1:]] == track[rows[:-1]])
    is_wrong = is_same & (end_ns[1:] > end_ns[:-1])
    if not is_wrong.any():
        return None, None
    group = np.cumsum(np.concatenate(([0], ~is_same)))
    wrong = np.isin(group, group[1:][is_wrong])
    last = np.zeros(int(group[-1]) + 1, np.int64)
    np.maximum.at(last, group[wrong], rows[wrong])
    turn = np.arange(len(track), dtype=np.int64)
    turn[rows[wrong]] = last[group[wrong]]
    # The event whose turn it is may be an inner one.
    length = np.zeros(len(track), np.int64)
    length[rows[wrong]] = end_ns[wrong] - start_ns[wrong]
    rank = np.empty(len(track), np.int64)
    rank[order_by(turn, -length)] = np.arange(len(track))
    return turn, rank


def closing_order(host: HostTrace, track: Int32, rank: Int64 | None) -> Int32 | None:
    """In which order complete slices end: of those that end together on one row the inner ones, which began later, come later here.

    Args:
        host: The trace.
        track: As of `writing_order`.
        rank: As it gives it.

    Returns:
        As `HostSide.closing`.
    """
    events = host.events
    rows = _together(host, track, partial(end_times, host))
    start_ns = events.start_ns[rows]
    is_in_order = bool((start_ns[1:] >= start_ns[:-1]).all())
    if rank is None and is_in_order:
        return None
    order = order_by(start_ns, rows if rank is None else rank[rows])
    closing = np.concatenate([some.astype(np.int32) for some in _long(host)])
    closing[np.searchsorted(closing, rows)] = rows[order]
    return closing


def closing_rows(host: HostTrace, closing: Int32 | None) -> Iterator[Int64]:
    """Rows of complete slices in the order in which they end, some at a time.

    Args:
        host: The trace.
        closing: As of `HostSide`.
    """
    if closing is not None:
        for last in range(len(closing), 0, -_WRITTEN_ROWS):
            yield closing[max(last - _WRITTEN_ROWS, 0) : last][::-1].astype(np.int64)
        return
    for first in reversed(range(0, len(host.events), _WRITTEN_ROWS)):
        yield _long_rows(host, slice(first, first + _WRITTEN_ROWS))[::-1]


def slices_to_join(host: HostTrace, points: Int64, is_asked: Bool, *, all_rows: bool) -> Int64:
    """Complete slices that some events may stand in, for the others need not be looked at.

    Args:
        host: The trace.
        points: int64[k]; rows of the events.
        is_asked: bool[n]; which slices are wanted besides.
        all_rows: Whether all are wanted.

    Returns:
        Their rows, ascending.
    """
    events = host.events
    of_track = threads(host)
    thread = of_track[events.track[points]] if len(points) else np.empty(0, np.int32)
    times = {number: np.sort(events.start_ns[points[thread == number]]) for number in np.unique(thread).tolist()}
    found = [np.empty(0, np.int64)]
    for block in row_blocks(len(events)):
        rows = np.flatnonzero((events.phase[block] == ord("X")) & (events.start_ns[block] != ABSENT)) + block.start
        is_wanted = np.ones(len(rows), np.bool_) if all_rows else is_asked[rows]
        own = of_track[events.track[rows]] if len(rows) else np.empty(0, np.int32)
        start_ns, end_ns = events.start_ns[rows], end_times(host, rows)
        for number in np.flatnonzero(np.bincount(own)).tolist() if times and not all_rows else ():
            if number in times:
                on = np.flatnonzero(own == number)
                around = np.searchsorted(times[number], end_ns[on], side="right") > np.searchsorted(times[number], start_ns[on])
                is_wanted[on] |= around
        found.append(rows[is_wanted])
    return np.concatenate(found)


def _long_rows(host: HostTrace, block: slice) -> Int64:
    """Rows of a block that are complete slices and not empty."""
    events = host.events
    is_long = (events.phase[block] == ord("X")) & (events.start_ns[block] != ABSENT) & (events.duration_ns[block] > 0)
    rows: Int64 = np.flatnonzero(is_long) + block.start
    return rows


def _long(host: HostTrace) -> Iterator[Int64]:
    """Rows of complete slices that are not empty, some at a time."""
    for block in row_blocks(len(host.events)):
        yield _long_rows(host, block)


def _together(host: HostTrace, track: Int32, times: Callable[[Int64], Int64]) -> Int64:
    """Rows, ascending, of slices that are not empty, each of which may have its row of a viewer and a time in common with another.

    Args:
        host: The trace.
        track: int32[n]; as of `writing_order`.
        times: Gives that time of some rows.
    """
    keys = np.empty(len(track), np.int64)
    count = 0
    for rows in _long(host):
        keys[count : count + len(rows)] = _keys(times(rows), track[rows])
        count += len(rows)
    keys = keys[:count]
    keys.sort()
    repeated = np.unique(keys[1:][keys[1:] == keys[:-1]])
    if not len(repeated):
        return np.empty(0, np.int64)
    del keys
    return np.concatenate([rows[np.isin(_keys(times(rows), track[rows]), repeated)] for rows in _long(host)])


def _keys(time_ns: Int64, track: Int32) -> Int64:
    """int64[k]; equal where time and track are, and hardly elsewhere."""
    return time_ns * _ODD + track


_ODD: Final = np.int64(0x2545_F491_4F6C_DD1D)
"""Times that differ still differ when they are multiplied by an odd number, modulo 2^64, and then by much."""
