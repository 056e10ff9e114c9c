"""What is read of many places of a text at once is what is read of one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rblnpb.converters.sources._known_texts import LONG_BYTES, KnownTexts
from rblnpb.converters.sources._text_numbers import number_sizes, times_ns, whole_numbers
from rblnpb.converters.sources._text_words import (
    FixedText,
    TextWords,
    as_digits,
    before_other_than_digit,
    before_quote,
    count_bytes,
    count_digits,
)
from tests.support.laid_out_texts import BEFORE, laid_out, pairs, with_what_follows
from tests.support.plain_numbers import number_size, time_ns, whole_number

digits = st.text("0123456789", max_size=27)
number_texts = st.builds(
    lambda whole, decimals, behind: (whole + decimals + behind).encode(),
    digits | st.sampled_from(("9223372036854774", "9223372036854775", "0", "00")),
    st.just("") | digits.map(lambda text: "." + text),
    st.sampled_from((",", "}", "\n", " ", "e5", ".", "-", "x", "/", ":", "\x00")),
) | st.binary(max_size=30)


@given(st.lists(number_texts, min_size=1, max_size=6))
def test_numbers_are_those_of_one_text_after_the_other(texts: list[bytes]) -> None:
    windows, document, at = laid_out(texts)
    numbers, sizes = whole_numbers(windows, len(BEFORE))
    times, time_sizes = times_ns(windows, len(BEFORE), document, at)

    assert pairs(numbers, sizes) == list(map(whole_number, with_what_follows(texts)))
    assert pairs(times, time_sizes) == list(map(time_ns, with_what_follows(texts)))
    assert number_sizes(windows, len(BEFORE), document, at).tolist() == [number_size(text, 23) for text in with_what_follows(texts)]


names = st.text('ab"\\é\x00', max_size=40) | st.builds(
    lambda letter, count: letter * count, st.sampled_from("ab"), st.integers(0, 165)
)


@given(st.lists(names, max_size=30), st.lists(names, min_size=1, max_size=30), st.booleans())
def test_texts_are_known_as_in_a_dict(known_names: list[str], found: list[str], has_both: bool) -> None:
    known, numbers = KnownTexts(before_quote), dict[bytes, int]()
    for number, name in enumerate([*known_names, *(found[::2] if has_both else [])]):
        text = name.encode()
        if text not in numbers and b'"' not in text:
            numbers[text] = number
            known.add({text: number})
    texts = [name.encode() + b'"' for name in found]
    windows, document, at = laid_out(texts)

    told, sizes = known.find(windows, len(BEFORE), document, at)

    before = [text[: text.index(b'"')] for text in texts]
    assert told.tolist() == [numbers.get(text, -1) if len(text) < LONG_BYTES else -1 for text in before]
    assert sizes.tolist() == [min(len(text), LONG_BYTES) for text in before]


@given(st.binary(min_size=1, max_size=40), st.lists(st.binary(max_size=48), min_size=1, max_size=8), st.data())
def test_texts_begin_with_a_fixed_one_when_all_of_it_is_there(fixed: bytes, others: list[bytes], data: st.DataObject) -> None:
    texts = [data.draw(st.sampled_from((other, fixed + other, fixed[:-1] + other))).ljust(48, b"\0") for other in others]
    document = TextWords(np.frombuffer(b"".join(texts), np.uint8))

    found = document.windows(np.arange(0, 48 * len(texts), 48, dtype=np.int64), 48).begin_with(FixedText(fixed))

    assert found.tolist() == [text.startswith(fixed) for text in texts]


@given(st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=20))
def test_words_end_where_their_bytes_say(texts: list[bytes]) -> None:
    words = np.frombuffer(b"".join(texts), "<u8").astype(np.uint64)

    def until(is_end: Callable[[int], bool]) -> list[int]:
        return [next((place for place, byte in enumerate(text) if is_end(byte)), 8) for text in texts]

    def is_no_digit(byte: int) -> bool:
        return not ord("0") <= byte <= ord("9")

    assert count_bytes(before_quote(words)).tolist() == until(lambda byte: byte == ord('"'))
    assert count_bytes(before_other_than_digit(words)).tolist() == until(is_no_digit)
    assert count_digits(as_digits(words)).tolist() == until(is_no_digit)
