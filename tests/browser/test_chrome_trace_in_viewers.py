"""What viewers make of our Chrome traces: everything is there, exact to the nanosecond, and none of them has an objection."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
import pytest

from rblnpb.converters.pipeline import read_inputs, simulate_to_file
from rblnpb.converters.sinks.chrome_trace import write_chrome_trace
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import AlignedSlices, HostTrace, RuntimeSlices, Timeline, Track
from tests.browser.viewers import FLOW_ERRORS, IMPORT_ERRORS, catapult_import, catapult_warnings, perfetto_query
from tests.support.shared_traces import BUNDLED_TRACE, SHARED, host_trace_paths, shared_file
from tests.support.timelines import counters, host_trace, launches, runtime, slices, timeline

pytestmark = pytest.mark.browser

# Invalid JSON, as torch really writes it.
HOST_TRACES = host_trace_paths()
PUBLIC_TRACES = {path.name: path for path in sorted((SHARED / "traces" / "public").rglob("*.json.gz"))}
LEFT_OUT = {"flows-without-start", "flows-outside-slices"}
SLICES = "select ts, dur, name from slice"
FLOWS = "select count(*) as n from flow"
ROWS = """
    select process.name as process, thread.name as thread, slice.name as slice
    from slice join thread_track on slice.track_id = thread_track.id
    join thread using (utid) left join process using (upid)
"""
COUNTERS = """
    select process.name as process, track.name as counter, value
    from counter join process_counter_track as track on counter.track_id = track.id join process using (upid)
"""
ARROWS = """
    select source.name as source, target.name as target
    from flow join slice as source on slice_out = source.id join slice as target on slice_in = target.id
