"""Small runs by hand: trace.json as both emitters of the vendor's bridge (RBLN-SW/torch-rbln) write it, the device's profile."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import DeviceSlices, Launches
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace
from rblnpb.profile import Device, Engine, EngineKind, Profile, Program, Session

BASE_NS = 1_790_857_026_000_000_000
SESSION_NS = 5_000_000_000
"""Start of the profiled window since BASE_NS; times of the builders count from here."""

HOST_PID, MAIN, WORKER = 4242, 4242, 4243
DEVICE_PID = 0
FLOW_IDS = 0xF000_0000

Json = dict[str, Any]


def at(time_ns: int) -> float:
    """`ts` of a moment of the session: µs since BASE_NS, to the ns."""
    return (SESSION_NS + time_ns) / 1000


def unix_ns(time_ns: int) -> int:
    """Unix time of a moment of the session."""
    return BASE_NS + SESSION_NS + time_ns


def span(category: str, name: str, start_ns: int, end_ns: int, *, pid: Any = HOST_PID, tid: Any = MAIN, **args: Any) -> Json:
    """A complete slice."""
    event: Json = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid}
    return {**event, "ts": at(start_ns), "dur": (end_ns - start_ns) / 1000, "args": args}


def op(name: str, start_ns: int, end_ns: int, *, tid: int = MAIN, external_id: int = 0) -> Json:
    """An operator."""
    return span("cpu_op", name, start_ns, end_ns, tid=tid, **({"External id": external_id} if external_id else {}))


def annotation(name: str, start_ns: int, end_ns: int, *, tid: int = MAIN) -> Json:
    """A range that somebody named."""
    return span("user_annotation", name, start_ns, end_ns, tid=tid)


def metadata(row: str, pid: Any, tid: Any = 0, **args: Any) -> Json:
    """A metadata row."""
    return {"ph": "M", "name": row, "ts": at(0), "pid": pid, "tid": tid, "args": args}


@dataclass(frozen=True)
class Launch:
    """One submission and the moment at which the device began with it; times since the start of the session."""

    launch_id: int
    at_ns: int
    device_ns: int
    tid: int = MAIN


FIRST_LANES = ("Workload", "Neural Engine Clusters", "External HDMA", "Device Sync", "Host")
NEWER_LANES = ("compute", "copy", "host", "collective")

FIRST_WORK_NS = 900
"""Busy time that each launch of `first_emitter` makes."""
NEWER_WORK_NS = 950
"""Busy time that each launch of `newer_emitter` makes."""


def first_emitter(launches: Iterable[Launch], *, quoted: bool = False) -> list[Json]:
    """Rows of the emitter of 2026: a lane an engine, frames, a marker `rbln_run` and an arrow to the frame alone.

    Args:
        launches: What was launched; each makes one frame, two copies, one kernel, one wait and one host command.
        quoted: Whether launch ids are texts: every annotation says by itself whether its value is quoted.
    """
    rows = _device(f"RBLN NPU {DEVICE_PID}", FIRST_LANES)
    rows += [metadata("process_labels", pid, labels=f"GPU {pid}") for pid in range(1, 16)]
    for launch in launches:
        identity: Any = str(launch.launch_id) if quoted else launch.launch_id
        parts = (
            ("privateuse1_runtime", "Device Workload", 0, 1000, 0),
            ("gpu_memcpy", "i1_0_W0_args_0_0", 0, 100, 2),
            ("kernel", "i1_0_W0_mm_0", 100, 800, 1),
            ("privateuse1_driver", "i1_0_W0_sync_0", 800, 850, 3),
            ("privateuse1_runtime", "i1_0_reshape_0", 850, 900, 4),
            ("gpu_memcpy", "i1_0_W0_output_0", 900, 1000, 2),
        )
        rows += [
            span(category, name, launch.device_ns + start, launch.device_ns + end, pid=DEVICE_PID, tid=lane,
                 categories=FIRST_LANES[lane], launch_id=identity)
            for category, name, start, end, lane in parts
        ]  # fmt: skip
        rows.append(_marker("rbln_run", launch, identity))
        rows += _arrow(launch, launch.device_ns, lane=0)
    return rows


def newer_emitter(launches: Iterable[Launch]) -> list[Json]:
    """Rows of the next emitter: four lanes, `launch_id` as the only argument, a marker `rbln launch`, arrows to every row."""
    rows = _device(f"NPU {DEVICE_PID}", NEWER_LANES)
    for launch in launches:
        parts = (
            ("kernel", "mm", 0, 700, 0),
            ("gpu_memcpy", "copy", 700, 900, 1),
            ("privateuse1_runtime", "reshape", 900, 950, 2),
            ("privateuse1_driver", "all_reduce", 950, 1000, 3),
        )
        for category, name, start, end, lane in parts:
            begin = launch.device_ns + start
            rows.append(span(category, name, begin, launch.device_ns + end, pid=DEVICE_PID, tid=lane, launch_id=launch.launch_id))
            rows += _arrow(launch, begin, lane)
        rows.append(_marker("rbln launch", launch, launch.launch_id))
    return rows


def _device(name: str, lanes: Sequence[str]) -> list[Json]:
    rows = [
        metadata("process_name", HOST_PID, name="python"),
        metadata("process_labels", HOST_PID, labels="CPU"),
        metadata("process_name", DEVICE_PID, name=name),
        metadata("process_labels", DEVICE_PID, labels=""),
    ]
    return rows + [metadata("thread_name", DEVICE_PID, tid, name=lane) for tid, lane in enumerate(lanes)]


def _marker(name: str, launch: Launch, identity: Any) -> Json:
    return span("privateuse1_runtime", name, launch.at_ns, launch.at_ns, tid=launch.tid, launch_id=identity)


def _arrow(launch: Launch, end_ns: int, lane: int) -> list[Json]:
    flow: Json = {"id": FLOW_IDS + launch.launch_id, "cat": "ac2g", "name": "ac2g"}
    return [
        {"ph": "s", **flow, "pid": HOST_PID, "tid": launch.tid, "ts": at(launch.at_ns)},
        {"ph": "f", **flow, "pid": DEVICE_PID, "tid": lane, "ts": at(end_ns), "bp": "e"},
    ]


def document(events: Iterable[Json], *, base_time: bool = True, window_ns: int | None = 1_000_000, **more: Any) -> bytes:
    """A whole trace.json, with the profiler's own span of `window_ns` in it; None: without."""
    rows = [*events]
    if window_ns is not None:
        rows.append(span("Trace", "PyTorch Profiler (0)", 0, window_ns, pid="Spans", tid="PyTorch Profiler"))
    head: Json = {"schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms", **more}
    if base_time:
        head["baseTimeNanoseconds"] = BASE_NS
    return json.dumps({**head, "traceEvents": rows, "traceName": "trace.json"}).encode()


