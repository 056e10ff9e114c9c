"""Where the events of a JSON trace stand: the text is cut into blocks of whole events, and each event gets its place.

Two ways lead there. The quick one guesses: between two events of one file there is nearly always the same text, such as
`},` newline, two spaces, `{`. The sure one follows every quote, brace and bracket. A guess never has to be believed,
because every comma that was taken for one between events is given out as a newline: a decoder that reads the block as one
JSON value a line fails, or finds another number of values, unless exactly the right commas were taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..timeline import Bool, Int64, UInt8
from ._text_window import PADDING_BYTES, TextWindow
from ._text_words import WORD_BYTES, TextWords

_QUOTE, _BACKSLASH, _COMMA, _OPEN, _CLOSE, _NEWLINE = b'"\\,{}\n'
# What a byte outside of strings does to the depth.
_STEP: Final = np.zeros(256, np.int8)
_STEP[list(b"{[")] = 1
_STEP[list(b"}]")] = -1
_IS_MARK: Final = _STEP != 0
_IS_MARK[_COMMA] = True
_BYTE_PLACES: Final = np.uint64(0x0001020304050607)
"""Times a word with one bit, in the lowest place of byte k, it has k in its highest byte."""
_IS_SPACE: Final = np.zeros(256, np.bool_)
_SPACE: Final = b" \t\r\n"
_IS_SPACE[list(_SPACE)] = True


@dataclass(frozen=True, eq=False)
class EventBlock:
    """Some elements of the array of events that follow each other; valid only until the next block is cut.

    Attributes:
        text: Their bytes, with a newline for every comma between two of them.
        offset: Where `text` stands in the document.
        bounds: int64[n + 1]; element k is text[bounds[k] : bounds[k + 1] - 1], white space around it.
        starts: int64[n]; where its `{` is in `text`. Empty when some element is not plainly one object.
        lengths: int64[n]; bytes from `{` to `}`, both included.
        is_sure: Whether the cut is sure, or a guess.
        padded: uint8; `text` and at least `PADDING_BYTES` that follow in memory.
    """

    text: memoryview
    offset: int
    bounds: Int64
    starts: Int64
    lengths: Int64
    is_sure: bool
    padded: UInt8

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def event_text(self, place: int) -> bytes:
        """One of its events, from `{` to `}`."""
        start = int(self.starts[place])
        return bytes(self.text[start : start + int(self.lengths[place])])

    def some(self, places: Int64) -> EventBlock:
        """A copy of some of its events, one a line; it stands nowhere in the document."""
        starts, ends = self.starts[places], self.starts[places] + self.lengths[places]
        pieces = [self.text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        data = b"\n".join([*pieces, bytes(PADDING_BYTES)])
        bounds = np.concatenate(([0], np.cumsum(self.lengths[places] + 1)))
        text, padded = memoryview(data)[: max(int(bounds[-1]) - 1, 0)], np.frombuffer(data, np.uint8)
        return EventBlock(text, 0, bounds, bounds[:-1], self.lengths[places], self.is_sure, padded)


class BadElementError(Exception):
    """Element `index` of a block that was surely cut cannot be decoded."""

    def __init__(self, index: int) -> None:
        self.index = index
        super().__init__(index)


Take = Callable[[EventBlock], bool]
"""Takes the events of a block. False refuses a guess: the same events come again, surely cut. Of a block that is surely cut,
an element that is no JSON raises BadElementError."""


@dataclass(frozen=True)
class Gap:
    """The text between two events, by its lengths: from `}` to the comma, and from the comma to `{`."""

    before_bytes: int
    after_bytes: int


def guess_elements(window: TextWindow, gap: Gap) -> EventBlock | None:
    """Cut where the text between two events looks as it did before; None when that is nowhere.

    Between the events there is white space and a comma then, and nothing else.
    What follows the last such place stays, for the event there may be incomplete.
    """
    data = window.data()
    opens = _true_places(window.equal(_OPEN))
    commas = opens[np.searchsorted(opens, gap.before_bytes + gap.after_bytes) :] - gap.after_bytes
    commas = commas[data[commas] == _COMMA]
    commas = commas[data[commas - gap.before_bytes] == _CLOSE]
    for distance in range(1, gap.before_bytes):
        # Another brace behind the one that was looked for would be the event's own.
        commas = commas[_IS_SPACE[data[commas - distance]]]
    commas = _before_same_space(window, commas, gap.after_bytes - 1)
    if not len(commas) or bytes(window.view(int(opens[0]))).strip(_SPACE):
        return None
    starts = np.concatenate((opens[:1], commas[:-1] + gap.after_bytes))
    lengths = commas - (gap.before_bytes - 1) - starts
    return _block(window, np.concatenate(([0], commas + 1)), starts, lengths, is_sure=False)


def _before_same_space(window: TextWindow, commas: Int64, size_bytes: int) -> Int64:
    """Those of some commas that are followed by so much white space, the same behind each."""
    text = TextWords(window.padded(window.size))
    for offset in range(0, size_bytes, WORD_BYTES):
        if not len(commas):
            break
        words = text.windows(commas + (1 + offset), WORD_BYTES).word(0)
        usual = words[:1].tobytes()[: size_bytes - offset]
        if usual.strip(_SPACE):
            return commas[:0]
        words <<= np.uint64(8 * (WORD_BYTES - len(usual)))
        commas = commas[words == words[0]]
    return commas


def _true_places(mask: Bool) -> Int64:
    """As `np.flatnonzero`, twice as fast where few are true: numpy looks for words of eight that are not all false.

    Where two stand in one word it gives up: that is how JSON without white space looks, if at all.
    """
    head, tail = np.split(mask, [len(mask) & -8])
    word = np.flatnonzero(head.view("<u8") != 0)
    bits = head.view("<u8")[word]
    if (bits & (bits - np.uint64(1))).any():
        return np.flatnonzero(mask)
    place = (word << 3) + ((bits * _BYTE_PLACES) >> np.uint64(56)).astype(np.int64)
    return np.concatenate((place, len(head) + np.flatnonzero(tail)))


def cut_elements(window: TextWindow, *, is_first: bool) -> tuple[EventBlock, bool]:
    """Cut at the commas that stand outside of every string, object and inner array, and at the array's end.

    Args:
        window: Begins where an element may begin.
        is_first: Whether no element came before: then the array may end at once.

    Returns:
        The elements that are whole, and whether the array ends behind them.
    """
    data = window.data()
    marks = np.flatnonzero(_IS_MARK[data])
    marks = marks[np.searchsorted(_quotes(data), marks) % 2 == 0]
    steps = _STEP[data[marks]]
    depth = np.cumsum(steps, dtype=np.int64)
    is_end = bool((depth < 0).any())
    if is_end:
        count = int(np.argmax(depth < 0))
        end, marks, steps, depth = int(marks[count]), marks[:count], steps[:count], depth[:count]
    commas = marks[(steps == 0) & (depth == 0)]
    if is_end and not (is_first and not len(commas) and not bytes(window.view(end)).strip()):
        commas = np.append(commas, end)
    bounds = np.concatenate(([0], commas + 1))
    opens = marks[(steps > 0) & (depth == 1)]
    closes = marks[(steps < 0) & (depth == 0)]
    opens, closes = opens[opens < bounds[-1]], closes[closes < bounds[-1]]
    are_objects = len(opens) == len(closes) == len(commas) and bool(
        ((opens >= bounds[:-1]) & (closes < commas) & (data[opens] == _OPEN)).all()
    )
    starts, lengths = (opens, closes - opens + 1) if are_objects else (opens[:0], opens[:0])
    return _block(window, bounds, starts, lengths, is_sure=True), is_end


def _block(window: TextWindow, bounds: Int64, starts: Int64, lengths: Int64, *, is_sure: bool) -> EventBlock:
    window.data()[bounds[1:-1] - 1] = _NEWLINE
    end = max(int(bounds[-1]) - 1, 0)
    return EventBlock(window.view(end), window.offset, bounds, starts, lengths, is_sure, window.padded(end))


def put_commas_back(window: TextWindow, block: EventBlock) -> None:
    """Let the text of a block be as it was."""
    window.data()[block.bounds[1:-1] - 1] = _COMMA


def _quotes(data: UInt8) -> Int64:
    """Positions of the quotes that are not escaped: those behind an even number of backslashes."""
    quotes = np.flatnonzero(data == _QUOTE)
    slashes = np.flatnonzero(data == _BACKSLASH)
    if not len(slashes):
        return quotes
    is_run_start = np.diff(slashes, prepend=-2) != 1
    run_starts = slashes[is_run_start][np.cumsum(is_run_start) - 1]
    is_odd = (slashes - run_starts) % 2 == 0
    return np.setdiff1d(quotes, slashes[is_odd] + 1, assume_unique=True)


def learn_gap(elements: EventBlock) -> Gap | None:
    """The text between the last two elements of a block; None when they are not plainly two objects."""
    if len(elements.starts) < 2:
        return None
    comma = int(elements.bounds[-2]) - 1
    last_byte = int(elements.starts[-2] + elements.lengths[-2]) - 1
    return Gap(comma - last_byte, int(elements.starts[-1]) - comma)
