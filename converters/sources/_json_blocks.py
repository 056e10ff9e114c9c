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

from rblnpb.errors import NotAProfileError

from ..timeline import Int64, UInt8
from ._json_errors import JsonSyntaxError, find_syntax_error
from ._json_head import BOM, BrokenHeadError, find_array
from ._text_window import TextWindow

_STEP_BYTES: Final = 6 << 17
"""Bytes of text per block: few enough for the objects made of them to stay in the processor's cache."""
_LONGEST_BYTES: Final = 1 << 28
"""An event that is longer is refused. An int32 has to hold its length, and that of what is read with its end."""
_LONGEST_HEAD_BYTES: Final = 64 << 20
"""What stands before the events is a few kilobytes; somebody may have put a picture there."""
_FIRST_BYTES: Final = 64
"""Enough to tell what kind of file this is."""
_QUOTE, _BACKSLASH, _COMMA, _OPEN, _CLOSE, _NEWLINE = b'"\\,{}\n'
# What a byte outside of strings does to the depth.
_STEP: Final = np.zeros(256, np.int8)
_STEP[list(b"{[")] = 1
_STEP[list(b"}]")] = -1
_IS_MARK: Final = _STEP != 0
_IS_MARK[_COMMA] = True
_IS_SPACE: Final = np.zeros(256, np.bool_)
_IS_SPACE[list(b" \t\r\n")] = True


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
    """

    text: memoryview
    offset: int
    bounds: Int64
    starts: Int64
    lengths: Int64
    is_sure: bool

    def __len__(self) -> int:
        return len(self.bounds) - 1


@dataclass(frozen=True)
class Surroundings:
    """What stands around the events, as it stands: up to the `[`, and from the `]` on."""

    head: bytes
    tail: bytes
    tail_offset: int

    @property
    def is_bare_array(self) -> bool:
        """Whether the document is the array of events and nothing else."""
        return self.head.removeprefix(BOM).strip() == b"["


class BadElementError(Exception):
    """Element `index` of a block that was surely cut cannot be decoded."""

    def __init__(self, index: int) -> None:
        self.index = index
        super().__init__(index)


Take = Callable[[EventBlock], bool]
"""Takes the events of a block. False refuses a guess: the same events come again, surely cut. Of a block that is surely cut,
an element that is no JSON raises BadElementError."""


def split_events(
    blocks: Iterator[bytes], take: Take, name: str, *, step_bytes: int = _STEP_BYTES, longest_bytes: int = _LONGEST_BYTES
) -> Surroundings:
    """Cut the text of a trace into blocks of events and give them to `take`, in order.

    Args:
        blocks: The document.
        take: See `Take`.
        name: What messages call the document.
        step_bytes: How much more to read after each block.
        longest_bytes: How long an event may be.

    Raises:
        JsonSyntaxError: The text is no JSON, it ends early, or an event is longer than that.
        NotAProfileError: It is something else, or JSON without an array of events.
    """
    window = TextWindow(blocks)
    window.read(_FIRST_BYTES)
    end = _array_start(window, name)
    head = window.text()[:end]
    window.drop(end)
    _split_array(window, take, step_bytes, longest_bytes)
    while window.read(max(window.size, 1)):
        pass
    return Surroundings(head, window.text(), window.offset)


def _array_start(window: TextWindow, name: str) -> int:
    """Where the first event may begin; all before it is read."""
    while True:
        try:
            end = find_array(window.text(), name)
        except BrokenHeadError:
            raise _no_array(window.text(), name) from None
        if end >= 0:
            return end
        if window.size > _LONGEST_HEAD_BYTES:
            raise JsonSyntaxError(f"no events within the first {_LONGEST_HEAD_BYTES:,} bytes", 0)
        if not window.read(max(window.size, 1)):
            raise _no_array(window.text(), name)


def _no_array(text: bytes, name: str) -> Exception:
    if not text.removeprefix(BOM).strip():
        return NotAProfileError(name, "it is empty; did the profiled program end before it exported the trace?")
    return find_syntax_error(text, 0, is_document=True)


@dataclass(frozen=True)
class _Gap:
    """The text between two events, by its lengths: from `}` to the comma, and from the comma to `{`."""

    before_bytes: int
    after_bytes: int


def _split_array(window: TextWindow, take: Take, step_bytes: int, longest_bytes: int) -> None:
    """Give out all elements; what follows them is left in the window, the `]` first, white space aside."""
    gap: _Gap | None = None
    is_first = True
    while True:
        if gap is not None and (guess := guess_elements(window, gap)) is not None:
            if take(guess):
                window.drop(int(guess.bounds[-1]))
                window.read(step_bytes)
                continue
            put_commas_back(window, guess)
        elements, is_end = cut_elements(window, is_first=is_first)
        if len(elements):
            try:
                take(elements)
            except BadElementError as error:
                put_commas_back(window, elements)
                raise _element_error(window, *elements.bounds[error.index : error.index + 2].tolist()) from error
            gap = _learn(elements) or gap
            is_first = False
        if is_end:
            window.drop(int(elements.bounds[-1]) - 1 if len(elements) else len(text := window.text()) - len(text.lstrip()))
            return
        window.drop(int(elements.bounds[-1]))
        # A quote too many would let the rest of the text look like one event.
        if not len(elements) and not (found := find_syntax_error(window.text(), window.offset)).is_cut:
            raise found
        if window.size > longest_bytes:
            raise JsonSyntaxError(f"an event is longer than {longest_bytes} bytes", window.offset)
        # Reading as much again as there is keeps one huge event linear.
        more_bytes = step_bytes if len(elements) else max(min(window.size, longest_bytes + 1 - window.size), step_bytes)
        if not window.read(more_bytes):
            raise find_syntax_error(window.text(), window.offset)


def _element_error(window: TextWindow, start: int, next_start: int) -> JsonSyntaxError:
    error = find_syntax_error(window.text()[start:], window.offset + start)
    if error.offset < window.offset + next_start:
        return error
    return JsonSyntaxError("an event cannot be decoded", window.offset + start)


def guess_elements(window: TextWindow, gap: _Gap) -> EventBlock | None:
    """Cut where the text between two events looks as it did before; None when that is nowhere.

    What follows the last such place stays, for the event there may be incomplete.
    """
    data = window.data()
    opens = np.flatnonzero(window.equal(_OPEN))
    at = opens[np.searchsorted(opens, gap.before_bytes + gap.after_bytes) :]
    commas = at - gap.after_bytes
    is_gap = (data[commas] == _COMMA) & (data[commas - gap.before_bytes] == _CLOSE)
    for distance in range(1, gap.before_bytes):
        # Another brace behind the one that was looked for would be the event's own.
        is_gap &= _IS_SPACE[data[commas - distance]]
    commas = commas[is_gap]
    if not len(commas):
        return None
    starts = np.concatenate((opens[:1], at[is_gap][:-1]))
    lengths = commas - (gap.before_bytes - 1) - starts
    return _block(window, np.concatenate(([0], commas + 1)), starts, lengths, is_sure=False)


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
    return EventBlock(window.view(max(int(bounds[-1]) - 1, 0)), window.offset, bounds, starts, lengths, is_sure)


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


def _learn(elements: EventBlock) -> _Gap | None:
    if len(elements.starts) < 2:
        return None
    comma = int(elements.bounds[-2]) - 1
    last_byte = int(elements.starts[-2] + elements.lengths[-2]) - 1
    return _Gap(comma - last_byte, int(elements.starts[-1]) - comma)
