"""What of a trace becomes an event, on which thread and in which order."""

from __future__ import annotations

import tracemalloc

import pytest

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.torch_table.device_links import no_device, recorded_links
from rblnpb.converters.analyze.torch_table.torch_events import TorchEvents, read_events
from rblnpb.errors import Finding, Severity
from tests.support.torch_events import ORIGIN_NS, Event, host_trace, memory


def read(*events: Event) -> TorchEvents:
    host = host_trace(*events)
    return read_events(host, recorded_links(host), with_flops=False, with_shapes=False)


def names_of(events: TorchEvents) -> list[str]:
    return [events.names[row] for row in events.name.tolist()]


def test_outer_events_come_first_and_equal_times_keep_their_number() -> None:
    events = read(
        Event("cpu_op", "third", 10, 5, event_index=2),
        Event("cpu_op", "unnumbered", 10, 5),
        Event("cpu_op", "second", 10, 5, event_index=1),
        Event("cpu_op", "outer", 10, 6, event_index=9),
        Event("cpu_op", "earlier", 9, 1),
    )

    assert names_of(events) == ["earlier", "outer", "second", "third", "unnumbered"]


@pytest.mark.parametrize("category", ["cpu_op", "python_function", "user_annotation", "cuda_runtime", "overhead", "Operator"])
def test_slices_of_the_host_are_events(category: str) -> None:
    events = read(Event(category, "x", 10, 5))

    assert (names_of(events), (events.start_ns - ORIGIN_NS).tolist(), (events.end_ns - ORIGIN_NS).tolist()) == (["x"], [10], [15])


def test_other_rows_are_none() -> None:
    events = read(
        Event("fwdbwd", "fwdbwd", 1, 0, phase="s"),
        Event("cpu_op", "instant", 1, 0, phase="i"),
        Event("", "no category", 1, 1),
        Event("cpu_op", "aten::is_leaf", 1, 1),
        Event("cpu_op", "profiler::_record_function_enter_new", 1, 1),
    )

    assert names_of(events) == []


def test_steps_and_overloads_lose_their_ending() -> None:
    events = read(Event("user_annotation", "ProfilerStep#3", 0, 9), Event("cpu_op", "aten::add_.Tensor", 1, 2))

    assert names_of(events) == ["ProfilerStep*", "aten::add_"]


def test_a_linked_call_is_on_the_thread_of_its_op() -> None:
    events = read(
        Event("cpu_op", "op", 0, 9, tid=8, external_id=3),
        Event("privateuse1_runtime", "submit", 20, 1, tid=99, external_id=3),
    )

    assert events.lane[0] == events.lane[1]


def test_an_unlinked_call_is_on_the_main_thread() -> None:
    events = read(
        Event("cpu_op", "worker op", 0, 9, tid=8),
        Event("cpu_op", "main op", 1, 9, tid=7),
        Event("privateuse1_runtime", "submit", 20, 1, tid=99, pid=0),
    )

    assert events.lane[2] == events.lane[1] != events.lane[0]


def test_without_a_main_thread_an_unlinked_call_is_on_the_first() -> None:
    events = read(
        Event("privateuse1_runtime", "submit", 0, 1, tid=99),
        Event("cpu_op", "first", 1, 9, tid="x"),
        Event("cpu_op", "second", 2, 9, tid=8),
    )

    assert events.lane[0] == events.lane[1] != events.lane[2]


def test_without_any_op_a_call_stays_where_it_is() -> None:
    events = read(Event("cuda_runtime", "a", 0, 1, tid=1), Event("cuda_runtime", "b", 1, 1, tid=2))

    assert events.lane[0] != events.lane[1]


def test_memory_that_no_event_held_is_an_event_and_a_failure_always_is() -> None:
    failure = Event("cpu_instant_event", "[OutOfMemory]", 5, phase="i", size_bytes=64, device_type=20)

    events = read(Event("cpu_op", "op", 0, 10), memory(7, 100), memory(30, 8, tid=9), failure)

    assert names_of(events) == ["op", "[OutOfMemory]", "[memory]"]
    assert events.cpu_bytes.tolist() == [100, 0, 8]
    assert events.device_bytes.tolist() == [0, 64, 0]


@pytest.mark.parametrize(("device_type", "cpu", "device"), [(0, 9, 0), (2, 9, 0), (5, 9, 0), (1, 0, 9), (20, 0, 9), (-1, 0, 0)])
def test_the_device_type_tells_whose_memory_it_is(device_type: int, cpu: int, device: int) -> None:
    events = read(memory(3, 9, device_type))

    assert (events.cpu_bytes.tolist(), events.device_bytes.tolist()) == ([cpu], [device])


def test_rows_without_a_time_are_counted_not_listed() -> None:
    events = read(Event("cpu_op", "no start", ABSENT, 5), Event("cpu_op", "no length", 5, ABSENT))

    assert names_of(events) == []
    assert events.findings == (
        Finding(Severity.WARNING, "host-row-without-time", "2 host rows without start or duration: not in the table", 2),
    )


def test_work_of_a_row_that_is_not_listed_is_counted_and_on_no_op() -> None:
    host = host_trace(Event("cpu_op", "aten::is_leaf", 0, 9), Event("kernel", "k", 5, 5, pid=0, tid=0))
    links = recorded_links(host)
    linked = type(links)(**{**vars(links), "host_row": links.host_row * 0 + 1})

    events = read_events(host, linked, with_flops=False, with_shapes=False)

    assert events.launcher.tolist() == [-1]
    assert [(finding.code, finding.count) for finding in events.findings] == [("launcher-not-listed", 1)]


def test_operations_and_shapes_are_read_only_when_asked_for() -> None:
    host = host_trace(Event("cpu_op", "aten::mm.default", 0, 9, input_dims="[[3,4],[4,5]]"), Event("cpu_op", "aten::t", 9, 1))

    asked = read_events(host, recorded_links(host), with_flops=True, with_shapes=True)
    unasked = read_events(host, recorded_links(host), with_flops=False, with_shapes=False)

    assert (asked.flops.tolist(), [asked.shape_texts[row] for row in asked.shapes]) == ([120, 0], ["[[3, 4], [4, 5]]", "[]"])
    assert (unasked.flops.tolist(), [unasked.shape_texts[row] for row in unasked.shapes]) == ([0, 0], ["[]", "[]"])


def test_columns_of_all_events_are_held_once_while_they_are_put_in_order() -> None:
    count = 20_000
    host = host_trace(*(Event("cpu_op", "x", 10 * (at ^ 1), 5) for at in range(count)))
    tracemalloc.start()
    events = read_events(host, no_device(), with_flops=False, with_shapes=False)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (events.start_ns - ORIGIN_NS).tolist() == list(range(0, 10 * count, 10))
    assert peak_bytes < 220 * count
