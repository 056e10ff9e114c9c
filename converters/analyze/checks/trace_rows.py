"""A host trace as the checks see it, and findings that say where in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding, Severity
from rblnpb.row_order import order_by

from ...dialect import DeviceRows, device_rows, slice_rows
from ...results import Place, PlacedFinding
from ...timeline import Bool, HostTrace, Int64
from .pairs import Pairs, pair_events

__all__ = ["PLACES_TOLD", "TraceRows", "grouped", "saturated_end"]

PLACES_TOLD: Final = 3
"""How many places a finding names."""

_LAST_NS: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class TraceRows:
    """Rows of a trace that several checks ask for. Columns are int64 ns of the trace clock."""

    host: HostTrace

    @cached_property
    def slices(self) -> Int64:
        """int64[n], ascending; complete slices that have a place in time."""
        return slice_rows(self.host)

    @cached_property
    def start_ns(self) -> Int64:
        """int64[n]; of `slices`."""
        return self.host.events.start_ns[self.slices]

    @cached_property
    def end_ns(self) -> Int64:
        """int64[n]; of `slices`."""
        return saturated_end(self.start_ns, self.host.events.duration_ns[self.slices])

    @cached_property
    def track(self) -> Int64:
        """int64[n]; of `slices`, row of `HostTrace.tracks`."""
        return self.host.events.track[self.slices].astype(np.int64)

    @cached_property
    def devices(self) -> DeviceRows:
        """The device side."""
        return device_rows(self.host)

    @cached_property
    def is_device(self) -> Bool:
        """bool[n]; which of `slices` are a device's."""
        return np.isin(self.slices, self.devices.rows, assume_unique=True)

    @cached_property
    def pairs(self) -> Pairs:
        """Slices that are written as a begin and an end; rows of the trace."""
        events = self.host.events
        rows = np.flatnonzero(np.isin(events.phase, np.frombuffer(b"BE", np.uint8)) & (events.start_ns != ABSENT))
        found = pair_events(events.track[rows].astype(np.int64), events.start_ns[rows], events.phase[rows] == ord("B"))
        return Pairs(rows[found.begin], rows[found.end], rows[found.unended], rows[found.unbegun])

    @cached_property
    def timed(self) -> Int64:
        """int64[m], ascending; everything with a time, but metadata: it holds for the whole trace."""
        events = self.host.events
        return np.flatnonzero((events.start_ns != ABSENT) & (events.phase != ord("M")))

    @cached_property
    def written_ns(self) -> Int64:
        """int64[all]; `start_ns` as the file has it, without its zero; ABSENT stays."""
        start_ns = self.host.events.start_ns
        return np.where(start_ns == ABSENT, ABSENT, start_ns - self.host.base_time_ns)

    def at(self, severity: Severity, code: str, message: str, rows: Int64, where: str = "") -> PlacedFinding:
        """A finding about these rows, which names the first of them.

        Args:
            severity, code, message, where: As of `Finding`; its count is that of the rows.
            rows: int64[k], at least one; the first ones are named.
        """
        return PlacedFinding(Finding(severity, code, message, len(rows), where), self.places(rows))

    def places(self, rows: npt.NDArray[Any]) -> tuple[Place, ...]:
        """The first few of these rows."""
        host, events = self.host, self.host.events
        return tuple(
            Place(
                "events",
                row,
                host.strings[int(events.name[row])],
                None if events.start_ns[row] == ABSENT else int(events.start_ns[row]),
                int(events.offset[row]),
            )
            for row in rows[:PLACES_TOLD].tolist()
        )


def saturated_end(start_ns: Int64, duration_ns: Int64) -> Int64:
    """Ends of slices; those beyond 64 bits are the last moment that there is.

    Args:
        start_ns, duration_ns: int64[n]; the duration is not negative.

    >>> saturated_end(np.array([5, 2**62]), np.array([1, 2**62])).tolist()
    [6, 9223372036854775807]
    """
    room = _LAST_NS - np.maximum(start_ns, 0)
    return np.where(duration_ns > room, _LAST_NS, start_ns + np.minimum(duration_ns, room))


def grouped(*columns: npt.NDArray[Any]) -> tuple[Int64, Int64]:
    """Rows with equal values in all columns, as numbers.

    Args:
        columns: n values each, at least one column.

    Returns:
        int64[n], the number of each row's group; int64[g], how many rows each group has.

    >>> group, size = grouped(np.array([7, 7, 1]), np.array([0, 0, 0]))
    >>> group.tolist(), size.tolist()
    ([1, 1, 0], [1, 2])
    """
    count = len(columns[0])
    order = order_by(*columns)
    is_new = np.ones(count, np.bool_)
    is_new[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0) if count > 1 else True
    group = np.empty(count, np.int64)
    group[order] = np.cumsum(is_new) - 1
    return group, np.bincount(group).astype(np.int64)
