"""What a file is, told by its first bytes: the one place that knows signatures, ours and those of others.

Names and suffixes say nothing here. `is_profile`, `is_perfetto` and `is_json` tell the formats that are read; `looks_like` names
the rest for an error message, with what to do about it.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import Final

from rblnpb.container import MAGIC, WireError, read_varint

__all__ = ["GZIP_MAGIC", "is_json", "is_perfetto", "is_profile", "looks_like"]

GZIP_MAGIC: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_SPACE: Final = b" \t\r\n"
_HEAD_BYTES: Final = 4096

_WANTED: Final = "a profile is the rbln_*.pb that a recording leaves, a trace what prof.export_chrome_trace(path) writes"


def is_profile(head: bytes) -> bool:
    """Whether an input that begins with these bytes (a few hundred are enough) is one of ours."""
    return head[:1] == b"\x0a" and b"\xc2\xc5\x03" in head[:16] and MAGIC.encode() in head[:256]


def is_json(head: bytes) -> bool:
    """Whether a document that begins with these bytes may be an object, or an array of objects.

    >>> is_json(b' {"schemaVersion": 1,'), is_json(b"[{"), is_json(b"[2026-11-29] started")
    (True, True, False)
    """
    text = head.removeprefix(_BOM).lstrip(_SPACE)
    following = text[1:].lstrip(_SPACE)[:1]
    return (text[:1] == b"{" and following in (b"", b'"', b"}")) or (text[:1] == b"[" and following in (b"", b"{", b"]"))


_PACKET_FIELDS: Final = frozenset({6, 8, 10, 11, 12, 13, 33, 36, 41, 43, 44, 50, 58, 59, 60, 87, 89, 133})
"""Numbers of fields in perfetto/trace/trace_packet.proto; the first packet of a trace has at least one of them."""


def is_perfetto(head: bytes) -> bool:
    """Whether an input that begins with these bytes is a trace in Perfetto's own format, and not a profile of ours.

    Perfetto, XPlane and pprof all begin with a message in field 1; what stands in it tells them apart.
    """
    # JSON may begin with a line break, which is the tag of field 1.
    if is_json(head):
        return False
    numbers = {number for number, _ in _first_message(head)}
    return bool(numbers & _PACKET_FIELDS) and not (_is_pprof(head) or _is_xplane(head))


def looks_like(head: bytes) -> str:
    """What an input looks like that is not what it was taken for, with advice, for an error message.

    Args:
        head: Its first bytes; a few thousand tell enough.
    """
    head = head[:_HEAD_BYTES]
    for is_it, what in _FORMATS:
        if is_it(head):
            return what
    return f"no format that this package knows; {_WANTED}"


def _is_pprof(head: bytes) -> bool:
    inner = list(_first_message(head))
    return bool(inner) and all(number in (1, 2) and content is None for number, content in inner)


def _is_xplane(head: bytes) -> bool:
    return any(number == 2 and (content or b"")[:1] in (b"/", b"#") for number, content in _first_message(head))


def _first_message(head: bytes) -> Iterator[tuple[int, bytes | None]]:
    """Number and content of the fields of the message in field 1 with which `head` begins, as far as `head` goes; else nothing.

    A number has no content. A field that the end of `head` cuts has the content that is there; `container.fields` would refuse it.
    """
    if head[:1] != b"\x0a":
        return
    length, at = _number(head, 1)
    end = min(at + length, len(head))
    while at < end:
        tag, at = _number(head, at)
        number, wire = tag >> 3, tag & 7
        if number == 0 or wire not in _WIRE_BYTES:
            return
        size, first = _number(head, at) if wire in (0, 2) else (_WIRE_BYTES[wire], at)
        at = first + (0 if wire == 0 else size)
        yield number, (head[first : min(at, end)] if wire == 2 else None)


_WIRE_BYTES: Final = {0: 0, 1: 8, 2: 0, 5: 4}
"""Wire types that are still in use, and how many bytes a value has that does not say it itself."""


def _number(head: bytes, at: int) -> tuple[int, int]:
    """The number at a byte, and where it ends; what the end of `head` cuts is 0 and ends there."""
    try:
        return read_varint(head, at, len(head))
    except WireError:
        return 0, len(head)


def _is_text(head: bytes) -> bool:
    try:
        # The head may end inside a character.
        decoded = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return all(letter in "\t\r\n\x0c\x1b" or letter >= " " for letter in decoded)


def _begins(*signatures: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(signatures)


_FORMATS: Final[tuple[tuple[Callable[[bytes], bool], str], ...]] = (
    (lambda head: not head, f"an empty file; {_WANTED}"),
    (
        _begins(GZIP_MAGIC),
        "gzip-compressed data; a profile is not compressed as a whole (is it a gzipped trace? then use it as the host trace)",
    ),
    (_begins(b"PK\x03\x04"), "a zip archive; unpack it first"),
    (_begins(b"SQLite format 3\0"), f"an SQLite database, as Nsight Systems writes; {_WANTED}"),
    (_begins(b"\x28\xb5\x2f\xfd"), "zstd-compressed data; decompress it first (zstd -d)"),
    (_begins(b"\xfd7zXZ"), "xz-compressed data; decompress it first (xz -d)"),
    (_begins(b"BZh"), "bzip2-compressed data; decompress it first (bzip2 -d)"),
    (_begins(b"\xff\xfe", b"\xfe\xff"), "text in UTF-16; save it as UTF-8"),
    (_begins(b"\x7fELF"), f"a program or shared library; {_WANTED}"),
    (_begins(b"<"), "HTML or XML; download the file itself, not the page that shows it"),
    (is_profile, "a device profile of rblnpb (.pb); name it as an input, not as the host trace"),
    (is_json, "JSON (a trace? it is read as the host trace)"),
    (lambda head: _is_text(head) and head.lstrip(_SPACE)[:1] in (b"{", b"["), f"text that may be JSON; {_WANTED}"),
    (_is_text, f"text; {_WANTED}"),
    (_is_pprof, "a pprof profile; this package reads traces and device profiles"),
    (_is_xplane, "an XPlane (.xplane.pb) of another profiler; this package reads traces and device profiles"),
    (is_perfetto, "a Perfetto trace without records of ours, as the vendor's .pb is; name it as an input of a command of rblnpb"),
    (lambda head: any(_first_message(head)), f"protobuf of some other format; {_WANTED}"),
)
"""Which bytes are what, the first that fits; a container is told before what may be in it."""
