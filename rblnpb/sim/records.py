"""Calls with their layouts, as the record tables of a profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.clock import HOST_MONOTONIC
from rblnpb.columns import ABSENT, Counters, Dependencies, DeviceSlices, Int64, Overheads, WorkloadSlices
from rblnpb.profile import OverheadKind
from rblnpb.sim.calls import Calls
from rblnpb.sim.clockwork import DeviceClock
from rblnpb.sim.compiled import Compiled
from rblnpb.sim.schedule import Layout

__all__ = [
    "Batch",
    "carried_dependencies",
    "device_slices",
    "memory_counters",
    "overheads",
    "slice_offsets",
    "workload_slices",
]

_MEMORY_INTERVAL_NS: Final = 10_000_000
_CALLS_PER_OVERHEAD: Final = 16
_OVERHEAD_LEAD_NS: Final = 2_000
_OVERHEAD_NS: Final = 1_500


@dataclass(frozen=True, eq=False)
class Batch:
    """n_p calls of one program among n calls.

    Attributes:
        program: Its place in the compiled programs.
        call: int64[n_p]; which calls, ascending.
        layout: Their commands' times.
    """

    program: int
    call: Int64
    layout: Layout


def slice_offsets(batches: Sequence[Batch], call_count: int) -> Int64:
    """int64[n + 1]; ordinal of the first device slice of each call, and the number of all: calls in order, commands in order."""
    sizes = np.zeros(call_count, np.int64)
    for batch in batches:
        sizes[batch.call] = len(batch.layout.start_ns)
    return np.concatenate([[0], np.cumsum(sizes)])


def device_slices(compiled: Compiled, clock: DeviceClock, calls: Calls, batches: Sequence[Batch]) -> DeviceSlices:
    """One slice for each command of each call: calls in order, commands in the compiler's order.

    Args:
        compiled: The programs.
        clock: Of the device.
        calls: When the device begins each.
        batches: All of them, by program.
    """
    offsets, start_ns = slice_offsets(batches, len(calls)), calls.start_ns
    total = int(offsets[-1])
    command = np.empty(total, np.int64)
    begin_ns = np.empty(total, np.int64)
    duration_ns = np.empty(total, np.int64)
    for batch in batches:
        rows = compiled.rows(batch.program)
        places = (offsets[batch.call][:, None] + np.arange(rows.stop - rows.start)).ravel()
        command[places] = np.tile(np.arange(rows.start, rows.stop), len(batch.call))
        begin_ns[places] = (batch.layout.start_ns + start_ns[batch.call]).T.ravel()
        duration_ns[places] = batch.layout.duration_ns.T.ravel()
    sizes = np.diff(offsets)
    start_ticks = clock.ticks(begin_ns)
    return DeviceSlices.of(
        clock_id=clock.clock.clock_id,
        command_row=command,
        engine_id=compiled.engine_id[command],
        start_ticks=start_ticks,
        duration_ticks=clock.ticks(begin_ns + duration_ns) - start_ticks,
        launch_id=np.repeat(calls.load.launch_id, sizes),
        instance=np.repeat(calls.load.instance, sizes),
        sequence=np.repeat(calls.load.sequence, sizes),
        workload=compiled.workload[command],
        compute_cycles=compiled.cycles[command],
        size_bytes=compiled.size_bytes[command],
    )


def workload_slices(clock: DeviceClock, engine_id: int, calls: Calls, batches: Sequence[Batch]) -> WorkloadSlices:
    """One frame on this engine for each runtime call of each call, in order of time; arguments as for `device_slices`."""
    start_ns, load = calls.start_ns, calls.load
    parts: list[WorkloadSlices] = []
    for batch in batches:
        layout = batch.layout
        frames = len(layout.workload)
        call = np.repeat(batch.call, frames)
        begin_ticks = clock.ticks((layout.frame_start_ns + start_ns[batch.call]).T.ravel())
        end_ticks = clock.ticks((layout.frame_end_ns + start_ns[batch.call]).T.ravel())
        parts.append(
            WorkloadSlices.of(
                clock_id=clock.clock.clock_id,
                engine_id=engine_id,
                start_ticks=begin_ticks,
                duration_ticks=end_ticks - begin_ticks,
                launch_id=load.launch_id[call],
                program_id=batch.program + 1,
                instance=load.instance[call],
                sequence=load.sequence[call],
                workload=np.tile(layout.workload, len(batch.call)),
            )
        )
    frames_of_all = WorkloadSlices.concat(parts)
    return frames_of_all.take(np.argsort(frames_of_all.start_ticks, kind="stable"))


def carried_dependencies(compiled: Compiled, calls: Calls, batches: Sequence[Batch]) -> Dependencies:
    """From each carried command to the same one in the next call of the same program on the same instance, by successor."""
    offsets, instance = slice_offsets(batches, len(calls)), calls.load.instance
    before: list[Int64] = [np.empty(0, np.int64)]
    after: list[Int64] = [np.empty(0, np.int64)]
    for batch in batches:
        carried = np.flatnonzero(compiled.is_carried[compiled.rows(batch.program)])
        call = batch.call[np.lexsort((batch.call, instance[batch.call]))]
        follows = instance[call[1:]] == instance[call[:-1]]
        before.append((offsets[call[:-1][follows]][:, None] + carried).ravel())
        after.append((offsets[call[1:][follows]][:, None] + carried).ravel())
    predecessor, successor = np.concatenate(before), np.concatenate(after)
    order = np.argsort(successor, kind="stable")
    return Dependencies.of(predecessor_ordinal=predecessor[order], successor_ordinal=successor[order])


_OVERHEADS: Final = (
    (OverheadKind.CPU_FALLBACK, "aten::sub.out", "dtype-not-fp16", "model.py:31(forward)", ABSENT),
    (OverheadKind.RECOMPILATION, "aten::add.out", "new shape", "model.py:40(forward)", ABSENT),
    (OverheadKind.HOST_COPY, "aten::copy_", "not contiguous", "model.py:42(forward)", 8_192),
)


def overheads(calls: Calls, intern: Callable[[str], int]) -> Overheads:
    """Hidden work of the host just before every sixteenth call, one sort after the other.

    Args:
        calls: The recording's calls.
        intern: Gives the string row of a text.
    """
    call = np.arange(_CALLS_PER_OVERHEAD, len(calls), _CALLS_PER_OVERHEAD)
    sort = np.arange(len(call)) % len(_OVERHEADS)
    return Overheads.of(
        len(call),
        overhead=np.array([kind for kind, *_ in _OVERHEADS])[sort],
        op_strindex=np.array([intern(op) for _, op, *_ in _OVERHEADS])[sort],
        reason_strindex=np.array([intern(reason) for _, _, reason, _, _ in _OVERHEADS])[sort],
        place_strindex=np.array([intern(place) for _, _, _, place, _ in _OVERHEADS])[sort],
        start_ns=calls.begin_ns[call] - _OVERHEAD_LEAD_NS,
        duration_ns=_OVERHEAD_NS,
        thread_id=calls.load.thread_id[call],
        size_bytes=np.array([size_bytes for *_, size_bytes in _OVERHEADS])[sort],
    )


def memory_counters(
    compiled: Compiled, calls: Calls, started_ns: int, ended_ns: int, device_id: int, intern: Callable[[str], int]
) -> Counters:
    """Device memory in use, every 10 ms from start to end: the weights of what was compiled, and the data of the call that runs.

    Args:
        compiled: The programs.
        calls: The recording's calls.
        started_ns, ended_ns: Host monotonic clock.
        device_id: Whose memory it is.
        intern: Gives the string row of a text.
    """
    time_ns = np.append(np.arange(started_ns, ended_ns, _MEMORY_INTERVAL_NS), ended_ns)
    weights = np.array([recipe.weight_bytes for recipe in compiled.recipes], np.int64)[calls.load.program]
    loaded = np.concatenate([[0], np.cumsum(np.where(calls.load.compile_ns > 0, weights, 0))])
    running = np.searchsorted(calls.start_ns, time_ns, side="right") - 1
    is_busy = (running >= 0) & (time_ns < calls.end_ns[running])
    data = np.where(is_busy, (calls.load.input_bytes + calls.load.output_bytes)[running], 0)
    return Counters.of(
        clock_id=HOST_MONOTONIC,
        name_strindex=intern("device memory (bytes)"),
        device_id=device_id,
        time_ticks=time_ns,
        value=(loaded[np.searchsorted(calls.launch_ns, time_ns, side="right")] + data).astype(np.float64),
    )
