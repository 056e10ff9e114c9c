"""The work of devices as stacks weigh it: how long, how much of the busy time, from which call on the host."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.row_order import order_by

from ...timeline import Int32, Int64, Timeline

__all__ = ["DeviceWork", "busy_parts", "device_work"]


@dataclass(frozen=True, eq=False)
class DeviceWork:
    """Slices of work, in record order; all columns have the same length n.

    Attributes:
        row: int64[n]; row of `Timeline.slices`.
        start_ns, end_ns: int64[n]; trace clock.
        busy_ns: int64[n]; the part of the busy time that each stands for, see `busy_parts`.
        op: int64[n]; row of the calls: the op that launched it; -1 = unattributed.
        caller: int64[n]; row of the calls: the same, or else the Python call that it was launched in; -1 = neither.
        rule: int32[n]; row of `JOIN_RULES`.
    """

    row: Int64
    start_ns: Int64
    end_ns: Int64
    busy_ns: Int64
    op: Int64
    caller: Int64
    rule: Int32

    @property
    def duration_ns(self) -> Int64:
        """int64[n]."""
        return self.end_ns - self.start_ns


def device_work(timeline: Timeline, call_of_event: Int64, call_of_launch: Int64) -> DeviceWork:
    """What counts as device time.

    Args:
        timeline: The timeline.
        call_of_event: int64[events + 1]; the call that each event of the host trace is; -1 = none, and at the end.
        call_of_launch: int64[launches]; the call that each launch was made in; -1 = none.
    """
    slices = timeline.slices
    row = np.flatnonzero(timeline.is_work()) if len(slices) else np.empty(0, np.int64)
    start_ns = slices.start_ns[row]
    op = call_of_event[slices.host_row[row]]
    return DeviceWork(
        row=row,
        start_ns=start_ns,
        end_ns=start_ns + slices.duration_ns[row],
        busy_ns=busy_parts(start_ns, slices.duration_ns[row]),
        op=op,
        caller=np.where(op >= 0, op, np.append(call_of_launch, -1)[slices.launch[row]]),
        rule=slices.rule[row],
    )


def busy_parts(start_ns: Int64, duration_ns: Int64) -> Int64:
    """How much of the busy time each slice stands for: each moment belongs to the slice that began first of those that run.

    Args:
        start_ns: int64[n]; any clock, any order; of slices that begin together the first row is the first.
        duration_ns: int64[n]; not negative.

    Returns:
        int64[n]; they add up to the union of all slices.

    >>> busy_parts(np.array([5, 0, 20, 2]), np.array([10, 10, 1, 3]))
    array([ 5, 10,  1,  0])
    """
    order = order_by(start_ns)
    start, end = start_ns[order], (start_ns + duration_ns)[order]
    reach = np.maximum.accumulate(end) if len(end) else end
    covered = np.concatenate((start[:1], reach[:-1]))
    parts = np.empty(len(start), np.int64)
    parts[order] = np.maximum(end - np.maximum(start, covered), 0)
    return parts
