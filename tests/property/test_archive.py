"""Archived traces: whatever a trace holds and however it is written, every byte of it comes back."""

from __future__ import annotations

import contextlib
import io
import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rblnpb
from rblnpb.converters.event_layouts import MARKS
from rblnpb.converters.pipeline.archives import unpack
from rblnpb.converters.sources.archive import archived_trace
from rblnpb.converters.sources.kineto import read_host
from rblnpb.profile import Profile, TraceDocument
from tests.property.test_kineto_source import documents
from tests.support.archives import archive, given_back, slowly_given_back
from tests.support.json_events import events_of
from tests.support.strategies import profiles

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
names = st.text(max_size=4) | st.sampled_from(("aten::mm", "µ", "𝄞", '"\\\n\x7f', "\ud800"))
times = (
    st.integers(-(10**6), 10**9)
    | st.integers(0, 10**6).map(float)
    | st.floats(-1e6, 1e9)
    | st.decimals(0, 10**9, places=3).map(float)
    | values
)
ids = st.integers() | names | values
usual_events = st.fixed_dictionaries(
    {"ph": st.sampled_from("XXXsfM"), "name": names},
    optional={
        "cat": names,
        "pid": ids,
        "tid": ids,
        "ts": times,
        "dur": times,
        "id": ids,
        "bp": st.just("e"),
        "args": st.dictionaries(names, values, max_size=3),
        "s": values,
        "tts": times,
    },
)
any_events = usual_events | st.dictionaries(st.text(max_size=3), values, max_size=3) | values


@st.composite
def traces(draw: st.DrawFn) -> bytes:
    """Traces of any events, as Python's own writer spells them."""
    found = draw(st.lists(usual_events | any_events, max_size=10))
    document = draw(st.sampled_from((found, {"schemaVersion": 1, "traceEvents": found, "host_name": "µ"})))
    if document is found and not any(isinstance(event, dict) and event.get("ph") in tuple("XsfM") for event in found):
        document = {"traceEvents": found}
    spaces = draw(st.sampled_from(((",", ":"), (", ", ": "))))
    text = json.dumps(document, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from((None, 1))), separators=spaces)
    return text.encode("utf-8", "surrogatepass")


@given(traces() | documents())
def test_every_byte_comes_back_and_is_archived_in_the_same_way_again(document: bytes) -> None:
    try:
        read_host(io.BytesIO(document))
    except rblnpb.FormatError:
        return
    profile = archive(document)

    assert given_back(profile) == document
    assert archive(given_back(profile)) == profile


@given(traces() | documents())
def test_the_rules_of_the_format_give_the_same_bytes_one_event_at_a_time(document: bytes) -> None:
    try:
        profile = rblnpb.read(archive(document))
    except rblnpb.FormatError:
        return

    assert slowly_given_back(profile) == document


@given(documents())
def test_an_archived_trace_has_the_rows_and_the_findings_of_the_trace(document: bytes) -> None:
    try:
        host = read_host(io.BytesIO(document))
    except rblnpb.FormatError:
        return
    archived = archived_trace(rblnpb.read(archive(document)))

    assert events_of(archived) == events_of(host)
    assert archived.findings == host.findings
    assert (archived.metadata, archived.base_time_ns, archived.has_base_time) == (
        host.metadata,
        host.base_time_ns,
        host.has_base_time,
    )


members = [f'"{name}":\x1a{mark}' for name, marks in MARKS.items() for mark in marks]
layouts = st.lists(st.sampled_from(("{", "}", ",", '"ph":"X"', "[", "]", " ", *members)), max_size=5).map("".join)


@given(profiles(), st.lists(layouts, min_size=1, max_size=4), st.data())
def test_archived_events_of_any_kind_are_a_trace_or_refused(profile: Profile, texts: list[str], data: st.DataObject) -> None:
    count, known = len(profile.trace_events), len(profile.strings)
    rows = st.integers(known, known + len(texts) - 1) | st.just(0)
    chosen = data.draw(st.lists(rows, min_size=count, max_size=count))
    claimed = profile.replace(
        strings=(*profile.strings, *texts),
        trace_events=profile.trace_events.replace(layout_strindex=np.array(chosen, np.uint32)),
        trace_document=TraceDocument(b"[", b"]"),
    )
    with contextlib.suppress(rblnpb.FormatError):
        unpack(claimed)
