"""Which events held which allocations: torch's rule, on whole columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.row_order import order_by

from ...timeline import Bool, Int64

__all__ = ["MemoryUse", "memory_use"]


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """Bytes that were allocated, less those that were freed, while an event ran.

    Attributes:
        cpu_bytes, device_bytes: int64[n]; of each event.
        is_claimed: bool[m]; whether any event ran at the moment of each memory record.
    """

    cpu_bytes: Int64
    device_bytes: Int64
    is_claimed: Bool


def memory_use(start_ns: Int64, end_ns: Int64, time_ns: Int64, cpu_bytes: Int64, device_bytes: Int64) -> MemoryUse:
    """Gives every memory record to every event that was running at its moment, whichever thread either is on.

    Both ends of an event belong to it. An inner event and those around it all get the record: these are totals.

    Args:
        start_ns, end_ns: int64[n]; the events, trace clock, in any order.
        time_ns: int64[m]; the records, trace clock, in any order.
        cpu_bytes, device_bytes: int64[m]; negative where memory was freed.

    Returns:
        Use of each event, and which records found one.
    """
    by_time = order_by(time_ns)
    sorted_ns = time_ns[by_time]
    first = np.searchsorted(sorted_ns, start_ns, side="left")
    stop = np.maximum(np.searchsorted(sorted_ns, end_ns, side="right"), first)
    openings = np.bincount(first, minlength=len(time_ns) + 1)
    closings = np.bincount(stop, minlength=len(time_ns) + 1)
    is_claimed = np.empty(len(time_ns), np.bool_)
    is_claimed[by_time] = np.cumsum(openings - closings)[:-1] > 0
    used = tuple(_prefix_sums(column[by_time]) for column in (cpu_bytes, device_bytes))
    return MemoryUse(used[0][stop] - used[0][first], used[1][stop] - used[1][first], is_claimed)


def _prefix_sums(values: Int64) -> Int64:
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums
