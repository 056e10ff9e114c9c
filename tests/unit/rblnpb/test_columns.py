"""Record tables: columns by name, immutable, and one to one with the schema."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from rblnpb.columns import (
    ABSENT,
    Counters,
    Dependencies,
    DeviceSlices,
    Launches,
    Table,
    TextArray,
    TraceEvents,
    frozen,
)
from rblnpb.profile import KINDS
from rblnpb.v1 import columns_pb2

PROTO = Path(__file__).parents[3] / "proto" / "rblnpb" / "v1" / "columns.proto"


def columns_of_the_schema(message: str) -> dict[str, tuple[str, bool, bool]]:
    """Name of each column to (text, double or integer; nullable; signed), as its comment in the schema says."""
    body = re.search(rf"^message {message} \{{\n(.*?)^\}}", PROTO.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert body is not None
    fields = re.findall(r"((?: *//[^\n]*\n)+) *(Column|TextColumn) (\w+) = \d+;", body.group(1))
    return {
        name: (
            "text" if column == "TextColumn" else "double" if "Double" in comment else "integer",
            "Nullable" in comment,
            "Signed" in comment,
        )
        for comment, column, name in fields
    }


@pytest.mark.parametrize("table", KINDS.values(), ids=lambda table: table.label)
def test_a_table_has_the_columns_that_the_schema_describes(table: type[Table]) -> None:
    ours = {
        name: (
            "text" if dtype is None else "double" if dtype.kind == "f" else "integer",
            nullable,
            name in table.signed_columns(),
        )
        for name, (dtype, nullable) in table.schema().items()
        if name != "clock_id"
    }

    message = columns_pb2.Chunk.DESCRIPTOR.fields_by_name[table.label].message_type
    assert message is not None
    assert ours == columns_of_the_schema(message.name)


def test_columns_that_are_not_given_are_zero_or_absent() -> None:
    table = DeviceSlices.of(start_ticks=np.array([5, 6]), workload=np.array([0, ABSENT]))

    assert len(table) == 2
    assert table.engine_id.tolist() == [0, 0]
    assert table.sequence.tolist() == [ABSENT, ABSENT]
    assert table.workload.tolist() == [0, ABSENT]


def test_one_value_fills_its_column() -> None:
    assert Launches.of(2, launch_id=7, start_ns=np.array([1, 2])).launch_id.tolist() == [7, 7]


def test_a_table_without_an_array_needs_a_count() -> None:
    with pytest.raises(ValueError, match="count is needed"):
        Launches.of(launch_id=7)


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"columns of Launches differ in length: \[1, 2\]"):
        Launches.of(start_ns=np.array([1, 2]), launch_id=np.array([1]))


def test_a_column_that_the_kind_does_not_have_is_named() -> None:
    with pytest.raises(TypeError, match="Launches has no column 'start_ticks'; it has launch_id, program_id"):
        Launches.of(start_ticks=np.array([1]))


def test_arrays_are_read_only_and_those_of_the_caller_stay_writable() -> None:
    mine = np.array([1, 2], np.int64)
    table = Launches.of(start_ns=mine)

    with pytest.raises(ValueError, match="read-only"):
        table.start_ns[0] = 5
    mine[0] = 9
    assert table.start_ns.tolist() == [1, 2]
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.start_ns = mine  # type: ignore[misc]  # that is what is refused


def test_arrays_of_texts_are_copied_where_the_caller_can_write_to_them() -> None:
    ends, text = np.array([1, 2], np.int64), np.frombuffer(b"ab", np.uint8).copy()
    texts = TextArray(ends, text)
    ends[0], text[0] = 0, 99

    assert [texts[0], texts[1]] == [b"a", b"b"]


def test_an_array_that_nobody_writes_to_is_taken_as_it_is() -> None:
    ours = frozen(np.array([1, 2], np.int64))

    assert np.shares_memory(Launches.of(start_ns=ours).start_ns, ours)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (np.array([2, 0]), [30, 10]),
        (np.array([False, True, True]), [20, 30]),
        (slice(1, 3), [20, 30]),
        (slice(None, None, 2), [10, 30]),
        (slice(3, 1), []),
    ],
)
def test_rows_are_taken_in_the_order_asked_for(rows: object, expected: list[int]) -> None:
    texts = [b"a", b"", b"ccc"]
    events = TraceEvents.of(start_ns=np.array([10, 20, 30]), arguments=TextArray.of(texts))

    taken = events.take(rows)  # type: ignore[arg-type]  # parameters are of several types

    assert taken.start_ns.tolist() == expected
    assert [taken.arguments[row] for row in range(len(taken))] == [texts[value // 10 - 1] for value in expected]


def test_a_slice_of_a_table_is_not_copied() -> None:
    table = Launches.of(start_ns=np.arange(9))

    assert np.shares_memory(table.take(slice(2, 5)).start_ns, table.start_ns)


def test_parts_are_joined_in_their_order() -> None:
    parts = [TraceEvents.of(1, start_ns=n, arguments=TextArray.of([b"x" * n])) for n in (2, 0, 1)]

    joined = TraceEvents.concat(parts)

    assert joined.start_ns.tolist() == [2, 0, 1]
    assert [joined.arguments[row] for row in range(3)] == [b"xx", b"", b"x"]
    assert TraceEvents.concat([]).equals(TraceEvents.empty())


def test_a_repeated_value_is_joined_with_others() -> None:
    parts = [Launches.of(thread_id=np.broadcast_to(np.int64(7), 2)), Launches.of(thread_id=[8])]

    assert Launches.concat(parts).thread_id.tolist() == [7, 7, 8]
    assert not Launches.concat(parts).thread_id.flags.writeable


def test_tables_are_equal_when_their_kind_and_records_are() -> None:
    table = Counters.of(time_ticks=np.array([1, 2]), value=np.array([0.5, 1.5]))

    assert table.equals(Counters.of(time_ticks=np.array([1, 2]), value=np.array([0.5, 1.5])))
    assert not table.equals(table.replace(value=np.array([0.5, 1.0])))
    assert not table.equals(table.take(slice(0, 1)))
    assert not Dependencies.empty().equals(Launches.empty())
    assert not table.equals("a table")


def test_texts_are_equal_when_their_bytes_and_places_are() -> None:
    one, other = (TraceEvents.of(arguments=TextArray.of(texts)) for texts in ([b"ab", b"c"], [b"a", b"bc"]))

    assert one.equals(TraceEvents.of(arguments=TextArray.of([b"ab", b"c"])))
    assert not one.equals(other)


def test_one_value_for_all_records_is_held_once() -> None:
    ours = np.broadcast_to(np.uint32(16), 1_000)
    table = Counters.of(clock_id=ours, time_ticks=np.arange(1_000))

    assert table.clock_id.strides == (0,)
    assert table.take(slice(5, 900)).clock_id.strides == (0,)
    assert table.take(np.array([3, 3])).clock_id.tolist() == [16, 16]
