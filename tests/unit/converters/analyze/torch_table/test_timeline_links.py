"""Device work as the table counts it."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from rblnpb.converters.analyze.status import profile_status
from rblnpb.converters.analyze.torch_table.device_links import DeviceLinks
from rblnpb.converters.analyze.torch_table.key_averages import key_averages
from rblnpb.converters.analyze.torch_table.timeline_links import timeline_links
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import HostTrace
from rblnpb.naming import NameStyle
from rblnpb.profile import Engine, EngineKind, Session
from tests.support.vendor_traces import (
    DEVICE_PID,
    NEWER_WORK_NS,
    Json,
    Launch,
    annotation,
    device_profile,
    first_emitter,
    host_trace,
    newer_emitter,
    op,
    span,
    unix_ns,
)

OPS = (op("aten::mm", 1000, 2000, external_id=1), op("aten::add", 5000, 6000, external_id=2))
RUN = (Launch(1, 1500, 2500), Launch(2, 5500, 6500))


def rows(host: HostTrace, links: DeviceLinks) -> list[tuple[str, str | None]]:
    texts = [*(host.strings[row] for row in host.events.name.tolist()), None]
    return [(links.strings[name], texts[row]) for name, row in zip(links.name.tolist(), links.host_row.tolist(), strict=True)]


def of_trace(*events: Json, is_recorded: bool = False) -> list[tuple[str, str | None]]:
    host = host_trace(events)
    return rows(host, timeline_links(merge(None, host), is_recorded=is_recorded))


def kernel(category: str, **args: int) -> Json:
    return span(category, category, 2500, 2600, pid=DEVICE_PID, tid=7, **args)


def test_work_of_a_profile_is_on_the_op_that_launched_it() -> None:
    host = host_trace(OPS)
    links = timeline_links(merge(device_profile(RUN), host), is_recorded=False)
    assert rows(host, links) == [("mm", "aten::mm"), ("mm", "aten::add")]
    assert (links.start_ns.tolist(), links.duration_ns.tolist()) == ([unix_ns(2500), unix_ns(6500)], [700, 700])
    assert (links.event.tolist(), links.is_annotation.tolist()) == ([-1, -1], [False, False])


def test_a_profile_records_no_link() -> None:
    host = host_trace(OPS)
    assert rows(host, timeline_links(merge(device_profile(RUN), host), is_recorded=True)) == [("mm", None), ("mm", None)]


def test_waits_of_a_profile_are_no_device_time() -> None:
    engines = (Engine(1, 1, EngineKind.DEVICE_SYNC),)
    assert len(timeline_links(merge(device_profile(RUN, engines=engines), host_trace(OPS)), is_recorded=False)) == 0


def test_work_of_the_vendors_trace_is_on_the_op_that_launched_it_or_on_none_as_recorded() -> None:
    events = (*OPS, *first_emitter(RUN))
    parts = ("i1_0_W0_args_0_0", "i1_0_W0_mm_0", "i1_0_W0_output_0")
    assert of_trace(*events) == [(part, owner) for owner in ("aten::mm", "aten::add") for part in parts]
    assert of_trace(*events, is_recorded=True) == [(part, None) for part in parts] * 2


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_link_that_the_trace_makes_stands_either_way(is_recorded: bool) -> None:
    assert of_trace(*OPS, kernel("kernel", **{"External id": 2}), is_recorded=is_recorded) == [("kernel", "aten::add")]


def test_a_wait_of_a_trace_is_device_time_as_recorded_alone() -> None:
    events = (*OPS, span("cuda_runtime", "cudaStreamSynchronize", 1200, 1300, correlation=9), kernel("cuda_sync", correlation=9))
    assert (of_trace(*events), of_trace(*events, is_recorded=True)) == ([], [("cuda_sync", None)])


def test_an_annotation_owns_work_as_recorded_alone() -> None:
    # Torch charges whatever has the id.
    events = (*OPS, {**annotation("step", 0, 9000), "args": {"External id": 3}}, kernel("kernel", **{"External id": 3}))
    assert (of_trace(*events), of_trace(*events, is_recorded=True)) == ([("kernel", None)], [("kernel", "step")])


def test_work_under_a_category_of_calls_is_device_time_and_no_call() -> None:
    host = host_trace([*OPS, *newer_emitter(RUN[:1])])
    timeline = merge(None, host)
    averages = key_averages(host, timeline_links(timeline, is_recorded=False))
    status = profile_status(timeline)
    on_ops = averages.self_device_time_total_ns[~averages.is_device]
    assert (int(on_ops.sum()), status.attributed_ns) == (NEWER_WORK_NS, NEWER_WORK_NS)
    kinds = [kind for name, kind in zip(averages.name, averages.kind, strict=True) if name == "all_reduce"]
    assert kinds == ["device"]


def test_one_long_name_among_many_costs_no_more_than_itself() -> None:
    count = 20_000
    session = Session(session_id=7, name_style=NameStyle.LEGACY)
    profile = device_profile([Launch(number + 1, 1500, 2500) for number in range(count)], session=session)
    long = np.where(np.arange(count) == 5, 3, 1).astype(np.uint32)
    stages = profile.device_slices.replace(name_strindex=np.zeros(count, np.uint32), stage_strindex=long, sequence=np.arange(count))
    timeline = merge(profile.replace(strings=(*profile.strings, "x" * 20_000), device_slices=stages), host_trace(OPS))
    tracemalloc.start()
    links = timeline_links(timeline, is_recorded=False)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    names = [links.strings[row] for row in links.name.tolist()]
    assert (names[4:7], len(links.strings)) == (["4_mm_0", "5_" + "x" * 20_000 + "_0", "6_mm_0"], count)
    assert peak_bytes < 100_000_000


@pytest.mark.parametrize("is_recorded", [False, True])
def test_an_id_of_the_rows_own_is_no_link(is_recorded: bool) -> None:
    row = kernel("kernel", **{"External id": 2, "correlation": 2})
    assert of_trace(*OPS, row, is_recorded=is_recorded) == [("kernel", None)]


def test_an_annotation_on_the_device_stays_an_annotation() -> None:
    host = host_trace([*OPS, annotation("step", 0, 9000), kernel("gpu_user_annotation")])
    links = timeline_links(merge(None, host), is_recorded=False)
    assert (links.is_annotation.tolist(), links.host_row.tolist()) == ([True], [-1])


def test_without_devices_there_is_nothing() -> None:
    assert of_trace(*OPS) == []
