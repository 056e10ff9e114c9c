"""JSON text of whole columns: digits from tables and rows put together side by side, never a number or an event at a time.

A column of texts is a byte matrix, one row a text, filled up with NUL bytes wherever it is shorter than its neighbours. JSON has
no NUL byte, so taking all of them out at the end leaves the rows close together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from .timeline import Bool, Int64, UInt8

Texts = npt.NDArray[np.bytes_]
"""S[n]: texts without NUL bytes; numpy fills them up with NUL bytes by itself."""

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.DOTALL)
_SPACE: Final = b" \t\r\n"
_GROUP: Final = 10_000
_PADDED, _STRIPPED, _NOTHING = 0, _GROUP, 2 * _GROUP


def _words(texts: list[bytes]) -> npt.NDArray[np.uint32]:
    return np.frombuffer(b"".join(texts), np.uint32)


# Four digits a word: with their zeros, for the digits behind the first ones; without, for the first ones; and no digit at all.
_FOUR_DIGITS: Final = _words(
    [b"%04d" % number for number in range(_GROUP)] + [(b"%d" % number).rjust(4, b"\0") for number in range(_GROUP)] + [b"\0\0\0\0"]
)


def _decimals(thousandths: int, least: int) -> bytes:
    digits = (b"%03d" % thousandths).rstrip(b"0").ljust(least, b"0")
    return (b"." + digits if digits else b"").ljust(4, b"\0")


_DECIMALS: Final = tuple(_words([_decimals(number, least) for number in range(1000)]) for least in range(4))
"""The point and the decimals of each number of thousandths, at least so many."""


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


def as_texts(texts: Sequence[bytes]) -> Texts:
    """S[n]; the same texts as a column; at least one byte wide, so that an empty table is one too."""
    return np.array(texts, dtype=np.bytes_) if any(texts) else np.zeros(len(texts), "S1")


def decimal(numbers: Int64) -> UInt8:
    """Whole numbers in decimal.

    Args:
        numbers: int64[n]; not negative.

    Returns:
        uint8[n, w]; right-aligned.

    >>> join_rows(3, decimal(np.array([0, 10_000, 123])), b" ")
    b'0 10000 123 '
    """
    return _digit_words(numbers, None).view(np.uint8)


def signed_decimal(numbers: Int64) -> UInt8:
    """Whole numbers in decimal, of any sign except the least int64 of all.

    >>> join_rows(2, signed_decimal(np.array([-10, 7])), b" ")
    b'-10 7 '
    """
    return np.concatenate((minus_signs(numbers), decimal(np.abs(numbers))), axis=1)


def minus_signs(numbers: Int64) -> UInt8:
    """uint8[n, 1]; what stands before the digits: nothing, or a minus."""
    return np.where(numbers < 0, np.uint8(ord("-")), np.uint8(0))[:, None]


def microseconds(time_ns: Int64, least_decimals: int = 3) -> UInt8:
    """Times in microseconds with all three decimals, as traces have them, or with as many as they need.

    Args:
        time_ns: int64[n]; not negative.
        least_decimals: 0 to 3; more stand where a time needs more, and with none there is no point either.

    Returns:
        uint8[n, w]; the points stand below each other.

    >>> join_rows(2, microseconds(np.array([5, 1_234_567_890])), b" ")
    b'0.005 1234567.890 '
    >>> join_rows(2, microseconds(np.array([7000, 1_234_567_890]), 0), b" ")
    b'7 1234567.89 '
    """
    whole = time_ns // 1000
    return _digit_words(whole, _DECIMALS[least_decimals][time_ns - whole * 1000]).view(np.uint8)


def _digit_words(numbers: Int64, tail: npt.NDArray[np.uint32] | None) -> npt.NDArray[np.uint32]:
    """uint32[n, w]; decimal digits, four a word, and one more word behind them where one is given."""
    groups = (len(str(int(numbers.max()))) + 3) // 4 if len(numbers) else 1
    words = np.empty((len(numbers), groups + (tail is not None)), np.uint32)
    if tail is not None:
        words[:, -1] = tail
    rest = numbers
    for group in range(groups - 1, -1, -1):
        higher = rest // _GROUP
        digits = rest - higher * _GROUP + np.where(higher > 0, _PADDED, _STRIPPED)
        if group < groups - 1:
            digits[rest == 0] = _NOTHING
        words[:, group] = _FOUR_DIGITS[digits]
        rest = higher
    return words


def where(condition: Bool, column: bytes | Texts | UInt8) -> UInt8:
    """uint8[n, w]; the text where the condition holds, none elsewhere."""
    return _matrix(column, len(condition)) * condition[:, None].view(np.uint8)


def join_rows(count: int, *columns: bytes | Texts | UInt8) -> bytes:
    """All rows, one after the other: of each row the texts of its columns, side by side.

    Args:
        count: n, the number of rows.
        *columns: A text that stands in every row, or a column of n texts.
    """
    matrices = [_matrix(column, count) for column in columns]
    rows = np.empty((count, sum(matrix.shape[1] for matrix in matrices)), np.uint8)
    at = 0
    for matrix in matrices:
        rows[:, at : at + matrix.shape[1]] = matrix
        at += matrix.shape[1]
    return rows.tobytes().translate(None, b"\0")


def split_rows(*columns: UInt8) -> list[bytes]:
    """The n texts of a column of numbers, or of columns side by side, as Python's bytes."""
    return join_rows(len(columns[0]), *columns, b" ").split(b" ")[:-1]


def _matrix(column: bytes | Texts | UInt8, count: int) -> UInt8:
    if isinstance(column, bytes):
        return np.broadcast_to(np.frombuffer(column, np.uint8), (count, len(column)))
    width = column.dtype.itemsize if column.ndim == 1 else column.shape[1]
    return np.ascontiguousarray(column).view(np.uint8).reshape(count, width)
