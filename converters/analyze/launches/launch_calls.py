"""The call that each launch was made in: an op, or else a frame of Python.

A graph is replayed, and a runtime is called, without an op around it. Such work is on no op; but which line of Python it came from
is known all the same.
"""

from __future__ import annotations

import numpy as np

from ...nesting import enclosing, nearest
from ...timeline import Int64, Timeline
from ..host.host_calls import MODULE, OP, PYTHON, HostCalls, is_within
from ..host.host_threads import host_threads

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
    # Lanes of threads that the trace does not show are those of no call.
    track, start_ns = host_threads(timeline).launch[lost], launches.start_ns[lost]
    at = enclosing(calls.track, calls.start_ns, calls.end_ns, calls.parent, track, start_ns, start_ns + 1)
    frame = np.append(nearest(calls.parent, calls.kind != OP), -1)[at]
    # A named range alone owns no launch.
    found[lost] = np.where(np.append(is_within(calls, PYTHON, MODULE), False)[frame], frame, -1)
    return found
