"""The rules that join device rows of a trace with its ops, one by one and in their order."""

from __future__ import annotations

from typing import Any

import pytest

from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import JOIN_RULES, MATCH_RULES, Timeline
from tests.support.vendor_traces import (
    DEVICE_PID,
    HOST_PID,
    MAIN,
    WORKER,
    Json,
    annotation,
    at,
    host_trace,
    metadata,
    op,
    span,
)

OPS = (
    op("aten::matmul", 1000, 3000, external_id=1),
    op("aten::mm", 1200, 2000, external_id=2),
    op("aten::add", 5000, 6000, tid=WORKER, external_id=3),
)


def kernel(start_ns: int, end_ns: int, category: str = "kernel", *, tid: Any = 7, pid: Any = DEVICE_PID, **args: Any) -> Json:
    external = {"External id": args.pop("external_id")} if "external_id" in args else {}
    return span(category, "k", start_ns, end_ns, pid=pid, tid=tid, **external, **args)


def call(start_ns: int, end_ns: int, correlation: int, *, tid: int = MAIN, pid: int = HOST_PID, **args: Any) -> Json:
    external = {"External id": args.pop("external_id")} if "external_id" in args else {}
    return span("cuda_runtime", "launch", start_ns, end_ns, tid=tid, pid=pid, correlation=correlation, **external, **args)


def marker(time_ns: int, launch_id: int, *, tid: int = MAIN, pid: int = HOST_PID) -> Json:
    return span("privateuse1_runtime", "rbln_run", time_ns, time_ns, tid=tid, pid=pid, launch_id=launch_id)


def arrow(from_ns: int, to_ns: int, identity: Any = 5, *, tid: Any = MAIN, lane: Any = 7, **more: Any) -> list[Json]:
    flow = {"cat": "ac2g", "name": "ac2g", "id": identity, **more}
    return [
        {"ph": "s", **flow, "pid": HOST_PID, "tid": tid, "ts": at(from_ns)},
        {"ph": "f", **flow, "pid": DEVICE_PID, "tid": lane, "ts": at(to_ns), "bp": "e"},
    ]


def joined(*events: Json, **more: Any) -> Timeline:
    return merge(None, host_trace(events, **more))


def results(timeline: Timeline) -> list[tuple[str | None, str, int]]:
    """(op, rule, launch) of each device row, in file order."""
    assert timeline.host is not None
    names = [*(timeline.host.strings[row] for row in timeline.host.events.name.tolist()), None]
    columns = (timeline.slices.host_row, timeline.slices.rule, timeline.slices.launch)
    return [(names[row], JOIN_RULES[rule], launch) for row, rule, launch in zip(*(one.tolist() for one in columns), strict=True)]


def reasons(timeline: Timeline) -> list[str]:
    return [MATCH_RULES[reason] for reason in timeline.launches.reason.tolist()]


def test_the_launch_goes_before_the_op_that_the_row_names() -> None:
    timeline = joined(*OPS, call(1300, 1400, 9), kernel(2500, 2600, external_id=3, correlation=9))
    assert results(timeline) == [("aten::mm", "correlation", 0)]


def test_the_vendors_launch_id_goes_before_a_correlation_id() -> None:
    rows = (marker(1500, 4), call(5100, 5200, 9, tid=WORKER), kernel(6500, 6600, launch_id=4, correlation=9))
    assert results(joined(*OPS, *rows)) == [("aten::mm", "launch-id", 0)]


def test_a_launch_on_no_op_leaves_the_row_to_the_op_that_it_names() -> None:
    timeline = joined(*OPS, call(8000, 8100, 9), kernel(8500, 8600, external_id=3, correlation=9))
    assert results(timeline) == [("aten::add", "external-id", 0)]
    assert reasons(timeline) == ["between-ops"]


def test_a_row_that_names_an_op_and_no_launch_has_none() -> None:
    assert results(joined(*OPS, kernel(8500, 8600, external_id=3))) == [("aten::add", "external-id", -1)]


def test_an_arrow_leads_to_the_op_in_which_it_begins() -> None:
    timeline = joined(*OPS, kernel(2500, 2600), *arrow(1500, 2500))
    assert results(timeline) == [("aten::mm", "flow", 0)]
    assert (timeline.launches.launch_id.tolist(), reasons(timeline)) == ([0], ["innermost-op"])


