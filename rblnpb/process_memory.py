"""What a process does with memory that it no longer needs."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of what can be set, as in glibc's malloc.h."""
_KEPT_BYTES: Final = 128 << 20
_LARGE_BYTES: Final = 16 << 20


def keep_freed_memory() -> None:
    """Keep what is freed, up to 128 MiB, for what is made next; nothing happens where the C library is not glibc.

    Left to itself, glibc gives nearly every dropped column back to the system. A page that is needed again then costs some
    microseconds, which is more than what is done with its five hundred numbers. Arrays of more than 16 MiB still go back, and grow
    without being copied. It is for a process that does our work alone: a library has no business with the memory of others.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
