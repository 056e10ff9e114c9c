"""JSON text of whole columns: digits from tables and rows put together side by side, never a number or an event at a time.

A column of texts stands in cells as wide as the longest of them, each text at their end, and the cells of all columns are put
side by side. What stands in a cell before its text goes away in one of two ways. Where it is little, it is bytes of 0, which no
JSON text has, and these are taken out of the whole. Where it is more, the texts are moved together, a column at a time and from
the last to the first: what stands before a text lands on what comes before it in its row, which is moved later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .timeline import Bool, Int64, Rows

Integers = npt.NDArray[np.integer[Any]]

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)
_SPACE: Final = b" \t\r\n"


def json_string(text: str, *, is_ascii: bool = False) -> bytes:
    r"""A text as JSON, with its quotes, as UTF-8; half a surrogate pair, which UTF-8 cannot hold, becomes a replacement character.

    Args:
        text: Any text.
        is_ascii: Whether what is beyond ASCII is written as escapes.

    >>> json_string('say "µ"\n'), json_string("µ", is_ascii=True), json_string("a\ud800")
    (b'"say \\"\xc2\xb5\\"\\n"', b'"\\u00b5"', b'"a\xef\xbf\xbd"')
    """
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return json.dumps(whole, ensure_ascii=is_ascii).encode()


def is_utf8(text: bytes) -> bool:
    """Whether these bytes are text."""
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def inside_json_string(text: str) -> bytes:
    """A text as JSON without its quotes: the texts of two halves, one after the other, are the text of the whole."""
    return json_string(text)[1:-1]


def members(text: bytes) -> Iterator[tuple[str, int, int]]:
    """The members of an object, in their order, each with the place of its value: from where on, and up to where.

    Args:
        text: One JSON object; white space around it does no harm.

    >>> [(name, text[low:high]) for text in [b'{"ts": 1.0, "args" : {"x": []} }'] for name, low, high in members(text)]
    [('ts', b'1.0'), ('args', b'{"x": []}')]
    """
    depth, name, value = 0, None, 0
    for token in _TOKEN.finditer(text):
        kind = token[0]
        if depth == 1 and name is not None and kind in (b",", b"}"):
            inner = text[value : token.start()]
            low = value + len(inner) - len(inner.lstrip(_SPACE))
            yield json.loads(name.decode("utf-8", "replace")), low, low + len(inner.strip(_SPACE))
            name = None
        if kind in (b"{", b"["):
            depth += 1
        elif kind in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and kind == b":":
            value = token.end()
        elif depth == 1 and name is None and kind[:1] == b'"':
            name = kind


Cells = bytes | npt.NDArray[np.void]
"""The same bytes in all of n rows, or void[n], bytes of one width for each."""


@dataclass(frozen=True, eq=False)
class Column:
    """A text in each of n rows.

    Attributes:
        cells: Side by side; the last bytes in a row of them are its text, which has no byte of 0, and others before them do not
            matter.
        size: Bytes of each text: int64[n], or a number for all.
        is_blank: Whether everything before the texts is bytes of 0.
    """

    cells: tuple[Cells, ...]
    size: Int64 | int
    is_blank: bool = False


_NOTHING: Final = Column((), 0)


class TextTable:
    """Texts of which columns are made by their rows."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        """Hold the texts; those of a table that is small stand side by side, all as wide as the longest."""
        self._texts = texts
        self._size = np.array(list(map(len, texts)), np.int64)
        self._cells = _side_by_side(texts) if len(texts) * int(self._size.max(initial=0)) <= _TABLE_BYTES else None

    def sizes(self, rows: Integers) -> Int64:
        """Bytes of some of the texts."""
        return self._size.take(rows)

    def take(self, rows: Integers) -> Column:
        """A column of some of the texts, in cells as wide as the longest of these."""
        size = self._size.take(rows)
        longest = int(size.max(initial=0))
        if longest == 0:
            return _NOTHING
        if int(rows.min()) == int(rows.max()):
            return Column((self._texts[int(rows[0])],), longest)
        is_even = int(size.min()) == longest
        cells = self._cells
        if cells is None:
            used, rows = np.unique(rows, return_inverse=True)
            cells = _side_by_side([self._texts[row] for row in used.tolist()])
        table = cells[:, cells.shape[1] - longest :].view(f"V{longest}")[:, 0]
        taken = table.take(rows) if longest == cells.shape[1] else table[rows]
        return Column((taken,), longest if is_even else size, is_blank=True)


_TABLE_BYTES: Final = 1 << 24


def _side_by_side(texts: Sequence[bytes]) -> npt.NDArray[np.uint8]:
    """uint8[k, w]; each text at the end of a row, behind bytes of 0."""
    width = max(max(map(len, texts), default=0), 1)
    return np.frombuffer(b"".join(text.rjust(width, b"\0") for text in texts), np.uint8).reshape(-1, width)


_DIGITS: Final = 4
_GROUP: Final = 10**_DIGITS
_FULL: Final = [b"%04d" % number for number in range(_GROUP)]
_FIRST: Final = [(b"%d" % number).rjust(_DIGITS, b"\0") for number in range(_GROUP)]
_LAST_DIGITS: Final = np.frombuffer(b"".join(_FULL + _FIRST), f"V{_DIGITS}")
_MORE_DIGITS: Final = np.frombuffer(b"".join([*_FULL, bytes(_DIGITS), *_FIRST[1:]]), f"V{_DIGITS}")
"""Four digits of numbers: first with all zeros, and from `_GROUP` on without those that they begin with, for where nothing is
before them. A number that is 0 has its last digit, and no others."""
_DECIMALS: Final = np.frombuffer(b"".join(b".%03d" % number for number in range(1000)), "V4")


def decimal(numbers: Integers) -> Column:
    """Whole numbers in decimal.

    Args:
        numbers: int[n]; not negative.

    >>> join_rows(3, decimal(np.array([0, 10_000, 123])), b" ")
    b'0 10000 123 '
    """
    return _decimal(numbers, int(numbers.min()), int(numbers.max())) if len(numbers) else _NOTHING


def _decimal(numbers: Integers, least: int, most: int) -> Column:
    """The same, of at least one number, where the least and the most of them are known."""
    size = _digit_counts(numbers, least, most)
    cells: list[Cells] = []
    table = _LAST_DIGITS
    while least < most >= _GROUP:
        higher = numbers // _GROUP
        digits = numbers - higher * _GROUP
        if least < _GROUP:
            digits += (higher == 0) * digits.dtype.type(_GROUP)
        cells.append(table.take(digits))
        numbers, least, most, table = higher, least // _GROUP, most // _GROUP, _MORE_DIGITS
    if least == most:
        cells.append(b"%d" % least)
    else:
        # The digits of the largest fill the cell, so that numbers of as many digits stand close to what is before them.
        width = len(b"%d" % most)
        cells.append(np.ndarray(len(numbers), f"V{width}", table[_GROUP:].take(numbers), _DIGITS - width, (_DIGITS,)))
    return Column(tuple(reversed(cells)), size, is_blank=True)


def _digit_counts(numbers: Integers, least: int, most: int) -> Int64 | int:
    fewest, digits = len(b"%d" % least), len(b"%d" % most)
    if fewest == digits:
        return digits
    count = np.full(len(numbers), fewest, np.int64)
    for more in range(fewest, digits):
        count += numbers >= 10**more
    return count


def signed_decimal(numbers: Integers) -> tuple[Column, ...]:
    """Whole numbers in decimal, of any sign except the least int64 of all: the sign, if any has one, and the digits.

    >>> join_rows(2, *signed_decimal(np.array([-10, 7])), b" ")
    b'-10 7 '
    """
    if not len(numbers):
        return ()
    least = int(numbers.min())
    if least >= 0:
        return (_decimal(numbers, least, int(numbers.max())),)
    return minus_signs(numbers), decimal(np.abs(numbers.astype(np.int64)))


def minus_signs(numbers: Integers) -> Column:
    """What stands before the digits: nothing, or a minus."""
    return where(numbers < 0, b"-")


def microseconds(time_ns: Int64) -> Column:
    """Times in microseconds with all three decimals, as traces have them.

    Args:
        time_ns: int64[n]; not negative.

    >>> join_rows(2, microseconds(np.array([5, 1_234_567_890])), b" ")
    b'0.005 1234567.890 '
    """
    whole = time_ns // 1000
    digits = decimal(whole)
    return Column((*digits.cells, _DECIMALS.take(time_ns - whole * 1000)), digits.size + 4, is_blank=True)


def short_microseconds(time_ns: Int64, least_decimals: int) -> tuple[Column, Column]:
    """Times in microseconds with as many decimals as they need: what is before them, and the decimals with their point.

    Args:
        time_ns: int64[n]; not negative.
        least_decimals: 0 to 3; more stand where a time needs more, and with none there is no point either.

    >>> join_rows(2, *short_microseconds(np.array([7000, 1_234_567_890]), 0), b" ")
    b'7 1234567.89 '
    """
    whole = time_ns // 1000
    return decimal(whole), _SHORT_DECIMALS[least_decimals].take(time_ns - whole * 1000)


def _short_decimals(thousandths: int, least: int) -> bytes:
    digits = (b"%03d" % thousandths).rstrip(b"0").ljust(least, b"0")
    return b"." + digits if digits else b""


_SHORT_DECIMALS: Final = tuple(TextTable([_short_decimals(number, least) for number in range(1000)]) for least in range(4))


def where(condition: Bool, column: bytes | Column) -> Column:
    """The texts where the condition holds, none elsewhere."""
    whole = Column((column,), len(column)) if isinstance(column, bytes) else column
    return Column(whole.cells, whole.size * condition.astype(np.int64))


def join_rows(count: int, *columns: bytes | Column) -> bytes:
    """All rows, one after the other: of each row the texts of its columns, side by side.

    Args:
        count: n, the number of rows.
        *columns: A text that stands in every row, or a column of n texts.
    """
    return b"".join([text for _, text in row_texts(count, *columns)])


def row_texts(count: int, *columns: bytes | Column) -> Iterator[tuple[int, bytes]]:
    """The same, few rows at a time, so that they stay in the processor's cache.

    Yields:
        How many rows, and their text.
    """
    stretches = _stretches(columns) if count else []
    size = sum((stretch.size for stretch in stretches), 0)
    if isinstance(size, int) and not size:
        return
    table = _Table(stretches, min(count, _TABLE_ROWS))
    for first in range(0, count, _TABLE_ROWS):
        rows = slice(first, min(first + _TABLE_ROWS, count))
        text = table.filled(rows) if isinstance(size, int) else table.moved(rows, np.cumsum(size[rows]))
        yield rows.stop - first, text.tobytes().replace(b"\0", b"")


_TABLE_ROWS: Final = 1024


def split_rows(count: int, *columns: bytes | Column) -> list[bytes]:
    """The n texts of a column of numbers, or of columns side by side, as Python's bytes."""
    return join_rows(count, *columns, b" ").split(b" ")[:-1]


