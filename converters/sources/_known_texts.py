"""Texts that are known, recognised among the bytes of a document many at a time: a hash table in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

from ..timeline import Bool, Int64
from ._text_words import EVERY_BYTE, WORD_BYTES, TextWords, Windows, Words, count_bytes

SHORT_BYTES: Final = 4 * WORD_BYTES
"""How much of the document is there to recognise a text by."""
LONG_BYTES: Final = 20 * WORD_BYTES
"""A text of so many bytes is not recognised."""
_MOST_SLOTS: Final = 32
"""So many slots are looked at for a text. More than that want the same one only where somebody made them to."""
_UNKNOWN: Final = -1
_MIXER: Final = np.uint64(0x9E37_79B9_7F4A_7C15)


class KnownTexts:
    """Texts, each with a number."""

    def __init__(self, before_end: Callable[[Words], Words]) -> None:
        """Know none.

        Args:
            before_end: Masks of the bytes of words that stand before the end of a text.
        """
        self._before_end = before_end
        self._short, self._long = _Table(SHORT_BYTES), _Table(LONG_BYTES)

    def add(self, numbers: Mapping[bytes, int]) -> None:
        """Know these texts, too, none of which is known yet; one that is too long is not recognised."""
        for table, lengths in ((self._short, range(SHORT_BYTES)), (self._long, range(SHORT_BYTES, LONG_BYTES))):
            texts = [text for text in numbers if len(text) in lengths]
            table.add(texts, [numbers[text] for text in texts])

    def find(self, windows: Windows, offset: int, text: TextWords, places: Int64) -> tuple[Int64, Int64]:
        """Recognise the texts that begin at some places.

        Args:
            windows: n pieces of the document, one at least, with `SHORT_BYTES` from the offset on.
            offset: Where the texts begin in them.
            text: The document.
            places: int64[n]; where the texts begin in it; `LONG_BYTES` follow.

        Returns:
            int64[n]: their numbers, -1 of one that is not known; int64[n]: their lengths in bytes, `LONG_BYTES` of longer ones.
        """
        numbers, sizes = self._find(self._short, windows, offset)
        if int(sizes.max()) == SHORT_BYTES:
            longer = np.flatnonzero(sizes == SHORT_BYTES)
            numbers[longer], sizes[longer] = self._find(self._long, text.windows(places[longer], LONG_BYTES), 0)
        return numbers, sizes

    def _find(self, table: _Table, windows: Windows, offset: int) -> tuple[Int64, Int64]:
        keys, sizes = self._keys(windows, offset, table.size_bytes)
        return table.numbers_of(keys, sizes), sizes

    def _keys(self, windows: Windows, offset: int, size_bytes: int) -> tuple[list[Words], Int64]:
        """The words of the texts, zeros behind their ends, as many as the longest has; and their lengths."""
        word = windows.word(offset)
        mask = self._before_end(word)
        word &= mask
        keys, sizes = [word], count_bytes(mask)
        for start in range(WORD_BYTES, size_bytes, WORD_BYTES):
            is_over = mask != EVERY_BYTE
            if is_over.all():
                break
            word = windows.word(offset + start)
            mask = self._before_end(word)
            mask[is_over] = 0
            word &= mask
            keys.append(word)
            sizes += count_bytes(mask)
        return keys, sizes.astype(np.int64)


class _Table:
    """Texts of less than so many bytes, in rows; row 0 is none of them.

    Attributes:
        size_bytes: So many.
    """

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self._count = 1
        self._numbers: Int64 = np.full(1, _UNKNOWN, np.int64)
        self._sizes: Int64 = np.full(1, -1, np.int64)
        self._texts = np.zeros((1, size_bytes // WORD_BYTES), "<u8")
        # Odd ones, so that no text is the same as another one because of where its words stand.
        odd: Words = np.arange(1, 2 * self._texts.shape[1], 2).astype(np.uint64)
        self._factors = list(odd * _MIXER)
        self._make_room(256)

    def numbers_of(self, keys: list[Words], sizes: Int64) -> Int64:
        """int64[n]; number of each text.

        Args:
            keys: uint64[n] of each word that any of the texts has, zeros behind its end.
            sizes: int64[n]; their lengths in bytes.
        """
        slots = self._slots_of(keys)
        rows = self._slots[slots]
        others = np.flatnonzero(self._differ(rows, keys, sizes))
        for _ in range(1, _MOST_SLOTS):
            others = others[rows[others] > 0]
            if not len(others):
                break
            slots[others] = (slots[others] + 1) & (len(self._slots) - 1)
            rows[others] = self._slots[slots[others]]
            others = others[self._differ(rows[others], [key[others] for key in keys], sizes[others])]
        rows[others] = 0
        return self._numbers[rows]

    def add(self, texts: list[bytes], numbers: Iterable[int]) -> None:
        """Give texts that have none a row."""
        rows = slice(self._count, self._count + len(texts))
        if rows.stop > len(self._numbers):
            self._make_room(2 * rows.stop)
        padded = b"".join([text.ljust(self.size_bytes, b"\0") for text in texts])
        self._texts[rows] = np.frombuffer(padded, "<u8").reshape(-1, self._texts.shape[1])
        self._sizes[rows] = [len(text) for text in texts]
        self._numbers[rows] = list(numbers)
        self._count = rows.stop
        self._put(rows)

    def _make_room(self, rows: int) -> None:
        self._numbers, self._sizes = _lengthened(self._numbers, rows), _lengthened(self._sizes, rows)
        self._texts = _lengthened(self._texts, rows)
        # Four slots a row at least: two texts hardly ever want the same one.
        slot_bits = (4 * rows - 1).bit_length()
        self._slots: Int64 = np.zeros(1 << slot_bits, np.int64)
        self._shift = np.uint64(64 - slot_bits)
        self._put(slice(1, self._count))

    def _put(self, rows: slice) -> None:
        """Let rows be found: in the first slot from theirs on that is free, or not at all where many are not."""
        for row, first in enumerate(self._slots_of(list(self._texts[rows].T)).tolist(), rows.start):
            for slot in range(first, first + _MOST_SLOTS):
                if not self._slots[slot & (len(self._slots) - 1)]:
                    self._slots[slot & (len(self._slots) - 1)] = row
                    break

    def _slots_of(self, keys: list[Words]) -> Int64:
        """The first slot to look for each text in; words of zeros count as if they were not there."""
        mixed: Words = keys[0] * self._factors[0]
        for key, factor in zip(keys[1:], self._factors[1:], strict=False):
            mixed += key * factor
        mixed ^= mixed >> np.uint64(32)
        mixed *= _MIXER
        slots: Int64 = (mixed >> self._shift).astype(np.int64)
        return slots

    def _differ(self, rows: Int64, keys: list[Words], sizes: Int64) -> Bool:
        # Rows of a table are gathered at half of the cost when each is one thing.
        texts = self._texts.view(f"V{self.size_bytes}")[:, 0][rows].view("<u8").reshape(len(rows), self._texts.shape[1])
        differs: Bool = self._sizes[rows] != sizes
        for column, key in enumerate(keys):
            differs |= texts[:, column] != key
        return differs


def _lengthened(column: Any, rows: int) -> Any:
    """The column with room for so many rows."""
    longer = np.zeros((rows, *column.shape[1:]), column.dtype)
    longer[: len(column)] = column
    return longer
