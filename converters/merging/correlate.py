"""Launches to host ops: which operator was on that native thread at that time.

The innermost operator on (thread, time) is the one whose correlation id the profiler in the process would have given: on a training
step with 797 launches on two threads it is the same op 797 times (measured with torch 2.13). An annotation owns no launch. What
matches nothing is kept, with the reason.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ..dialect import ANNOTATIONS, OPS, host_window, slice_rows
from ..nesting import nest
from ..timeline import MATCH_RULES, HostTrace, Int32, Int64

__all__ = ["innermost", "launch_by_id", "match_launches", "native_tracks", "row_by_id"]

_RULE: Final = {name: code for code, name in enumerate(MATCH_RULES)}


def innermost(host: HostTrace, rows: Int64, track: Int64, time_ns: Int64, end_ns: Int64 | None = None) -> Int64:
    """The innermost of some host slices that contains each moment, or each stretch of time.

    Args:
        host: The trace.
        rows: int64[m]; rows of `host.events` that may be found.
        track: int64[n]; row of `host.tracks` of each moment; -1 = none, which finds nothing.
        time_ns: int64[n]; trace clock. A slice contains its start and not its end.
        end_ns: int64[n]; ends of stretches that begin at `time_ns`; None: moments. Clocks of two writers may be off by a
            fraction of a microsecond, so that a call begins before the op ahead of it ends: it is not in that op.

    Returns:
        int64[n]; rows of `host.events`, -1 where no slice contains it. Of equal slices it is the last in the file.
    """
    if not len(track):
        return np.empty(0, np.int64)
    events = host.events
    until = time_ns + 1 if end_ns is None else np.maximum(end_ns, time_ns + 1)
    has_points = np.zeros(len(host.tracks) + 1, np.bool_)
    has_points[track] = True
    rows = rows[has_points[events.track[rows]]]
    rows = rows[np.lexsort((-events.duration_ns[rows], events.start_ns[rows], events.track[rows]))]
    lane, start = events.track[rows].astype(np.int64), events.start_ns[rows]
    end = start + events.duration_ns[rows]
    # Where the last slice that has begun does not reach far enough, only those that contain that slice can.
    above = nest(lane, start, end)
    at = np.full(len(track), -1, np.int64)
    points = np.argsort(track, kind="stable")
    of_lane, first = np.unique(track[points], return_index=True)
    for one, own in zip(of_lane.tolist(), np.split(points, first[1:]), strict=True):
        begin, stop = np.searchsorted(lane, [one, one + 1])
        place = np.searchsorted(start[begin:stop], time_ns[own], side="right") - 1
        at[own] = np.where(place >= 0, begin + place, -1)
    climbing = np.flatnonzero(at >= 0)
    while len(climbing):
        climbing = climbing[end[at[climbing]] < until[climbing]]
        at[climbing] = above[at[climbing]]
        climbing = climbing[at[climbing] >= 0]
    return np.append(rows, -1)[at]


def native_tracks(host: HostTrace, pid: Int64, tid: Int64) -> Int64:
    """Row of `host.tracks` for each native (process id, thread id); -1 where the trace has no such thread.

    A process id of 0 is unknown: then the thread id alone decides, if one track has it.
    """
    by_pair: dict[tuple[int, int], int] = {}
    by_tid: dict[int, list[int]] = {}
    for row, track in enumerate(host.tracks):
        numbers = _number(track.pid), _number(track.tid)
        if numbers[0] is None or numbers[1] is None:
            continue
        by_pair.setdefault((numbers[0], numbers[1]), row)
        by_tid.setdefault(numbers[1], []).append(row)
    if not len(pid):
        return np.empty(0, np.int64)
    order = np.lexsort((tid, pid))
    is_new = np.append(True, (np.diff(pid[order]) != 0) | (np.diff(tid[order]) != 0))
    found = []
    for one_pid, one_tid in zip(pid[order][is_new].tolist(), tid[order][is_new].tolist(), strict=True):
        alone = by_tid.get(one_tid, [])
        fallback = alone[0] if one_pid == 0 and len(alone) == 1 else -1
        found.append(by_pair.get((one_pid, one_tid), fallback))
    result = np.empty(len(pid), np.int64)
    result[order] = np.array(found, np.int64)[np.cumsum(is_new) - 1]
    return result


def _number(value: int | str | None) -> int | None:
    if isinstance(value, str):
        return int(value) if value.isdecimal() else None
    return value


def match_launches(host: HostTrace, track: Int64, time_ns: Int64, end_ns: Int64 | None = None) -> tuple[Int64, Int32]:
    """The op of each launch, and by which rule, or why there is none.

    Args:
        host: The trace.
        track: int64[n]; row of `host.tracks` of the submitting thread; -1 = not in the trace.
        time_ns: int64[n]; trace clock.
        end_ns: int64[n]; where launches are calls that the trace shows: their ends.

    Returns:
        int64[n], rows of `host.events` or -1; int32[n], rows of `MATCH_RULES`.
    """
    host_row = innermost(host, slice_rows(host, *OPS), track, time_ns, end_ns)
    in_annotation = np.zeros(len(host_row), np.bool_)
    left = np.flatnonzero(host_row < 0)
    if len(left):
        in_annotation[left] = innermost(host, slice_rows(host, *ANNOTATIONS), track[left], time_ns[left]) >= 0
    window = host_window(host)
    outside = np.zeros(len(time_ns), np.bool_) if window is None else (time_ns < window[0]) | (time_ns >= window[1])
    reason = np.select(
        [host_row >= 0, outside, track < 0, in_annotation],
        [_RULE["innermost-op"], _RULE["outside-window"], _RULE["thread-not-in-trace"], _RULE["annotation-only"]],
        _RULE["between-ops"],
    )
    return host_row, reason.astype(np.int32)


def row_by_id(ids: npt.NDArray[np.generic], wanted: npt.NDArray[np.generic]) -> Int64:
    """First row of `ids` that holds each wanted id: int64[n]; -1 where none does. 0 is unknown and joins nothing."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(ids, kind="stable")
    place = np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)
    row = order[place]
    return np.where((ids[row] == wanted) & (wanted != 0), row, -1).astype(np.int64)


def launch_by_id(ids: Int64, start_ns: Int64, wanted: Int64, at_ns: Int64) -> Int64:
    """The launch that each record of a device names.

    Ids are counted anew by a second process or after an overflow. Where several launches have one, a record belongs to the last
    of them that was submitted by the time at which it started; to the first, if none was.

    Args:
        ids: int64[m]; launch ids; 0 = unknown.
        start_ns: int64[m]; when each was submitted.
        wanted: int64[n]; the ids that the records name; 0 = unknown, which joins nothing.
        at_ns: int64[n]; when each record started, same clock.

    Returns:
        int64[n]; rows of `ids`, -1 where none has the id.
    """
    row = row_by_id(ids, wanted)
    known = np.sort(ids[ids != 0])
    if not (known[1:] == known[:-1]).any():
        return row
    count = len(ids)
    both = np.concatenate([ids, wanted])
    order = np.lexsort((np.arange(len(both)) >= count, np.concatenate([start_ns, at_ns]), both))
    last = np.maximum.accumulate(np.where(order < count, np.arange(len(order)), -1))
    is_record = order >= count
    record, launch = order[is_record] - count, order[last[is_record]]
    is_it = (last[is_record] >= 0) & (both[launch] == wanted[record]) & (wanted[record] != 0)
    row[record[is_it]] = launch[is_it]
    return row
