"""Which slices of a host trace are around its flow events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.column_arrays import row_blocks
from rblnpb.converters.sinks._host_slices import complete_slices, flow_rows, slices_around
from tests.support.timelines import host_trace

times = st.integers(0, 8) | st.integers(0, 2**50)
events = st.lists(
    st.fixed_dictionaries(
        {
            "ph": st.sampled_from("XXXXstfi"),
            "ts": times | st.just(None),
            "dur": st.integers(-1, 4) | st.sampled_from([None, 2**50]),
            "pid": st.just(1),
            "tid": st.sampled_from([7, "7", 8]),
        }
    ),
    max_size=14,
)


@settings(max_examples=200)
@given(events)
def test_slices_around_flows_are_those_found_one_by_one(drawn: list[dict[str, Any]]) -> None:
    shown = [(row, event) for row, event in enumerate(drawn) if event["ts"] is not None]
    flows = [(row, event) for row, event in shown if event["ph"] in "stf"]
    slices = [(row, event) for row, event in shown if event["ph"] == "X"]

    def length(one: dict[str, Any]) -> int:
        return max(one["dur"] or 0, 0)

    def is_at(one: dict[str, Any], flow: dict[str, Any]) -> bool:
        return str(one["tid"]) == str(flow["tid"]) and one["ts"] <= flow["ts"] <= one["ts"] + length(one)

    wanted = [any(is_at(one, flow) and (length(one) > 0 or row < place) for row, one in slices) for place, flow in flows]
    around = [row for row, one in slices if any(is_at(one, flow) for _, flow in flows)]
    host = host_trace(*drawn)
    is_around, found = slices_around(host, flow_rows(host))

    assert is_around.tolist() == wanted
    assert found.rows.tolist() == around


def test_slices_are_found_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    slice_, flow = ({"ph": phase, "ts": 5, "dur": 2, "pid": 1, "tid": 7} for phase in "Xs")
    host = host_trace(slice_, flow, slice_, slice_ | {"tid": 8})
    monkeypatch.setattr("rblnpb.converters.sinks._host_slices.row_blocks", lambda count: row_blocks(count, 1))

    is_around, found = slices_around(host, flow_rows(host))

    assert is_around.tolist() == [True]
    assert found.rows.tolist() == [0, 2]
    assert complete_slices(host).rows.tolist() == [0, 2, 3]
