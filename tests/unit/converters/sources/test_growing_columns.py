"""Columns that grow: whatever comes in, in whichever parts, they hold what was appended."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.columns import ABSENT
from rblnpb.converters.host_trace import CORE_COLUMNS
from rblnpb.converters.sources._growing_columns import GrowingColumns

NAMES = CORE_COLUMNS | {"external_id", "length"}
ABSENT_VALUES = dict.fromkeys(NAMES, 0) | {"start_ns": ABSENT, "duration_ns": ABSENT}

values = st.integers(0, 3)
parts = st.integers(0, 4).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.dictionaries(st.sampled_from(sorted(NAMES)), values | st.lists(values, min_size=count, max_size=count)),
    )
)


@given(st.lists(parts, max_size=6), st.integers(-5, 5))
def test_rows_are_those_of_lists(appended: list[tuple[int, dict[str, Any]]], base_time_ns: int) -> None:
    expected: dict[str, list[int]] = {name: [] for name in NAMES}
    growing = GrowingColumns(NAMES)
    for count, columns in appended:
        growing.append(count, {name: np.array(value, np.int64) for name, value in columns.items()})
        for name, rows in expected.items():
            value = columns.get(name, ABSENT_VALUES[name])
            rows.extend(value if isinstance(value, list) else [value] * count)
    expected["start_ns"] = [value if value == ABSENT else value + base_time_ns for value in expected["start_ns"]]

    events, lost = growing.finish(base_time_ns)

    assert {name: column.tolist() for name, column in events.columns().items()} == expected
    assert lost == 0


def test_a_column_is_one_value_until_another_comes() -> None:
    growing = GrowingColumns({"phase", "category", "start_ns"})
    one: npt.NDArray[Any] = np.array(88, np.uint8)
    growing.append(5000, {"phase": one})
    growing.append(5000, {"phase": one, "category": np.array(7, np.int32)})

    events, _ = growing.finish(0)

    assert (events.phase.strides, events.phase.dtype.name, len(events)) == ((0,), "uint8", 10000)
    assert events.category.tolist() == [0] * 5000 + [7] * 5000


def test_what_nobody_asked_for_is_not_kept() -> None:
    growing = GrowingColumns({"phase", "start_ns"})
    growing.append(1, {"phase": np.array(88, np.uint8), "name": np.array([3], np.int32)})

    assert growing.finish(0)[0].columns().keys() == {"phase", "start_ns"}
