"""Plain decimal numbers in a text, read for many places at once. Whatever is written in another way is not read here."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..timeline import Int64
from ._text_words import WORD_BYTES, TextWords, Windows, Words, as_digits, count_digits

NUMBER_BYTES: Final = 2 * WORD_BYTES
"""How much of the text it takes to read a number: one of more digits is not read."""
LONGEST_NUMBER_BYTES: Final = 5 * WORD_BYTES
"""As long as a number may be, and what follows may be looked at."""
_MOST_DECIMALS: Final = 3 * WORD_BYTES - 1
_LONGEST_US: Final = np.iinfo(np.int64).max // 1000 - 1
_POWERS: Final = np.array([10**exponent for exponent in range(WORD_BYTES + 1)], np.uint64)
_POINT: Final = np.uint64(ord("."))
_POINT_AS_DIGIT: Final = _POINT ^ np.uint64(ord("0"))
_LOW_BYTE: Final = np.uint64(0xFF)
_PAIRS: Final = np.uint64(0x0000_00FF_0000_00FF)
_WEIGHTS: Final = np.uint64(0x000F_4240_0000_0064)
_ODD_WEIGHTS: Final = np.uint64(0x0000_2710_0000_0001)
_DECIMALS: Final = 3


def eight_digits(digits: Words) -> Words:
    """The number of each eight digits, the first one, which counts most, in the lowest byte: bytes 0 to 9.

    Neighbours are joined to pairs; the four pairs are weighed by two multiplications, whose upper halves hold the sum of two each.
    """
    pairs = digits * np.uint64(10)
    pairs += digits >> np.uint64(8)
    first = pairs & _PAIRS
    first *= _WEIGHTS
    pairs >>= np.uint64(16)
    pairs &= _PAIRS
    pairs *= _ODD_WEIGHTS
    first += pairs
    first >>= np.uint64(32)
    return first


class _Digits:
    """The digits, up to 16, that texts begin with.

    Attributes:
        sizes: int64[n]; how many, 0 where JSON would not have it so: at a 0 before another digit.
        first: uint64[n]; the first word, as digits.
        is_short: Whether that holds all of them, and what follows.
    """

    def __init__(self, windows: Windows, offset: int) -> None:
        self.first = as_digits(windows.word(offset))
        self._count = count_digits(self.first)
        self.is_short = int(self._count.max()) < WORD_BYTES
        sizes = self._count.copy()
        if not self.is_short:
            self._following = as_digits(windows.word(offset + WORD_BYTES))
            self._more = count_digits(self._following)
            self._more *= self._count == WORD_BYTES
            sizes += self._more
        has_zero = (self.first & _LOW_BYTE) == 0
        has_zero &= sizes > 1
        sizes[has_zero] = 0
        self.sizes: Int64 = sizes.view(np.int64)

    def numbers(self) -> Int64:
        """int64[n]; their numbers."""
        numbers = eight_digits(_to_the_end(self.first, self._count))
        if not self.is_short:
            numbers *= _POWERS[self._more.view(np.int64)]
            numbers += eight_digits(_to_the_end(self._following, self._more))
        return numbers.view(np.int64)


def whole_numbers(windows: Windows, offset: int) -> tuple[Int64, Int64]:
    """Numbers of 1 to 16 digits, which JSON allows: without a 0 before another digit.

    Args:
        windows: n pieces of a text, one at least, with `NUMBER_BYTES` from the offset on.
        offset: Where the numbers begin in them.

    Returns:
        int64[n]: the numbers; int64[n]: their lengths, 0 where there is no such number. What follows is not looked at.
    """
    digits = _Digits(windows, offset)
    return digits.numbers(), digits.sizes


def times_ns(windows: Windows, offset: int, text: TextWords, places: Int64) -> tuple[Int64, Int64]:
    """Nanoseconds of microseconds that are written as digits, with up to three decimals.

    Args:
        windows, offset: As for `whole_numbers`.
        text: What they are pieces of.
        places: int64[n]; where the numbers begin in it; `LONGEST_NUMBER_BYTES` more follow.

    Returns:
        int64[n]: the times; int64[n]: lengths of what they are written as, 0 where that is not so.
    """
    times, sizes = whole_numbers(windows, offset)
    is_time = (sizes > 0) & (times <= _LONGEST_US)
    tail = text.windows(places + sizes, WORD_BYTES).word(0)
    has_point = (tail & _LOW_BYTE) == _POINT
    tail >>= np.uint64(8)
    digits = as_digits(tail)
    decimals = count_digits(digits)
    is_time &= ~has_point | ((decimals > 0) & (decimals <= _DECIMALS))
    decimals *= has_point
    # Decimals that are not there are zeros.
    digits &= (np.uint64(1) << (decimals << np.uint64(3))) - np.uint64(1)
    times *= 1000
    times += eight_digits(digits << np.uint64(8 * (WORD_BYTES - _DECIMALS))).view(np.int64)
    sizes += decimals.view(np.int64)
    sizes += has_point
    sizes[~is_time] = 0
    return times, sizes


def number_sizes(windows: Windows, offset: int, text: TextWords, places: Int64) -> Int64:
    """Lengths of numbers that nobody asks for: up to 16 digits, then perhaps a point and up to 23 more; 0 where there is none.

    Args:
        windows, offset, text, places: As for `times_ns`.
    """
    digits = _Digits(windows, offset)
    sizes = digits.sizes
    if digits.is_short:
        has_point = digits.first >> (sizes.view(np.uint64) << np.uint64(3)) & _LOW_BYTE == _POINT_AS_DIGIT
    else:
        has_point = text.windows(places + sizes, WORD_BYTES).word(0) & _LOW_BYTE == _POINT
    decimal = np.flatnonzero(has_point & (sizes > 0))
    if len(decimal):
        behind = text.windows(places[decimal] + sizes[decimal] + 1, _MOST_DECIMALS + 1)
        decimals = np.zeros(len(decimal), np.uint64)
        for start in range(0, _MOST_DECIMALS + 1, WORD_BYTES):
            decimals += count_digits(as_digits(behind.word(start))) * (decimals == start)
        sizes[decimal] += decimals.view(np.int64) + 1
        sizes[decimal[(decimals == 0) | (decimals > _MOST_DECIMALS)]] = 0
    return sizes


def _to_the_end(digits: Words, count: Words) -> Words:
    """The first digits of each word as the last ones, zeros before them."""
    return digits << (np.uint64(8) * (np.uint64(WORD_BYTES) - count))
