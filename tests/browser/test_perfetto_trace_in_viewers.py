"""What Perfetto makes of our Perfetto traces: everything is there, exact to the nanosecond, and it has no objection."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rblnpb.converters.pipeline import read_inputs, simulate_to_file
from rblnpb.converters.sinks.chrome_trace import write_chrome_trace
from rblnpb.converters.sinks.perfetto_trace import write_perfetto_trace
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import AlignedSlices, HostTrace, RuntimeSlices, SliceDependencies, Timeline, Track
from tests.browser.viewers import FLOW_ERRORS, IMPORT_ERRORS, perfetto_query
from tests.support.shared_traces import BUNDLED_TRACE, SHARED, host_trace_paths, shared_file
from tests.support.timelines import counters, host_trace, launches, slices, timeline

pytestmark = pytest.mark.browser

# Invalid JSON, as torch really writes it.
HOST_TRACES = host_trace_paths()
PUBLIC_TRACES = {path.name: path for path in sorted((SHARED / "traces" / "public").rglob("*.json.gz"))}
UNIX_NS = 1_790_857_026_000_000_000

# Packets that could not be read are told as worth knowing only.
READ_ERRORS = "select name, value from stats where value != 0 and (name glob '*error*' or name glob '*invalid*')"
SLICES = "select ts, dur, name, coalesce(category, '') as category from slice"
ARROWS = """
    select source.ts as source_ts, source.name as source, target.ts as target_ts, target.name as target
    from flow join slice as source on slice_out = source.id join slice as target on slice_in = target.id
"""
ARGUMENTS = """
    select slice.ts, slice.name, key, coalesce(int_value, real_value, string_value) as value
    from args join slice using (arg_set_id) where key glob 'debug.*'
"""
ROWS = """
    select slice.name, track.name as row, thread.name as thread, process.name as process
    from slice join track on slice.track_id = track.id
    left join thread_track on thread_track.id = track.id left join thread using (utid)
    left join process_track on process_track.id = track.id
    left join process on process.upid = coalesce(process_track.upid, thread.upid)
