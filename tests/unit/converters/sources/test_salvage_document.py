"""Text that is made to take long or to fill the memory: it is read to its end, or refused with the limit."""

from __future__ import annotations

import gzip
import io
from random import Random

import pytest

from rblnpb.converters.sources.kineto import read_host
from rblnpb.errors import FormatError, NotAProfileError
from tests.support.broken_traces import event

HEAD = b'{"traceEvents": [' + event(0)


@pytest.mark.parametrize("byte", [b"{", b"[", b'"', b"\\", b",", b"}", b"]", b"\xff", b"0"])
def test_a_mebibyte_of_one_byte_takes_no_event_that_is_whole(byte: bytes) -> None:
    host = read_host(io.BytesIO(HEAD + b"," + byte * (1 << 20)))

    assert [host.strings[row] for row in host.events.name] == ["e0"]
    assert {finding.code for finding in host.findings} & {"lost-events", "lost-text", "cut-short", "odd-commas", "odd-brackets"}


def test_an_event_that_is_nested_too_deep_is_lost_and_no_other() -> None:
    deep = b',{"ph":"X","a":' + b"[" * 100_000 + b"]" * 100_000 + b"},"
    host = read_host(io.BytesIO(HEAD + deep + event(1) + b"]}"))

    assert [host.strings[row] for row in host.events.name] == ["e0", "e1"]
    assert "nested deeper than 500" in next(finding.message for finding in host.findings if finding.code == "lost-events")


@pytest.mark.parametrize(
    "text", [bytes(1 << 20) + Random(1).randbytes(4 << 20), b'x "traceEvents": [{"ph":"X"}', b'x "traceEvents": [1']
)
def test_what_begins_without_a_bracket_is_no_trace_and_read_no_further(text: bytes) -> None:
    progress: list[int] = []
    packed = gzip.compress(text, 1)

    with pytest.raises(NotAProfileError, match="expected a trace in JSON"):
        read_host(io.BytesIO(packed), progress=lambda done, _: progress.append(done))
    assert progress[-1] < max(len(packed) // 10, 1000)


def test_gzip_data_that_is_made_to_fill_the_memory_is_refused() -> None:
    with pytest.raises(FormatError, match="over 1,000 times as much"):
        read_host(io.BytesIO(gzip.compress(HEAD + b" " * (20 << 20), 9)))


LOST = b',{"ph":"X","name":"b"q",:"ts":2,"dur":1},'
BASE = b'"baseTimeNanoseconds": 1790000000000000000'


@pytest.mark.parametrize(
    ("tail", "codes"),
    [
        (BASE + b',"traceName": "a"b"c"}', ["lost-events", "lost-text"]),
        (b'"traceName": "a"b"c",' + BASE + b"}", ["lost-events", "lost-text"]),
        (BASE + b',"x": [1,2', ["lost-events", "cut-short"]),
        (BASE + b',"deviceProperties":[{"id":0}],"traceName":"x', ["lost-events", "cut-short"]),
        (b'"distributedInfo":{"pg":[{"name":"a"}]},' + BASE + b',"traceName":"x', ["lost-events", "cut-short"]),
        (BASE + b',"x":{"id":3},"traceName":"x"y"}', ["lost-events", "lost-text"]),
    ],
)
def test_what_is_broken_behind_the_events_is_their_end_behind_a_lost_event_too(tail: bytes, codes: list[str]) -> None:
    host = read_host(io.BytesIO(HEAD + LOST + event(1) + b"]," + tail))

    assert [host.strings[row] for row in host.events.name] == ["e0", "e1"]
    assert (host.base_time_ns, [finding.code for finding in host.findings]) == (1_790_000_000_000_000_000, codes)


def test_a_bracket_too_many_behind_a_lost_event_ends_nothing_where_events_go_on() -> None:
    host = read_host(io.BytesIO(HEAD + LOST + event(1) + b'],"a": ]},' + event(2) + b"]}"))

    assert [host.strings[row] for row in host.events.name] == ["e0", "e1", "e2"]
    assert {finding.code: finding.count for finding in host.findings} == {"lost-events": 1, "lost-text": 1, "no-base-time": 1}
