"""Host traces without what is not public in them, event by event."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.converters.sinks._redacted_values import RedactedValues
from rblnpb.converters.sinks.redacted_trace import RedactedNames, write_redacted_trace
from rblnpb.converters.sources.kineto import read_host
from tests.support.redaction import SECRET, secret_trace, slow_event, texts_of

NAMES = RedactedNames(b"key")


def redacted(document: bytes, **how: Any) -> bytes:
    file = io.BytesIO()
    write_redacted_trace(read_host(io.BytesIO(document)), file, NAMES, **how)
    return file.getvalue()


def events_of(data: bytes) -> list[dict[str, Any]]:
    document = json.loads(data)
    events: list[dict[str, Any]] = document if isinstance(document, list) else document["traceEvents"]
    return events


def event(**members: Any) -> bytes:
    return json.dumps({"traceEvents": [{"ph": "X", "pid": 1, "tid": 2, "ts": 1, "dur": 2} | members]}).encode()


def arguments(data: bytes) -> Any:
    return events_of(data)[0].get("args")


def test_no_secret_is_left_wherever_it_stood() -> None:
    document = secret_trace()
    data = redacted(document)
    assert SECRET.encode() in texts_of(document)
    assert SECRET.encode() not in texts_of(data)
    assert len(events_of(data)) == len(read_host(io.BytesIO(document)).events)


def test_an_event_keeps_its_numbers_its_order_and_its_public_names() -> None:
    given_ = {
        "ph": "X", "cat": "kernel", "name": "Memset (Device)", "pid": 0, "tid": "stream 7", "ts": 5136573518505.986, "dur": 0.5,
        "id": "0x1f", "args": {"External id": 18446744073709551615, "grid": [1, 2, 3], "est. achieved occupancy %": 1.5,
                 "Python parent id": None, "finished": True, "memory bandwidth (GB/s)": 8.6, "Input type": ["float", "c10::Half"],
                 "Concrete Inputs": ["", "[1, 1]", "True"]},
    }  # fmt: skip
    assert events_of(redacted(json.dumps([given_]).encode())) == [given_]


def test_times_are_copied_digit_for_digit() -> None:
    document = b'[{"ph":"X","name":"mm","ts":1692108548154532.1250,"dur":1e3,"pid":1,"tid":"7"},{"ph":"X","ts":"5.10","name":"mm"}]'
    data = redacted(document)
    assert b'"ts":1692108548154532.1250,"dur":1e3' in data
    assert b'"ts":"5.10"' in data


def test_a_bare_array_stays_one_and_an_empty_trace_is_one() -> None:
    assert redacted(b"[]\n") == b"[\n]"
    assert json.loads(redacted(b'{"traceEvents": [], "schemaVersion": 1}')) == {"schemaVersion": 1, "traceEvents": []}


def test_a_key_that_is_not_known_takes_its_value_with_it() -> None:
    found = arguments(redacted(event(args={"pin": 4711, "External Id": 5, "launch_id": 6})))
    assert (found.pop("External Id"), found.pop("launch_id")) == (5, 6)
    ((key, value),) = found.items()
    assert (key[:4], value[:6]) == ("key_", "value_")


def test_series_of_a_counter_stay_numbers() -> None:
    found = arguments(redacted(event(ph="C", args={"mine": 5, "note": "hm"})))
    assert [value for value in found.values() if isinstance(value, int)] == [5]


def test_shapes_can_be_left_out() -> None:
    document = event(args={"Input Dims": [[1]], "Concrete Inputs": ["1"], "Ev Idx": 3})
    assert arguments(redacted(document, without_shapes=True)) == {"Ev Idx": 3}
    assert arguments(redacted(document)) == {"Input Dims": [[1]], "Concrete Inputs": ["1"], "Ev Idx": 3}


SHIFT_S = 100 * 86_400


def test_a_trace_that_says_of_its_zero_is_moved_by_it_alone() -> None:
    document = json.dumps({"baseTimeNanoseconds": 1_790_000_000_000_000_000, "traceEvents": json.loads(event())["traceEvents"]})
    moved = json.loads(redacted(document.encode(), shift_s=SHIFT_S))
    assert (moved["baseTimeNanoseconds"], moved["traceEvents"][0]["ts"]) == (1_790_000_000_000_000_000 - SHIFT_S * 10**9, 1)


@pytest.mark.parametrize(
    ("ts", "moved"),
    [
        ("1790000000000000.125", "1781360000000000.125"),
        ("1790000000000000", "1781360000000000"),
        ('"1790000000000000.5"', '"1781360000000000.5"'),
        ("1.79e15", "1781360000000000"),
        ("0", "0"),
        ("5.5", "5.5"),
    ],
)
def test_unix_times_are_moved_one_by_one_where_nothing_says_of_a_zero(ts: str, moved: str) -> None:
    first = '{"ph":"X","name":"mm","ts":1790000000000001,"dur":1,"pid":1,"tid":1}'
    document = f'[{first},{{"ph":"M","name":"process_name","ts":{ts}}}]'
    assert f'"ts":{moved}}}'.encode() in redacted(document.encode(), shift_s=SHIFT_S)


def test_unix_times_are_moved_whatever_events_have_them_and_where_the_zero_is_no_date() -> None:
    instants = [{"ph": "i", "name": "mm", "ts": 1_790_000_000_000_000}]
    for document in (instants, {"baseTimeNanoseconds": 0, "traceEvents": instants}):
        moved = redacted(json.dumps(document).encode(), shift_s=SHIFT_S)
        assert [one["ts"] for one in events_of(moved)] == [1_790_000_000_000_000 - SHIFT_S * 10**6]
    odd = json.dumps({"baseTimeNanoseconds": "1790000000000000000.5", "traceEvents": []}).encode()
    assert json.loads(redacted(odd, shift_s=SHIFT_S))["baseTimeNanoseconds"] is None


def test_times_of_a_clock_of_its_own_are_not_moved() -> None:
    assert events_of(redacted(event(ts=123.5), shift_s=SHIFT_S))[0]["ts"] == 123.5


def test_events_parted_by_anything_are_read_one_by_one() -> None:
    document = b'[{"ph":"X","name":"mm","ts":1,"dur":2} ,\n\n {"ph":"X","name":"\xffaten","ts":3,"dur":4,"args":{"Ev Idx":1}}, ]'
    data = redacted(document.replace(b", ]", b"]"))
    assert [one["ts"] for one in events_of(data)] == [1, 3]
    assert b"aten" not in data


# --- against the slow way ----------------------------------------------------------------------------------------------

KEYS = (
    "External id",
    "Ev Idx",
    "ev_idx",
    "Input Dims",
    "Input type",
    "Call stack",
    "name",
    "kernel",
    "mine",
    "mine7",
    "stage",
    "",
    "é",
)
scalars = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.sampled_from(["", "aten::mm", "mine", "[1, 2]", "12", "float", "a.py(1): f", SECRET]),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3), max_leaves=4
)
trace_events = st.fixed_dictionaries(
    {"ph": st.sampled_from(["X", "C", "M", "i", SECRET])},
    optional={
        "cat": st.sampled_from(["cpu_op", "user_annotation", "python_function", "kernel", "", SECRET]),
        "name": scalars,
        "pid": scalars,
        "tid": scalars,
        "id": scalars,
        "ts": st.integers(0, 2**40),
        "mine": values,
        "args": st.dictionaries(st.sampled_from(KEYS), values, max_size=5) | scalars,
    },
)


@given(st.lists(trace_events, min_size=1, max_size=8), st.booleans())
@settings(max_examples=100, deadline=None)
def test_events_are_what_they_are_one_value_after_the_other(events: list[dict[str, Any]], without_shapes: bool) -> None:
    document = json.dumps({"traceEvents": events}).encode()
    slow = RedactedValues(NAMES, without_shapes=without_shapes)
    data = redacted(document, without_shapes=without_shapes)
    assert events_of(data) == [slow_event(json.dumps(one).encode(), slow) for one in events]
    assert SECRET.encode() not in texts_of(data)
