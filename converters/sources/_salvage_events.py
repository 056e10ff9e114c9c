"""The events of a broken trace, mended: what is sound is found block by block and stays, the rest is read value by value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import msgspec

from ..json_text import is_utf8
from ._json_blocks import EventBlock, cut_elements, put_commas_back
from ._salvage_report import Tally
from ._salvage_source import SalvageSource
from ._salvage_sync import Synchronizer, is_stray_bracket
from ._salvage_value import BrokenError, IncompleteError, Reading, ValueReader
from .text_limits import TextLimits

_SMALL_BYTES: Final = 1 << 12
_BLOCK_BYTES: Final = 3 << 17
"""How much is looked at at once: the less, the less is looked at again where much is broken."""
_MOST_BYTES: Final = 1 << 15
"""Where more than this was read value by value, it is tried again whether what follows is sound."""
_RAW: Final = msgspec.json.Decoder(msgspec.Raw)
_COMMAS: Final = re.compile(rb"[, \t\r\n]*")
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_CLOSES: Final = re.compile(rb"[} \t\r\n]*")
_MEMBER: Final = re.compile(rb'"[^"\\]{0,200}"[ \t\r\n]{0,64}:')
_OPEN, _CLOSE, _END, _QUOTE, _COMMA = b'{}]",'


@dataclass
class _Step:
    """What is to be done with the beginning of the window.

    Attributes:
        end: How much of it is done then.
        text: What stands for it; None = no element.
        is_behind_comma: Whether a comma is the last of it.
        is_end: Whether the events end behind it.
        counts: What to add to the tally: code, place, count, bytes, reason.
    """

    end: int
    text: bytes | None = None
    is_behind_comma: bool = False
    is_end: bool = False
    counts: list[tuple[str, int, int, int, str]] = field(default_factory=list)


class EventMender:
    """Reads the array of events; iterate it once for its text between the brackets.

    Attributes:
        is_closed: Whether the window begins with the `]` of the array afterwards; else the text goes on with a member of the
            object, or its `}`, or it has ended.
        is_abandoned: Whether another document begins there.
    """

    def __init__(self, source: SalvageSource, limits: TextLimits, tally: Tally, *, is_object: bool) -> None:
        """Of a window that begins behind the `[`."""
        self.is_closed = False
        self.is_abandoned = False
        self._source = source
        self._limits = limits
        self._tally = tally
        self._is_object = is_object
        self._sync = Synchronizer(limits, is_object=is_object)
        self._is_first = True
        self._is_behind_comma = False
        self._lost_kind = ""
        self._is_doubtful = False
        self._is_adrift = False

    def __iter__(self) -> Iterator[bytes]:
        size = _SMALL_BYTES
        while True:
            self._source.fill(size)
            step = None if self._lost_kind else self._sound(size)
            size = min(2 * size, _BLOCK_BYTES)
            if step is not None:
                text, end, is_end = self._taken(step), step.end, step.is_end
            else:
                size = _SMALL_BYTES
                text, end, is_end = self._batch()
            self._source.window.drop(end)
            if text:
                yield text
            if is_end:
                if not (self.is_closed and self._goes_on()):
                    return
                self.is_closed = False

    def _batch(self) -> tuple[bytes, int, bool]:
        """Read some elements one by one: their text, where they end, and whether the events end there."""
        try:
            return self._source.look(self._some)
        except IncompleteError:
            step = self._cut()
            return self._taken(step), step.end, step.is_end

    def _some(self, text: bytes, is_final: bool) -> tuple[bytes, int, bool]:  # noqa: FBT001  # as `SalvageSource.look` calls it
        pieces: list[bytes] = []
        step = _Step(0)
        # Of a text that is as long as may be held, no more than the first element is known to have no end.
        most_bytes = _MOST_BYTES if len(text) < self._limits.event_bytes else 0
        while not step.is_end:
            try:
                following = self._mended(text, step.end, is_final=is_final)
            except IncompleteError:
                if not step.end:
                    raise
                break
            step = following
            pieces.append(self._taken(step))
            if step.end > most_bytes:
                break
        return b"".join(pieces), step.end, step.is_end

    def _taken(self, step: _Step) -> bytes:
        """Do what is to be done, and tell the text that stands for it."""
        offset = self._source.window.offset
        for kind, at, count, size_bytes, reason in step.counts:
            self._tally.add(kind, offset + at, count, size_bytes=size_bytes, reason=reason)
        self._is_behind_comma = step.is_behind_comma
        if not step.text:
            return b""
        comma = b"" if self._is_first else b","
        self._is_first &= not step.text.strip()
        return comma + step.text

    def _goes_on(self) -> bool:
        """Whether more events follow the bracket, which is left out then."""
        self._source.fill(_SMALL_BYTES)
        window = self._source.window
        if not is_stray_bracket(bytes(window.view(min(_SMALL_BYTES, window.size))), 0):
            return False
        self._tally.add("odd-brackets", window.offset)
        window.drop(1)
        return True

    def _sound(self, size: int) -> _Step | None:
        """The elements at the beginning of the window that are whole and sound; None when the first one is not."""
        window = self._source.window.first(size)
        elements, is_end = cut_elements(window, is_first=not self._is_behind_comma)
        count = _count_sound(elements)
        put_commas_back(window, elements)
        is_end = is_end and count == len(elements)
        if not count and not (is_end and not len(elements)):
            return None
        if not count:
            text = window.text()
            used = len(text) - len(text.lstrip(b" \t\r\n"))
            if text[used] != _END:
                return None
            self.is_closed = True
            # White space of an array without elements stays; behind one it would ask for a comma.
            return _Step(used, text[:used] if self._is_first else None, is_end=True)
        used = int(elements.bounds[count])
        text = bytes(window.view(used - 1))
        self._sync.learn(text, 0)
        self._is_doubtful = False
        # It may be a brace too many that ends it.
        self.is_closed = is_end and window.data()[used - 1] == _END
        return _Step(used - is_end, text, is_behind_comma=not is_end, is_end=self.is_closed)

    def _mended(self, text: bytes, start: int, *, is_final: bool) -> _Step:
        """The next element, or what can be told of it."""
        if start == len(text):
            raise IncompleteError
        if self._lost_kind:
            return self._resync(text, start, is_final=is_final)
        if self._is_adrift:
            step = self._resync(text, start, is_final=is_final, reason="two writers wrote into each other")
            self._is_adrift = False
            return step
        at = _COMMAS.match(text, start).end()  # type: ignore[union-attr]  # it matches anything
        commas = text.count(b",", start, at)
        is_missing = not (self._is_first or self._is_behind_comma)
        step = _Step(at, is_behind_comma=self._is_behind_comma or bool(commas))
        if commas > is_missing:
            step.counts.append(("odd-commas", text.index(b",", start), commas - is_missing, 0, ""))
        if commas or at == len(text):
            return step
        if (ended := self._ended(text, at, step, is_final=is_final)) is not None:
            return ended
        return self._element(text, start, at, is_final=is_final)

    def _ended(self, text: bytes, at: int, step: _Step, *, is_final: bool) -> _Step | None:
        """What to do where no element begins; None where one does."""
        byte = text[at]
        if byte == _END:
            if self._is_behind_comma and not self._is_first:
                step.counts.append(("odd-commas", at, 1, 0, ""))
            step.is_end = self.is_closed = True
            return step
        if byte == _CLOSE:
            following = _CLOSES.match(text, at).end()  # type: ignore[union-attr]  # it begins with one
            if following == len(text) and not is_final:
                raise IncompleteError
            # The last one may be that of the document.
            step.is_end = self._is_object and following == len(text)
            step.end = text.rindex(b"}", at, following) if step.is_end else following
            step.counts.append(("odd-brackets", at, max(text.count(b"}", at, step.end), 1), 0, ""))
            return step
        if byte == _QUOTE and self._is_object and _MEMBER.match(text, at):
            step.counts.append(("odd-brackets", at, 1, 0, ""))
            step.is_end = True
            return step
        return None

    def _element(self, text: bytes, start: int, at: int, *, is_final: bool) -> _Step:
        reader = ValueReader(text, self._limits)
        try:
            reading = reader.read(at)
            following = _skip(text, reading.end)
            if following == len(text) and not is_final:
                raise IncompleteError
            if text[at] != _OPEN and text[following : following + 1] not in (b",", b"]", b""):
                raise BrokenError(following, "between two events")
        except BrokenError as error:
            return self._resync(text, at, is_final=is_final, reason=error.reason)
        except IncompleteError:
            if not is_final:
                raise
            return self._resync(text, at, is_final=is_final)
        return self._whole(text, start, reading, following, is_final=is_final)

    def _whole(self, text: bytes, start: int, reading: Reading, following: int, *, is_final: bool) -> _Step:
        """An element that was read."""
        self._sync.learn(text, start)
        counts = [(kind, reading.offsets[kind], count, 0, "") for kind, count in reading.repairs.items()]
        byte = text[following : following + 1]
        if byte == b"{":
            counts.append(("no-commas", reading.end, 1, 0, ""))
        # Behind text that is lost, what is no other event may be the rest of one around this one.
        place = _skip(text, following + 1) if byte == b"," else following
        behind = text[place : place + 1]
        is_end = byte == b"]" and self._is_doubtful and self._ends(text, following, is_final=is_final)
        self._is_adrift = self._is_doubtful and not is_end and behind not in (b"{", b"")
        self._is_doubtful = False
        is_behind_comma = byte == b","
        return _Step(
            following + is_behind_comma, reading.text(text, start, following), is_behind_comma=is_behind_comma, counts=counts
        )

    def _ends(self, text: bytes, bracket: int, *, is_final: bool) -> bool:
        try:
            return self._sync.ends(text, bracket, is_final=is_final)
        except BrokenError:
            return False
        except IncompleteError:
            if not is_final:
                raise
            return False

    def _resync(self, text: bytes, at: int, *, is_final: bool, reason: str = "") -> _Step:
        """Leave out what begins here, up to where events go on."""
        is_begun = not self._lost_kind
        sync = self._sync.next(text, at + is_begun, is_final=is_final, passed_bytes=self._source.window.offset + len(text))
        if sync.at == at and not sync.is_found and not sync.is_document:
            raise IncompleteError
        events = max(self._sync.count_events(text, at, sync.at), int(is_begun and text[at] == _OPEN))
        kind = self._lost_kind
        if is_begun:
            is_cut = not reason and sync.at == self._source.window.size
            kind = "cut-short" if is_cut else "lost-events" if text[at] == _OPEN else "lost-text"
        self._lost_kind = "" if sync.is_found else kind
        self._is_doubtful = sync.is_found
        self.is_abandoned = sync.is_document
        count = events if kind != "lost-text" else int(is_begun)
        return _Step(
            sync.at,
            is_end=sync.is_document,
            counts=[(kind, at, count, sync.at - at, reason or "it has no end")] if sync.at > at else [],
        )

    def _cut(self) -> _Step:
        """The text ended between two events, or in one that is lost already."""
        return _Step(0, is_end=True, counts=[] if self._lost_kind else [("cut-short", 0, 0, 0, "")])


def _count_sound(elements: EventBlock) -> int:
    """How many elements from the first one on are JSON and Unicode, each one object."""
    text = bytes(elements.text)
    if len(elements.starts) and _is_sound(text, len(elements)):
        return len(elements)
    for index, (start, next_start) in enumerate(pairwise(elements.bounds.tolist())):
        element = text[start : next_start - 1]
        if not element.lstrip(b" \t\r\n").startswith(b"{") or not _is_sound(element, 1):
            return index
    return len(elements)


def _is_sound(text: bytes, count: int) -> bool:
    try:
        return is_utf8(text) and len(_RAW.decode_lines(text)) == count
    except (msgspec.DecodeError, RecursionError):
        return False


def _skip(text: bytes, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches anything
