"""Which reader an input is for, told by its content alone."""

from __future__ import annotations

from enum import Enum

from rblnpb.signatures import GZIP_MAGIC, is_json, is_perfetto, is_profile

from ._document import inflated_head

__all__ = ["FileKind", "file_kind"]


class FileKind(Enum):
    """Formats that are read, and what messages call one."""

    PROFILE = "device profile"
    VENDOR_PROFILE = "vendor profile"
    HOST_TRACE = "host trace"
    OTHER = "other file"


def file_kind(head: bytes) -> FileKind:
    """The kind of an input that begins with these bytes.

    Damaged gzip data, and text that begins like JSON, is left to the reader of host traces, which says where the damage is.

    Args:
        head: Its first bytes as stored; a few hundred are enough.

    >>> file_kind(b'{"traceEvents": ['), file_kind(b"name,calls")
    (<FileKind.HOST_TRACE: 'host trace'>, <FileKind.OTHER: 'other file'>)
    """
    if is_profile(head):
        return FileKind.PROFILE
    text = inflated_head(head)
    if is_perfetto(text):
        return FileKind.VENDOR_PROFILE
    is_bracket = text.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    if is_json(text) or is_bracket or (head.startswith(GZIP_MAGIC) and not is_profile(text)):
        return FileKind.HOST_TRACE
    return FileKind.OTHER
