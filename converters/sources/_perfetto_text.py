"""Texts of protobuf's second edition, which need not be UTF-8: the bindings give bytes where one is not."""

from __future__ import annotations

__all__ = ["as_text"]


def as_text(value: str | bytes) -> str:
    """The text, with replacement characters where its bytes are none.

    >>> as_text("mm"), len(as_text(bytes([109, 255])))
    ('mm', 2)
    """
    return value if isinstance(value, str) else value.decode("utf-8", "replace")
