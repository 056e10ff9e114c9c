"""Where the events of a JSON trace stand: the text is cut into blocks of whole events, and each event gets its place.

Two ways lead there. The quick one guesses: between two events of one file there is nearly always the same text, such as
`},` newline, two spaces, `{`. The sure one follows every quote, brace and bracket. A guess never has to be believed,
because every comma that was taken for one between events is given out as a newline: a decoder that reads the block as one
JSON value a line fails, or finds another number of values, unless exactly the right commas were taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ..timeline import Int64
from ._json_errors import JsonSyntaxError, find_syntax_error
from ._json_head import find_array

_QUOTE, _BACKSLASH, _COMMA, _OPEN, _CLOSE, _NEWLINE = b'"\\,{}\n'
# What a byte outside of strings does to the depth.
_STEP: Final = np.zeros(256, np.int8)
_STEP[list(b"{[")] = 1
_STEP[list(b"}]")] = -1
_IS_MARK: Final = _STEP != 0
_IS_MARK[_COMMA] = True


@dataclass(frozen=True, eq=False)
class EventBlock:
    """Some elements of the array of events that follow each other.

    Attributes:
        text: Their bytes, with a newline for every comma between two of them.
        offset: Where `text` stands in the document.
        bounds: int64[n + 1]; element k is text[bounds[k] : bounds[k + 1] - 1], white space around it.
        starts: int64[n]; where its `{` is in `text`. Empty when some element is not plainly one object.
        lengths: int64[n]; bytes from `{` to `}`, both included.
    """

    text: memoryview
    offset: int
    bounds: Int64
    starts: Int64
    lengths: Int64

    def __len__(self) -> int:
        return len(self.bounds) - 1


@dataclass(frozen=True)
class Surroundings:
    """What stands around the events, as it stands: up to the `[`, and from the `]` on."""

    head: bytes
    tail: bytes
    tail_offset: int


class BadElementError(Exception):
    """Element `index` of a block that was surely cut cannot be decoded."""

    def __init__(self, index: int) -> None:
        self.index = index
        super().__init__(index)


Take = Callable[[EventBlock, bool], bool]
"""Takes the events of a block. The second argument says whether the cut is sure. If it is not, False refuses the block, and
the same events come again, surely cut; if it is, an element that is no JSON raises BadElementError."""


def split_events(blocks: Iterator[bytes], take: Take, name: str) -> Surroundings:
    """Cut the text of a trace into blocks of events and give them to `take`, in order.

    Args:
        blocks: The document.
        take: See `Take`.
        name: What messages call the document.

    Raises:
        JsonSyntaxError: The text is no JSON, or it ends early.
        NotAProfileError: It is something else, or JSON without an array of events.
    """
    return _Splitter(blocks, take, name).run()


@dataclass(frozen=True)
class _Gap:
    """The text between two events, by its lengths: from `}` to the comma, and from the comma to `{`."""

    before_bytes: int
    after_bytes: int


class _Splitter:
    """The text that was read and not given out yet, which begins where an element may begin."""

    def __init__(self, blocks: Iterator[bytes], take: Take, name: str) -> None:
        self._blocks = blocks
        self._take = take
        self._name = name
        self._text = b""
        self._offset = 0
        self._gap: _Gap | None = None

    def run(self) -> Surroundings:
        head = self._head()
        is_first = True
        while True:
            if self._take_guess():
                is_first = False
                self._read(1)
                continue
            elements, is_end = cut_elements(self._text, self._offset, is_first=is_first)
            if len(elements):
                self._take_surely(elements)
                self._gap = _learn(elements) or self._gap
                is_first = False
            self._drop(int(elements.bounds[-1]) - (is_end and len(elements) > 0))
            if is_end:
                return self._tail(head)
            # Reading as much again as there is keeps one huge event linear.
            if not self._read(1 if len(elements) else len(self._text)):
                raise find_syntax_error(self._text, self._offset)

    def _head(self) -> bytes:
        while (end := find_array(self._text, self._name)) < 0:
            if not self._read(len(self._text) or 1):
                raise find_syntax_error(self._text, 0, is_document=True)
        head = self._text[:end]
        self._drop(end)
        return head

    def _take_guess(self) -> bool:
        guess = guess_elements(self._text, self._offset, self._gap) if self._gap else None
        if guess is None or not self._take(guess, False):
            return False
        self._drop(int(guess.bounds[-1]))
        return True

    def _take_surely(self, elements: EventBlock) -> None:
        try:
            self._take(elements, True)
        except BadElementError as error:
            start = int(elements.bounds[error.index])
            raise find_syntax_error(self._text[start:], self._offset + start) from error

    def _tail(self, head: bytes) -> Surroundings:
        self._drop(self._text.index(b"]"))
        while self._read(len(self._text)):
            pass
        return Surroundings(head, self._text, self._offset)

    def _drop(self, used_bytes: int) -> None:
        self._text = self._text[used_bytes:]
        self._offset += used_bytes

    def _read(self, wanted_bytes: int) -> bool:
        parts = [self._text]
        for block in self._blocks:
            parts.append(block)
            wanted_bytes -= len(block)
            if wanted_bytes <= 0:
                break
        self._text = b"".join(parts)
        return len(parts) > 1


def guess_elements(text: bytes, offset: int, gap: _Gap) -> EventBlock | None:
    """Cut where the text between two events looks as it did before; None when that is nowhere.

    What follows the last such place stays, for the event there may be incomplete.
    """
    lines = bytearray(text)
    data = np.frombuffer(lines, np.uint8)
    opens = np.flatnonzero(data == _OPEN)
    at = opens[np.searchsorted(opens, gap.before_bytes + gap.after_bytes) :]
    at = at[(data[at - gap.after_bytes] == _COMMA) & (data[at - gap.after_bytes - gap.before_bytes] == _CLOSE)]
    if not len(at):
        return None
    commas = at - gap.after_bytes
    data[commas] = _NEWLINE
    starts = np.concatenate((opens[:1], at[:-1]))
    bounds = np.concatenate(([0], commas + 1))
    lengths = commas - gap.before_bytes + 1 - starts
    return EventBlock(memoryview(lines)[: bounds[-1]], offset, bounds, starts, lengths)


def cut_elements(text: bytes, offset: int, *, is_first: bool) -> tuple[EventBlock, bool]:
    """Cut at the commas that stand outside of every string, object and inner array, and at the array's end.

    Args:
        text: From where an element may begin.
        offset: Where that is in the document.
        is_first: Whether no element came before: then the array may end at once.

    Returns:
        The elements that are whole, and whether the array ends behind them.
    """
    lines = bytearray(text)
    data = np.frombuffer(lines, np.uint8)
    marks = np.flatnonzero(_IS_MARK[data])
    marks = marks[np.searchsorted(_quotes(data), marks) % 2 == 0]
    steps = _STEP[data[marks]]
    depth = np.cumsum(steps)
    is_end = bool((depth < 0).any())
    if is_end:
        count = int(np.argmax(depth < 0))
        end, marks, steps, depth = marks[count], marks[:count], steps[:count], depth[:count]
    commas = marks[(steps == 0) & (depth == 0)]
    if is_end and not (is_first and not len(commas) and not text[:end].strip()):
        commas = np.append(commas, end)
    bounds = np.concatenate(([0], commas + 1))
    opens = marks[(steps > 0) & (depth == 1)]
    closes = marks[(steps < 0) & (depth == 0)]
    opens, closes = opens[opens < bounds[-1]], closes[closes < bounds[-1]]
    plain = len(opens) == len(closes) == len(commas) and bool(
        ((opens >= bounds[:-1]) & (closes < commas) & (data[opens] == _OPEN)).all()
    )
    data[commas] = _NEWLINE
    starts, lengths = (opens, closes - opens + 1) if plain else (opens[:0], opens[:0])
    return EventBlock(memoryview(lines)[: bounds[-1]], offset, bounds, starts, lengths), is_end


def _quotes(data: npt.NDArray[np.uint8]) -> Int64:
    """Positions of the quotes that are not escaped: those behind an even number of backslashes."""
    quotes = np.flatnonzero(data == _QUOTE)
    slashes = np.flatnonzero(data == _BACKSLASH)
    if not len(slashes):
        return quotes
    is_run_start = np.diff(slashes, prepend=-2) != 1
    run_starts = slashes[is_run_start][np.cumsum(is_run_start) - 1]
    is_odd = (slashes - run_starts) % 2 == 0
    return np.setdiff1d(quotes, slashes[is_odd] + 1, assume_unique=True)


def _learn(elements: EventBlock) -> _Gap | None:
    if len(elements.starts) < 2:
        return None
    comma = int(elements.bounds[-2]) - 1
    last_byte = int(elements.starts[-2] + elements.lengths[-2]) - 1
    return _Gap(comma - last_byte, int(elements.starts[-1]) - comma)
