"""Idle time as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from rblnpb.converters.results import (
    CAUSES,
    CauseTime,
    DeviceOccupancy,
    EngineOccupancy,
    Gap,
    GapColumns,
    GapPart,
    GapTable,
    IdleReport,
    KindOccupancy,
    NamedTime,
    Occupancy,
    ProgramOccupancy,
    SliceRef,
)
from rblnpb.converters.sinks.idle import render_idle_csv, render_idle_json, render_idle_text
from rblnpb.errors import Finding, Severity
from tests.support.gap_tables import listed


def json_of(report: IdleReport) -> bytes:
    return b"".join(render_idle_json(report))


def csv_of(report: IdleReport) -> str:
    return "".join(render_idle_csv(report))


ALL = Occupancy(slice_count=4, busy_ns=2_000, idle_ns=6_000, span_ns=8_000, sum_ns=3_000)
LAUNCHED = Occupancy(slice_count=3, busy_ns=1_500, idle_ns=500, span_ns=2_000, sum_ns=1_500)
CAUSE_TIMES = (
    CauseTime(
        "waiting-for-host",
        4_000,
        2,
        70,
        {"before-op": 3_000, "inside-op": 1_000},
        (NamedTime("", 2_500), NamedTime("aten::mm", 1_500)),
    ),
    CauseTime("submission", 2_000, 1, 35, {"on-its-way": 2_000}, (NamedTime("mm", 2_000),)),
)
LAUNCH = {"program": "mm", "launch_id": 7, "submitted_ns": 1_004_000, "pid": 1, "tid": 2}
PARTS = (
    GapPart(
        "waiting-for-host",
        3_000,
        35,
        {
            "op": "aten::mm",
            "op_ns": 1_500,
            "python_frames": ("<built-in method add>", "a.py(3): f", "b.py(9): g"),
            "steps_ns": {"before-op": 2_000, "inside-op": 1_000},
            **LAUNCH,
        },
    ),
    GapPart("submission", 2_000, 35, {"latency_ns": 2_000, "steps_ns": {"on-its-way": 2_000}, **LAUNCH}),
)
GAP = Gap(
    device="rbln:0",
    engine="",
    start_ns=1_000_500,
    duration_ns=5_000,
    cause="waiting-for-host",
    uncertainty_ns=35,
    evidence=PARTS[0].evidence,
    after=SliceRef("i1_0_W0_mm_0", "Task DMA", "mm", 6),
    before=SliceRef("=i1_1_W0_mm_0", "Task DMA", "mm", 7),
    inside_program=None,
    parts=PARTS,
)
REPORT = IdleReport(
    sources=("a.pb", "t.json"),
    by="device",
    min_gap_ns=1_000,
    all=ALL,
    launched_in_window=LAUNCHED,
    devices=(DeviceOccupancy("rbln:0", ALL, LAUNCHED, 1_000_000, 1_008_000, 3, 1_000, 5_000, 35, CAUSE_TIMES),),
    kinds=(KindOccupancy("rbln:0", "task_dma", 2, ALL),),
    engines=(EngineOccupancy("rbln:0", "Task DMA", "task_dma", ALL),),
    programs=(ProgramOccupancy("rbln:0", "mm", "0/0", 2, Occupancy(4, 2_000, 1_000, 3_000, 3_000)),),
    causes=CAUSE_TIMES,
    gap_count=3,
    gaps=listed(GAP),
    findings=(Finding(Severity.INFO, "serialised", "recording waited"),),
)
NOTHING = Occupancy(0, 0, 0, 0, 0)
EMPTY = IdleReport(("t.json",), "device", 1_000, NOTHING, NOTHING, (), (), (), (), (), 0, listed(), ())


TEXT = """\
Device idle: 6.000 µs of 8.000 µs (75.0 %)
  a.pb + t.json

                              busy   busy %       idle       span        sum   concurrency   slices
───────────────────────────────────────────────────────────────────────────────────────────────────
rbln:0                    2.000 µs   25.0 %   6.000 µs   8.000 µs   3.000 µs          1.50        4
  launched in the trace   1.500 µs   75.0 %     500 ns   2.000 µs   1.500 µs          1.00        3
  Task DMA (2 engines)    2.000 µs   25.0 %   6.000 µs   8.000 µs   3.000 µs          1.50        4

Cause              most of it                                 idle     share       ±   gaps
───────────────────────────────────────────────────────────────────────────────────────────
waiting-for-host   in no op 2.500 µs, aten::mm 1.500 µs   4.000 µs    66.7 %   70 ns      2
  before-op                                               3.000 µs    50.0 %
  inside-op                                               1.000 µs    16.7 %
submission         mm 2.000 µs                            2.000 µs    33.3 %   35 ns      1
  on-its-way                                              2.000 µs    33.3 %
all                                                       6.000 µs   100.0 %

