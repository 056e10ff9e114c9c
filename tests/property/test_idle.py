"""Idle time and its causes, on whole columns, agree with one moment after the other; and add up."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rblnpb
from rblnpb.columns import ABSENT, TraceEvents
from rblnpb.converters import merge
from rblnpb.converters.analyze.idle import idle as idle_of_devices
from rblnpb.converters.analyze.idle.coverage import Coverage, Stretches
from rblnpb.converters.analyze.idle.gap_causes import explain_gaps
from rblnpb.converters.analyze.idle.gap_evidence import ExplainedGaps
from rblnpb.converters.analyze.idle.gap_listing import list_gaps
from rblnpb.converters.analyze.idle.gaps import Gaps, gaps_between, inside_calls
from rblnpb.converters.analyze.idle.idle import device_idle
from rblnpb.converters.analyze.idle.occupancy import device_calls, device_occupancy, ordered_work
from rblnpb.converters.analyze.idle.piece_table import GapPieces, PieceTable
from rblnpb.converters.analyze.intervals import busy_stretches, lane_times
from rblnpb.converters.dialect import op_rows
from rblnpb.converters.pipeline import idle
from rblnpb.converters.results import CAUSES, STEPS, Gap, GapTable
from rblnpb.converters.timeline import AlignedLoss, HostTrace, Int64, OverheadRecords, SliceDependencies, Timeline, Track
from rblnpb.profile import Profile
from tests.support.gap_listing_oracle import slow_gaps, slow_gaps_json
from tests.support.idle_oracle import Oracle, Record, busy, gaps, innermost
from tests.support.strategies import profiles
from tests.support.timelines import host_trace, launches, microseconds, runtime, slices, timeline

LAST_NS = 60

TRACKS = (
    Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Task DMA", "task_dma", is_work=True, order=1),
    Track("rbln:0", "Device Sync", "device_sync", is_work=False, order=2),
    Track("rbln:0", "Host", "host", is_work=False, order=3),
    Track("rbln:1", "Task DMA", "task_dma", is_work=True, order=4),
)
STRINGS = ("", "mm", "add", "wait", "copy in", "aten::sub")


def event(category: str, name: str, tid: int, start: int, length: int, **args: int) -> dict[str, Any]:
    times = {"ts": microseconds(start), "dur": microseconds(length)}
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, **times, "args": args}


def host_of(draw: Random, *, with_frames: bool) -> HostTrace:
    rows = [event("Trace", "PyTorch Profiler", 0, draw.randint(0, 15), draw.randint(25, 60))]
    for at in range(draw.randint(0, 6)):
        tid, start = draw.choice((1, 1, 2)), draw.randint(0, LAST_NS)
        if draw.random() < 0.3:
            rows.append(event("cuda_runtime", f"call{at}", tid, start, draw.randint(0, 6), correlation=at + 1))
        else:
            rows.append(event("cpu_op", f"op{at}", tid, start, draw.randint(0, 25)))
    for at in range(draw.randint(1, 9) if with_frames else 0):
        start = draw.randint(0, LAST_NS)
        rows.append(event("python_function", f"model.py({at % 4}): f", draw.choice((1, 2)), start, draw.randint(0, 40)))
    return host_trace(*rows)


def launch_of(draw: Random, host: HostTrace | None) -> dict[str, Any]:
    """At any moment, or in the midst of a row of the trace, with the op around it."""
    start, tid, row = draw.randint(0, LAST_NS), draw.choice((1, 1, 2)), -1
    if host is not None:
        events = host.events
        if draw.random() < 0.7:
            at = draw.randrange(len(events))
            start = int(events.start_ns[at]) + draw.choice((0, 0, draw.randint(0, int(events.duration_ns[at]))))
            tid = int(host.tracks[int(events.track[at])].tid or 1)
        ops = [
            Record(int(events.start_ns[at]), int(events.start_ns[at] + events.duration_ns[at]), at, ("", "", ""))
            for at in range(len(events))
            if host.strings[int(events.category[at])] == "cpu_op" and host.tracks[int(events.track[at])].tid == tid
        ]
        found = innermost(ops, start)
        row = -1 if found is None else found.order
    return {"start": start, "tid": tid, "host_row": row, "name": draw.choice((0, 1, 2)), "launch_id": 7}


def loss_of(draw: Random) -> AlignedLoss:
    at = draw.choice((None, draw.randint(0, LAST_NS)))
    kind, device = draw.choice(("device_slices", "unknown")), draw.choice(("", "rbln:0"))
    reason = draw.choice(("buffer_full", "device_overwrite"))
    return AlignedLoss(kind, reason, 1, False, device, at, None if at is None else at + draw.randint(0, 9))


def timeline_of(seed: int, *, with_frames: bool = False) -> Timeline:
    """A small timeline in which everything may happen."""
    draw = Random(seed)
    host = host_of(draw, with_frames=with_frames) if draw.random() < 0.7 else None
    launched = [launch_of(draw, host) for _ in range(draw.randint(0, 4))]
    rows: list[dict[str, Any]] = [
        {
            "start": draw.randint(0, LAST_NS),
            "duration": draw.randint(0, 9),
            "track": draw.choice((0, 0, 1, 1, 2, 3, 4)),
            "launch": draw.randint(-1, len(launched) - 1),
            "instance": draw.randint(0, 2),
            "sequence": draw.randint(-1, 1),
            "rule": draw.randint(6, 9),
            "stage": draw.choice(("mm", "args")),
        }
        for _ in range(draw.randint(0, 9))
    ]
    for row in rows:
        # As merge has it: the op of the launch, or one that the trace names where no launch is known.
        if row["launch"] >= 0:
            row["host_row"] = launched[row["launch"]]["host_row"]
        elif host is not None and draw.random() < 0.4:
            row["host_row"] = draw.choice((-1, *op_rows(host).tolist()))
    edges = [[draw.randrange(len(rows)), draw.randrange(len(rows))] for _ in range(draw.randint(0, 5))] if rows else []
    # The thread of hidden work is known by its launches and by the runtime alone.
    tids = [row["tid"] for row in launched]
    hidden = [
        [draw.randint(1, 4), draw.choice((ABSENT, *[draw.randint(0, LAST_NS)] * 4)), draw.randint(0, 9), draw.choice(tids)]
        for _ in range(draw.choice((0, 0, 3)) if tids else 0)
    ]
    kind, start, length, tid = np.array(hidden, np.int64).reshape(-1, 4).T
    zero = np.zeros(len(hidden), np.int32)
    busy_rows = [
        (draw.choice((draw.randint(0, LAST_NS), *(row["start"] for row in launched))), draw.randint(0, 9), draw.choice((3, 4)), 1)
        for _ in range(draw.choice((0, 0, 5)))
    ]
    losses = [loss_of(draw) for _ in range(draw.choice((0, 0, 0, 2)))]
    return timeline(
        host,
        slices=slices(*rows),
        launches=launches(*launched),
        runtime=runtime(*busy_rows),
        dependencies=SliceDependencies(*np.array(edges, np.int64).reshape(-1, 2).T),
        overheads=OverheadRecords(kind.astype(np.uint32), zero + 5, zero, zero, length, np.full_like(length, ABSENT), start, tid),
        losses=tuple(losses),
        tracks=TRACKS,
        strings=STRINGS,
        is_serialised=draw.choice((None, False, True)),
    )


# Drawn by chance, so that all of it comes together often; hypothesis' own small examples seldom have a cause at all.
timelines = st.integers(0, 2**32).map(timeline_of)
framed_timelines = st.integers(0, 2**32).map(lambda seed: timeline_of(seed, with_frames=True))
lengths = st.integers(0, 9)


def explained(one: Timeline, lane_of: str, min_gap_ns: int) -> tuple[Gaps, GapPieces]:
    work = ordered_work(one)
    found = gaps_between(work, work.device if lane_of == "device" else work.track)
    table = explain_gaps(one, work, device_calls(one, work), found, min_gap_ns)
    return found, table.of(np.arange(len(found)))


@given(timelines, st.sampled_from(("device", "engine")), st.integers(0, 4), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_causes_are_those_of_every_moment(one: Timeline, by: str, min_gap_ns: int, block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PieceTable, "BLOCK", block)
        found, pieces = explained(one, by, min_gap_ns)
    oracle = Oracle(one, min_gap_ns)
    lanes: list[Any] = list(dict.fromkeys(track.device for track in TRACKS)) if by == "device" else list(range(len(TRACKS)))
    expected = [gap for lane in lanes for gap in gaps(one, lane)]
    spans = zip(found.lane.tolist(), found.start_ns.tolist(), found.end_ns.tolist(), strict=True)
    assert [(lanes[lane], start, end) for lane, start, end in spans] == [(gap.lane, gap.start_ns, gap.end_ns) for gap in expected]
    told: list[Counter[Any]] = [Counter() for _ in expected]
    steps = (*STEPS, "")
    for at in range(len(pieces)):
        piece = (list(CAUSES)[int(pieces.cause[at])], steps[int(pieces.step[at])], pieces.names[int(pieces.name[at])])
        told[int(pieces.gap[at])][piece] += int(pieces.end_ns[at] - pieces.start_ns[at])
    assert told == [oracle.pieces(gap) for gap in expected]


@given(framed_timelines, st.sampled_from(("device", "engine")), st.integers(0, 4), st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_listed_gaps_are_those_that_are_made_one_by_one(one: Timeline, by: str, min_gap_ns: int, block: int) -> None:
    places = np.arange(len(one.overheads), dtype=np.int32) % len(STRINGS)
    one = replace(one, overheads=replace(one.overheads, place=places))
    expected: list[tuple[Gap, ...]] = []

    def told_twice(timeline: Timeline, found: ExplainedGaps, rows: Int64) -> GapTable:
        expected.append(slow_gaps(timeline, found, rows))
        return list_gaps(timeline, found, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(idle_of_devices, "list_gaps", told_twice)
        patch.setattr(GapTable, "BLOCK", block)
        patch.setattr(PieceTable, "BLOCK", block)
        report = idle(one, min_gap_ns=min_gap_ns, top=-1, by=by)
        assert tuple(report.values.gaps) == expected[0]
        assert report.to_json().endswith(b",\n" + slow_gaps_json(expected[0]))
        rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    for row, gap in zip(rows, expected[0], strict=True):
        told = {part.cause: part.duration_ns for part in gap.parts}
        assert {cause: int(row[f"{cause.replace('-', '_')}_ns"]) for cause in told} == told
        facts = {key: str(value) for key, value in gap.evidence.items() if key in row and key != "python_frames"}
        assert {key: row[key] for key in facts} == facts
        assert row["python_frames"] == " <- ".join(map(str, gap.evidence.get("python_frames", ())))  # type: ignore[call-overload]  # a tuple


@given(timelines)
@settings(deadline=None)
def test_pieces_fill_their_gaps_without_an_overlap(one: Timeline) -> None:
    found, pieces = explained(one, "engine", 2)
    assert (pieces.end_ns > pieces.start_ns).all()
    for gap in range(len(found)):
        own = np.flatnonzero(pieces.gap == gap)
        borders = np.concatenate((pieces.start_ns[own], found.end_ns[gap : gap + 1]))
        assert borders[0] == found.start_ns[gap]
        assert (borders[1:] == pieces.end_ns[own]).all()


@given(timelines)
@settings(deadline=None)
def test_busy_time_is_that_of_every_moment(one: Timeline) -> None:
    found = device_occupancy(one)
    for device in found.devices:
        values = device.all
        assert (values.busy_ns, values.idle_ns, values.span_ns, values.sum_ns) == busy(one, device.device)
        kinds = [kind.all.busy_ns for kind in found.kinds if kind.device == device.device]
        assert max(kinds) <= values.busy_ns <= sum(kinds)
    engines = {(engine.device, engine.name): engine.all for engine in found.engines}
    for row, track in enumerate(TRACKS):
        if track.is_work and (track.device, track.name) in engines:
            values = engines[track.device, track.name]
            assert (values.busy_ns, values.idle_ns, values.span_ns, values.sum_ns) == busy(one, row)
    assert found.launched_in_window.busy_ns <= found.all.busy_ns


@given(timelines, st.integers(0, 4), st.sampled_from(("device", "engine")))
@settings(deadline=None)
def test_causes_and_gaps_add_up_to_the_idle_time(one: Timeline, min_gap_ns: int, by: str) -> None:
    report = device_idle(one, min_gap_ns=min_gap_ns, top=-1, by=by)
    lanes: Any = report.devices if by == "device" else report.engines
    assert sum(cause.idle_ns for cause in report.causes) == sum(lane.all.idle_ns for lane in lanes)
    assert sum(gap.duration_ns for gap in report.gaps) == sum(lane.all.idle_ns for lane in lanes)
    for lane in lanes:
        assert sum(cause.idle_ns for cause in lane.causes) == lane.all.idle_ns
        assert lane.all.busy_ns + lane.all.idle_ns == lane.all.span_ns
    for device in report.devices:
        assert device.inside_calls_ns + device.between_calls_ns == device.all.idle_ns
        assert device.inside_calls_ns >= 0
    for cause in report.causes:
        assert sum(name.idle_ns for name in cause.names) == cause.idle_ns
        assert sum(cause.steps.values()) in (0, cause.idle_ns)
    for gap in report.gaps:
        assert sum(part.duration_ns for part in gap.parts) == gap.duration_ns
    for program in report.programs:
        assert 0 <= program.all.idle_ns == program.all.span_ns - program.all.busy_ns


@given(timelines)
@settings(deadline=None)
def test_gaps_lie_in_a_call_where_every_moment_does(one: Timeline) -> None:
    work = ordered_work(one)
    calls = device_calls(one, work)
    found = gaps_between(work, work.device)
    spans = list(zip(calls.device.tolist(), calls.times.first_ns.tolist(), calls.times.last_ns.tolist(), strict=True))
    for at, is_inside in enumerate(inside_calls(found, work, calls).tolist()):
        device, moments_of = int(found.lane[at]), range(int(found.start_ns[at]), int(found.end_ns[at]))
        held = [any(own == device and first <= moment < last for own, first, last in spans) for moment in moments_of]
        assert all(held) if is_inside else not any(held)


spans = st.tuples(st.integers(0, 2), st.integers(0, 30), lengths)


@given(st.lists(spans, max_size=10))
def test_occupancy_of_lanes_is_that_of_each_lane_alone(rows: list[tuple[int, int, int]]) -> None:
    rows = sorted(rows)
    lane, start, length = np.array(rows, np.int64).reshape(-1, 3).T
    found = lane_times(lane, start, start + length, 3)
    for one in range(3):
        own = [(begin, size) for number, begin, size in rows if number == one]
        covered = {moment for begin, size in own for moment in range(begin, begin + size)}
        assert found.busy_ns[one] == len(covered)
        assert found.sums_ns()[one] == sum(size for _, size in own)
        assert found.slice_count[one] == len(own)
        if own:
            assert found.first_ns[one] == min(begin for begin, _ in own)
            assert found.last_ns[one] == max(begin + size for begin, size in own)
    stretches = busy_stretches(lane, start, start + length)
    assert [rows[at][1] for at in stretches.first.tolist()] == stretches.start_ns.tolist()
    assert [rows[at][1] + rows[at][2] for at in stretches.last.tolist()] == stretches.end_ns.tolist()


@given(st.lists(spans, max_size=8), st.lists(spans, min_size=1, max_size=5))
def test_stretches_are_cut_where_the_innermost_record_changes(records: list[Any], wanted: list[Any]) -> None:
    lane, start, length = np.array(records, np.int64).reshape(-1, 3).T
    coverage = Coverage.of(lane, start, start + length)
    lanes, begins, sizes = np.array(wanted, np.int64).T
    pieces = coverage.cut(lanes, Stretches(np.arange(len(wanted)), begins, begins + sizes + 1))
    told = {}
    for at in range(len(pieces.owner)):
        for moment in range(int(pieces.stretches.start_ns[at]), int(pieces.stretches.end_ns[at])):
            told[int(pieces.stretches.gap[at]), moment] = int(pieces.owner[at])
    expected = {}
    for place, (own, begin, size) in enumerate(wanted):
        table = [Record(at, at + more, row, ("", "", "")) for row, (number, at, more) in enumerate(records) if number == own]
        for moment in range(begin, begin + size + 1):
            found = innermost(table, moment)
            expected[place, moment] = -1 if found is None else found.order
    assert told == expected


@given(profiles(), st.sampled_from(("device", "engine")))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_profile_is_too_odd(profile: Profile, by: str) -> None:
    file = io.BytesIO()
    # An archived trace would be read as the host's.
    rblnpb.write(profile.replace(trace_events=TraceEvents.empty(), trace_document=None), file)
    file.seek(0)
    one = merge(rblnpb.read(file))
    report = idle(one, min_gap_ns=0, top=-1, by=by)
    lanes: Any = report.values.devices if by == "device" else report.values.engines
    assert sum(cause.idle_ns for cause in report.values.causes) == sum(lane.all.idle_ns for lane in lanes)
    assert report.text()
    assert report.to_json()
    assert report.to_csv()
