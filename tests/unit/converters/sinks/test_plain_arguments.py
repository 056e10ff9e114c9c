"""The args of events are found by their braces as a parser finds them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.event_blocks import EventBlock
from rblnpb.converters.sinks._plain_arguments import argument_texts, quick_argument_texts

EVENTS = (
    b'{"ph":"X","args": {"a": 1}}',
    b'{"ph":"X","args":{"a":[1,2]}}',
    b'{"ph":"X","args": {\n      "a": "x"\n    }\n  }',
    b'{"ph":"s","id":1}',
    b'{"args": {"a": {"b": 1}}}',
    b'{"args": {"a": "}"}}',
    b'{"name":"{","args": {"a": 1}}',
    b'{"args": {"a": 1}, "id": 5}',
    b'{"args": {"a": 1},"args":5}',
    b'{"args": [1]}',
    b'{"\\u0061rgs": 7}',
    b'{"\\u0061rgs": {}}',
    b'{"more": {"args": 5}}',
    b'{"args": {}}',
    b'{"args" : {"a": 1}}',
    b'{"xargs":{"a": 1}}',
    b"{}",
)


def block(events: list[bytes], separator: bytes = b",\n") -> EventBlock:
    sizes = np.array(list(map(len, events)), np.int64)
    start = np.cumsum(sizes + len(separator)) - sizes - len(separator)
    return EventBlock(separator.join(events), 0, start, start + sizes)


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_among_plain_ones(event: bytes) -> None:
    one = block([EVENTS[0]] * 20 + [event] + [EVENTS[1]] * 20)

    assert [bytes(text) for text in quick_argument_texts(one)] == [bytes(text) for text in argument_texts(one)]


@given(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=40), st.sampled_from([b",", b", null, 7,\n"]))
def test_args_are_those_that_a_parser_finds(events: list[bytes], separator: bytes) -> None:
    one = block(events, separator)

    assert [bytes(text) for text in quick_argument_texts(one)] == [bytes(text) for text in argument_texts(one)]


def test_no_event_has_no_args() -> None:
    assert list(quick_argument_texts(EventBlock(b"", 0, np.empty(0, np.int64), np.empty(0, np.int64)))) == []
