"""Rows of a recorder: what one call gives fits or not, and many of them become a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb._recorder_rows import packed_row, table_of_rows
from rblnpb.columns import ABSENT, Counters, DeviceSlices, Launches, Table, TraceEvents
from rblnpb.profile import KINDS
from rblnpb.strings import StringTable


def _value(kind: type[Table], name: str, value: Any) -> Any:
    """What stands in a column for a value; None when that does not fit. The plain way."""
    dtype, is_nullable = kind.schema()[name]
    assert dtype is not None
    if value is None:
        return ABSENT if is_nullable else 0
    if dtype.kind == "f":
        return float(value) if math.isfinite(value) else None
    low, high = kind.limits()[name]
    if not isinstance(value, int) or not (low <= value <= high or (is_nullable and value == ABSENT)):
        return None
    return int(value)


EDGES = [0, 1, 255, (1 << 31), (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64]
NUMBERS = st.sampled_from([*EDGES, *(-edge for edge in EDGES), 1.5, True])


@st.composite
def records(draw: st.DrawFn) -> tuple[type[Table], list[dict[str, Any]]]:
    """A kind, and some records of it, of which most fit."""
    kind = draw(st.sampled_from(sorted(KINDS.values(), key=lambda table: table.kind)))
    names = [name for name, (dtype, _) in kind.schema().items() if dtype is not None]
    usual = st.dictionaries(st.sampled_from(names), st.integers(0, (1 << 32) - 1) | st.none())
    odd = st.dictionaries(st.sampled_from(names), NUMBERS, max_size=2)
    return kind, [{**draw(usual), **draw(odd)} for _ in range(draw(st.integers(1, 4)))]


@given(records())
def test_a_row_holds_what_was_given_or_is_refused(given_records: tuple[type[Table], list[dict[str, Any]]]) -> None:
    kind, columns = given_records
    names = [name for name, (dtype, _) in kind.schema().items() if dtype is not None]
    expected = [[_value(kind, name, one.get(name)) for name in names] for one in columns]
    rows = [packed_row(kind, 5 * at, one, StringTable()) for at, one in enumerate(columns)]

    assert [row is None for row in rows] == [None in values for values in expected]
    kept = [at for at, row in enumerate(rows) if row is not None]
    if kept:
        table, numbers = table_of_rows(kind, [row for row in rows if row is not None])
        assert numbers.tolist() == [5 * at for at in kept]
        assert [list(values) for values in zip(*(table.column(name).tolist() for name in names), strict=True)] == [
            expected[at] for at in kept
        ]


def _table(kind: type[Table], columns: Mapping[str, Any], strings: StringTable | None = None) -> Table:
    row = packed_row(kind, 0, columns, strings or StringTable())
    assert row is not None
    return table_of_rows(kind, [row])[0]


def test_texts_become_rows_of_the_string_table() -> None:
    strings = StringTable()
    table = _table(DeviceSlices, {"name_strindex": "mm", "size_bytes": None, "stage_strindex": "relu"}, strings)

    assert table.equals(DeviceSlices.of(1, name_strindex=1, stage_strindex=2))
    assert strings.rows() == ("", "mm", "relu")


def test_numbers_of_numpy_are_numbers() -> None:
    values = {"launch_id": np.uint64(7), "start_ns": np.int64(-5), "instance": np.uint32(3)}
    assert _table(Launches, values).equals(Launches.of(1, launch_id=7, start_ns=-5, instance=3))
    assert _table(Counters, {"value": np.float32(1.5)}).equals(Counters.of(1, value=1.5))


@pytest.mark.parametrize("value", [math.inf, math.nan, 10**400, [1, 2]])
def test_what_no_double_holds_is_refused(value: Any) -> None:
    assert packed_row(Counters, 0, {"value": value}, StringTable()) is None


def test_byte_strings_of_a_row_are_empty() -> None:
    assert _table(TraceEvents, {"phase": 88}).equals(TraceEvents.of(1, phase=88))
    with pytest.raises(TypeError, match="TraceEvents has no column 'arguments'; it has phase, "):
        packed_row(TraceEvents, 0, {"arguments": b"{}"}, StringTable())
