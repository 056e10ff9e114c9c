"""A window that slides over a text: its bytes stand in one buffer, whose memory is used again for the whole text."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Final

import numpy as np

from ..timeline import Bool, UInt8

PADDING_BYTES: Final = 1 << 13
"""Behind what is in the window there is memory that may be looked at, whatever is there."""
_FIRST_CAPACITY_BYTES: Final = 1 << 20


class TextWindow:
    """What was read of a text and is still needed.

    Views into the buffer are valid until the next `read`.

    Attributes:
        offset: Where the window begins in the text.
        size: Bytes in the window.
    """

    def __init__(self, blocks: Iterator[bytes], offset: int = 0) -> None:
        """Begin at the first of these blocks, which stands at `offset` of the text."""
        self.offset = offset
        self.size = 0
        self._blocks = blocks
        self._begin = 0
        self._use(_FIRST_CAPACITY_BYTES)

    def data(self) -> UInt8:
        """The bytes, writable."""
        return self._bytes[self._begin : self._begin + self.size]

    def padded(self, end: int) -> UInt8:
        """The bytes up to `end`, and `PADDING_BYTES` that follow in memory."""
        return self._bytes[self._begin : self._begin + end + PADDING_BYTES]

    def view(self, end: int) -> memoryview:
        """The bytes up to `end`."""
        return memoryview(self._buffer)[self._begin : self._begin + end]

    def first(self, size: int) -> TextWindow:
        """The window as if it ended earlier: the same bytes, up to so many of them, until the next `read`."""
        part = copy(self)
        part.size = min(size, self.size)
        return part

    def text(self) -> bytes:
        """A copy of the bytes."""
        return bytes(self.view(self.size))

    def equal(self, byte: int) -> Bool:
        """Which bytes are this one; overwritten by the next call."""
        return np.equal(self.data(), byte, out=self._mask[: self.size])

    def drop(self, used_bytes: int) -> None:
        """Let the window begin later."""
        self._begin += used_bytes
        self.offset += used_bytes
        self.size -= used_bytes

    def skip_to(self, offset: int) -> bool:
        """Let the window begin at this place of the text, unless it begins behind it; False when the text ends before."""
        while self.offset + self.size < offset:
            self.drop(self.size)
            if not self.read(1):
                return False
        self.drop(max(offset - self.offset, 0))
        return True

    def read(self, wanted_bytes: int) -> bool:
        """Let the window end later, by at least so many bytes or at the end of the text; False when it was there already."""
        is_longer = False
        while wanted_bytes > 0:
            block = next(self._blocks, None)
            if block is None:
                break
            if self._begin + self.size + len(block) > self._capacity:
                self._make_room(self.size + len(block))
            end = self._begin + self.size
            memoryview(self._buffer)[end : end + len(block)] = block
            self.size += len(block)
            wanted_bytes -= len(block)
            is_longer = True
        return is_longer

    def _make_room(self, needed_bytes: int) -> None:
        """Move the window to the buffer's beginning, and to a larger buffer when it fills more than half of this one."""
        rest = self.text()
        if 2 * needed_bytes > self._capacity:
            self._use(2 * needed_bytes)
        self._buffer[: self.size] = rest
        self._begin = 0

    def _use(self, capacity: int) -> None:
        self._capacity = capacity
        self._buffer = bytearray(capacity + PADDING_BYTES)
        self._bytes = np.frombuffer(self._buffer, np.uint8)
        self._mask = np.empty(capacity, np.bool_)
