"""Files of the vendor's profiler, in every layout that the public facts allow."""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rblnpb.clock import HOST_MONOTONIC, HOST_REALTIME, ClockSnapshot
from rblnpb.columns import ABSENT
from rblnpb.container import frame, payload
from rblnpb.converters.sources.vendor_pb import read_vendor_profile
from rblnpb.errors import CheckError, FormatError, MergeError, NotAProfileError, TruncatedError
from rblnpb.naming import NameStyle
from rblnpb.profile import EngineKind, Loss, LossReason, Profile
from rblnpb.wording import counted
from tests.support.vendor_profiles import (
    BEGIN,
    BOOTTIME,
    CLEARED,
    COUNTER,
    DEVICE,
    DEVICE_SYNC,
    END,
    INSTANT,
    NEC,
    NEURAL_DMA,
    TASK_DMA,
    WORKLOAD,
    Layout,
    Slice,
    encode,
    packet,
    perfetto,
    run,
    snapshot,
    vendor_file,
    vendor_packets,
)


def read(data: bytes, **options: Any) -> Profile:
    return read_vendor_profile(io.BytesIO(data), **options)


def codes(profile: Profile) -> list[str]:
    return [finding.code for finding in profile.findings]


def told(profile: Profile, *columns: str) -> list[tuple[Any, ...]]:
    """Device slices as (whole name, kind of the engine, chiplet, start, duration, …), by start and name."""
    engines = {engine.engine_id: engine for engine in profile.engines}
    table = profile.device_slices
    rows = zip(
        (profile.strings[row] for row in table.name_strindex.tolist()),
        (engines[row].kind.name for row in table.engine_id.tolist()),
        (engines[row].chiplet for row in table.engine_id.tolist()),
        table.start_ticks.tolist(),
        table.duration_ticks.tolist(),
        *(([None if value == ABSENT else value for value in getattr(table, name).tolist()]) for name in columns),
        strict=True,
    )
    return sorted(rows, key=lambda row: (row[3], row[0]))


ONE_CALL = [
    ("i1_0_W0_args_0_0", "EXTERNAL_HDMA", None, 1000, 900, 1, 0, 0, None, 4608),
    ("i1_0_W0_mm_0", "NEURAL_ENGINE_CLUSTERS", None, 2000, 4000, 1, 0, 0, 1000, None),
    ("i1_0_W0_sync_0", "DEVICE_SYNC", None, 6000, 100, 1, 0, 0, None, None),
    ("i1_0_reshape_0", "HOST", None, 6200, 500, 1, 0, None, None, None),
    ("i1_0_W0_output_0", "EXTERNAL_HDMA", None, 7000, 1000, 1, 0, 0, None, 2048),
]
COLUMNS = ("instance", "sequence", "workload", "compute_cycles", "size_bytes")


def test_a_call_as_the_newest_multi_stream_file_tells_it() -> None:
    profile = read(vendor_file(run("multi", 1)))
    assert told(profile, *COLUMNS) == ONE_CALL
    stages = [profile.strings[row] for row in profile.device_slices.stage_strindex.tolist()]
    assert stages == ["args_0", "mm", "sync", "reshape", "output"]
    assert profile.session.name_style is NameStyle.MULTI_STREAM
    assert (profile.session.tool_name, profile.session.schema_version) == ("RBLN Profiler", (0, 0))
    assert [(device.name, device.ordinal, device.clock_id) for device in profile.devices] == [(DEVICE, 0, 16)]
    assert [(clock.clock_id, clock.name, clock.nominal_hz) for clock in profile.clocks] == [(16, "device clock of the file", 10**9)]
    assert profile.workload_slices.duration_ticks.tolist() == [7000]
    assert profile.dependencies.predecessor_ordinal.tolist() == [0, 1]
    assert profile.dependencies.successor_ordinal.tolist() == [1, 4]
    assert (profile.findings, profile.is_complete) == ((), True)


@pytest.mark.parametrize(
    ("generation", "style", "name", "kind"),
    [
        ("legacy", NameStyle.LEGACY, "0_args_0_0", "EXTERNAL_HDMA"),
        ("single", NameStyle.SINGLE_STREAM, "0_W0_args_0_0", "EXTERNAL_HDMA"),
        ("multi", NameStyle.MULTI_STREAM, "i1_0_W0_args_0_0", "EXTERNAL_HDMA"),
        ("newer", NameStyle.PLAIN, "args_0", "COPY"),
    ],
)
def test_every_generation_has_its_names_and_its_lanes(generation: str, style: NameStyle, name: str, kind: str) -> None:
    profile = read(vendor_file(run(generation, 1)))
    assert (profile.session.name_style, told(profile)[0][:2], profile.findings) == (style, (name, kind), ())


def test_the_newer_lanes_name_their_launches() -> None:
    assert read(vendor_file(run("newer", 2))).device_slices.launch_id.tolist() == [1] * 5 + [2] * 5


