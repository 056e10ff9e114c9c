"""A stretch of a timeline: what overlaps it stays whole, with the ops and launches that it came from."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.host_trace import HostTrace
from rblnpb.converters.merging.around import around
from rblnpb.converters.merging.window import beginning_ns, within
from rblnpb.converters.timeline import RecordCount, SliceDependencies, Timeline
from rblnpb.errors import UsageError
from tests.support.timelines import counters, host_trace, launches, runtime, slices, timeline


def event(name: str, start_us: int, length_us: int, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start_us, "dur": length_us, **more}


def document(host: HostTrace | None) -> Any:
    assert host is not None
    return json.loads(b"".join(host.document.blocks()))


def names(host: HostTrace | None) -> list[str]:
    """Of the events in the document, which are those of the columns."""
    found = document(host)["traceEvents"]
    assert host is not None
    text = b"".join(host.document.blocks())
    stands = [text[at : at + size] for at, size in zip(host.events.offset, host.events.length, strict=True)]
    assert [json.loads(one) for one in stands] == found
    assert [host.strings[row] for row in host.events.name.tolist()] == [one["name"] for one in found]
    return [one["name"] for one in found]


def test_what_overlaps_stays_and_what_touches_does_not() -> None:
    made = timeline(slices=slices(*({"start": at, "duration": 10, "name": str(at)} for at in (0, 10, 15, 20, 30))))
    assert within(made, 10, 20).slices.start_ns.tolist() == [10, 15]
    assert within(made, 12, 31).slices.start_ns.tolist() == [10, 15, 20, 30]
    assert within(made, None, 11).slices.start_ns.tolist() == [0, 10]
    assert within(made, 40, None).slices.start_ns.tolist() == []


def test_a_slice_without_a_length_is_in_the_stretch_that_it_stands_in() -> None:
    made = timeline(slices=slices({"start": 10}, {"start": 20}))
    assert within(made, 10, 20).slices.start_ns.tolist() == [10]


def test_a_launch_before_the_stretch_stays_with_what_it_launched_and_with_its_op() -> None:
    host = host_trace(event("before", 0, 1), event("op", 5, 1), event("in", 20, 5))
    made = timeline(
        host,
        slices=slices({"start": 20_000, "duration": 9, "launch": 1, "host_row": 1, "rule": 0}),
        launches=launches({"start": 1}, {"start": 5_500, "launch_id": 7, "host_row": 1}),
        runtime=runtime((5_500, 10, 0, 1)),
    )
    cut = within(made, 20_000, 30_000)
    assert cut.launches.launch_id.tolist() == [7]
    assert cut.slices.launch.tolist() == [0]
    assert names(cut.host) == ["op", "in"]
    assert cut.slices.host_row.tolist() == cut.launches.host_row.tolist() == [0]
    assert len(cut.runtime) == 0


def test_dependencies_samples_and_metadata() -> None:
    host = host_trace({"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p"}}, event("a", 0, 1), event("b", 9, 1))
    both = SliceDependencies(np.array([0, 1]), np.array([1, 2]))
    made = timeline(
        host,
        slices=slices(*({"start": at, "duration": 5} for at in (0, 5, 10))),
        dependencies=both,
        counters=counters((0, 0, 0, 1.0), (7, 0, 0, 2.0)),
    )
    cut = within(made, 5, 9_500)
    assert (cut.dependencies.predecessor.tolist(), cut.dependencies.successor.tolist()) == ([0], [1])
    assert cut.counters.value.tolist() == [2.0]
    assert names(cut.host) == ["process_name", "a", "b"]
    assert document(cut.host)["traceName"] == "t"


def test_of_a_flow_all_events_stay_or_none() -> None:
    def arrow(phase: str, at: int, number: int) -> dict[str, Any]:
        return {"ph": phase, "cat": "ac2g", "name": "ac2g", "id": number, "pid": 1, "tid": 1, "ts": at}

    host = host_trace(arrow("s", 1, 1), arrow("s", 11, 2), arrow("f", 12, 1), arrow("f", 13, 2), event("op", 10, 5))
    cut = within(timeline(host), 10_000, 20_000)
    assert [one.get("id") for one in document(cut.host)["traceEvents"]] == [2, 2, None]


def test_a_begin_stays_with_its_end() -> None:
    def edge(phase: str, name: str, at: int) -> dict[str, Any]:
        return {"ph": phase, "name": name, "pid": 1, "tid": 1, "ts": at}

    host = host_trace(edge("B", "out", 0), edge("B", "early", 1), edge("E", "early", 2), edge("B", "in", 12), edge("E", "in", 14))
    host = host_trace(*document(host)["traceEvents"], edge("E", "out", 30))
    assert names(within(timeline(host), 10_000, 20_000).host) == ["out", "in", "in", "out"]


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=12),
    st.integers(-2, 45),
    st.integers(1, 20),
    st.integers(1, 90),
)
def test_the_excerpt_is_the_events_that_overlap(events: list[tuple[int, int]], start: int, length: int, block_bytes: int) -> None:
    host = host_trace(*(event(str(row), *one) for row, one in enumerate(events)), block_bytes=block_bytes)
    cut = within(timeline(host), start * 1000, (start + length) * 1000)
    expected = [
        str(row) for row, (at, size) in enumerate(events) if (start <= at < start + length) or (at < start and at + size > start)
    ]
    assert names(cut.host) == expected


def test_how_much_is_left_is_told() -> None:
    cut = within(timeline(host_trace(event("a", 0, 1)), slices=slices({"start": 5_000})), 1, 5_000)
    (finding,) = cut.findings
    assert (finding.code, finding.message) == (
        "window",
        "only what overlaps the window from 1 ns to 5,000 ns: 0 device slices and 1 host event",
    )


def test_a_window_in_which_nothing_lies_is_a_warning() -> None:
    made = timeline(host_trace(event("a", 3, 2)), slices=slices({"start": 4_000, "duration": 7_000}))
    told = {finding.code: finding.message for finding in within(made, 20_000, None, zero_ns=1_000).findings}
    assert told == {
        "window": "only what overlaps the window from 19,000 ns to the end: 0 device slices and 0 host events",
        "window-empty": "nothing lies in the window; what was read goes from 2,000 to 10,000 ns",
    }


def test_counts_are_of_the_window() -> None:
    made = timeline(slices=slices(*({"start": at} for at in (1, 2, 9))), counts=(RecordCount("device_slices", 3, 5),))
    assert within(made, 2, 5).counts == (RecordCount("device_slices", 1, 5),)


def test_the_beginning_is_the_first_of_all_that_has_a_time() -> None:
    assert beginning_ns(timeline()) is None
    assert beginning_ns(timeline(host_trace(event("a", 2, 1)), slices=slices({"start": 1_500}))) == 1_500
    assert beginning_ns(timeline(host_trace(event("a", 2, 1)), counters=counters((1_700, 0, 0, 1.0)))) == 1_700


def found(made: Timeline, name: str) -> tuple[int, int, list[int]]:
    start, end, starts = around(made, name)
    return start, end, starts.tolist()


def test_around_an_op_is_its_time_and_that_of_what_it_launched() -> None:
    host = host_trace(event("mm", 50, 5), event("mm", 10, 5), event("add", 16, 2))
    made = timeline(
        host,
        slices=slices({"start": 30_000, "duration": 4, "launch": 0}, {"start": 90_000, "launch": 1}),
        launches=launches({"start": 12_000, "host_row": 1}, {"start": 16_500, "host_row": 2}),
    )
    assert found(made, "mm") == (10_000, 30_004, [10_000, 50_000])
    assert found(made, "add") == (16_000, 90_000, [16_000])


def test_around_a_program_or_a_layer() -> None:
    made = timeline(
        slices=slices(
            {"start": 5, "duration": 4, "launch": 0, "stage": "mm", "command": 2}, {"start": 1, "duration": 1, "name": "x"}
        ),
        launches=launches({"start": 2, "name": 1}),
        strings=("", "program"),
    )
    assert found(made, "program") == (2, 9, [2])
    assert found(made, "mm") == (5, 9, [5])
    assert found(made, "x") == (1, 2, [1])
    with pytest.raises(UsageError, match="nothing in the input is called 'y'"):
        around(made, "y")
