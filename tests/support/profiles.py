"""Tiny profiles made by hand, and the packets of a file taken apart and put together again."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import rblnpb
from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.columns import (
    ABSENT,
    Counters,
    Dependencies,
    DeviceSlices,
    HostSlices,
    Launches,
    Overheads,
    TextArray,
    TraceEvents,
    WorkloadSlices,
)
from rblnpb.container import frame
from rblnpb.naming import NameStyle
from rblnpb.profile import Commands, Device, Engine, EngineKind, Loss, LossReason, Profile, Program, Session, TraceDocument
from rblnpb.v1 import stream_pb2

SESSION_ID = 0x0123_4567_89AB_CDEF
CODECS = ("raw", "none", "zlib", "zstd")
STRINGS = (
    "",
    "rbln:0",
    "Neural Engine Clusters",
    "mm",
    "args_0",
    "aten::mm",
    "0/0",
    "worker",
    "bytes",
    "1",
    "why",
    "a.py:1",
)
RBLN = Clock(16, "rbln:0", 10**9, 48, 1, ClockKind.DEVICE)
SNAPSHOTS = (
    ClockSnapshot(HOST_REALTIME, 1_790_000_000_000_001_010, 1_000, 1_020),
    ClockSnapshot(16, 0, 1_000, 1_020),
    ClockSnapshot(16, 10_000, 11_000, 11_020),
)


def tiny(**changes: Any) -> Profile:
    """One device, one engine, three slices; properly ended and without a finding."""
    slices = DeviceSlices.of(
        clock_id=16,
        engine_id=1,
        start_ticks=np.array([100, 400, 900], np.uint64),
        duration_ticks=np.array([250, 300, 50], np.uint64),
        launch_id=7,
        name_strindex=3,
    )
    profile = Profile(
        session=Session(SESSION_ID),
        strings=STRINGS,
        clocks=(RBLN,),
        devices=(Device(1, "rbln:0", 0, 4, 16),),
        engines=(Engine(1, 1, EngineKind.NEURAL_ENGINE_CLUSTERS, "Neural Engine Clusters", 0, 1),),
        clock_snapshots=SNAPSHOTS,
        launches=Launches.of(1, launch_id=7, start_ns=1_050, process_id=41, thread_id=42),
        device_slices=slices,
    )
    return profile.replace(**changes)


def commands() -> Commands:
    """Two commands of program 1, the second after the first; one moves bytes and has a chiplet, one has neither."""
    return Commands(
        program_id=np.array([0, 1, 1], np.uint32),
        layer_strindex=np.array([0, 4, 3], np.uint32),
        command_index=np.array([0, 2, 0], np.uint32),
        engine_kind=np.array([0, 5, 2], np.uint32),
        size_bytes=np.array([ABSENT, 4096, ABSENT], np.int64),
        chiplet=np.array([ABSENT, 0, ABSENT], np.int64),
        predecessor_ends=np.array([0, 0, 1], np.int64),
        predecessor_rows=np.array([1], np.uint32),
    )


def full() -> Profile:
    """Something of everything that the schema can say; what is nullable is there, zero and absent."""
    some = np.array([5, 0, ABSENT], np.int64)
    profile = tiny(
        session=Session(
            session_id=SESSION_ID,
            started_real_ns=1_790_000_000_000_000_000,
            started_monotonic_ns=900,
            ended_real_ns=1_790_000_000_000_020_000,
            ended_monotonic_ns=20_900,
            host_name="host",
            boot_id="b-1",
            process_id=41,
            process_name="python",
            rank=0,
            world_size=8,
            tool_name="by hand",
            tool_version="1",
            name_style=NameStyle.MULTI_STREAM,
            drained_after_each_run=False,
            settings=(("RBLN_PROFILER", "1"), ("EMPTY", "")),
            npu="rebel100",
            file_ordinal=2,
        ),
        programs=(Program(1, "mm", "aten::mm", "0/0", 1, 2), Program(2, "mm")),
        commands=commands(),
        threads=((42, "worker"),),
        losses=(
            Loss(17, LossReason.BUFFER_FULL, 3, 1, is_lower_bound=True, first_monotonic_ns=0, last_monotonic_ns=5),
            Loss(0, LossReason.UNKNOWN, 1),
        ),
    )
    slices = profile.device_slices.replace(
        command_row=np.array([1, 2, 0], np.uint32),
        instance=np.array([1, 1, 1], np.uint32),
        sequence=some,
        workload=np.array([0, ABSENT, ABSENT], np.int64),
        compute_cycles=np.array([ABSENT, 70_000, 0], np.int64),
        size_bytes=np.array([ABSENT, ABSENT, 2**40], np.int64),
        stage_strindex=np.array([0, 0, 4], np.uint32),
    )
    return profile.replace(
        device_slices=slices,
        launches=Launches.of(1, launch_id=7, program_id=1, start_ns=1_050, process_id=41, thread_id=42, instance=1, sequence=0),
        workload_slices=WorkloadSlices.of(
            clock_id=16,
            engine_id=1,
            start_ticks=np.array([9, 2**47]),
            duration_ticks=9,
            launch_id=7,
            sequence=some[:2],
            workload=0,
        ),
        dependencies=Dependencies.of(predecessor_ordinal=np.array([0, 1]), successor_ordinal=np.array([2, 2])),
        host_slices=HostSlices.of(
            activity=np.array([1, 2, 5]), start_ns=np.array([-3, 0, 2**40]), duration_ns=1, thread_id=42, size_bytes=some
        ),
        overheads=Overheads.of(
            overhead=np.array([1, 2, 3]), op_strindex=5, reason_strindex=10, place_strindex=11, start_ns=50, duration_ns=some
        ),
        counters=Counters.of(clock_id=16, name_strindex=8, device_id=1, time_ticks=np.array([5, 6]), value=np.array([0.1, -0.0])),
        trace_events=TraceEvents.of(
            phase=np.array([88, 77, 0]),
            name_strindex=np.array([5, 0, 3]),
            process_strindex=9,
            start_ns=np.array([-1, ABSENT, 0]),
            duration_ns=some,
            arguments=TextArray.of([b'{"a":1}', b"", b"x" * 200]),
            text=TextArray.of([b"", b"{}", b""]),
        ),
        trace_document=TraceDocument(b'{"traceEvents":[', b"]}", "trace.json", -1),
    )


def specimen() -> Profile:
    """The file to test with in proto/README.md: one program, one launch, three slices."""
    absent = np.full(2, ABSENT, np.int64)
    return Profile(
        session=Session(
            session_id=SESSION_ID,
            started_real_ns=1_790_000_000_000_000_000,
            started_monotonic_ns=1_000,
            ended_real_ns=1_790_000_000_000_009_000,
            ended_monotonic_ns=10_000,
            process_id=41,
            npu="rebel100",
            name_style=NameStyle.MULTI_STREAM,
        ),
        strings=("", "rbln:0", "mm"),
        clocks=(RBLN,),
        devices=(Device(1, "rbln:0", 0, 4, 16),),
        engines=(Engine(1, 1, EngineKind.NEURAL_ENGINE_CLUSTERS, "", 0),),
        programs=(Program(1, "mm", first_command_row=1, command_count=1),),
        commands=Commands(
            program_id=np.array([0, 1], np.uint32),
            layer_strindex=np.array([0, 2], np.uint32),
            command_index=np.array([0, 0], np.uint32),
            engine_kind=np.array([0, 2], np.uint32),
            size_bytes=absent,
            chiplet=absent.copy(),
            predecessor_ends=np.zeros(2, np.int64),
            predecessor_rows=np.empty(0, np.uint32),
        ),
        clock_snapshots=(ClockSnapshot(16, 0, 1_000, 1_020), ClockSnapshot(16, 9_000, 10_000, 10_020)),
        launches=Launches.of(1, launch_id=7, program_id=1, start_ns=1_200, process_id=41, thread_id=42, instance=1, sequence=0),
        device_slices=DeviceSlices.of(
            clock_id=16,
            command_row=1,
            engine_id=1,
            start_ticks=np.array([500, 1_300, 3_000]),
            duration_ticks=np.array([250, 300, 280]),
            launch_id=7,
            instance=1,
            sequence=0,
            workload=np.array([0, 1, ABSENT]),
        ),
    )


def encode(profile: Profile, codec: str = "zlib") -> bytes:
    """The file of a profile."""
    file = io.BytesIO()
    rblnpb.write(profile, file, codec=codec, display=False)
    return file.getvalue()


def codes(profile: Profile) -> list[str]:
    """Codes of the findings, in their order."""
    return [finding.code for finding in profile.findings]


def packets(data: bytes) -> list[bytes]:
    """The packets of a file, each with its tag and length, told by protobuf's own parser."""
    return [frame(packet.SerializeToString()) for packet in stream_pb2.Stream.FromString(data).packet]


def payloads(data: bytes) -> list[stream_pb2.Payload]:
    """The payloads of a file, by protobuf's own parser."""
    return [packet.payload for packet in stream_pb2.Stream.FromString(data).packet]


def body_of(payload: stream_pb2.Payload) -> Any:
    """The message in a payload's body."""
    return getattr(payload, payload.WhichOneof("body") or "")


def stream(parts: Iterable[stream_pb2.Payload]) -> bytes:
    """A file of these payloads, with checksums that fit."""
    made = []
    for part in parts:
        if part.WhichOneof("body") is not None:
            part.body_crc32 = zlib.crc32(body_of(part).SerializeToString())
        made.append(frame(stream_pb2.Packet(payload=part).SerializeToString()))
    return b"".join(made)


def altered(data: bytes, body: str, change: Callable[[Any], None]) -> bytes:
    """A file in which every body of this name is changed, with checksums that fit again."""
    parts = payloads(data)
    for part in parts:
        if part.WhichOneof("body") == body:
            change(getattr(part, body))
    return stream(parts)