LAYOUTS = {
    "interned": Layout(is_interned=True),
    "interned text": Layout(is_interned=True, annotation="interned"),
    "dictionary": Layout(annotation="dict"),
    "dictionary of old": Layout(annotation="nested"),
    "json of old": Layout(annotation="legacy"),
    "annotations of their own": Layout(annotation="own"),
    "writers": Layout(is_interned=True, sequences=3),
    "defaults": Layout(is_interned=True, has_defaults=True),
    "order of time": Layout(in_order=True),
    "compressed": Layout(bundle=4),
    "nested tracks": Layout(tracks="nested"),
    "chiplets below engines": Layout(tracks="chiplets"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_no_layout_changes_what_is_told(name: str) -> None:
    profile = read(vendor_file(run("multi", 3), LAYOUTS[name]))
    assert told(profile, *COLUMNS) == told(read(vendor_file(run("multi", 3))), *COLUMNS)
    assert [device.name for device in profile.devices] == [DEVICE]
    assert (len(profile.workload_slices), len(profile.dependencies), profile.findings) == (3, 6, ())


def test_gzip_data_is_inflated() -> None:
    assert told(read(gzip.compress(vendor_file(run("multi", 1)))), *COLUMNS) == ONE_CALL


def test_complete_events_of_older_writers_are_slices() -> None:
    slices = [Slice("0_mm_0", NEC, 2_000_000, 7_000_000), Slice("0_add_0", NEC, 3_000_000, 4_000_000)]
    profile = read(vendor_file(slices, Layout(is_complete_event=True)))
    assert [row[3:] for row in told(profile)] == [(2_000_000, 5_000_000), (3_000_000, 1_000_000)]


# --- tracks ------------------------------------------------------------------------------------------------------------


def place(**layout: Any) -> tuple[str, tuple[str, str, int | None]]:
    """The device, and the engine's (kind, name, chiplet), of a file with one slice on this track."""
    track = layout.pop("track", NEC)
    one = Slice("0_mm_0", track, 0, 10, **{key: layout.pop(key) for key in ("device", "chiplet", "categories") if key in layout})
    profile = read(vendor_file([one], Layout(**layout)))
    (engine,) = profile.engines
    return profile.devices[0].name, (engine.kind.name, engine.name, engine.chiplet)


@pytest.mark.parametrize(
    ("track", "expected"),
    [
        (NEC, ("NEURAL_ENGINE_CLUSTERS", "", None)),
        ("Neural DMA 3", ("NEURAL_DMA", "Neural DMA 3", None)),
        ("Task DMA #2", ("TASK_DMA", "Task DMA #2", None)),
        ("External HDMA [4]", ("EXTERNAL_HDMA", "External HDMA [4]", None)),
        ("device hdma", ("DEVICE_HDMA", "device hdma", None)),
        ("General Compute Engine", ("GENERAL_COMPUTE_ENGINE", "", None)),
        ("Neural Engine Clusters (chiplet 1)", ("NEURAL_ENGINE_CLUSTERS", "", 1)),
        ("Task DMA, Chiplet 3", ("TASK_DMA", "", 3)),
        ("compute", ("COMPUTE", "", None)),
        ("collective", ("COLLECTIVE", "", None)),
        ("CCL", ("COLLECTIVE", "CCL", None)),
        ("uDMA", ("UNKNOWN", "uDMA", None)),
        ("Host reshape tool", ("UNKNOWN", "Host reshape tool", None)),
    ],
)
def test_a_number_beside_a_name_does_not_hide_the_kind(track: str, expected: tuple[str, str, int | None]) -> None:
    assert place(track=track) == (DEVICE, expected)


@pytest.mark.parametrize("tracks", ["threads", "nested", "chiplets"])
def test_chiplets_are_told_wherever_they_stand(tracks: str) -> None:
    assert place(chiplet=2, tracks=tracks) == (DEVICE, ("NEURAL_ENGINE_CLUSTERS", "", 2))


def test_a_process_may_be_an_engine() -> None:
    assert place(tracks="processes") == ("", ("NEURAL_ENGINE_CLUSTERS", "", None))


def test_where_no_name_of_a_track_tells_the_kind_a_category_does() -> None:
    found = place(track="lane", chiplet=1, categories=("rbln", "Task DMA"), tracks="nested")
    assert found == (DEVICE, ("TASK_DMA", "lane", 1))


def test_a_track_that_numbers_what_is_above_it_is_called_by_both() -> None:
    parts = [("rbln:1", 0), (TASK_DMA, 1), ("7", 2)]
    tracks = [
        packet(track_descriptor=perfetto.TrackDescriptor(uuid=uuid, name=name, parent_uuid=parent))
        for uuid, (name, parent) in enumerate(parts, start=1)
    ]
    profile = read(encode([*tracks, event(BEGIN, 5, 3, "0_mm_0"), event(END, 9, 3)]))
    assert [(one.name, one.ordinal) for one in profile.devices] == [("rbln:1", 1)]
    assert [(one.kind, one.name) for one in profile.engines] == [(EngineKind.TASK_DMA, "Task DMA 7")]


def test_two_tracks_of_one_name_are_two_engines() -> None:
    data = vendor_file([Slice("0_mm_0", NEC, 0, 10), Slice("0_mm_1", NEC, 5, 15, device="RBLN NPU 1")])
    assert [engine.device_id for engine in read(data).engines] == [1, 2]
    tracks = [packet(track_descriptor=perfetto.TrackDescriptor(uuid=uuid, name=NEC)) for uuid in (1, 2)]
    profile = read(encode([*tracks, *pair(0, 10, 1), *pair(5, 15, 2)]))
    assert [engine.kind for engine in profile.engines] == [EngineKind.NEURAL_ENGINE_CLUSTERS] * 2
    assert profile.device_slices.engine_id.tolist() == [1, 2]


def test_a_thread_that_older_writers_name_is_the_track_of_their_events() -> None:
    thread = packet(
        trusted_packet_sequence_id=3,
        thread_descriptor=perfetto.ThreadDescriptor(pid=7, tid=8, thread_name=NEURAL_DMA, reference_timestamp_us=10),
    )
    tree = perfetto.ProcessTree(processes=[{"pid": 7, "cmdline": ["rbln:0"]}])
    begin = packet(trusted_packet_sequence_id=3, track_event={"type": BEGIN, "name": "0_mm_0", "timestamp_delta_us": 5})
    end = packet(trusted_packet_sequence_id=3, track_event={"type": END, "timestamp_absolute_us": 40})
    profile = read(encode([packet(process_tree=tree), thread, begin, end]))
    assert told(profile) == [("0_mm_0", "NEURAL_DMA", None, 15_000, 25_000)]
    assert profile.devices[0].name == "rbln:0"


def test_a_track_without_a_description_is_named_and_kept() -> None:
    profile = read(encode(pair(0, 10, 77)))
    assert [engine.kind for engine in profile.engines] == [EngineKind.UNKNOWN]
    assert codes(profile) == ["undescribed-track", "no-known-engine"]
    assert profile.session.tool_name == ""


# --- events ------------------------------------------------------------------------------------------------------------

TRACK = packet(track_descriptor=perfetto.TrackDescriptor(uuid=1, name=NEC))


def event(kind: int, time_ns: int, uuid: int = 1, name: str = "", **more: Any) -> Any:
    """A packet with an event."""
    said = {"type": kind, "track_uuid": uuid, **({"name": name} if name else {}), **more}
    return packet(timestamp=time_ns, track_event=perfetto.TrackEvent(**said))


def pair(start_ns: int, end_ns: int, uuid: int = 1, name: str = "0_mm_0", **more: Any) -> list[Any]:
    return [event(BEGIN, start_ns, uuid, name, **more), event(END, end_ns, uuid)]


def times(packets: list[Any]) -> tuple[list[tuple[str, int, int]], list[str]]:
    profile = read(encode([TRACK, *packets]))
    return [(row[0], row[3], row[4]) for row in told(profile)], codes(profile)


def test_slices_nest_on_their_track() -> None:
    packets = [event(BEGIN, 0, name="a"), event(BEGIN, 5, name="b"), event(END, 8), event(END, 20)]
    assert times(packets) == ([("a", 0, 20), ("b", 5, 3)], [])


def test_the_order_in_a_file_is_not_that_of_time() -> None:
    packets = [*pair(20, 30, name="b"), *pair(0, 20, name="a")]
    # At 20 the begin of b stands first, so it is inside of a and ends at once; the end of a ends it. So says Perfetto.
    assert times(packets) == ([("a", 0, 30), ("b", 20, 0)], [])


def test_an_instant_takes_no_time() -> None:
    assert times([event(INSTANT, 7, name="now")]) == ([("now", 7, 0)], [])


def test_slices_without_an_end_and_ends_without_a_begin_are_counted() -> None:
    packets = [event(END, 1), *pair(2, 3), event(BEGIN, 5, name="endless"), event(BEGIN, 6, name="endless")]
    profile = read(encode([TRACK, *packets]))
    assert [(finding.code, finding.count) for finding in profile.findings] == [("unclosed-slice", 2), ("end-without-begin", 1)]
    assert [row[0] for row in told(profile)] == ["0_mm_0"]


def test_what_an_end_tells_counts_too() -> None:
    end = event(END, 9, debug_annotations=[{"name": "transfer", "string_value": ":64Byte"}])
    profile = read(encode([TRACK, event(BEGIN, 5, name="0_mm_0"), end]))
    assert profile.device_slices.size_bytes.tolist() == [64]


def test_events_without_a_time_or_a_known_type_are_counted() -> None:
    packets = [TRACK, *pair(0, 5), packet(track_event={"type": BEGIN, "track_uuid": 1}), event(0, 3)]
    profile = read(encode(packets))
    assert [(one.code, one.count) for one in profile.findings] == [("untimed-event", 1), ("unknown-event", 1)]


def test_a_flow_leads_on_from_slice_to_slice() -> None:
    packets = [
        *pair(0, 10, name="a", flow_ids=[7, 9]),
        *pair(20, 30, name="b", flow_ids=[7]),
        *pair(40, 50, name="c", terminating_flow_ids=[7]),
        *pair(60, 70, name="d", terminating_flow_ids=[7], flow_ids_old=[9]),
    ]
    profile = read(encode([TRACK, *packets]))
    edges = zip(profile.dependencies.predecessor_ordinal.tolist(), profile.dependencies.successor_ordinal.tolist(), strict=True)
    assert list(edges) == [(0, 1), (1, 2), (0, 3)]
    assert [(one.code, one.count) for one in profile.findings] == [("flow-without-slice", 1)]


def test_a_flow_at_a_frame_or_at_a_slice_that_never_ends_is_counted() -> None:
    slices = [
        Slice("Device Workload", WORKLOAD, 0, 100, flows=(1,)),
        Slice("0_mm_0", NEC, 10, 20, ends=(1,), flows=(2,)),
        Slice("0_mm_1", NEC, 30, None, ends=(2,)),
    ]
    profile = read(vendor_file(slices))
    assert len(profile.dependencies) == 0
    assert sorted(codes(profile)) == ["flow-at-frame", "flow-without-slice", "unclosed-slice"]


def test_samples_are_counters_with_their_unit() -> None:
    tracks = [
        packet(track_descriptor=perfetto.TrackDescriptor(uuid=2, name="HBM", counter={"unit": 3, "unit_multiplier": 1024})),
        packet(track_descriptor=perfetto.TrackDescriptor(uuid=3, name="clock", counter={"unit_name": "MHz"})),
        packet(track_descriptor=perfetto.TrackDescriptor(uuid=4, name="sum", counter={"is_incremental": True})),
    ]
    samples = [
        event(COUNTER, 5, 2, counter_value=3),
        event(COUNTER, 6, 3, double_counter_value=1.5),
        event(COUNTER, 9, 4, counter_value=10),
        event(COUNTER, 7, 4, counter_value=1),
        event(COUNTER, 8, 3, double_counter_value=float("nan")),
    ]
    extra = pair(10, 11, extra_counter_track_uuids=[2], extra_counter_values=[2, 9])
    profile = read(encode([TRACK, *tracks, *samples, *extra]))
    counters = profile.counters
    names = [profile.strings[row] for row in counters.name_strindex.tolist()]
    found = sorted(zip(counters.time_ticks.tolist(), names, counters.value.tolist(), strict=True))
    assert found == [
        (5, "HBM (bytes)", 3072.0),
        (6, "clock (MHz)", 1.5),
        (7, "sum", 1.0),
        (9, "sum", 11.0),
        (10, "HBM (bytes)", 2048.0),
    ]
    assert codes(profile) == ["untracked-sample", "not-finite"]


# --- host --------------------------------------------------------------------------------------------------------------

HOST_PID = 4242


def process(uuid: int, pid: int, name: str = "python", *labels: str) -> Any:
    told = perfetto.ProcessDescriptor(pid=pid, process_name=name, process_labels=labels)
    return packet(track_descriptor=perfetto.TrackDescriptor(uuid=uuid, process=told))


def thread(uuid: int, tid: int, name: str = "worker", pid: int = HOST_PID) -> Any:
    told = perfetto.ThreadDescriptor(pid=pid, tid=tid, thread_name=name)
    return packet(track_descriptor=perfetto.TrackDescriptor(uuid=uuid, thread=told))


def row(uuid: int, parent: int, name: str) -> Any:
    return packet(track_descriptor=perfetto.TrackDescriptor(uuid=uuid, parent_uuid=parent, name=name))


def beside_a_call(*packets: Any) -> Profile:
    """A call of the vendor's in a file that has these packets, too; their tracks have numbers from 100 on."""
    profile = read(vendor_file(run("multi", 1), None, *packets))
    assert (told(profile, *COLUMNS)[: len(ONE_CALL)], [device.name for device in profile.devices][:1]) == (ONE_CALL, [DEVICE])
    return profile


def left_out(profile: Profile) -> tuple[int, list[tuple[str, int]]]:
    """How many slices there are beside a call, and the findings."""
    return len(profile.device_slices) - len(ONE_CALL), [(finding.code, finding.count) for finding in profile.findings]


MAIN_THREAD = (process(100, HOST_PID), thread(101, HOST_PID), thread(102, HOST_PID + 1))


@pytest.mark.parametrize(
    "packets",
    [
        pytest.param([*MAIN_THREAD, *pair(0, 90, 101), *pair(0, 90, 102)], id="a main thread"),
        pytest.param([process(100, 7, "python", "CPU"), thread(102, 9, pid=7), *pair(0, 90, 102), *pair(0, 9, 100)], id="a label"),
        pytest.param(
            [thread(101, 5), thread(102, 6), *pair(0, 90, 101, categories=["cpu_op"]), *pair(0, 90, 102)],
            id="a category of one row",
        ),
        pytest.param(
            [*MAIN_THREAD, process(103, 8), row(104, 103, "queue"), *pair(0, 90, 101), *pair(0, 90, 104)], id="another process"
        ),
        pytest.param([*MAIN_THREAD, row(103, 101, "main (2)"), *pair(0, 90, 101), *pair(0, 90, 103)], id="rows below a thread"),
        pytest.param([*MAIN_THREAD, row(103, 100, "requests"), *pair(0, 90, 101), *pair(0, 90, 103)], id="rows of a process"),
        pytest.param(
            [*MAIN_THREAD, thread(103, 77, "copy"), *pair(0, 90, 102), *pair(0, 90, 103)], id="a thread with a word of an engine"
        ),
        pytest.param(
            [process(100, 7, "RBLN1 launcher"), thread(101, 7, pid=7), *pair(0, 90, 101), *pair(0, 90, 100)],
            id="a program called after a device",
        ),
        pytest.param(
            [
                process(100, 7, "serve.py --device 1"),
                *(thread(94 + tid, tid, pid=7) for tid in (7, 8)),
                *pair(0, 90, 101),
                *pair(0, 90, 102),
            ],
            id="a program with a device in its command",
        ),
    ],
)
def test_what_a_host_did_is_left_out_and_counted(packets: list[Any]) -> None:
    assert left_out(beside_a_call(*packets)) == (0, [("host-rows", 2)])


@pytest.mark.parametrize(
    "packets",
    [
        pytest.param([thread(101, 5), *pair(9000, 9090, 101)], id="threads of a number"),
        pytest.param(
            [process(100, 6_000_000), thread(101, 6_000_000, pid=6_000_000), *pair(9000, 9090, 101)], id="no number of a process"
        ),
        pytest.param(
            [process(100, 7, "npu:1"), thread(101, 7, "lane", pid=7), *pair(9000, 9090, 101)], id="a process called a device"
        ),
        pytest.param(
            [process(100, 7, "x", "NPU 1"), thread(101, 7, "y", pid=7), *pair(9000, 9090, 101)], id="one labelled a device"
        ),
        pytest.param(
            [process(100, 7, "RBLN-CA25 NPU 1 (ATOM-Max)"), thread(101, 7, "y", pid=7), *pair(9000, 9090, 101)],
            id="one with its model",
        ),
        pytest.param(
            [process(100, 7, "RBLN1 lanes"), thread(101, 8, pid=7), *pair(9000, 9090, 101)], id="more words, no main thread"
        ),
        pytest.param(
            [process(100, 7, "RBLN1 lanes"), thread(101, 7, "copy", pid=7), *pair(9000, 9090, 101)], id="more words, but an engine"
        ),
        pytest.param(
            [process(100, 7, "serve"), thread(101, 7, pid=7), row(102, 100, "NPU 1 queue"), *pair(9000, 9090, 102)],
            id="rows of a device in a program",
        ),
        pytest.param([process(100, 7), thread(101, 7, NEURAL_DMA, pid=7), *pair(9000, 9090, 101)], id="an engine"),
        pytest.param([*MAIN_THREAD, row(103, 100, NEURAL_DMA), *pair(9000, 9090, 103)], id="an engine in a process of the host"),
        pytest.param([*MAIN_THREAD, *pair(9000, 9090, 101, categories=["kernel"])], id="a category of work"),
    ],
)
def test_what_nothing_tells_is_the_hosts_stays_a_devices(packets: list[Any]) -> None:
    assert left_out(beside_a_call(*packets)) == (1, [])


def test_samples_and_flows_of_the_host_go_with_its_slices() -> None:
    counter = packet(track_descriptor=perfetto.TrackDescriptor(uuid=103, parent_uuid=100, name="memory", counter={}))
    flows = pair(0, 90, 101, flow_ids=[50]), pair(95, 99, 102, terminating_flow_ids=[50])
    profile = beside_a_call(*MAIN_THREAD, counter, *flows[0], *flows[1], event(COUNTER, 5, 103, counter_value=3))
    (finding,) = profile.findings
    assert (finding.code, finding.count) == ("host-rows", 3)
    assert finding.message.endswith("(2 slices, 1 sample of a counter, 1 flow from or to them)")
    assert (len(profile.counters), len(profile.dependencies)) == (0, 2)


def test_what_is_odd_of_the_host_is_told_of_the_host_alone() -> None:
    odd: dict[str, Any] = {
        "debug_annotations": [{"name": "transfer", "string_value": "many"}, {"name": "note", "int_value": 1}],
        "correlation_id": 4,
    }
    packets = [*pair(0, 90, 101, **odd), event(END, 95, 101), event(BEGIN, 96, 101, terminating_flow_ids=[9])]
    profile = beside_a_call(*MAIN_THREAD, *packets, event(INSTANT, 97, 102, terminating_flow_ids=[8, 7]), event(END, 98, 102))
    assert left_out(profile) == (0, [("host-rows", 5)])
    assert profile.findings[0].message.endswith(
        "(2 slices, 1 slice without an end, 2 ends without a begin, 1 flow at no slice, 2 flows that end and never began)"
    )


def test_of_a_host_nothing_may_be_whole() -> None:
    profile = beside_a_call(thread(101, 5), *(event(BEGIN, at, 101, categories=["cpu_op"]) for at in (0, 1)))
    assert left_out(profile) == (0, [("host-rows", 2)])
    assert profile.findings[0].message.endswith("(2 slices without an end)")


def test_a_trace_of_ours_for_viewers_counts_what_is_no_whole_slice() -> None:
    packets = [*pair(0, 90, 101, categories=["rbln_runtime"]), event(END, 95, 101), event(END, 96, 101)]
    profile = beside_a_call(thread(101, 5), *packets)
    assert left_out(profile) == (0, [("written-for-viewers", 3)])
    assert "(1 slice, 2 ends without a begin); give" in profile.findings[0].message


def test_a_flow_at_the_end_of_a_slice_of_the_host_is_the_hosts() -> None:
    stream = [process(1, 1, "python", "GPU 0"), thread(2, 7, "stream 7", pid=1), *pair(0, 5, 2, categories=["kernel"])]
    call = [event(BEGIN, 6, 2, categories=["python_function"]), event(END, 9, 2, terminating_flow_ids=[3])]
    profile = read(encode([*stream, *call]))
    assert left_out(profile)[1] == [("host-rows", 1)]
    assert profile.findings[0].message.endswith("(1 slice, 1 flow that ends and never began)")


@pytest.mark.parametrize("count", [pytest.param(2, id="a slice"), pytest.param(1, id="a slice that never ends")])
def test_a_clock_that_the_host_alone_has_is_none_of_the_profile(count: int) -> None:
    begin, end = pair(0, 90, 101)
    for one in (begin, end):
        one.timestamp_clock_id = BOOTTIME
    assert [clock.name for clock in beside_a_call(*MAIN_THREAD, *(begin, end)[:count]).clocks] == ["device clock of the file"]


def test_functions_in_the_process_of_a_device_are_the_hosts_and_waits_on_its_streams_no_work() -> None:
    stream = [process(1, 1, "python", "GPU 0"), thread(2, 7, "stream 7", pid=1), thread(3, 9, "thread 9", pid=1)]
    rows = [("kernel", 2), ("gpu_memcpy", 2), ("cuda_sync", 2), ("gpu_user_annotation", 2), ("python_function", 3)]
    events = [one for at, (category, uuid) in enumerate(rows) for one in pair(10 * at, 10 * at + 5, uuid, categories=[category])]
    profile = read(encode([*stream, *events]))
    assert [row[1:] for row in told(profile)] == [("COMPUTE", None, 0, 5), ("COPY", None, 10, 5), ("SYNC", None, 20, 5)]
    assert profile.workload_slices.start_ticks.tolist() == [30]
    assert left_out(profile)[1] == [("host-rows", 1)]


@pytest.mark.parametrize(("label", "slices", "finding"), [("NPU 0", 1, []), ("CPU", 0, [("host-rows", 1), ("no-records", 1)])])
def test_a_category_of_both_sides_is_of_the_side_of_its_process(label: str, slices: int, finding: list[Any]) -> None:
    packets = [process(1, 7, "x", label), thread(2, 9, pid=7), *pair(0, 5, 2, categories=["privateuse1_runtime"])]
    profile = read(encode(packets))
    assert (len(profile.device_slices), left_out(profile)[1]) == (slices, finding)
    assert [engine.kind for engine in profile.engines] == [EngineKind.HOST] * slices


def test_a_trace_of_a_host_alone_has_no_records() -> None:
    profile = read(encode([*MAIN_THREAD, *pair(0, 90, 101), *pair(5, 80, 102)]))
    assert (len(profile.device_slices), profile.devices, profile.clocks) == (0, (), ())
    assert left_out(profile)[1] == [("host-rows", 2), ("no-records", 1)]


# --- arguments ---------------------------------------------------------------------------------------------------------


def arguments(value: Any) -> tuple[tuple[Any, ...], list[tuple[str, int]]]:
    """(bytes, cycles, launch) of a slice with these arguments, and the findings."""
    text = value if isinstance(value, str) else None
    one = Slice("0_mm_0", NEC, 0, 10, arguments=None if text is not None else value)
    if text is not None:
        one = replace(one, annotations={"Slice Arguments": text})
    profile = read(vendor_file([one]))
    found = told(profile, "size_bytes", "compute_cycles", "launch_id")[0][5:]
    return found, [(finding.code, finding.count) for finding in profile.findings]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"transfer": [":4096Byte", ":1Byte"]}, (4097, None, 0)),
        ({"transfer": ":4096Byte"}, (4096, None, 0)),
        ({"transfer": [": 12 Bytes"]}, (12, None, 0)),
        ({"comp_cycle": [1, "2", 3.0]}, (None, 6, 0)),
        ({"comp_cycle": 7}, (None, 7, 0)),
        ({"comp_cycle": [], "transfer": []}, (None, None, 0)),
        ({"launch_id": "9"}, (None, None, 9)),
        ({}, (None, None, 0)),
    ],
)
def test_arguments_are_summed(value: Any, expected: tuple[Any, ...]) -> None:
    assert arguments(value) == (expected, [])


