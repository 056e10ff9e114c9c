"""The table's columns against one Python object per event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rblnpb.converters.analyze.torch_table.key_averages import event_rows, key_averages
from rblnpb.converters.nesting import nest
from rblnpb.converters.results import KeyAverages
from tests.support.torch_events import Event, host_trace, memory, slow_event_rows, slow_key_averages

# Few names, ids and moments: what matters is what happens when they meet.
NAMES = ("aten::mm", "aten::add", "matmul", "ProfilerStep#1", "ProfilerStep#2", "aten::is_leaf", "nccl:all_reduce")
HOST_CATEGORIES = ("cpu_op", "cpu_op", "cpu_op", "user_annotation", "python_function", "privateuse1_runtime", "cuda_runtime")
DEVICE_CATEGORIES = ("kernel", "gpu_memcpy", "gpu_user_annotation")
DIMS = ("", "[[2, 3], [3, 4]]", "[[2, 3]]", "[[[2], [3]], []]")

ids = st.integers(0, 6)
lengths = st.one_of(st.integers(0, 12), st.integers(0, 3000))
host_events = st.builds(
    Event,
    category=st.sampled_from(HOST_CATEGORIES),
    name=st.sampled_from(NAMES),
    start_ns=lengths,
    duration_ns=lengths,
    tid=st.sampled_from((7, 8, "worker")),
    external_id=ids,
    event_index=st.integers(-1, 40),
    input_dims=st.sampled_from(DIMS),
)
device_events = st.builds(
    Event,
    category=st.sampled_from(DEVICE_CATEGORIES),
    name=st.sampled_from(("kernel_0", "aten::add")),
    start_ns=lengths,
    duration_ns=lengths,
    pid=st.just(0),
    tid=st.integers(0, 1),
    external_id=ids,
)
memory_events = st.builds(
    memory,
    at_ns=lengths,
    size_bytes=st.integers(-5000, 5000),
    device_type=st.sampled_from((0, 1, 2, 9, 20)),
    tid=st.sampled_from((7, 8)),
)
traces = st.lists(st.one_of(host_events, host_events, host_events, device_events, memory_events), max_size=60)


def as_dicts(table: KeyAverages) -> list[dict[str, object]]:
    columns = {
        name: column.tolist() if isinstance(column, np.ndarray) else column
        for name, column in vars(table).items()
        if isinstance(column, np.ndarray | tuple) and name != "findings"
    }
    return [{name: column[row] for name, column in columns.items()} for row in range(len(table))]


@given(traces, st.booleans(), st.integers(0, 10**13))
@settings(max_examples=200)
def test_columns_equal_objects_to_the_last_bit(events: list[Event], by_shape: bool, shift_ns: int) -> None:
    # Far from the session's start a double has no digits left for a nanosecond: that is where the order of additions shows.
    events = [replace(event, start_ns=event.start_ns + shift_ns) for event in events]
    host = host_trace(*events, metadata={"with_flops": 1})

    table = key_averages(host, group_by_input_shape=by_shape)

    assert as_dicts(table) == slow_key_averages(events, group_by_input_shape=by_shape)


@given(traces)
def test_single_events_equal_objects_to_the_last_bit(events: list[Event]) -> None:
    table = event_rows(host_trace(*events, metadata={"with_flops": 1}))

    assert as_dicts(table) == slow_event_rows(events)


@given(traces)
def test_self_times_add_up_to_the_time_of_what_nothing_called(events: list[Event]) -> None:
    table = event_rows(host_trace(*events))

    # What may end on another thread calls nothing, and torch gives it no time of its own.
    roots = table.is_top_level & ~table.is_async
    assert table.self_cpu_time_total_ns.sum() == table.cpu_time_total_ns[roots].sum()


def slow_parents(lane: Sequence[int], start: Sequence[int], end: Sequence[int]) -> list[int]:
    parents, stacks = [], {number: list[int]() for number in lane}
    for row, number in enumerate(lane):
        stack = stacks[number]
        while stack and (start[row] >= end[stack[-1]] or end[row] > end[stack[-1]]):
            stack.pop()
        parents.append(stack[-1] if stack else -1)
        stack.append(row)
    return parents


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(-3, 40)), max_size=80))
@settings(max_examples=200)
def test_nesting_by_climbing_equals_nesting_by_a_stack(slices: list[tuple[int, int, int]]) -> None:
    # Negative lengths too: a broken file has them, and torch's stack takes them as they are.
    rows = sorted(((lane, start, start + length) for lane, start, length in slices), key=lambda row: (row[1], -row[2]))
    lane, start, end = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])

    parents = nest(np.array(lane, np.int64), np.array(start, np.int64), np.array(end, np.int64))

    assert parents.tolist() == slow_parents(lane, start, end)
