"""Joining and interval arithmetic on whole columns agree with one record after the other."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rblnpb
from rblnpb.converters.analyze.intervals import exact_sum, overlap_count, union_ns
from rblnpb.converters.merging import merge
from rblnpb.converters.merging.correlate import innermost, launch_by_id, match_launches, native_tracks
from rblnpb.converters.pipeline import status
from rblnpb.converters.sinks.chrome_trace import write_chrome_trace
from rblnpb.converters.timeline import MATCH_RULES, HostTrace, HostTrack
from rblnpb.errors import ClockError
from rblnpb.profile import Profile
from tests.support import merge_oracle
from tests.support.merge_oracle import ANNOTATION, OP, Slice
from tests.support.strategies import profiles
from tests.support.vendor_traces import HOST_PID, host_trace, span, unix_ns

WINDOW_NS = 40

spans = st.tuples(st.integers(0, 30), st.integers(0, 12))
slices = st.builds(
    lambda category, track, times: Slice(category, track, times[0], times[0] + times[1]),
    st.sampled_from((OP, OP, ANNOTATION)),
    st.sampled_from((1, 2)),
    spans,
)
# Thread 3 is in no trace; moments outside of the window are drawn too.
moments = st.tuples(st.sampled_from((1, 1, 2, 3)), st.integers(-3, WINDOW_NS + 3))


def trace_of(rows: list[Slice]) -> HostTrace:
    events = [span(one.category, f"s{place}", one.start_ns, one.end_ns, tid=one.track) for place, one in enumerate(rows)]
    return host_trace(events, window_ns=WINDOW_NS)


def columns(*rows: tuple[Any, ...]) -> list[Any]:
    return [np.array(column, np.int64) for column in zip(*rows, strict=True)]


@given(st.lists(slices, max_size=12), st.lists(moments, min_size=1, max_size=8))
def test_launches_match_as_one_by_one(rows: list[Slice], launches: list[tuple[int, int]]) -> None:
    trace = trace_of(rows)
    thread, time = columns(*launches)
    track = native_tracks(trace, np.full(len(thread), HOST_PID), thread)
    host_row, reason = match_launches(trace, track, time + unix_ns(0))
    threads = {one.track for one in rows}
    found = [(row, MATCH_RULES[code]) for row, code in zip(host_row.tolist(), reason.tolist(), strict=True)]
    assert found == [merge_oracle.match(rows, (0, WINDOW_NS), threads, *launch) for launch in launches]


@given(st.lists(slices, max_size=12), st.lists(st.tuples(st.sampled_from((1, 2)), spans), min_size=1, max_size=8))
def test_calls_lie_in_the_op_that_contains_all_of_them(rows: list[Slice], calls: list[tuple[int, tuple[int, int]]]) -> None:
    trace = trace_of(rows)
    thread, start, length = columns(*((thread, *times) for thread, times in calls))
    track = native_tracks(trace, np.full(len(thread), HOST_PID), thread)
    ops = trace.rows("X", OP)
    found = innermost(trace, ops, track, start + unix_ns(0), start + length + unix_ns(0))
    expected = [merge_oracle.innermost(rows, OP, thread, start, start + max(length, 1)) for thread, (start, length) in calls]
    assert found.tolist() == expected


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=8),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 20)), max_size=8),
)
def test_records_find_their_launch_as_one_by_one(launches: list[tuple[int, int]], records: list[tuple[int, int]]) -> None:
    ids, starts = columns(*launches) if launches else columns((0, 0))
    wanted, at = columns(*records) if records else columns((0, 0))
    expected = [
        merge_oracle.launch_of(ids.tolist(), starts.tolist(), *record) for record in zip(wanted.tolist(), at.tolist(), strict=True)
    ]
    assert launch_by_id(ids, starts, wanted, at).tolist() == expected


@given(st.lists(st.tuples(st.sampled_from((0, 1, 2)), st.sampled_from((0, 1, 2))), min_size=1, max_size=10))
def test_native_threads_are_found_as_one_by_one(wanted: list[tuple[int, int]]) -> None:
    trace = host_trace([span(OP, "a", 0, 1, pid=1, tid=1), span(OP, "b", 0, 1, pid=1, tid=2), span(OP, "c", 0, 1, pid=2, tid=2)])
    rows = {(track.pid, track.tid): row for row, track in enumerate(trace.tracks)}
    pid, tid = columns(*wanted)
    # Without a process id thread 1 is one thread, thread 2 could be two.
    assert native_tracks(trace, pid, tid).tolist() == [rows.get((1, 1) if pair == (0, 1) else pair, -1) for pair in wanted]
    assert trace.tracks[rows[2, 2]] == HostTrack(2, 2)


@given(st.lists(spans, max_size=10))
def test_unions_and_overlaps_as_one_by_one(rows: list[tuple[int, int]]) -> None:
    start, duration = columns(*rows) if rows else [np.empty(0, np.int64)] * 2
    assert union_ns(start, duration) == merge_oracle.union_ns(rows)
    assert overlap_count(start, duration) == merge_oracle.overlap_count(rows)


extremes = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.sampled_from([sign * 2**62 + more for sign in (-1, 1) for more in (-1, 0, 1)])
)


@given(st.lists(extremes, max_size=8))
def test_sums_are_exact_beyond_64_bits(values: list[int]) -> None:
    assert exact_sum(np.array(values, np.int64)) == sum(values)


@given(profiles(), st.booleans())
@settings(max_examples=75, suppress_health_check=list(HealthCheck))
def test_no_time_of_a_profile_is_too_large_for_the_way_to_a_trace(profile: Profile, with_host: bool) -> None:
    file = io.BytesIO()
    rblnpb.write(profile, file)
    file.seek(0)
    host = trace_of([Slice(OP, 1, 3, 9)]) if with_host else None
    try:
        timeline = merge(rblnpb.read(file), host)
    except ClockError:
        # Without a reading of real time a profile cannot be joined.
        assert with_host
        return

    for start_ns, duration_ns in (
        (timeline.slices.start_ns, timeline.slices.duration_ns),
        (timeline.frames.start_ns, timeline.frames.duration_ns),
        (timeline.runtime.start_ns, timeline.runtime.duration_ns),
        (timeline.launches.start_ns, np.zeros_like(timeline.launches.start_ns)),
        (timeline.counters.time_ns, np.zeros_like(timeline.counters.time_ns)),
    ):
        rows = list(zip(start_ns.tolist(), duration_ns.tolist(), strict=True))
        assert all(start > -(2**62) and length >= 0 and start + length < 2**62 for start, length in rows)
    unplaced = sum(finding.count for finding in timeline.findings if finding.code == "unplaced-records")
    tables = (timeline.slices, timeline.frames, timeline.runtime, timeline.launches, timeline.counters)
    records = (profile.device_slices, profile.workload_slices, profile.host_slices, profile.launches, profile.counters)
    assert sum(len(table) for table in tables) + unplaced == sum(len(table) for table in records)
    values = status(timeline).values
    assert 0 <= values.busy_ns <= values.span_ns < 2**63
    assert values.busy_ns <= values.attributed_ns + values.unattributed_ns
    assert status(timeline).text()
    trace = io.BytesIO()
    write_chrome_trace(timeline, trace)
    # Broken JSON, such as a time that is no number, fails here.
    json.loads(trace.getvalue())
