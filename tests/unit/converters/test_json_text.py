"""Numbers and texts as JSON, a column at a time."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters import json_text
from rblnpb.converters.json_text import (
    Column,
    TextTable,
    decimal,
    inside_json_string,
    join_rows,
    json_string,
    members,
    microseconds,
    short_microseconds,
    signed_decimal,
    split_rows,
    where,
)

whole_numbers = st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 100_000), min_size=1)


@given(whole_numbers)
def test_decimal_is_what_python_prints(numbers: list[int]) -> None:
    assert split_rows(len(numbers), decimal(np.array(numbers))) == [b"%d" % number for number in numbers]


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1))
def test_signed_decimal_is_what_python_prints(numbers: list[int]) -> None:
    assert split_rows(len(numbers), *signed_decimal(np.array(numbers))) == [b"%d" % number for number in numbers]


@given(whole_numbers)
def test_microseconds_have_three_decimals_and_lose_nothing(times: list[int]) -> None:
    assert split_rows(len(times), microseconds(np.array(times))) == [b"%d.%03d" % divmod(time, 1000) for time in times]


@given(whole_numbers, st.integers(0, 3))
def test_microseconds_have_as_many_decimals_as_they_need_and_at_least_so_many(times: list[int], least: int) -> None:
    texts = [text.decode() for text in split_rows(len(times), *short_microseconds(np.array(times), least))]
    decimals = [len(text.partition(".")[2]) for text in texts]

    assert [Decimal(text) * 1000 for text in texts] == times
    assert all(count == least or (count > least and not text.endswith("0")) for text, count in zip(texts, decimals, strict=True))
    assert not any(text.endswith(".") for text in texts)


@given(
    st.dictionaries(st.text(), st.none() | st.text() | st.lists(st.text() | st.integers()) | st.dictionaries(st.text(), st.text()))
)
def test_members_are_found_with_the_places_of_their_values(value: dict[str, object]) -> None:
    for text in (json.dumps(value).encode(), json.dumps(value, ensure_ascii=False, indent=1, separators=(" ,", " :")).encode()):
        assert [(name, json.loads(text[low:high])) for name, low, high in members(text)] == list(value.items())


def test_members_that_repeat_are_all_found() -> None:
    text = b'{"a": 1, "b": {"a": 2}, "a":[3] }'

    assert [(name, text[low:high]) for name, low, high in members(text)] == [("a", b"1"), ("b", b'{"a": 2}'), ("a", b"[3]")]


@given(st.text())
def test_a_text_comes_back(text: str) -> None:
    assert json.loads(json_string(text)) == text
    assert json.loads(json_string(text, is_ascii=True)) == text
    assert json_string(text, is_ascii=True).isascii()


@given(st.text(), st.text())
def test_halves_of_a_text_put_together_are_the_whole(one: str, other: str) -> None:
    assert inside_json_string(one) + inside_json_string(other) == inside_json_string(one + other)


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert json_string("a\ud800b") == '"a\ufffdb"'.encode()


def test_no_text_has_a_nul_byte_or_a_control_character() -> None:
    assert json_string("\0\x1f\n") == rb'"\u0000\u001f\n"'


texts = st.lists(
    st.sampled_from([b"", b"x", b"name", "\u00b5s".encode(), b"a name of many words that is not short", b"n" * 100]), min_size=1
)


@given(texts, st.data())
def test_a_table_gives_its_texts_by_their_rows(table: list[bytes], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(table) - 1)))

    assert join_rows(len(rows), TextTable(table).take(np.array(rows, np.int64)), b";") == b"".join(
        table[row] + b";" for row in rows
    )


def test_a_table_that_is_too_large_to_stand_side_by_side_gives_its_texts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "_TABLE_BYTES", 0)

    assert join_rows(3, TextTable([b"a", b"bcd", b"e"]).take(np.array([1, 0, 1])), b";") == b"bcd;a;bcd;"


@given(st.integers(1, 12), st.integers(1, 5), st.sampled_from([-1, 1.25, 1000]), st.data())
def test_rows_put_texts_side_by_side(count: int, table_rows: int, few_blanks: float, data: st.DataObject) -> None:
    """Whatever the widths: also where nothing stands before a text to take what is before it in its cell."""
    columns: list[bytes | Column] = []
    wanted = [[b""] * count]
    for kind in data.draw(st.lists(st.sampled_from(["same", "text", "number", "some"]), max_size=8)):
        own = data.draw(st.lists(st.sampled_from([b"", b"x", b"name", b"n" * 40]), min_size=count, max_size=count))
        numbers = data.draw(st.lists(st.integers(0, 12) | st.integers(0, 2**63 - 1), min_size=count, max_size=count))
        some = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
        if kind == "same":
            columns.append(own[0])
            wanted.append([own[0]] * count)
        elif kind == "number":
            columns.append(decimal(np.array(numbers)))
            wanted.append([b"%d" % number for number in numbers])
        else:
            column = TextTable(own).take(np.arange(count))
            columns.append(column if kind == "text" else where(np.array(some), column))
            wanted.append([text if kind == "text" or is_there else b"" for text, is_there in zip(own, some, strict=True)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "_TABLE_ROWS", table_rows)
        patch.setattr(json_text, "_FEW_BLANKS", few_blanks)
        made = join_rows(count, *columns)

    assert made == b"".join(map(b"".join, zip(*wanted, strict=True)))


def test_where_leaves_rows_out() -> None:
    assert join_rows(2, where(np.array([True, False]), b"yes"), b".") == b"yes.."


def test_no_rows_no_text() -> None:
    none = np.empty(0, np.int64)

    assert join_rows(0, b"x", TextTable([]).take(none), decimal(none), *signed_decimal(none), microseconds(none)) == b""