@pytest.mark.parametrize(
    "value",
    [
        {"transfer": ["4096"]},
        {"comp_cycle": ["many"]},
        {"comp_cycle": [-1]},
        {"comp_cycle": [True]},
        {"comp_cycle": [1.5]},
        {"comp_cycle": [2**63]},
        {"comp_cycle": [10**30]},
        {"launch_id": [1, 2]},
        "no JSON",
        "[1]",
        "[" * 100_000,
    ],
)
def test_an_argument_that_cannot_be_read_is_counted(value: Any) -> None:
    assert arguments(value) == ((None, None, 0), [("unreadable-arguments", 1)])


def test_arguments_that_nothing_is_known_of_are_named() -> None:
    slices = [Slice("0_mm_0", NEC, 0, 10, arguments={"tile": 3, "transfer": ["dram:8Byte"]}, annotations={"note": "x"})]
    (finding,) = read(vendor_file(slices)).findings
    assert (finding.code, finding.count) == ("unread-arguments", 3)
    assert all(name in finding.message for name in ("tile 1", "label of a transfer 1", "note 1"))


def test_fields_of_events_that_are_not_read_are_named() -> None:
    (finding,) = read(encode([TRACK, *pair(0, 5, correlation_id=4)])).findings
    assert (finding.code, "correlation_id 1" in finding.message) == ("unread-arguments", True)