"""
TRACKS = (
    Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=1),
    Track("rbln:0", "Neural DMA", "neural_dma", is_work=True, order=0),
    Track("rbln:1", "Device Workload", "workload", is_work=False, order=0),
)


def written(source: Timeline) -> bytes:
    file = io.BytesIO()
    write_chrome_trace(source, file)
    return file.getvalue()


Shown = Counter[tuple[int, int, str]]
"""How often each slice is there: start, duration, name."""


def host_slices(host: HostTrace) -> Shown:
    """Slices and instants of a host trace."""
    events = host.events
    rows = np.concatenate((host.rows("X"), host.rows("i")))
    duration = np.where(events.phase[rows] == ord("i"), 0, events.duration_ns[rows])
    names = [host.strings[name] or "[No name]" for name in events.name[rows].tolist()]
    return Counter(zip(events.start_ns[rows].tolist(), duration.tolist(), names, strict=True))


def device_slices(table: AlignedSlices | RuntimeSlices, *names: str) -> Shown:
    """Slices of one table, of one name or each of its own."""
    each = names if len(names) == len(table) else names * len(table)
    return Counter(zip(table.start_ns.tolist(), table.duration_ns.tolist(), each, strict=True))


def assert_shows(trace: bytes, slices: Shown, flow_count: int) -> None:
    """Fails unless Perfetto finds no fault with a trace and shows exactly these slices, and as many flows."""
    base_time_ns = read_host(io.BytesIO(trace)).base_time_ns
    errors, flow_errors, rows, ((flows),) = perfetto_query(trace, IMPORT_ERRORS, FLOW_ERRORS, SLICES, FLOWS)

    assert errors + flow_errors == []
    assert Counter((row["ts"] + base_time_ns, row["dur"], row["name"]) for row in rows) == slices
    assert flows["n"] == flow_count


@pytest.mark.parametrize("path", [*HOST_TRACES.values(), BUNDLED_TRACE], ids=[*HOST_TRACES, "bundled"])
def test_every_slice_of_a_torch_trace_is_shown_exactly(path: Path) -> None:
    host = read_host(path)
    trace = written(timeline(host, tracks=()))

    assert_shows(trace, host_slices(host), len(host.rows("f")))
    assert catapult_warnings(trace) == ()


@pytest.mark.parametrize("path", PUBLIC_TRACES.values(), ids=PUBLIC_TRACES)
def test_every_slice_of_a_public_trace_is_shown_exactly(path: Path) -> None:
    host = read_host(path)
    file = io.BytesIO()
    left_out = sum(finding.count for finding in write_chrome_trace(timeline(host, tracks=()), file) if finding.code in LEFT_OUT)
    trace = file.getvalue()

    # No step of a flow, and no start without an end, is in these files.
    assert_shows(trace, host_slices(host), len(host.rows("f")) - left_out)
    # Ends that share a start: Perfetto draws them all, chrome://tracing the first.
    started = set(host.events.flow_id[host.rows("s")].tolist())
    ends = Counter(flow for flow in host.events.flow_id[host.rows("f")].tolist() if flow in started)
    message = "flow_slice_ordering_error: Found flow phase f for id: {} but no flow start found."
    further = Counter({message.format(host.strings[flow]): count - 1 for flow, count in ends.items() if count > 1})
    assert Counter(catapult_warnings(trace)) == further


def launched_on(host: HostTrace) -> Timeline:
    """A device beside a real host: every tenth op launches something that takes as long as it takes, whoever is in the way."""
    ops = host.rows("X", "cpu_op")[::10].tolist()
    moments = (host.events.start_ns[ops] + host.events.duration_ns[ops] // 2).tolist()
    threads = [host.tracks[track].tid for track in host.events.track[ops].tolist()]
    launched = list(enumerate(zip(moments, ops, strict=True)))
    return timeline(
        host,
        slices=slices(
            *(
                {"start": at + 4000, "duration": 3000 + 977 * (n % 50), "track": n % 2, "launch": n, "host_row": op, "name": "work"}
                for n, (at, op) in launched
            )
        ),
        frames=slices(
            *({"start": at + 3500, "duration": 60_001, "track": 2, "launch": n, "name": "frame"} for n, (at, _) in launched)
        ),
        launches=launches(*({"start": at, "launch_id": n + 1, "host_row": op} for n, (at, op) in launched)),
        runtime=runtime(*((at, 2500, 1, int(str(thread))) for at, thread in zip(moments, threads, strict=True))),
        counters=counters(*((at, 2, 3, float(n)) for n, (at, _) in launched)),
        strings=("", "submit", "rbln:0", "memory [B]"),
        tracks=TRACKS,
    )


@pytest.mark.parametrize("name", ["transformer_train_full", "transformer_train_plain", "transformer_train_rbln_sim"])
def test_a_device_beside_a_torch_trace(name: str) -> None:
    host = read_host(shared_file("traces", "host", name, "trace.json.gz"))
    source = launched_on(host)
    trace = written(source)
    ours = device_slices(source.slices, "work") + device_slices(source.frames, "frame") + device_slices(source.runtime, "submit")

    assert_shows(trace, host_slices(host) + ours, len(host.rows("f")) + len(source.launches))
    assert catapult_warnings(trace) == ()


@pytest.mark.parametrize("name", ["transformer_train_full", "bundled"])
def test_a_simulated_recording_goes_the_whole_way(name: str, tmp_path: Path) -> None:
    path = BUNDLED_TRACE if name == "bundled" else shared_file("traces", "host", name, "trace.json.gz")
    simulate_to_file(tmp_path / "device.pb", from_host=path)
    source = read_inputs([tmp_path / "device.pb"], path).merge()
    host, runtime = source.host, source.runtime
    assert host is not None
    trace = written(source)
    ours = device_slices(runtime, *(source.strings[row] for row in runtime.name.tolist()))
    for table in (source.slices, source.frames):
        ours += device_slices(table, *(text.decode() for text in table.names.render().tolist()))

    matched = int((source.launches.host_row >= 0).sum())
    assert matched == len(source.launches) > 0
    assert_shows(trace, host_slices(host) + ours, len(host.rows("f")) + matched)
    assert catapult_warnings(trace) == ()


def test_rows_processes_counters_and_arrows_bear_their_names() -> None:
    host = host_trace(
        {"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "ts": 1, "args": {"name": "main"}},
        {"ph": "X", "name": "op", "pid": 10, "tid": 11, "ts": 10, "dur": 20},
        {"ph": "X", "name": "crossing", "pid": 10, "tid": 11, "ts": 15, "dur": 20},
        {"ph": "X", "name": "far", "pid": -3, "tid": 2**40, "ts": 15, "dur": 20},
        {"ph": "X", "name": "thread 0", "pid": 10, "tid": 0, "ts": 15, "dur": 20},
        {"ph": "X", "name": "main thread", "pid": 10, "tid": 10, "ts": 20, "dur": 20},
    )
    source = timeline(
        host,
        slices=slices(
            {"start": 20_000, "duration": 5_000, "name": 'say "\u00b5"\n', "launch": 0},
            {"start": 22_000, "duration": 5_000, "name": "b"},
        ),
        launches=launches({"start": 18_000, "host_row": 2}),
        counters=counters((12_000, 1, 2, 1.5)),
        strings=("", "rbln:0", "memory [B]"),
        tracks=TRACKS[:1],
    )
    errors, rows, counted, arrows = perfetto_query(written(source), IMPORT_ERRORS, ROWS, COUNTERS, ARROWS)

    assert errors == []
    assert sorted((row["process"] or "", row["thread"] or "", row["slice"]) for row in rows) == [
        ("", "", "main thread"),
        ("", "main", "op"),
        ("", "main (2)", "crossing"),
        ("", "thread 0 (tid 0)", "thread 0"),
        ("process (pid -3)", "thread 1099511627776 (tid 1099511627776)", "far"),
        ("rbln:0", "Neural Engine Clusters", 'say "\u00b5"\n'),
        ("rbln:0", "Neural Engine Clusters (2)", "b"),
    ]
    assert counted == [{"process": "rbln:0", "counter": "memory [B] value", "value": 1.5}]
    assert arrows == [{"source": "crossing", "target": 'say "\u00b5"\n'}]


def test_without_a_host_the_device_stands_alone() -> None:
    source = timeline(slices=slices({"start": 1_790_857_027_500_000_001, "duration": 7, "name": "a"}), tracks=TRACKS[:1])
    trace = written(source)

    assert_shows(trace, device_slices(source.slices, "a"), 0)
    assert catapult_import(trace).slices == 1


def test_odd_host_events_do_no_harm() -> None:
    host = host_trace(
        {"ph": "X", "name": "a", "pid": 10, "tid": 11, "ts": 10, "dur": 20},
        {"ph": "X", "name": "endless", "pid": 10, "tid": 11, "ts": 11},
        {"ph": "X", "name": "backwards", "pid": 10, "tid": 11, "ts": 12, "dur": -5},
        {"ph": "X", "name": "never", "pid": 10, "tid": 11, "dur": 5},
        {"name": "nothing", "pid": 10, "tid": 11, "ts": 1},
        {"ph": "f", "bp": "e", "id": 1, "cat": "c", "name": "n", "pid": 10, "tid": 11, "ts": 15},
        {"ph": "s", "id": 1, "cat": "c", "name": "n", "pid": 10, "tid": 11, "ts": 16},
        {"ph": "s", "id": 1, "cat": "c", "name": "n", "pid": 10, "tid": 11, "ts": 17},
        {"ph": "f", "bp": "e", "id": 1, "cat": "c", "name": "n", "pid": 10, "tid": 11, "ts": 18},
        {"ph": "s", "id": 2, "cat": "c", "name": "n", "pid": 10, "tid": 12, "ts": 18},
        {"ph": "X", "name": "early", "pid": 10, "tid": 11, "ts": "-7.5", "dur": 1},
        separator=", null,\n",
    )
    trace = written(timeline(host, tracks=()))
    shown = [(10_000, 20_000, "a"), (11_000, 0, "endless"), (12_000, 0, "backwards"), (-7_500, 1000, "early")]

    assert_shows(trace, Counter(shown), 1)
    assert catapult_warnings(trace) == ()


def disorder(seed: int) -> Timeline:
    """Everything that can be wrong with a host trace, at random and close together, and a device that is no better."""
    random = Random(seed)
    pids = [10, 11, -7, 2**33, "Spans", "10", 0]
    tids = [0, 10, 11, -1, 2**40, "row", "11", 5]

    def place() -> dict[str, object]:
        return {
            "pid": random.choice(pids),
            "tid": random.choice(tids),
            "ts": f"{random.randrange(40)}.{random.randrange(0, 1000, 125):03}",
        }

    def event() -> dict[str, object]:
        kind = random.random()
        if kind < 0.7:
            return {"ph": "X", "name": f"x{random.randrange(9)}", "dur": random.randrange(-1, 12), **place()}
        if kind < 0.75:
            return {"ph": "i", "name": "i", "s": "t", **place()}
        if kind < 0.8:
            return {"ph": "M", "name": "thread_name", "args": {"name": f"named {random.randrange(9)}"}, **place()}
        return {"ph": random.choice("ssttff"), "bp": "e", "id": random.randrange(6), "cat": "c", "name": "n", **place()}

    host = host_trace(*(event() for _ in range(400)), block_bytes=97, separator=random.choice([",", ", {},\n", ",\n  "]))
    work = [
        {"start": random.randrange(60_000), "duration": random.randrange(9_000), "track": random.randrange(2), "launch": n}
        for n in range(40)
    ]
    ops = [row for row in host.rows("X").tolist() if host.events.duration_ns[row] >= 0]
    submitted = [{"start": random.randrange(60_000), "host_row": random.choice(ops)} for _ in work]
    return timeline(host, slices=slices(*work), launches=launches(*submitted), tracks=TRACKS[:2])


def drawable_flows(host: HostTrace) -> int:
    """Steps and ends that stand in a slice of their thread, behind a start of their flow that does; event by event."""
    events, count = host.events, 0
    started = set()
    slices = [(_thread(host, row), *_span(host, row), row) for row in host.rows("X").tolist()]
    flows = [row for phase in "stf" for row in host.rows(phase).tolist()]
    for row in sorted(flows, key=lambda row: (events.start_ns[row], row)):
        at, thread = int(events.start_ns[row]), _thread(host, row)
        if not any(
            one == thread and start <= at <= end and (start < end or slice_row < row) for one, start, end, slice_row in slices
        ):
            continue
        if events.phase[row] == ord("s"):
            started.add(events.flow_id[row])
        elif events.flow_id[row] in started:
            count += 1
    return count


def _thread(host: HostTrace, row: int) -> tuple[str, str]:
    track = host.tracks[host.events.track[row]]
    return str(track.pid), str(track.tid)


def _span(host: HostTrace, row: int) -> tuple[int, int]:
    start = int(host.events.start_ns[row])
    return start, start + max(int(host.events.duration_ns[row]), 0)


@pytest.mark.parametrize("seed", range(6))
def test_no_disorder_gets_past(seed: int) -> None:
    source = disorder(seed)
    host = source.host
    assert host is not None
    trace = written(source)
    ours = device_slices(source.slices, "_0")
    shown: Shown = Counter()
    for (start, length, name), count in host_slices(host).items():
        shown[start, max(length, 0), name] += count
    work, op = source.slices, source.launches.host_row
    # No arrow goes backwards, from an op to work that began before it.
    arrow_count = int((work.start_ns >= host.events.start_ns[op[work.launch]]).sum())

    assert_shows(trace, shown + ours, drawable_flows(host) + arrow_count)
    assert drawable_flows(host) > 10
    assert catapult_import(trace).slices == sum(shown.values()) + len(source.slices)
