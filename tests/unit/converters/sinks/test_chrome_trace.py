"""A timeline as Chrome trace JSON."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from rblnpb.column_arrays import row_blocks
from rblnpb.converters.sinks._chrome_device import plan_device
from rblnpb.converters.sinks._chrome_ids import FreeNumbers
from rblnpb.converters.sinks._chrome_slices import block_texts, slice_block
from rblnpb.converters.sinks.chrome_trace import write_chrome_trace
from rblnpb.converters.timeline import HostTrace, Timeline, Track
from rblnpb.errors import Finding, Severity
from tests.support.timelines import counters, host_trace, launches, runtime, slices, timeline

Event = dict[str, Any]

COMPUTE = Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=1)
DMA = Track("rbln:0", "Neural DMA", "neural_dma", is_work=True, order=0)
SYNC = Track("rbln:0", "Device Sync", "device_sync", is_work=False, order=2)
FRAME = Track("rbln:0", "Device Workload", "workload", is_work=False, order=3)
QUARTER = 1_790_857_026_000_000_000


def op(name: str = "op", ts: Any = 10, dur: Any = 20, **members: Any) -> Event:
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 10, "tid": 11, "ts": ts, "dur": dur} | members


def flow(phase: str, ts: Any, **members: Any) -> Event:
    return {"ph": phase, "id": 1, "cat": "ac2g", "name": "ac2g", "pid": 10, "tid": 11, "ts": ts, "bp": "e"} | members


def written(source: Timeline) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    file = io.BytesIO()
    findings = write_chrome_trace(source, file)
    return json.loads(file.getvalue()), findings


def events(source: Timeline, *phases: str) -> list[Event]:
    """Events of these phases, those of metadata left out where none is named."""
    return [event for event in written(source)[0]["traceEvents"] if (event["ph"] in phases if phases else event["ph"] != "M")]


def of_host(*host_events: Event, **frame: Any) -> Timeline:
    return timeline(host_trace(*host_events, **frame), tracks=())


def codes(source: Timeline) -> dict[str, int]:
    return {finding.code: finding.count for finding in written(source)[1]}


def row_names(source: Timeline) -> dict[tuple[Any, Any], str]:
    return {(event["pid"], event["tid"]): event["args"]["name"] for event in events(source, "M") if event["name"] == "thread_name"}


# The host trace


def test_a_host_trace_in_order_goes_through_as_it_is() -> None:
    host = host_trace({"ph": "M", "name": "process_name", "pid": 10, "args": {"name": "python"}}, op(), op(ts=12, dur=3))
    file = io.BytesIO()

    findings = write_chrome_trace(timeline(host, tracks=()), file)

    assert findings == ()
    assert file.getvalue() == b"".join(host.document.blocks()).replace(b"[{", b"[\n{").replace(b"}]", b"}\n]")


def test_a_crossing_slice_gets_a_second_row_of_its_thread_beside_the_first() -> None:
    source = of_host(
        {"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "ts": 4, "args": {"name": "main"}},
        op("a", 10, 20),
        op("b", 15, 20),
    )

    assert events(source, "X") == [op("a", 10, 20), op("b", 15, 20, tid=1)]
    assert events(source, "M")[1:] == [
        {"ph": "M", "ts": 4, "pid": 10, "tid": 1, "name": "thread_name", "args": {"name": "main (2)"}},
        {"ph": "M", "ts": 4, "pid": 10, "tid": 1, "name": "thread_sort_index", "args": {"sort_index": 11}},
    ]
    assert codes(source) == {"host-slices-moved": 1}


def test_a_number_that_somebody_uses_is_never_given_to_a_new_row() -> None:
    source = of_host(op("a", 10, 20, pid=1), op("b", 15, 20, pid=1), op("c", pid=2, tid=3))

    assert [(event["pid"], event["tid"]) for event in events(source, "X")] == [(1, 11), (1, 4), (2, 3)]


def test_a_number_that_is_spelled_as_a_text_counts_as_used() -> None:
    source = of_host(op("a", 10, 20), op("b", 15, 20), op("c", pid="2", tid="1"))

    assert [event["tid"] for event in events(source, "X")] == [11, 3, "1"]


def test_flows_of_a_moved_slice_move_with_it() -> None:
    source = of_host(
        op("a", 10, 20), op("b", 15, 20), op("child", 16, 2), flow("s", 14), flow("t", 16), flow("t", 19), flow("f", 32)
    )

    assert [event["tid"] for event in events(source, "s", "t", "f")] == [11, 11, 1, 1]


def test_a_flow_at_the_very_end_of_a_moved_slice_moves_when_it_stands_in_no_other() -> None:
    source = of_host(
        op("a", 10, 20), op("b", 15, 20), op("around", 50, 20), op("a", 51, 5), op("b", 52, 6), flow("s", 35), flow("f", 58)
    )

    assert [event["tid"] for event in events(source, "s", "f")] == [1, 11]


def test_a_flow_at_an_empty_slice_stays_with_it() -> None:
    source = of_host(op("a", 10, 20), op("b", 15, 20), op("empty", 32, 0), flow("s", 32), flow("f", 33))

    assert [event["tid"] for event in events(source, "s", "f")] == [11, 1]


def test_flows_whose_thread_is_spelled_otherwise_go_to_their_slice() -> None:
    source = of_host(op("a", 10, 20, tid="11"), flow("s", 14), flow("f", 20))

    assert [event["tid"] for event in events(source, "s", "f")] == ["11", "11"]
    assert codes(source) == {"host-flows-moved": 2}


@pytest.mark.parametrize("number", [-1, -(2**63), 2**32, 2**63])
def test_an_id_that_perfetto_cannot_hold_is_exchanged_and_named(number: int) -> None:
    source = of_host(op(pid=number, tid=number), {"ph": "M", "name": "process_name", "pid": number, "args": {"name": "p"}})

    assert events(source, "X") == [op(pid=1, tid=2)]
    assert events(source, "M") == [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p"}},
        {"ph": "M", "ts": 0, "pid": 1, "tid": 0, "name": "process_name", "args": {"name": f"p (pid {number})"}},
        {"ph": "M", "ts": 0, "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": f"thread {number} (tid {number})"}},
    ]
    assert codes(source) == {"host-ids-renumbered": 2}


@pytest.mark.parametrize(("pid", "tid"), [("Spans", "PyTorch Profiler"), ("", ""), (0, 0), (2**32 - 1, 2**32 - 1), (None, None)])
def test_other_ids_stay(pid: Any, tid: Any) -> None:
    assert events(of_host(op(pid=pid, tid=tid))) == [op(pid=pid, tid=tid)]


def test_thread_0_of_a_process_is_kept_apart_from_its_main_thread() -> None:
    source = of_host(op("a", pid=7, tid=0), op("b", pid=7, tid=7), op("c", pid=8, tid=0))

    assert [event["tid"] for event in events(source)] == [1, 7, 0]
    assert row_names(source) == {(7, 1): "thread 0 (tid 0)"}


def test_a_flow_end_without_a_start_is_left_out() -> None:
    source = of_host(op("a", 10, 20), flow("f", 12), flow("s", 13), flow("f", 14, id=2), flow("t", 15), flow("f", 16))

    assert [(event["ph"], event["ts"]) for event in events(source, "s", "t", "f")] == [("s", 13), ("t", 15), ("f", 16)]
    assert codes(source) == {"flows-without-start": 2}


def test_a_flow_outside_of_every_slice_is_left_out_with_what_it_would_have_started() -> None:
    source = of_host(op("a", 10, 20), flow("s", 5), flow("f", 12), flow("s", 15, tid=99, id=2), flow("s", 30, id=3))

    assert [event["id"] for event in events(source, "s", "f")] == [3]
    assert codes(source) == {"flows-outside-slices": 2, "flows-without-start": 1}


def test_a_flow_at_an_empty_slice_must_stand_behind_it_in_the_file() -> None:
    source = of_host(flow("s", 10, id=1), op("empty", 10, 0), flow("s", 10, id=2), flow("s", 20, id=3), op("long", 20, 5))

    assert [event["id"] for event in events(source, "s")] == [2, 3]
    assert codes(source) == {"flows-outside-slices": 1}


def test_a_flow_on_a_thread_of_begins_and_ends_is_left_alone() -> None:
    source = of_host(
        {"ph": "B", "name": "b", "pid": 10, "tid": 11, "ts": 1}, flow("s", 2), {"ph": "E", "pid": 10, "tid": 11, "ts": 3}
    )

    assert len(events(source, "s")) == 1


def test_a_flow_id_that_is_used_twice_becomes_two() -> None:
    source = of_host(
        op("a", 10, 20), flow("s", 11), flow("f", 12), flow("s", 13), flow("t", 14), flow("f", 15), flow("s", 16, id=4)
    )

    assert [event["id"] for event in events(source, "s", "t", "f")] == [1, 1, 5, 5, 5, 4]
    assert codes(source) == {"flow-ids-repeated": 1}


def test_flows_of_equal_id_and_other_name_are_others() -> None:
    source = of_host(op("a", 10, 20), flow("s", 11), flow("s", 12, name="other"), flow("s", 13, cat="other"))

    assert [event["id"] for event in events(source, "s")] == [1, 1, 1]


def test_times_that_a_double_cannot_hold_count_from_another_zero() -> None:
    texts = [b'{"ph":"X","pid":10,"tid":11,"ts":1712195495519689.008,"dur":2.5}', b'{"ph":"M","name":"x","pid":10,"ts":0}']
    host = host_trace(op(ts="1712195495519689.008"), {"ph": "M", "ts": 0}, texts=texts, head='{"traceEvents":[')

    document, findings = written(timeline(host, tracks=()))

    assert document["baseTimeNanoseconds"] == 1_712_195_495_000_000_000
    assert [event["ts"] for event in document["traceEvents"]] == [519689.008, 0]
    assert [(finding.severity, finding.code, finding.count) for finding in findings] == [(Severity.INFO, "host-times-rebased", 2)]


def test_a_zero_that_the_file_states_is_replaced_wherever_it_stands() -> None:
    host = host_trace(op(ts=-1), head='{"traceEvents": [', tail='], "baseTimeNanoseconds": 7000000000}', base_time_ns=7_000_000_000)

    document, _ = written(timeline(host, tracks=()))

    assert document == {"traceEvents": [op(ts=999999)], "baseTimeNanoseconds": 6_000_000_000}


def test_a_bare_array_becomes_an_object_when_its_zero_changes() -> None:
    host = host_trace(op(ts="-0.5"), head="\ufeff[", tail="]\n")

    assert written(timeline(host, tracks=()))[0] == {"baseTimeNanoseconds": -1_000_000_000, "traceEvents": [op(ts=999999.5)]}


def test_whole_microseconds_need_no_other_zero_however_large() -> None:
    source = of_host(op(ts=1_712_195_495_519_689))

    assert events(source) == [op(ts=1_712_195_495_519_689)]
    assert codes(source) == {}


def test_times_too_far_apart_for_any_zero_are_named() -> None:
    source = of_host(op(ts=0), op(ts="1712195495519689.008"))

    assert codes(source) == {"host-times-rebased": 2, "times-inexact": 1}


@pytest.mark.parametrize("length", [-3, None])
def test_a_slice_without_a_length_is_shown_with_none(length: Any) -> None:
    host = host_trace(
        op(dur=length), texts=[json.dumps({key: value for key, value in op(dur=length).items() if value is not None}).encode()]
    )
    source = timeline(host, tracks=())

    assert events(source) == [op(dur=0)]
    assert codes(source) == {"host-slices-without-length": 1}


def test_events_that_cannot_be_placed_are_left_out() -> None:
    source = of_host(op(), op(ts=None), {"name": "no phase", "ts": 1}, {"ph": "M", "name": "process_labels", "pid": 10, "args": {}})

    assert [event["ph"] for event in written(source)[0]["traceEvents"]] == ["X", "M"]
    assert codes(source) == {"host-events-without-time": 1, "host-events-without-phase": 1}


def test_bytes_that_are_no_text_are_replaced() -> None:
    host = host_trace(op(), texts=[b'{"ph":"X","name":"\xff\xfe \xc2\xb5","pid":10,"tid":11,"ts":1,"dur":2}'])

    document, findings = written(timeline(host, tracks=()))

    assert document["traceEvents"][0]["name"] == "\ufffd\ufffd \u00b5"
    assert [(finding.code, finding.count) for finding in findings] == [("host-text-mended", 2)]


# The device side


def test_a_device_is_a_process_with_a_row_for_each_engine_in_order() -> None:
    source = timeline(host_trace(op(pid=1, tid=2)), slices=slices({"track": 0}), tracks=(COMPUTE, DMA))

    assert events(source, "M") == [
        {"ph": "M", "ts": 0, "pid": 3, "tid": 0, "name": "process_name", "args": {"name": "rbln:0"}},
        {"ph": "M", "ts": 0, "pid": 3, "tid": 0, "name": "process_labels", "args": {"labels": "RBLN"}},
        {"ph": "M", "ts": 0, "pid": 3, "tid": 0, "name": "process_sort_index", "args": {"sort_index": 6000000}},
        {"ph": "M", "ts": 0, "pid": 3, "tid": 4, "name": "thread_name", "args": {"name": "Neural DMA"}},
        {"ph": "M", "ts": 0, "pid": 3, "tid": 4, "name": "thread_sort_index", "args": {"sort_index": 1}},
        {"ph": "M", "ts": 0, "pid": 3, "tid": 5, "name": "thread_name", "args": {"name": "Neural Engine Clusters"}},
        {"ph": "M", "ts": 0, "pid": 3, "tid": 5, "name": "thread_sort_index", "args": {"sort_index": 2}},
    ]


def test_a_slice_says_what_it_is_and_what_caused_it() -> None:
    source = timeline(
        host_trace(op(args={"External id": 77})),
        slices=slices(
            {"start": 20_001, "duration": 5_123, "name": "i1_0_W0_mm_0", "stage": "mm", "launch_id": 4, "cycles": 9, "host_row": 0},
            {"start": 30_000, "name": 'say "\u00b5"', "launch_id": 0, "cycles": -1},
            argument_names=("launch_id", "cycles"),
        ),
        argument_names=("launch_id", "cycles"),
    )

    assert events(source)[1:] == [
        {
            "ph": "X",
            "cat": "kernel",
            "pid": 1,
            "tid": 2,
            "name": "i1_0_W0_mm_0",
            "ts": 20.001,
            "dur": 5.123,
            "args": {"stage": "mm", "launch_id": 4, "cycles": 9, "External id": 77},
        },
        {"ph": "X", "cat": "kernel", "pid": 1, "tid": 2, "name": 'say "\u00b5"', "ts": 30, "dur": 0, "args": {"cycles": -1}},
    ]


def test_the_launch_tells_its_id_where_the_slice_does_not() -> None:
    source = timeline(slices=slices({"launch": 1}, {"launch": -1}), launches=launches({"launch_id": 5}, {"launch_id": 6}))

    assert [event["args"] for event in events(source)] == [{"launch_id": 6}, {}]


def test_a_number_that_a_double_cannot_hold_is_a_text() -> None:
    large = 2**53 + 1
    source = timeline(slices=slices({"n": large}, {"n": -large}, {"n": 2**53}, argument_names=("n",)), argument_names=("n",))

    assert [event["args"]["n"] for event in events(source)] == [str(large), str(-large), 2**53]


@pytest.mark.parametrize(
    ("track", "category"),
    [
        (COMPUTE, "kernel"),
        (DMA, "gpu_memcpy"),
        (SYNC, "rbln_sync"),
        (FRAME, "rbln_workload"),
        (Track("rbln:0", "row", "unknown", is_work=True, order=0), "kernel"),
        (Track("rbln:0", "row", "annotation", is_work=False, order=0), "rbln_workload"),
    ],
)
def test_categories_are_those_of_the_vendors_bridge(track: Track, category: str) -> None:
    assert [event["cat"] for event in events(timeline(slices=slices({}), tracks=(track,)))] == [category]


def test_slices_that_came_out_of_the_host_trace_are_not_written_again() -> None:
    source = timeline(host_trace(op()), slices=slices({"event": 0}, {"track": 1, "name": "own"}), tracks=(COMPUTE, DMA))

    assert [event["name"] for event in events(source)] == ["op", "own"]
    assert list(row_names(source).values()) == ["Neural DMA"]


def test_crossing_slices_of_an_engine_go_to_further_rows() -> None:
    source = timeline(slices=slices({"duration": 10}, {"start": 5, "duration": 10}, {"start": 6, "duration": 10}))

    assert [event["tid"] for event in events(source)] == [2, 3, 4]
    assert row_names(source) == {
        (1, 2): "Neural Engine Clusters",
        (1, 3): "Neural Engine Clusters (2)",
        (1, 4): "Neural Engine Clusters (3)",
    }
    assert codes(source) == {"device-slices-moved": 2}


def test_frames_share_no_row_with_slices_that_they_cross() -> None:
    source = timeline(slices=slices({"duration": 10}), frames=slices({"start": 5, "duration": 10}), tracks=(FRAME,))

    assert [event["tid"] for event in events(source)] == [2, 3]


def test_a_frame_is_no_work_on_whatever_row_it_stands() -> None:
    source = timeline(slices=slices({"duration": 10}), frames=slices({"start": 20, "duration": 10}), tracks=(COMPUTE,))

    assert [(event["cat"], event["tid"]) for event in events(source)] == [("kernel", 2), ("rbln_workload", 2)]


def test_the_runtime_has_a_row_beside_each_of_its_threads() -> None:
    source = timeline(
        host_trace(op(pid=1, tid=7)),
        runtime=runtime((10_000, 30_000, 1, 7), (12_000, 3_000, 2, 7), (13_000, 30_000, 1, 7), (10_000, 1_000, 1, 9)),
        strings=("", "submit", "copy in"),
        tracks=(),
    )

    assert [(event["cat"], event["pid"], event["tid"], event["name"]) for event in events(source)[1:]] == [
        ("rbln_runtime", 1, 2, "submit"),
        ("rbln_runtime", 1, 2, "copy in"),
        ("rbln_runtime", 1, 3, "submit"),
        ("rbln_runtime", 1, 4, "submit"),
    ]
    assert row_names(source) == {(1, 2): "runtime 7", (1, 3): "runtime 7 (2)", (1, 4): "runtime 9"}


def test_counters_stand_in_the_process_of_their_device() -> None:
    source = timeline(
        counters=counters((2_000, 1, 2, 0.5), (3_000, 1, 2, 2.0**60), (4_000, 1, 2, float("nan"))),
        strings=("", "rbln:0", "memory [B]"),
    )

    assert events(source) == [
        {"ph": "C", "pid": 1, "name": "memory [B]", "ts": 2, "args": {"value": 0.5}},
        {"ph": "C", "pid": 1, "name": "memory [B]", "ts": 3, "args": {"value": 2.0**60}},
    ]
    assert codes(source) == {"counters-not-finite": 1}


def test_a_device_time_that_is_not_exact_from_the_hosts_zero_moves_the_zero() -> None:
    source = timeline(host_trace(op(ts=1_712_195_495_519_689)), slices=slices({"start": 1_712_195_495_519_690_007}))

    assert [event["ts"] for event in events(source)] == [519689, 519690.007]
    assert codes(source) == {"host-times-rebased": 1}


# Arrows


def launched(host: HostTrace, *rows: dict[str, Any], **parts: Any) -> Timeline:
    return timeline(host, launches=launches(*rows), **parts)


def arrows(source: Timeline) -> list[tuple[Any, ...]]:
    drawn = events(source, "s", "f")
    assert all(event["cat"] == event["name"] == "ac2g" for event in drawn)
    assert all(event.get("bp") == "e" for event in drawn if event["ph"] == "f")
    return [
        ((start["pid"], start["tid"], start["ts"]), (end["pid"], end["tid"], end["ts"]))
        for start, end in zip(drawn[::2], drawn[1::2], strict=True)
        if start["id"] == end["id"]
    ]


def test_an_arrow_leads_from_the_launch_to_the_first_of_its_work() -> None:
    source = launched(
        host_trace(op()),
        {"start": 15_500, "host_row": 0},
        slices=slices({"start": 40_000, "duration": 5, "launch": 0}, {"start": 41_000, "launch": 0}),
        frames=slices({"start": 39_000, "duration": 9_000, "track": 1, "launch": 0}),
        tracks=(COMPUTE, FRAME),
    )

    assert arrows(source) == [((10, 11, 15.5), (1, 3, 39))]
    assert codes(source) == {}


def test_an_arrow_starts_on_the_row_that_its_op_was_moved_to() -> None:
    source = launched(
        host_trace(op("a", 10, 20), op("b", 15, 20)),
        {"start": 33_000, "host_row": 1},
        slices=slices({"start": 40_000, "launch": 0}),
    )

    assert arrows(source) == [((10, 1, 33), (2, 3, 40))]


@pytest.mark.parametrize(("launch_ns", "expected"), [(5_000, 10), (30_000, 29.999), (99_000, 29.999)])
def test_an_arrow_starts_inside_of_its_op(launch_ns: int, expected: float) -> None:
    source = launched(host_trace(op()), {"start": launch_ns, "host_row": 0}, slices=slices({"start": 40_000, "launch": 0}))

    assert arrows(source) == [((10, 11, expected), (1, 2, 40))]


def test_work_that_starts_before_its_launch_pulls_the_arrow_back() -> None:
    source = launched(host_trace(op()), {"start": 15_000, "host_row": 0}, slices=slices({"start": 12_000, "launch": 0}))

    assert arrows(source) == [((10, 11, 12), (1, 2, 12))]


def test_work_that_starts_before_its_op_has_no_arrow() -> None:
    source = launched(host_trace(op()), {"start": 15_000, "host_row": 0}, slices=slices({"start": 9_000, "launch": 0}))

    assert arrows(source) == []
    assert codes(source) == {"device-work-before-op": 1}


def test_a_matched_launch_without_work_is_named_and_an_unmatched_one_is_not() -> None:
    source = launched(
        host_trace(op()),
        {"start": 15_000, "host_row": 0},
        {"start": 15_000, "host_row": -1, "reason": 3},
        slices=slices({"launch": 1}),
    )

    assert arrows(source) == []
    assert codes(source) == {"launches-without-device-work": 1}


def test_arrows_have_ids_that_no_flow_of_the_host_has() -> None:
    source = launched(
        host_trace(op(), flow("s", 12, id=3), flow("f", 13, id="0x10")),
        {"start": 15_000, "host_row": 0},
        {"start": 16_000, "host_row": 0},
        slices=slices({"start": 40_000, "launch": 0}, {"start": 41_000, "launch": 1}),
    )

    assert [event["id"] for event in events(source, "s", "f")] == [3, 17, 17, 18, 18]


def test_work_of_the_host_trace_gets_an_arrow_unless_it_has_one() -> None:
    device = [op("kernel", 40, 5, pid=0, tid=7), op("kernel", 50, 5, pid=0, tid=7)]
    source = launched(
        host_trace(op(), *device, flow("s", 12), flow("f", 40, pid=0, tid=7)),
        {"start": 12_000, "host_row": 0},
        {"start": 13_000, "host_row": 0},
        slices=slices({"start": 40_000, "event": 1, "launch": 0}, {"start": 50_000, "event": 2, "launch": 1}),
    )

    assert arrows(source) == [((10, 11, 12), (0, 7, 40)), ((10, 11, 13), (0, 7, 50))]


# Without a host


def test_without_a_host_the_trace_has_a_frame_and_a_zero_of_its_own() -> None:
    document, findings = written(timeline(slices=slices({"start": QUARTER + 1_500_000_001, "duration": 7}), tracks=(COMPUTE,)))

    assert {key: value for key, value in document.items() if key != "traceEvents"} == {
        "schemaVersion": 1,
        "deviceProperties": [],
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": QUARTER + 1_000_000_000,
    }
    assert [(event["ts"], event["dur"]) for event in document["traceEvents"] if event["ph"] == "X"] == [(500000.001, 0.007)]
    assert findings == ()


def test_nothing_at_all_is_a_trace_too() -> None:
    assert written(timeline(tracks=()))[0]["traceEvents"] == []


def test_a_table_of_several_blocks_is_written_whole() -> None:
    source = timeline(slices=slices(*({"start": 1000 * number, "duration": 5, "launch": -1} for number in range(20_000))))

    assert [event["ts"] for event in events(source)] == list(range(20_000))


def test_a_very_long_name_does_not_make_every_block_as_large() -> None:
    source = timeline(
        slices=slices(*({"start": number, "name": "n" * 2_000_000 if number == 3 else "short"} for number in range(9)))
    )

    assert [len(event["name"]) for event in events(source)] == [5, 5, 5, 2_000_000, 5, 5, 5, 5, 5]


def test_progress_ends_with_everything_written() -> None:
    seen: list[tuple[int, int]] = []
    source = launched(host_trace(op()), {"start": 15_000, "host_row": 0}, slices=slices({"start": 40_000, "launch": 0}))

    write_chrome_trace(source, io.BytesIO(), progress=lambda done, total: seen.append((done, total)))

    assert seen[-1] == (3, 3)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_long_name_makes_no_other_block_smaller() -> None:
    names = ["n"] * 8192 + ["y" * 20_000] + ["n"] * 8191
    source = timeline(slices=slices(*({"start": at, "duration": 1, "name": name} for at, name in enumerate(names))))
    table = plan_device(source, FreeNumbers(set()), {}).tables[0]
    blocks = [count for rows in row_blocks(len(names), 8192) for count, _ in block_texts(table, slice_block(table, rows), 0)]

    assert blocks == [*[1024] * 8, 512, *[1024] * 7, 512]
