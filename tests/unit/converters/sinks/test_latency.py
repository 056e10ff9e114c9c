"""Latency as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np

from rblnpb.converters.results import Distribution, Latency, LatencyFigures, LatencyGroup, QueueUse
from rblnpb.converters.sinks.latency import render_latency_csv, render_latency_json, render_latency_text
from rblnpb.errors import Finding, Severity

NONE = Distribution(0, 0, *[None] * 6)
VALUES = Distribution(4, 11_100, 2_775, 0, 1_000, 9_100, 9_100, 9_100)
FIGURES = LatencyFigures(VALUES, -100, 1, 1, 9_000, 2_100)
QUEUE = QueueUse("", 4, 2, 0.7625, 40_000, 30_500, (18_500, 12_500, 9_000), np.array([6, 9]), np.array([1, 0]))
LATENCY = Latency(
    sources=("a.pb", "t.json"),
    launch_count=5,
    launches_without_work=1,
    slices_without_launch=2,
    uncertainty_ns=812,
    total=FIGURES,
    waiting=Distribution(4, 9_000, 2_250, 0, 0, 9_000, 9_000, 9_000),
    submission=Distribution(4, 2_100, 525, 0, 100, 1_000, 1_000, 1_000),
    programs=(LatencyGroup("mm", "0/0", None, None, FIGURES), LatencyGroup("", "", None, None, FIGURES)),
    threads=(LatencyGroup("main", "", 1, 42, FIGURES),),
    queue=QUEUE,
    queues=(replace(QUEUE, device="rbln:0"),),
    is_serialised=False,
    findings=(Finding(Severity.WARNING, "clock-skew", "clocks do not fit", 2),),
)
NOTHING = replace(
    LATENCY,
    sources=("t.json",),
    launch_count=0,
    launches_without_work=0,
    slices_without_launch=0,
    uncertainty_ns=None,
    total=LatencyFigures(NONE, None, 0, 0, 0, 0),
    waiting=NONE,
    submission=NONE,
    programs=(),
    threads=(),
    queue=QueueUse("", 0, 0, 0.0, 0, 0, (0,), np.empty(0, np.int64), np.empty(0, np.int64)),
    queues=(),
    findings=(),
)


def test_text() -> None:
    assert render_latency_text(LATENCY) == (
        "Submission latency: from the launch to its first work (±812 ns)\n"
        "  a.pb + t.json\n"
        "  4 launches\n"
        "\n"
        "        latency   behind earlier launches   submission\n"
        "──────────────────────────────────────────────────────\n"
        "mean   2.775 µs                  2.250 µs       525 ns\n"
        "min        0 ns                      0 ns         0 ns\n"
        "p50    1.000 µs                      0 ns       100 ns\n"
        "p90    9.100 µs                  9.000 µs     1.000 µs\n"
        "p99    9.100 µs                  9.000 µs     1.000 µs\n"
        "max    9.100 µs                  9.000 µs     1.000 µs\n"
        "\n"
        "  Waited behind earlier launches: 1 of 4, 9.000 µs of 11.100 µs\n"
        "  Device first: 1 of 4, by up to 100 ns; they count as 0\n"
        "  Left out: 1 of 5 launches, of which no work is known\n"
        "  Left out: 2 slices of work, whose launch is not known\n"
        "\n"
        "Program   launches       mean    min        p50        p90        p99        max     waited\n"
        "───────────────────────────────────────────────────────────────────────────────────────────\n"
        "mm 0/0           4   2.775 µs   0 ns   1.000 µs   9.100 µs   9.100 µs   9.100 µs   9.000 µs\n"
        "unknown          4   2.775 µs   0 ns   1.000 µs   9.100 µs   9.100 µs   9.100 µs   9.000 µs\n"
        "\n"
        "Queue    longest    mean        time        at 0        at 1       at 2\n"
        "───────────────────────────────────────────────────────────────────────\n"
        "rbln:0         2   0.762   40.000 µs   18.500 µs   12.500 µs   9.000 µs\n"
        "\n"
        "Findings: 1\n"
        "  WARNING clocks do not fit [clock-skew]\n"
    )


def test_text_without_launches() -> None:
    assert render_latency_text(NOTHING) == (
        "Submission latency: from the launch to its first work (not known how exact: no clock of a device was read)\n"
        "  t.json\n"
        "  0 launches\n"
        "\n"
        "       latency   behind earlier launches   submission\n"
        "─────────────────────────────────────────────────────\n"
        "mean\nmin\np50\np90\np99\nmax\n"
        "\n"
        "Findings: none\n"
    )


def test_several_devices_have_a_queue_each_and_one_together() -> None:
    text = render_latency_text(replace(LATENCY, queues=(replace(QUEUE, device="rbln:0"), replace(QUEUE, device="rbln:1"))))
    assert [line.split()[0] for line in text.splitlines() if line.endswith("9.000 µs") and " 40.000 µs " in line] == [
        "rbln:0",
        "rbln:1",
        "all",
    ]


def test_long_queues_are_summed_up() -> None:
    long = replace(QUEUE, device="rbln:0", max_length=5, time_at_length_ns=(1, 2, 3, 4, 5, 6))
    (row,) = [line for line in render_latency_text(replace(LATENCY, queues=(long,))).splitlines() if line.startswith("rbln:0")]
    assert row.split()[-10:] == ["1", "ns", "2", "ns", "3", "ns", "4", "ns", "11", "ns"]


def test_many_programs_are_cut_short() -> None:
    many = tuple(LatencyGroup(f"p{at}", "", None, None, FIGURES) for at in range(25))
    lines = render_latency_text(replace(LATENCY, programs=many)).splitlines()
    assert [line.split() for line in lines if line.startswith(("p19", "p20", "5 more"))] == [
        ["p19", "4", *["2.775", "µs", "0", "ns", "1.000", "µs", "9.100", "µs", "9.100", "µs", "9.100", "µs", "9.000", "µs"]],
        ["5", "more", "20"],
    ]


def test_a_narrow_terminal_has_room_for_fewer_figures() -> None:
    lines = render_latency_text(LATENCY, width=70).splitlines()
    assert "Program   launches        p50        p99        max     waited" in lines
    assert "  Left out for want of width: mean, min, p90 (--format json has all)" in lines
    assert max(map(len, lines)) <= 70


def test_json() -> None:
    figures = {
        "count": 4,
        "sum_ns": 11_100,
        "mean_ns": 2_775,
        "min_ns": 0,
        "p50_ns": 1_000,
        "p90_ns": 9_100,
        "p99_ns": 9_100,
        "max_ns": 9_100,
        "least_ns": -100,
        "n_negative": 1,
        "waited_count": 1,
        "waiting_ns": 9_000,
        "submission_ns": 2_100,
    }
    queue = {
        "device": "",
        "launch_count": 4,
        "max_length": 2,
        "mean_length": 0.7625,
        "span_ns": 40_000,
        "length_time_ns": 30_500,
        "time_at_length": [
            {"length": 0, "time_ns": 18_500},
            {"length": 1, "time_ns": 12_500},
            {"length": 2, "time_ns": 9_000},
        ],
    }
    assert json.loads(render_latency_json(LATENCY)) == {
        "schema": "rblnpb.latency/1",
        "sources": ["a.pb", "t.json"],
        "counts": {"launches": 5, "launches_without_work": 1, "slices_without_launch": 2},
        "uncertainty_ns": 812,
        "latency": figures,
        "waiting": dict(zip(figures, [4, 9_000, 2_250, 0, 0, 9_000, 9_000, 9_000], strict=False)),
        "submission": dict(zip(figures, [4, 2_100, 525, 0, 100, 1_000, 1_000, 1_000], strict=False)),
        "programs": [{"program": "mm", "compile_id": "0/0", **figures}, {"program": "", "compile_id": "", **figures}],
        "threads": [{"pid": 1, "tid": 42, "name": "main", **figures}],
        "queue": queue,
        "queues": [{**queue, "device": "rbln:0"}],
        "is_serialised": False,
        "findings": [{"severity": "warning", "code": "clock-skew", "message": "clocks do not fit", "count": 2, "where": ""}],
    }


def test_the_series_is_told_on_request() -> None:
    queue = json.loads(render_latency_json(LATENCY, series=True))["queue"]
    assert queue["series"] == {"time_ns": [6, 9], "length": [1, 0]}


def test_json_without_launches_has_no_values() -> None:
    found = json.loads(render_latency_json(NOTHING))
    assert (found["latency"]["count"], found["latency"]["p50_ns"], found["latency"]["least_ns"]) == (0, None, None)


def test_csv() -> None:
    numbers = "4,11100,2775,0,1000,9100,9100,9100,-100,1,1,9000,2100"
    assert render_latency_csv(LATENCY) == (
        "group,name,compile_id,pid,tid,count,sum_ns,mean_ns,min_ns,p50_ns,p90_ns,p99_ns,max_ns,least_ns,n_negative,"
        "waited_count,waiting_ns,submission_ns\n"
        f"all,,,,,{numbers}\n"
        f"program,mm,0/0,,,{numbers}\n"
        f"program,,,,,{numbers}\n"
        f"thread,main,,1,42,{numbers}\n"
    )


def test_a_carriage_return_in_any_cell_of_csv_is_quoted() -> None:
    latency = replace(LATENCY, programs=(LatencyGroup("mm", "0\r1", None, None, FIGURES),), threads=())

    assert list(csv.reader(io.StringIO(render_latency_csv(latency), newline="")))[2][:3] == ["program", "mm", "0\r1"]
