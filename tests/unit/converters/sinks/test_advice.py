"""Advice as text and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

from rblnpb.converters.results import HOST_CLASSES, Advice, AdviceReport, HostShare, HostSplit
from rblnpb.converters.sinks.advice import advice_rows, render_advice_json, render_advice_text
from rblnpb.converters.sinks.data_frames import columns_of
from rblnpb.errors import Finding, Severity

STALL = Advice(
    "host-stall", "the thread that submits pauses", "host", 34_153_985, 20, "aten::mm", "20 of 199 pauses", "look at Python"
)
LOST = Advice(
    "lost-records", "records are missing", "device", None, 1, "", "1 device_slices (buffer full)", "record less at a time"
)
SMALL = Advice("cpu-fallback", "aten::sub runs on the CPU: dtype-not-fp16", "host", 6_000, 4, "m.py:3(f)", "4 calls", "use fp16")
BY_CLASS = {**dict.fromkeys(HOST_CLASSES, 0), "dispatch": 14_500, "checks": 4_000}
SPLIT = HostSplit(60_000, 18_500, BY_CLASS, (HostShare(1, 42, "main", 18_500, BY_CLASS),))
REPORT = AdviceReport(("a.pb", "t.json"), 82_168_454, 82_168, (STALL, LOST), (SMALL,), SPLIT, ())


def test_text() -> None:
    assert render_advice_text(REPORT) == (
        "Advice: 2 things to look at\n"
        "  a.pb + t.json\n"
        "  window 82.168 ms; costs below 82.168 µs are not worth advice\n"
        "\n"
        "1. 34.154 ms of the host, 20 times: the thread that submits pauses [host-stall]\n"
        "   at aten::mm\n"
        "   20 of 199 pauses\n"
        "   -> look at Python\n"
        "\n"
        "2. cost not known, once: records are missing [lost-records]\n"
        "   1 device_slices (buffer full)\n"
        "   -> record less at a time\n"
        "\n"
        "Below the threshold:\n"
        "  6.000 µs, 4 times: aten::sub runs on the CPU: dtype-not-fp16 [cpu-fallback]\n"
        "\n"
        "Host time: 18.500 µs in operators, ranges and calls, in a window of 60.000 µs\n"
        "Spent on        time    share   what it is\n"
        "────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────\n"
        "dispatch   14.500 µs   78.4 %   operators themselves: what is none of the following\n"
        "checks      4.000 µs   21.6 %   scans of inputs for NaN and infinity ahead of an operator, with the copies made for them\n"
        "\n"
        "Findings: none\n"
    )


def test_text_without_advice_and_without_a_trace() -> None:
    finding = Finding(Severity.INFO, "no-host-trace", "there is no host trace")
    report = AdviceReport(("a.pb",), 1_000, 10_000, (), (), None, (finding,))
    assert render_advice_text(report) == (
        "Advice: nothing to look at\n"
        "  a.pb\n"
        "  window 1.000 µs; costs below 10.000 µs are not worth advice\n"
        "\n"
        "Findings: 1\n"
        "  INFO    there is no host trace [no-host-trace]\n"
    )


def test_long_sentences_fold_at_their_indent() -> None:
    lines = render_advice_text(replace(REPORT, advice=(replace(STALL, advice="a " * 60),)), width=80).splitlines()
    folded = [line for line in lines if line.startswith("   ") and set(line) <= set(" a->")]
    assert len(folded) == 2
    assert max(map(len, folded)) <= 80


def test_several_threads_are_a_row_each() -> None:
    share = SPLIT.threads[0]
    threads = tuple(replace(share, tid=tid, name="") for tid in range(12))
    text = render_advice_text(replace(REPORT, host_split=replace(SPLIT, threads=threads)))
    lines = text.splitlines()
    begin = lines.index("Thread        time   spent on")
    assert lines[begin + 2 : begin + 13] == [
        *(f"{tid}        18.500 µs   dispatch 78.4 %, checks 21.6 %" for tid in range(10)),
        "  2 more threads",
    ]


def test_json() -> None:
    by_class = {f"{name}_ns": time_ns for name, time_ns in BY_CLASS.items()}
    assert json.loads(render_advice_json(REPORT)) == {
        "schema": "rblnpb.advise/1",
        "sources": ["a.pb", "t.json"],
        "window_ns": 82_168_454,
        "threshold_ns": 82_168,
        "advice": [
            {
                "code": "host-stall",
                "title": "the thread that submits pauses",
                "side": "host",
                "cost_ns": 34_153_985,
                "count": 20,
                "place": "aten::mm",
                "evidence": "20 of 199 pauses",
                "advice": "look at Python",
            },
            {
                "code": "lost-records",
                "title": "records are missing",
                "side": "device",
                "cost_ns": None,
                "count": 1,
                "place": "",
                "evidence": "1 device_slices (buffer full)",
                "advice": "record less at a time",
            },
        ],
        "below_threshold": [
            {
                "code": "cpu-fallback",
                "title": "aten::sub runs on the CPU: dtype-not-fp16",
                "side": "host",
                "cost_ns": 6_000,
                "count": 4,
                "place": "m.py:3(f)",
                "evidence": "4 calls",
                "advice": "use fp16",
            }
        ],
        "host_split": {
            "window_ns": 60_000,
            "total_ns": 18_500,
            **by_class,
            "threads": [{"pid": 1, "tid": 42, "name": "main", "total_ns": 18_500, **by_class}],
        },
        "findings": [],
    }


def test_json_without_a_trace_has_no_split() -> None:
    assert json.loads(render_advice_json(replace(REPORT, host_split=None)))["host_split"] is None


def test_data_frames_have_a_row_for_each_piece_of_advice_and_say_which_are_below_the_threshold() -> None:
    columns = columns_of(*advice_rows(REPORT))
    assert list(columns) == ["part", "code", "title", "side", "cost_ns", "count", "place", "evidence", "advice"]
    assert columns["part"] == ("text", ["advice", "advice", "below-threshold"])
    assert columns["cost_ns"] == ("number", [STALL.cost_ns, LOST.cost_ns, SMALL.cost_ns])


def test_data_frames_without_advice_have_the_same_types() -> None:
    columns = columns_of(*advice_rows(AdviceReport(("a.pb",), 0, 0, (), (), None, ())))
    assert [name for name, (kind, _) in columns.items() if kind == "number"] == ["cost_ns", "count"]
