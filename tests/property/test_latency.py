"""Latency, queue and the host's split agree with an oracle that looks at one moment after the other; their parts add up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.converters.analyze.launches.distribution import distributions
from rblnpb.converters.analyze.launches.latency import latency
from rblnpb.converters.analyze.launches.queue import queue_use
from rblnpb.converters.results import Latency
from rblnpb.converters.timeline import Track
from tests.support.latency_oracle import Launched, percentile, queue_length, time_at_length, waiting_ns
from tests.support.timelines import launches, slices, timeline

TRACKS = tuple(Track(f"rbln:{at}", "engine", "compute", is_work=True, order=at) for at in range(2))

runs = st.lists(
    st.builds(
        lambda submitted, after, length, device: Launched(submitted, submitted + after, submitted + after + length, device),
        submitted=st.integers(0, 40),
        after=st.integers(-3, 20),
        length=st.integers(0, 15),
        device=st.integers(0, 1),
    ),
    max_size=8,
)


def measured(run: Sequence[Launched]) -> Latency:
    """The latency of a run, each launch with two slices: one as long as its work, and one at its end."""
    work = [
        {"start": start, "duration": one.end_ns - start, "track": one.device, "launch": at}
        for at, one in enumerate(run)
        for start in (one.start_ns, one.end_ns)
    ]
    return latency(
        timeline(
            slices=slices(*work),
            launches=launches(*({"start": one.submitted_ns, "tid": at % 3} for at, one in enumerate(run))),
            tracks=TRACKS,
            is_serialised=False,
        )
    )


@given(runs)
def test_figures_are_those_of_the_oracle(run: list[Launched]) -> None:
    found = measured(run)
    lengths = [max(one.start_ns - one.submitted_ns, 0) for one in run]
    waits = [waiting_ns(run, place) for place in range(len(run))]
    total = found.total
    assert (total.latency.count, total.latency.sum_ns, total.waiting_ns) == (len(run), sum(lengths), sum(waits))
    assert (total.n_negative, total.waited_count) == (
        sum(one.start_ns < one.submitted_ns for one in run),
        sum(w > 0 for w in waits),
    )
    if run:
        assert total.least_ns == min(one.start_ns - one.submitted_ns for one in run)
        assert (total.latency.p50_ns, total.latency.p90_ns, total.latency.p99_ns) == tuple(
            percentile(lengths, p) for p in (50, 90, 99)
        )
        assert (found.waiting.max_ns, found.submission.max_ns) == (
            max(waits),
            max(length - wait for length, wait in zip(lengths, waits, strict=True)),
        )


@given(runs)
def test_parts_add_up_to_the_whole(run: list[Launched]) -> None:
    found = measured(run)
    for groups in (found.programs, found.threads):
        for figure in ("waited_count", "waiting_ns", "submission_ns", "n_negative"):
            assert sum(getattr(group.figures, figure) for group in groups) == getattr(found.total, figure)
        assert sum(group.figures.latency.sum_ns for group in groups) == found.total.latency.sum_ns
    assert found.total.waiting_ns + found.total.submission_ns == found.total.latency.sum_ns
    assert sum(queue.launch_count for queue in found.queues) == len(run)


@given(runs)
def test_the_queue_is_that_of_the_oracle_and_never_negative(run: list[Launched]) -> None:
    queue = queue_use("", *(np.array([getattr(one, side) for one in run], np.int64) for side in ("submitted_ns", "end_ns")))
    assert queue.length.tolist() == [queue_length(run, moment) for moment in queue.time_ns.tolist()]
    assert (queue.length >= 0).all()
    assert list(queue.time_at_length_ns) == time_at_length(run)
    assert sum(queue.time_at_length_ns) == queue.span_ns
    assert queue.length.tolist()[-1:] in ([], [0])


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**62)), max_size=30))
def test_percentiles_of_groups_are_those_of_the_oracle(rows: list[tuple[int, int]]) -> None:
    groups, values = np.array(rows, np.int64).reshape(-1, 2).T
    for number, found in enumerate(distributions(values, groups, 4)):
        own = [value for group, value in rows if group == number]
        assert (found.count, found.sum_ns) == (len(own), sum(own))
        if own:
            assert (found.min_ns, found.max_ns) == (min(own), max(own))
            assert (found.p50_ns, found.p90_ns, found.p99_ns) == tuple(percentile(own, p) for p in (50, 90, 99))
