"""Joining the device rows of a trace on whole columns agrees with one row after the other, and no time is lost or counted twice."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.merging import merge
from rblnpb.converters.merging.launch_scopes import Identified, launch_in_process, launch_in_scope
from rblnpb.converters.pipeline import status
from rblnpb.converters.timeline import JOIN_RULES, JOINED_RULES, MATCHED_RULES
from tests.support import merge_oracle
from tests.support.join_oracle import Arrow, Call, Op, Row, Run
from tests.support.vendor_traces import HOST_PID, host_trace

threads = st.sampled_from((1, 2))
ids = st.sampled_from((0, 0, 1, 2, 3))
spans = st.tuples(st.integers(0, 30), st.integers(0, 12))


@st.composite
def runs(draw: st.DrawFn) -> Run:
    ops = [Op(draw(threads), start, start + length, draw(ids)) for start, length in draw(st.lists(spans, max_size=7))]
    calls = [
        Call(draw(threads), start, start + length, draw(ids), draw(ids)) for start, length in draw(st.lists(spans, max_size=6))
    ]
    # Rows that start together share their arrows in turn, which is told by hand.
    starts = draw(st.lists(st.integers(0, 40), max_size=6, unique=True))
    lanes = st.sampled_from((0, 0, 1))
    rows = [Row(start, start + draw(st.integers(0, 9)), draw(ids), draw(ids), draw(lanes)) for start in starts]
    goals = draw(st.lists(st.integers(0, len(rows) - 1), unique=True)) if rows else []
    arrows = [Arrow(goal, draw(st.integers(0, 40)), draw(st.sampled_from((0, 1, 2)))) for goal in goals]
    return Run(ops, calls, rows, arrows)


@given(runs())
def test_each_row_is_joined_as_one_by_one(run: Run) -> None:
    timeline = merge(None, host_trace(run.events(HOST_PID), window_ns=100))

    found = [
        (row, JOIN_RULES[rule]) for row, rule in zip(timeline.slices.host_row.tolist(), timeline.slices.rule.tolist(), strict=True)
    ]
    assert found == [run.op_of(place) for place in range(len(run.rows))]


@given(runs())
def test_time_on_ops_and_on_none_is_all_time_there_is(run: Run) -> None:
    timeline = merge(None, host_trace(run.events(HOST_PID), window_ns=100))

    slices, values = timeline.slices, status(timeline).values
    total = sum(row.end_ns - row.start_ns for row in run.rows)
    assert (slices.host_row >= 0).tolist() == (slices.rule < JOINED_RULES).tolist()
    assert values.attributed_ns + values.unattributed_ns == total
    assert values.attributed_ns == int(slices.duration_ns[slices.rule < JOINED_RULES].sum())
    lost = sum(finding.count for finding in timeline.findings if finding.code == "unattributed-slices")
    on_no_op = slices.launch[(slices.launch >= 0) & (slices.host_row < 0)]
    assert lost + len(on_no_op) == values.slices_unattributed
    assert (timeline.launches.host_row >= 0).tolist() == (timeline.launches.reason < MATCHED_RULES).tolist()


numbers = st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(0, 2))


def identified(rows: list[tuple[int, int, int]]) -> Identified:
    return Identified(*np.array(rows, np.int64).reshape(-1, 3).T)


@given(st.lists(numbers, max_size=9), st.lists(numbers, max_size=9))
def test_records_find_the_launch_of_their_process_as_one_by_one(
    launches: list[tuple[int, int, int]], records: list[tuple[int, int, int]]
) -> None:
    expected = []
    for wanted, at_ns, process in records:
        same = [place for place, launch in enumerate(launches) if launch[2] == process]
        found = merge_oracle.launch_of([launches[n][0] for n in same], [launches[n][1] for n in same], wanted, at_ns)
        expected.append(same[found] if found >= 0 else -1)
    assert launch_in_process(identified(launches), identified(records)).tolist() == expected


@given(st.lists(numbers, max_size=9), st.lists(numbers, max_size=9))
def test_a_record_finds_a_launch_of_its_id_if_there_is_one(
    launches: list[tuple[int, int, int]], records: list[tuple[int, int, int]]
) -> None:
    found = launch_in_scope(identified(launches), identified(records))
    there = {launch[0] for launch in launches if launch[0]}
    assert [launches[row][0] if row >= 0 else 0 for row in found.tolist()] == [
        wanted if wanted in there else 0 for wanted, _, _ in records
    ]


@given(st.lists(numbers, max_size=9), st.lists(numbers, max_size=9))
def test_records_of_one_device_never_mix_processes_that_count_alike(
    launches: list[tuple[int, int, int]], records: list[tuple[int, int, int]]
) -> None:
    found = launch_in_scope(identified(launches), identified(records)).tolist()
    owners: dict[int, set[int]] = {}
    for launch_id, _, process in launches:
        owners.setdefault(launch_id, set()).add(process)
    everywhere = {launch_id for launch_id, those in owners.items() if those == {0, 1, 2}}
    homes: dict[int, set[int]] = {}
    for (wanted, _, device), row in zip(records, found, strict=True):
        if row >= 0 and wanted in everywhere:
            homes.setdefault(device, set()).add(launches[row][2])
    assert all(len(home) == 1 for home in homes.values())