def test_a_row_on_a_thread_that_runs_ops_belongs_to_the_op_around_it() -> None:
    timeline = joined(*OPS, kernel(1300, 1400, pid=HOST_PID, tid=MAIN), kernel(1900, 2100, pid=HOST_PID, tid=MAIN))
    assert results(timeline) == [("aten::mm", "containment", -1), ("aten::matmul", "containment", -1)]


def test_a_row_of_the_device_belongs_to_no_op_that_happens_to_run() -> None:
    assert results(joined(*OPS, kernel(1300, 1400))) == [(None, "no-link", -1)]


@pytest.mark.parametrize("ids", [{"correlation": 9}, {"launch_id": 9}, {"external_id": 77}])
def test_a_row_whose_launch_is_not_in_the_trace_says_so(ids: dict[str, Any]) -> None:
    assert results(joined(*OPS, kernel(2500, 2600, **ids))) == [(None, "launch-not-recorded", -1)]


def test_an_arrow_without_a_beginning_says_that_the_launch_is_not_recorded() -> None:
    assert results(joined(*OPS, kernel(2500, 2600), *arrow(1500, 2500)[1:])) == [(None, "launch-not-recorded", -1)]


def test_a_launch_that_is_known_and_on_no_op_is_a_launch_in_the_trace() -> None:
    timeline = joined(*OPS, call(8000, 8100, 9), kernel(8500, 8600, correlation=9))
    assert results(timeline) == [(None, "launch-on-no-op", 0)]


def test_arrows_of_launches_with_ids_are_not_launches_twice() -> None:
    timeline = joined(*OPS, call(8000, 8100, 9), kernel(8500, 8600, correlation=9), *arrow(8000, 8500, 9))
    assert len(timeline.launches) == 1


def test_where_nothing_of_the_host_was_recorded_that_is_the_reason() -> None:
    device = metadata("process_labels", HOST_PID, labels="CPU")
    timeline = joined(device, call(1300, 1400, 9), kernel(2500, 2600, correlation=9), kernel(2700, 2800))
    assert results(timeline) == [(None, "no-host-trace", 0), (None, "no-host-trace", -1)]
    assert reasons(timeline) == ["no-host-trace"]


def test_an_op_that_the_trace_names_on_a_call_goes_before_the_op_around_it() -> None:
    timeline = joined(*OPS, call(1300, 1300, 9, external_id=1), kernel(2500, 2600, correlation=9))
    assert (results(timeline), reasons(timeline)) == ([("aten::matmul", "correlation", 0)], ["recorded-link"])


def test_a_call_may_name_an_op_of_another_thread() -> None:
    timeline = joined(*OPS, call(1300, 1400, 9, tid=99, external_id=2), kernel(2500, 2600, correlation=9))
    assert results(timeline) == [("aten::mm", "correlation", 0)]


def test_a_calls_own_number_is_no_op() -> None:
    timeline = joined(*OPS, call(1300, 1400, 3, external_id=3), kernel(2500, 2600, correlation=3))
    assert (results(timeline), reasons(timeline)) == ([("aten::mm", "correlation", 0)], ["innermost-op"])


def test_ids_of_ops_are_told_apart_by_process() -> None:
    elsewhere = span("cpu_op", "elsewhere", 1000, 3000, pid=77, tid=77, **{"External id": 2})
    timeline = joined(elsewhere, *OPS, call(8000, 8100, 9, external_id=2), kernel(8500, 8600, correlation=9))
    assert results(timeline) == [("aten::mm", "correlation", 0)]


def test_an_id_with_all_bits_set_is_none() -> None:
    rows = (call(1300, 1400, -1), kernel(2500, 2600, correlation=-1, external_id=-1))
    assert results(joined(*OPS, *rows))[0][0] is None


def test_ids_beyond_63_bits_join() -> None:
    rows = (call(1300, 1400, 2**63 + 5), kernel(2500, 2600, correlation=2**63 + 5), kernel(2700, 2800, correlation=5))
    assert [rule for _, rule, _ in results(joined(*OPS, *rows))] == ["correlation", "launch-not-recorded"]


