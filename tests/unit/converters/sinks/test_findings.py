"""Findings of one file, as lines and as JSON."""

from __future__ import annotations

import json

from rblnpb.converters.sinks.findings import finding_values, render_findings_json, render_findings_text
from rblnpb.errors import Finding, Severity

FINDINGS = (
    Finding(Severity.INFO, "one-snapshot", "offset only"),
    Finding(Severity.ERROR, "unknown-clock", "records tick on clock 17", 3, "device_slices"),
    Finding(Severity.WARNING, "truncated", "the last 12 bytes are no whole packet"),
)


def test_the_worst_comes_first_and_each_has_a_line() -> None:
    assert render_findings_text("a.pb", "error", FINDINGS) == (
        "a.pb: error\n"
        "  error: device_slices: records tick on clock 17 [unknown-clock]\n"
        "  warning: the last 12 bytes are no whole packet [truncated]\n"
        "  info: offset only [one-snapshot]\n"
    )


def test_without_findings_the_verdict_stands_alone() -> None:
    assert render_findings_text("a.pb", "ok", ()) == "a.pb: ok\n"


def test_json_keeps_the_order_in_which_they_were_found() -> None:
    text = render_findings_json("a.pb", "error", FINDINGS)
    assert json.loads(text) == {
        "schema": "rblnpb.check/1",
        "file": "a.pb",
        "verdict": "error",
        "findings": finding_values(FINDINGS),
    }
    assert text.endswith(b"}\n")


def test_a_finding_in_json_has_every_key() -> None:
    assert finding_values(FINDINGS[1:2]) == [
        {
            "severity": "error",
            "code": "unknown-clock",
            "message": "records tick on clock 17",
            "count": 3,
            "where": "device_slices",
        }
    ]