@dataclass(eq=False)
class _Stretch:
    """Columns that are moved at once: whatever does not matter stands before the first of them.

    Attributes:
        cells: Their cells.
        size: Bytes of their texts: int64[n], or a number for all.
        before: Every row has at least so many bytes up to their end.
    """

    cells: list[Cells]
    size: Int64 | int
    before: int


def _stretches(columns: Sequence[bytes | Column]) -> list[_Stretch]:
    stretches: list[_Stretch] = []
    before = 0
    for column in columns:
        cells, size = ((column,), len(column)) if isinstance(column, bytes) else (column.cells, column.size)
        width = _width(cells)
        if isinstance(column, Column) and column.is_blank and int(np.sum(width - size)) <= _FEW_BLANKS * np.size(size):
            size = width
        before += size if isinstance(size, int) else int(size.min())
        if stretches and isinstance(size, int) and size == width:
            last = stretches[-1]
            last.cells.extend(cells)
            last.size = last.size + size
            last.before = before
        else:
            stretches.append(_Stretch([*cells], size, before))
    return stretches


_FEW_BLANKS: Final = 1.25
"""So many bytes of 0 in a row are taken out in the time in which a text is moved."""


def _width(cells: Sequence[Cells]) -> int:
    """Bytes of cells in a row."""
    return sum(len(cell) if isinstance(cell, bytes) else cell.dtype.itemsize for cell in cells)


