"""Where things stand in a block of text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.sources._json_blocks import Gap, _true_places, cut_elements, guess_elements
from rblnpb.converters.sources._text_window import PADDING_BYTES, TextWindow


@given(st.lists(st.booleans(), max_size=40))
def test_true_places_are_those_that_numpy_finds(mask: list[bool]) -> None:
    assert _true_places(np.array(mask, np.bool_)).tolist() == np.flatnonzero(mask).tolist()


@pytest.mark.parametrize("place", range(24))
def test_one_place_is_found_wherever_in_a_word_it_is(place: int) -> None:
    mask = np.zeros(23, np.bool_)
    mask[place : place + 1] = True

    assert _true_places(mask).tolist() == ([place] if place < 23 else [])


def guessed(text: bytes, before_bytes: int, after_bytes: int) -> list[bytes] | None:
    window = TextWindow(iter([text]))
    window.read(len(text))
    block = guess_elements(window, Gap(before_bytes, after_bytes))
    return None if block is None else [block.event_text(row) for row in range(len(block))]


@pytest.mark.parametrize("space", [b"", b" ", b"\n      ", b"\n       ", b"\n        ", b"\r\n" + b"\t" * 14, b" " * 24])
def test_events_are_cut_where_the_usual_white_space_is_between_them(space: bytes) -> None:
    after_bytes = len(space) + 1

    assert guessed(b'{"a": 1},%s{"b": {}},%s{"c": 3}' % (space, space), 1, after_bytes) == [b'{"a": 1}', b'{"b": {}}']
    # Other text of that length is part of an event that is not JSON, whoever is to say so.
    for place in range(len(space)):
        other = space[:place] + b"x" + space[place + 1 :]
        assert guessed(b'{"a": 1},%s{"b": 2},%s{"c": 3}' % (other, space), 1, after_bytes) != [b'{"a": 1}', b'{"b": 2}']


def test_what_stands_before_the_first_event_is_white_space() -> None:
    assert guessed(b' \n {"a": 1},\n{"b": 2},\n', 1, 2) == [b'{"a": 1}']
    assert guessed(b'x {"a": 1},\n{"b": 2},\n', 1, 2) is None
    assert guessed(b'"k": {"a": 1},\n{"b": 2},\n', 1, 2) is None


def test_some_events_are_a_text_of_their_own() -> None:
    text = b'{"a": 1},\n{"b": {}}\t,\n{"c": 3},\n{"d": 4},\n'
    window = TextWindow(iter([text]))
    window.read(len(text))
    block, _ = cut_elements(window, is_first=True)

    some = block.some(np.array([1, 3]))

    assert bytes(some.text) == b'{"b": {}}\n{"d": 4}'
    assert [some.event_text(row) for row in range(len(some))] == [b'{"b": {}}', b'{"d": 4}']
    assert len(some.padded) >= len(some.text) + PADDING_BYTES


@pytest.mark.parametrize("size", [1, 1000, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_there_is_padding_behind_every_window(size: int) -> None:
    window = TextWindow(iter([b"x" * size, b"y" * size, b"z" * size]))
    for letter in b"xyz":
        window.read(1)
        padded = window.padded(window.size)
        assert len(padded) == window.size + PADDING_BYTES
        assert padded[: window.size].tobytes() == bytes([letter]) * size
        window.drop(size)
