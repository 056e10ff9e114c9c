"""Reports of checks, as text, JSON and a table."""

from __future__ import annotations

import json

from rblnpb.converters.results import CheckReport, Place, PlacedFinding
from rblnpb.converters.sinks.checks import render_checks_csv, render_checks_json, render_checks_text
from rblnpb.errors import Finding, Severity

FOUND = (
    PlacedFinding(Finding(Severity.ERROR, "unknown-clock", "records tick on clock 17", 3, "device_slices")),
    PlacedFinding(
        Finding(Severity.WARNING, "crossing-slices", "4 slices cross", 4),
        (Place("events", 7, 'a "b"\n', 3_500, 1_234), Place("events", 9, "x" * 70, 500), Place("events", 11)),
    ),
    PlacedFinding(Finding(Severity.INFO, "one-snapshot", "offset only"), (Place("launches", 0, "mm", 1_000),)),
)
REPORT = CheckReport("a.pb", FOUND, 1_000)
CLEAN = CheckReport("b.pb", ())


def test_a_block_for_each_severity() -> None:
    assert render_checks_text([REPORT]) == (
        "a.pb: error (1 error, 1 warning, 1 info)\n"
        "\n"
        "Errors: numbers are wrong, or much is missing\n"
        "  device_slices: records tick on clock 17 [unknown-clock]\n"
        "\n"
        "Warnings: numbers are bounds, or viewers leave something out\n"
        "  4 slices cross [crossing-slices]\n"
        '      events[7] "a \\"b\\"\\n", +2.500 µs, byte 1,234\n'
        f'      events[9] "{"x" * 59}…", -500 ns\n'
        "      events[11]\n"
        "      and 1 more\n"
        "\n"
        "Info: worth knowing, every number stands as it is\n"
        "  offset only [one-snapshot]\n"
        '      launches[0] "mm", +0 ns\n'
    )


def test_without_findings_the_verdict_stands_alone() -> None:
    assert render_checks_text([CLEAN, CLEAN]) == "b.pb: ok\nb.pb: ok\n"


def test_files_stand_apart_and_messages_fold() -> None:
    one = CheckReport("c.pb", (PlacedFinding(Finding(Severity.INFO, "x", "one two three four five six")),))
    assert render_checks_text([one, CLEAN], width=24) == (
        "c.pb: ok (1 info)\n\nInfo: worth knowing, every number stands as it is\n  one two three four\n  five six [x]\n\nb.pb: ok\n"
    )


def test_json_of_one_file() -> None:
    text = render_checks_json([REPORT])
    value = json.loads(text)
    assert text.endswith(b"}\n")
    assert [value[key] for key in ("schema", "file", "verdict", "counts")] == [
        "rblnpb.check/1",
        "a.pb",
        "error",
        {"error": 1, "warning": 1, "info": 1},
    ]
    assert value["findings"][1] == {
        "severity": "warning",
        "code": "crossing-slices",
        "message": "4 slices cross",
        "count": 4,
        "where": "",
        "places": [
            {"table": "events", "row": 7, "name": 'a "b"\n', "start_ns": 3500, "offset": 1234},
            {"table": "events", "row": 9, "name": "x" * 70, "start_ns": 500, "offset": None},
            {"table": "events", "row": 11, "name": "", "start_ns": None, "offset": None},
        ],
    }


def test_json_of_several_files_has_the_sum_and_each() -> None:
    value = json.loads(render_checks_json([REPORT, CLEAN]))
    assert (value["verdict"], value["counts"]) == ("error", {"error": 1, "warning": 1, "info": 1})
    assert [(one["file"], one["verdict"], one["counts"]["error"]) for one in value["files"]] == [
        ("a.pb", "error", 1),
        ("b.pb", "ok", 0),
    ]


def test_a_row_for_each_finding() -> None:
    assert render_checks_csv([REPORT, CLEAN]) == (
        "file,severity,code,count,where,message,table,row,name,start_ns,offset\n"
        "a.pb,error,unknown-clock,3,device_slices,records tick on clock 17,,,,,\n"
        'a.pb,warning,crossing-slices,4,,4 slices cross,events,7,"a ""b""\n",3500,1234\n'
        "a.pb,info,one-snapshot,1,,offset only,launches,0,mm,1000,\n"
    )
