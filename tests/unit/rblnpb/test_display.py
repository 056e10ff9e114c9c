"""Profiles as Perfetto's own packets, read back with Perfetto's official bindings."""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rblnpb
from rblnpb.clock import HOST_MONOTONIC
from rblnpb.columns import ABSENT, DeviceSlices, WorkloadSlices
from rblnpb.display import display_packets
from rblnpb.naming import NameStyle
from rblnpb.profile import Device, Engine, EngineKind, Profile, Program, Session
from tests.support.profiles import tiny
from tests.support.row_oracle import crosses

trace_pb2 = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="Perfetto's bindings are not installed")

Slice = tuple[str, str, str, int, int]
"""Process, thread, name, start, end."""


def packets_of(data: bytes) -> list[Any]:
    """Packets of a stream, with those in bundles in their place."""
    packets: list[Any] = []
    for packet in trace_pb2.Trace.FromString(data).packet:
        bundled = packet.HasField("compressed_packets")
        packets += packets_of(zlib.decompress(packet.compressed_packets)) if bundled else [packet]
    return packets


def shown(data: bytes) -> list[Slice]:
    """What a viewer makes of the packets: in order of time, and as they come; an end closes what began last on its track."""
    packets = packets_of(data)
    processes = {
        p.track_descriptor.process.pid: p.track_descriptor.process.process_name
        for p in packets
        if p.track_descriptor.HasField("process")
    }
    threads = {p.track_descriptor.uuid: p.track_descriptor.thread for p in packets if p.track_descriptor.HasField("thread")}
    events = sorted((packet for packet in packets if packet.HasField("track_event")), key=lambda packet: packet.timestamp)
    open_slices: dict[int, list[tuple[str, int]]] = {}
    closed = []
    for packet in events:
        event = packet.track_event
        if event.type == trace_pb2.TrackEvent.TYPE_SLICE_BEGIN:
            open_slices.setdefault(event.track_uuid, []).append((event.name, packet.timestamp))
        else:
            name, start = open_slices[event.track_uuid].pop()
            thread = threads[event.track_uuid]
            closed.append((processes[thread.pid], thread.thread_name, name, start, packet.timestamp))
    assert not any(open_slices.values())
    return sorted(closed)


def displayed(profile: Profile) -> bytes:
    return b"".join(display_packets(profile))


def monotonic(starts: list[int], durations: list[int], **columns: Any) -> DeviceSlices:
    """Slices that are told in nanoseconds of the host."""
    ticks = {"start_ticks": np.array(starts, np.uint64), "duration_ticks": np.array(durations, np.uint64)}
    return DeviceSlices.of(len(starts), **{"clock_id": HOST_MONOTONIC, "engine_id": 1, "name_strindex": 3, **ticks, **columns})


def test_slices_stand_on_their_engine_at_the_hosts_time() -> None:
    assert shown(displayed(tiny())) == [
        ("rbln:0", "Neural Engine Clusters (chiplet 0)", "mm", 1110, 1360),
        ("rbln:0", "Neural Engine Clusters (chiplet 0)", "mm", 1410, 1710),
        ("rbln:0", "Neural Engine Clusters (chiplet 0)", "mm", 1910, 1960),
    ]


def test_names_are_put_together_of_their_parts_or_given_whole() -> None:
    profile = tiny(
        session=Session(1, name_style=NameStyle.MULTI_STREAM),
        device_slices=monotonic(
            [0, 10, 20],
            [5, 5, 5],
            name_strindex=np.array([0, 0, 5]),
            stage_strindex=np.array([3, 4, 4]),
            instance=1,
            sequence=np.array([0, 7, 7]),
            workload=np.array([2, ABSENT, 0]),
        ),
    )

    assert [name for _, _, name, _, _ in shown(displayed(profile))] == ["aten::mm", "i1_0_W2_mm_0", "i1_7_args_0_0"]


def test_a_long_name_among_short_ones_stays_with_its_slice() -> None:
    long = "n" * 20_000
    profile = tiny(strings=("", long, "mm"), device_slices=monotonic([0, 10, 20], [5, 5, 5], name_strindex=np.array([2, 1, 2])))

    assert [(name, start) for _, _, name, start, _ in shown(displayed(profile))] == [("mm", 0), ("mm", 20), (long, 10)]


def test_an_engine_of_a_device_that_is_not_defined_has_a_process_all_the_same() -> None:
    profile = tiny(engines=(Engine(1, 9, EngineKind.TASK_DMA),), device_slices=monotonic([0], [5]))

    assert shown(displayed(profile)) == [("undefined device 9", "Task DMA", "mm", 0, 5)]


