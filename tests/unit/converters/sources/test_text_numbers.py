"""Numbers that are read from words of a text."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.sources._text_numbers import eight_digits, number_sizes, times_ns, whole_numbers
from tests.support.laid_out_texts import BEFORE, laid_out, pairs

NONE = (0, 0)


def test_eight_digits_are_one_number() -> None:
    digits = np.frombuffer(bytes([1, 2, 3, 4, 5, 6, 7, 8]) + bytes(8) + bytes([9] * 8), "<u8").astype(np.uint64)

    assert eight_digits(digits).tolist() == [12345678, 0, 99999999]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"0,", (0, 1)),
        (b"7}", (7, 1)),
        (b"1234567,", (1234567, 7)),
        (b"12345678 ", (12345678, 8)),
        (b"123456789\n", (123456789, 9)),
        (b"9999999999999999,", (9999999999999999, 16)),
        # Of what is longer, or is no whole number, it is the beginning: what follows is for others to look at.
        (b"12345678901234567,", (1234567890123456, 16)),
        (b"12.5", (12, 2)),
        (b"1e3", (1, 1)),
        (b"01,", NONE),
        (b"00000000,", NONE),
        (b"-1,", NONE),
        (b"null", NONE),
        (b"/", NONE),
        (b":", NONE),
        (b"\xb1,", NONE),
    ],
)
def test_whole_numbers(text: bytes, expected: tuple[int, int]) -> None:
    # The second one is longer than a word or shorter than it, which is read in another way.
    for other, of_other in ((b"5,", (5, 1)), (b"1234567890,", (1234567890, 10))):
        assert pairs(*whole_numbers(laid_out([text, other])[0], len(BEFORE))) == [expected, of_other]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"0,", (0, 1)),
        (b"5,", (5000, 1)),
        (b"0.5,", (500, 3)),
        (b"40.269\n", (40269, 6)),
        (b"1234567.25,", (1234567250, 10)),
        (b"12345678.125}", (12345678125, 12)),
        (b"5106254555619.506,", (5106254555619506, 17)),
        (b"1790857026000000.007,", (1790857026000000007, 20)),
        (b"9223372036854774.807,", (9223372036854774807, 20)),
        (b"9223372036854775.807,", NONE),
        (b"1.2345,", NONE),
        (b"1.,", NONE),
        (b".5,", NONE),
        (b"01.5,", NONE),
        (b"-1.5,", NONE),
        (b"NaN", NONE),
        (b"1.5e3,", (1500, 3)),
        (b"1.5.5,", (1500, 3)),
    ],
)
def test_times(text: bytes, expected: tuple[int, int]) -> None:
    for other, of_other in ((b"5.25,", (5250, 4)), (b"1234567890,", (1234567890000, 10))):
        windows, document, at = laid_out([text, other])
        assert pairs(*times_ns(windows, len(BEFORE), document, at)) == [expected, of_other]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (b"0,", 1),
        (b"1234567890123456,", 16),
        (b"0.5,", 3),
        (b"3.1153846153846154\n", 18),
        (b"12345678.12345678]", 17),
        (b"0.12345678901234567890123,", 25),
        (b"0.123456789012345678901234,", 0),
        (b"1.,", 0),
        (b"1..5", 0),
        (b"00.5", 0),
        (b"-1", 0),
        (b"true", 0),
        (b"1e5", 1),
    ],
)
def test_sizes_of_numbers(text: bytes, size: int) -> None:
    for other, of_other in ((b"5,", 1), (b"1234567890.5,", 12)):
        windows, document, at = laid_out([text, other])
        assert number_sizes(windows, len(BEFORE), document, at).tolist() == [size, of_other]
