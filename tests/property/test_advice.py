"""Whatever a profile or a trace holds, latency and advice are numbers that add up, and nothing overflows on the way."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rblnpb.converters.merging import merge
from rblnpb.converters.pipeline import advise, measure_latency
from rblnpb.converters.timeline import Timeline
from rblnpb.errors import ClockError
from rblnpb.profile import Profile
from tests.support.strategies import profiles
from tests.support.timelines import host_trace

NAMES = (
    "aten::mm",
    "aten::to",
    "aten::_copy_from",
    "aten::isinf",
    "aten::isnan",
    "aten::item",
    "cudaDeviceSynchronize",
    "nccl:all_reduce",
)
CATEGORIES = (
    "cpu_op",
    "user_annotation",
    "python_function",
    "cuda_runtime",
    "privateuse1_runtime",
    "kernel",
    "gpu_memcpy",
    "cuda_sync",
)

events = st.lists(
    st.fixed_dictionaries(
        {
            "ph": st.sampled_from(("X", "X", "X", "i")),
            "cat": st.sampled_from(CATEGORIES),
            "name": st.sampled_from((*NAMES, "Memcpy DtoH", "Memcpy HtoD")),
            "pid": st.sampled_from((0, 1, "1")),
            "tid": st.integers(1, 2),
            "ts": st.one_of(st.integers(0, 60), st.integers(-(2**52), 2**52)).map(str),
            "dur": st.one_of(st.integers(0, 40), st.integers(-1, 2**52)).map(str),
            "args": st.fixed_dictionaries(
                {}, optional={"correlation": st.integers(0, 4), "External id": st.integers(0, 4), "launch_id": st.integers(0, 4)}
            ),
        }
    ),
    max_size=14,
)


def holds(timeline: Timeline) -> None:
    """What is true of every timeline."""
    report = measure_latency(timeline)
    found: Any = json.loads(report.to_json(series=True))
    assert report.text(80)
    assert report.to_csv()
    total = found["latency"]
    assert total["waiting_ns"] + total["submission_ns"] == total["sum_ns"] >= 0
    assert total["count"] + found["counts"]["launches_without_work"] == found["counts"]["launches"]
    for queue in (found["queue"], *found["queues"]):
        assert min(queue["series"]["length"], default=0) >= 0
        assert sum(step["time_ns"] for step in queue["time_at_length"]) == queue["span_ns"]
    advised = advise(timeline)
    assert advised.text(80)
    said: Any = json.loads(advised.to_json())
    for advice in (*said["advice"], *said["below_threshold"]):
        assert advice["cost_ns"] is None or int(advice["cost_ns"]) >= 0
        assert int(advice["count"]) > 0
    split = advised.values.host_split
    if split is not None:
        assert sum(split.by_class.values()) == split.total_ns == sum(share.total_ns for share in split.threads)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(profiles())
def test_profiles(profile: Profile) -> None:
    try:
        timeline = merge(profile)
    except ClockError:
        return
    holds(timeline)


@settings(max_examples=200)
@given(events)
def test_traces(rows: list[dict[str, Any]]) -> None:
    holds(merge(None, host_trace(*rows)))