# --- writers, clocks, losses ---------------------------------------------------------------------------------------------


def test_a_packet_that_leans_on_a_lost_one_is_left_out_until_its_writer_begins_anew() -> None:
    packets = vendor_packets([Slice(f"0_mm_{at}", NEC, at, at + 1) for at in range(0, 40, 4)], Layout(is_interned=True))
    packets[8].previous_packet_dropped = 1
    profile = read(encode(packets))
    assert [(one.code, one.count) for one in profile.findings] == [("lost-state", 14), ("dropped-records", 1)]
    assert profile.losses == (Loss(0, LossReason.UNKNOWN, 1, is_lower_bound=True),)
    packets[16].sequence_flags = CLEARED
    assert len(read(encode(packets)).device_slices) > len(profile.device_slices)


def test_the_first_packet_of_a_writer_always_says_that_packets_were_dropped() -> None:
    packets = vendor_packets(run("multi", 1), Layout(is_interned=True))
    packets[-1].previous_packet_dropped = 1
    packets[-1].first_packet_on_sequence = True
    for one in packets:
        if one.HasField("track_event"):
            one.previous_packet_dropped = 1
            break
    assert codes(read(encode(packets))) == []


def test_a_text_that_is_not_in_the_file_is_counted_and_its_slice_kept() -> None:
    begin = packet(timestamp=1, trusted_packet_sequence_id=1, track_event={"type": BEGIN, "track_uuid": 1, "name_iid": 9})
    profile = read(encode([TRACK, begin, event(END, 5)]))
    assert [row[:1] + row[3:] for row in told(profile)] == [("[no name]", 1, 4)]
    assert codes(profile) == ["lost-name"]


