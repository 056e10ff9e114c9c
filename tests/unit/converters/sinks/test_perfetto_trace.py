"""A timeline as Perfetto's own trace, read back with Perfetto's official bindings."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.sinks.perfetto_trace import write_perfetto_trace
from rblnpb.converters.timeline import DeferredSlices, Rows, RuntimeSlices, SliceDependencies, SliceNames, Timeline, Track
from rblnpb.errors import Finding, Severity
from tests.support.perfetto_packets import ShownTrace, shown
from tests.support.timelines import counters, host_trace, launches, runtime, slices, timeline

Event = dict[str, Any]

COMPUTE = Track("rbln:0", "Neural Engine Clusters (chiplet 0)", "neural_engine_clusters", is_work=True, order=1)
DMA = Track("rbln:0", "Neural DMA (chiplet 0)", "neural_dma", is_work=True, order=0)
OTHER_DMA = Track("rbln:0", "Neural DMA (chiplet 1)", "neural_dma", is_work=True, order=2)
SYNC = Track("rbln:1", "Device Sync", "device_sync", is_work=False, order=3)
FRAME = Track("rbln:0", "Device Workload", "workload", is_work=False, order=4)
UNIX_NS = 1_790_857_026_000_000_000
REALTIME = 1


def op(name: str = "op", ts: Any = 10, dur: Any = 20, **members: Any) -> Event:
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 10, "tid": 11, "ts": ts, "dur": dur} | members


def on_thread(phase: str, ts: Any, **members: Any) -> Event:
    return {"ph": phase, "pid": 10, "tid": 11, "ts": ts} | members


def flow(phase: str, ts: Any, **members: Any) -> Event:
    return on_thread(phase, ts, **{"id": 1, "cat": "ac2g", "name": "ac2g", "bp": "e"} | members)


def write(source: Timeline) -> tuple[bytes, tuple[Finding, ...]]:
    file = io.BytesIO()
    findings = write_perfetto_trace(source, file)
    return file.getvalue(), findings


def written(source: Timeline) -> ShownTrace:
    return shown(write(source)[0])


def of_host(*host_events: Event, **frame: Any) -> Timeline:
    return timeline(host_trace(*host_events, **frame), tracks=())


def codes(source: Timeline) -> dict[str, int]:
    return {finding.code: finding.count for finding in write(source)[1]}


def arrows(source: Timeline) -> list[tuple[str, str]]:
    return [(one.name, other.name) for one, other in written(source).arrows]


MAIN = ("process 10", "thread 11")

# The device side


def test_a_stream_may_look_at_what_it_is_given_and_not_change_it() -> None:
    class File:
        def __init__(self) -> None:
            self.blocks: list[tuple[bytes, bool]] = []

        def write(self, data: bytes | memoryview, /) -> None:
            self.blocks.append((bytes(data), memoryview(data).readonly))

    source = timeline(host_trace(op(), op("other", 12, 3)), slices=slices({"start": 100, "duration": 5}, {"start": 105}))
    file = File()
    write_perfetto_trace(source, file)

    assert b"".join(text for text, _ in file.blocks) == write(source)[0]
    assert all(is_read_only for _, is_read_only in file.blocks)


def test_devices_are_processes_and_chiplets_hold_engines_in_their_order() -> None:
    source = timeline(tracks=(COMPUTE, DMA, OTHER_DMA, SYNC, FRAME), device_name="rbln")

    assert written(source).tracks == [
        ("rbln:0",),
        ("rbln:0", "chiplet 0"),
        ("rbln:0", "chiplet 0", "Neural DMA"),
        ("rbln:0", "chiplet 0", "Neural Engine Clusters"),
        ("rbln:0", "chiplet 1"),
        ("rbln:0", "chiplet 1", "Neural DMA"),
        ("rbln:0", "Device Workload"),
        ("rbln:1",),
        ("rbln:1", "Device Sync"),
    ]


def test_slices_tell_what_is_known_of_them() -> None:
    names = ("launch_id", "instance", "sequence", "workload", "compute_cycles", "size_bytes")
    host = host_trace(op("aten::mm", args={"External id": 5}))
    source = timeline(
        host,
        slices=slices(
            {"start": 100, "duration": 7, "stage": "mm", "host_row": 0, "launch_id": 3, "sequence": 0, "compute_cycles": 2**40},
            {"start": 110, "duration": 0, "name": "whole name", "track": 1, "launch_id": 0, "size_bytes": 2**63 - 1},
            argument_names=names,
        ),
        argument_names=names,
        tracks=(COMPUTE, SYNC),
    )
    first, second = written(source).slices[:2]

    assert (first.path, first.name, first.category) == (("rbln:0", "chiplet 0", "Neural Engine Clusters"), "mm_0", "kernel")
    assert (first.start_ns, first.end_ns, second.start_ns, second.end_ns) == (100, 107, 110, 110)
    assert first.arguments == {
        "stage": "mm",
        "op": "aten::mm",
        "External id": 5,
        "launch_id": 3,
        "sequence": 0,
        "compute_cycles": 2**40,
    }
    assert (second.path, second.name, second.category) == (("rbln:1", "Device Sync"), "whole name", "rbln_sync")
    assert second.arguments == {"size_bytes": 2**63 - 1}


def test_a_number_below_zero_and_one_that_is_the_same_everywhere() -> None:
    rows = [{"start": at, "duration": 1, "a": -5 if at else 3, "b": 7} for at in range(3)]
    source = timeline(slices=slices(*rows, argument_names=("a", "b")), argument_names=("a", "b"))

    assert [one.arguments for one in written(source).slices] == [{"a": 3, "b": 7}, {"a": -5, "b": 7}, {"a": -5, "b": 7}]


def test_the_launch_of_a_slice_is_told_where_the_record_does_not() -> None:
    source = timeline(
        slices=slices({"start": 1, "duration": 1, "launch": 0}, {"start": 2, "duration": 1}), launches=launches({"launch_id": 9})
    )

    assert [one.arguments for one in written(source).slices] == [{"launch_id": 9}, {}]


def test_slices_that_cross_go_to_further_rows_of_their_engine() -> None:
    rows = [{"start": start, "duration": 10, "name": name} for start, name in ((0, "a"), (5, "b"), (12, "c"), (14, "d"))]
    source = timeline(slices=slices(*rows), tracks=(COMPUTE,))

    assert [(path[-1], name) for path, name, _, _ in written(source).spans()] == [
        ("Neural Engine Clusters", "a"),
        ("Neural Engine Clusters (2)", "b"),
        ("Neural Engine Clusters", "c"),
        ("Neural Engine Clusters (3)", "d"),
    ]
    assert codes(source) == {"device-slices-moved": 2}


def test_slices_of_any_order_that_touch_and_nest_keep_their_times() -> None:
    spans = [(20, 30), (0, 40), (30, 40), (0, 20), (20, 20), (40, 40), (0, 0), (20, 25), (5, 20)]
    source = timeline(slices=slices(*({"start": a, "duration": b - a, "name": f"{a}-{b}"} for a, b in spans)))

    assert Counter(written(source).spans()) == Counter((("rbln:0", "Neural Engine Clusters"), f"{a}-{b}", a, b) for a, b in spans)


def test_frames_and_slices_of_one_engine_do_not_meet() -> None:
    source = timeline(
        slices=slices({"start": 0, "duration": 5, "name": "slice"}, {"start": 5, "duration": 5, "name": "slice"}),
        frames=slices({"start": 0, "duration": 10, "name": "frame"}),
        tracks=(FRAME,),
    )

    assert sorted(written(source).spans()) == [
        (("rbln:0", "Device Workload"), "slice", 0, 5),
        (("rbln:0", "Device Workload"), "slice", 5, 10),
        (("rbln:0", "Device Workload, frames"), "frame", 0, 10),
    ]


def test_a_frame_is_no_work_on_whatever_row_it_stands() -> None:
    source = timeline(
        slices=slices({"duration": 10, "name": "slice", "track": 0}),
        frames=slices({"duration": 10, "name": "frame", "track": 0}, {"duration": 10, "name": "alone", "track": 1}),
        tracks=(COMPUTE, DMA),
    )

    assert {one.name: one.category for one in written(source).slices} == {
        "slice": "kernel",
        "frame": "rbln_workload",
        "alone": "rbln_workload",
    }


def test_the_runtime_has_rows_beside_the_threads_of_its_process() -> None:
    host = host_trace(op(pid=1, tid=7))
    source = timeline(host, runtime=runtime((100, 20, 1, 7), (110, 20, 1, 7), (100, 5, 2, 8)), strings=("", "submit", "wait"))

    assert [(path, name) for path, name, *_ in written(source).spans() if name != "op"] == [
        (("process 1", "runtime 7"), "submit"),
        (("process 1", "runtime 8"), "wait"),
        (("process 1", "runtime 7 (2)"), "submit"),
    ]


def test_a_runtime_without_a_host_has_a_process_of_its_own() -> None:
    one = np.array([1], np.int64)
    table = RuntimeSlices(one, one, one.astype(np.int32), one * 77, one * 78, one - 1, one * 512, -one)
    source = timeline(runtime=table, launches=launches({"launch_id": 4}), strings=("", "copy"), tracks=())
    (found,) = written(source).slices

    assert (found.path, found.name, found.category) == (("process 77", "runtime 78"), "copy", "rbln_runtime")
    assert found.arguments == {"launch_id": 4, "size_bytes": 512}


def test_samples_are_curves_of_their_device() -> None:
    source = timeline(
        counters=counters((5, 1, 2, 1.5), (6, 1, 2, float("nan")), (7, 1, 2, -2.0), (7, 3, 2, 8.0)),
        strings=("", "rbln:0", "memory [B]", "rbln:1"),
    )

    assert written(source).samples == [
        (("rbln:0", "memory [B]"), 5, 1.5),
        (("rbln:0", "memory [B]"), 7, -2.0),
        (("rbln:1", "memory [B]"), 7, 8.0),
    ]
    assert codes(source) == {"counters-not-finite": 1}


def test_more_slices_than_a_block_holds_and_a_name_that_is_long() -> None:
    count = 20_000
    rows = [{"start": 3 * at, "duration": 3, "name": "n" * 3_000 if at == 9_000 else f"n{at % 7}"} for at in range(count)]
    found = written(timeline(slices=slices(*rows))).slices

    assert [one.name for one in found] == [row["name"] for row in rows]
    assert [one.end_ns for one in found] == [3 * at + 3 for at in range(count)]


def test_slices_that_are_read_block_by_block_are_written_as_those_that_are_held() -> None:
    names = ("launch_id", "size_bytes")
    host = host_trace(op("a"), op("b", 40))
    rows = [
        {"start": 7 * at % 40, "duration": at % 9, "stage": f"s{at % 3}", "launch": at % 3 - 1, "size_bytes": at}
        for at in range(30)
    ]
    held = slices(*rows, argument_names=names)
    owners = np.array([1, 0])
    held = replace(held, host_row=np.append(owners, -1)[held.launch])
    read: list[int] = []

    def parts(some: Rows) -> tuple[SliceNames, np.ndarray]:
        read.extend(np.arange(len(held))[some].tolist())
        return held.names.take(some), held.arguments[some]

    deferred = DeferredSlices(
        held.start_ns, held.duration_ns, held.track, held.launch, held.rule, owners, parts, held.strings, held.text_rows()
    )
    launched = launches({"host_row": 1, "launch_id": 5}, {"host_row": 0, "launch_id": 6})
    dependencies = SliceDependencies(np.arange(29), np.arange(1, 30))
    one, other = (
        write(timeline(host, slices=table, launches=launched, argument_names=names, dependencies=dependencies))
        for table in (held, deferred)
    )

    assert one == other
    assert sorted(read) == [0, *range(30)]


# The host trace


def test_processes_and_threads_bear_the_names_of_the_trace() -> None:
    source = of_host(
        {"ph": "M", "name": "process_name", "pid": 10, "args": {"name": "python"}},
        {"ph": "M", "name": "thread_name", "pid": 10, "tid": 12, "args": {"name": "worker"}},
        {"ph": "M", "name": "thread_name", "pid": 10, "tid": 99, "args": {"name": "never seen"}},
        op("b", tid=12),
        op("a"),
    )

    assert written(source).tracks == [("python",), ("python", "thread 11"), ("python", "worker")]


def test_what_is_no_number_for_perfetto_is_a_row_with_a_name() -> None:
    source = of_host(
        op("a", pid=-3), op("b", tid=2**40), op("c", tid="row"), op("d", tid=0), op("e", pid="Spans"), op("f", tid=None)
    )

    assert [(one.path, one.name) for one in written(source).slices] == [
        (("process (pid -3)", "thread 11"), "a"),
        (("process 10", "thread (tid 1099511627776)"), "b"),
        (("process 10", "row"), "c"),
        (("process 10", "thread (tid 0)"), "d"),
        (("Spans", "thread 11"), "e"),
        (("process 10", "thread (tid None)"), "f"),
    ]
    assert codes(source) == {"host-ids-renumbered": 3}


def test_a_number_and_the_text_of_it_are_one_thread() -> None:
    assert {one.path for one in written(of_host(op("a", tid="11"), op("b", ts=50))).slices} == {MAIN}


def test_events_have_their_category_and_their_args_as_they_stand() -> None:
    args = {"External id": 7, "Input Dims": [[2, 3], []], "f": 0.1, "text": "x", "yes": True, "inner": {"x": [1, "y"]}}
    (found,) = written(of_host(op(args=args))).slices

    assert (found.path, found.name, found.category, found.start_ns, found.end_ns) == (MAIN, "op", "cpu_op", 10_000, 30_000)
    assert found.arguments == {
        "args.External id": 7,
        "args.Input Dims[0][0]": 2,
        "args.Input Dims[0][1]": 3,
        "args.f": 0.1,
        "args.text": "x",
        "args.yes": True,
        "args.inner.x[0]": 1,
        "args.inner.x[1]": "y",
    }


def test_args_that_perfetto_would_misread_are_told_value_by_value() -> None:
    args: Any = {"big": 2**63, "neg": -(2**63), "slash": 'a\\b"\n', "none": None, "empty": [], "deep": [{"n": [1, None]}]}
    (found,) = written(of_host(op(args=args))).slices

    assert found.arguments == {
        "args.big": str(2**63),
        "args.neg": -(2**63),
        "args.slash": 'a\\b"\n',
        "args.none": "null",
        "args.empty": "[]",
        "args.deep[0].n[0]": 1,
        "args.deep[0].n[1]": "null",
    }


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (b"[1]", {"args[0]": 1}),
        (b"null", {"args": "null"}),
        (b'"text"', {"args": "text"}),
        (b'{"a":1e999}', {"args.a": "Infinity"}),
        (b'{"a":1,"a":2}', {"args.a": 2}),
        (b"{ }", {}),
        ('{"a":"µ"}'.encode(), {"args.a": "µ"}),
    ],
)
def test_args_of_any_kind_do_no_harm(args: bytes, expected: dict[str, Any]) -> None:
    text = b'{"ph":"X","name":"op","pid":10,"tid":11,"ts":10,"dur":20,"args":' + args + b"}"
    (found,) = written(of_host(op(), texts=[text])).slices

    assert found.arguments == expected


def test_args_that_are_no_text_are_mended_and_counted() -> None:
    text = b'{"ph":"X","name":"op","pid":10,"tid":11,"ts":10,"dur":20,"args":{"a":"\xff"}}'
    source = of_host(op(), op("next", ts=50), texts=[text, b'{"name":"next","args":{"b":1}}'])

    assert [one.arguments for one in written(source).slices] == [{"args.a": "\ufffd"}, {"args.b": 1}]
    assert codes(source) == {"host-text-mended": 1}


def test_what_stands_between_events_does_no_harm() -> None:
    source = of_host(op(args={"a": 1}), op("b", ts=40, args={"b": 2}), separator=", null,\n 7, ", block_bytes=31)

    assert [one.arguments for one in written(source).slices] == [{"args.a": 1}, {"args.b": 2}]


def test_slices_that_cross_go_to_a_row_below_their_thread() -> None:
    source = of_host(op("a", 0, 10), op("b", 5, 10), op("c", 6, 2))

    assert [(one.path, one.name) for one in written(source).slices] == [
        (MAIN, "a"),
        ((*MAIN, "thread 11 (2)"), "b"),
        (MAIN, "c"),
    ]
    assert codes(source) == {"host-slices-moved": 1}


def test_slices_that_begin_together_are_outer_first_whatever_the_file_says() -> None:
    spans = [("d", 10, 1), ("a", 0, 50), ("c", 10, 5), ("empty", 10, 0), ("b", 10, 20), ("e", 30, 5), ("f", 30, 20)]
    source = of_host(*(op(name, ts, dur, args={"n": name}) for name, ts, dur in spans), block_bytes=40)
    found = written(source)

    assert Counter(found.spans()) == Counter((MAIN, name, ts * 1000, (ts + dur) * 1000) for name, ts, dur in spans)
    assert all(one.arguments == {"args.n": one.name} for one in found.slices)


def test_slices_without_a_length_are_empty() -> None:
    endless = op("endless")
    del endless["dur"]
    source = of_host(endless, op("backwards", ts=12, dur=-5), op("empty", ts=12, dur=0))

    assert [(name, start, end) for _, name, start, end in written(source).spans()] == [
        ("endless", 10_000, 10_000),
        ("backwards", 12_000, 12_000),
        ("empty", 12_000, 12_000),
    ]
    assert codes(source) == {"host-slices-without-length": 2}


def test_a_slice_that_is_longer_than_time_ends_with_it() -> None:
    source = of_host(op(ts=UNIX_NS // 1000, dur=2**63 // 1000), op("next", ts=UNIX_NS // 1000 + 5, dur=1))

    assert [(name, end) for _, name, _, end in written(source).spans()] == [("op", 2**63 - 1), ("next", UNIX_NS + 6_000)]
    assert codes(source) == {"host-slices-cut": 1}


def test_instants_are_on_their_thread() -> None:
    source = of_host(*(on_thread(phase, 10 + at, name=phase, cat="c", args={"a": at}) for at, phase in enumerate("iIR")))

    assert [(one.path, one.name, one.start_ns, one.end_ns, one.arguments) for one in written(source).slices] == [
        (MAIN, phase, 10_000 + 1000 * at, 10_000 + 1000 * at, {"args.a": at}) for at, phase in enumerate("iIR")
    ]


def test_slices_told_by_begin_and_end_have_the_args_of_both() -> None:
    source = of_host(
        on_thread("B", 10, name="outer", cat="c", args={"a": 1}),
        on_thread("B", 10, name="inner"),
        on_thread("E", 20),
        on_thread("E", 20, args={"b": 2}),
        on_thread("B", 20, name="next"),
        on_thread("E", 20),
    )
    found = written(source)

    assert found.spans() == [(MAIN, "outer", 10_000, 20_000), (MAIN, "inner", 10_000, 20_000), (MAIN, "next", 20_000, 20_000)]
    assert [one.arguments for one in found.slices] == [{"args.a": 1, "args.b": 2}, {}, {}]
    assert codes(source) == {}


def test_slices_of_both_kinds_do_not_share_a_row() -> None:
    source = of_host(on_thread("B", 10, name="apart"), op("whole", 10, 5), on_thread("E", 15))

    assert sorted(written(source).spans()) == [(MAIN, "whole", 10_000, 15_000), ((*MAIN, "thread 11 (2)"), "apart", 10_000, 15_000)]
    assert codes(source) == {"host-slices-moved": 1}


def test_a_slice_that_never_ends_ends_with_the_trace_and_an_end_alone_is_left_out() -> None:
    source = of_host(on_thread("E", 5), on_thread("B", 10, name="forever"), op("last", 20, 30, tid=12))

    assert sorted((name, start, end) for _, name, start, end in written(source).spans()) == [
        ("forever", 10_000, 50_000),
        ("last", 20_000, 50_000),
    ]
    assert codes(source) == {"host-slices-without-end": 1, "host-ends-without-begin": 1}


def test_slices_under_an_id_have_a_track_for_each() -> None:
    source = of_host(
        on_thread("b", 1, id=1, cat="k", name="outer", args={"a": 1}),
        on_thread("b", 2, id=2, cat="k", name="other"),
        on_thread("b", 3, id=1, cat="k", name="inner"),
        on_thread("n", 4, id=1, cat="k", name="point"),
        on_thread("e", 5, id=1, cat="k", name="inner"),
        on_thread("e", 6, id=1, cat="k", name="outer"),
        on_thread("e", 7, id=2, cat="k", name="other"),
        on_thread("S", 8, id=1, cat="k", name="old"),
        on_thread("T", 9, id=1, cat="k", name="step"),
        on_thread("F", 10, id=1, cat="k", name="old"),
    )
    found = written(source)

    assert [(name, start // 1000, end // 1000) for _, name, start, end in found.spans()] == [
        ("outer", 1, 6),
        ("other", 2, 7),
        ("inner", 3, 5),
        ("point", 4, 4),
        ("old", 8, 10),
        ("step", 9, 9),
    ]
    assert [one.path for one in found.slices] == [
        ("process 10", name) for name in ("outer", "other", "outer", "outer", "old", "old")
    ]


def test_counters_have_a_curve_for_each_number() -> None:
    source = of_host(
        on_thread("C", 1, name="mem", args={"a": 1, "b": "2.5", "c": None, "d": "x"}),
        on_thread("C", 2, name="mem", id="0x1", args={"a": 3}),
        on_thread("C", 3, name="mem"),
        on_thread("C", 4, name="mem", args={"a": 2}),
    )

    assert written(source).samples == [
        (("process 10", "mem a"), 1_000, 1.0),
        (("process 10", "mem b"), 1_000, 2.5),
        (("process 10", "mem[0x1] a"), 2_000, 3.0),
        (("process 10", "mem a"), 4_000, 2.0),
    ]
    assert codes(source) == {"host-samples-not-numbers": 3}


def test_what_cannot_be_shown_is_counted() -> None:
    timeless = op("never")
    del timeless["ts"]
    source = of_host(timeless, {"name": "nothing", "ts": 1}, *(on_thread(phase, 1, id=1) for phase in "NODPv"))

    assert written(source).slices == []
    assert codes(source) == {"host-events-without-time": 1, "host-events-without-phase": 1, "host-events-not-shown": 5}


def test_nameless_events_have_perfettos_name_for_them() -> None:
    assert [one.name for one in written(of_host(op(name=""))).slices] == ["[No name]"]


# Arrows


def test_a_flow_goes_from_the_innermost_slice_to_the_next() -> None:
    source = of_host(
        op("a", 0, 50),
        op("inner", 5, 20),
        op("b", 30, 20, tid=12),
        op("c", 60, 20, tid=12),
        flow("s", 10),
        flow("t", 35, tid=12),
        flow("f", 61, tid=12),
        flow("f", 62, tid=12),
    )

    assert arrows(source) == [("inner", "b"), ("b", "c"), ("b", "c")]
    assert codes(source) == {}


def test_a_flow_that_does_not_say_where_it_ends_ends_where_the_next_slice_begins() -> None:
    source = of_host(
        op("a"),
        op("around", 20, 50, tid=12),
        op("next", 30, 5, tid=12),
        op("late", 40, 5, tid=12),
        flow("s", 15),
        flow("f", 30, tid=12, bp=None),
        flow("s", 15, id=2),
        flow("f", 41, tid=12, id=2, bp=None),
    )

    assert arrows(source) == [("a", "next")]
    assert codes(source) == {"flows-outside-slices": 1}


def test_an_arrow_to_a_slice_that_began_earlier_ends_where_that_does() -> None:
    source = of_host(op("long", 0, 90), op("a", 10, 5, tid=12), flow("s", 12, tid=12), flow("f", 20))

    assert arrows(source) == [("a", "long")]


def test_an_arrow_to_an_earlier_slice_told_by_begin_and_end() -> None:
    source = of_host(
        on_thread("B", 0, name="long"), op("a", 10, 5, tid=12), flow("s", 12, tid=12), flow("f", 20), on_thread("E", 90)
    )

    assert arrows(source) == [("a", "long")]


def test_flows_that_cannot_be_drawn_are_counted() -> None:
    source = of_host(op(), flow("f", 12), flow("t", 12), flow("s", 5), flow("s", 14), flow("f", 15, id=2), flow("s", 13, name="x"))

    assert arrows(source) == []
    assert codes(source) == {"flows-without-start": 3, "flows-outside-slices": 1}


def test_a_flow_id_that_is_used_again_is_another_arrow() -> None:
    ends = [flow(phase, ts, tid=tid) for phase, ts, tid in (("s", 11, 11), ("f", 21, 12), ("s", 51, 11), ("f", 61, 12))]
    source = of_host(op("a"), op("b", 20, 5, tid=12), op("c", 50), op("d", 60, 5, tid=12), *ends)

    assert arrows(source) == [("a", "b"), ("c", "d")]


def test_an_arrow_leads_from_an_op_to_the_first_work_of_its_launch() -> None:
    source = timeline(
        host_trace(op("a", 10, 20), op("inner", 15, 5)),
        slices=slices(
            {"start": 40_000, "duration": 5, "launch": 0, "name": "late"}, {"start": 30_000, "launch": 0, "name": "first"}
        ),
        frames=slices({"start": 50_000, "duration": 5, "launch": 1, "name": "frame"}),
        launches=launches({"start": 16_000, "host_row": 0}, {"start": 17_000, "host_row": 1}, {"start": 18_000, "host_row": 1}),
        tracks=(COMPUTE,),
    )

    assert arrows(source) == [("a", "first"), ("inner", "frame")]
    assert codes(source) == {"launches-without-device-work": 1}


def test_no_second_arrow_leads_to_a_row_of_the_trace() -> None:
    host = host_trace(op("a"), op("kernel", 40, 5, tid=7), flow("s", 12), flow("f", 40, tid=7), op("other", 50, 5, tid=7))
    device = slices(
        {"start": 40_000, "duration": 5_000, "launch": 0, "event": 1}, {"start": 50_000, "duration": 5_000, "launch": 1, "event": 4}
    )
    source = timeline(host, slices=device, launches=launches({"start": 12_000, "host_row": 0}, {"start": 13_000, "host_row": 0}))

    assert arrows(source) == [("a", "kernel"), ("a", "other")]


def test_dependencies_lead_from_slice_to_slice() -> None:
    rows = [{"start": 10 * at, "duration": 10, "name": name, "track": at % 2} for at, name in enumerate("abcd")]
    edges = SliceDependencies(np.array([0, 0, 1, 2, 3]), np.array([1, 2, 2, 3, 0]))
    source = timeline(slices=slices(*rows), dependencies=edges, tracks=(COMPUTE, DMA))

    assert arrows(source) == [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]
    assert codes(source) == {"arrows-backwards": 1}


def test_a_dependency_between_a_row_of_the_trace_and_one_of_ours() -> None:
    source = timeline(
        host_trace(op("kernel", 1, 5)),
        slices=slices({"start": 1_000, "duration": 5_000, "event": 0}, {"start": 9_000, "duration": 1, "name": "ours"}),
        dependencies=SliceDependencies(np.array([0]), np.array([1])),
    )

    assert arrows(source) == [("kernel", "ours")]


# Times and the rest


def test_unix_times_are_told_to_be_such() -> None:
    found = written(timeline(slices=slices({"start": UNIX_NS + 1, "duration": 3})))

    assert (found.clock, found.slices[0].start_ns) == (REALTIME, UNIX_NS + 1)


def test_times_of_another_zero_are_not_called_unix_times() -> None:
    assert written(timeline(slices=slices({"start": 86_400 * 10**9}))).clock == 0


def test_times_before_zero_are_moved_behind_it() -> None:
    source = timeline(
        host_trace(op(ts="-7.5", dur=1)), slices=slices({"start": 100, "duration": 3}), counters=counters((5, 0, 0, 1.0))
    )
    found = written(source)

    assert [(one.start_ns, one.end_ns) for one in found.slices] == [(10**9 - 7_500, 10**9 - 6_500), (10**9 + 100, 10**9 + 103)]
    assert found.samples[0][1] == 10**9 + 5
    assert [finding for finding in write(source)[1] if finding.code == "times-shifted"] == [
        Finding(Severity.INFO, "times-shifted", "there are times before zero; all are 1000000000 ns later now")
    ]


def test_the_last_time_of_all_fits() -> None:
    last = 2**63 - 1
    assert written(timeline(slices=slices({"start": last - 1, "duration": 1}))).spans()[0][2:] == (last - 1, last)


def test_nothing_is_a_trace_too() -> None:
    assert written(timeline(tracks=())).tracks == []
    assert written(of_host()).slices == []


def test_the_same_timeline_gives_the_same_bytes() -> None:
    source = timeline(host_trace(op(args={"a": 1}), flow("s", 12), flow("f", 13)), slices=slices({"start": 5, "stage": "a"}))

    assert write(source) == write(source)


def test_progress_counts_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    source = timeline(
        host_trace(op(), flow("s", 12), on_thread("C", 5, name="c", args={"a": 1})),
        slices=slices({"start": 1}, {"start": 2}),
        counters=counters((5, 0, 0, 1.0), (5, 0, 0, float("inf"))),
    )
    write_perfetto_trace(source, io.BytesIO(), progress=lambda done, count: seen.append((done, count)))

    assert seen[-1] == (5, 5)
    assert seen == sorted(seen)


def test_ids_beyond_63_bits_are_their_64_bits() -> None:
    host = host_trace(op("a"))
    host.events.external_id.setflags(write=True)
    host.events.external_id[0] = -(2**63) + 5
    (found,) = (
        one for one in written(timeline(host, slices=slices({"start": 1, "host_row": 0, "name": "s"}))).slices if one.name == "s"
    )

    assert found.arguments["External id"] == 2**63 + 5


def test_absent_numbers_of_the_runtime_are_absent() -> None:
    source = timeline(runtime=runtime((1, 1, 1, 7)), strings=("", "wait"), tracks=())

    assert source.runtime.size_bytes.tolist() == [ABSENT]
    assert written(source).slices[0].arguments == {}
