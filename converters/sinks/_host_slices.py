"""The slices of a host trace, and which of them is the innermost one open at a moment: what a flow event stands for.

A flow event stands for the innermost slice of its thread at its time, on whatever row of a viewer that slice is.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT
from rblnpb.lanes import one_line
from rblnpb.row_order import order_by

from ..nesting import nest
from ..timeline import Bool, HostTrace, Int32, Int64, UInt8

__all__ = [
    "HostSlices",
    "complete_slices",
    "end_times",
    "flow_rows",
    "following",
    "has_phase",
    "innermost",
    "slices_around",
    "threads",
]


@dataclass(frozen=True, eq=False)
class HostSlices:
    """Slices of a host trace as they will be drawn; s of them.

    Attributes:
        rows: int64[s]; rows of `HostTrace.events`, where each begins.
        track: int32[s]; rows of `HostTrace.tracks`.
        thread: int32[s]; likewise, one for each thread; see `threads`.
        start_ns, end_ns: int64[s]; trace clock; the end is not before the start.
    """

    rows: Int64
    track: Int32
    thread: Int32
    start_ns: Int64
    end_ns: Int64

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, places: npt.NDArray[np.integer[Any]] | Bool) -> HostSlices:
        """Some of the slices."""
        return HostSlices(self.rows[places], self.track[places], self.thread[places], self.start_ns[places], self.end_ns[places])


_ALL: Final = slice(None)
_COLUMNS: Final = tuple(column.name for column in fields(HostSlices))


def complete_slices(host: HostTrace, rows: slice = _ALL) -> HostSlices:
    """Those of phase X with a start, ascending; without a duration, or with a negative one, they are empty.

    Args:
        host: The trace.
        rows: Which of its events are looked at.
    """
    events = host.events
    own = np.flatnonzero((events.phase[rows] == ord("X")) & (events.start_ns[rows] != ABSENT)).astype(np.int64)
    own += rows.start or 0
    track = events.track[own]
    return HostSlices(own, track, threads(host)[track], events.start_ns[own], end_times(host, own))


def end_times(host: HostTrace, rows: Int64) -> Int64:
    """int64[k]; when some complete slices end; without a duration, or with a negative one, they are empty."""
    start_ns = host.events.start_ns[rows]
    end_ns = start_ns + np.maximum(host.events.duration_ns[rows], 0)
    # What is longer than 64 bits hold ends where they do.
    return np.where(end_ns < start_ns, np.iinfo(np.int64).max, end_ns)


def slices_around(host: HostTrace, points: Int64) -> tuple[Bool, HostSlices]:
    """Whether some events stand within a slice of their thread, both ends included, that is begun when the event comes.

    Perfetto takes what is of one time as the file has it, but slices with a length first: an empty slice must stand before the
    event in the file.

    Args:
        host: The trace.
        points: int64[n]; rows of the events.

    Returns:
        bool[n], and all slices at whose time one of the events stands.
    """
    if not len(points):
        return np.zeros(0, np.bool_), complete_slices(host, slice(0, 0))
    of_track = threads(host)
    thread, time_ns = of_track[host.events.track[points]], host.events.start_ns[points]
    places = _Places(thread, time_ns)
    balance, first_empty = np.zeros(len(points) + 1, np.int64), np.full(len(points), len(host.events))
    found = []
    for rows in row_blocks(len(host.events)):
        slices = complete_slices(host, rows)
        low, high = places.between(slices.thread, slices.start_ns, slices.end_ns)
        around = np.flatnonzero(low < high)
        found.append(slices.take(around))
        is_empty = found[-1].start_ns == found[-1].end_ns
        low, high = low[around], high[around]
        np.add.at(balance, low[~is_empty], 1)
        np.add.at(balance, high[~is_empty], -1)
        np.minimum.at(first_empty, low[is_empty], found[-1].rows[is_empty])
    of_place = (np.cumsum(balance[:-1]) > 0) | (first_empty[places.firsts()] < points[places.order])
    stands = np.empty(len(points), np.bool_)
    stands[places.order] = of_place
    return stands, HostSlices(*(np.concatenate([getattr(part, name) for part in found]) for name in _COLUMNS))


class _Places:
    """Points in order of thread and time.

    Attributes:
        order: int64[n]; the points in that order.
    """

    def __init__(self, thread: Int32, time_ns: Int64) -> None:
        # Ranks of times, which may lie far apart, leave room for the thread before them.
        self._moments, rank = np.unique(time_ns, return_inverse=True)
        line = self._line(thread, rank)
        self.order = order_by(line)
        self._line_of = line[self.order]

    def _line(self, thread: Int32, rank: Int64) -> Int64:
        return thread * np.int64(len(self._moments) + 1) + rank

    def firsts(self) -> Int64:
        """For each place the first one of the same thread and time."""
        return np.searchsorted(self._line_of, self._line_of)

    def between(self, thread: Int32, start_ns: Int64, end_ns: Int64) -> tuple[Int64, Int64]:
        """The first place on a thread at a time or behind it, and the first one behind another time."""
        first = self._line(thread, np.searchsorted(self._moments, start_ns))
        behind = self._line(thread, np.searchsorted(self._moments, end_ns, side="right"))
        return np.searchsorted(self._line_of, first), np.searchsorted(self._line_of, behind)


def flow_rows(host: HostTrace) -> Int64:
    """int64[n]; rows of flow events that have a time, ascending."""
    events = host.events
    return np.flatnonzero(has_phase(events.phase, "stf") & (events.start_ns != ABSENT)).astype(np.int64)


def has_phase(phase: UInt8, phases: str) -> Bool:
    """Whether each phase is one of these letters."""
    is_one = np.zeros(256, np.bool_)
    is_one[list(phases.encode())] = True
    return is_one[phase]


def threads(host: HostTrace) -> Int32:
    """For each track the first one that stands for the same thread: 2021's Kineto writes "7" at slices and 7 at their flows."""
    first: dict[tuple[str, str], int] = {}
    return np.array(
        [first.setdefault((str(track.pid), str(track.tid)), number) for number, track in enumerate(host.tracks)], np.int32
    )


