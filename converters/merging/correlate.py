"""Launches to host ops: which operator was on that native thread at that time.

The innermost operator on (thread, time) is the one whose correlation id the profiler in the process would have given: on a training
step with 797 launches on two threads it is the same op 797 times (measured with torch 2.13). An annotation owns no launch. What
matches nothing is kept, with the reason.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ..dialect import ANNOTATIONS, OPS, slice_rows
from ..nesting import nest
from ..timeline import MATCH_RULES, HostTrace, Int32, Int64

__all__ = ["host_window", "innermost", "match_launches", "native_tracks", "row_by_id"]

_RULE: Final = {name: code for code, name in enumerate(MATCH_RULES)}


def host_window(host: HostTrace) -> tuple[int, int] | None:
    """First and last time that the host trace covers, trace clock: its profiler's own span, else that of its slices."""
    rows = slice_rows(host, "Trace")
    if not len(rows):
        rows = slice_rows(host, *OPS, *ANNOTATIONS)
    if not len(rows):
        rows = slice_rows(host)
    if not len(rows):
        return None
    start_ns = host.events.start_ns[rows]
    return int(start_ns.min()), int((start_ns + host.events.duration_ns[rows]).max())


def innermost(host: HostTrace, rows: Int64, track: Int64, time_ns: Int64) -> Int64:
    """The innermost of some host slices that contains each point.

    Args:
        host: The trace.
        rows: int64[m]; rows of `host.events` that may be found.
        track: int64[n]; row of `host.tracks` of each point; -1 = none, which finds nothing.
        time_ns: int64[n]; trace clock. A slice contains its start and not its end.

    Returns:
        int64[n]; rows of `host.events`, -1 where no slice contains the point.
    """
    events = host.events
    # A point joins the slices as the shortest slice there is, and asks who its caller is. Equal points are one.
    points, of_point = np.unique(np.stack([track, time_ns]), axis=1, return_inverse=True)
    lane = np.concatenate([events.track[rows].astype(np.int64), points[0]])
    start = np.concatenate([events.start_ns[rows], points[1]])
    end = np.concatenate([events.start_ns[rows] + events.duration_ns[rows], points[1] + 1])
    is_point = np.concatenate([np.zeros(len(rows), np.int64), np.ones(points.shape[1], np.int64)])
    # Of two that are equal the point is the inner one.
    order = np.lexsort((is_point, -end, start))
    caller = nest(lane[order], start[order], end[order])
    found = np.full(len(lane), -1, np.int64)
    found[order] = np.where(caller >= 0, order[caller], -1)
    answer = found[len(rows) :]
    answer = np.where((answer >= 0) & (points[0] >= 0), np.concatenate([rows, [-1]])[np.minimum(answer, len(rows))], -1)
    return np.asarray(answer[of_point.reshape(-1)], np.int64)


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
    pairs, of_pair = np.unique(np.stack([pid, tid]), axis=1, return_inverse=True)
    found = []
    for one_pid, one_tid in pairs.T.tolist():
        alone = by_tid.get(one_tid, [])
        fallback = alone[0] if one_pid == 0 and len(alone) == 1 else -1
        found.append(by_pair.get((one_pid, one_tid), fallback))
    return np.array(found, np.int64)[of_pair.reshape(-1)] if found else np.empty(0, np.int64)


def _number(value: int | str | None) -> int | None:
    if isinstance(value, str):
        return int(value) if value.isdecimal() else None
    return value


def match_launches(host: HostTrace, track: Int64, time_ns: Int64) -> tuple[Int64, Int32]:
    """The op of each launch, and by which rule, or why there is none.

    Args:
        host: The trace.
        track: int64[n]; row of `host.tracks` of the submitting thread; -1 = not in the trace.
        time_ns: int64[n]; trace clock.

    Returns:
        int64[n], rows of `host.events` or -1; int32[n], rows of `MATCH_RULES`.
    """
    host_row = innermost(host, slice_rows(host, *OPS), track, time_ns)
    annotations = slice_rows(host, *ANNOTATIONS)
    in_annotation = innermost(host, annotations, track, time_ns) >= 0
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
