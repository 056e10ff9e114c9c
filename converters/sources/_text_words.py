"""Words of a text: eight bytes anywhere in it as one number of 64 bits, the first byte lowest, for many places at once.

What is done to a word is done to its eight bytes together, and numpy does it to the words of all places in one call: so the
values of thousands of events are read without an object for any of them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ..timeline import Bool, Int64, UInt8

Words = npt.NDArray[np.uint64]

WORD_BYTES: Final = 8
EVERY_BYTE: Final = np.uint64((1 << 64) - 1)
"""The mask of all bytes of a word."""
_ONES: Final = np.uint64(0x0101_0101_0101_0101)
_HIGH: Final = np.uint64(0x8080_8080_8080_8080)
_QUOTES: Final = np.uint64(0x2222_2222_2222_2222)
_ZEROS: Final = np.uint64(0x3030_3030_3030_3030)
_ABOVE_NINE: Final = np.uint64(0x7676_7676_7676_7676)
"""Added to a byte, it sets the highest bit where that is 10 or more."""


class TextWords:
    """A text whose words are read at any place."""

    def __init__(self, data: UInt8) -> None:
        """Read these bytes; whoever asks for windows sees to it that they end inside of them."""
        self._data = data

    def windows(self, places: Int64, size_bytes: int) -> Windows:
        """So many bytes from each place on; a multiple of eight."""
        every = np.ndarray((len(self._data) - size_bytes + 1,), f"V{size_bytes}", self._data, 0, (1,))
        return Windows(every[places])


class Windows:
    """Pieces of one length, of n places of a text."""

    def __init__(self, pieces: npt.NDArray[np.void]) -> None:
        self._pieces = pieces
        self._table: Words = pieces.view("<u8").reshape(len(pieces), pieces.itemsize // WORD_BYTES)

    def word(self, offset: int) -> Words:
        """uint64[n]; the word that begins so many bytes behind the place: the caller's to write to, for it is asked for once."""
        size = self._pieces.itemsize
        return np.ascontiguousarray(np.ndarray((len(self._pieces),), "<u8", self._pieces, offset, (size,)))

    def some(self, places: Int64) -> Windows:
        """Those of some of the places."""
        return Windows(self._pieces[places])

    def begin_with(self, fixed: FixedText) -> Bool:
        """bool[n]; which of them begin with a text."""
        *whole, last = fixed.words
        differs: Bool = (self._table[:, len(whole)] & fixed.last_mask) != last
        for column, word in enumerate(whole):
            differs |= self._table[:, column] != word
        return ~differs


class FixedText:
    """A text to compare with.

    Attributes:
        text: Its bytes, one at least.
        words: Of it, zeros behind its end.
        last_mask: Which bits of the last one are of the text.
    """

    def __init__(self, text: bytes) -> None:
        padded = text.ljust(-(-len(text) // WORD_BYTES) * WORD_BYTES, b"\0")
        self.text = text
        self.words = [np.uint64(word) for word in np.frombuffer(padded, "<u8").tolist()]
        self.last_mask = EVERY_BYTE >> np.uint64(8 * (len(padded) - len(text)))


def before_quote(words: Words) -> Words:
    """Masks of the bytes before the first quote of each word; all where it has none."""
    differs = words ^ _QUOTES
    marks = differs - _ONES
    marks &= ~differs
    marks &= _HIGH
    return _below_first(marks)


def before_other_than_digit(words: Words) -> Words:
    """Masks of the decimal digits that each word begins with; all where it has no other byte."""
    return _below_first(_marks_of_others(words ^ _ZEROS))


def count_digits(digits: Words) -> Words:
    """How many digits each word begins with, 0 to 8.

    Args:
        digits: Words of a text less "0" (`as_digits`): a digit is a byte below 10.
    """
    return count_bytes(_below_first(_marks_of_others(digits)))


def count_bytes(masks: Words) -> Words:
    """How many bytes such masks are of."""
    return (np.bitwise_count(masks) >> np.uint8(3)).astype(np.uint64)


def as_digits(words: Words) -> Words:
    """The words of digits as the bytes 0 to 9; other bytes become other bytes."""
    return words ^ _ZEROS


def _marks_of_others(digits: Words) -> Words:
    """The highest bit of each byte that is no digit; behind the first such it means nothing."""
    marks = digits + _ABOVE_NINE
    marks |= digits
    marks &= _HIGH
    return marks


def _below_first(marks: Words) -> Words:
    """Masks of the bytes below the first one whose highest bit is set."""
    lowest = np.negative(marks)
    lowest &= marks
    lowest >>= np.uint64(7)
    lowest -= np.uint64(1)
    return lowest