def test_losses_that_the_buffers_counted_are_losses() -> None:
    stats = perfetto.TraceStats(buffer_stats=[{"chunks_overwritten": 2, "trace_writer_packet_loss": 3}])
    profile = read(vendor_file(run("multi", 1), None, packet(trace_stats=stats)))
    assert profile.losses == (Loss(0, LossReason.BUFFER_FULL, 5, is_lower_bound=True),)


@pytest.mark.parametrize(
    ("clocks", "expected"),
    [
        ({"c64": 5, "c3": 1000, "c1": 9000}, [ClockSnapshot(16, 5, 1000, 1000), ClockSnapshot(HOST_REALTIME, 9000, 1000, 1000)]),
        ({"c64": 5, "c6": 1000}, [ClockSnapshot(16, 5, 1000, 1000)]),
        ({"c64": 5, "c1": 9000}, [ClockSnapshot(16, 5, 9000, 9000), ClockSnapshot(HOST_REALTIME, 9000, 9000, 9000)]),
    ],
)
def test_snapshots_relate_the_clock_to_the_hosts(clocks: dict[str, int], expected: list[ClockSnapshot]) -> None:
    profile = read(vendor_file(run("multi", 1), Layout(clock=64), snapshot(**clocks)))
    assert list(profile.clock_snapshots) == expected
    assert profile.device_slices.clock_id.tolist() == [16] * 5
    assert profile.findings[:-1] == ()
    assert codes(profile) == ["one-snapshot"]


