"""Whole analyses and reports, on inputs of the size that the row says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from rblnpb import sim
from rblnpb.converters.analyze.advice.advice import advise
from rblnpb.converters.analyze.launches.latency import latency
from rblnpb.converters.analyze.slices.slice_summary import slice_summary
from rblnpb.converters.analyze.torch_table.key_averages import key_averages
from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import attribute, call_stacks, idle
from rblnpb.converters.timeline import HostEvents, HostTrack, Timeline
from tests.bench.case import MEDIUM, Case, Side, Work
from tests.bench.inputs import CallColumns, host_of_calls, random_calls, stored_calls
from tests.support.attribution_oracle import Call, merged, slow_table, trace
from tests.support.attribution_oracle import Work as DeviceWork
from tests.support.timelines import host_trace, slices, timeline
from tests.support.torch_events import Event, slow_key_averages

DEPTH = 20


def set_up_table(depth: int, count: int, folder: Path) -> Work:
    calls = stored_calls(folder, count, depth)
    host = host_of_calls(calls)
    return Work(
        Side(lambda: key_averages(host), lambda table: table.self_cpu_time_total_ns.tolist()),
        Side(lambda: slow_key_averages(events_of_calls(calls)), lambda rows: [row["self_cpu_time_total_ns"] for row in rows]),
    )


def events_of_calls(calls: CallColumns) -> list[Event]:
    """An object for each."""
    columns = zip(*(column.tolist() for column in (calls.start_ns, calls.duration_ns, calls.tid, calls.name)), strict=True)
    return [
        Event("cpu_op", f"aten::op_{name}", start, duration, 7 + tid, external_id=row + 1, event_index=row)
        for row, (start, duration, tid, name) in enumerate(columns)
    ]


def decoder(count: int) -> Timeline:
    """Overlapped calls of the simulated decoder."""
    return merge(sim.simulate(program="decoder", records=count, drained=False))


def set_up_merge(count: int, folder: Path) -> Work:
    profile = sim.simulate(program="decoder", records=count, drained=False)
    return Work(Side(lambda: merge(profile)), count=len(profile.device_slices))


def of_decoder(analysis: Callable[[Timeline], object]) -> Callable[[int, Path], Work]:
    """The work of an analysis of such calls."""

    def set_up(count: int, folder: Path) -> Work:
        source = decoder(count)
        return Work(Side(lambda: analysis(source)), count=len(source.slices))

    return set_up


def set_up_advise(count: int, folder: Path) -> Work:
    source = merge(None, host_of_calls(stored_calls(folder, count, DEPTH)))
    return Work(Side(lambda: advise(source)))


# ---- attribution ----

ENGINES, KINDS = 9, 200
"""Slices of one launch, which run at once on so many engines; ops, and frames of Python, by name."""


def attributed_run(folder: Path, count: int) -> Timeline:
    """Calls, half of them of Python, and as many slices: every fourth op launched nine."""
    calls = stored_calls(folder, count, DEPTH)
    draw = np.random.default_rng(11)
    kinds = [
        {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": 0, "dur": 0}
        for number in range(KINDS)
        for category, name in (
            ("cpu_op", f"aten::op_{number}"),
            ("python_function", f"nn.Module: M_{number}" if number % 4 == 0 else f"model.py({number}): call"),
        )
    ]
    model = host_trace(*kinds)
    pick = draw.integers(0, len(kinds), count)
    columns = {name: column[pick] for name, column in vars(model.events).items()}
    columns["start_ns"], columns["duration_ns"] = calls.start_ns, calls.duration_ns
    columns["track"] = calls.tid.astype(np.int32)
    tracks = tuple(HostTrack(1, 1 + thread) for thread in range(int(calls.tid.max()) + 1))
    host = replace(model, events=HostEvents(**columns), tracks=tracks)
    ops = np.flatnonzero(pick % 2 == 0)[:: ENGINES // 2]
    host_row = np.repeat(ops, ENGINES)[:count]
    one = slices({"stage": "mm"})
    rows = np.zeros(len(host_row), np.int64)
    launched = replace(
        one,
        **{name: getattr(one, name)[rows] for name in ("track", "launch", "rule", "event", "arguments")},
        names=one.names.take(rows),
        start_ns=calls.start_ns[host_row] + draw.integers(0, 400, len(host_row)),
        duration_ns=draw.integers(1, 3000, len(host_row)),
        host_row=host_row,
    )
    return timeline(host, slices=launched)


def set_up_attribution(count: int, folder: Path) -> Work:
    source = attributed_run(folder, count)
    return Work(Side(lambda: attribute(source, "all")), figures=lambda table: {"rows": len(table.values)})


def set_up_stacks(count: int, folder: Path) -> Work:
    source = attributed_run(folder, count)
    return Work(Side(lambda: call_stacks(source, "all").to_folded()), figures=lambda text: {"MB": len(text) / 1e6})


def set_up_frames(count: int, folder: Path) -> Work:
    """Small, with a list of frames for each call beside it."""
    columns = random_calls(count, 6, threads=2)
    draw = np.random.default_rng(5)
    calls = [
        Call("op" if number % 2 else "python", f"name_{name}", start, start + duration, 1 + tid)
        for number, (name, start, duration, tid) in enumerate(
            zip(columns.name.tolist(), columns.start_ns.tolist(), columns.duration_ns.tolist(), columns.tid.tolist(), strict=True)
        )
    ]
    # Every second call is an op, and ops launch.
    ops = (2 * draw.integers(0, count // 2, count) + 1).tolist()
    starts, lengths = draw.integers(0, 9000, count).tolist(), draw.integers(0, 90, count).tolist()
    works = [DeviceWork(start, length, op) for start, length, op in zip(starts, lengths, ops, strict=True)]
    line = merged(trace(calls), works)
    return Work(
        Side(lambda: attribute(line, "op"), lambda table: sum(table.values.device_total_union_ns)),
        Side(
            lambda: slow_table(calls, (), works, (), "op"),
            lambda rows: sum(row["device_total_union_ns"] for row in rows.values()),
        ),
    )


OBJECTS = "an object per event"
CASES = (
    Case("table", "torch's table of columns, 20 levels deep", OBJECTS, partial(set_up_table, DEPTH), "event", plain_limit=20_000),
    Case("table-deep", "the same, 1,200 levels deep", OBJECTS, partial(set_up_table, 1200), "event", sizes=MEDIUM, plain_limit=0),
    Case("merge", "join a profile: clocks, launches, names", "", set_up_merge, "slice"),
    Case("summary", "summary by stage", "", of_decoder(lambda source: slice_summary(source, "stage")), "slice"),
    Case("idle", "idle time with the causes of its gaps", "", of_decoder(idle), "slice"),
    Case("latency", "latency of launches", "", of_decoder(latency), "slice"),
    Case("advise", "advice on a host trace", "", set_up_advise, "event", sizes=MEDIUM),
    Case("attribute", "device time by frame, of calls and slices", "", set_up_attribution, "event", sizes=MEDIUM),
    Case("stacks", "stacks for flame graphs of the same", "", set_up_stacks, "event", sizes=MEDIUM),
    Case(
        "attribute-small",
        "device time by op, small",
        "a list of frames a call",
        set_up_frames,
        "call",
        sizes=(1_500,),
        plain_limit=1_500,
    ),
)
