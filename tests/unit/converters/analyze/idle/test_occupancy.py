"""Busy, idle, span and sum of devices, kinds, engines and programs."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.converters.analyze.idle.occupancy import device_calls, device_occupancy, ordered_work, program_occupancy
from rblnpb.converters.results import Occupancy, ProgramOccupancy
from rblnpb.converters.timeline import Timeline, Track
from tests.support.timelines import host_trace, launches, slices, timeline

TRACKS = (
    Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=0),
    Track("rbln:0", "Task DMA (chiplet 0)", "task_dma", is_work=True, order=1),
    Track("rbln:0", "Task DMA (chiplet 1)", "task_dma", is_work=True, order=2),
    Track("rbln:0", "Device Sync", "device_sync", is_work=False, order=3),
    Track("rbln:1", "Task DMA (chiplet 0)", "task_dma", is_work=True, order=4),
)
CLUSTERS, DMA, OTHER_DMA, SYNC, OTHER_DEVICE = range(5)


def row(start: int, end: int, track: int = CLUSTERS, launch: int = -1, **more: int) -> dict[str, Any]:
    return {"start": start, "duration": end - start, "track": track, "launch": launch, **more}


def of(*rows: dict[str, Any], host: Any = None, **parts: Any) -> Timeline:
    launched = launches({"start": 100, "name": 1}, {"start": 200, "name": 1}, {"start": 300, "name": 2, "compile_id": 3})
    defaults = {"slices": slices(*rows), "launches": launched, "tracks": TRACKS, "strings": ("", "mm", "add", "0/0")}
    return timeline(host, **{**defaults, **parts})


def test_busy_is_the_union_of_all_work_and_sum_counts_overlaps() -> None:
    found = device_occupancy(of(row(0, 10), row(5, 15, DMA), row(30, 40, SYNC), row(20, 25, OTHER_DMA)))
    assert found.all == Occupancy(slice_count=3, busy_ns=20, idle_ns=5, span_ns=25, sum_ns=25)


def test_kinds_are_unions_of_their_engines() -> None:
    found = device_occupancy(of(row(0, 10), row(5, 15, DMA), row(10, 20, OTHER_DMA)))
    assert [(kind.kind, kind.engine_count, kind.all) for kind in found.kinds] == [
        ("neural_engine_clusters", 1, Occupancy(1, 10, 0, 10, 10)),
        ("task_dma", 2, Occupancy(2, 15, 0, 15, 20)),
    ]
    assert [(engine.name, engine.all.busy_ns) for engine in found.engines] == [
        ("Neural Engine Clusters", 10),
        ("Task DMA (chiplet 0)", 10),
        ("Task DMA (chiplet 1)", 10),
    ]


def test_devices_have_spans_of_their_own() -> None:
    found = device_occupancy(of(row(0, 10), row(100, 110, OTHER_DEVICE), row(20, 30)))
    assert found.all == Occupancy(3, 30, 80, 110, 30)
    assert [(one.device, one.all, one.first_ns, one.last_ns) for one in found.devices] == [
        ("rbln:0", Occupancy(2, 20, 10, 30, 20), 0, 30),
        ("rbln:1", Occupancy(1, 10, 0, 10, 10), 100, 110),
    ]


@pytest.mark.parametrize("rows", [(), (row(0, 5, SYNC),)], ids=["none", "waits"])
def test_without_work_there_is_no_device(rows: tuple[dict[str, Any], ...]) -> None:
    found = device_occupancy(of(*rows))
    assert (found.all, found.launched_in_window) == (Occupancy(0, 0, 0, 0, 0),) * 2
    assert (found.devices, found.kinds, found.engines) == ((), (), ())


def test_without_a_host_trace_the_window_is_that_of_the_records() -> None:
    found = device_occupancy(of(row(0, 10), row(20, 25, launch=0)))
    assert found.launched_in_window == Occupancy(1, 5, 0, 5, 5)
    assert found.devices[0].launched_in_window == Occupancy(1, 5, 0, 5, 5)


def test_a_profile_counts_what_was_launched_while_the_host_trace_ran() -> None:
    host = host_trace({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": "0.150", "dur": "0.150"})
    found = device_occupancy(of(row(110, 120, launch=0), row(210, 230, launch=1), row(310, 350, launch=2), host=host))
    assert (found.all.busy_ns, found.launched_in_window.busy_ns) == (70, 20)


def test_a_trace_counts_what_any_launch_or_op_of_it_leads_to() -> None:
    host = host_trace({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": "0.150", "dur": "0.150"})
    rows = (row(110, 111, launch=0, event=0), row(210, 212, host_row=0, event=0), row(310, 314, event=0))
    assert device_occupancy(of(*rows, host=host)).launched_in_window.busy_ns == 3


def programs(one: Timeline) -> tuple[ProgramOccupancy, ...]:
    work = ordered_work(one)
    return program_occupancy(work, device_calls(one, work))


def test_programs_are_measured_from_the_first_to_the_last_slice_of_each_call() -> None:
    rows = (row(0, 10, launch=0), row(15, 20, DMA, launch=0), row(100, 110, launch=1), row(105, 130, DMA, launch=1))
    assert programs(of(*rows, row(200, 230, launch=2), row(240, 250, launch=2))) == (
        ProgramOccupancy("rbln:0", "add", "0/0", 1, Occupancy(2, 40, 10, 50, 40)),
        ProgramOccupancy("rbln:0", "mm", "", 2, Occupancy(4, 45, 5, 50, 50)),
    )


def test_a_call_on_two_devices_is_measured_on_each() -> None:
    rows = (row(0, 10, launch=0), row(50, 60, OTHER_DEVICE, launch=0), row(90, 95, OTHER_DEVICE, launch=0))
    assert [(one.device, one.call_count, one.all.span_ns) for one in programs(of(*rows))] == [("rbln:1", 1, 45), ("rbln:0", 1, 10)]


def test_turns_of_a_runtime_instance_are_calls_where_no_launch_is_known() -> None:
    rows = [row(start, start + 2, instance=1, sequence=sequence) for start, sequence in ((0, 0), (8, 0), (20, 1), (26, 1))]
    (found,) = programs(of(*rows, row(40, 50)))
    assert (found.call_count, found.all) == (2, Occupancy(4, 8, 10, 18, 8))


def test_a_call_begins_with_a_slice_that_is_no_work_and_is_measured_without_it() -> None:
    one = of(row(50, 60, launch=0), row(30, 40, SYNC, launch=0), row(0, 5, SYNC, launch=1))
    calls = device_calls(one, ordered_work(one))
    assert (calls.begun_ns.tolist(), calls.times.first_ns.tolist()) == ([30], [50])
