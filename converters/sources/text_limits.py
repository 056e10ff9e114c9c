"""How much a broken or hostile text may ask for while it is read; honest traces of today need less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rblnpb.errors import FormatError


class ExpansionError(FormatError):
    """A file is made to fill the memory; there is nothing in it to be read."""


@dataclass(frozen=True)
class TextLimits:
    """What one text may take.

    Attributes:
        depth: Objects and arrays within each other, in an event that is mended; one that is nested deeper is left out.
        values: Values and brackets in an event that is mended; one with more is left out.
        event_bytes: Length of an event that is mended, and of what stands before the events; one that is longer is left out.
        expansion: Bytes of text for each byte of gzip data. Deflate cannot reach 1,033, and traces reach 50.
        expansion_bytes: From which size of the text on that is looked at.
    """

    depth: int = 500
    values: int = 100_000
    event_bytes: int = 64 << 20
    expansion: int = 1_000
    expansion_bytes: int = 1 << 20

    def require_honest(self, name: str, text_bytes: int, stored_bytes: int) -> None:
        """Refuse gzip data that is made to fill the memory.

        Raises:
            ExpansionError: So much text comes out of so little.
        """
        if text_bytes > self.expansion_bytes and text_bytes > self.expansion * stored_bytes:
            reason = (
                f"its {stored_bytes:,} bytes of gzip data hold {text_bytes:,} bytes and more, over {self.expansion:,} times as "
                "much: it is made to fill the memory (an honest trace is packed 10 to 50 times); inflate it by hand if it is not"
            )
            raise ExpansionError(name, reason)


DEFAULT_TEXT_LIMITS: Final = TextLimits()
