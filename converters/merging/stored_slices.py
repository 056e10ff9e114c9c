"""Device slices that stay where they are stored: only their places are held, names and arguments are read when asked for.

What a profile of more records than memory holds is joined by. Every record is read once for its place, some at a time, and once
more by whoever writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import DeviceSlices
from rblnpb.profile import Profile
from rblnpb.row_order import order_by

from ..timeline import AlignedSlices, Bool, DeferredDependencies, DeferredSlices, Int64, SliceDependencies, SliceNames
from .align import Alignment
from .clock_tally import ClockTally
from .dependencies import between_commands, recorded_rows, slice_dependencies
from .profile_slices import Launched, details_of, names_of, places_of, slices_of

__all__ = ["SliceStore", "device_work"]


_STEP_ROWS: Final = 1 << 18
"""Records looked through at a time: few enough to be small beside the places of all."""


class SliceStore(Protocol):
    """Records of device slices in their order, of which some can be read alone."""

    def __len__(self) -> int:
        """How many there are."""

    def blocks(self) -> Iterator[tuple[int, DeviceSlices]]:
        """All of them, some at a time, each time with the row of the first."""

    def take(self, rows: npt.NDArray[Any] | slice) -> DeviceSlices:
        """These records, in that order; rows that nearly ascend are read in one go."""


def device_work(
    profile: Profile, store: SliceStore | None, alignment: Alignment, launched: Launched, tally: ClockTally
) -> tuple[AlignedSlices, Bool, SliceDependencies]:
    """The device slices that can be placed, in record order, which of the records those are, and which of them wait for which.

    Args:
        profile: As read.
        store: Its device slices, where they stay in their file; None: the profile has them.
        alignment: Of the profile's clocks.
        launched: What they are joined with.
        tally: Counts them.
    """
    if store is None:
        tally.add(profile.device_slices)
        slices, placed = slices_of(profile, profile.device_slices, alignment, launched)
        return slices, placed, slice_dependencies(profile, placed)
    slices, placed = _deferred_slices(profile, store, alignment, launched, tally)
    return slices, placed, _deferred_dependencies(profile, store, slices, launched.launches.launch_id, placed)


def _deferred_slices(
    profile: Profile, store: SliceStore, alignment: Alignment, launched: Launched, tally: ClockTally
) -> tuple[AlignedSlices, Bool]:
    """The slices that can be placed, in record order, and which of the records those are.

    Args:
        profile: As read, without its device slices.
        store: These.
        alignment: Of the profile's clocks.
        launched: What they are joined with.
        tally: Counts them.
    """
    count = len(store)
    start_ns, duration_ns, launch = np.empty((3, count), np.int64)
    track, rule = np.empty((2, count), np.int32)
    placed = np.empty(count, np.bool_)
    is_used = np.zeros(len(profile.strings), np.bool_)
    is_used[0] = True
    kept = 0
    for first, table in store.blocks():
        tally.add(table)
        part, placed[first : first + len(table)] = places_of(table, alignment, launched)
        own = slice(kept, kept + len(part.start_ns))
        start_ns[own], duration_ns[own], track[own] = part.start_ns, part.duration_ns, part.track
        launch[own], rule[own] = part.launch, part.rule
        is_used[names_of(profile, table).text_rows()] = True
        kept = own.stop
    row = None if kept == count else np.flatnonzero(placed)

    def read(rows: npt.NDArray[Any] | slice) -> tuple[SliceNames, Int64]:
        return details_of(profile, store.take(rows if row is None else row[rows]))

    columns = (start_ns[:kept], duration_ns[:kept], track[:kept], launch[:kept], rule[:kept])
    used = np.flatnonzero(is_used).astype(np.int64)
    return DeferredSlices(*columns, launched.launches.host_row, read, profile.strings, used), placed


def _deferred_dependencies(
    profile: Profile, store: SliceStore, slices: AlignedSlices, ids: Int64, placed: Bool
) -> SliceDependencies:
    """The dependencies between slices that are in the timeline, as of `slice_dependencies`; found when they are asked for.

    Args:
        profile: As read, without its device slices.
        store: These.
        slices: Those in the timeline, which have their launches.
        ids: int64[launches]; their ids.
        placed: bool[n]; which of the records those are.
    """

    def find() -> npt.NDArray[np.signedinteger[Any]]:
        recorded = recorded_rows(profile, placed)
        if not len(profile.commands.predecessor_rows):
            return recorded
        record = None if placed.all() else np.flatnonzero(placed)
        # Half of a gigabyte for what 1e7 records wait for, unless rows are small numbers.
        small = np.int32 if len(slices) < 1 << 31 else np.int64
        edges = _Edges(len(slices) + recorded.shape[1], small)
        for rows in _together(ids, slices.launch):
            table = store.take(rows if record is None else record[rows])
            edges.add(rows.astype(small)[between_commands(table, profile.commands)])
        successor = edges.found()[1]
        if (successor[1:] < successor[:-1]).any():
            order = order_by(successor)
            for column in edges.found():
                column[:] = column[order]
        edges.add(recorded)
        return edges.found()

    return DeferredDependencies(find)


class _Edges:
    """Pairs of rows, some after others, in one table: parts to be joined would be held twice, and between what outlives them."""

    def __init__(self, capacity: int, kind: type[np.signedinteger[Any]]) -> None:
        """Make room, which costs nothing until something stands there."""
        self._table = np.empty((2, capacity), kind)
        self._count = 0

    def add(self, pairs: npt.NDArray[Any]) -> None:
        """More of them: int[2, k]."""
        count = self._count + pairs.shape[1]
        if count > self._table.shape[1]:
            table = np.empty((2, max(count, 2 * self._table.shape[1])), self._table.dtype)
            table[:, : self._count] = self.found()
            self._table = table
        self._table[:, self._count : count] = pairs
        self._count = count

    def found(self) -> npt.NDArray[np.signedinteger[Any]]:
        """All of them: int[2, n]."""
        return self._table[:, : self._count]


def _together(ids: Int64, launch: Int64) -> Iterator[Int64]:
    """Rows of slices, some at a time, each time ascending: all that name one id of a launch, or none, come together."""
    distinct, number = np.unique(ids, return_inverse=True)
    of_slice = np.append(number, len(distinct)).astype(np.int32)[launch]
    sizes = np.zeros(len(distinct) + 1, np.int64)
    for rows in row_blocks(len(of_slice), _STEP_ROWS):
        np.add.at(sizes, of_slice[rows], 1)
    ends = np.cumsum(sizes)
    # A device takes launches in their order, and most records are in it.
    is_in_order = bool((of_slice[1:] >= of_slice[:-1]).all())
    order = None if is_in_order else np.argsort(of_slice, kind="stable").astype(np.int32 if len(launch) < 1 << 31 else np.int64)
    del of_slice
    first = 0
    while first < len(launch):
        stop = int(ends[np.searchsorted(ends, min(first + _STEP_ROWS, len(launch)))])
        yield np.arange(first, stop) if order is None else np.sort(order[first:stop].astype(np.int64))
        first = stop