def test_a_snapshot_that_has_no_clock_of_the_host_relates_nothing() -> None:
    profile = read(vendor_file(run("multi", 1), Layout(clock=64), snapshot(c64=5, c65=9)))
    assert (profile.clock_snapshots, codes(profile)) == ((), ["unrelated-snapshot"])


@pytest.mark.parametrize(("number", "clock_id"), [(3, HOST_MONOTONIC), (1, HOST_REALTIME)])
def test_packets_may_tick_on_a_clock_of_the_host(number: int, clock_id: int) -> None:
    profile = read(vendor_file(run("multi", 1), Layout(clock=number)))
    assert set(profile.device_slices.clock_id.tolist()) == {clock_id}
    assert profile.clocks == ()


def test_a_time_without_a_clock_is_boot_time_once_the_file_says_what_that_is() -> None:
    profile = read(vendor_file(run("multi", 1), None, snapshot(c6=0, c3=1000)))
    assert [clock.name for clock in profile.clocks] == ["boot time"]
    assert profile.clock_snapshots == (ClockSnapshot(16, 0, 1000, 1000),)


def test_clocks_of_one_number_are_each_writers_own() -> None:
    profile = read(vendor_file(run("multi", 1), Layout(clock=64, sequences=2)))
    assert [clock.name for clock in profile.clocks] == ["clock 64 of sequence 1", "clock 64 of sequence 2"]