def innermost(host: HostTrace, slices: HostSlices, row: npt.NDArray[np.integer[Any]], points: Int64) -> Int64:
    """The innermost slice that is open at each of some events, on its thread.

    An empty slice is open for events of its time that stand behind it in the file. Only an event that would stand nowhere may
    stand at the very end of a slice.

    Args:
        host: The trace.
        slices: Its slices.
        row: int[s]; the row of each slice, by any number; of the slices of a thread on one row none cross.
        points: int64[n]; rows of the events.

    Returns:
        int64[n]; places in `slices`; -1 where none is open.
    """
    thread = threads(host)[host.events.track[points]] if len(points) else np.empty(0, np.int32)
    asked = np.flatnonzero(np.isin(slices.thread, thread))
    order = asked[order_by(slices.start_ns[asked], -slices.end_ns[asked])]
    outer_first = slices.take(order)
    row = _ordinals(outer_first.thread, row[order])
    place = _open_at(host, outer_first, row, np.maximum(outer_first.end_ns, outer_first.start_ns + 1), points, thread)
    nowhere = np.flatnonzero(place < 0)
    if len(nowhere):
        place[nowhere] = _open_at(host, outer_first, row, outer_first.end_ns + 1, points[nowhere], thread[nowhere])
    return np.append(order, -1)[place]


def following(host: HostTrace, slices: HostSlices, points: Int64) -> Int64:
    """The slice that begins next on the thread of each of some events, at its very time or later.

    Args:
        host: The trace.
        slices: Its slices.
        points: int64[n]; rows of the events.

    Returns:
        int64[n]; places in `slices`; -1 where none begins any more.
    """
    thread = threads(host)[host.events.track[points]]
    times = np.concatenate((slices.start_ns, host.events.start_ns[points]))
    line = one_line(np.concatenate((slices.thread, thread)), times)
    order = order_by(line[: len(slices)], -slices.end_ns)
    place = np.searchsorted(line[: len(slices)][order], line[len(slices) :])
    found = np.append(order, -1)[place]
    is_own = np.append(slices.thread, -1)[found] == thread
    return np.where(is_own, found, -1)


def _ordinals(thread: Int32, row: npt.NDArray[np.integer[Any]]) -> Int64:
    """Of each row its ordinal among those of its thread."""
    width = np.int64(row.max(initial=0) + 1)
    pairs, of_slice = np.unique(thread * width + row, return_inverse=True)
    ordinals: Int64 = np.arange(len(pairs)) - np.searchsorted(pairs // width, pairs // width)
    return ordinals[of_slice]


def _open_at(
    host: HostTrace, slices: HostSlices, row: npt.NDArray[np.integer[Any]], end_ns: Int64, points: Int64, thread: Int32
) -> Int64:
    """As `innermost`, of slices that stand outer before inner and do not count as open from `end_ns` on."""
    found = np.full(len(points), -1, np.int64)
    time_ns = host.events.start_ns[points]
    for number in np.unique(row).tolist():
        place = np.flatnonzero(row == number)
        own = slices.take(place)
        start, end = np.concatenate((own.start_ns, time_ns)), np.concatenate((end_ns[place], time_ns))
        is_empty = np.concatenate((own.end_ns == own.start_ns, np.ones(len(points), np.bool_)))
        in_file = np.concatenate((own.rows, points))
        order = order_by(start, is_empty, np.where(is_empty, 0, -end), in_file)
        parent = nest(np.concatenate((own.thread, thread)).astype(np.int64)[order], start[order], end[order])
        around = np.empty(len(order), np.int64)
        around[order] = np.where(parent < 0, -1, order[parent])
        around = around[len(place) :]
        found = np.maximum(found, np.where(around < 0, -1, np.append(place, -1)[around]))
    return found
