"""When things run: commands within one call, and calls one after another on a device.

Everything is worked out for all calls of a program at once. Within a call there is a loop over its commands; between calls the
queue is a running maximum: a call begins when it has arrived and the one before has ended.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT, Int64
from rblnpb.sim.compiled import Compiled

__all__ = ["Layout", "lay_out", "queue_starts"]

_DISPATCH_NS = 120  # the command processor, between one command's end and the start of the next that waited for it
_FRAME_ENTRY_NS = 300
_FRAME_EXIT_NS = 200


@dataclass(frozen=True, eq=False)
class Layout:
    """n calls of one program with c commands in w runtime calls; nanoseconds from the start of each call.

    Attributes:
        start_ns, duration_ns: int64[c, n]; of the commands.
        workload: int64[w]; ordinals of the runtime calls.
        frame_start_ns, frame_end_ns: int64[w, n]; of the runtime calls, around their commands.
        length_ns: int64[n]; when all is done.
    """

    start_ns: Int64
    duration_ns: Int64
    workload: Int64
    frame_start_ns: Int64
    frame_end_ns: Int64
    length_ns: Int64


def lay_out(compiled: Compiled, program: int, duration_ns: Int64) -> Layout:
    """Times of the commands of some calls of a program.

    A command starts when its predecessors have ended, its engine is free and its runtime call has begun. Commands are given to an
    engine in the compiler's order. A runtime call begins when the one before, or the host's part, has ended.

    Args:
        compiled: Has the program.
        program: Its place in `compiled.programs`.
        duration_ns: int64[c, n]; how long each command takes in each call.
    """
    rows = compiled.rows(program)
    count = duration_ns.shape[1]
    start_ns = np.zeros_like(duration_ns)
    end_ns = np.zeros_like(duration_ns)
    free_ns: dict[int, Int64] = {}
    begin = done = np.zeros(count, np.int64)
    current: int | None = None
    frames: list[tuple[int, Int64, Int64]] = []
    for at, row in enumerate(range(rows.start, rows.stop)):
        workload = int(compiled.workload[row])
        if workload != current:
            begin, current = done, workload
            if workload != ABSENT:
                frames.append((workload, begin, begin))
                begin = begin + _FRAME_ENTRY_NS
        engine = int(compiled.engine_id[row])
        ready = np.maximum(begin, free_ns.get(engine, begin))
        for predecessor in compiled.commands.predecessors(row):
            ready = np.maximum(ready, end_ns[predecessor - rows.start] + _DISPATCH_NS)
        start_ns[at] = ready
        end_ns[at] = free_ns[engine] = ready + duration_ns[at]
        done = np.maximum(done, end_ns[at] + (_FRAME_EXIT_NS if workload != ABSENT else 0))
        if workload != ABSENT:
            frames[-1] = (workload, frames[-1][1], done)
    ordinals = np.array([workload for workload, _, _ in frames], np.int64)
    opened = np.array([opened for _, opened, _ in frames], np.int64).reshape(-1, count)
    closed = np.array([closed for _, _, closed in frames], np.int64).reshape(-1, count)
    return Layout(start_ns, duration_ns, ordinals, opened, closed, done)


def queue_starts(arrival_ns: Int64, length_ns: Int64) -> Int64:
    """int64[n]; when each call begins on a device that takes them one at a time, in the order given.

    start[k] = max(arrival[k], start[k - 1] + length[k - 1]), written as a running maximum over what is left when the work before a
    call is taken off.

    >>> queue_starts(np.array([0, 5, 100]), np.array([20, 10, 1])).tolist()
    [0, 20, 100]
    """
    before_ns = np.cumsum(length_ns) - length_ns
    starts: Int64 = np.maximum.accumulate(arrival_ns - before_ns) + before_ns
    return starts
