"""Some events of a host trace as a host trace of its own, with a document that holds just these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from .host_trace import Document, HostEvents, HostTrace, Int64

__all__ = ["excerpt"]

_SEPARATOR: Final = b",\n"


@dataclass(frozen=True, eq=False)
class _Excerpt:
    """Stretches of a document, between other first and last bytes.

    Attributes:
        whole: What the stretches are of.
        start, end: int64[k]; where each begins and ends in the whole document; ascending, none overlaps another.
        head, tail: What stands before and after them.
    """

    whole: Document
    start: Int64
    end: Int64
    head: bytes
    tail: bytes

    @property
    def name(self) -> str:
        """See `Document`."""
        return self.whole.name

    def blocks(self) -> Iterator[bytes]:
        """See `Document`; a block for each of the whole document that has something of a stretch."""
        parts, place, passed = [self.head], 0, 0
        for block in self.whole.blocks():
            low, passed = passed, passed + len(block)
            while place < len(self.start) and self.start[place] < passed:
                start, end = int(self.start[place]), int(self.end[place])
                if start >= low and place:
                    parts.append(_SEPARATOR)
                parts.append(block[max(start - low, 0) : end - low])
                if end > passed:
                    break
                place += 1
            if parts:
                yield b"".join(parts)
                parts = []
            if place == len(self.start):
                break
        yield b"".join(parts) + self.tail


def excerpt(host: HostTrace, rows: Int64) -> HostTrace:
    """A host trace of some of the events.

    Args:
        host: The trace.
        rows: int64[k]; the events that stay, ascending.

    Returns:
        The same strings, tracks, names, metadata and findings, and these events. Events that follow each other in the document keep
        what stands between them.
    """
    events = host.events
    columns = {name: column[rows] for name, column in events.columns().items()}
    offset, length = columns["offset"], columns["length"]
    is_first = np.append(True, np.diff(rows) != 1)[: len(rows)]
    start, end = offset[is_first], (offset + length)[np.append(is_first[1:], True)[: len(rows)]]
    head = host.head + b"\n"
    size = end - start + len(_SEPARATOR)
    place = len(head) + np.cumsum(size) - size
    columns["offset"] = offset + (place - start)[np.cumsum(is_first) - 1]
    document = _Excerpt(host.document, start, end, head, b"\n" + host.tail)
    return replace(host, document=document, events=HostEvents.some(columns))
