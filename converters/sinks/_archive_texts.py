"""The document of a host trace, read again: each event as it stands, and what is around them all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from ..event_blocks import changed_document
from ..timeline import HostTrace, Int64

_STEP_ROWS: Final = 4096
_STEP_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class Frame:
    """What a document is beside its events.

    Attributes:
        head: Bytes before the first event, or up to the `[` when there is none.
        tail: Bytes after the last event.
        size_bytes: Of the whole document.
        digest: SHA-256 of the whole document.
    """

    head: bytes
    tail: bytes
    size_bytes: int
    digest: bytes


def frame_of(host: HostTrace) -> Frame:
    """Read the document once for what is around its events.

    Raises:
        FormatError: It cannot be read again, or is another one by now.
    """
    places = event_bounds(host)
    first, last = (int(places[0]), int(places[-1])) if len(places) > 1 else (len(host.head), len(host.head))
    digest, position = hashlib.sha256(), 0
    head, tail = bytearray(), bytearray()
    for block in host.document.blocks():
        digest.update(block)
        head += block[: max(first - position, 0)]
        tail += block[max(last - position, 0) :]
        position += len(block)
    if not (head.startswith(host.head) and tail.endswith(host.tail)):
        raise changed_document(host)
    return Frame(bytes(head), bytes(tail), position, digest.digest())


def event_texts(host: HostTrace) -> Iterator[tuple[int, list[bytes]]]:
    """Every event, some at a time: the number of the first, and the text of each with what parts it from the one before.

    How many come at a time depends on the events alone.

    Raises:
        FormatError: The document cannot be read again, or ends earlier than it did.
    """
    bounds = event_bounds(host)
    blocks = host.document.blocks()
    text, position = b"", 0
    for first, last in _steps(bounds):
        parts, size = [text], len(text)
        while position + size < bounds[last]:
            block = next(blocks, None)
            if block is None:
                raise changed_document(host)
            parts.append(block)
            size += len(block)
        text = b"".join(parts)
        places = (bounds[first : last + 1] - position).tolist()
        yield first, [text[start:end] for start, end in pairwise(places)]
        text, position = text[places[-1] :], position + places[-1]


def event_bounds(host: HostTrace) -> Int64:
    """int64[n + 1]; where the first event begins, and where each one ends; what is between two is of the second."""
    events = host.events
    return np.concatenate((events.offset[:1], events.offset + events.length))


def _steps(bounds: Int64) -> Iterator[tuple[int, int]]:
    count, first = len(bounds) - 1, 0
    while first < count:
        whole = int(np.searchsorted(bounds, bounds[first] + _STEP_BYTES, side="right")) - 1
        last = max(first + 1, min(first + _STEP_ROWS, whole, count))
        yield first, last
        first = last
