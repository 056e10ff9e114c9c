"""Checks on whole columns find what the slow definitions find, with the same counts and the same first places."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.analyze.checks.trace_checks import same_text_rows, trace_findings
from rblnpb.converters.sources.event_details import read_details
from rblnpb.converters.sources.kineto import read_host
from tests.support.check_oracle import slow_findings
from tests.support.vendor_traces import Json

TIMES = st.integers(0, 12)
THREADS = st.fixed_dictionaries({"pid": st.just(1), "tid": st.integers(1, 2)})
NAMES = st.sampled_from("ab")


def event(phase: str, **members: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    """Events of one phase."""
    own = st.fixed_dictionaries({"ph": st.just(phase), "ts": TIMES, **members})
    return st.tuples(own, THREADS).map(lambda both: {**both[0], **both[1]})


ARROW = {"name": NAMES, "cat": st.just("c"), "id": st.integers(1, 2)}
EVENTS = st.lists(
    st.one_of(
        event("X", name=NAMES, dur=st.integers(0, 8), args=st.sampled_from(({}, {"k": 1}))),
        event("B", name=NAMES),
        event("E", name=NAMES),
        event("s", **ARROW),
        event("t", **ARROW),
        event("f", **ARROW, bp=st.just("e")),
        event("f", **ARROW),
    ),
    max_size=14,
)


@given(EVENTS)
def test_columns_find_what_the_definitions_find(events: list[Json]) -> None:
    expected = slow_findings(events)
    host = read_host(io.BytesIO(json.dumps({"traceEvents": events}).encode()))
    found = {
        one.finding.code: (one.finding.count, [place.row for place in one.places])
        for one in trace_findings(host, read_details(host, same_text_rows(host)), None)
        if one.finding.code not in ("unsorted-events", "no-base-time", "no-events")
    }
    assert found == {code: (len(rows), rows[:3]) for code, rows in expected.items()}
