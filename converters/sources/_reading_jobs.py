"""How many processes a trace is worth."""

from __future__ import annotations

import os
import sys
from typing import Final

from rblnpb.errors import UsageError

from ._document import InputDocument

_WORTH_BYTES: Final = 128 << 20
_PACKED_WORTH_BYTES: Final = 12 << 20
"""How large a file is, for each process more than one; with much less, it is read before the process has started."""
_MOST_UNASKED: Final = 8
"""Processes that are taken where nobody says how many: what a container may use can be far less than the cores that it sees, and
each of the processes inflates all of a gzip file."""
_INTERPRETERS: Final = ("python", "pypy")


def worthwhile_jobs(document: InputDocument, jobs: int | None) -> int:
    """How many processes should read a document: one, and one more for each 128 MiB of it, or 12 MiB of gzip data.

    Args:
        document: A file, or a copy of a stream, which one process reads.
        jobs: At most so many; None: at most one for each core that this process may use, and at most 8.

    Raises:
        UsageError: `jobs` is not a positive number.
        FormatError: The document cannot be read.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"{jobs} processes cannot read a trace: it takes 1 at least")
    # A copy of a stream has no name by which another process could open it.
    if jobs == 1 or not document.path or document.size_bytes < _PACKED_WORTH_BYTES or not _can_start():
        return 1
    worth_bytes = _PACKED_WORTH_BYTES if document.is_packed else _WORTH_BYTES
    return min(min(_cores(), _MOST_UNASKED) if jobs is None else jobs, 1 + document.size_bytes // worth_bytes)


def _cores() -> int:
    # Not every system tells which ones this process may use.
    allowed = getattr(os, "sched_getaffinity", None)
    return (os.cpu_count() or 1) if allowed is None else len(allowed(0))


def _can_start() -> bool:
    """Whether the interpreter can be started again: it may be part of another program, which would start in its place.

    What embeds it may give its own name for that of the interpreter. Where pipes cannot be waited for, it is not tried.
    """
    is_interpreter = os.path.basename(sys.executable or "").lower().startswith(_INTERPRETERS)
    return os.name == "posix" and is_interpreter and not hasattr(sys, "frozen")
