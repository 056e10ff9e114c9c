"""Inputs as they are named: files, folders, pipes and standard input, whose kind their first bytes tell."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from rblnpb.errors import FormatError, UsageError

from ..sources.file_kinds import FileKind, file_kind

__all__ = ["Peeked", "expand", "peek"]


def expand(name: str) -> list[str]:
    """The files of a folder, by name; a file is itself."""
    if not name:
        raise UsageError("an input has an empty name; is a variable of the shell unset?")
    try:
        if name == "-" or not Path(name).is_dir():
            return [name]
        found = sorted(path for path in Path(name).iterdir() if path.name.endswith((".pb", ".pb.gz", ".json", ".json.gz")))
    except OSError as error:
        raise FormatError(name, (error.strerror or str(error)).lower()) from error
    if not found:
        raise FormatError(name, "it is a folder without a .pb, .json or .json.gz file")
    return [str(path) for path in found]


@dataclass(frozen=True)
class Peeked:
    """An input whose first bytes were looked at.

    Attributes:
        name: As given.
        source: What to read from.
        kind: Which format it is of.
    """

    name: str
    source: Any
    kind: FileKind


def peek(name: str) -> Peeked:
    """An input, with its kind, told by its first bytes."""
    source, head = _begun(name)
    return Peeked(name, source, file_kind(head))


def _begun(name: str) -> tuple[Any, bytes]:
    """What to read from, and its first bytes."""
    if name == "-":
        if sys.stdin is None:
            raise FormatError("<stdin>", "standard input is closed")
        stream = _Peekable(sys.stdin.buffer, "<stdin>", is_ours=False)
        return stream, stream.head
    try:
        if Path(name).is_fifo():
            # A pipe gives its bytes once.
            stream = _Peekable(Path(name).open("rb"), name, is_ours=True)  # noqa: SIM115  # closed at its end
            return stream, stream.head
        with Path(name).open("rb") as file:
            return name, file.read(_HEAD_BYTES)
    except FileNotFoundError as error:
        raise FormatError(
            name, "there is no such file; a recording leaves rbln_*.pb, prof.export_chrome_trace(path) a trace"
        ) from error
    except IsADirectoryError as error:
        raise FormatError(name, "it is a folder; name a file in it") from error
    except OSError as error:
        raise FormatError(name, (error.strerror or str(error)).lower()) from error


_HEAD_BYTES: Final = 512


class _Peekable:
    """A stream whose first bytes were looked at and are read again; one that is ours is closed at its end."""

    def __init__(self, stream: BinaryIO, name: str, *, is_ours: bool) -> None:
        self.name = name
        self.head = stream.read(_HEAD_BYTES)
        self._pending = self.head
        self._stream = stream
        self._is_ours = is_ours

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; all that is left when it is negative."""
        if self._pending and size >= 0:
            data, self._pending = self._pending[:size], self._pending[size:]
            return data
        rest = b"" if self._stream.closed else self._stream.read(size)
        data, self._pending = self._pending + rest, b""
        if self._is_ours and (size < 0 or not rest):
            self._stream.close()
        return data
