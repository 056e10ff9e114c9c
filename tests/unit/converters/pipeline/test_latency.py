"""Latency as a step of a pipeline."""

from __future__ import annotations

import json

from rblnpb import converters
from tests.support.small_run import small_profile, small_trace


def test_latency_of_a_timeline() -> None:
    report = converters.measure_latency(converters.merge(small_profile(), small_trace()))
    assert str(report).startswith("Submission latency: from the launch to its first work (±0 ns)\n")
    assert str(report) == report.text(120)
    assert json.loads(report.to_json())["latency"]["sum_ns"] == 11_100
    assert len(json.loads(report.to_json(series=True))["queue"]["series"]["length"]) == 8
    assert report.to_csv().splitlines()[1] == "all,,,,,4,11100,2775,0,1000,9100,9100,9100,-100,1,1,9000,2100"
