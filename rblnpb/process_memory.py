"""What a process does with memory that it no longer needs."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Final

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of what can be set, as in glibc's malloc.h."""
_KEPT_BYTES: Final = 128 << 20
"""What may be free at the end of the heap."""
_LARGE_BYTES: Final = 16 << 20
"""What is larger does not stand in the heap."""
_SET_BY_USER: Final = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")


def keep_freed_memory() -> None:
    """Keep what is freed for what is made next; nothing happens where the C library is not glibc, or its user has set this.

    Left to itself, glibc gives nearly every dropped column back to the system. A page that is needed again then costs some
    microseconds, which is more than what is done with its five hundred numbers. Arrays of more than 16 MiB still go back, and grow
    without being copied; of the heap, what is free at its end goes back where it is more than 128 MiB. It is for a process that
    does our work alone: a library has no business with the memory of others.
    """
    if sys.platform != "linux" or any(name in os.environ for name in _SET_BY_USER):
        return
    # A Python may be built without ctypes, or without what that needs, and a C library without mallopt.
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        library = ctypes.CDLL(None)
        library.mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
        library.mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