def test_differences_of_times_add_up() -> None:
    layout = Layout(clock=64, is_delta=True, unit_ns=100, in_order=True)
    profile = read(vendor_file(run("multi", 3), layout))
    assert told(profile) == told(read(vendor_file(run("multi", 3))))


# --- damage ------------------------------------------------------------------------------------------------------------


def test_of_a_file_that_is_cut_anywhere_near_its_end_the_whole_packets_are_read() -> None:
    data = vendor_file(run("multi", 2))
    packets = [len(encode([one])) for one in perfetto.Trace.FromString(data).packet]
    for cut in range(1, 200):
        profile = read(data[:-cut])
        whole = len(data)
        for size in reversed(packets):
            if whole <= len(data) - cut:
                break
            whole -= size
        rest = len(data) - cut - whole
        assert ("truncated" in codes(profile)) is (rest > 0), cut
        assert profile.is_complete is (rest == 0)
        assert all(f"the last {counted(rest, 'byte')}" in one.message for one in profile.findings if one.code == "truncated")


def test_a_cut_in_gzip_data_keeps_what_comes_out_of_it() -> None:
    profile = read(gzip.compress(vendor_file(run("multi", 3000)))[:-5000])
    assert 0 < len(profile.device_slices) < 15_000
    assert codes(profile)[:2] == ["truncated", "cut-gzip"]


def test_a_damaged_packet_costs_itself_alone() -> None:
    packets = vendor_packets(run("multi", 1), Layout())
    profile = read(encode(packets[:9]) + frame(b"\x5a\x05abc") + encode(packets[9:]))
    assert told(profile, *COLUMNS) == ONE_CALL
    assert [(one.code, one.count) for one in profile.findings] == [("unreadable-packet", 1)]


def test_garbage_ends_the_walk_and_is_counted() -> None:
    profile = read(vendor_file(run("multi", 1)) + b"\x0b" * 1000)
    assert len(profile.device_slices) == 5
    assert "1,000 bytes" in profile.findings[0].message


@pytest.mark.parametrize(
    ("bundle", "text"),
    [
        (b"\x00\x01\x02", "1 unreadable bundle:"),
        (zlib.compress(encode([TRACK, *pair(0, 5)])[:-3]), "1 cut bundle:"),
        (zlib.compress(encode([TRACK]))[:-6], "1 cut bundle:"),
        (zlib.compress(vendor_file([], Layout(bundle=1), TRACK)), "1 bundle within a bundle:"),
    ],
)
def test_a_bundle_that_is_damaged_or_within_another_is_counted(bundle: bytes, text: str) -> None:
    profile = read(vendor_file(run("multi", 1), Layout(bundle=3)) + encode([packet(compressed_packets=bundle)]))
    assert told(profile, *COLUMNS) == ONE_CALL
    assert [(one.code, one.message.startswith(text)) for one in profile.findings][:1] == [("unreadable-packet", True)]


def test_records_of_our_own_format_beside_are_named() -> None:
    profile = read(vendor_file(run("multi", 1)) + payload(7, 0, 8, b"\x0a\x06rblnpb"))
    assert codes(profile) == ["other-format"]


