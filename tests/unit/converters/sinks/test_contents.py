"""What is in a file, for people and for programs."""

from __future__ import annotations

import json

from rblnpb.converters.sinks.contents import render_contents_json, render_contents_text


def test_facts_are_lines_and_nested_ones_are_indented() -> None:
    values = {
        "file": "a.pb",
        "session": {"host_name": "h", "process_id": 123456, "is_complete": True, "rank": 0, "npu": "", "world_size": None},
        "devices": [],
        "finding_count": 1234,
    }
    assert render_contents_text(values) == (
        "file: a.pb\nsession:\n  host name: h\n  process id: 123456\n  is complete: yes\n  rank: 0\nfinding count: 1,234\n"
    )


def test_words_of_the_file_are_shown_as_they_are() -> None:
    values = {"settings": {"RBLN_PROFILER": "1"}, "counts": {"by_category": {"cpu_op": 1000}}, "metadata": {"trace_id": "A"}}
    assert render_contents_text(values) == (
        "settings:\n  RBLN_PROFILER: 1\ncounts:\n  by_category:\n    cpu_op: 1,000\nmetadata:\n  trace_id: A\n"
    )


def test_moments_in_unix_time_are_dates() -> None:
    values = {"started_real_ns": 1_795_962_120_123_000_000, "first_ns": 1_500, "size_bytes": 2048}
    assert render_contents_text(values) == (
        "started real ns: 2026-11-29 14:22:00.123000000 UTC\nfirst ns: 1,500\nsize bytes: 2.00 KiB\n"
    )


def test_rows_of_facts_are_one_line_each() -> None:
    values = {"threads": [{"pid": 4242, "tid": 4243, "name": "worker"}, {"pid": 1, "tid": 2, "name": ""}]}
    assert render_contents_text(values) == "threads: 2\n  pid 4242, tid 4243, name worker\n  pid 1, tid 2\n"


def test_rows_that_hold_more_are_blocks() -> None:
    values = {"sessions": [{"session": {"id": "a"}, "finding_count": 0}, {"session": {"id": "b"}, "finding_count": 2}]}
    assert render_contents_text(values) == (
        "sessions: 2\n  -\n    session:\n      id: a\n    finding count: 0\n  -\n    session:\n      id: b\n    finding count: 2\n"
    )


def test_a_long_list_is_cut_and_says_so() -> None:
    text = render_contents_text({"programs": [{"name": f"p{place}"} for place in range(13)]})
    assert text.splitlines()[-2:] == ["  name p11", "  and 1 more (--format json lists all)"]


def test_json_has_everything_under_its_schema() -> None:
    values = {"file": "a.pb", "programs": [{"name": "p"}] * 13, "session": {"rank": None}}
    assert json.loads(render_contents_json(values)) == {"schema": "rblnpb.show/1", **values}


def test_an_integer_beyond_64_bits_is_text_in_json() -> None:
    rendered = json.loads(render_contents_json({"metadata": {"id": 1 << 64, "ids": [(1 << 64) - 1, -(1 << 63) - 1]}}))
    assert rendered["metadata"] == {"id": "18446744073709551616", "ids": [(1 << 64) - 1, "-9223372036854775809"]}
