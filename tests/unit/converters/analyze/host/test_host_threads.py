"""Which thread a record is of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.host.host_threads import host_threads
from rblnpb.converters.timeline import OverheadRecords
from tests.support.timelines import host_trace, launches, runtime, timeline


def row(pid: Any, tid: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": "cpu_op", "name": "a", "pid": pid, "tid": tid, "ts": "0.001", "dur": "0.009", "args": {}}


@pytest.mark.parametrize(
    ("rows", "launch", "lane"),
    [
        ([(1, 1), (1, 2)], {"pid": 1, "tid": 2}, 1),
        ([(1, 1), ("1", "2")], {"pid": 1, "tid": 2}, 1),
        ([(1, 1), (1, 2)], {"pid": 0, "tid": 2}, 1),
        ([(1, 2), (3, 2)], {"pid": 0, "tid": 2}, 2),
        ([(1, 1)], {"pid": 5, "tid": 1}, 1),
        ([(1, "worker")], {"pid": 1, "tid": -1}, 1),
        ([(1, "worker")], {"pid": 1, "tid": -1, "host_row": 0}, 0),
    ],
    ids=["native", "text", "no-process", "two-processes", "not-there", "named", "named-with-an-op"],
)
def test_a_launch_is_on_the_track_of_its_thread(rows: list[tuple[Any, Any]], launch: dict[str, int], lane: int) -> None:
    one = timeline(host_trace(*(row(*pair) for pair in rows)), launches=launches(launch))
    assert host_threads(one).launch.tolist() == [lane]


def test_records_of_one_thread_have_one_lane_without_a_host_trace_too() -> None:
    zero, tids = np.zeros(3, np.int32), np.array([2, 1, 9])
    hidden = OverheadRecords(zero.astype(np.uint32), zero, zero, zero, tids * 0, tids * 0 + ABSENT, tids, tids)
    one = timeline(launches=launches({"tid": 1}, {"tid": 2}), runtime=runtime((0, 1, 0, 2), (0, 1, 0, 3)), overheads=hidden)
    found = host_threads(one)
    first, second = found.launch.tolist()
    assert first != second
    assert found.runtime.tolist()[0] == second
    assert found.runtime.tolist()[1] not in (first, second)
    assert found.overhead.tolist() == [second, first, -1]
    assert found.track_count == 0
