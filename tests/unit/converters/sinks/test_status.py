"""The profile status, for people and for programs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rblnpb.converters.results import EngineActivity, OverheadPart, OverheadTotal, ProfileStatus
from rblnpb.converters.sinks.status import render_status_json, render_status_text
from rblnpb.converters.timeline import ClockQuality, RecordCount
from rblnpb.errors import Finding, Severity

START_NS = 1_790_857_031_000_002_500
ENGINE = EngineActivity(
    "rbln:0",
    "Neural Engine Clusters",
    "neural_engine_clusters",
    is_work=True,
    slice_count=1234,
    first_ns=START_NS,
    last_ns=START_NS + 9_000_000,
    busy_ns=2_100,
    sum_ns=3_000,
    overlap_count=1,
)
STATUS = ProfileStatus(
    verdict="warning",
    sources=("device.pb", "trace.json"),
    records=(RecordCount("launches", 3, 0), RecordCount("device_slices", 1234, 5, is_lower_bound=True)),
    engines=(ENGINE,),
    busy_ns=2_100,
    span_ns=9_000_000,
    clocks=(ClockQuality("rbln:0", 2, 7, 944, -7.21875, 0, 3),),
    launches_matched={"innermost-op": 2},
    launches_unmatched={"annotation-only": 1},
    slices_attributed=1000,
    slices_unattributed=234,
    attributed_ns=2_500,
    unattributed_ns=500,
    out_of_window=4,
    is_serialised=None,
    findings=(Finding(Severity.WARNING, "dropped-records", "5 device_slices were dropped", 5),),
)
NOTHING = ProfileStatus("ok", ("a.json",), (), (), 0, 0, (), {}, {}, 0, 0, 0, 0, 0, None, ())


def test_the_whole_as_text() -> None:
    assert render_status_text(STATUS, width=120) == (
        "Profile status: WARNING\n"
        "  device.pb + trace.json\n"
        "\n"
        "Records          read      dropped\n"
        "──────────────────────────────────\n"
        "launches            3            0\n"
        "device_slices   1,234   at least 5\n"
        "\n"
        "Engine                   work   slices   first       last       busy        sum\n"
        "───────────────────────────────────────────────────────────────────────────────\n"
        "Neural Engine Clusters   yes     1,234    0 ns   9.000 ms   2.100 µs   3.000 µs\n"
        "  Device busy 2.100 µs of 9.000 ms (0.0 %), counted from the first slice\n"
        "\n"
        "Clock    snapshots   residual   uncertainty   drift (ppm)   steps   extrapolated\n"
        "────────────────────────────────────────────────────────────────────────────────\n"
        "rbln:0           2       7 ns        944 ns        -7.219       0              3\n"
        "\n"
        "  Launches matched: 2 of 3 (innermost-op 2)\n"
        "  Launches unmatched: 1 (annotation-only 1)\n"
        "  On ops: 1,000 of 1,234 slices of work, 2.500 µs (unattributed: 500 ns)\n"
        "  Out of the host trace's window: 4 slices\n"
        "  Recording serialised the runs: not known\n"
        "\n"
        "Findings: 1\n"
        "  WARNING 5 device_slices were dropped [dropped-records]\n"
    )


OVERHEADS = (
    OverheadTotal(
        "cpu_fallback",
        1200,
        None,
        2_100,
        (OverheadPart("aten::sub.out", 1200, None, 2_100, "a.py:1(f)"),),
        tuple(OverheadPart(f"r{place}", 100) for place in range(12)),
    ),
    OverheadTotal("host_copy", 1, 1536, None, (), ()),
)


def test_overheads_are_a_row_a_kind_and_what_it_is_made_of() -> None:
    assert render_status_text(replace(NOTHING, overheads=OVERHEADS)) == (
        "Profile status: OK\n"
        "  a.json\n"
        "\n"
        "  Recording serialised the runs: not known\n"
        "\n"
        "Hidden work       count      bytes       time   first at\n"
        "─────────────────────────────────────────────────────────\n"
        "cpu_fallback      1,200              2.100 µs\n"
        "  aten::sub.out   1,200              2.100 µs   a.py:1(f)\n"
        + "".join(f"  why: r{place}           100\n" for place in range(10))
        + "  why: 2 more\n"
        "host_copy             1   1.50 KiB\n"
        "\n"
        "Findings: none\n"
    )


def test_what_the_runtime_counted_stands_beside_it() -> None:
    text = render_status_text(replace(NOTHING, explained=OVERHEADS[1:]))
    assert "\nHidden work, as the runtime counted it   count      bytes   time   first at\n" in text


def test_overheads_as_json() -> None:
    assert json.loads(render_status_json(replace(NOTHING, overheads=OVERHEADS[1:])))["overheads"] == [
        {"kind": "host_copy", "count": 1, "size_bytes": 1536, "duration_ns": None, "ops": [], "reasons": []}
    ]


def test_of_nothing_little_is_said() -> None:
    assert render_status_text(NOTHING) == (
        "Profile status: OK\n  a.json\n\n  Recording serialised the runs: not known\n\nFindings: none\n"
    )


@pytest.mark.parametrize(("is_serialised", "word"), [(True, "yes"), (False, "no")])
def test_whether_recording_serialised_the_runs_is_said(is_serialised: bool, word: str) -> None:
    assert f"serialised the runs: {word}\n" in render_status_text(replace(NOTHING, is_serialised=is_serialised))


def test_engines_of_several_devices_are_called_by_their_device_too() -> None:
    text = render_status_text(replace(STATUS, engines=(ENGINE, replace(ENGINE, device="rbln:1"))))
    assert "rbln:0 Neural Engine Clusters " in text
    assert "rbln:1 Neural Engine Clusters " in text


def test_rows_of_one_name_are_told_apart_by_their_kind() -> None:
    copies = replace(ENGINE, kind="copy")
    text = render_status_text(replace(STATUS, engines=(ENGINE, copies)))
    assert "Neural Engine Clusters (neural_engine_clusters) " in text
    assert "Neural Engine Clusters (copy) " in text


def test_words_of_a_file_are_no_markup() -> None:
    finding = Finding(Severity.INFO, "odd", "[bold]x[/bold] :smile:")
    assert "[bold]x[/bold] :smile: [odd]" in render_status_text(replace(NOTHING, findings=(finding,)))


def test_a_long_finding_stays_one_line() -> None:
    finding = Finding(Severity.INFO, "odd", "word " * 100 + "end")
    assert f"{'word ' * 100}end [odd]" in render_status_text(replace(NOTHING, findings=(finding,)), width=80)


def test_the_whole_as_json() -> None:
    text = render_status_json(STATUS)
    assert text.endswith(b"}\n")
    assert json.loads(text) == {
        "schema": "rblnpb.status/1",
        "verdict": "warning",
        "sources": ["device.pb", "trace.json"],
        "counts": {
            "records": {
                "launches": {"read": 3, "dropped": 0, "is_lower_bound": False},
                "device_slices": {"read": 1234, "dropped": 5, "is_lower_bound": True},
            },
            "launches_matched": 2,
            "launches_matched_by_rule": {"innermost-op": 2},
            "launches_unmatched": {"annotation-only": 1},
            "slices_attributed": 1000,
            "slices_unattributed": 234,
            "slices_out_of_window": 4,
        },
        "attributed_ns": 2500,
        "unattributed_ns": 500,
        "busy_ns": 2100,
        "span_ns": 9_000_000,
        "engines": [
            {
                "device": "rbln:0",
                "name": "Neural Engine Clusters",
                "kind": "neural_engine_clusters",
                "is_work": True,
                "slice_count": 1234,
                "first_ns": START_NS,
                "last_ns": START_NS + 9_000_000,
                "busy_ns": 2100,
                "sum_ns": 3000,
                "overlap_count": 1,
            }
        ],
        "clocks": [
            {
                "name": "rbln:0",
                "snapshot_count": 2,
                "residual_ns": 7,
                "uncertainty_ns": 944,
                "drift_ppm": -7.21875,
                "step_count": 0,
                "extrapolated_count": 3,
                "basis": "readings",
            }
        ],
        "is_serialised": None,
        "overheads": [],
        "explained": [],
        "findings": [
            {
                "severity": "warning",
                "code": "dropped-records",
                "message": "5 device_slices were dropped",
                "count": 5,
                "where": "",
            }
        ],
    }


def test_json_of_nothing_has_the_same_keys() -> None:
    full, empty = json.loads(render_status_json(STATUS)), json.loads(render_status_json(NOTHING))
    assert (list(full), list(full["counts"])) == (list(empty), list(empty["counts"]))


def test_a_count_beyond_64_bits_is_text_in_json() -> None:
    status = replace(NOTHING, records=(RecordCount("launches", 0, 1 << 64),))
    assert json.loads(render_status_json(status))["counts"]["records"]["launches"]["dropped"] == "18446744073709551616"
