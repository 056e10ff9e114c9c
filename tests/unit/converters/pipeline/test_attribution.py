"""Where the device's time comes from, as the command line and notebooks ask."""

from __future__ import annotations

import json

import pytest

from rblnpb.converters import pipeline
from rblnpb.converters.timeline import Timeline
from rblnpb.errors import UsageError
from tests.support.attribution_oracle import Call, Work, merged, trace

CALLS = (Call("op", "aten::mm", 0, 9), Call("op", "aten::add", 10, 12))


@pytest.fixture
def run() -> Timeline:
    return merged(trace(CALLS), [Work(0, 5, 0)])


def test_rows_are_limited_after_sorting(run: Timeline) -> None:
    found = pipeline.attribute(run)
    assert (found.rows(), found.rows("host_self", 1), found.rows(None, 0)) == ([0, 1], [0], [])
    assert [row["name"] for row in json.loads(found.to_json(row_limit=1))["rows"]] == ["aten::mm"]
    assert found.to_csv(row_limit=1).count("\n") == 2
    assert str(found) == found.text()


def test_stacks_weigh_device_time_where_there_is_any(run: Timeline) -> None:
    assert pipeline.call_stacks(run).to_folded() == "thread_1;aten::mm 5\n"
    assert pipeline.call_stacks(merged(trace(CALLS), [])).to_folded() == "thread_1;aten::add 2000\nthread_1;aten::mm 9000\n"


def test_coverage_goes_with_stacks(run: Timeline) -> None:
    assert "On an op: 5 ns (100.0 %)" in pipeline.call_stacks(run).coverage()


def test_what_is_not_known_is_refused(run: Timeline) -> None:
    with pytest.raises(UsageError, match="by is one of op, module, python, all, not 'frame'"):
        pipeline.attribute(run, "frame")
    with pytest.raises(UsageError, match="weight is one of device-sum, device-union, host-self, not 'sum'"):
        pipeline.call_stacks(run, weight="sum")
    with pytest.raises(UsageError, match="stages are of the device"):
        pipeline.call_stacks(run, weight="host-self", with_stages=True)