Inside the calls of   calls       busy   busy %       idle       span
─────────────────────────────────────────────────────────────────────
mm 0/0                    2   2.000 µs   66.7 %   1.000 µs   3.000 µs
  rbln:0: of 6.000 µs idle, 5.000 µs between calls, 1.000 µs inside

Longest gaps: 1 of 3
from      for        ±       between, and why
──────────────────────────────────────────────────────────────────────────────────────────────────────────────
+500 ns   5.000 µs           i1_0_W0_mm_0 .. =i1_1_W0_mm_0
          3.000 µs   35 ns     waiting-for-host: aten::mm 1.500 µs; in <built-in method add> <- a.py(3): f;
                             before-op 2.000 µs, inside-op 1.000 µs; thread 2
          2.000 µs   35 ns     submission: on-its-way

Findings: 1
  INFO    recording waited [serialised]
"""
NO_WORK = """\
Device idle: 0 ns of 0 ns
  t.json

              busy   busy %   idle   span    sum   concurrency   slices
───────────────────────────────────────────────────────────────────────
all devices   0 ns            0 ns   0 ns   0 ns                      0

Findings: none
"""


def test_the_text_sums_up_then_tells_causes_programs_and_gaps() -> None:
    assert render_idle_text(REPORT, width=110) == TEXT


def test_without_device_work_there_is_a_valid_report() -> None:
    assert render_idle_text(EMPTY) == NO_WORK
    assert json.loads(json_of(EMPTY))["gaps"] == []
    assert csv_of(EMPTY).count("\n") == 1


def test_json_has_integers_with_their_unit_in_the_key() -> None:
    occupancy = {"slice_count": 4, "busy_ns": 2_000, "idle_ns": 6_000, "span_ns": 8_000, "sum_ns": 3_000}
    launched = {"slice_count": 3, "busy_ns": 1_500, "idle_ns": 500, "span_ns": 2_000, "sum_ns": 1_500}
    causes = {
        "waiting-for-host": {
            "idle_ns": 4_000,
            "count": 2,
            "uncertainty_ns": 70,
            "steps_ns": {"before-op": 3_000, "inside-op": 1_000},
            "names": [{"name": "", "idle_ns": 2_500}, {"name": "aten::mm", "idle_ns": 1_500}],
        },
        "submission": {
            "idle_ns": 2_000,
            "count": 1,
            "uncertainty_ns": 35,
            "steps_ns": {"on-its-way": 2_000},
            "names": [{"name": "mm", "idle_ns": 2_000}],
        },
    }
    parts = [
        {
            "cause": "waiting-for-host",
            "duration_ns": 3_000,
            "uncertainty_ns": 35,
            "evidence": {
                "op": "aten::mm",
                "op_ns": 1_500,
                "python_frames": ["<built-in method add>", "a.py(3): f", "b.py(9): g"],
                "steps_ns": {"before-op": 2_000, "inside-op": 1_000},
                **LAUNCH,
            },
        },
        {
            "cause": "submission",
            "duration_ns": 2_000,
            "uncertainty_ns": 35,
            "evidence": {"latency_ns": 2_000, "steps_ns": {"on-its-way": 2_000}, **LAUNCH},
        },
    ]
    assert json.loads(json_of(REPORT)) == {
        "schema": "rblnpb.idle/1",
        "sources": ["a.pb", "t.json"],
        "by": "device",
        "min_gap_ns": 1_000,
        "all": occupancy,
        "launched_in_window": launched,
        "devices": [
            {
                "device": "rbln:0",
                **occupancy,
                "launched_in_window": launched,
                "first_ns": 1_000_000,
                "last_ns": 1_008_000,
                "gap_count": 3,
                "inside_calls_ns": 1_000,
                "between_calls_ns": 5_000,
                "uncertainty_ns": 35,
                "causes": causes,
            }
        ],
        "engine_kinds": [{"device": "rbln:0", "kind": "task_dma", "engine_count": 2, **occupancy}],
        "engines": [{"device": "rbln:0", "name": "Task DMA", "kind": "task_dma", **occupancy, "causes": {}}],
        "programs": [
            {
                "device": "rbln:0",
                "program": "mm",
                "compile_id": "0/0",
                "call_count": 2,
                "slice_count": 4,
                "busy_ns": 2_000,
                "idle_ns": 1_000,
                "span_ns": 3_000,
                "sum_ns": 3_000,
            }
        ],
        "causes": causes,
        "bounds": None,
        "gap_count": 3,
        "gaps": [
            {
                "device": "rbln:0",
                "engine": "",
                "start_ns": 1_000_500,
                "duration_ns": 5_000,
                "cause": "waiting-for-host",
                "uncertainty_ns": 35,
                "evidence": parts[0]["evidence"],
                "after": {"name": "i1_0_W0_mm_0", "engine": "Task DMA", "program": "mm", "launch_id": 6},
                "before": {"name": "=i1_1_W0_mm_0", "engine": "Task DMA", "program": "mm", "launch_id": 7},
                "inside_program": None,
                "parts": parts,
            }
        ],
        "findings": [{"severity": "info", "code": "serialised", "message": "recording waited", "count": 1, "where": ""}],
    }


def test_csv_has_a_line_a_gap_whose_causes_add_up_to_its_length() -> None:
    (row,) = csv.DictReader(io.StringIO(csv_of(REPORT)))
    told = {key: value for key, value in row.items() if value not in ("", "0")}
    assert told == {
        "device": "rbln:0",
        "start_ns": "1000500",
        "duration_ns": "5000",
        "cause": "waiting-for-host",
        "uncertainty_ns": "35",
        "after": "i1_0_W0_mm_0",
        "before": "'=i1_1_W0_mm_0",
        "waiting_for_host_ns": "3000",
        "submission_ns": "2000",
        "op": "aten::mm",
        "program": "mm",
        "launch_id": "7",
        "submitted_ns": "1004000",
        "pid": "1",
        "tid": "2",
        "python_frames": "<built-in method add> <- a.py(3): f <- b.py(9): g",
    }
    assert sum(int(row[f"{cause.replace('-', '_')}_ns"]) for cause in CAUSES) == int(row["duration_ns"])


def test_integers_beyond_64_bits_are_texts_in_json() -> None:
    report = replace(REPORT, all=replace(ALL, sum_ns=2**70))
    assert json.loads(json_of(report))["all"]["sum_ns"] == str(2**70)


def test_process_ids_beyond_64_bits_are_texts_in_json() -> None:
    part = replace(PARTS[0], evidence={"pid": 2**70})
    gap = replace(GAP, evidence=part.evidence, parts=(part,))
    assert json.loads(json_of(replace(REPORT, gaps=listed(gap))))["gaps"][0]["evidence"] == {"pid": str(2**70)}


def test_several_devices_are_told_apart() -> None:
    second = replace(REPORT.devices[0], device="rbln:1")
    text = render_idle_text(replace(REPORT, devices=(REPORT.devices[0], second)), width=140)
    assert [line.split()[0] for line in text.splitlines() if line.startswith(("all devices", "rbln:"))] == [
        "all",
        "rbln:0",
        "rbln:1",
        "all",
    ]
    assert "i1_0_W0_mm_0 .. =i1_1_W0_mm_0 on rbln:0" in text


def test_where_nothing_tells_how_well_clocks_were_placed_that_is_said() -> None:
    device = replace(REPORT.devices[0], uncertainty_ns=None)
    causes = tuple(replace(cause, uncertainty_ns=None) for cause in CAUSE_TIMES)
    text = render_idle_text(replace(REPORT, devices=(device,), causes=causes))
    assert "  ± is not known: the input does not tell" in text
    assert "± is not known" not in TEXT


def test_a_long_name_is_cut_in_the_text_alone() -> None:
    gap = replace(GAP, after=replace(GAP.after, name="k" * 61), before=replace(GAP.before, name="b" * 60))
    report = replace(REPORT, gaps=listed(gap))
    assert f"{'k' * 57}... .. {'b' * 60}" in render_idle_text(report, width=200)
    assert "k" * 61 in csv_of(report)


def test_a_gap_inside_a_program_and_of_an_engine_says_so() -> None:
    gap = replace(
        GAP,
        engine="Task DMA",
        inside_program="mm",
        parts=(GapPart("recording-lost", 5_000, None, {"reason": "buffer_full", "lost_count": 1_200}),),
    )
    lines = render_idle_text(replace(REPORT, by="engine", gaps=listed(gap)), width=140).splitlines()
    assert any(line.endswith("i1_0_W0_mm_0 .. =i1_1_W0_mm_0 on Task DMA, inside mm") for line in lines)
    assert any(line.endswith("recording-lost: buffer_full; 1,200 records") for line in lines)


def test_what_is_unknown_within_an_op_names_the_op() -> None:
    part = GapPart("unknown", 5_000, None, {"reason": "submitted within its op", "launching_op": "aten::div", "tid": 3})
    lines = render_idle_text(replace(REPORT, gaps=listed(replace(GAP, parts=(part,)))), width=140).splitlines()
    assert any(line.endswith("unknown: submitted within its op; aten::div; thread 3") for line in lines)


def test_only_the_first_programs_are_shown() -> None:
    programs = tuple(replace(REPORT.programs[0], program=f"p{at}") for at in range(12))
    assert any(line.split()[:3] == ["2", "more", "4"] for line in render_idle_text(replace(REPORT, programs=programs)).splitlines())


def test_text_of_gaps_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def columns(low: int, high: int) -> GapColumns:
        made.append(low)
        return next(listed(*[GAP] * (high - low)).blocks())

    monkeypatch.setattr(GapTable, "BLOCK", 1)
    parts = render_idle_json(replace(REPORT, gaps=GapTable(3, columns)))
    told = [(list(made), b'"start_ns"' in part) for part in parts]
    assert [count for count, has_gap in told if has_gap] == [[0], [0, 1], [0, 1, 2]]
