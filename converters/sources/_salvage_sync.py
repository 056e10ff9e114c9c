"""Where events go on behind a stretch of text that is no JSON: at the next `{` with a key that events have.

What stands there has to be one whole event, with a phase and a name, or the end of the array with all that follows
it. Nothing is read much more often than once: a budget holds how much may be read in vain, and when it is used up, the search
goes on behind what was read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ._salvage_value import BrokenError, IncompleteError, ValueReader
from .text_limits import TextLimits

KEPT_BYTES: Final = 512
"""So much of a text that was searched in vain is searched again with what follows it."""
_KEYS: Final = rb'"(?:ph|cat|name|pid|tid|ts|dur|args|id|bp|s|cname|sf)"[ \t\r\n]{0,64}:'
_DOCUMENT: Final = re.compile(
    rb'\{[ \t\r\n]{0,64}"(?:schemaVersion|traceEvents|deviceProperties|distributedInfo|displayTimeUnit)"'
    rb'|"traceEvents"[ \t\r\n]{0,64}:[ \t\r\n]{0,64}\['
)
_SYNC: Final = re.compile(
    rb"(?P<event>\{[ \t\r\n]{0,64}%s)" % _KEYS + rb"|(?P<end>\}[ \t\r\n]{0,64}\])" + rb"|(?P<document>%s)" % _DOCUMENT.pattern
)
_STRAY_BRACKET: Final = re.compile(rb"\][ \t\r\n]{0,64},?[ \t\r\n]{0,64}\{[ \t\r\n]{0,64}%s" % _KEYS)
_FIRST_KEY: Final = re.compile(rb'[ \t\r\n]*\{[ \t\r\n]*("[^"\\]{1,64}")')
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_FEWEST_KEYS: Final = frozenset({b"ph", b"name"})
_EVENT_KEYS: Final = frozenset({b"ph", b"name", b"pid", b"ts"})
_FREE_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class Sync:
    """Where it goes on.

    Attributes:
        at: There; the end of the text, or a little before it, when it does so nowhere.
        is_found: Whether an event begins there, or the array ends.
        is_document: Whether another document begins there.
    """

    at: int
    is_found: bool
    is_document: bool = False


class Synchronizer:
    """Looks for events, and keeps count of what it read in vain."""

    def __init__(self, limits: TextLimits, *, is_object: bool) -> None:
        """For a document that is an object, or the array alone."""
        self._limits = limits
        self._is_object = is_object
        self._spent_bytes = 0
        self._first_key: re.Pattern[bytes] | None = None

    def learn(self, text: bytes, at: int) -> None:
        """Take a whole event as an example of how all of them begin."""
        if self._first_key is None and (found := _FIRST_KEY.match(text, at)):
            self._first_key = _beginning(found[1])

    def count_events(self, text: bytes, low: int, high: int) -> int:
        """How many events begin between two places of a text that is no JSON, by the look of it."""
        return sum(found.start() < high and not _is_value(text, found.start()) for found in self._pattern().finditer(text, low))

    def _pattern(self) -> re.Pattern[bytes]:
        return self._first_key or _beginning(b'"ph"')

    def _going_on(self, text: bytes, at: int) -> int:
        """Where the next event or document begins, by the look of it; -1 where none does."""
        events = (found.start() for found in self._pattern().finditer(text, at) if not _is_value(text, found.start()))
        event = next(events, -1)
        document = _DOCUMENT.search(text, at, event if event >= 0 else len(text))
        return document.start() if document else event

    def next(self, text: bytes, at: int, *, is_final: bool, passed_bytes: int) -> Sync:
        """Where it goes on, from here on.

        Args:
            text: The text.
            at: Where to begin.
            is_final: Whether nothing comes after this text, or no more of it may be held.
            passed_bytes: Bytes of the document so far.

        Raises:
            IncompleteError: More of the text has to be seen.
        """
        allowed_bytes = _FREE_BYTES + passed_bytes
        while found := _SYNC.search(text, at):
            start = found.start()
            if found.lastgroup == "document":
                return Sync(start, is_found=False, is_document=True)
            try:
                if found.lastgroup == "end":
                    if self.ends(text, found.end() - 1, is_final=is_final):
                        return Sync(found.end() - 1, is_found=True)
                    read_to = start
                elif self._is_event(text, start, is_final=is_final):
                    return Sync(start, is_found=True)
                else:
                    read_to = start + 1
            except BrokenError as error:
                read_to = error.at
            except IncompleteError:
                if not is_final:
                    raise
                read_to = len(text)
            self._spent_bytes += read_to - start
            at = max(start + 1, read_to if self._spent_bytes > allowed_bytes else 0)
        return Sync(len(text) if is_final else max(at, len(text) - KEPT_BYTES), is_found=False)

    def _is_event(self, text: bytes, at: int, *, is_final: bool) -> bool:
        reading = ValueReader(text, self._limits).read(at)
        following = _skip(text, reading.end)
        if following == len(text) and not is_final:
            raise IncompleteError
        # Within a member, or before something else, it is an event only where two writers wrote into each other.
        is_usual = not _is_value(text, at) and text[following : following + 1] in (b",", b"]", b"}", b"{", b"")
        return (_FEWEST_KEYS if is_usual else _EVENT_KEYS) <= reading.keys

    def ends(self, text: bytes, bracket: int, *, is_final: bool) -> bool:
        """Whether a bracket is the end of the array: the document ends behind it and its other members.

        Where these are broken or cut, it is, unless an event, as events of this document begin, or another document is behind it.

        Raises:
            BrokenError: They are broken or cut, and it goes on at the place that this tells.
            IncompleteError: More of the text has to be seen.
        """
        end = bracket + 1
        if self._is_object:
            try:
                end = ValueReader(text, self._limits).read_members(end).end
            except (BrokenError, IncompleteError):
                if (going_on := self._going_on(text, end)) >= 0:
                    raise BrokenError(going_on, "the array ends, and events go on") from None
                if not is_final:
                    raise IncompleteError from None
                return True
        following = _skip(text, end)
        if following == len(text) and not is_final:
            raise IncompleteError
        return following == len(text)


def is_stray_bracket(text: bytes, at: int) -> bool:
    """Whether events go on behind a `]`."""
    return _STRAY_BRACKET.match(text, at) is not None


def _beginning(key: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"""\{[ \t\r\n]{0,64}(?:%s|'%s')[ \t\r\n]{0,64}:""" % (re.escape(key), re.escape(key[1:-1])))


def _is_value(text: bytes, at: int) -> bool:
    """Whether a colon stands before this place: what is here belongs to a member, and is no event."""
    return text[max(at - KEPT_BYTES // 4, 0) : at].rstrip(b" \t\r\n").endswith(b":")


def _skip(text: bytes, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches anything
