"""Host events copied as bytes, with single values exchanged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.sinks._chrome_copy import Change, TableChange, TimeChange, copy_events, replace_member
from rblnpb.converters.timeline import HostTrace
from rblnpb.errors import FormatError
from tests.support.timelines import TextDocument, host_trace

NONE = np.empty(0, np.int64)


def copied(host: HostTrace, *changes: Change, left_out: tuple[int, ...] = ()) -> bytes:
    return b"".join(text for _, text in copy_events(host, changes, np.array(left_out, np.int64)))


def change(key: str, texts: dict[int, bytes], *, is_there: bool = True) -> TableChange:
    return TableChange(key, np.array(sorted(texts), np.int64), list(texts.values()), np.argsort(list(texts)), is_there)


def event(number: int = 0, **members: Any) -> dict[str, Any]:
    return {"ph": "X", "name": f"op {number}", "pid": 1, "tid": 7, "ts": 5, "dur": 2} | members


def test_unchanged_events_are_the_very_bytes() -> None:
    texts = [b'{ "ph":"X",\n\t"name" : "a\\u0041" , "ts":1.50, "dur":2e0 }', b'{"ph":"M"}']
    host = host_trace(event(), {"ph": "M"}, texts=texts, separator=" ,\r\n")

    assert copied(host) == b" ,\r\n".join(texts)


def test_a_document_that_ends_earlier_than_it_did_is_refused() -> None:
    host = host_trace(*map(event, range(3)))
    cut = replace(host, document=TextDocument(b"".join(host.document.blocks())[: int(host.events.offset[2])], name="cut.json"))

    with pytest.raises(FormatError, match=r"^cannot read cut\.json: it is not what it was when it was read first"):
        copied(cut)


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 20])
def test_the_size_of_the_documents_blocks_does_not_matter(block_bytes: int) -> None:
    host = host_trace(*map(event, range(30)), block_bytes=block_bytes)

    assert json.loads(b"[" + copied(host, change("tid", {3: b"8"}), left_out=(0, 5, 29)) + b"]") == [
        event(number, tid=8 if number == 3 else 7) for number in range(30) if number not in (0, 5, 29)
    ]


def test_a_value_changes_and_nothing_around_it() -> None:
    host = host_trace(event(), texts=[b'{"ph": "X", "tid":7 , "args": {"n": 7}}'])

    assert copied(host, change("tid", {0: b"81"})) == b'{"ph": "X", "tid":81 , "args": {"n": 7}}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b'{"tid" : 7}', b'{"tid" : 81}'),
        (b'{"tid":   7}', b'{"tid":   81}'),
        (b'{"tid": "seven, {8}"}', b'{"tid": 81}'),
        (b'{"args": {"tid": 5}, "tid": 7}', b'{"args": {"tid": 5}, "tid": 81}'),
        (b'{"tid": 7, "tid": 9}', b'{"tid": 81, "tid": 81}'),
        (b'{"name": "\\"tid\\": 5", "tid": 7}', b'{"name": "\\"tid\\": 5", "tid": 81}'),
        (b'{"name": "tid", "tid": 7}', b'{"name": "tid", "tid": 81}'),
        (b'{"t\\u0069d": 7}', b'{"t\\u0069d": 81}'),
        (b'{"tid": [1, {"tid": 2}], "ph": "X"}', b'{"tid": 81, "ph": "X"}'),
    ],
)
def test_however_the_member_is_written(text: bytes, expected: bytes) -> None:
    assert copied(host_trace(event(), texts=[text]), change("tid", {0: b"81"})) == expected


def test_a_member_that_is_not_there_comes_first() -> None:
    host = host_trace(event(), texts=[b'{"ph": "X", "args": {"dur": 3}}'])

    assert copied(host, change("dur", {0: b"0"}, is_there=False)) == b'{"dur": 0, "ph": "X", "args": {"dur": 3}}'


def test_times_are_written_in_microseconds() -> None:
    host = host_trace(event(), event(), event())

    times = TimeChange("ts", np.array([0, 2]), np.array([1_734_567, 0, 500_005]), 500_000)

    assert [json.loads(text)["ts"] for text in copied(host, times).split(b",\n  ")] == [1234.567, 5, 0.005]


def test_several_changes_of_one_event_go_together() -> None:
    host = host_trace(event(), texts=[b'{"ts": 5, "tid": 7, "pid": 1}'])

    made = copied(host, change("pid", {0: b"10"}), change("tid", {0: b"70"}), TimeChange("ts", np.array([0]), np.array([0]), 0))

    assert made == b'{"ts": 0.000, "tid": 70, "pid": 10}'


def test_an_event_left_out_takes_the_comma_before_it_along() -> None:
    host = host_trace(event(), event(), event(), texts=[b'{"n":0}', b'{"n":1}', b'{"n":2}'], separator=" , ")

    assert copied(host, left_out=(1,)) == b'{"n":0} , {"n":2}'
    assert copied(host, left_out=(0,)) == b'{"n":1} , {"n":2}'
    assert copied(host, left_out=(2,)) == b'{"n":0} , {"n":1}'
    assert copied(host, left_out=(0, 1, 2)) == b""


def test_elements_that_are_no_events_are_not_copied() -> None:
    host = host_trace(*map(event, range(4)), separator=", null, 5 ,")

    assert json.loads(b"[" + copied(host) + b"]") == [event(number) for number in range(4)]


def test_one_such_element_among_good_commas_is_not_copied() -> None:
    plain = host_trace(*map(event, range(3)), event(9, name="odd,1"), *map(event, range(3)), separator=",{},")
    assert json.loads(b"[" + copied(plain) + b"]")[3] == event(9, name="odd,1")


def test_no_events_no_text() -> None:
    assert copied(host_trace()) == b""


def test_a_member_of_a_document_is_replaced_or_put_in_front() -> None:
    assert replace_member(b'\n{"a": [{"zero": 1}], "zero": 2}', "zero", b"3") == b'\n{"a": [{"zero": 1}], "zero": 3}'
    assert replace_member(b'\n{"a": 1}', "zero", b"3") == b'\n{"zero": 3, "a": 1}'


odd_texts = st.text(st.sampled_from('"\\:{}[],tsid \u00b5\n'), max_size=12)
values = st.integers(-5, 99) | st.floats(0, 9, width=16) | odd_texts | st.none() | st.lists(odd_texts, max_size=2)
members = st.dictionaries(st.sampled_from(["ts", "tid", "args", "name", "pid", "x"]), values, max_size=5)
events = st.lists(
    st.builds(lambda some, args: {"ph": "X", **some, "args": args}, members, members | values), min_size=1, max_size=8
)


@given(
    events,
    st.data(),
    st.integers(1, 60),
    st.sampled_from([(", ", ": "), (",", ":"), (" ,\n", " :  ")]),
    st.booleans(),
)
def test_it_is_the_same_as_changing_the_values_and_printing_them(
    events: list[dict[str, Any]], data: st.DataObject, block_bytes: int, separators: tuple[str, str], is_ascii: bool
) -> None:
    texts = [json.dumps(item, separators=separators, ensure_ascii=is_ascii).encode() for item in events]
    host = host_trace(*({"ph": "X"} for _ in events), texts=texts, block_bytes=block_bytes, separator=separators[0])
    rows = st.integers(0, len(events) - 1)
    left_out = sorted(data.draw(st.sets(rows)))
    changes, expected = [], [dict(item) for item in events]
    for key in ("ts", "tid"):
        changed = sorted(data.draw(st.sets(rows)) - set(left_out))
        if changed:
            # What is there decides how it is sought; saying "perhaps not" must always be right.
            is_there = all(key in events[row] for row in changed)
            changes.append(change(key, {row: b"%d" % (1000 + row) for row in changed}, is_there=is_there))
        for row in changed:
            expected[row][key] = 1000 + row

    made = json.loads(b"[" + copied(host, *changes, left_out=tuple(left_out)) + b"]")

    assert made == [item for row, item in enumerate(expected) if row not in left_out]
