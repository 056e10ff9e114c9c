"""Texts in JSON that are not quite text: bytes that are no UTF-8, and halves of surrogate pairs."""

from __future__ import annotations

import json
import re
from typing import Final

# Each match is one escape, so that a backslash that is itself escaped begins none.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def mended_text(text: bytes) -> bytes:
    """The same JSON with U+FFFD for what is no UTF-8, and for every escape that is half of a surrogate pair."""
    mended = _ESCAPE.sub(lambda escape: b"\\ufffd" if escape[1] else escape[0], text)
    return mended.decode("utf-8", "replace").encode()


def decoded_value(value: bytes) -> object:
    """A JSON value; a whole number of more digits than Python converts stays the text that it is."""
    text = mended_text(value).decode()
    try:
        return json.loads(text)
    except ValueError:
        return text
