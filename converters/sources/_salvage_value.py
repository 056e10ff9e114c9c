"""One JSON value read as far as it makes sense: small faults in it are mended, others refuse it with their place.

It holds no more than a stack of brackets and a list of repairs, reads every byte once and goes nowhere twice; nothing in it
calls itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from ._json_head import EVENTS_KEY
from ._salvage_scalars import Repairs, mended_string, mended_word
from .text_limits import TextLimits

_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_COMMAS: Final = re.compile(rb"[, \t\r\n]*")
_WORD: Final = re.compile(rb'[^ \t\r\n,:{}\[\]"]+')
_OPEN, _CLOSE, _BEGIN, _END, _QUOTE, _COMMA, _COLON = b'{}[]",:'
_CLOSES: Final = {_CLOSE: _OPEN, _END: _BEGIN}
_EVENTS: Final = EVENTS_KEY.encode()


class BrokenError(Exception):
    """Here it makes no sense; what was read cannot be told to be one value."""

    def __init__(self, at: int, reason: str) -> None:
        self.at = at
        self.reason = reason
        super().__init__(reason)


class IncompleteError(Exception):
    """The text ends before the value does."""


Edit = tuple[int, int, bytes]
"""A stretch of a text, and what goes in its place."""


@dataclass
class Reading:
    """What was read of a value.

    Attributes:
        end: Where it ends in the text.
        edits: What has to change in the text, in order.
        repairs: What was mended, counted.
        offsets: Where each kind of repair came first.
        keys: Names of the members of the outermost object.
        whole_end: Where the last member of the outermost object ends that is whole.
    """

    end: int = 0
    edits: list[Edit] = field(default_factory=list)
    repairs: Repairs = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    keys: set[bytes] = field(default_factory=set)
    whole_end: int = -1

    def text(self, text: bytes, start: int, end: int) -> bytes:
        """text[start:end] with the edits that lie in it."""
        pieces, at = [], start
        for low, high, meant in self.edits:
            if high <= end:
                pieces += [text[at:low], meant]
                at = high
        return b"".join([*pieces, text[at:end]])


class _Next(Enum):
    """What comes next."""

    VALUE = auto()
    FIRST_ITEM = auto()
    AFTER_VALUE = auto()
    EVENTS = auto()


_Step = tuple[int, _Next]


class ValueReader:
    """Reads one value."""

    def __init__(self, text: bytes, limits: TextLimits, *, is_head: bool = False) -> None:
        """Of this text, within these limits; the head of a trace is read up to the `[` of its events."""
        self.reading = Reading()
        self._text = text
        self._limits = limits
        self._is_head = is_head
        self._stack = bytearray()
        self._key = b""

    def read(self, at: int) -> Reading:
        """The value that begins here.

        Raises:
            BrokenError: It is none.
            IncompleteError: The text ends too early to tell.
        """
        return self._read(self._skip(at), _Next.VALUE)

    def read_members(self, at: int, *, is_behind_comma: bool = False) -> Reading:
        """What is left of an object of which a member ends here, or the comma behind it. Raises: As `read`."""
        self._stack.append(_OPEN)
        return self._read(at, _Next.FIRST_ITEM if is_behind_comma else _Next.AFTER_VALUE)

    def _read(self, at: int, following: _Next) -> Reading:
        left = self._limits.values
        while following is not _Next.EVENTS and (self._stack or following is not _Next.AFTER_VALUE):
            left -= 1
            if left < 0:
                raise BrokenError(at, f"more than {self._limits.values:,} values in one event")
            if following is _Next.VALUE:
                at, following = self._value(at)
            elif following is _Next.FIRST_ITEM:
                at, following = self._item(at, is_first=True)
            else:
                at, following = self._after(at)
        self.reading.end = at
        return self.reading

    def _skip(self, at: int) -> int:
        at = _SPACE.match(self._text, at).end()  # type: ignore[union-attr]  # it matches anything
        if at == len(self._text):
            raise IncompleteError
        return at

    def _value(self, at: int) -> _Step:
        """Read what begins here, but of an object or array only its bracket."""
        byte = self._text[at]
        if byte == _QUOTE:
            return self._string(at)[1], _Next.AFTER_VALUE
        if byte not in b"{[":
            return self._word(at), _Next.AFTER_VALUE
        if self._is_head and byte == _BEGIN and len(self._stack) <= 1 and self._key == (_EVENTS if self._stack else b""):
            return at + 1, _Next.EVENTS
        if len(self._stack) >= self._limits.depth:
            raise BrokenError(at, f"objects or arrays are nested deeper than {self._limits.depth}")
        self._stack.append(byte)
        return at + 1, _Next.FIRST_ITEM

    def _after(self, at: int) -> _Step:
        """Go on behind a value: a comma and the next item, or the end of an object or array."""
        if len(self._stack) == 1:
            self.reading.whole_end = at
        at = self._skip(at)
        return self._item(at, is_first=False) if self._text[at] == _COMMA else self._close(at)

    def _close(self, at: int) -> _Step:
        if _CLOSES.get(self._text[at]) != self._stack[-1]:
            raise BrokenError(at, _what_stands(self._text, at))
        self._stack.pop()
        return at + 1, _Next.AFTER_VALUE

    def _item(self, at: int, *, is_first: bool) -> _Step:
        """Read commas, if any, and go to the value behind them, or to the end of the object or array."""
        end = _COMMAS.match(self._text, at).end()  # type: ignore[union-attr]  # it matches anything
        if end == len(self._text):
            raise IncompleteError
        run = self._text[at:end]
        is_last = _CLOSES.get(self._text[end]) == self._stack[-1]
        count = run.count(b",")
        wanted = 0 if is_first or is_last else 1
        if count != wanted:
            self._edit("odd-commas", at, end, b"," * wanted + run.replace(b",", b""), count - wanted)
        if is_last:
            return self._close(end)
        return (end, _Next.VALUE) if self._stack[-1] == _BEGIN else self._member(end)

    def _member(self, at: int) -> _Step:
        if self._text[at] != _QUOTE:
            raise BrokenError(at, _what_stands(self._text, at))
        key, end = self._string(at)
        if len(self._stack) == 1:
            self._key = key
            self.reading.keys.add(key)
        at = self._skip(end)
        if self._text[at] != _COLON:
            raise BrokenError(at, _what_stands(self._text, at))
        at = self._skip(at + 1)
        if self._text[at] in b",}":
            self._edit("no-values", at, at, b"null", 1)
            return at, _Next.AFTER_VALUE
        return at, _Next.VALUE

    def _string(self, at: int) -> tuple[bytes, int]:
        end = string_end(self._text, at + 1)
        if end < 0:
            raise IncompleteError
        inner = self._text[at + 1 : end]
        found: Repairs = {}
        mended = mended_string(inner, found)
        if found:
            self._count(found, at)
            self.reading.edits.append((at + 1, end, mended))
        return inner, end + 1

    def _word(self, at: int) -> int:
        matched = _WORD.match(self._text, at)
        if matched is None:
            raise BrokenError(at, _what_stands(self._text, at))
        if matched.end() == len(self._text):
            raise IncompleteError
        found: Repairs = {}
        mended = mended_word(matched[0], found)
        if mended is None:
            raise BrokenError(at, _what_stands(self._text, at))
        if found:
            self._count(found, at)
            self.reading.edits.append((at, matched.end(), mended))
        return matched.end()

    def _edit(self, kind: str, start: int, end: int, meant: bytes, count: int) -> None:
        self._count({kind: count}, start)
        self.reading.edits.append((start, end, meant))

    def _count(self, found: Repairs, at: int) -> None:
        for kind, count in found.items():
            self.reading.repairs[kind] = self.reading.repairs.get(kind, 0) + count
            self.reading.offsets.setdefault(kind, at)


def string_end(text: bytes, at: int) -> int:
    """Where the quote stands that ends a text which begins here; -1 when there is none."""
    while (quote := text.find(b'"', at)) >= 0:
        before = text[at:quote]
        if (len(before) - len(before.rstrip(b"\\"))) % 2 == 0:
            return quote
        at = quote + 1
    return -1


def _what_stands(text: bytes, at: int) -> str:
    """What is wrong, by the look of it, with an advice where there is one."""
    if text[at : at + 1] == b"'":
        return "single quotes are no JSON: write them with json.dump"
    if text[at : at + 2] in (b"//", b"/*"):
        return "JSON has no comments"
    return "such as a quote within a name that is written as it is"