@pytest.mark.parametrize("tid", [-247463936, "-247463936", "thread 7"])
def test_threads_may_have_negative_ids_or_names(tid: Any) -> None:
    inner = span("cpu_op", "aten::mm", 1200, 2000, tid=tid)
    timeline = joined(inner, {**call(1300, 1400, 9), "tid": tid}, kernel(2500, 2600, correlation=9))
    assert results(timeline) == [("aten::mm", "correlation", 0)]
    assert timeline.launches.tid.tolist() == [-1 if tid == "thread 7" else -247463936]


def test_a_thread_id_written_as_a_text_is_the_same_thread() -> None:
    timeline = joined(op("aten::mm", 1200, 2000), {**call(1300, 1400, 9), "tid": str(MAIN)}, kernel(2500, 2600, correlation=9))
    assert results(timeline) == [("aten::mm", "correlation", 0)]


def test_a_call_of_no_known_name_or_category_launches() -> None:
    unknown = {**call(1300, 1400, 9), "cat": "npu_runtime_of_tomorrow", "name": "nobodyKnows"}
    assert results(joined(*OPS, unknown, kernel(2500, 2600, correlation=9))) == [("aten::mm", "correlation", 0)]


def test_a_row_in_a_process_of_the_device_is_no_call() -> None:
    # A category that nobody knows yet, in the device's process, has the id of its launch as well.
    unknown = {**kernel(2400, 2450, correlation=9), "cat": "npu_event_of_tomorrow"}
    assert results(joined(*OPS, call(1300, 1400, 9), unknown, kernel(2500, 2600, correlation=9))) == [
        ("aten::mm", "correlation", 0)
    ]


def test_a_graph_that_is_replayed_is_one_launch_of_many_rows_each_time() -> None:
    rows = [row for replay in range(3) for row in (call(1300 + replay * 100, 1350 + replay * 100, 40 + replay),)]
    rows += [kernel(3000 + at, 3001 + at, correlation=40 + at % 3) for at in range(600)]
    timeline = joined(*OPS, *rows)
    assert len(timeline.launches) == 3
    assert {(name, rule) for name, rule, _ in results(timeline)} == {("aten::mm", "correlation")}


def test_two_processes_that_count_alike_are_told_apart_by_what_each_alone_launched() -> None:
    rows = []
    for pid, device, offset, own in ((11, 0, 0, 100), (22, 1, 10, 200)):
        rows.append(span("cpu_op", f"op of {pid}", 1000, 9000, pid=pid, tid=pid))
        for identity in (1, 2, own):
            start = 2000 + 100 * (identity % 10) + offset
            rows.append(call(start, start + 5, identity, pid=pid, tid=pid))
            rows.append(kernel(start + 3000, start + 3010, pid=device, correlation=identity))
    found = results(joined(*rows))
    assert [name for name, _, _ in found] == ["op of 11"] * 3 + ["op of 22"] * 3


REGIONS = (
    annotation("Torch-Compiled Region: 0/0", 1000, 9000),
    span("cpu_op", "Torch-Compiled Region: 1/0_1", 2000, 3000),
    span("cpu_op", "Torch-Compiled Region", 4000, 5000, context="Torch-Compiled Region: 2/0"),
    span("user_annotation", "Dispatched Region: 3/1", 6000, 7000),
    span("cpu_op", "Torch-Compiled Region", 7500, 8000),
)


@pytest.mark.parametrize(
    ("time_ns", "graph"), [(1500, "0/0"), (2500, "1/0_1"), (4500, "2/0"), (6500, "3/1"), (7700, "0/0"), (9500, "")]
)
def test_a_launch_belongs_to_the_innermost_compiled_graph_around_it(time_ns: int, graph: str) -> None:
    timeline = joined(*REGIONS, marker(time_ns, 1), kernel(20_000, 20_100, launch_id=1), window_ns=100_000)
    assert [timeline.strings[row] for row in timeline.launches.compile_id.tolist()] == [graph]


def test_a_region_of_another_thread_is_not_around_a_launch() -> None:
    timeline = joined(*REGIONS, marker(1500, 1, tid=WORKER), kernel(20_000, 20_100, launch_id=1))
    assert timeline.launches.compile_id.tolist() == [0]
