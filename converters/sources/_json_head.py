"""The way into a JSON trace: from its first byte to the `[` of its events."""

from __future__ import annotations

import json
import re
from typing import Final

from rblnpb.errors import NotAProfileError

BOM: Final = b"\xef\xbb\xbf"
EVENTS_KEY: Final = "traceEvents"
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[][{}:]', re.DOTALL)


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
    """
    at = _skip(text, len(BOM) if text.startswith(BOM) else 0)
    if at == len(text):
        return -1
    if not may_be_trace(text):
        raise NotAProfileError(name, f"expected a trace in JSON; {what_it_looks_like(text)}")
    if text[at : at + 1] == b"[":
        return at + 1
    depth = 0
    keys: list[str] = []
    previous = b""
    for token in _TOKEN.finditer(text, at):
        mark = token[0]
        if mark == b":" and depth == 1 and previous.startswith(b'"'):
            keys.append(_decoded(previous))
            if keys[-1] == EVENTS_KEY:
                return _after_bracket(text, token.end(), name)
        elif mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                raise NotAProfileError(name, _no_events(keys))
        previous = mark
    return -1


def what_it_looks_like(head: bytes) -> str:
    """A clause that names what begins with these bytes, and what to do with it."""
    for magic, clause in _MAGICS:
        if head.startswith(magic):
            return clause
    if b"\0" in head[:512]:
        return "it is a binary file of a kind this package does not know"
    line = head[:40].split(b"\n")[0].decode("utf-8", "replace").strip()
    return f"it is a text that begins with {line!r}; torch.profiler writes traces by prof.export_chrome_trace(path)"


_MAGICS: Final = (
    (b"\n", "it looks like a Protobuf profile (.pb) or a Perfetto trace; name it where a profile is expected, not as a host trace"),
    (b"PK\x03\x04", "it is a zip archive; unpack it and name the trace in it"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd; unpack it first (zstd -d)"),
    (b"\xfd7zXZ", "it is compressed with xz; unpack it first (xz -d)"),
    (b"BZh", "it is compressed with bzip2; unpack it first (bzip2 -d)"),
    (b"SQLite format 3\0", "it is an SQLite database, as Nsight Systems writes; export a JSON trace instead"),
    (b"\xff\xfe", "it looks like UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "it looks like UTF-16; save it as UTF-8"),
    (b"\x7fELF", "it is a program"),
    (b"<", "it looks like HTML or XML; download the trace itself, not the page that shows it"),
)


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


def may_be_trace(head: bytes) -> bool:
    """Whether a document that begins with these bytes may be an object, or an array of objects."""
    text = head.removeprefix(BOM).lstrip(b" \t\r\n")
    following = text[1:].lstrip(b" \t\r\n")[:1]
    return (text[:1] == b"{" and following in (b"", b'"', b"}")) or (text[:1] == b"[" and following in (b"", b"{", b"]"))
