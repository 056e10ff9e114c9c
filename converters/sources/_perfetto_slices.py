"""Events of a file become slices: a begin and its end, an arrow from one slice to another.

As Perfetto does it: events count in the order of their times, those of one time in the order of the file; an end belongs to the
innermost slice that is open on its track; a flow leads from the slice that had its id last to the next one that has it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import Float64, Int64, UInt64
from rblnpb.row_order import order_by

from ._perfetto_events import BEGIN, END, EventReader
from ._perfetto_hosts import HostTable

__all__ = ["FileSamples", "FileSlices", "put_together", "samples"]

Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FileSlices:
    """The slices of one file, in the order of their begins in it; all columns have the same length n.

    Attributes:
        clock, track, name, argument, category: int64[n]; rows of what the EventReader calls so.
        start, duration: uint64[n]; ns of the clock.
        edges: int64[2, k]; rows of slices: one that ends, and one that starts after it.
        odd: What of devices could not be put together, by what it is, in the plural.
        host_count, host_edge_count: Slices of the host, and edges from or to them, which are not among these.
        host_odd: What of the host could not be put together, likewise.
    """

    clock: Int64
    track: Int64
    name: Int64
    argument: Int64
    category: Int64
    start: UInt64
    duration: UInt64
    edges: Int64
    odd: Counter[str]
    host_count: int
    host_edge_count: int
    host_odd: Counter[str]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def host_part_count(self) -> int:
        """How many events of the host make no whole slice."""
        return self.host_odd[_UNCLOSED] + self.host_odd[_UNOPENED]


@dataclass(frozen=True, eq=False)
class FileSamples:
    """Samples of counters of one file; all columns have the same length n.

    Attributes:
        clock, track: int64[n]; rows of what the EventReader calls so.
        time: uint64[n]; ns of the clock.
        value: float64[n]; in the unit of the track.
        host_count: Samples of the host, which are not among these.
    """

    clock: Int64
    track: Int64
    time: UInt64
    value: Float64
    host_count: int


_NONE: Final = -1
_UNCLOSED: Final = "slices without an end"
_UNOPENED: Final = "ends without a begin"


def put_together(events: EventReader, is_hosts: HostTable) -> FileSlices:
    """The slices of devices that events make.

    Args:
        events: All events of a file.
        is_hosts: Which of them are the host's.
    """
    time = np.array(events.time, np.uint64)
    clock, track, category = (np.array(column, np.int64) for column in (events.clock, events.track, events.category))
    order = order_by(track, clock, time)
    slice_of, end_of = _nested(order.tolist(), (track * max(len(events.clocks), 1) + clock).tolist(), events.type)
    is_host: Bool = is_hosts[track, category]
    is_whole = end_of != _NONE
    begins = np.flatnonzero(is_whole & ~is_host)
    row_of = np.full(len(time), _NONE, np.int64)
    row_of[begins] = np.arange(len(begins))
    odd, host_odd = (_odd(np.array(events.type, np.int64), slice_of, end_of, side) for side in (~is_host, is_host))
    begin_of = np.where((slice_of == _NONE) | ~is_whole[slice_of], _NONE, slice_of) if len(time) else slice_of
    edges = row_of[_edges(events, time, begin_of, is_host, (odd, host_odd))]
    is_devices = (edges != _NONE).all(axis=0)
    name, argument = (np.array(column, np.int64) for column in (events.name, events.argument))
    ends = end_of[begins]
    # What an end tells stands for what its begin left out.
    name, argument = (np.where(column[begins] == 0, column[ends], column[begins]) for column in (name, argument))
    return FileSlices(
        clock=clock[begins],
        track=track[begins],
        name=name,
        argument=argument,
        category=category[begins],
        start=time[begins],
        duration=time[ends] - time[begins],
        edges=edges[:, is_devices],
        odd=odd,
        host_count=int((is_whole & is_host).sum()),
        host_edge_count=int((~is_devices).sum()),
        host_odd=host_odd,
    )


def _nested(order: list[int], lanes: list[int], types: list[int]) -> tuple[Int64, Int64]:
    """The event that begins the slice of each event, and the event that ends the slice which each begins; -1 = none."""
    slice_of, end_of = np.full((2, len(order)), _NONE, np.int64)
    opened: list[int] = []
    lane = None
    for row in order:
        if lanes[row] != lane:
            opened.clear()
            lane = lanes[row]
        if types[row] == BEGIN:
            opened.append(row)
            slice_of[row] = row
        elif types[row] != END:
            slice_of[row] = end_of[row] = row
        elif opened:
            begin = opened.pop()
            slice_of[row], end_of[begin] = begin, row
    return slice_of, end_of


def _odd(types: Int64, slice_of: Int64, end_of: Int64, is_side: Bool) -> Counter[str]:
    """What of the events of one side, devices or host, has no other half."""
    return Counter(
        {
            _UNCLOSED: int(((types == BEGIN) & (end_of == _NONE) & is_side).sum()),
            _UNOPENED: int(((types == END) & (slice_of == _NONE) & is_side).sum()),
        }
    )


def _edges(events: EventReader, time: UInt64, begin_of: Int64, is_host: Bool, odd: tuple[Counter[str], Counter[str]]) -> Int64:
    """int64[2, k]; begins of slices that flows lead from and to, each pair once, in the order of time.

    What cannot be led is counted in `odd`, for devices and for the host.
    """
    if not events.flows:
        return np.empty((2, 0), np.int64)
    rows = np.array([row for row, _, _ in events.flows], np.int64)
    order = order_by(time[rows], rows)
    last: dict[int, int] = {}
    edges: dict[tuple[int, int], None] = {}
    for at in order.tolist():
        row, number, is_end = events.flows[at]
        here = int(begin_of[row])
        before = last.get(number)
        if here == _NONE:
            odd[int(is_host[row])]["flows at no slice"] += 1
        elif before is None and is_end:
            # An end seldom has a category: the slice tells whose it is.
            odd[int(is_host[here])]["flows that end and never began"] += 1
        else:
            if before is not None and before != here:
                edges[before, here] = None
            last[number] = here
        if is_end:
            last.pop(number, None)
    return np.array(list(edges), np.int64).reshape(-1, 2).T


def samples(events: EventReader, is_hosts: HostTable) -> FileSamples:
    """The samples of counters of devices, in the order of the file.

    Values of a track that counts up are added to those before them, in the order of time.
    """
    clock, track = (np.array([sample[at] for sample in events.samples], np.int64) for at in (0, 2))
    time = np.array([sample[1] for sample in events.samples], np.uint64)
    value = np.array([sample[3] for sample in events.samples], np.float64)
    for key, row in events.track_keys.items():
        counter = events.tracks.counter_of(key)
        own = np.flatnonzero(track == row) if counter.multiplier != 1 or counter.is_incremental else _NO_ROWS
        if len(own):
            own = own[order_by(time[own])]
            scaled = value[own] * counter.multiplier
            value[own] = np.cumsum(scaled) if counter.is_incremental else scaled
    is_host: Bool = is_hosts[track, 0]
    return FileSamples(clock[~is_host], track[~is_host], time[~is_host], value[~is_host], int(is_host.sum()))


_NO_ROWS: Final = np.empty(0, np.int64)
