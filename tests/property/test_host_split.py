"""The host's time, split, is what an oracle counts that looks at every nanosecond; and nothing is left over."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.host.host_classes import host_classes
from rblnpb.converters.analyze.host.host_split import host_split
from rblnpb.converters.analyze.host.host_stack import host_stack
from rblnpb.converters.analyze.host.input_checks import input_checks
from rblnpb.converters.timeline import OverheadRecords, Timeline
from rblnpb.profile import OverheadKind
from tests.support.latency_oracle import Call, Recorded, scans, split
from tests.support.timelines import host_trace, microseconds, runtime, timeline

NAMES = ("aten::mm", "aten::to", "aten::_copy_from", "aten::isinf", "aten::isnan", "Region")
RUNTIME = {"compile": "compile", "wait": "wait", "upload": "copy in", "download": "copy out", "submit": "submit"}


@st.composite
def calls(draw: Any, begin: int = 0, end: int = 40, depth: int = 2) -> tuple[Call, ...]:
    """Calls side by side within a stretch of time, each with calls of its own."""
    count = draw(st.integers(0, min(4, (end - begin + 1) // 2)))
    bounds = sorted(draw(st.lists(st.integers(begin, end), min_size=2 * count, max_size=2 * count, unique=True)))
    return tuple(
        Call(draw(st.sampled_from(NAMES)), first, last, draw(calls(first, last, depth - 1)) if depth else ())
        for first, last in zip(bounds[::2], bounds[1::2], strict=True)
    )


records = st.lists(
    st.builds(
        lambda sort, start, length: Recorded(sort, start, start + length),
        sort=st.sampled_from(["fallback", *RUNTIME]),
        start=st.integers(0, 40),
        length=st.integers(0, 20),
    ),
    max_size=5,
)


def flat(run: tuple[Call, ...]) -> list[Call]:
    return [one for call in run for one in (call, *flat(call.calls))]


def as_timeline(run: tuple[Call, ...], recorded: list[Recorded]) -> Timeline:
    """All on one thread; the trace's times are in ns."""
    place = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1}
    events = [
        {**place, "name": one.name, "ts": microseconds(one.start_ns), "dur": microseconds(one.end_ns - one.start_ns)}
        for one in flat(run)
    ]
    strings = ("", *RUNTIME.values())
    rows = [
        (one.start_ns, one.end_ns - one.start_ns, strings.index(RUNTIME[one.sort]), 1) for one in recorded if one.sort in RUNTIME
    ]
    fallen = np.array([(one.start_ns, one.end_ns - one.start_ns) for one in recorded if one.sort == "fallback"], np.int64).reshape(
        -1, 2
    )
    zero = np.zeros(len(fallen), np.int32)
    overheads = OverheadRecords(
        kind=np.full(len(fallen), OverheadKind.CPU_FALLBACK, np.uint32),
        op=zero,
        reason=zero,
        place=zero,
        duration_ns=fallen[:, 1],
        size_bytes=np.full(len(fallen), ABSENT),
        start_ns=fallen[:, 0],
        tid=np.ones(len(fallen), np.int64),
    )
    # A record that says that process 1 has thread 1, also where there is no other.
    return timeline(host_trace(*events), strings=strings, runtime=runtime(*rows, (0, 0, 0, 1)), overheads=overheads)


@settings(max_examples=100)
@given(calls(), records)
def test_the_split_is_that_of_the_oracle(run: tuple[Call, ...], recorded: list[Recorded]) -> None:
    given_timeline = as_timeline(run, recorded)
    assert given_timeline.host is not None
    found = host_split(given_timeline.host, host_classes(given_timeline, given_timeline.host))
    assert {name: time_ns for name, time_ns in found.by_class.items() if time_ns} == split(run, recorded)
    assert found.total_ns == sum(call.end_ns - call.start_ns for call in run)


@settings(max_examples=100)
@given(calls())
def test_scans_are_those_of_the_oracle(run: tuple[Call, ...]) -> None:
    given_timeline = as_timeline(run, [])
    assert given_timeline.host is not None
    stack = host_stack(given_timeline.host)
    found = input_checks(stack)
    wanted = [scan for call in run for scan in scans(call)]
    assert stack.start_ns[found.roots].tolist() == sorted({row.start_ns for _, rows in wanted for row in rows})
    assert stack.start_ns[found.scanned_for].tolist() == sorted(operator.start_ns for operator, _ in wanted)
