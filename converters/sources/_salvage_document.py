"""A broken trace as a document that is JSON: what is good of it stays byte for byte, and the rest is mended or left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ._document import InputDocument
from ._json_head import BOM
from ._salvage_events import EventMender
from ._salvage_input import LenientPass
from ._salvage_report import Tally
from ._salvage_source import SalvageSource
from ._salvage_value import BrokenError, IncompleteError, Reading, ValueReader

_EVENTS: Final = re.compile(rb'"traceEvents"[ \t\r\n]{0,64}:[ \t\r\n]{0,64}\[')
_BASE_TIME: Final = re.compile(rb'"baseTimeNanoseconds"[ \t\r\n]{0,64}:[ \t\r\n]{0,64}"?-?[0-9]{1,20}"?')
_SPACE: Final = b" \t\r\n"


class NoEventsError(Exception):
    """There is no array of events to be found."""


@dataclass(frozen=True)
class SalvagedDocument:
    """A document that every pass mends anew, always in the same way.

    Attributes:
        original: What it is of.
    """

    original: InputDocument

    @property
    def name(self) -> str:
        """See `Document`."""
        return self.original.name

    def blocks(self) -> Iterator[bytes]:
        """See `Document`.

        Raises:
            FormatError: The file cannot be read, or its gzip data is made to fill the memory.
        """
        return iter(SalvagePass(self))


class SalvagePass:
    """One reading of a broken document: iterate it once for the blocks of what is mended.

    Attributes:
        tally: What was mended so far, and lost.
    """

    def __init__(self, document: SalvagedDocument) -> None:
        self.tally = Tally()
        self._limits = document.original.limits
        self._input = LenientPass(document.original, self.tally)
        self._source = SalvageSource(iter(self._input), self._limits)

    @property
    def stored_bytes(self) -> int:
        """Read so far of what is stored."""
        return self._input.stored_bytes

    def __iter__(self) -> Iterator[bytes]:
        """The text.

        Raises:
            NoEventsError: There is no array of events.
        """
        head = self._head()
        yield head
        is_object = head.removeprefix(BOM).lstrip(_SPACE).startswith(b"{")
        events = EventMender(self._source, self._limits, self.tally, is_object=is_object)
        yield from events
        if events.is_abandoned:
            yield b"\n]" + b"}" * is_object
        else:
            yield self._tail(is_closed=events.is_closed) if is_object else self._bracket(is_closed=events.is_closed)
        yield from self._rest()

    def _head(self) -> bytes:
        """The text up to the `[` of the events, which leaves the window."""
        try:
            start, reading, text = self._source.look(self._read_head)
        except (BrokenError, IncompleteError) as error:
            raise NoEventsError from error
        self._source.window.drop(reading.end)
        return text[:start] + reading.text(text, start, reading.end)

    def _read_head(self, text: bytes, is_final: bool) -> tuple[int, Reading, bytes]:  # noqa: FBT001  # as `SalvageSource.look` calls it
        start = len(BOM) if text.startswith(BOM) else 0
        if text[start:].lstrip(_SPACE)[:1] not in (b"{", b"[", b""):
            raise NoEventsError
        reader = ValueReader(text, self._limits, is_head=True)
        try:
            reading = reader.read(start)
        except BrokenError as error:
            reading = reader.reading
            found = _EVENTS.search(text, error.at)
            if found is None:
                raise (BrokenError(error.at, error.reason) if is_final else IncompleteError) from error
            self._leave_out(reading, text, found.start(), error.reason, start)
            reading.end = found.end()
        if text[reading.end - 1 : reading.end] != b"[":
            raise BrokenError(reading.end, "no array of events")
        self._count(reading)
        return start, reading, text

    def _leave_out(self, reading: Reading, text: bytes, end: int, reason: str, start: int) -> None:
        """Let the head go on behind its last whole member with the events, and with the time of its zero, if that is lost."""
        whole = reading.whole_end
        low = whole if whole >= 0 else text.index(b"{", start) + 1
        reading.edits = [edit for edit in reading.edits if edit[1] <= low]
        members = [found[0]] if (found := _BASE_TIME.search(text, low, end)) else []
        meant = b"," * (whole >= 0) + b"".join(member + b"," for member in members)
        reading.edits.append((low, end, meant))
        self.tally.add("lost-text", self._source.window.offset + low, size_bytes=end - low, reason=reason)

    def _count(self, reading: Reading) -> None:
        for kind, count in reading.repairs.items():
            self.tally.add(kind, self._source.window.offset + reading.offsets[kind], count)

    def _bracket(self, *, is_closed: bool) -> bytes:
        self._source.window.drop(is_closed)
        return b"]" if is_closed else b"\n]"

    def _tail(self, *, is_closed: bool) -> bytes:
        """From the `]` of the events to the `}` of the document, which leaves the window."""
        reading, text = self._source.look(lambda text, is_final: self._read_tail(text, is_closed=is_closed, is_final=is_final))
        self._count(reading)
        self._source.window.drop(reading.end)
        body = reading.text(text, 0, reading.end)
        if is_closed:
            return body
        return b"\n]" + (b"," if body.startswith(b'"') else b"") + body

    def _read_tail(self, text: bytes, *, is_closed: bool, is_final: bool) -> tuple[Reading, bytes]:
        reader = ValueReader(text, self._limits)
        try:
            return reader.read_members(int(is_closed), is_behind_comma=not is_closed and text.startswith(b'"')), text
        except BrokenError as error:
            if not is_final:
                # The rest of it may hold the time of the zero.
                raise IncompleteError from error
            kind, reason = "lost-text", error.reason
        except IncompleteError:
            if not is_final:
                raise
            kind, reason = "cut-short", ""
        reading = reader.reading
        low = max(reading.whole_end, int(is_closed))
        reading.edits = [edit for edit in reading.edits if edit[1] <= low]
        found = _BASE_TIME.search(text, low)
        has_members = low > is_closed
        member = (b"," if is_closed or has_members else b"") + found[0] if found else b""
        reading.edits.append((low, len(text), member + b"}"))
        reading.end = len(text)
        is_known = is_closed or kind == "lost-text"
        if len(text) > low or is_known:
            self.tally.add(
                kind, self._source.window.offset + low, int(kind == "lost-text"), size_bytes=len(text) - low, reason=reason
            )
        return reading, text

    def _rest(self) -> Iterator[bytes]:
        """What follows the document: white space stays, everything else is counted and left out."""
        is_text = False
        for block in self._source.rest():
            offset = self._source.window.offset
            text = block if is_text else block.lstrip(_SPACE)
            if text and not is_text:
                kind = "another-document" if text[:1] in (b"{", b"[") else "lost-text"
                self.tally.add(kind, offset + len(block) - len(text), reason="it follows the end of the document")
                is_text = True
            if is_text:
                self.tally.add(kind, offset, 0, size_bytes=len(text))
            else:
                yield block
