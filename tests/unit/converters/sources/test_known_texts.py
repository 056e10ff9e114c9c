"""Texts that are recognised in a document."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rblnpb.converters.sources import _known_texts
from rblnpb.converters.sources._known_texts import LONG_BYTES, KnownTexts
from rblnpb.converters.sources._text_words import before_other_than_digit, before_quote
from tests.support.laid_out_texts import BEFORE, laid_out


def found(known: KnownTexts, texts: Sequence[bytes]) -> list[tuple[int, int]]:
    """Numbers and lengths of texts."""
    windows, document, at = laid_out(texts)
    numbers, sizes = known.find(windows, len(BEFORE), document, at)
    return list(zip(numbers.tolist(), sizes.tolist(), strict=True))


LENGTHS = (1, 7, 8, 9, 15, 16, 31, 32, 33, 64, 158, 159)


def test_texts_of_any_length_are_known_by_all_of_their_bytes() -> None:
    known = KnownTexts(before_quote)
    texts = [b"n" * length for length in LENGTHS]
    known.add({text: number for number, text in enumerate(texts)})

    assert found(known, [text + b'"' for text in texts]) == [(number, len(text)) for number, text in enumerate(texts)]
    others = [text[:-1] + b'x"' for text in texts]
    assert found(known, others) == [(-1, len(text)) for text in texts]


def test_a_text_ends_at_the_first_quote_and_no_sooner() -> None:
    known = KnownTexts(before_quote)
    known.add({b"ab": 5, b"ab cd": 6, b"ab\x00": 7})

    assert found(known, [b'ab"cd"', b'ab cd"', b'a"', b'ab\\"', b'""']) == [(5, 2), (6, 5), (-1, 1), (-1, 3), (-1, 0)]
    # Zeros behind a text are none of it, but those in it are.
    assert found(known, [b'ab\x00"', b'ab\x00\x00"']) == [(7, 3), (-1, 4)]


def test_what_is_too_long_is_not_known() -> None:
    known = KnownTexts(before_quote)
    known.add({b"n" * LONG_BYTES: 1, b"n" * (LONG_BYTES + 1): 2, b"": 3})

    numbers = [number for number, _ in found(known, [b"n" * LONG_BYTES + b'"', b"n" * (LONG_BYTES + 1) + b'"', b'"'])]

    assert numbers == [-1, -1, 3]


def test_numbers_end_where_a_byte_is_no_digit() -> None:
    known = KnownTexts(before_other_than_digit)
    known.add({b"7": 0, b"140234567890123": 1})

    assert found(known, [b"7,", b"140234567890123\n", b"77 ", b"-7,"]) == [(0, 1), (1, 15), (-1, 2), (-1, 0)]


def told_apart(slots: int | None, monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], set[int]]:
    """What is known of 600 texts and of 600 others, where all of them want one of so many slots."""
    if slots is not None:
        slots_of = _known_texts._Table._slots_of
        monkeypatch.setattr(_known_texts._Table, "_slots_of", lambda self, keys: slots_of(self, keys) % slots)
    known = KnownTexts(before_quote)
    texts = [b"%d" % (number * 7919) for number in range(600)]
    for first in range(0, 600, 50):
        known.add({text: first + place for place, text in enumerate(texts[first : first + 50])})
    return [number for number, _ in found(known, [text + b'"' for text in texts])], {
        number for number, _ in found(known, [b'x%s"' % text for text in texts])
    }


def test_many_texts_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told_apart(None, monkeypatch) == (list(range(600)), {-1})


@pytest.mark.parametrize("slots", [1, 7])
def test_of_texts_that_want_the_same_slot_the_first_ones_are_known(slots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever made them so would otherwise have their reader look at all of them for each."""
    numbers, of_others = told_apart(slots, monkeypatch)

    known = [number for number in numbers if number >= 0]
    assert known == [row for row, number in enumerate(numbers) if number == row]
    assert 32 <= len(known) <= 32 + slots
    assert of_others == {-1}
