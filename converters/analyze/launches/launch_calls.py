"""The call that each launch was made in: an op, or else a frame of Python.

A graph is replayed, and a runtime is called, without an op around it. Such work is on no op; but which line of Python it came from
is known all the same.
"""

from __future__ import annotations

import numpy as np

from ...nesting import enclosing, nearest
from ...timeline import HostTrace, Id, Int64, Timeline
from ..host.host_calls import MODULE, OP, PYTHON, HostCalls, is_within

__all__ = ["launch_calls"]


def launch_calls(timeline: Timeline, calls: HostCalls, call_of_event: Int64) -> Int64:
    """The call of each launch.

    Args:
        timeline: The timeline.
        calls: Calls of its host trace.
        call_of_event: int64[events + 1]; the call that each event of the trace is; -1 = none, and at the end.

    Returns:
        int64[launches]; rows of `calls`: the op that the launch was matched with; else, on that thread at that time, the innermost
        Python function, module or, in one of these, named range; -1 = none.
    """
    launches = timeline.launches
    found = call_of_event[launches.host_row]
    lost = np.flatnonzero(found < 0)
    if timeline.host is None or not len(lost) or not len(calls):
        return found
    track = _tracks(timeline.host, launches.pid[lost], launches.tid[lost])
    start_ns = launches.start_ns[lost]
    at = enclosing(calls.track, calls.start_ns, calls.end_ns, calls.parent, track, start_ns, start_ns + 1)
    frame = np.append(nearest(calls.parent, calls.kind != OP), -1)[at]
    # A named range alone owns no launch.
    found[lost] = np.where(np.append(is_within(calls, PYTHON, MODULE), False)[frame], frame, -1)
    return found


def _tracks(host: HostTrace, pid: Int64, tid: Int64) -> Int64:
    """int64[n]; the row of `host.tracks` with these native ids, -1 = none; of an unknown process (0), the one thread of that id."""
    by_pair: dict[tuple[int, int], int] = {}
    by_tid: dict[int, list[int]] = {}
    for row, track in enumerate(host.tracks):
        one_pid, one_tid = _number(track.pid), _number(track.tid)
        if one_pid is not None and one_tid is not None:
            by_pair.setdefault((one_pid, one_tid), row)
            by_tid.setdefault(one_tid, []).append(row)
    pairs, of_launch = np.unique(np.stack((pid, tid)), axis=1, return_inverse=True)
    found = []
    for one_pid, one_tid in pairs.T.tolist():
        alone = by_tid.get(one_tid, []) if one_pid == 0 else []
        found.append(by_pair.get((one_pid, one_tid), alone[0] if len(alone) == 1 else -1))
    return np.array(found, np.int64)[of_launch.reshape(-1)]


def _number(identity: Id) -> int | None:
    if isinstance(identity, str):
        return int(identity) if identity.isascii() and identity.isdecimal() else None
    return identity
