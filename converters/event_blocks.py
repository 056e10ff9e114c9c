"""The events of a host trace as they stand in its document: text in blocks of whole events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rblnpb.errors import FormatError

from .host_trace import HostTrace, Int64

__all__ = ["EventBlock", "changed_document", "event_blocks"]


@dataclass(frozen=True, eq=False)
class EventBlock:
    """Whole events that follow each other.

    Attributes:
        text: Their text, and what stands between them; the first block begins with the first event, others behind the last one of
            the block before.
        first: Row of the first event.
        start, end: int64[n]; where each event's `{` is in the text, and where the event ends.
    """

    text: bytes
    first: int
    start: Int64
    end: Int64

    def __len__(self) -> int:
        return len(self.start)


def event_blocks(host: HostTrace, first: int) -> Iterator[EventBlock]:
    """The events from row `first` on, about a mebibyte of them at a time.

    Raises:
        FormatError: The document cannot be read again, or ends earlier than it did.
    """
    offset, length = host.events.offset, host.events.length
    if first == len(offset):
        return
    final = int(offset[-1] + length[-1])
    parts: list[bytes] = []
    begin, passed = int(offset[first]), 0
    due = min(begin + _BLOCK_BYTES, final)
    for part in host.document.blocks():
        passed += len(part)
        if passed <= begin:
            continue
        parts.append(part if parts else part[begin - passed :])
        if passed < due:
            continue
        last = int(offset.searchsorted(passed))
        if int(offset[last - 1] + length[last - 1]) > passed:
            last -= 1
        if last == first:
            continue
        text = b"".join(parts)
        start = offset[first:last] - begin
        end = start + length[first:last]
        size = int(end[-1])
        yield EventBlock(text[:size], first, start, end)
        parts, begin, first = [text[size:]], begin + size, last
        due = min(begin + _BLOCK_BYTES, final)
        if first == len(offset):
            return
    raise changed_document(host)


_BLOCK_BYTES: Final = 1 << 20


def changed_document(host: HostTrace) -> FormatError:
    """What is said of a document that is not what the columns tell of."""
    return FormatError(host.document.name, "it is not what it was when it was read first; is it still being written?")
