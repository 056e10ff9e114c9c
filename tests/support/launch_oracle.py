"""A profile built from the recorded launches of a real run, with the host trace that belongs to it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import DeviceSlices, Launches
from rblnpb.profile import Device, Engine, EngineKind, Profile, Session
from rblnpb.strings import StringTable

START_DELAY_NS = 4000
"""The simulator that made the trace started each device slice so long after its launch."""

MONOTONIC_OFFSET_NS = 1_795_000_000_000_000_123
"""Real time minus monotonic time in the profile: any number will do, it must come out again."""

DEVICE_EPOCH_TICKS = 77_777_777


def without_device_rows(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace as a device without a bridge leaves it: host activity alone."""
    device = {"kernel", "gpu_memcpy", "gpu_memset"}
    return {**trace, "traceEvents": [event for event in trace["traceEvents"] if event.get("cat") not in device]}


def recorded_run(folder: Path, trace_name: str = "trace.json.gz") -> tuple[Profile, dict[str, Any], list[dict[str, Any]]]:
    """The profile of a folder with launches.json, the trace without its device rows, and the launches."""
    launches = json.loads((folder / "launches.json").read_bytes())
    trace = json.loads(gzip.decompress((folder / trace_name).read_bytes()))
    base_ns = trace["baseTimeNanoseconds"]
    rows = {}
    for event in trace["traceEvents"]:
        if event.get("cat") in ("kernel", "gpu_memcpy"):
            rows[event["name"], base_ns + round(event["ts"] * 1000)] = (round(event["dur"] * 1000), event["tid"])
    pid = next(event["pid"] for event in trace["traceEvents"] if event.get("cat") == "cpu_op")
    found = [rows[launch["name"], launch["launch_ns"] + START_DELAY_NS] for launch in launches]
    start_ns = np.array([launch["launch_ns"] for launch in launches], np.int64)
    monotonic_ns = start_ns - MONOTONIC_OFFSET_NS
    strings = StringTable()
    names = strings.intern_all(launch["name"] for launch in launches)
    ids = np.arange(1, len(launches) + 1)
    first, last = int(monotonic_ns.min()) - 1000, int(monotonic_ns.max()) + 10**9
    clock = Clock(16, "rbln:0", 10**9, 64, 1, ClockKind.DEVICE)
    snapshots = [ClockSnapshot(16, at + DEVICE_EPOCH_TICKS, at, at) for at in (first, last)]
    snapshots += [ClockSnapshot(HOST_REALTIME, at + MONOTONIC_OFFSET_NS, at, at) for at in (first, last)]
    profile = Profile(
        session=Session(session_id=1, host_name=trace["host_name"], process_id=pid),
        strings=strings.rows(),
        clocks=(clock,),
        devices=(Device(1, "rbln:0", 0, 4, 16),),
        engines=(
            Engine(1, 1, EngineKind.NEURAL_ENGINE_CLUSTERS, display_order=1),
            Engine(2, 1, EngineKind.EXTERNAL_HDMA, display_order=2),
        ),
        clock_snapshots=tuple(snapshots),
        launches=Launches.of(
            launch_id=ids,
            start_ns=monotonic_ns,
            process_id=pid,
            thread_id=np.array([launch["tid"] for launch in launches]),
        ),
        device_slices=DeviceSlices.of(
            clock_id=16,
            engine_id=np.array([lane + 1 for _, lane in found]),
            start_ticks=monotonic_ns + START_DELAY_NS + DEVICE_EPOCH_TICKS,
            duration_ticks=np.array([duration for duration, _ in found]),
            launch_id=ids,
            name_strindex=np.array(names),
        ),
    )
    return profile, without_device_rows(trace), launches