def test_other_packets_are_counted_by_kind() -> None:
    profile = read(vendor_file(run("multi", 1), None, packet(ftrace_events={}), packet(trace_uuid={"msb": 1})))
    assert [(one.code, one.count, "ftrace_events 1" in one.message) for one in profile.findings] == [("other-packets", 1, True)]


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (b"", NotAProfileError, "it is an empty file"),
        (b"name,calls\n", NotAProfileError, "it looks like text"),
        (encode([packet(ftrace_events={})] * 2), NotAProfileError, r"without track events \(ftrace_events 2\)"),
        (encode([packet(timestamp=5)]), NotAProfileError, r"without track events \(no events at all\)"),
        (vendor_file(run("multi", 1))[:20], TruncatedError, "it ends inside its first packet, after 20 bytes"),
        (payload(7, 0, 8, b"\x0a\x06rblnpb"), NotAProfileError, "a device profile of rblnpb"),
        (b"\x1f\x8b\x08nonsense", FormatError, "the gzip data ends early"),
    ],
)
def test_what_is_none_is_refused_by_name(data: bytes, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        read(data)


def test_a_file_with_the_vendors_tracks_and_no_event_is_an_empty_profile() -> None:
    profile = read(encode([TRACK]))
    assert (len(profile.device_slices), codes(profile)) == (0, ["no-records"])


def test_strict_refuses_what_is_odd() -> None:
    with pytest.raises(CheckError, match="unclosed-slice"):
        read(vendor_file([Slice("0_mm_0", NEC, 0, 10), Slice("0_mm_1", NEC, 20, None)]), strict=True)


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rblnpb.converters.sources._perfetto_packets._FREE_BYTES", 10_000)
    monkeypatch.setattr("rblnpb.converters.sources._perfetto_packets._EXPANSION", 3)
    for data in (vendor_file(run("legacy", 500), Layout(bundle=5000)), gzip.compress(vendor_file(run("legacy", 500)))):
        with pytest.raises(FormatError, match="made to fill the memory"):
            read(data)


# --- several files -------------------------------------------------------------------------------------------------------


def files(folder: Path, *parts: tuple[str, list[Slice]]) -> list[Path]:
    paths = []
    for name, slices in parts:
        paths.append(folder / name)
        paths[-1].write_bytes(vendor_file(slices))
    return paths


def atom_call(number: int, start_ns: int) -> list[Slice]:
    compute = Slice(f"{number}_linear_196_0", NEC, start_ns, start_ns + 500)
    return [compute, Slice(f"{number}_sync_0", DEVICE_SYNC, start_ns + 500, start_ns + 600)]


def test_files_of_one_recording_are_one_profile_in_the_order_of_their_ordinals(tmp_path: Path) -> None:
    names = ("rbln_20260902_012906319_10.pb", "rbln_20260902_012906319_9.pb")
    paths = files(tmp_path, (names[0], atom_call(10, 9000)), (names[1], atom_call(9, 1000)))
    profile = read_vendor_profile(paths)
    assert [row[0] for row in told(profile)] == ["9_linear_196_0", "9_sync_0", "10_linear_196_0", "10_sync_0"]
    assert profile.device_slices.sequence.tolist() == [9, 9, 10, 10]
    assert len(profile.engines) == 3
    # Each is one call, and is called by its file.
    assert [program.name for program in profile.programs] == [names[1], names[0]]
    assert profile.workload_slices.start_ticks.tolist() == [1000, 9000]
    assert profile.workload_slices.duration_ticks.tolist() == [600, 600]
    assert codes(profile) == ["frames-from-files"]
    assert profile.session.file_ordinal == 9


def test_files_that_lie_over_each_other_in_time_have_clocks_of_their_own(tmp_path: Path) -> None:
    paths = files(tmp_path, ("rbln_a_b_1.pb", atom_call(0, 1000)), ("rbln_a_b_2.pb", atom_call(1, 1000)))
    profile = read_vendor_profile(paths)
    assert profile.device_slices.clock_id.tolist() == [16, 16, 17, 17]
    assert [clock.name for clock in profile.clocks] == ["device clock of file 1", "device clock of file 2"]
    assert codes(profile) == ["frames-from-files", "files-overlap"]


def test_a_file_of_several_calls_is_no_call(tmp_path: Path) -> None:
    paths = files(
        tmp_path, ("rbln_a_b_1.pb", atom_call(0, 0) + atom_call(1, 1000)), ("rbln_a_b_2.pb", run("multi", 1, start_ns=5000))
    )
    profile = read_vendor_profile(paths)
    assert (len(profile.workload_slices), codes(profile)) == (1, [])


def test_files_of_several_ranks_are_refused_by_name(tmp_path: Path) -> None:
    other = [replace(one, device="RBLN NPU 1") for one in atom_call(2, 9000)]
    paths = files(tmp_path, ("rbln_a_b_1.pb", atom_call(1, 0)), ("rbln_a_b_2.pb", other))
    with pytest.raises(MergeError, match=r"several ranks \(.*rbln_a_b_1.pb is of device 0, .*rbln_a_b_2.pb is of device 1\)"):
        read_vendor_profile(paths)
    paths = files(tmp_path, ("rbln_a_b_1.pb", atom_call(1, 0)), ("rbln_c_d_1.pb", atom_call(2, 9000)))
    with pytest.raises(MergeError, match="both are file 1 of a recording"):
        read_vendor_profile(paths)


def test_processes_that_name_no_device_are_no_ranks(tmp_path: Path) -> None:
    parts = [[replace(one, device=f"module {number}") for one in atom_call(number, number * 1000)] for number in range(2)]
    paths = files(tmp_path, ("rbln_a_b_1.pb", parts[0]), ("rbln_a_b_2.pb", parts[1]))
    assert [device.name for device in read_vendor_profile(paths).devices] == ["module 0", "module 1"]


def test_the_same_bytes_give_the_same_profile() -> None:
    data = vendor_file(run("multi"), Layout(is_interned=True))
    assert read(data).equals(read(data))
    assert read(data).session.session_id != read(vendor_file(run("legacy"))).session.session_id
