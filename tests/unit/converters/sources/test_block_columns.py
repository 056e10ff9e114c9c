"""Texts of the events of one block."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from rblnpb.converters.sources._block_columns import Columns, TextsAt


def test_texts_of_others_come_where_those_stand() -> None:
    some = TextsAt([0, 4, 5], ["a", "b", "c"])

    assert some.with_others(np.array([1, 3, 6]), TextsAt([0, 2], ["x", "y"])) == TextsAt([0, 1, 4, 5, 6], ["a", "x", "b", "c", "y"])
    assert some.with_others(np.array([1, 3, 6]), TextsAt([], [])) == some
    assert TextsAt([], []).with_others(np.array([2]), TextsAt([0], ["x"])) == TextsAt([2], ["x"])


def test_texts_are_those_of_the_events_that_have_one() -> None:
    values = [msgspec.Raw(text) for text in (b"", b"[1]", b"", '"é"'.encode())]

    assert TextsAt.of(values) == TextsAt([1, 3], ["[1]", '"é"'])
    assert TextsAt.of(values[:1]) == TextsAt([], [])
    with pytest.raises(UnicodeDecodeError):
        TextsAt.of([msgspec.Raw(b"\xff")])


def test_of_two_columns_of_one_name_the_second_counts_where_it_has_a_text() -> None:
    columns: Columns = {}
    strings = {"": 0}
    TextsAt([], []).put(columns, "input_dims", 3, strings)
    assert columns == {}
    TextsAt([0, 1, 2], ["a", "a", "a"]).put(columns, "input_dims", 3, strings)
    assert columns["input_dims"].shape == ()
    TextsAt([1], ["b"]).put(columns, "input_dims", 3, strings)

    assert columns["input_dims"].tolist() == [1, 2, 1]
    assert strings == {"": 0, "a": 1, "b": 2}
