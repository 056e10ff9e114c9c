"""The array of events of a trace, read block by block from its beginning to its end, or one segment of it.

Segments are why several processes can read one text: each of them finds where a segment begins by itself, and cuts the same blocks
of it that a reader of everything cuts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rblnpb.errors import NotAProfileError

from ._json_blocks import BadElementError, Gap, Take, cut_elements, guess_elements, learn_gap, put_commas_back
from ._json_errors import JsonSyntaxError, find_syntax_error
from ._json_head import BOM, BrokenHeadError, find_array
from ._text_window import TextWindow

_STEP_BYTES: Final = 1 << 20
"""Bytes of text per block: so many that what is done once a block costs little, so few that what is made of them is cached."""
_LONGEST_BYTES: Final = 1 << 28
"""An event that is longer is refused. An int32 has to hold its length, and that of what is read with its end."""
_LONGEST_HEAD_BYTES: Final = 64 << 20
"""What stands before the events is a few kilobytes; somebody may have put a picture there."""
_FIRST_BYTES: Final = 64
"""Enough to tell what kind of file this is."""
_FIRST_STEP_BYTES: Final = 1 << 17
_REACH_BYTES: Final = 1 << 20
"""How far from where a segment may begin its beginning is looked for."""


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


@dataclass(frozen=True)
class CutSizes:
    """How a text is cut; the rows of a trace do not depend on it, but for the order of its strings.

    Attributes:
        step_bytes: Length of a block.
        segment_bytes: Length of a segment: about every so many bytes a block begins whatever came before, so that who begins there
            cuts the same blocks as who comes from the first event.
        longest_bytes: How long an event may be.
    """

    step_bytes: int = _STEP_BYTES
    segment_bytes: int = 16 << 20
    longest_bytes: int = _LONGEST_BYTES


USUAL_SIZES: Final = CutSizes()


def split_events(blocks: Iterator[bytes], take: Take, name: str, sizes: CutSizes = USUAL_SIZES) -> Surroundings:
    """Cut the text of a trace into blocks of events and give them to `take`, in order.

    Args:
        blocks: The document.
        take: See `Take`.
        name: What messages call the document.
        sizes: See `CutSizes`.

    Raises:
        JsonSyntaxError: The text is no JSON, it ends early, or an event is longer than that.
        NotAProfileError: It is something else, or JSON without an array of events.
        FormatError: Of the blocks: the document cannot be read, or its gzip data is damaged.
    """
    window = TextWindow(blocks)
    head = read_head(window, name)
    array = EventArray(window, take, sizes, window.offset, usual_gap(window, sizes))
    segment: int | None = 0
    while segment is not None:
        segment = array.cut_segment(segment)
    return Surroundings(head, *read_tail(window))


def read_head(window: TextWindow, name: str) -> bytes:
    """What stands before the first event; the window begins there afterwards.

    Raises:
        JsonSyntaxError, NotAProfileError, FormatError: As for `split_events`.
    """
    window.read(_FIRST_BYTES)
    end = _array_start(window, name)
    head = window.text()[:end]
    window.drop(end)
    return head


def read_tail(window: TextWindow) -> tuple[bytes, int]:
    """All that is left of the document, and at which byte of its text that begins; the window holds it afterwards.

    Raises:
        FormatError: As for `split_events`.
    """
    while window.read(max(window.size, 1)):
        pass
    return window.text(), window.offset


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


def usual_gap(window: TextWindow, sizes: CutSizes) -> Gap | None:
    """What `EventArray` takes for the text between two events in a window that begins at the first one; None: it must see more.

    The window ends later afterwards, behind a first block, which is looked at for it; it begins where it did, with the same bytes.

    Raises:
        FormatError: As for `split_events`.
    """
    window.read(_first_step(sizes) - window.size)
    part = window.first(_first_step(sizes))
    elements, _ = cut_elements(part, is_first=True)
    put_commas_back(part, elements)
    return learn_gap(elements)


class EventArray:
    """The array of events, cut from its beginning on, or from that of any segment.

    Segment k begins at the first text that looks as usual between two events, k * segment_bytes behind the `[` or later. Whoever
    looks there finds the same place. Where the place is none, inside of a text or of another list, the segment before it
    does not end with an event.
    """

    def __init__(self, window: TextWindow, take: Take, sizes: CutSizes, offset: int, gap: Gap | None = None) -> None:
        """Cut the array whose `[` ends at `offset` of the document.

        Args:
            window: Begins there, or where a segment begins.
            take: See `Take`.
            sizes: See `CutSizes`.
            offset: Where the first event may begin, in bytes of the text of the document.
            gap: What `usual_gap` says; None: it is learned on the way.
        """
        self._window = window
        self._take = take
        self._sizes = sizes
        self._offset = offset
        self._usual = gap
        self._gap = gap
        self._is_first = True

    def nominal(self, segment: int) -> int:
        """From which byte of the document's text on a segment may begin."""
        return self._offset + segment * self._sizes.segment_bytes

    def find_segment(self, segment: int) -> bool:
        """Let the window begin where a segment does.

        Args:
            segment: Its number, 1 at least. The window begins at its `nominal` byte or before, or, behind that, where an earlier
                segment ended; there this one may begin, too.

        Returns:
            False when it begins nowhere within reach; the window begins where it did.

        Raises:
            FormatError: As for `split_events`.
        """
        self._is_first = False
        if self._is_empty(segment - 1):
            return True
        boundary = self._boundary(segment)
        if boundary is not None:
            self._window.drop(boundary - self._window.offset)
        return boundary is not None

    def cut_segment(self, segment: int) -> int | None:
        """Give out the elements from the beginning of a segment, where the window stands, to that of another one.

        Returns:
            The other one: the next, unless that begins nowhere. None at the end of the array; what follows is left in the window,
            the `]` first, white space aside.

        Raises:
            JsonSyntaxError, FormatError: As for `split_events`.
        """
        window, self._gap = self._window, self._usual
        if segment and self._is_empty(segment):
            return segment + 1
        boundary: int | None = None
        size = self._step()
        while True:
            window.read(size - window.size)
            while boundary is None and self.nominal(segment + 1) < window.offset + size:
                boundary = self._boundary(segment + 1)
                segment += boundary is None
            count, is_end = self._cut_block(window.first(size if boundary is None else self._opening(boundary) - window.offset))
            if is_end:
                return None
            if window.offset == boundary:
                return segment + 1
            if count:
                size = self._step()
            elif boundary is not None:
                boundary, segment = None, segment + 1
            else:
                size = self._larger(size)

    def _is_empty(self, segment: int) -> bool:
        """Whether the window, which begins where this segment or one before it does, begins where the next one does, too."""
        return self._usual is not None and self.nominal(segment + 1) < self._window.offset - self._usual.before_bytes

    def _step(self) -> int:
        return _first_step(self._sizes) if self._gap is None else self._sizes.step_bytes

    def _larger(self, size: int) -> int:
        """How much more of the text to look at when there is no end of an event in so much of it."""
        longest = self._sizes.longest_bytes
        if size > longest:
            raise JsonSyntaxError(f"an event is longer than {longest} bytes", self._window.offset)
        # Looking at as much again keeps one huge event linear.
        larger = size + max(min(size, longest + 1 - size), self._sizes.step_bytes)
        if size >= self._window.size and not self._window.read(larger - self._window.size):
            raise find_syntax_error(self._window.text(), self._window.offset)
        return larger

    def _cut_block(self, part: TextWindow) -> tuple[int, bool]:
        """Give out the events that are whole in a part of the window; how many, and whether the array ends behind them."""
        window = self._window
        if self._gap is not None and (guess := guess_elements(part, self._gap)) is not None:
            if self._take(guess):
                window.drop(int(guess.bounds[-1]))
                self._is_first = False
                return len(guess), False
            put_commas_back(part, guess)
        elements, is_end = cut_elements(part, is_first=self._is_first)
        if len(elements):
            try:
                self._take(elements)
            except BadElementError as error:
                put_commas_back(part, elements)
                raise _element_error(window, *elements.bounds[error.index : error.index + 2].tolist()) from error
            self._gap = learn_gap(elements) or self._gap
            self._usual = self._usual or self._gap
            self._is_first = False
        if is_end:
            window.drop(int(elements.bounds[-1]) - 1 if len(elements) else len(text := part.text()) - len(text.lstrip()))
            return len(elements), True
        window.drop(int(elements.bounds[-1]))
        # A quote too many would let the rest of the text look like one event.
        if not len(elements) and not (found := find_syntax_error(part.text(), window.offset)).is_cut:
            raise found
        return len(elements), False

    def _boundary(self, segment: int) -> int | None:
        """At which byte of the document's text a segment begins; None when that is nowhere within reach."""
        gap, window = self._usual, self._window
        if gap is None:
            return None
        pattern = re.compile(rb"\}[ \t\r\n]{%d},[ \t\r\n]{%d}\{" % (gap.before_bytes - 1, gap.after_bytes - 1))
        start = max(self.nominal(segment) - window.offset, 0)
        while True:
            if match := pattern.search(window.view(min(window.size, start + _REACH_BYTES)), start):
                return window.offset + match.end() - gap.after_bytes
            if window.size >= start + _REACH_BYTES or not window.read(_FIRST_STEP_BYTES):
                return None

    def _opening(self, boundary: int) -> int:
        """Where in the document the `{` ends that follows a boundary: with less, it would not be seen."""
        return boundary if self._usual is None else boundary + self._usual.after_bytes


def _first_step(sizes: CutSizes) -> int:
    """The first block, which is surely cut and dear, need not be long."""
    return min(sizes.step_bytes, _FIRST_STEP_BYTES)


def _element_error(window: TextWindow, start: int, next_start: int) -> JsonSyntaxError:
    error = find_syntax_error(window.text()[start:], window.offset + start)
    if error.offset < window.offset + next_start:
        return error
    return JsonSyntaxError("an event cannot be decoded", window.offset + start)
