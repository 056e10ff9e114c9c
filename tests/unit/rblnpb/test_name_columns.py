"""Names of many slices at once are those that `naming.render` spells one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb import name_columns
from rblnpb.name_columns import NameColumns, distinct
from rblnpb.naming import NameStyle, render

TEXTS = (b"", b"mm", b"linear_1", "\u00b5".encode())

numbers = st.one_of(st.integers(0, 3), st.integers(0, 2**62))
slices = st.lists(
    st.tuples(st.integers(0, 3), st.booleans(), numbers, numbers, st.one_of(st.just(-1), numbers), st.one_of(st.just(-1), numbers)),
    min_size=1,
    max_size=12,
)


def columns(rows: list[tuple[int, ...]]) -> dict[str, np.ndarray]:
    names = ("text", "is_whole", "command", "instance", "sequence", "workload")
    made = {name: np.array(values, np.int64) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
    return {**made, "is_whole": made["is_whole"].astype(np.bool_)}


def spelled(names: NameColumns, rows: slice) -> list[bytes]:
    texts, size = names.take(rows)
    return [text[:length].tobytes() for text, length in zip(texts, size.tolist(), strict=True)]


@pytest.mark.parametrize("table_bytes", [name_columns._TABLE_BYTES, 0])
@pytest.mark.parametrize("style", NameStyle)
@given(rows=slices)
def test_names_are_those_of_the_grammar(style: NameStyle, table_bytes: int, rows: list[tuple[int, ...]]) -> None:
    parts = columns(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_columns, "_TABLE_BYTES", table_bytes)
        names = NameColumns(style, TEXTS, **parts)
    layer = np.array([TEXTS[row] for row in parts["text"]], np.bytes_)
    others = {name: parts[name] for name in ("command", "instance", "sequence", "workload")}
    wanted = np.where(parts["is_whole"], layer, render(style, layer=layer, **others)).tolist()

    assert spelled(names, slice(None)) == wanted
    assert spelled(names, slice(len(rows) // 2, None)) == wanted[len(rows) // 2 :]


@given(st.lists(st.tuples(st.integers(-2, 2), st.one_of(st.integers(0, 2), st.integers(-(2**63), 2**63 - 1))), max_size=20))
def test_distinct_rows_are_those_of_a_set(rows: list[tuple[int, int]]) -> None:
    table = np.array(rows, np.int64).reshape(-1, 2)
    values, row = distinct(table[:, 0], table[:, 1])
    found = list(zip(*(column.tolist() for column in values), strict=True))

    assert found == sorted(set(rows))
    assert [found[number] for number in row.tolist()] == rows