def test_slices_that_cross_stand_on_further_threads_of_their_engine() -> None:
    profile = tiny(device_slices=monotonic([0, 5, 6], [10, 10, 2]))

    assert [(thread, start, end) for _, thread, _, start, end in shown(displayed(profile))] == [
        ("Neural Engine Clusters (chiplet 0)", 0, 10),
        ("Neural Engine Clusters (chiplet 0)", 6, 8),
        ("Neural Engine Clusters (chiplet 0) (2)", 5, 15),
    ]


def test_each_device_is_a_process_and_engines_keep_their_order() -> None:
    profile = tiny(
        devices=(Device(1, "rbln:0"), Device(2, "", ordinal=1)),
        engines=(
            Engine(1, 2, EngineKind.NEURAL_DMA, display_order=1),
            Engine(2, 1, EngineKind.TASK_DMA, display_order=2),
            Engine(3, 1, EngineKind.NEURAL_DMA, "ndma", 3, display_order=1),
        ),
        device_slices=monotonic([0, 1, 2, 3], [1, 1, 1, 1], engine_id=np.array([1, 2, 3, 9])),
    )
    threads = [p.track_descriptor.thread for p in packets_of(displayed(profile)) if p.track_descriptor.HasField("thread")]

    assert [thread.thread_name for thread in sorted(threads, key=lambda thread: thread.tid)] == [
        "ndma (chiplet 3)",
        "Task DMA",
        "Neural DMA",
        "Unknown engine",
    ]
    assert [(process, thread) for process, thread, *_ in shown(displayed(profile))] == [
        ("device", "Unknown engine"),
        ("device 1", "Neural DMA"),
        ("rbln:0", "Task DMA"),
        ("rbln:0", "ndma (chiplet 3)"),
    ]


def test_frames_are_called_by_their_program() -> None:
    frames = WorkloadSlices.of(
        3, clock_id=HOST_MONOTONIC, engine_id=1, start_ticks=np.array([0, 9, 18]), duration_ticks=3, program_id=np.array([4, 5, 6])
    )
    profile = tiny(programs=(Program(4, "mm"), Program(5, "")), workload_slices=frames, device_slices=DeviceSlices.empty())

    assert [name for _, _, name, _, _ in shown(displayed(profile))] == ["Device Workload", "mm", "program 5"]


def test_what_no_clock_can_place_is_left_out() -> None:
    unplaced = monotonic([1, 2], [5, 5], clock_id=np.array([77, HOST_MONOTONIC]))

    assert len(shown(displayed(tiny(device_slices=unplaced)))) == 1
    assert displayed(tiny(clock_snapshots=())) == b""
    assert displayed(Profile(Session(1))) == b""


def test_names_may_be_long_empty_and_of_any_letters() -> None:
    strings = ("", "\u00b5 \U0001f600", "n" * 100_000, "\ud800")
    profile = tiny(strings=strings, device_slices=monotonic([0, 10, 20], [5, 5, 5], name_strindex=np.array([1, 2, 3])))

    assert [name for _, _, name, _, _ in shown(displayed(profile))] == ["?", "n" * 100_000, "\u00b5 \U0001f600"]


def test_tracks_of_two_sessions_do_not_meet() -> None:
    one, other = (
        {p.track_descriptor.uuid for p in packets_of(displayed(tiny(session=Session(number)))) if p.HasField("track_descriptor")}
        for number in (1, 2)
    )

    assert len(one) == len(other) == 2
    assert not one & other


def test_a_profile_with_display_packets_reads_as_without() -> None:
    file = io.BytesIO()
    rblnpb.write(tiny(), file, display=True)
    profile = rblnpb.read(io.BytesIO(file.getvalue()))

    assert profile.findings == ()
    assert profile.session.has_display_packets
    assert profile.equals(tiny(session=profile.session))
    assert len(shown(file.getvalue())) == 3


few_slices = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 9)), min_size=1, max_size=10)


@given(few_slices)
def test_every_slice_is_shown_with_its_start_and_its_end(slices: list[tuple[int, int]]) -> None:
    data = displayed(tiny(device_slices=monotonic([start for start, _ in slices], [length for _, length in slices])))
    found = shown(data)

    assert sorted((start, end) for *_, start, end in found) == sorted((start, start + length) for start, length in slices)
    for thread in {thread for _, thread, *_ in found}:
        own = [(0, start, end - start) for _, name, _, start, end in found if name == thread]
        assert not any(crosses(one, other) for one in own for other in own)
