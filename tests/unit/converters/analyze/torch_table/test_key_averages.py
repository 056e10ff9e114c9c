"""The rows of the table; small traces whose sums can be done in the head."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rblnpb.converters.analyze.torch_table.key_averages import DeviceLinks, event_rows, key_averages
from rblnpb.converters.results import KeyAverages
from tests.support.torch_events import ORIGIN_NS, Event, host_trace, memory


def columns(table: KeyAverages, *names: str) -> list[tuple[Any, ...]]:
    values = [getattr(table, name) for name in names]
    return list(zip(*(value.tolist() if isinstance(value, np.ndarray) else value for value in values), strict=True))


def cpu_times(table: KeyAverages) -> list[tuple[Any, ...]]:
    return columns(table, "name", "count", "self_cpu_time_total_ns", "cpu_time_total_ns")


def device_times(table: KeyAverages) -> list[tuple[Any, ...]]:
    return columns(table, "name", "self_device_time_total_ns", "device_time_total_ns")


def op(name: str, start_ns: int, duration_ns: int, external_id: int = 0, **more: Any) -> Event:
    return Event("cpu_op", name, start_ns, duration_ns, external_id=external_id, **more)


def kernel(name: str, start_ns: int, duration_ns: int, external_id: int = 0) -> Event:
    return Event("kernel", name, start_ns, duration_ns, tid=0, pid=0, external_id=external_id)


def test_self_time_is_what_the_calls_leave() -> None:
    table = key_averages(host_trace(op("linear", 0, 100), op("t", 10, 20), op("addmm", 40, 50), op("t", 200, 5)))

    assert cpu_times(table) == [("linear", 1, 30, 100), ("t", 2, 25, 25), ("addmm", 1, 50, 50)]
    assert table.is_top_level.tolist() == [True, False, False]


def test_threads_do_not_nest_in_each_other() -> None:
    table = key_averages(host_trace(op("outer", 0, 100, tid=7), op("inner", 10, 20, tid=8)))

    assert cpu_times(table) == [("outer", 1, 100, 100), ("inner", 1, 20, 20)]


def test_functions_ranges_and_calls_of_the_runtime_nest_with_ops() -> None:
    trace = host_trace(
        Event("python_function", "f", 0, 100),
        Event("user_annotation", "range", 10, 80),
        op("op", 20, 50, external_id=3),
        Event("cuda_runtime", "launch", 30, 5, external_id=3),
    )

    table = key_averages(trace)

    assert columns(table, "name", "kind", "self_cpu_time_total_ns") == [
        ("f", "op", 20),
        ("range", "annotation", 30),
        ("op", "op", 45),
        ("launch", "runtime", 5),
    ]


def test_an_event_that_crosses_another_is_not_called_by_it() -> None:
    table = key_averages(host_trace(op("a", 0, 10), op("b", 5, 10), op("c", 6, 2)))

    assert cpu_times(table) == [("a", 1, 10, 10), ("b", 1, 8, 10), ("c", 1, 2, 2)]


def test_microseconds_are_torchs_own_roundings() -> None:
    table = key_averages(host_trace(op("a", 1_000_000_001, 3), op("a", 1_000_000_007, 3)))

    assert table.cpu_time_total_us.tolist() == [(1000000.004 - 1000000.001) + (1000000.010 - 1000000.007)] != [0.006]
    assert table.cpu_time_total_ns.tolist() == [6]


def test_device_time_goes_up_the_calls_and_device_work_has_its_own_row() -> None:
    trace = host_trace(op("matmul", 0, 100, 1), op("mm", 10, 50, 2), kernel("k", 70, 30, 2), kernel("k", 120, 10, 2))

    assert device_times(key_averages(trace)) == [("matmul", 0, 40), ("mm", 40, 40), ("k", 40, 40)]
    assert columns(key_averages(trace), "kind", "is_device", "cpu_time_total_ns") == [
        ("op", False, 100),
        ("op", False, 50),
        ("device", True, 0),
    ]


def test_device_work_on_an_op_and_on_its_call_adds_up() -> None:
    trace = host_trace(op("outer", 0, 100, 1), op("inner", 10, 50, 2), kernel("a", 70, 5, 1), kernel("b", 80, 7, 2))

    assert device_times(key_averages(trace))[:2] == [("outer", 5, 12), ("inner", 7, 7)]


def test_a_merged_call_counts_once_and_hands_up_its_device_work() -> None:
    trace = host_trace(op("mm", 0, 100, 1), op("mm", 10, 50, 2), op("empty", 15, 5, 3), kernel("k", 70, 30, 2))

    table = key_averages(trace)

    assert cpu_times(table)[:2] == [("mm", 1, 95, 100), ("empty", 1, 5, 5)]
    assert device_times(table)[:2] == [("mm", 30, 30), ("empty", 0, 0)]


def test_links_that_are_given_count_instead_of_those_in_the_trace() -> None:
    trace = host_trace(op("mm", 0, 100, 1), kernel("in the trace", 70, 30, 1))
    given = DeviceLinks(
        strings=("", "given"),
        name=np.array([1], np.int32),
        start_ns=np.array([ORIGIN_NS + 40]),
        duration_ns=np.array([12]),
        host_row=np.array([1]),
        is_annotation=np.array([False]),
        event=np.array([-1]),
    )

    assert device_times(key_averages(trace, given)) == [("mm", 12, 12), ("given", 12, 12)]


def test_collective_work_is_asynchronous() -> None:
    trace = host_trace(op("outer", 0, 100, 1), Event("user_annotation", "gloo:all_reduce", 10, 50), op("inner", 20, 10))

    table = key_averages(trace)

    assert cpu_times(table) == [("outer", 1, 90, 100), ("gloo:all_reduce", 1, 0, 50), ("inner", 1, 10, 10)]
    assert table.is_async.tolist() == [False, True, False]


def test_ranges_and_ops_of_one_name_are_two_rows() -> None:
    table = key_averages(host_trace(op("x", 0, 10), Event("user_annotation", "x", 20, 10)))

    assert columns(table, "name", "kind", "count") == [("x", "op", 1), ("x", "annotation", 1)]


def test_memory_totals_and_what_the_calls_leave() -> None:
    table = key_averages(host_trace(op("outer", 0, 100), op("inner", 10, 20), memory(15, 64), memory(50, -24), memory(60, 8, 20)))

    assert columns(table, "cpu_memory_bytes", "self_cpu_memory_bytes", "device_memory_bytes", "self_device_memory_bytes") == [
        (40, -24, 8, 8),
        (64, 64, 0, 0),
    ]
    assert table.profile_memory


def test_metadata_says_that_memory_was_watched_even_if_none_was_used() -> None:
    assert key_averages(host_trace(op("x", 0, 1), metadata={"profile_memory": 1})).profile_memory
    assert not key_averages(host_trace(op("x", 0, 1))).profile_memory


def test_operations_are_counted_where_the_trace_was_told_to() -> None:
    call = op("aten::mm", 0, 10, input_dims="[[3, 4], [4, 5]]")

    told, untold = key_averages(host_trace(call, metadata={"with_flops": 1})), key_averages(host_trace(call))

    assert (told.with_flops, told.flops.tolist()) == (True, [120])
    assert (untold.with_flops, untold.flops.tolist()) == (False, [0])


def test_rows_can_be_told_apart_by_shape() -> None:
    trace = host_trace(op("mm", 0, 1, input_dims="[[2, 3]]"), op("mm", 5, 2), op("mm", 9, 4, input_dims="[[2,3]]"))

    apart, together = key_averages(trace, group_by_input_shape=True), key_averages(trace)

    assert columns(apart, "input_shapes", "count") == [("[[2, 3]]", 2), ("[]", 1)]
    assert columns(together, "input_shapes", "count") == [("", 3)]


def test_single_events_are_rows_of_their_own() -> None:
    table = event_rows(host_trace(op("mm", 0, 10, input_dims="[[2, 3]]"), op("mm", 20, 5)))

    assert columns(table, "name", "count", "cpu_time_total_ns", "input_shapes") == [("mm", 1, 10, "[[2, 3]]"), ("mm", 1, 5, "[]")]


def test_without_a_session_time_counts_from_the_first_event() -> None:
    trace = host_trace(op("x", 1_000_000_001, 3))
    columns_without = {name: column[1:] for name, column in vars(trace.events).items()}
    without = type(trace)(**{**vars(trace), "events": type(trace.events)(**columns_without)})

    assert key_averages(without).cpu_time_total_us.tolist() == [0.003]


def test_the_name_of_the_device_can_be_given() -> None:
    trace = host_trace(op("x", 0, 1), processes={0: "atom", 7: "python"})

    assert (key_averages(trace).device_name, key_averages(trace, device_name="NPU").device_name) == ("ATOM", "NPU")


def test_a_trace_without_events_has_no_rows() -> None:
    assert (len(key_averages(host_trace())), len(event_rows(host_trace()))) == (0, 0)


def test_a_table_cannot_be_changed() -> None:
    table = key_averages(host_trace(op("x", 0, 1)))

    with pytest.raises(ValueError, match="read-only"):
        table.count[0] = 2
