"""Files in: which is a profile, ours or the vendor's, and which a host trace is told by content, never by name."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from rblnpb.errors import FormatError, MergeError, UsageError
from rblnpb.profile import Profile
from rblnpb.reader import read, read_all

from ..merging import merge
from ..sources.file_kinds import FileKind, file_kind
from ..sources.kineto import Progress, read_host
from ..timeline import HostTrace, Timeline
from .archives import unpack

__all__ = ["Inputs", "Progress", "display_name", "read_file", "read_inputs"]


@dataclass(frozen=True, eq=False)
class Inputs:
    """What was given, told apart by content.

    Attributes:
        profile: Device records; None when there were none.
        host: Host trace; None when there was none.
        names: What was read.
    """

    profile: Profile | None
    host: HostTrace | None
    names: tuple[str, ...]

    def merge(self) -> Timeline:
        """The timeline of the inputs, under their file names.

        Raises:
            ClockError: The clocks of profile and host trace cannot be joined.
        """
        return replace(merge(self.profile, self.host), sources=self.names)


def read_inputs(
    inputs: Sequence[str | os.PathLike[str]],
    host: str | os.PathLike[str] | None = None,
    *,
    strict: bool = False,
    progress: Progress | None = None,
) -> Inputs:
    """Read a device profile, a host trace, or one of each; which is which is told by content.

    Args:
        inputs: Names of files or folders; "-" is standard input. Several profiles are one recording of the vendor's.
        host: Name of the host trace, when it is to be read as one and as nothing else.
        strict: Refuse what is damaged or odd instead of reading what is whole.
        progress: Called with (bytes done, bytes in all) while a host trace is read.

    Raises:
        FormatError: An input cannot be read.
        MergeError: Several profiles of ours, files of several ranks or recordings of the vendor's, or several host traces.
        CheckError: `strict`, and something is missing or odd.
        UsageError: Standard input is given twice, or a profile as the host trace.
    """
    if sum(str(name) == "-" for name in (*inputs, host)) > 1:
        raise UsageError("standard input (-) can be read once: name the other input's file")
    vendors: list[_Peeked] = []
    profiles: list[tuple[str, Profile]] = []
    traces: list[tuple[str, HostTrace]] = []
    for found in [_peek(name) for given in inputs for name in _expand(os.fspath(given))]:
        if found.kind is FileKind.VENDOR_PROFILE:
            vendors.append(found)
            continue
        profile, trace = _read_one(found, strict=strict, progress=progress)
        profiles += [] if profile is None else [(found.name, profile)]
        traces += [] if trace is None else [(found.name, trace)]
    if host is not None:
        found = _peek(os.fspath(host))
        profile, trace = None, None
        if found.kind is not FileKind.VENDOR_PROFILE:
            profile, trace = _read_one(found, strict=strict, progress=progress, is_host=True)
        if profile is not None or trace is None:
            raise UsageError(f"{found.name} is a device profile; --host takes a host trace (.json, .json.gz, or archived)")
        traces.append((found.name, trace))
    if vendors and profiles:
        both = f"{vendors[0].name} is the vendor's, {profiles[0][0]} is not"
        raise MergeError(f"cannot join device profiles of two formats ({both}): give those of one")
    _require_one("device profiles", [name for name, _ in profiles])
    _require_one("host traces", [name for name, _ in traces])
    own = _read_vendor(vendors, strict=strict) if vendors else (profiles[0][1] if profiles else None)
    names = [*(one.name for one in vendors), *(name for name, _ in [*profiles, *traces])]
    return Inputs(own, traces[0][1] if traces else None, tuple(dict.fromkeys(map(display_name, names))))


def _read_one(
    found: _Peeked, *, strict: bool, progress: Progress | None, is_host: bool = False
) -> tuple[Profile | None, HostTrace | None]:
    """The profile in an input, the host trace in it, or both; `is_host`: it was given as a host trace."""
    if found.kind is FileKind.HOST_TRACE or (is_host and found.kind is FileKind.OTHER):
        return None, read_host(found.source, strict=strict, progress=progress)
    # What is of no known kind is refused by this reader, which names it.
    return unpack(read(found.source, strict=strict), display_name(found.name), strict=strict)


def _read_vendor(files: Sequence[_Peeked], *, strict: bool) -> Profile:
    """The profile of all files of one recording of the vendor's. Perfetto's bindings are loaded for nothing else."""
    from ..sources.vendor_pb import read_vendor_profile

    return read_vendor_profile([one.source for one in files], strict=strict)


def display_name(path: str | os.PathLike[str]) -> str:
    """What reports call a file: its name, with replacement characters where it is no text."""
    name = os.fspath(path)
    return "<stdin>" if name == "-" else os.fsencode(name).decode(errors="replace")


def read_file(path: str | os.PathLike[str], *, strict: bool = False) -> list[Profile] | HostTrace:
    """All sessions of a device profile, or a host trace; which it is is told by content.

    Args:
        path: Name of the file; "-" is standard input.
        strict: Refuse what is damaged or odd instead of reading what is whole.

    Raises:
        FormatError: It cannot be read.
        CheckError: `strict`, and something is missing or odd.
    """
    found = _peek(os.fspath(path))
    if found.kind is FileKind.HOST_TRACE:
        return read_host(found.source, strict=strict)
    if found.kind is FileKind.VENDOR_PROFILE:
        return [_read_vendor([found], strict=strict)]
    # What is of no known kind is refused by this reader, which names it.
    return read_all(found.source, strict=strict)


def _expand(name: str) -> list[str]:
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
class _Peeked:
    """An input whose first bytes were looked at.

    Attributes:
        name: As given.
        source: What to read from.
        kind: Which format it is of.
    """

    name: str
    source: Any
    kind: FileKind


def _peek(name: str) -> _Peeked:
    """An input, with its kind, told by its first bytes."""
    source, head = _begun(name)
    return _Peeked(name, source, file_kind(head))


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


def _require_one(what: str, names: Sequence[str]) -> None:
    if len(names) > 1:
        raise MergeError(f"cannot join {len(names)} {what} ({', '.join(names[:3])}): give one of them")
