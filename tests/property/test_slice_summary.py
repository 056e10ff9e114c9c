"""Summaries of device slices on whole columns agree with one slice after the other, and their rows add up to the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.grouping import exact_sums, group_unions, nearest_ranks
from rblnpb.converters.analyze.slices.bounds import device_bounds
from rblnpb.converters.analyze.slices.slice_summary import SLICE_KEYS, slice_summary
from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import SliceSummary, summarize
from rblnpb.converters.pipeline import device_bounds as find_bounds
from rblnpb.converters.results import SliceRows
from rblnpb.converters.timeline import Timeline, Track
from rblnpb.profile import Profile
from tests.support import slice_summary_oracle as oracle
from tests.support.strategies import profiles
from tests.support.timelines import host_trace, launches, microseconds, slices, timeline

ARGUMENTS = ("compute_cycles", "size_bytes", "planned_bytes")
TRACKS = (
    Track("rbln:0", "Host", "host", is_work=False, order=0),
    Track("rbln:0", "Neural Engine Clusters (chiplet 0)", "neural_engine_clusters", is_work=True, order=1),
    Track("rbln:0", "Neural DMA (chiplet 0)", "neural_dma", is_work=True, order=2),
    Track("rbln:0", "Neural DMA (chiplet 1)", "neural_dma", is_work=True, order=3),
    Track("rbln:0", "External HDMA", "external_hdma", is_work=True, order=4),
    Track("rbln:1", "Task DMA (chiplet 0)", "task_dma", is_work=True, order=5),
    Track("rbln:1", "General Compute Engine", "general_compute_engine", is_work=True, order=6),
    Track("atom", "Task DMA (chiplet 0)", "task_dma", is_work=True, order=7),
    Track("atom", "stream 7", "unknown", is_work=True, order=8),
)
STRINGS = ("", "decoder", "sampler", "0/0", "1/0")
STEPS = {
    "serving": ("execute_new_2_cached_0", "execute_new_0_cached_2", "execute_context_1(9)_generation_2(2)"),
    "profiler": ("ProfilerStep#1", "ProfilerStep#2"),
    "region": ("Torch-Compiled Region: 0/0", "Dispatched Region: 1/0"),
    "annotation": ("train", "Optimizer.step#SGD.step"),
}

amounts = st.one_of(st.just(ABSENT), st.integers(0, 3000))
spans = {"start": st.integers(0, 60), "duration": st.integers(0, 25)}
slice_rows = st.fixed_dictionaries(
    {
        **spans,
        "track": st.integers(0, len(TRACKS) - 1),
        "stage": st.sampled_from(("", "", "linear_0", "linear_7", "fused(a_1+b)_2")),
        "name": st.sampled_from(("", "Memcpy HtoD", "i1_0_W0_linear_0_3", "mm_0")),
        "launch": st.integers(-1, 3),
        "host_row": st.integers(-1, 1),
        "instance": st.integers(0, 2),
        "sequence": st.integers(-1, 2),
        "compute_cycles": amounts,
        "size_bytes": amounts,
        "planned_bytes": amounts,
    }
)
frame_rows = st.fixed_dictionaries(
    {
        "start": st.integers(0, 50),
        "duration": st.integers(0, 60),
        "track": st.sampled_from((0, 7)),
        "name": st.sampled_from(("", "decoder", "frame")),
        "instance": st.integers(0, 1),
    }
)
launch_rows = st.fixed_dictionaries(
    {
        "start": st.integers(0, 60),
        "launch_id": st.integers(0, 3),
        "name": st.integers(0, 2),
        "compile_id": st.sampled_from((0, 3, 4)),
        "pid": st.integers(0, 1),
        "tid": st.integers(1, 3),
    }
)
host_rows = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 30), st.integers(1, 2), st.integers(0, 1)), min_size=2, max_size=6
)


@st.composite
def timelines(draw: st.DrawFn) -> Timeline:
    """A few slices of many kinds, four launches, perhaps frames, perhaps a host with steps."""
    host = None
    if draw(st.booleans()):
        names = STEPS[draw(st.sampled_from(tuple(STEPS)))]
        category = "cpu_op" if names == STEPS["region"] else "user_annotation"
        events = [
            {
                "ph": "X",
                "cat": category,
                "name": names[name % len(names)],
                "pid": 1,
                "tid": tid,
                "ts": microseconds(start),
                "dur": microseconds(length),
            }
            for start, length, tid, name in draw(host_rows)
        ]
        host = host_trace(*events)
    rows = draw(st.lists(slice_rows, max_size=12))
    if host is None:
        rows = [{**row, "host_row": -1} for row in rows]
    return timeline(
        host,
        slices=slices(*rows, argument_names=ARGUMENTS),
        frames=slices(*draw(st.lists(frame_rows, max_size=4)), argument_names=ARGUMENTS),
        launches=launches(*draw(st.lists(launch_rows, min_size=4, max_size=4))),
        tracks=TRACKS,
        strings=STRINGS,
        argument_names=ARGUMENTS,
    )


def told(column: Any) -> list[int | None]:
    return [None if value == ABSENT else value for value in column.tolist()]


def rows_of(summary: SliceRows) -> dict[tuple[Any, ...], dict[str, int | None]]:
    """Numbers by key; steps of one name are told apart by their place."""
    keys = list(zip(*summary.keys.values(), strict=True))
    if summary.by == "step":
        keys = [(*key, place) for place, key in enumerate(keys)]
    columns = {name: told(column) for name, column in vars(summary.statistics).items()}
    found = {key: {name: column[at] for name, column in columns.items()} for at, key in enumerate(keys)}
    assert len(found) == len(keys)
    return found


@given(timelines(), st.sampled_from(SLICE_KEYS))
def test_rows_are_those_of_one_slice_after_the_other(source: Timeline, by: str) -> None:
    groups = oracle.grouped(source, by)
    if by == "step":
        # "(no step)" and "(unknown)" come after all steps, without holes.
        last = sorted(groups, key=lambda key: key[2])
        groups = {(*key[:2], place): groups[key] for place, key in enumerate(last)}
    assert rows_of(slice_summary(source, by)) == {key: oracle.numbers(source, rows) for key, rows in groups.items()}


@given(timelines(), st.sampled_from(SLICE_KEYS))
def test_rows_add_up_to_the_whole_exactly(source: Timeline, by: str) -> None:
    summary = slice_summary(source, by)
    rows = oracle.work(source)
    whole = oracle.numbers(source, rows)
    for name in ("count", "total_ns", "size_bytes", "planned_bytes", "compute_cycles"):
        values = [value for value in told(getattr(summary.statistics, name)) if value is not None]
        assert (sum(values) if values or name in ("count", "total_ns") else None) == getattr(summary.totals, name) == whole[name]
    assert (summary.totals.row_count, summary.totals.busy_ns) == (len(summary), whole["busy_ns"])
    ends = [oracle.span(source.slices, row) for row in rows]
    assert summary.totals.span_ns == (max(end for _, end in ends) - min(start for start, _ in ends) if ends else 0)


@given(timelines())
def test_what_ran_after_its_step_is_counted_one_by_one(source: Timeline) -> None:
    found = oracle.steps(source)
    carried = [0] * len(found)
    for row in oracle.work(source):
        place = oracle.step_of(source, row)[2]
        if found and place < len(found):
            start, end = oracle.span(source.slices, row)
            carried[place] += len([at for at in range(start, end) if at >= found[place][2]])
    summary = slice_summary(source, "step")
    count = len(found) if found else len(summary)
    assert summary.times["carried_over_ns"].tolist()[:count] == (carried if found else [0] * count)


@given(timelines())
def test_a_call_begins_with_its_first_slice_and_ends_with_its_last(source: Timeline) -> None:
    summary = slice_summary(source, "call")
    expected = {}
    for key, rows in oracle.grouped(source, "call").items():
        ends = [oracle.span(source.slices, row) for row in rows]
        expected[key] = (min(start for start, _ in ends), max(end for _, end in ends))
    times = zip(summary.times["start_ns"].tolist(), summary.times["span_ns"].tolist(), strict=True)
    keys = zip(*summary.keys.values(), strict=True)
    assert {key: (start, start + length) for key, (start, length) in zip(keys, times, strict=True)} == expected


@given(timelines(), st.sampled_from(("program", "stage", "step")))
def test_bounds_are_those_of_one_slice_after_the_other(source: Timeline, by: str) -> None:
    bounds = device_bounds(source, by)
    groups = oracle.grouped(source, "layer" if by == "stage" else by)
    ordered = sorted(groups.items(), key=lambda item: item[0][2]) if by == "step" else list(groups.items())
    if by == "step":
        keys: list[Any] = list(range(len(ordered)))
    else:
        keys = [key for key, _ in ordered]
    found = {} if by == "step" else {key: at for at, key in enumerate(zip(*bounds.keys.values(), strict=True))}
    for key, (_, rows) in zip(keys, ordered, strict=True):
        at = key if by == "step" else found[key]
        columns = (bounds.groups.compute_ns, bounds.groups.most_compute_ns, bounds.groups.dma_ns, bounds.groups.most_dma_ns)
        expected = (*oracle.needs(source, rows, oracle.COMPUTE), *oracle.needs(source, rows, oracle.DMA))
        # The two add up their fractions of a nanosecond in different orders.
        assert all(abs(int(column[at]) - one) <= 1 for column, one in zip(columns, expected, strict=True))
    (whole, *_) = bounds.overlaps
    assert (whole.compute_only_ns, whole.dma_only_ns, whole.both_ns, whole.neither_ns) == oracle.overlap(source)
    assert whole.compute_only_ns + whole.dma_only_ns + whole.both_ns + whole.neither_ns == whole.span_ns


@given(timelines(), st.sampled_from(SLICE_KEYS), st.integers(20, 200))
def test_texts_keep_to_their_width_and_come_in_every_format(source: Timeline, by: str, width: int) -> None:
    summary = summarize(source, by)
    assert isinstance(summary, SliceSummary)
    lines = summary.text(width).splitlines()
    rule = next((line for line in lines if line.startswith("─")), "")
    assert len(rule) <= max(width, 90)
    assert summary.to_json()
    assert len(summary.to_csv().splitlines()) == len(summary.values) + 1


@given(profiles(), st.sampled_from(SLICE_KEYS))
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
def test_any_profile_is_summed_up_and_none_of_its_time_is_lost(profile: Profile, by: str) -> None:
    source = merge(profile)
    summary = summarize(source, by)
    assert isinstance(summary, SliceSummary)
    expected = sum(int(source.slices.duration_ns[row]) for row in oracle.work(source))
    assert sum(summary.values.statistics.total_ns.tolist()) == summary.values.totals.total_ns == expected
    assert summary.text(100, "max", 3)
    assert summary.to_json(None)
    assert summary.to_csv("name")
    bounds = find_bounds(source, "stage")
    assert bounds.text()
    assert bounds.to_values()["overlaps"][0]["span_ns"] == summary.values.totals.span_ns


values = st.integers(0, 2**62 - 1)
members = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), values), max_size=12)


@given(members)
def test_sums_and_percentiles_are_exact_at_any_size(rows: list[tuple[int, int, int]]) -> None:
    group = np.array([row[0] for row in rows], np.int64)
    amount = np.array([row[2] for row in rows], np.int64)
    of_group = [[row[2] for row in rows if row[0] == one] for one in range(4)]
    assert exact_sums(group, amount, 4).tolist() == [sum(own) for own in of_group]
    ranks = nearest_ranks(group, amount, 4, (0, 50, 90, 99, 100)).tolist()
    expected = [[oracle.percentile(own, percent) for own in of_group] for percent in (0, 50, 90, 99, 100)]
    assert [[None if one == ABSENT else one for one in row] for row in ranks] == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 3)), max_size=12), st.sampled_from((1, 2**59)))
def test_unions_are_those_of_single_moments_at_any_scale(rows: list[tuple[int, int, int]], scale: int) -> None:
    group, start, length = (np.array([row[at] for row in rows], np.int64) for at in range(3))
    covered = [
        {at for one, begin, duration in rows if one == number for at in range(begin, begin + duration)} for number in range(4)
    ]
    assert group_unions(group, start * scale, length * scale, 4).tolist() == [len(moments) * scale for moments in covered]
