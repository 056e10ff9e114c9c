"""Findings as JSON has them."""

from __future__ import annotations

from rblnpb.converters.sinks.findings import finding_values
from rblnpb.errors import Finding, Severity


def test_a_finding_in_json_has_every_key() -> None:
    finding = Finding(Severity.ERROR, "unknown-clock", "records tick on clock 17", 3, "device_slices")
    assert finding_values([finding]) == [
        {
            "severity": "error",
            "code": "unknown-clock",
            "message": "records tick on clock 17",
            "count": 3,
            "where": "device_slices",
        }
    ]
