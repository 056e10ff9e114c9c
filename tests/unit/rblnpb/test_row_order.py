"""The order of rows by several columns of whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.row_order import order_by

Column = npt.NDArray[Any]

LEAST, MOST = -(1 << 63), (1 << 63) - 1
wide = st.one_of(st.integers(-2, 2), st.sampled_from((LEAST, MOST, 1 << 40)))


@given(st.lists(st.tuples(wide, wide, st.integers(-1, 1), wide), max_size=12))
def test_rows_are_in_the_order_of_their_keys_and_equal_ones_in_their_own(rows: list[tuple[int, ...]]) -> None:
    keys = np.array(rows, np.int64).reshape(-1, 4).T
    assert order_by(*keys).tolist() == sorted(range(len(rows)), key=lambda row: rows[row])


COLUMNS: Final[dict[str, Callable[[np.random.Generator, int], Column]]] = {
    "one value": lambda draw, count: np.full(count, 7),
    "yes or no": lambda draw, count: draw.integers(0, 2, count).astype(np.bool_),
    "lanes": lambda draw, count: draw.integers(-3, 5, count).astype(np.int32),
    "times": lambda draw, count: (1 << 60) + draw.integers(0, 1 << 37, count),
    "few times": lambda draw, count: draw.integers(0, 1 << 30, 1 + count // 8)[draw.integers(0, 1 + count // 8, count)],
    "times in order": lambda draw, count: np.sort(draw.integers(0, 1 << 37, count)),
    "times nearly in order": lambda draw, count: np.arange(count) * 100_000 + draw.integers(0, 1_000_000, count),
    "times in two runs": lambda draw, count: np.arange(count)[::-1] % (1 + count // 2) * -1_000_000,
    "int64": lambda draw, count: draw.integers(LEAST, MOST, count),
    "uint64": lambda draw, count: draw.integers(0, 1 << 63, count).astype(np.uint64) * np.uint64(2),
    "absent times": lambda draw, count: np.where(draw.random(count) < 0.1, LEAST, (1 << 60) + draw.integers(0, 1 << 20, count)),
}


def order_of_tuples(*keys: Column) -> list[int]:
    """What `order_by` stands for: slow, and plainly so."""
    rows = list(zip(*(key.tolist() for key in keys), strict=True))
    return sorted(range(len(rows)), key=rows.__getitem__)


@given(
    st.integers(0, 1 << 32), st.sampled_from((2, 1_000, 3_000)), st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4)
)
def test_any_columns_are_sorted_as_their_tuples_are(seed: int, count: int, names: list[str]) -> None:
    draw = np.random.default_rng(seed)
    keys = [COLUMNS[name](draw, count) for name in names]
    given_keys = [key.copy() for key in keys]
    assert order_by(*keys).tolist() == order_of_tuples(*keys)
    assert all(np.array_equal(key, before) for key, before in zip(keys, given_keys, strict=True))


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_each_kind_of_column_is_sorted_by_itself_and_beside_times(name: str) -> None:
    draw = np.random.default_rng(1)
    key, times = COLUMNS[name](draw, 5_000), COLUMNS["few times"](draw, 5_000)
    for keys in ((key,), (key, times), (times, key), (times, times, key)):
        assert order_by(*keys).tolist() == order_of_tuples(*keys)


@pytest.mark.parametrize("width", range(1, 65))
def test_numbers_of_any_width_are_sorted(width: int) -> None:
    draw = np.random.default_rng(width)
    key = draw.integers(0, 1 << min(width, 63), 3_000, np.uint64) << np.uint64(width == 64)
    # The widest and the least, so that the others may agree in all of their upper bits.
    key[:2] = (1 << width) - 1, 0
    key[2:1_000] >>= np.uint64(width // 2)
    assert order_by(key).tolist() == order_of_tuples(key)


def test_an_order_is_int64_of_rows() -> None:
    assert [order_by(COLUMNS[name](np.random.default_rng(1), count)).dtype for name in COLUMNS for count in (1, 3_000)] == [
        np.dtype(np.int64)
    ] * (2 * len(COLUMNS))
    assert order_by(np.empty(0, np.int64), np.empty(0, np.bool_)).tolist() == []
