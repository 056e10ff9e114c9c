"""The text that is mended, as a window that is looked at in growing pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from ._salvage_value import IncompleteError
from ._text_window import TextWindow
from .text_limits import TextLimits

_Result = TypeVar("_Result")
_FIRST_BYTES: Final = 1 << 12
_GROWTH: Final = 8


class SalvageSource:
    """A text of which nothing is held but what is looked at.

    Attributes:
        window: What was read and is not done yet.
    """

    def __init__(self, blocks: Iterator[bytes], limits: TextLimits) -> None:
        self.window = TextWindow(blocks)
        self._limits = limits
        self._is_read = False

    def fill(self, size: int) -> None:
        """Let the window hold so many bytes, if there are so many."""
        while self.window.size < size and not self._is_read:
            self._is_read = not self.window.read(size - self.window.size)

    def look(self, read: Callable[[bytes, bool], _Result]) -> _Result:
        """What a function finds in the beginning of the window.

        It is given a text, and whether nothing comes after it, or no more of it may be held; as long as it says that the text
        is incomplete, it is given eight times as much.

        Raises:
            IncompleteError: It says so of all there is.
        """
        size = _FIRST_BYTES
        while True:
            # One byte more tells whether there is one.
            self.fill(size + 1)
            text = bytes(self.window.view(min(size, self.window.size)))
            is_final = len(text) == self.window.size or size >= self._limits.event_bytes
            try:
                return read(text, is_final)
            except IncompleteError:
                if is_final:
                    raise
            size = min(size * _GROWTH, self._limits.event_bytes)

    def rest(self) -> Iterator[bytes]:
        """All that is left, in pieces, each of which leaves the window."""
        while self.window.size or not self._is_read:
            self.fill(1)
            yield self.window.text()
            self.window.drop(self.window.size)
