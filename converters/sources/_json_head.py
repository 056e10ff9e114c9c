"""The way into a JSON trace: from its first byte to the `[` of its events."""

from __future__ import annotations

import json
import re
from typing import Final

from rblnpb.errors import NotAProfileError
from rblnpb.signatures import is_json, looks_like

BOM: Final = b"\xef\xbb\xbf"
EVENTS_KEY: Final = "traceEvents"
_DEEPEST: Final = 1_000
"""Objects and arrays within each other, in what stands before the events; Python's parser takes no more either."""
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}:,]', re.DOTALL)


class BrokenHeadError(Exception):
    """What stands before the events is no JSON, and reading on would not find them."""


def find_array(text: bytes, name: str) -> int:
    """Where the first event may begin: just behind the `[`.

    A trace is an object with the key "traceEvents", or a bare array of events.

    Args:
        text: The document from its first byte, as far as it was read.
        name: What messages call the document.

    Returns:
        A position in `text`; -1 when more of the document is needed.

    Raises:
        NotAProfileError: It is no JSON, or JSON without that key.
        BrokenHeadError: It is no JSON further on.
    """
    at = _skip(text, len(BOM) if text.startswith(BOM) else 0)
    if at == len(text):
        return -1
    if not is_json(text):
        raise NotAProfileError(name, f"expected a trace in JSON; it looks like {looks_like(text)}")
    if text[at : at + 1] == b"[":
        return at + 1
    depth = 0
    keys: list[str] = []
    previous, ended = b"", at
    for token in _TOKEN.finditer(text, at):
        mark = token[0]
        if mark == b":" and depth == 1 and previous.startswith(b'"'):
            keys.append(_decoded(previous))
            if keys[-1] == EVENTS_KEY:
                return _after_bracket(text, token.end(), name)
        elif previous[:1] == mark[:1] and mark[:1] in b'",:' and not text[ended : token.start()].strip():
            # Between two commas may stand a number.
            raise BrokenHeadError
        elif mark in b"{[":
            depth += 1
            if depth > _DEEPEST:
                raise BrokenHeadError
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                raise NotAProfileError(name, _no_events(keys))
        previous, ended = mark, token.end()
    return -1


def _no_events(keys: list[str]) -> str:
    shown = ", ".join(repr(key) for key in keys[:5]) + (", ..." if len(keys) > 5 else "")
    found = f"its keys are {shown}" if keys else "the object is empty"
    hint = "torch.profiler writes one by prof.export_chrome_trace(path)"
    return f'it is JSON, but no trace: {found}, and a trace has "{EVENTS_KEY}"; {hint}'


def _after_bracket(text: bytes, at: int, name: str) -> int:
    at = _skip(text, at)
    if at < len(text) and text[at] != ord("["):
        raise NotAProfileError(name, f'it is JSON, but no trace: its "{EVENTS_KEY}" is no array')
    return at + 1 if at < len(text) else -1


def _decoded(key: bytes) -> str:
    try:
        return str(json.loads(key))
    except ValueError:  # broken text: the parser that reads the whole head reports it
        return ""


def _skip(text: bytes, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
