"""The scheduler of the simulated device as one would explain it: call by call, command by command, in plain integers."""

from __future__ import annotations

from collections.abc import Sequence

from rblnpb.columns import ABSENT
from rblnpb.sim.compiled import Compiled


def lay_out_one(compiled: Compiled, program: int, duration_ns: Sequence[int]) -> list[int]:
    """Start of each command of one call, from the start of the call."""
    rows = range(compiled.rows(program).start, compiled.rows(program).stop)
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    engine_free: dict[int, int] = {}
    for row, duration in zip(rows, duration_ns, strict=True):
        workload = int(compiled.workload[row])
        earlier = [other for other in starts if other < row]
        before = [other for other in earlier if int(compiled.workload[other]) != workload]
        opened = max((ends[other] + (0 if compiled.workload[other] == ABSENT else 200) for other in before), default=0)
        ready = opened if workload == ABSENT else opened + 300
        engine = int(compiled.engine_id[row])
        ready = max(ready, engine_free.get(engine, 0))
        for predecessor in compiled.commands.predecessors(row):
            ready = max(ready, ends[predecessor] + 120)
        starts[row] = ready
        ends[row] = engine_free[engine] = ready + duration
    return [starts[row] for row in rows]


def queue(arrivals: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """Start of each call on a device that takes them one at a time."""
    starts: list[int] = []
    free = -(10**30)
    for arrival, length in zip(arrivals, lengths, strict=True):
        starts.append(max(arrival, free))
        free = starts[-1] + length
    return starts


def ticks(origin_ticks: int, origin_ns: int, hz: int, drift_ppb: int, time_ns: int) -> int:
    """Reading of a drifting counter, floor of the exact value up to one tick for the two roundings."""
    return origin_ticks + (time_ns - origin_ns) * hz * (10**9 + drift_ppb) // 10**18
