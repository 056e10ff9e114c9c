"""Texts in JSON that are not quite text: bytes that are no UTF-8, and halves of surrogate pairs."""

from __future__ import annotations

import json
import re
from typing import Final

# Each match is one escape, so that a backslash that is itself escaped begins none.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def without_lone_surrogates(text: bytes) -> bytes:
    """The same JSON, of the same length, with U+FFFD for every escape that is half of a surrogate pair."""
    return _ESCAPE.sub(lambda escape: b"\\ufffd" if escape[1] else escape[0], text)


def decoded_value(value: bytes) -> tuple[object, bool]:
    """A JSON value, with U+FFFD for what is no UTF-8; and whether there was such a thing.

    A whole number of more digits than Python converts stays the text that it is.
    """
    text = value.decode("utf-8", "replace")
    is_mended = text.count("\ufffd") != value.count("\ufffd".encode())
    try:
        return json.loads(text), is_mended
    except ValueError:
        return text, is_mended
