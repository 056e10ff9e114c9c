"""What sinks that write whole traces have in common: where the bytes go, who hears how far it is, and how times are measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

__all__ = ["SECOND_NS", "ByteStream", "Progress"]

Progress = Callable[[int, int], None]
"""Called after each block with how many events are written, and how many there are."""

SECOND_NS: Final = 10**9


class ByteStream(Protocol):
    """What can be written to: a file, a compressor, standard output."""

    def write(self, data: bytes | memoryview, /) -> object:
        """Take all of these bytes, which may be others when it has returned, as `io.RawIOBase.write` has it."""
