"""Whoever made the device: its time is on the op that launched it, by a rule that is told, and what is no work is not counted."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from rblnpb.converters.analyze.intervals import union_ns
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import JOIN_RULES, Timeline
from tests.support.device_dialects import DIALECTS, Dialect, without_launches
from tests.support.vendor_traces import WORKER, Launch, host_trace, op

OPS = (
    op("aten::matmul", 1000, 3000, external_id=901),
    op("aten::mm", 1200, 2000, external_id=902),
    op("aten::add", 5000, 6000, tid=WORKER, external_id=903),
)
BEFORE = Launch(7, -9_000, 500)
RUN = (Launch(1, 1500, 12_500), Launch(2, 5500, 46_500, tid=WORKER))


def joined(dialect: Dialect) -> Timeline:
    return merge(None, host_trace([*OPS, *without_launches(dialect.rows([BEFORE])), *dialect.rows(RUN)]))


def work_of(timeline: Timeline, launched: bool) -> tuple[int, int]:
    """Busy time and number of slices of work; with `launched`, of those whose launch is in the trace."""
    rows = np.flatnonzero(timeline.is_work() & ((timeline.slices.launch >= 0) | (not launched)))
    return union_ns(timeline.slices.start_ns[rows], timeline.slices.duration_ns[rows]), len(rows)


each_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


@each_dialect
def test_work_is_on_the_innermost_op_around_its_launch(dialect: Dialect) -> None:
    timeline = joined(dialect)
    assert timeline.host is not None
    slices, count = timeline.slices, sum(map(len, dialect.work.values()))
    names = [*(timeline.host.strings[row] for row in timeline.host.events.name.tolist()), None]
    found = Counter((names[slices.host_row[row]], JOIN_RULES[slices.rule[row]]) for row in np.flatnonzero(timeline.is_work()))
    assert found == {
        ("aten::mm", dialect.rule): count,
        ("aten::add", dialect.rule): count,
        (None, "launch-not-recorded"): count,
    }


@each_dialect
def test_work_is_what_computes_and_moves(dialect: Dialect) -> None:
    timeline = joined(dialect)
    rows = np.flatnonzero(timeline.is_work())
    tracks, durations = timeline.slices.track[rows].tolist(), timeline.slices.duration_ns[rows].tolist()
    found = Counter((timeline.tracks[track].kind, duration) for track, duration in zip(tracks, durations, strict=True))
    assert found == Counter((kind, duration) for kind, durations in dialect.work.items() for duration in durations * 3)


@each_dialect
def test_what_was_launched_before_the_trace_is_busy_time_of_all_and_not_of_what_was_launched_in_it(dialect: Dialect) -> None:
    timeline = joined(dialect)
    count, total = sum(map(len, dialect.work.values())), sum(map(sum, dialect.work.values()))
    assert (work_of(timeline, launched=False), work_of(timeline, launched=True)) == ((3 * total, 3 * count), (2 * total, 2 * count))


@each_dialect
def test_every_slice_has_a_rule_or_a_reason(dialect: Dialect) -> None:
    slices = joined(dialect).slices
    leads = np.isin(slices.rule, [JOIN_RULES.index(rule) for rule in JOIN_RULES[:6]])
    assert leads.tolist() == (slices.host_row >= 0).tolist()


@each_dialect
def test_only_what_was_launched_before_is_told_of(dialect: Dialect) -> None:
    found = [(finding.code, finding.where) for finding in joined(dialect).findings if str(finding.severity) == "warning"]
    assert found == [("unattributed-slices", "launch-not-recorded")]
