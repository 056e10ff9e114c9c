"""Device work as the table counts it."""

from __future__ import annotations

import pytest

from rblnpb.converters.analyze.device_links import DeviceLinks
from rblnpb.converters.analyze.timeline_links import timeline_links
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import HostTrace
from rblnpb.profile import Engine, EngineKind
from tests.support.vendor_traces import (
    DEVICE_PID,
    Json,
    Launch,
    annotation,
    device_profile,
    first_emitter,
    host_trace,
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


def test_a_wait_on_the_device_is_shown_and_on_no_op() -> None:
    call = span("cuda_runtime", "cudaStreamSynchronize", 1200, 1300, correlation=9)
    assert of_trace(*OPS, call, kernel("cuda_sync", correlation=9)) == [("cuda_sync", None)]


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
