"""What the cases work on: device records with every column, host traces as Kineto writes them, call trees, timelines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import ABSENT, Dependencies, DeviceSlices, Launches
from rblnpb.converters.timeline import AlignedSlices, HostEvents, HostTrace, HostTrack, SliceNames, Timeline, Track
from rblnpb.naming import NameStyle
from rblnpb.profile import Commands, Device, Engine, EngineKind, Profile, Program, Session
from tests.support.timelines import launches, timeline
from tests.support.torch_events import ORIGIN_NS, Event, host_trace

Ints = npt.NDArray[np.int64]

BASE_NS = 1_790_857_026_000_000_000
FIRST_US = 5_106_254_555_611
"""Where the host traces begin, after BASE_NS: a machine that is up for two months."""
THREAD = 2293

COMMANDS = 24
CALL_NS = 1_090_000
"""About how long a call of the program takes."""
KINDS = (
    EngineKind.EXTERNAL_HDMA,
    EngineKind.TASK_DMA,
    EngineKind.NEURAL_DMA,
    EngineKind.NEURAL_ENGINE_CLUSTERS,
    EngineKind.DEVICE_SYNC,
    EngineKind.GENERAL_COMPUTE_ENGINE,
)


def command_table() -> Commands:
    """One program: each command after the one before it; transfers have planned bytes."""
    rows = np.arange(COMMANDS + 1)
    kinds = np.array([0, *(int(KINDS[row % len(KINDS)]) for row in range(COMMANDS))], np.uint32)
    absent = np.full(COMMANDS + 1, ABSENT, np.int64)
    return Commands(
        program_id=(rows > 0).astype(np.uint32),
        layer_strindex=np.where(rows > 0, 2 + rows % 3, 0).astype(np.uint32),
        command_index=rows.astype(np.uint32),
        engine_kind=kinds,
        size_bytes=np.where((rows > 0) & (rows % 3 == 0), rows * 4096, absent),
        chiplet=absent,
        predecessor_ends=np.maximum(rows - 1, 0),
        predecessor_rows=np.arange(1, COMMANDS, dtype=np.uint32),
    )


def device_profile(count: int) -> Profile:
    """Records of many calls of one program on four chiplets: durations vary by 5 %, every column, dependencies between calls.

    Launches are of THREAD, and the recording begins when the host traces do.
    """
    draw = np.random.default_rng(7)
    commands = command_table()
    calls = -(-count // COMMANDS)
    row = np.tile(np.arange(1, COMMANDS + 1), calls)[:count]
    call = np.repeat(np.arange(calls), COMMANDS)[:count]
    usual = draw.integers(800, 90_000, COMMANDS)
    duration = (usual[row - 1] * draw.uniform(0.95, 1.05, count)).astype(np.int64)
    start = np.cumsum(duration + draw.integers(50, 400, count)) + 10**12
    is_compute = np.isin(commands.engine_kind[row], [2, 8])
    first_of_call = np.arange(0, count - COMMANDS, COMMANDS)
    begun_ns, now_ns = FIRST_US * 1000, FIRST_US * 1000 + int(start[-1]) - 10**12
    return Profile(
        session=Session(7, npu="rebel100", started_real_ns=BASE_NS + begun_ns, started_monotonic_ns=begun_ns),
        strings=("", "rbln:0", "args_0", "mm", "relu"),
        clocks=(Clock(16, "rbln:0", 10**9, 48, 1, ClockKind.DEVICE),),
        devices=(Device(1, "rbln:0", 0, 4, 16),),
        engines=tuple(Engine(row, 1, KINDS[(row - 1) % len(KINDS)], "", (row - 1) // len(KINDS)) for row in range(1, 25)),
        programs=(Program(1, "mm", "", "", 1, COMMANDS),),
        commands=commands,
        clock_snapshots=(
            ClockSnapshot(16, 10**12, begun_ns, begun_ns + 20),
            ClockSnapshot(HOST_REALTIME, BASE_NS + begun_ns + 30, begun_ns + 20, begun_ns + 40),
            ClockSnapshot(16, int(start[-1]), now_ns, now_ns + 20),
        ),
        launches=Launches.of(
            launch_id=1 + np.arange(calls),
            program_id=1,
            start_ns=begun_ns + np.arange(calls) * CALL_NS,
            thread_id=THREAD,
            instance=1,
            sequence=np.arange(calls),
        ),
        device_slices=DeviceSlices.of(
            clock_id=16,
            command_row=row,
            engine_id=1 + (row - 1) % len(KINDS) + 6 * (call % 4),
            start_ticks=start,
            duration_ticks=duration,
            launch_id=1 + call,
            instance=1,
            sequence=call,
            workload=np.where(commands.engine_kind[row] == 5, ABSENT, row // 12),
            compute_cycles=np.where(is_compute, duration * 13 // 10, ABSENT),
            size_bytes=np.where(is_compute, ABSENT, commands.size_bytes[row]),
        ),
        dependencies=Dependencies.of(predecessor_ordinal=first_of_call, successor_ordinal=first_of_call + COMMANDS),
    )


HEAD = """ {
    "schemaVersion": 1,
    "deviceProperties": [],
    "displayTimeUnit": "ms",
    "baseTimeNanoseconds": 1790857026000000000,
    "traceEvents": [
    
"""  # noqa: W293  as Kineto writes it
EVENT = """  {{
    "ph": "X",
    "cat": "cpu_op",
    "name": "{name}",
    "pid": 2293,
    "tid": {tid},
    "ts": {start_us}.{start_rest:03d},
    "dur": {us}.{rest:03d}
    ,
    "args": {{
      "External id": {external_id},"Record function id": 0,{sequence} "Ev Idx": {index}
    }}
  }}"""


ARROW = """  {{
    "ph": "{phase}",
    "id": {number},
    "pid": 2293,
    "tid": {tid},
    "ts": {start_us}.{start_rest:03d},
    "cat": "fwdbwd",
    "name": "fwdbwd"
    {binding}
  }}"""
OPS_AN_ARROW_END = 8
"""About what a training step has: an op in five has a sequence number, an event in nine is an end of an arrow."""
TRACE_THREADS, FAMILY = 2, 4
"""Threads of a host trace, which take turns; on each, of so many events the first calls the others."""


def event_times(count: int, first_us: int, gap_ns: int) -> tuple[Ints, Ints]:
    """Starts and durations of the events of a trace; on a thread no event crosses another."""
    draw = np.random.default_rng(7)
    start_ns = first_us * 1000 + np.cumsum(draw.integers(50, 2 * gap_ns, count + TRACE_THREADS))
    room_ns = start_ns[TRACE_THREADS:] - start_ns[:-TRACE_THREADS]
    end_ns = start_ns[:count] + (room_ns * draw.uniform(0.1, 0.8, count)).astype(np.int64)
    row = np.arange(count)
    is_caller = row // TRACE_THREADS % FAMILY == 0
    last_called = np.minimum(row + TRACE_THREADS * (FAMILY - 1), count - 1 - (count - 1 - row) % TRACE_THREADS)
    end_ns[is_caller] = end_ns[last_called][is_caller] + room_ns[last_called][is_caller] // 10
    return start_ns[:count], end_ns - start_ns[:count]


def event_texts(count: int, first_us: int, gap_ns: int) -> Iterator[str]:
    """Ops in the formatting of Kineto, their names skewed as they are in a training step."""
    draw = random.Random(7)
    names = [f"aten::{''.join(draw.choices('abcdefghijklmnopqrstuvwxyz_', k=draw.randint(2, 20)))}" for _ in range(400)]
    start_ns, duration_ns = event_times(count, first_us, gap_ns)
    columns = zip(
        draw.choices(names, [1 / (rank + 1) for rank in range(400)], k=count), start_ns.tolist(), duration_ns.tolist(), strict=True
    )
    for index, (name, start, duration) in enumerate(columns):
        yield EVENT.format(
            name=name,
            tid=THREAD + index % TRACE_THREADS,
            start_us=start // 1000,
            start_rest=start % 1000,
            us=duration // 1000,
            rest=duration % 1000,
            external_id=index + 1,
            sequence=f' "Sequence number": {index // 5}, "Fwd thread id": 0,' if index % 5 == 0 else "",
            index=index,
        )


def with_arrows(texts: Iterator[str], first_us: int) -> Iterator[str]:
    """Every so many ops the beginning or the end of an arrow, at some time and on the thread of the op before it."""
    for index, text in enumerate(texts):
        yield text
        if index % OPS_AN_ARROW_END == OPS_AN_ARROW_END - 1:
            arrow, is_end = divmod(index // OPS_AN_ARROW_END, 2)
            start_ns = first_us * 1000 + index * TRACE_THREADS
            yield ARROW.format(
                phase="f" if is_end else "s",
                number=arrow + 1,
                tid=THREAD + index % TRACE_THREADS,
                start_us=start_ns // 1000,
                start_rest=start_ns % 1000,
                binding=', "bp": "e"' if is_end else "",
            )


def trace_file(folder: Path, count: int, first_us: int = FIRST_US, gap_ns: int = 4500, *, has_arrows: bool = False) -> Path:
    """A trace as `export_chrome_trace` writes it, made once: so many events, all of them ops on two threads, or arrows too."""
    path = folder / f"trace-{count}-{first_us}-{gap_ns}{'-arrows' if has_arrows else ''}.json"
    if not path.exists():
        texts = event_texts(count, first_us, gap_ns)
        with path.open("w", encoding="utf-8") as file:
            file.write(HEAD)
            for index, text in enumerate(islice(with_arrows(texts, first_us) if has_arrows else texts, count)):
                file.write(f",\n{text}" if index else text)
            file.write('\n  ],"traceName": "trace.json" }')
    return path


@dataclass(frozen=True)
class CallColumns:
    """Calls of random shape, as columns, one row each, thread after thread in order of start."""

    start_ns: Ints
    duration_ns: Ints
    tid: Ints
    name: Ints


def random_calls(size: int, depth: int, threads: int = 4, names: int = 200) -> CallColumns:
    """Call trees of up to `depth` levels on some threads."""
    draw = np.random.default_rng(7)
    start, duration = np.zeros((2, size), np.int64)
    tid = np.minimum(np.arange(size) * threads // max(size, 1), threads - 1)
    for thread in range(threads):
        rows = iter(np.flatnonzero(tid == thread).tolist())
        moves = draw.random(4 * size // threads + 4 * depth) < 0.55
        gaps = draw.integers(1, 900, len(moves))
        stack: list[int] = []
        now = 0
        for opens, gap in zip(moves.tolist(), gaps.tolist(), strict=True):
            now += gap
            row = next(rows, None) if opens and len(stack) < depth else None
            if row is not None:
                start[row] = now
                stack.append(row)
            elif stack:
                row = stack.pop()
                duration[row] = now - start[row]
    return CallColumns(start, duration, tid, draw.integers(0, names, size))


def stored_calls(folder: Path, size: int, depth: int) -> CallColumns:
    """The same, made once: its loop takes longer than most of what is measured."""
    path = folder / f"calls-{size}-{depth}.npz"
    if not path.exists():
        np.savez(path, **vars(random_calls(size, depth)))
    with np.load(path) as columns:
        return CallColumns(**columns)


def host_of_calls(calls: CallColumns) -> HostTrace:
    """The trace of such calls, without an object per event."""
    size = len(calls.start_ns)
    model = host_trace(Event("cpu_op", "aten::op"))
    first = len(model.strings)
    columns = {name: np.resize(column[1:], size) for name, column in vars(model.events).items()}
    columns |= {
        "name": (first + calls.name).astype(np.int32),
        "track": (len(model.tracks) + calls.tid).astype(np.int32),
        "start_ns": ORIGIN_NS + calls.start_ns,
        "duration_ns": calls.duration_ns.copy(),
        "external_id": np.arange(1, size + 1),
        "event_index": np.arange(size),
    }
    return replace(
        model,
        events=HostEvents(**columns),
        strings=(*model.strings, *(f"aten::op_{number}" for number in range(int(calls.name.max(initial=0)) + 1))),
        tracks=(*model.tracks, *(HostTrack(7, 7 + thread) for thread in range(int(calls.tid.max(initial=0)) + 1))),
    )


ARGUMENTS = ("launch_id", "compute_cycles", "size_bytes")
LAYERS = 400
ENGINES = 24
PER_LAUNCH = 40


def many_slices(count: int) -> Timeline:
    """`count` device slices on rows without crossings, in the names of the vendor, every column filled."""
    draw = np.random.default_rng(1)
    row = np.arange(count)
    track = (row % ENGINES).astype(np.int32)
    call = row // PER_LAUNCH
    names = SliceNames(
        NameStyle.MULTI_STREAM,
        strings=("", *(f"encoder_layer_{layer}_linear" for layer in range(LAYERS))),
        stage=draw.integers(1, LAYERS + 1, count).astype(np.int32),
        command=(row % 7).astype(np.int32),
        instance=np.ones(count, np.int32),
        sequence=call,
        workload=row % 3,
        override=np.zeros(count, np.int32),
    )
    none = np.full(count, -1, np.int64)
    arguments = np.stack((call + 1, draw.integers(1000, 100_000, count), draw.integers(64, 1 << 20, count)), axis=1)
    duration = (np.array([5400, 7200, 9900])[row % 3] * draw.uniform(0.95, 1.05, count)).astype(np.int64)
    start = BASE_NS + row * 500
    slices = AlignedSlices(start, duration, track, names, call, none, np.zeros_like(track), none, arguments)
    return timeline(
        slices=slices,
        launches=launches(*({"start": 0} for _ in range(call[-1] + 1))),
        tracks=tuple(Track("rbln:0", f"engine {engine}", "compute", is_work=True, order=engine) for engine in range(ENGINES)),
        argument_names=ARGUMENTS,
    )
