"""Launches to host ops: which operator was on that native thread at that time.

The innermost operator on (thread, time) is the one whose correlation id the profiler in the process would have given: on a training
step with 797 launches on two threads it is the same op 797 times (measured with torch 2.13), and so it is for all 29,909 calls of
six public traces of CUDA and ROCm. An annotation owns no launch. What matches nothing is kept, with the reason.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.row_order import order_by

from ..dialect import annotation_rows, host_window, op_rows
from ..nesting import enclosing, latest, nest
from ..timeline import MATCH_RULES, HostTrace, Id, Int32, Int64

__all__ = ["id_number", "innermost", "launch_by_id", "match_launches", "native_tracks", "row_by_id", "thread_lanes"]

_RULE: Final = {name: code for code, name in enumerate(MATCH_RULES)}
_WHOLE: Final = re.compile(r"-?[0-9]{1,18}")


def thread_lanes(host: HostTrace) -> Int64:
    """int64[tracks + 1]; tracks of one thread have one number. One row of a file may write an id as a number, another as text.

    The last is that of no track.
    """
    lanes: dict[tuple[Id, Id], int] = {}
    for row, track in enumerate(host.tracks):
        lanes.setdefault((_plain(track.pid), _plain(track.tid)), row)
    return np.array([*(lanes[_plain(track.pid), _plain(track.tid)] for track in host.tracks), -1], np.int64)


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
    lanes = thread_lanes(host)
    of_point = lanes[track]
    rows = _around_points(host, rows, lanes, of_point, time_ns)
    lane = lanes[events.track[rows]]
    order = order_by(lane, events.start_ns[rows], -events.duration_ns[rows])
    rows, lane = rows[order], lane[order]
    start = events.start_ns[rows]
    end = start + events.duration_ns[rows]
    until = time_ns + 1 if end_ns is None else np.maximum(end_ns, time_ns + 1)
    return np.append(rows, -1)[enclosing(lane, start, end, nest(lane, start, end), of_point, time_ns, until)]


_STEP_ROWS: Final = 1 << 17
_ROOM: Final = 1 << 62


def _around_points(host: HostTrace, rows: Int64, lanes: Int64, of_point: Int64, time_ns: Int64) -> Int64:
    """Those of some host slices that any of the moments may lie in: few are launched from, and only they need be nested.

    A slice that holds no moment lies around none that does, so what is left nests as it did.
    """
    events = host.events
    has_points = np.zeros(len(lanes), np.bool_)
    has_points[of_point] = True
    first, span = int(time_ns.min()), int(time_ns.max()) - int(time_ns.min()) + 2
    # Moments of all threads on one line; what is before or behind all of them is at the edge of its thread's part.
    fits = span * (len(lanes) + 1) < _ROOM
    points = np.sort(of_point * span + (time_ns - first)) if fits else time_ns
    kept = []
    for step in range(0, len(rows), _STEP_ROWS):
        part = rows[step : step + _STEP_ROWS]
        lane = lanes[events.track[part]]
        part, lane = part[has_points[lane]], lane[has_points[lane]]
        if fits:
            start = events.start_ns[part]
            edges = (start, start + events.duration_ns[part])
            places = [np.searchsorted(points, lane * span + np.clip(edge - first, 0, span - 1)) for edge in edges]
            part = part[places[1] > places[0]]
        kept.append(part)
    return np.concatenate([rows[:0], *kept])


def native_tracks(host: HostTrace, pid: Int64, tid: Int64) -> Int64:
    """Row of `host.tracks` for each native (process id, thread id); -1 where the trace has no such thread.

    A process id of 0 is unknown: then the thread id alone decides, if one track has it.
    """
    by_pair: dict[tuple[int, int], int] = {}
    by_tid: dict[int, list[int]] = {}
    for row, track in enumerate(host.tracks):
        numbers = id_number(track.pid), id_number(track.tid)
        if numbers[0] is None or numbers[1] is None:
            continue
        by_pair.setdefault((numbers[0], numbers[1]), row)
        by_tid.setdefault(numbers[1], []).append(row)
    if not len(pid):
        return np.empty(0, np.int64)
    order = order_by(pid, tid)
    is_new = np.append(True, (np.diff(pid[order]) != 0) | (np.diff(tid[order]) != 0))
    found = []
    for one_pid, one_tid in zip(pid[order][is_new].tolist(), tid[order][is_new].tolist(), strict=True):
        alone = by_tid.get(one_tid, [])
        fallback = alone[0] if one_pid == 0 and len(alone) == 1 else -1
        found.append(by_pair.get((one_pid, one_tid), fallback))
    result = np.empty(len(pid), np.int64)
    result[order] = np.array(found, np.int64)[np.cumsum(is_new) - 1]
    return result


def id_number(value: Id) -> int | None:
    """An id of a process or thread as a number, where it is one or is the text of one.

    >>> id_number(7), id_number("-12"), id_number("stream 7"), id_number(None)
    (7, -12, None, None)
    """
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) else None
    return value


def _plain(value: Id) -> Id:
    number = id_number(value)
    return value if number is None else number


def match_launches(
    host: HostTrace, track: Int64, time_ns: Int64, end_ns: Int64 | None = None, linked: Int64 | None = None
) -> tuple[Int64, Int32]:
    """The op of each launch, and by which rule, or why there is none.

    Args:
        host: The trace.
        track: int64[n]; row of `host.tracks` of the submitting thread; -1 = not in the trace.
        time_ns: int64[n]; trace clock.
        end_ns: int64[n]; where launches are calls that the trace shows: their ends.
        linked: int64[n]; rows of `host.events`: the op that the trace itself names as theirs; -1 = none. What the profiler noted in
            the process goes before what times say: in a trace of whole microseconds, several ops may contain a call of no length.

    Returns:
        int64[n], rows of `host.events` or -1; int32[n], rows of `MATCH_RULES`.
    """
    linked = np.full(len(track), -1, np.int64) if linked is None else linked
    host_row = linked.copy()
    left = np.flatnonzero(host_row < 0)
    if len(left):
        host_row[left] = innermost(host, op_rows(host), track[left], time_ns[left], None if end_ns is None else end_ns[left])
    in_annotation = np.zeros(len(host_row), np.bool_)
    left = np.flatnonzero(host_row < 0)
    if len(left):
        in_annotation[left] = innermost(host, annotation_rows(host), track[left], time_ns[left]) >= 0
    window = host_window(host)
    outside = np.zeros(len(time_ns), np.bool_) if window is None else (time_ns < window[0]) | (time_ns >= window[1])
    reason = np.select(
        [linked >= 0, host_row >= 0, outside, track < 0, in_annotation],
        [_RULE[name] for name in ("recorded-link", "innermost-op", "outside-window", "thread-not-in-trace", "annotation-only")],
        _RULE["between-ops"],
    )
    return host_row, reason.astype(np.int32)


def row_by_id(ids: npt.NDArray[np.integer[Any]], wanted: npt.NDArray[np.integer[Any]]) -> Int64:
    """First row of `ids` that holds each wanted id: int64[n]; -1 where none does. 0 is unknown and joins nothing."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    order = order_by(ids)
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
    last = latest(ids, start_ns, wanted, at_ns)
    return np.where((last >= 0) & (wanted != 0), last, row)
