"""How archived events are written as JSON: a layout is the text of an event with a mark for every value that a column holds.

Events of one writer share few layouts, so that columns and layouts together give every byte of a trace back. The marks are those of
`proto/README.md`: U+001A, which no JSON text holds as it is, and what stands for the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final, Protocol

import numpy as np

from rblnpb.columns import ABSENT, TextArray, TraceEvents

from .json_text import json_string, minus_signs, short_microseconds, signed_decimal, split_rows
from .timeline import Int64

__all__ = ["ARGUMENTS", "MARKS", "EventTexts", "Layout", "Strings", "mark", "texts_of"]

_MARK: Final = re.compile(rb"(\x1a(?:[sd][0-3]|[cnCNptiIa]))")

MARKS: Final = {
    "cat": ("c", "C"),
    "name": ("n", "N"),
    "pid": ("p",),
    "tid": ("t",),
    "ts": ("s3", "s0", "s1", "s2"),
    "dur": ("d3", "d0", "d1", "d2"),
    "id": ("I", "i"),
    "args": ("a",),
}
"""Members of an event that have columns, and what may stand for each, the usual one first."""


def mark(symbol: str) -> bytes:
    """What stands in a layout for a value."""
    return b"\x1a" + symbol.encode()


ARGUMENTS: Final = mark("a")


class Strings(Protocol):
    """A table of texts, which may be growing."""

    def __getitem__(self, row: int, /) -> str:
        """The text of a row."""


@dataclass(frozen=True)
class Layout:
    """A layout, cut at its marks.

    Attributes:
        pieces: Text and marks in turns; the first and the last are text, which may be empty.
    """

    pieces: tuple[bytes, ...]

    @classmethod
    def of(cls, text: bytes) -> Layout:
        """The layout of this text.

        Raises:
            ValueError: It has a mark that this version does not know.
        """
        pieces = tuple(_MARK.split(text))
        unknown = [piece for piece in pieces[0::2] if b"\x1a" in piece]
        if unknown:
            at = unknown[0].index(b"\x1a")
            raise ValueError(f"a layout has the mark {unknown[0][at : at + 3].decode('ascii', 'replace')!r}, which is not known")
        return cls(pieces)


class _Spelled(dict[int, bytes]):
    """What is made of rows of a string table, when first asked for."""

    def __init__(self, make: Callable[[int], bytes]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, row: int) -> bytes:
        text = self[row] = self._make(row)
        return text


class EventTexts:
    r"""The JSON text of columns of archived events.

    Example:
        >>> events = TraceEvents.of(start_ns=np.array([1500, 2000]), name_strindex=np.array([1, 2]))
        >>> texts = EventTexts(("", "mm", "µ"))
        >>> texts.written(Layout.of(b'{"name":\x1aN,"ts":\x1as1}').pieces, events, np.arange(2))
        [b'{"name":"mm","ts":1.5}', b'{"name":"\\u00b5","ts":2.0}']
    """

    def __init__(self, strings: Strings) -> None:
        """Texts by rows of this table."""
        self._plain = _Spelled(lambda row: json_string(strings[row]))
        self._ascii = _Spelled(lambda row: json_string(strings[row], is_ascii=True))
        self._json = _Spelled(lambda row: strings[row].encode())

    def written(self, pieces: Sequence[bytes], events: TraceEvents, rows: Int64) -> list[bytes]:
        """Some events as a layout, or a part of one, writes them.

        Args:
            pieces: Of a layout, from an even place on.
            events: The columns.
            rows: int64[k]; which of them.

        Returns:
            k texts.
        """
        columns: list[Sequence[bytes] | repeat[bytes]] = []
        for place, piece in enumerate(pieces):
            if place % 2:
                columns.append(self._column(piece[1:].decode(), events, rows))
            elif piece:
                columns.append(repeat(piece, len(rows)))
        return list(map(b"".join, zip(*columns, strict=True))) if columns else [b""] * len(rows)

    def _column(self, symbol: str, events: TraceEvents, rows: Int64) -> Sequence[bytes]:
        if symbol == "a":
            return texts_of(events.arguments, rows)
        if symbol == "I":
            number = events.id_number[rows]
            return split_rows(len(rows), *signed_decimal(np.where(number == ABSENT, 0, number)))
        if symbol[0] in "sd":
            return _times((events.start_ns if symbol[0] == "s" else events.duration_ns)[rows], int(symbol[1]))
        spelled, column = {
            "c": (self._plain, events.category_strindex),
            "C": (self._ascii, events.category_strindex),
            "n": (self._plain, events.name_strindex),
            "N": (self._ascii, events.name_strindex),
            "p": (self._json, events.process_strindex),
            "t": (self._json, events.thread_strindex),
            "i": (self._json, events.id_strindex),
        }[symbol]
        return list(map(spelled.__getitem__, column[rows].tolist()))


def texts_of(array: TextArray, rows: Int64) -> list[bytes]:
    """Some strings of an array.

    Args:
        array: n strings.
        rows: int64[k].
    """
    text, ends = array.text.tobytes(), array.ends[rows]
    return [text[start:end] for start, end in zip((ends - array.sizes()[rows]).tolist(), ends.tolist(), strict=True)]


def _times(time_ns: Int64, least_decimals: int) -> list[bytes]:
    """Times in microseconds; where there is none, 0."""
    known = np.where(time_ns == ABSENT, 0, time_ns)
    return split_rows(len(known), minus_signs(known), *short_microseconds(np.abs(known), least_decimals))
