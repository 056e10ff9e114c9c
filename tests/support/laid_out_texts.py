"""Texts put into one document, for what reads many of them at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rblnpb.converters.sources._text_words import TextWords, Windows
from rblnpb.converters.timeline import Int64

BEFORE = b"12."
"""What stands before each text: were it read with it, it would change any number."""
_BEHIND = b"7" * 512
_WINDOW_BYTES = 40


def laid_out(texts: Sequence[bytes]) -> tuple[Windows, TextWords, Int64]:
    """Windows that begin with BEFORE, one a text, the document, and where in it each text begins; digits follow the last one."""
    at = np.cumsum([len(BEFORE), *(len(text) + len(BEFORE) for text in texts)])[:-1].astype(np.int64)
    document = TextWords(np.frombuffer(b"".join(BEFORE + text for text in texts) + _BEHIND, np.uint8))
    return document.windows(at - len(BEFORE), _WINDOW_BYTES), document, at


def with_what_follows(texts: Sequence[bytes]) -> list[bytes]:
    """Each text, and all that stands behind it there."""
    return [text + b"".join(BEFORE + other for other in texts[row + 1 :]) + _BEHIND for row, text in enumerate(texts)]


def pairs(values: Int64, sizes: Int64) -> list[tuple[int, int]]:
    """Values and sizes of texts; where the size is 0 the value means nothing, and is 0 here."""
    return list(zip((values * (sizes > 0)).tolist(), sizes.tolist(), strict=True))
