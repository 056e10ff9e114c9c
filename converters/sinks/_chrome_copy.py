"""Copies the events of a host trace as the bytes that they are, and exchanges single values in them.

What lies between two events is copied too, except where it is more than a comma and white space, or an event is left out. The
document passes by in blocks; of what has to change in a block a list is made, and the block is put together again around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from ..event_blocks import EventBlock, event_blocks
from ..json_text import members, microseconds, split_rows
from ..timeline import HostTrace, Int32, Int64

__all__ = ["Change", "TableChange", "TimeChange", "copy_events", "replace_member"]

_NUMBER_BYTES: Final = 32
_IS_NUMBER: Final = np.zeros(256, np.bool_)
_IS_NUMBER[list(b"0123456789+-.eE")] = True
_SPACE: Final = b" \t\r\n"


class Change(Protocol):
    """New values of one member in some events."""

    @property
    def key(self) -> str:
        """Name of the member, which is of the event itself and not of its args."""

    @property
    def rows(self) -> Int32 | Int64:
        """int[k]; rows of the events, ascending."""

    @property
    def is_there(self) -> bool:
        """Whether each of these events has the member already."""

    def texts(self, first: int, last: int) -> list[bytes]:
        """The new values, as JSON, of rows[first:last]."""


@dataclass(frozen=True, eq=False)
class TableChange:
    """Values out of a table: `table[entry[i]]` for event `rows[i]`."""

    key: str
    rows: Int32 | Int64
    table: Sequence[bytes]
    entry: Int32 | Int64
    is_there: bool = True

    def texts(self, first: int, last: int) -> list[bytes]:
        """See `Change`."""
        return list(map(self.table.__getitem__, self.entry[first:last].tolist()))


@dataclass(frozen=True, eq=False)
class TimeChange:
    """Times: `time_ns[rows[i]]` for event `rows[i]`, in microseconds since the zero; metadata before it are put at it."""

    key: str
    rows: Int32 | Int64
    time_ns: Int64
    zero_ns: int
    is_there: bool = True

    def texts(self, first: int, last: int) -> list[bytes]:
        """See `Change`."""
        return split_rows(last - first, microseconds(np.maximum(self.time_ns[self.rows[first:last]] - self.zero_ns, 0)))


@dataclass(frozen=True, eq=False)
class _Edits:
    """Stretches of a text, none of which overlap, and what goes in the place of each."""

    start: Int64
    end: Int64
    texts: list[bytes]

    @classmethod
    def of(cls, *edits: tuple[int, int, bytes]) -> _Edits:
        places = np.array([edit[:2] for edit in edits], np.int64).reshape(-1, 2)
        return cls(places[:, 0], places[:, 1], [edit[2] for edit in edits])

    @classmethod
    def all_of(cls, parts: list[_Edits]) -> _Edits:
        start = np.concatenate([part.start for part in parts])
        order = np.argsort(start, kind="stable")
        texts = [text for part in parts for text in part.texts]
        end = np.concatenate([part.end for part in parts])
        return cls(start[order], end[order], [texts[place] for place in order.tolist()] if len(parts) > 1 else texts)

    def apply(self, text: bytes) -> bytes:
        if not self.texts:
            return text
        kept, whole = zip([0, *self.end.tolist()], [*self.start.tolist(), len(text)], strict=True), memoryview(text)
        pieces: list[bytes | memoryview] = [b""] * (2 * len(self.texts) + 1)
        pieces[0::2] = [whole[low:high] for low, high in kept]
        pieces[1::2] = self.texts
        return b"".join(pieces)


def copy_events(host: HostTrace, changes: tuple[Change, ...], left_out: Int64) -> Iterator[tuple[int, bytes]]:
    """The text of all events, in blocks, from the `{` of the first to the `}` of the last.

    Args:
        host: The trace.
        changes: At most one for a member.
        left_out: int64[k]; rows of events that are not copied, ascending.

    Yields:
        How many of the trace's events are done, and text.
    """
    for block in event_blocks(host, _first_kept(len(host.events), left_out)):
        last = block.first + len(block.start)
        edits = [_gaps(block, left_out[slice(*np.searchsorted(left_out, (block.first, last)))] - block.first)]
        for change in changes:
            low, high = np.searchsorted(change.rows, (block.first, last)).tolist()
            if low < high:
                edits += _exchange(block, change, low, high)
        yield last, _Edits.all_of([part for part in edits if part.texts] or edits[:1]).apply(block.text)


def _first_kept(count: int, left_out: Int64) -> int:
    is_kept = left_out != np.arange(len(left_out))
    return int(np.argmax(is_kept)) if is_kept.any() else min(len(left_out), count)


def _gaps(block: EventBlock, left_out: Int64) -> _Edits:
    """What is between the events to be changed: with an event that is left out the gap before it goes too."""
    gap_start = np.concatenate(([0], block.end[:-1]))
    edits = [(int(gap_start[place]), int(block.end[place]), b"") for place in left_out.tolist()]
    # Nearly always the same few bytes lie between any two events; only others are looked at.
    usual = block.text[int(gap_start[-1]) : int(block.start[-1])]
    odd = block.start - gap_start != len(usual)
    if usual.strip(_SPACE) == b",":
        data = np.frombuffer(block.text, np.uint8)
        for place, byte in enumerate(usual):
            odd |= data.take(gap_start + place, mode="clip") != byte
    else:
        odd[:] = True
    odd[left_out] = False
    for place in np.flatnonzero(odd).tolist():
        low, high = int(gap_start[place]), int(block.start[place])
        if high > 0 and block.text[low:high].strip(_SPACE) != b",":
            edits.append((low, high, b",\n"))
    return _Edits.of(*edits)


def _exchange(block: EventBlock, change: Change, low: int, high: int) -> list[_Edits]:
    """New values for the member of the rows change.rows[low:high], all of which are of this block."""
    places = change.rows[low:high].astype(np.int64) - block.first
    texts = change.texts(low, high)
    nowhere = np.full(len(places), -1, np.int64)
    start, end = _plain_numbers(block, change.key, places) if change.is_there else (nowhere, nowhere)
    plain = start >= 0
    if plain.all():
        return [_Edits(start, end, texts)]
    others = []
    for number in np.flatnonzero(~plain).tolist():
        at = int(block.start[places[number]])
        event = block.text[at : int(block.end[places[number]])]
        others += [(at + low, at + high, text) for low, high, text in _member_edits(event, change.key, texts[number])]
    of_plain = [texts[number] for number in np.flatnonzero(plain).tolist()]
    return [_Edits(start[plain], end[plain], of_plain), _Edits.of(*others)]


def _plain_numbers(block: EventBlock, key: str, places: Int64) -> tuple[Int64, Int64]:
    """Where in the text the number stands that is the member's value; -1 for events that have to be read token by token.

    An event that has the quoted key once, with a number behind it, is plain. (A quote within a text has a backslash before it, so
    the quoted key cannot be part of a longer text.) It is the event's own member and not one of its args, since the event has one.
    """
    if len(places) * _FEW >= len(block):
        at, end = _own_numbers(block, key)
        return at[places], end[places]
    # Only these events are searched, one behind the other.
    start, end = block.start[places], block.end[places]
    text = b"".join([block.text[low:high] for low, high in zip(start.tolist(), end.tolist(), strict=True)])
    few_end = np.cumsum(end - start)
    few = EventBlock(text, 0, few_end - (end - start), few_end)
    at, end = _own_numbers(few, key)
    return np.where(at < 0, -1, at + (start - few.start)), end + (start - few.start)


def _own_numbers(block: EventBlock, key: str) -> tuple[Int64, Int64]:
    """As `_plain_numbers`, of all events of a block."""
    data = np.frombuffer(block.text, np.uint8)
    found = _find(block.text, b'"%s":' % key.encode())
    owner = np.searchsorted(block.start, found, side="right") - 1
    inside = (owner >= 0) & (found < block.end[owner])
    found, owner = found[inside], owner[inside]
    spelled_apart = np.bincount(owner, minlength=len(block.start)) != 1
    at = np.full(len(block.start), -1, np.int64)
    at[owner] = found + len(key) + 3
    at[spelled_apart] = -1
    plain = at >= 0
    at += plain & (data[np.maximum(at, 0)] == ord(" "))
    window = data[np.minimum(np.maximum(at, 0)[:, None] + np.arange(_NUMBER_BYTES), len(data) - 1)]
    size = np.argmin(_IS_NUMBER[window], axis=1)
    plain &= size > 0
    return np.where(plain, at, -1), at + size


_FEW: Final = 4
"""Where so few of a block's events, or fewer, change, it is not searched whole."""


def _find(text: bytes, pattern: bytes) -> Int64:
    """int64[k]; where the pattern, of at least three bytes, occurs in the text; ascending."""
    data = np.frombuffer(text, np.uint8)
    count = max(len(data) - len(pattern) + 1, 0)
    # Letters are rarer than quotes: few places are left after two of them.
    is_there = data[1 : count + 1] == pattern[1]
    is_there &= data[2 : count + 2] == pattern[2]
    at = np.flatnonzero(is_there)
    for place in (0, *range(3, len(pattern))):
        at = at[data[at + place] == pattern[place]]
    return at


def _member_edits(event: bytes, key: str, text: bytes) -> list[tuple[int, int, bytes]]:
    edits = [(low, high, text) for name, low, high in members(event) if name == key]
    if edits:
        return edits
    place = event.index(b"{") + 1
    return [(place, place, b'"%s": %s, ' % (key.encode(), text))]


def replace_member(document: bytes, key: str, text: bytes) -> bytes:
    """An object as JSON text with another value of one of its own members, which is put in front where there is none."""
    return _Edits.all_of([_Edits.of(*_member_edits(document, key, text))]).apply(document)
