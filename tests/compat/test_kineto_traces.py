"""Real traces read like the slow reader does, and what is said of a real one that is broken."""

from __future__ import annotations

import json

import pytest

from rblnpb.converters.sources.kineto import read_host
from rblnpb.errors import FormatError, Severity
from tests.support.json_events import events_of, slow_events
from tests.support.shared_traces import SHARED, shared_file


def real_traces() -> list[str]:
    """Every trace beside the repository, odd_names aside, which is no JSON."""
    names = [str(path.relative_to(SHARED)) for path in sorted(SHARED.glob("traces/**/*.json*"))]
    results = ("rows", "events.", "expected_", "meta.", "launches", "odd_names")
    return [name for name in names if not any(part in name for part in results)]


@pytest.mark.parametrize("name", real_traces())
def test_real_traces_are_read_like_the_slow_reader_does(name: str) -> None:
    path = shared_file(name)
    trace = read_host(path)

    document = b"".join(trace.document.blocks())
    assert events_of(trace) == slow_events(document)
    assert document.startswith(trace.head)
    assert document.endswith(trace.tail)
    assert [finding.severity for finding in trace.findings if finding.severity > Severity.INFO] == []


def test_a_real_trace_with_a_bare_quote_names_the_place() -> None:
    path = shared_file("traces", "host", "odd_names", "trace.json")

    with pytest.raises(FormatError, match=r"at byte 8906 \(line 474, column 20\): the JSON is broken"):
        read_host(path, strict=True)


def test_a_real_trace_with_a_bare_quote_loses_one_event() -> None:
    path = shared_file("traces", "host", "odd_names", "trace.json")
    trace = read_host(path)

    whole = path.read_bytes()
    at = whole.index(b'"quote"d"')
    start, end = whole.rindex(b"{", 0, at), whole.index(b'{\n    "ph"', at)
    assert [(finding.code, finding.count, finding.where) for finding in trace.findings] == [("lost-events", 1, "")]
    assert events_of(trace) == slow_events(b"".join(trace.document.blocks()))
    assert json.loads(b"".join(trace.document.blocks())) == json.loads(whole[:start] + whole[end:])
