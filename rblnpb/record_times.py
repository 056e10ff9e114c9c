"""When records are: their ticks, and the moments of these on the host's monotonic clock, exact whatever the numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from rblnpb.clock import HOST_MONOTONIC, ClockMap
from rblnpb.columns import Counters, DeviceSlices, HostSlices, Int64, Launches, Overheads, Table, UInt64, WorkloadSlices

__all__ = ["TIMED_KINDS", "RecordTimes", "bounds", "first_tick_from", "moment_ns", "record_times", "spans_by_clock"]


TIMED_KINDS: Final = frozenset(table.kind for table in (Launches, DeviceSlices, WorkloadSlices, HostSlices, Overheads, Counters))
"""Kinds whose records have a moment in their session."""


class RecordTimes(NamedTuple):
    """Times of the records of one clock.

    Attributes:
        clock_id: The clock.
        start_ticks: uint64[n]; raw. Of the host's monotonic clock: nanoseconds, two's complement.
        duration_ticks: uint64[n]; None: moments.
    """

    clock_id: int
    start_ticks: UInt64
    duration_ticks: UInt64 | None


def record_times(table: Table) -> RecordTimes | None:
    """When the records of a chunk are; None when they are of a kind that has no time in the session.

    Args:
        table: At least one record; all of one clock.
    """
    if isinstance(table, Launches):
        return RecordTimes(HOST_MONOTONIC, table.start_ns.view(np.uint64), None)
    if isinstance(table, (HostSlices, Overheads)):
        # What is not known to last is a moment.
        return RecordTimes(HOST_MONOTONIC, table.start_ns.view(np.uint64), np.maximum(table.duration_ns, 0).view(np.uint64))
    if isinstance(table, (DeviceSlices, WorkloadSlices)):
        return RecordTimes(int(table.clock_id[0]), table.start_ticks, table.duration_ticks)
    if isinstance(table, Counters):
        return RecordTimes(int(table.clock_id[0]), table.time_ticks, None)
    return None


def spans_by_clock(table: DeviceSlices | WorkloadSlices, maps: Mapping[int, ClockMap]) -> Iterator[tuple[Int64, Int64, Int64]]:
    """Slices of any clocks, a clock at a time, in the order of their ids; those of clocks without a map are left out.

    Args:
        table: Slices, as many as there are.
        maps: Clock maps by clock id.

    Yields:
        int64[n], int64[n], int64[n]; rows of the table, ascending, and start and duration of these, ns of the host monotonic clock.
    """
    for clock_id in np.unique(table.clock_id).tolist():
        if clock_id in maps:
            rows = np.flatnonzero(table.clock_id == clock_id)
            yield rows, *maps[clock_id].span_to_ns(table.start_ticks[rows], table.duration_ticks[rows])


def bounds(table: Table, maps: Mapping[int, ClockMap]) -> tuple[int | None, int | None]:
    """Least start and greatest end of the records, in ns of the host monotonic clock; (None, None) when they cannot be placed.

    Args:
        table: Records of one clock, at least one.
        maps: Clock maps by clock id.
    """
    times = record_times(table)
    clock_map = None if times is None else maps.get(times.clock_id)
    if times is None or clock_map is None:
        return None, None
    start = clock_map.unwrap(times.start_ticks)
    duration: Any = np.zeros(1, np.uint64) if times.duration_ticks is None else times.duration_ticks
    low, high, longest = int(start.min()), int(start.max()), int(duration.max())
    if low < -_PLACEABLE or max(high, longest) > _PLACEABLE:
        # Such times are damage; without bounds the chunk belongs to every window.
        return None, None
    last = int((start + duration.view(np.int64)).max())
    # The map ascends, so it need take the two extremes alone.
    start_ns, end_ns = moment_ns(clock_map, low), moment_ns(clock_map, last)
    return (start_ns, end_ns) if start_ns >= -_INT64_LIMIT and end_ns < _INT64_LIMIT else (None, None)


_PLACEABLE: Final = 1 << 62
"""Two numbers below this can be added in 64 bits."""

_INT64_LIMIT: Final = 1 << 63


def moment_ns(clock_map: ClockMap, ticks: int) -> int:
    """Host monotonic ns of unwrapped ticks, as `ClockMap.unwrapped_to_ns` where that has room for it, and exact beyond."""
    return _moment_ns(*_anchors(clock_map), ticks)


def first_tick_from(clock_map: ClockMap, ns: int) -> int:
    """The least number of unwrapped ticks whose moment is this or later, within -2**63 and 2**65.

    Moments ascend with ticks, so comparing ticks with it is comparing moments, and no moment need be computed.
    """
    anchors = _anchors(clock_map)
    low, high = -_INT64_LIMIT, 4 * _INT64_LIMIT
    while low < high:
        middle = (low + high) // 2
        if _moment_ns(*anchors, middle) < ns:
            low = middle + 1
        else:
            high = middle
    return low


def _anchors(clock_map: ClockMap) -> tuple[list[int], list[int], int]:
    return _plain(clock_map.anchor_ticks), _plain(clock_map.anchor_ns), clock_map.clock.nominal_hz


def _plain(values: Int64) -> list[int]:
    plain: list[int] = values.tolist()
    return plain


def _moment_ns(ticks_at: list[int], ns_at: list[int], nominal_hz: int, ticks: int) -> int:
    segment = max(bisect_right(ticks_at, ticks) - 1, 0)
    rise, run = 10**9, nominal_hz
    if len(ticks_at) > 1:
        left = min(segment, len(ticks_at) - 2)
        rise, run = ns_at[left + 1] - ns_at[left], ticks_at[left + 1] - ticks_at[left]
    return ns_at[segment] + (2 * (ticks - ticks_at[segment]) * rise + run) // (2 * run)