"""
COUNTERS = "select ts, value, track.name from counter join track on counter.track_id = track.id"

Shown = Counter[tuple[int, int, str, str]]
"""How often each slice is there: start, duration, name, category."""


def written(source: Timeline) -> bytes:
    file = io.BytesIO()
    write_perfetto_trace(source, file)
    return file.getvalue()


def clean_query(trace: bytes, *queries: str) -> list[list[dict[str, Any]]]:
    """Answers to the queries; fails where Perfetto finds a fault with the trace."""
    errors, flow_errors, read_errors, *answers = perfetto_query(trace, IMPORT_ERRORS, FLOW_ERRORS, READ_ERRORS, *queries)
    assert errors + flow_errors + read_errors == []
    return answers


def slices_of(rows: list[dict[str, Any]], base_time_ns: int = 0) -> Shown:
    return Counter((row["ts"] + base_time_ns, row["dur"], row["name"], row["category"]) for row in rows)


def arrows_of(rows: list[dict[str, Any]], base_time_ns: int = 0) -> Counter[tuple[int, str, int, str]]:
    return Counter((row["source_ts"] + base_time_ns, row["source"], row["target_ts"] + base_time_ns, row["target"]) for row in rows)


def host_slices(host: HostTrace) -> Shown:
    """Slices and instants of a host trace."""
    events = host.events
    rows = np.concatenate((host.rows("X"), host.rows("i")))
    duration = np.where(events.phase[rows] == ord("i"), 0, np.maximum(events.duration_ns[rows], 0))
    names = [host.strings[name] or "[No name]" for name in events.name[rows].tolist()]
    categories = [host.strings[category] for category in events.category[rows].tolist()]
    return Counter(zip(events.start_ns[rows].tolist(), duration.tolist(), names, categories, strict=True))


def table_slices(table: AlignedSlices | RuntimeSlices, names: list[str]) -> Counter[tuple[int, int, str]]:
    return Counter(zip(table.start_ns.tolist(), table.duration_ns.tolist(), names, strict=True))


def without_category(found: Shown) -> Counter[tuple[int, int, str]]:
    shown: Counter[tuple[int, int, str]] = Counter()
    for (start, duration, name, _), count in found.items():
        shown[start, duration, name] += count
    return shown


def leaves(value: Any, name: str) -> dict[str, Any]:
    """A JSON value as Perfetto has it: an argument for each number and text in it."""
    if isinstance(value, dict):
        return {key: leaf for inner in value for key, leaf in leaves(value[inner], f"{name}.{inner}").items()}
    if isinstance(value, list):
        return {key: leaf for at, inner in enumerate(value) for key, leaf in leaves(inner, f"{name}[{at}]").items()}
    return {name: value if isinstance(value, (int, float, str)) else "null"}


@pytest.mark.parametrize("path", [*HOST_TRACES.values(), BUNDLED_TRACE, *PUBLIC_TRACES.values()], ids=lambda path: path.parent.name)
def test_a_trace_is_shown_as_its_chrome_trace_is(path: Path) -> None:
    host = read_host(path)
    source = timeline(host, tracks=())
    chrome = io.BytesIO()
    write_chrome_trace(source, chrome)
    base_time_ns = read_host(io.BytesIO(chrome.getvalue())).base_time_ns
    found, arrows = clean_query(written(source), SLICES, ARROWS)
    (of_chrome,) = perfetto_query(chrome.getvalue(), ARROWS)

    assert slices_of(found) == host_slices(host)
    assert arrows_of(arrows) == arrows_of(of_chrome, base_time_ns)


@pytest.mark.parametrize("name", ["transformer_train_full", "resnet_infer", "profile_matmul_rbln_sim_vendorlike"])
def test_every_argument_arrives(name: str) -> None:
    host = read_host(host_trace_paths()[name] if SHARED.is_dir() else shared_file("traces"))
    document = json.loads(b"".join(host.document.blocks()))
    (found,) = clean_query(written(timeline(host, tracks=())), ARGUMENTS)

    wanted = Counter(
        (event["name"], key, value)
        for event in document["traceEvents"]
        if event["ph"] in "Xi"
        for key, value in leaves(event.get("args", {}), "debug.args").items()
    )
    assert Counter((row["name"], row["key"], row["value"]) for row in found) == wanted


def test_numbers_are_numbers() -> None:
    args = {
        "n": 7,
        "least": -(2**63),
        "most": 2**63 - 1,
        "beyond": 10159970886766084423,
        "f": 0.25,
        "t": True,
        "s": "7",
        "\\": "\\",
    }
    host = host_trace({"ph": "X", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": args})
    query = "select key, value_type, coalesce(int_value, real_value, string_value) as value from args where key glob 'debug.*'"
    (found,) = clean_query(written(timeline(host, tracks=())), query)

    assert sorted((row["key"], row["value_type"], row["value"]) for row in found) == sorted(
        [
            ("debug.args.n", "int", 7),
            ("debug.args.least", "int", -(2**63)),
            ("debug.args.most", "int", 2**63 - 1),
            ("debug.args.beyond", "string", "10159970886766084423"),
            ("debug.args.f", "real", 0.25),
            ("debug.args.t", "bool", 1),
            ("debug.args.s", "string", "7"),
            ("debug.args.\\", "string", "\\"),
        ]
    )


@pytest.mark.parametrize(
    "args",
    [b"null", b"5", b"[]", b'{"a":1e999}', b'{"a":"\xff"}', b'{"a":' + b"[" * 400 + b"]" * 400 + b"}", b'{"a":"\x01"}', b"{}"],
)
def test_no_args_keep_perfetto_from_going_on(args: bytes) -> None:
    one = {"ph": "X", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    text = b'{"ph":"X","name":"op","pid":1,"tid":1,"ts":1,"dur":1,"args":' + args + b"}"
    (found,) = clean_query(written(timeline(host_trace(one, texts=[text]), tracks=())), SLICES)

    assert [row["name"] for row in found] == ["op"]


def test_a_simulated_recording_goes_the_whole_way(tmp_path: Path) -> None:
    simulate_to_file(tmp_path / "device.pb", from_host=BUNDLED_TRACE)
    source = read_inputs([tmp_path / "device.pb"], BUNDLED_TRACE).merge()
    assert source.host is not None
    found, arrows, tracks, samples, clock = clean_query(
        written(source), SLICES, ARROWS, ROWS, COUNTERS, "select clock_name, clock_value - ts as offset from clock_snapshot"
    )
    ours = table_slices(source.runtime, [source.strings[row] for row in source.runtime.name.tolist()])
    for table in (source.slices, source.frames):
        ours += table_slices(table, [text.decode() for text in table.names.render().tolist()])
    matched = int((source.launches.host_row >= 0).sum())

    assert without_category(slices_of(found)) == ours + without_category(host_slices(source.host))
    assert len(arrows) == len(source.host.rows("f")) + matched + len(source.dependencies)
    assert len(samples) == len(source.counters)
    assert {row["process"] for row in tracks if row["row"] == "Neural Engine Clusters"} == {"rbln:0"}
    # Perfetto's own time is Unix time.
    assert clock == [{"clock_name": "REALTIME", "offset": 0}]


def test_rows_bear_their_names() -> None:
    source = timeline(
        host_trace(
            {"ph": "M", "name": "process_name", "pid": 10, "args": {"name": "python"}},
            {"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "args": {"name": "main"}},
            {"ph": "X", "name": "op", "pid": 10, "tid": 11, "ts": 10, "dur": 20},
            {"ph": "X", "name": "crossing", "pid": 10, "tid": 11, "ts": 15, "dur": 20},
            {"ph": "X", "name": "far", "pid": -3, "tid": 2**40, "ts": 15, "dur": 20},
            {"ph": "X", "name": "same number", "pid": 20, "tid": 11, "ts": 15, "dur": 20},
            {"ph": "C", "name": "memory", "pid": 10, "ts": 15, "args": {"used": 3}},
        ),
        slices=slices({"start": 20_000, "duration": 5_000, "name": "a"}, {"start": 22_000, "duration": 5_000, "name": "b"}),
        counters=counters((12_000, 1, 2, 1.5)),
        strings=("", "rbln:0", "memory [B]"),
        tracks=(Track("rbln:0", "Neural DMA (chiplet 2)", "neural_dma", is_work=True, order=0),),
    )
    rows, samples = clean_query(written(source), ROWS, COUNTERS)

    assert sorted((row["name"], row["process"] or "", row["thread"] or "", row["row"] or "") for row in rows) == [
        ("a", "rbln:0", "", "Neural DMA"),
        ("b", "rbln:0", "", "Neural DMA (2)"),
        ("crossing", "python", "main", "main (2)"),
        ("far", "process (pid -3)", "", "thread (tid 1099511627776)"),
        ("op", "python", "main", ""),
        ("same number", "", "", ""),
    ]
    assert sorted((row["name"], row["ts"], row["value"]) for row in samples) == [
        ("memory [B]", 12_000, 1.5),
        ("memory used", 15_000, 3.0),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_ties_are_told_apart(seed: int) -> None:
    """Slices of few different times, so that everything begins and ends together, with dependencies between them."""
    random = np.random.default_rng(seed)
    rows = [
        {"start": UNIX_NS + int(start), "duration": int(duration), "name": f"n{at % 5}", "track": at % 2}
        for at, (start, duration) in enumerate(random.integers(0, 30, (400, 2)).tolist())
    ]
    table = slices(*rows)
    ends = table.start_ns + table.duration_ns
    before, after = (random.integers(0, 400, 600) for _ in range(2))
    is_one = (ends[before] <= table.start_ns[after]) & (table.duration_ns[after] > 0)
    tracks = tuple(Track("rbln:0", f"engine {row}", "compute", is_work=True, order=row) for row in range(2))
    edges = SliceDependencies(before[is_one], after[is_one])
    found, arrows = clean_query(written(timeline(slices=table, tracks=tracks, dependencies=edges)), SLICES, ARROWS)

    assert without_category(slices_of(found)) == table_slices(table, [str(row["name"]) for row in rows])
    starts = table.start_ns.tolist()
    assert Counter((row["source_ts"], row["target_ts"]) for row in arrows) == Counter(
        (starts[one], starts[other]) for one, other in zip(edges.predecessor.tolist(), edges.successor.tolist(), strict=True)
    )


def test_every_phase_of_a_host_is_shown() -> None:
    host = host_trace(
        {"ph": "B", "name": "apart", "pid": 1, "tid": 2, "ts": 1},
        {"ph": "B", "name": "inner", "pid": 1, "tid": 2, "ts": 1},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 4},
        {"ph": "E", "pid": 1, "tid": 2, "ts": 4},
        {"ph": "X", "name": "whole", "pid": 1, "tid": 2, "ts": 2, "dur": 3},
        {"ph": "b", "name": "async", "cat": "k", "id": 1, "pid": 1, "tid": 2, "ts": 1},
        {"ph": "b", "name": "async", "cat": "k", "id": 2, "pid": 1, "tid": 2, "ts": 2},
        {"ph": "n", "name": "point", "cat": "k", "id": 1, "pid": 1, "tid": 2, "ts": 2},
        {"ph": "e", "name": "async", "cat": "k", "id": 1, "pid": 1, "tid": 2, "ts": 3},
        {"ph": "e", "name": "async", "cat": "k", "id": 2, "pid": 1, "tid": 2, "ts": 4},
        {"ph": "i", "name": "mark", "s": "g", "pid": 1, "tid": 2, "ts": 5},
        {"ph": "B", "name": "forever", "pid": 1, "tid": 2, "ts": 5},
    )
    (found,) = clean_query(written(timeline(host, tracks=())), SLICES)

    assert sorted((row["name"], row["ts"] // 1000, row["dur"] // 1000) for row in found) == [
        ("apart", 1, 3),
        ("async", 1, 2),
        ("async", 2, 2),
        ("forever", 5, 0),
        ("inner", 1, 3),
        ("mark", 5, 0),
        ("point", 2, 0),
        ("whole", 2, 3),
    ]


def test_arrows_of_launches_lead_from_the_op() -> None:
    host = host_trace(
        {"ph": "X", "name": "op", "pid": 1, "tid": 2, "ts": 1, "dur": 9},
        {"ph": "i", "name": "mark", "pid": 1, "tid": 2, "ts": 3},
    )
    source = timeline(
        host,
        slices=slices({"start": 4_000, "duration": 10, "launch": 0, "name": "work"}),
        launches=launches({"start": 3_000, "host_row": 0}),
    )
    (arrows,) = clean_query(written(source), ARROWS)

    assert [(row["source"], row["target"]) for row in arrows] == [("op", "work")]