def host_trace(events: Iterable[Json], **more: Any) -> HostTrace:
    """The same, read."""
    return read_host(io.BytesIO(document(events, **more)))


TICKS_AHEAD = 5000
"""Ticks of the device of `device_profile` are its monotonic ns plus this."""


def device_profile(run: Sequence[Launch], /, *, launched_by: Sequence[int] | None = None, **changes: Any) -> Profile:
    """The profile of a run whose host trace is of the builders above: its monotonic clock is at 0 when the session starts.

    Args:
        run: What was launched, from the main thread unless they say so; each has one slice of 700 ns at its `device_ns`.
        launched_by: Launch ids of the slices, where they are not those of the launches.
        **changes: Attributes of the profile to exchange.
    """
    ids = np.array([launch.launch_id for launch in run], np.uint64)
    readings = [(16, TICKS_AHEAD), (HOST_REALTIME, unix_ns(0))]
    profile = Profile(
        session=Session(session_id=7, process_id=HOST_PID),
        strings=("", "mm", "bytes"),
        clocks=(Clock(16, "rbln:0", 10**9, 64, 1, ClockKind.DEVICE),),
        devices=(Device(1, "rbln:0", 0, 4, 16),),
        engines=(Engine(1, 1, EngineKind.NEURAL_ENGINE_CLUSTERS, chiplet=0), Engine(2, 1, EngineKind.WORKLOAD)),
        programs=(Program(1, "mm"),),
        clock_snapshots=tuple(
            ClockSnapshot(clock, at_ns + ahead, at_ns, at_ns) for clock, ahead in readings for at_ns in (0, 10**9)
        ),
        launches=Launches.of(
            len(run),
            launch_id=ids,
            program_id=1,
            start_ns=np.array([launch.at_ns for launch in run], np.int64),
            process_id=HOST_PID,
            thread_id=np.array([launch.tid for launch in run], np.int64),
        ),
        device_slices=DeviceSlices.of(
            len(run),
            clock_id=16,
            engine_id=1,
            start_ticks=np.array([launch.device_ns + TICKS_AHEAD for launch in run], np.uint64),
            duration_ticks=700,
            launch_id=ids if launched_by is None else np.array(launched_by, np.uint64),
            name_strindex=1,
        ),
    )
    return profile.replace(**changes)
