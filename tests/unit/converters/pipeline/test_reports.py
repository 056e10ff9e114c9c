"""Status and contents, from files."""

from __future__ import annotations

import json
from pathlib import Path

import rblnpb
from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import explained_status, show_file, status
from rblnpb.profile import Session
from tests.support.vendor_traces import Launch, device_profile, document, host_trace, op

RUN = (Launch(1, 1500, 2500),)


def write(path: Path, *session_ids: int, cut: int = 0) -> str:
    """A file with one session for each id, cut at its end."""
    parts = []
    for session_id in session_ids:
        one = path.with_name(f"one_{session_id}")
        rblnpb.write(device_profile(RUN, session=Session(session_id=session_id)), one)
        parts.append(one.read_bytes())
        one.unlink()
    data = b"".join(parts)
    path.write_bytes(data[: len(data) - cut])
    return str(path)


def test_the_status_is_text_and_json() -> None:
    found = status(merge(device_profile(RUN), host_trace([op("aten::mm", 1000, 2000)])))
    assert str(found) == found.text()
    assert found.text().startswith("Profile status: OK\n")
    value = json.loads(found.to_json())
    assert (value["schema"], value["verdict"], value["counts"]["launches_matched"]) == ("rblnpb.status/1", "ok", 1)


def test_contents_of_a_profile_of_a_trace_and_of_several_sessions(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_bytes(document([op("aten::mm", 1000, 2000)]))
    one = show_file(write(tmp_path / "a.pb", 7))
    two = show_file(write(tmp_path / "b.pb", 7, 9))
    trace = show_file(tmp_path / "trace.json")
    assert list(one.values)[:3] == ["file", "format", "session"]
    assert list(two.values) == ["file", "format", "sessions"]
    assert [session["session"]["id"][-1] for session in json.loads(two.to_json())["sessions"]] == ["7", "9"]
    assert str(trace.values["format"]).startswith("host trace")
    assert one.text().startswith(f"file: {tmp_path / 'a.pb'}\nformat: rblnpb profile, schema 1.0\nsession:\n")


def test_a_dump_alone_has_counts_and_no_verdict(tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_text('{"hidden_host_bounce": {"by_site": {}}, "dispatch": {"cpu_fallback": 2, "recompile_miss": 0}}')
    found = explained_status(path)
    total = {"kind": "cpu_fallback", "count": 2, "size_bytes": None, "duration_ns": None, "ops": [], "reasons": []}
    expected = {"schema": "rblnpb.explained/1", "sources": [str(path)], "explained": [total], "findings": []}
    assert json.loads(found.to_json()) == expected
    assert [line.split() for line in found.text(300).splitlines()] == [
        ["As", "the", "runtime", "counted", "it:", str(path)],
        [],
        ["Hidden", "work", "count", "bytes", "time", "first", "at"],
        ["\u2500" * len(found.text(300).splitlines()[3])],
        ["cpu_fallback", "2"],
    ]