class _Table:
    """Cells of some rows, side by side."""

    def __init__(self, stretches: Sequence[_Stretch], row_count: int) -> None:
        """Room for so many rows, with what all of them have in common."""
        common = b"".join(
            cell if isinstance(cell, bytes) else bytes(cell.dtype.itemsize) for stretch in stretches for cell in stretch.cells
        )
        table = np.full(row_count, np.void(common))
        self._cells: list[tuple[npt.NDArray[np.void], npt.NDArray[np.void]]] = []
        self._stretches: list[tuple[_Stretch, npt.NDArray[np.uint8]]] = []
        at = start = 0
        self._rows = rows = table.view(np.uint8).reshape(row_count, -1)
        for stretch in stretches:
            for cell in stretch.cells:
                if isinstance(cell, bytes):
                    at += len(cell)
                else:
                    width = cell.dtype.itemsize
                    self._cells.append((cell, rows[:, at : at + width].view(cell.dtype)[:, 0]))
                    at += width
            self._stretches.append((stretch, rows[:, start:at]))
            start = at
        self._text = np.empty(0, np.uint8)

    def filled(self, rows: slice) -> npt.NDArray[np.uint8]:
        """uint8[k, w]; some rows, with what differs from row to row put in; of use until the next call."""
        count = rows.stop - rows.start
        for cell, place in self._cells:
            place[:count] = cell[rows]
        return self._rows[:count]

    def moved(self, rows: slice, end: Int64) -> npt.NDArray[np.uint8]:
        """uint8[m]; the texts of some rows, each of which ends at a place in it; of use until the next call."""
        self.filled(rows)
        if int(end[-1]) > len(self._text):
            self._text = np.empty(int(end[-1]) * 9 // 8, np.uint8)
        text = self._text[: int(end[-1])]
        for stretch, cells in reversed(self._stretches):
            size = stretch.size if isinstance(stretch.size, int) else stretch.size[rows]
            if cells.shape[1] <= stretch.before:
                _move(cells[: len(end)], text, end)
            else:
                # What does not matter would reach into the row before.
                sizes = np.broadcast_to(size, len(end))
                for width in np.unique(sizes).tolist():
                    _move(cells[: len(end), cells.shape[1] - width :], text, end, np.flatnonzero(sizes == width))
            end = end - size
        return text


_ALL: Final = slice(None)


def _move(cells: npt.NDArray[np.uint8], text: npt.NDArray[np.uint8], end: Int64, rows: Rows = _ALL) -> None:
    """Put all cells, or those of some rows, to where they end in the text."""
    width = cells.shape[1]
    if width:
        anywhere = np.ndarray(len(text) - width + 1, f"V{width}", text, 0, (1,))
        anywhere[end[rows] - width] = cells.view(f"V{width}")[:, 0][rows]
