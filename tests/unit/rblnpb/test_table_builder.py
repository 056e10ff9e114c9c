"""Parts become one table that is held once."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.columns import Counters, Launches, TextArray, TraceEvents
from rblnpb.table_builder import TableBuilder


def test_a_table_that_was_built_is_held_once() -> None:
    builder = TableBuilder(Launches, 2)
    builder.append(Launches.of(start_ns=[1, 2]))

    assert np.shares_memory(builder.table().start_ns, builder.table().start_ns)


def test_a_builder_fills_arrays_of_the_final_size() -> None:
    builder = TableBuilder(TraceEvents, 5)
    for n in (3, 1):
        builder.append(TraceEvents.of(start_ns=np.arange(n), arguments=TextArray.of([b"x"] * n)))

    table = builder.table()

    assert isinstance(table, TraceEvents)
    assert table.start_ns.tolist() == [0, 1, 2, 0]
    assert table.arguments.text.tobytes() == b"xxxx"


def _launches(*thread_ids: int) -> Launches:
    return Launches.of(start_ns=np.arange(len(thread_ids)), thread_id=np.array(thread_ids))


def _one_thread(thread_id: int, count: int) -> Launches:
    return Launches.of(start_ns=np.arange(count), thread_id=np.broadcast_to(np.int64(thread_id), count))


@pytest.mark.parametrize(
    ("parts", "thread_ids", "is_one_value"),
    [
        ([_one_thread(7, 2), _one_thread(7, 1)], [7, 7, 7], True),
        ([_one_thread(7, 2), _one_thread(8, 1), _one_thread(8, 1)], [7, 7, 8, 8], False),
        ([_one_thread(7, 2), _launches(9, 7)], [7, 7, 9, 7], False),
        ([_launches(9, 7), _one_thread(7, 2)], [9, 7, 7, 7], False),
        ([_one_thread(7, 0), _one_thread(8, 2)], [8, 8], True),
        ([_launches(), _one_thread(8, 2)], [8, 8], True),
        ([], [], True),
    ],
)
def test_a_column_with_one_value_throughout_takes_no_memory(
    parts: list[Launches], thread_ids: list[int], is_one_value: bool
) -> None:
    builder = TableBuilder(Launches, 9)
    for part in parts:
        builder.append(part)
    table = builder.table()

    assert table.equals(Launches.concat(parts))
    assert table.thread_id.tolist() == thread_ids
    assert (table.thread_id.strides == (0,)) == is_one_value


def test_values_that_are_equal_in_other_bits_are_two() -> None:
    builder = TableBuilder(Counters, 2)
    for value in (0.0, -0.0):
        builder.append(Counters.of(1, value=np.broadcast_to(value, 1)))

    assert np.signbit(builder.table().value).tolist() == [False, True]
