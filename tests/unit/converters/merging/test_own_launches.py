"""Traces that we wrote, read back alone: launches and runtime slices are those of the profile that they were made of."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rblnpb import sim
from rblnpb.columns import ABSENT
from rblnpb.converters.merging import merge
from rblnpb.converters.merging.window import within
from rblnpb.converters.pipeline import advise, check_file, idle, launch_plan, measure_latency, summarize
from rblnpb.converters.sinks.chrome_trace import write_chrome_trace
from rblnpb.converters.sinks.perfetto_trace import write_perfetto_trace
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import JOIN_RULES, MATCH_RULES, RecordCount, Timeline
from tests.support.shared_traces import BUNDLED_TRACE
from tests.support.small_run import small_profile, small_trace
from tests.support.vendor_traces import MAIN, WORKER, Json, first_emitter, host_trace, metadata, op, span, unix_ns
from tests.unit.converters.merging.test_trace_side import OPS, RUN

DEVICE, ROW, WORKER_ROW = 1, 23, 24


def written(timeline: Timeline) -> bytes:
    file = io.BytesIO()
    write_chrome_trace(timeline, file)
    return file.getvalue()


def read_back(timeline: Timeline) -> Timeline:
    return merge(None, read_host(io.BytesIO(written(timeline))))


def columns(table: Any, timeline: Timeline, *left_out: str) -> dict[str, list[Any]]:
    """The columns of launches or runtime slices, with their texts and reasons."""
    texts = {"name": timeline.strings, "compile_id": timeline.strings, "reason": MATCH_RULES}
    found = {one.name: getattr(table, one.name).tolist() for one in fields(table) if one.name not in left_out}
    return {name: [texts[name][row] for row in rows] if name in texts else rows for name, rows in found.items()}


def own_trace(*more: Json, names: Iterable[str] = (f"runtime {MAIN}", f"runtime {WORKER} (2)")) -> Timeline:
    """Two ops that launch, as a trace of ours shows that: rows of the runtime, a frame, work of two launches and a command."""
    rows = [metadata("thread_name", MAIN, tid, name=name) for tid, name in zip((ROW, WORKER_ROW), names, strict=False)]
    lanes = [metadata("thread_name", DEVICE, tid, name=name) for tid, name in ((2, "Device Workload"), (3, "Host (chiplet 0)"))]
    return merge(
        None,
        host_trace(
            (
                op("aten::mm", 1000, 4000, external_id=1),
                op("aten::add", 1000, 4000, tid=WORKER, external_id=2),
                *rows,
                *lanes,
                span("rbln_runtime", "compile", 1100, 1900, pid=MAIN, tid=ROW, launch_id=7),
                span("rbln_runtime", "submit", 2000, 2300, pid=MAIN, tid=ROW, launch_id=7),
                span("rbln_runtime", "submit", 2100, 2200, pid=MAIN, tid=WORKER_ROW, launch_id=8),
                span("rbln_runtime", "wait", 3000, 3500, pid=MAIN, tid=ROW),
                span("rbln_workload", "decoder", 2500, 5000, pid=DEVICE, tid=2, launch_id=7),
                span("rbln_workload", "i1_0_W0_reshape_0", 2600, 2700, pid=DEVICE, tid=3, launch_id=7),
                span("kernel", "k", 2800, 4800, pid=DEVICE, tid=4, launch_id=7, **{"External id": 1}),
                span("kernel", "k", 5500, 5600, pid=DEVICE, tid=4, launch_id=8, **{"External id": 2}),
                *more,
            )
        ),
    )


def test_calls_that_submit_are_the_launches() -> None:
    found = own_trace()
    assert columns(found.launches, found) == {
        "start_ns": [unix_ns(2000), unix_ns(2100)],
        "launch_id": [7, 8],
        # No frame says which program the second is.
        "name": ["decoder", "submit"],
        "compile_id": ["", ""],
        "pid": [MAIN, MAIN],
        "tid": [MAIN, WORKER],
        "host_row": [0, 1],
        "reason": ["innermost-op", "innermost-op"],
    }
    assert found.slices.launch.tolist() == [0, 0, 1]
    assert {JOIN_RULES[row] for row in found.slices.rule.tolist()} == {"launch-id"}
    assert found.findings == ()


def test_frames_enclose_and_are_no_slices() -> None:
    found = own_trace()
    assert found.frames.names.render().tolist() == [b"decoder"]
    assert (found.frames.launch.tolist(), found.frames.host_row.tolist()) == ([0], [0])
    assert found.slices.names.render().tolist() == [b"i1_0_W0_reshape_0", b"k", b"k"]
    assert [found.tracks[row].name for row in (*found.frames.track, *found.slices.track)] == [
        "Device Workload",
        "Host (chiplet 0)",
        "4",
        "4",
    ]


def test_everything_that_the_runtime_did_is_on_its_thread() -> None:
    found = own_trace()
    assert columns(found.runtime, found) == {
        "start_ns": [unix_ns(at) for at in (1100, 2000, 2100, 3000)],
        "duration_ns": [800, 300, 100, 500],
        "name": ["compile", "submit", "submit", "wait"],
        "pid": [MAIN] * 4,
        "tid": [MAIN, MAIN, WORKER, MAIN],
        "launch": [0, 0, 1, -1],
        "size_bytes": [ABSENT] * 4,
        "event": [6, 7, 8, 9],
    }
    assert found.counts == (RecordCount("device_rows", 4, 0), RecordCount("host_slices", 4, 0))


def test_the_ops_of_the_work_tell_the_thread_of_a_row_without_a_name() -> None:
    """So it is where names were taken away."""
    found = own_trace(names=("a", "b"))
    assert found.runtime.tid.tolist() == [MAIN, MAIN, WORKER, MAIN]
    assert (found.launches.tid.tolist(), found.launches.host_row.tolist()) == ([MAIN, WORKER], [0, 1])


def test_a_call_that_tells_no_id_is_no_launch() -> None:
    more = span("rbln_runtime", "submit", 3600, 3700, pid=MAIN, tid=ROW)
    found = own_trace(more)
    assert found.launches.launch_id.tolist() == [7, 8]
    assert found.runtime.launch.tolist() == [0, 0, 1, -1, -1]


def test_an_id_that_stands_for_two_launches_is_told() -> None:
    found = own_trace(span("rbln_runtime", "submit", 5200, 5300, pid=MAIN, tid=ROW, launch_id=8))
    assert [(one.code, one.count) for one in found.findings if one.code == "repeated-launch-id"] == [("repeated-launch-id", 1)]
    assert found.slices.launch.tolist() == [0, 0, 2]


def test_a_small_run_has_the_launches_and_the_runtime_of_its_profile() -> None:
    whole = merge(small_profile(), small_trace())
    again = read_back(whole)
    # No frame tells a program, and a trace keeps the bytes of a copy to itself.
    assert columns(again.launches, again, "name") == columns(whole.launches, whole, "name")
    assert columns(again.runtime, again, "size_bytes", "event") == columns(whole.runtime, whole, "size_bytes", "event")
    assert again.slices.launch.tolist() == whole.slices.launch.tolist() == [0, 0, 1, 2, 3, -1]


@pytest.fixture(scope="module")
def runs() -> tuple[Timeline, Timeline]:
    """A training step with its device, and the same read back from the trace that it was written to."""
    host = read_host(BUNDLED_TRACE)
    whole = merge(sim.simulate(launches=launch_plan(host)), host)
    return whole, read_back(whole)


def test_a_training_step_has_the_launches_of_its_profile(runs: tuple[Timeline, Timeline]) -> None:
    whole, again = runs
    assert len(again.launches) == 544
    assert columns(again.launches, again) == columns(whole.launches, whole)
    assert columns(again.runtime, again, "event") == columns(whole.runtime, whole, "event")
    assert again.slices.launch.tolist() == whole.slices.launch.tolist()
    assert again.frames.names.render().tolist() == whole.frames.names.render().tolist()


def test_a_training_step_has_the_latencies_of_its_profile(runs: tuple[Timeline, Timeline]) -> None:
    whole, again = (measure_latency(run).values for run in runs)
    assert (again.launch_count, again.launches_without_work, again.slices_without_launch) == (544, 0, 0)
    assert (again.total.latency.mean_ns, again.total.latency.max_ns, again.total.waiting_ns) == (6_734, 13_932, 959_178)
    assert (again.total, again.programs, again.threads) == (whole.total, whole.programs, whole.threads)


def test_a_training_step_is_idle_for_the_reasons_of_its_profile(runs: tuple[Timeline, Timeline]) -> None:
    whole, again = (
        [(one.cause, one.idle_ns, one.gap_count, one.steps, one.names) for one in idle(run).values.causes] for run in runs
    )
    assert again == whole
    assert [one[:3] for one in again if one[0] in ("runtime", "unknown")] == [("runtime", 1_557_539, 21)]


def test_a_training_step_gets_the_advice_of_its_profile(runs: tuple[Timeline, Timeline]) -> None:
    whole, again = ([(one.code, one.cost_ns, one.count) for one in advise(run).values.advice] for run in runs)
    assert [code for code, *_ in again] == ["launch-bound", "host-stall", "compile-in-window"]
    assert again == whole


def test_a_training_step_has_the_programs_of_its_profile(runs: tuple[Timeline, Timeline]) -> None:
    whole, again = (summarize(run, "program").values for run in runs)
    assert len(again.name) == 24
    assert again.name == whole.name
    assert again.statistics.total_ns.tolist() == whole.statistics.total_ns.tolist()


def test_what_a_trace_shows_is_written_once(runs: tuple[Timeline, Timeline]) -> None:
    _, again = runs
    events = [json.loads(document)["traceEvents"] for document in (written(again), written(read_back(again)))]
    assert events[0] == events[1]
    assert sum(one.get("cat") == "rbln_runtime" for one in events[0]) == len(again.runtime) == 570
    file = io.BytesIO()
    write_perfetto_trace(again, file)
    assert file.getvalue().count(b"rbln_runtime") == 1
    assert file.getvalue().count(b"runtime 6521") == 1


def test_arrows_to_frames_are_launches_where_no_call_was_recorded() -> None:
    host = read_host(BUNDLED_TRACE)
    profile = sim.simulate(launches=launch_plan(host))
    whole = merge(replace(profile, host_slices=profile.host_slices.take(slice(0))), host)
    again = read_back(whole)
    assert len(again.runtime) == 0
    # A launch is told by where its arrow begins, in the order of the work.
    order = np.argsort(again.launches.launch_id)
    taken = replace(again.launches, **{one.name: getattr(again.launches, one.name)[order] for one in fields(again.launches)})
    assert columns(taken, again) == columns(whole.launches, whole)
    reports = [measure_latency(run).values for run in (whole, again)]
    assert (reports[1].launch_count, reports[1].launches_without_work, reports[1].slices_without_launch) == (544, 0, 0)
    assert reports[0].total == reports[1].total


def test_nothing_is_wrong_with_the_links_of_a_trace_of_ours(runs: tuple[Timeline, Timeline], tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(written(runs[0]))
    codes = {one.code for one in check_file(path).findings}
    assert codes & {"no-launches", "launch-not-recorded", "launch-id-0", "op-not-recorded"} == set()


def test_a_window_keeps_rows_and_what_is_made_of_them_together() -> None:
    cut = within(own_trace(), unix_ns(2900), unix_ns(3200))
    host = cut.host
    assert host is not None
    assert [host.strings[host.events.name[row]] for row in cut.runtime.event.tolist()] == ["wait"]
    assert cut.launches.launch_id.tolist() == [7]
    assert cut.counts == (RecordCount("device_rows", 4, 0), RecordCount("host_slices", 1, 0))


def test_traces_of_other_makers_have_no_runtime_of_ours() -> None:
    found = merge(None, host_trace((*OPS, *first_emitter(RUN))))
    assert (len(found.runtime), len(found.frames), len(found.launches)) == (0, 0, 3)
