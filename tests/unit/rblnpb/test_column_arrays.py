"""Columns as a file has them become the arrays of a table."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence

import numpy as np
import pytest

from rblnpb.column_arrays import ABSENT, StoredColumn, frozen, listed, repeated
from rblnpb.columns import DeviceSlices


@pytest.mark.parametrize(
    ("stored", "dtype", "valid", "expected"),
    [
        (np.array([0, 255], np.uint8), np.uint64, None, [0, 255]),
        (np.array([-128, 127], np.int8), np.int64, None, [-128, 127]),
        (np.array([0, 1 << 31], np.uint32), np.int64, None, [0, 1 << 31]),
        (np.array([7, 8, 9], np.uint8), np.int64, [True, False, True], [7, ABSENT, 9]),
        (np.array([(1 << 63) - 1, 0], np.uint64), np.int64, [True, False], [(1 << 63) - 1, ABSENT]),
        # One value for all that have one.
        (np.array([5], np.uint64), np.int64, [False, True, True], [ABSENT, 5, 5]),
    ],
)
def test_a_stored_column_has_the_values_of_the_table(
    stored: np.ndarray, dtype: type[np.generic], valid: Sequence[bool] | None, expected: list[int]
) -> None:
    column = StoredColumn(stored, np.dtype(dtype), None if valid is None else np.array(valid))
    room = np.full(len(column), 99, dtype)
    column.fill(room)

    assert (room.tolist(), column.array().tolist(), column.array().dtype) == (expected, expected, np.dtype(dtype))
    assert not column.array().flags.writeable


def _table(stored: np.ndarray) -> DeviceSlices:
    return DeviceSlices.of(start_ticks=StoredColumn(stored, np.dtype(np.uint64)))


def test_a_table_makes_the_array_of_a_stored_column_once() -> None:
    stored = frozen(np.array([1, 2], np.uint8))
    table = _table(stored)

    assert (len(table), "start_ticks" in vars(table)) == (2, False)
    assert table.start_ticks.tolist() == [1, 2]
    assert table.start_ticks is table.start_ticks
    assert table.start_ticks.dtype == np.uint64


def test_a_table_with_stored_columns_is_equal_to_one_without_and_does_all_that_it_does() -> None:
    table = _table(frozen(np.array([1, 2], np.uint8)))
    other = copy.copy(table)
    plain = DeviceSlices.of(start_ticks=[1, 2])

    assert table.equals(plain)
    assert other.equals(plain)
    assert pickle.loads(pickle.dumps(_table(frozen(np.array([1, 2], np.uint8))))).equals(plain)
    assert table.take(slice(1, 2)).start_ticks.tolist() == [2]
    assert DeviceSlices.concat([table, plain]).start_ticks.tolist() == [1, 2, 1, 2]
    assert table.replace(engine_id=np.array([5, 6])).start_ticks.tolist() == [1, 2]


def test_a_column_goes_into_the_room_for_it() -> None:
    room = np.zeros(3, np.uint64)
    _table(frozen(np.array([1, 2], np.uint8))).column_into("start_ticks", room[1:])
    assert room.tolist() == [0, 1, 2]


def test_a_table_has_no_attribute_that_is_none() -> None:
    with pytest.raises(AttributeError, match="'DeviceSlices' object has no attribute 'start_ns'"):
        _table(np.array([1], np.uint8)).start_ns  # type: ignore[attr-defined]  # noqa: B018  # that is what is refused


def test_a_repeated_value_is_held_once_and_read_only() -> None:
    array = repeated(16, 1_000, np.dtype(np.uint32))

    assert (len(array), array.strides, array.dtype, set(array.tolist())) == (1_000, (0,), np.dtype(np.uint32), {16})
    assert not array.flags.writeable


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (np.int32, [-(1 << 31), 0, (1 << 31) - 1]),
        (np.int64, [ABSENT, (1 << 63) - 1]),
        (np.uint64, [0, (1 << 64) - 1]),
        (np.float64, [1.5, -0.0, float("inf"), float("nan")]),
        (np.int64, []),
    ],
)
def test_numbers_of_a_list_are_an_array_of_their_own(dtype: type[np.generic], values: list[float]) -> None:
    array = listed(values, dtype)

    np.testing.assert_array_equal(array, np.array(values, dtype), strict=True)
    assert array.flags.writeable


@pytest.mark.parametrize(
    ("dtype", "value"), [(np.int32, 1 << 31), (np.int64, 1 << 63), (np.int64, -(1 << 63) - 1), (np.uint64, -1)]
)
def test_a_number_that_does_not_fit_is_refused(dtype: type[np.generic], value: int) -> None:
    with pytest.raises(OverflowError):
        listed([0, value], dtype)
