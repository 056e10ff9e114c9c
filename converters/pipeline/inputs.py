"""Files in: which is a profile, ours or the vendor's, and which a host trace is told by content, never by name."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rblnpb.errors import CheckError, Finding, MergeError, Severity, UsageError
from rblnpb.profile import Profile
from rblnpb.reader import open_profile, read_all

from ..host_trace import ALL_COLUMNS, VIEW_COLUMNS
from ..merging import SliceStore, merge
from ..sources.file_kinds import FileKind
from ..sources.kineto import Progress, read_host
from ..timeline import HostTrace, Timeline
from .archives import holds_trace, unpack
from .limits import DEFAULT_READING_LIMITS, ReadingLimits
from .peeked import Peeked, expand, peek
from .windows import Window, stored_window

__all__ = ["FOR_VIEWERS", "Inputs", "Progress", "display_name", "read_file", "read_inputs"]


FOR_VIEWERS: Final[Mapping[str, Any]] = {"defer": True, "columns": VIEW_COLUMNS}
"""Arguments of `read_inputs` for whoever writes a timeline for viewers: they hold what a writer needs, and as little as that is."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """What was given, told apart by content.

    Attributes:
        profile: Device records; None when there were none.
        host: Host trace; None when there was none.
        names: What was read.
        window: The part of the run that is asked for; None: all of it.
        stored: The device slices of the profile, where they stay in their file; None: the profile has them.
    """

    profile: Profile | None
    host: HostTrace | None
    names: tuple[str, ...]
    window: Window | None = None
    stored: SliceStore | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is odd about each of them by itself."""
        return (*(self.profile.findings if self.profile else ()), *(self.host.findings if self.host else ()))

    def merge(self) -> Timeline:
        """The timeline of the inputs, under their file names; of the window, if there is one.

        Raises:
            ClockError: The clocks of profile and host trace cannot be joined.
            UsageError: Nothing is called as the window's name is.
        """
        timeline = replace(merge(self.profile, self.host, self.stored), sources=self.names)
        return timeline if self.window is None else self.window.of(timeline)


def read_inputs(  # noqa: PLR0913  # one keyword for each choice of the user
    inputs: Sequence[str | os.PathLike[str]],
    host: str | os.PathLike[str] | None = None,
    *,
    window: Window | None = None,
    strict: bool = False,
    defer: bool = False,
    columns: Collection[str] = ALL_COLUMNS,
    limits: ReadingLimits = DEFAULT_READING_LIMITS,
    progress: Progress | None = None,
    jobs: int | None = 1,
) -> Inputs:
    """Read a device profile, a host trace, or one of each; which is which is told by content.

    Args:
        inputs: Names of files or folders; "-" is standard input. Several profiles are one recording of the vendor's.
        host: Name of the host trace, when it is to be read as one and as nothing else.
        window: The part of the run that is asked for; None: all of it.
        strict: Refuse what is damaged or odd instead of reading what is whole.
        defer: Leave the device slices of a profile in its file where that is possible, so that more of them can be converted than
            memory holds.
        columns: Columns of `HostEvents` that are needed; see `read_host`.
        limits: What they may ask for.
        progress: Called with (bytes done, bytes in all) while a host trace is read.
        jobs: By how many processes a large host trace may be read; see `read_host`.

    Raises:
        FormatError: An input cannot be read.
        MergeError: Several profiles of ours, files of several ranks or recordings of the vendor's, or several host traces.
        CheckError: `strict`, and something is missing or odd.
        UsageError: Standard input is given twice, or a profile as the host trace.
    """
    if sum(str(name) == "-" for name in (*inputs, host)) > 1:
        raise UsageError("standard input (-) can be read once: name the other input's file")
    how = _How(strict, progress, defer, columns, limits, jobs)
    found = [peek(name) for given in inputs for name in expand(os.fspath(given))]
    vendors = [one for one in found if one.kind is FileKind.VENDOR_PROFILE]
    parts = [] if host is None else [_read_host(peek(os.fspath(host)), how)]
    # Host traces first: they tell which part of a profile a window is.
    for one in sorted(found, key=lambda one: one.kind is not FileKind.HOST_TRACE):
        if one.kind is not FileKind.VENDOR_PROFILE:
            trace = next((part.host for part in parts if part.host is not None), None)
            parts.append(_read_one(one, replace(how, window=window, trace=trace)))
    profiles = [part for part in parts if part.profile is not None]
    traces = [part for part in parts if part.host is not None]
    if vendors and profiles:
        both = f"{vendors[0].name} is the vendor's, {profiles[0].name} is not"
        raise MergeError(f"cannot join device profiles of two formats ({both}): give those of one")
    _require_one("device profiles", [part.name for part in profiles])
    _require_one("host traces", [part.name for part in traces])
    if vendors:
        profiles = [_Part(vendors[0].name, _read_vendor(vendors, strict=strict))]
    names = [*(one.name for one in vendors), *(part.name for part in [*profiles, *traces])]
    own = profiles[0] if profiles else _Part("")
    trace = traces[0].host if traces else None
    return Inputs(own.profile, trace, tuple(dict.fromkeys(map(display_name, names))), own.window or window, own.stored)


@dataclass(frozen=True)
class _How:
    """How inputs are read; see `read_inputs`."""

    strict: bool
    progress: Progress | None
    defer: bool
    columns: Collection[str]
    limits: ReadingLimits
    jobs: int | None
    window: Window | None = None
    trace: HostTrace | None = None


@dataclass(frozen=True, eq=False)
class _Part:
    """What one input holds; see `Inputs`."""

    name: str
    profile: Profile | None = None
    host: HostTrace | None = None
    stored: SliceStore | None = None
    window: Window | None = None


def _read_one(found: Peeked, how: _How, *, is_host: bool = False) -> _Part:
    """What is in an input that is no profile of the vendor's; `is_host`: it was given as a host trace."""
    if found.kind is FileKind.HOST_TRACE or (is_host and found.kind is FileKind.OTHER):
        host = read_host(
            found.source,
            strict=how.strict,
            progress=how.progress,
            columns=how.columns,
            limits=how.limits.text,
            jobs=how.jobs,
        )
        return _Part(found.name, host=host)
    # What is of no known kind is refused by this reader, which names it.
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(open_profile(found.source, limits=how.limits.profile))
        part = None if how.window is None else stored_window(how.window, file, how.trace)
        window, times = part or (None, None)
        if how.defer:
            profile, stored = file.profile_and_slices(window=times)
            # Without launches the slices themselves are what is joined, and slices that tell of archived events go another way.
            if len(profile.launches) and not holds_trace(profile):
                sound = _sound(file.name, profile, how)
                # The file stays open as long as its slices are wanted.
                opened.pop_all()
                return _Part(found.name, sound, stored=stored, window=window)
        whole = _sound(file.name, file.profile(window=times), how)
    own, trace = unpack(whole, display_name(found.name), strict=how.strict, columns=how.columns)
    return _Part(found.name, own, trace, window=window)


def _sound(name: str, profile: Profile, how: _How) -> Profile:
    """The profile, unless something is odd about it and that is to be refused."""
    grave = tuple(finding for finding in profile.findings if finding.severity >= Severity.WARNING)
    if how.strict and grave:
        raise CheckError(name, grave)
    return profile


def _read_host(found: Peeked, how: _How) -> _Part:
    """A host trace, and nothing else."""
    part = _Part(found.name) if found.kind is FileKind.VENDOR_PROFILE else _read_one(found, how, is_host=True)
    if part.profile is not None or part.host is None:
        raise UsageError(f"{found.name} is a device profile; --host takes a host trace (.json, .json.gz, or archived)")
    return part


def _read_vendor(files: Sequence[Peeked], *, strict: bool) -> Profile:
    """The profile of all files of one recording of the vendor's. Perfetto's bindings are loaded for nothing else."""
    from ..sources.vendor_pb import read_vendor_profile

    return read_vendor_profile([one.source for one in files], strict=strict)


def display_name(path: str | os.PathLike[str]) -> str:
    """What reports call a file: its name, with replacement characters where it is no text."""
    name = os.fspath(path)
    return "<stdin>" if name == "-" else os.fsencode(name).decode(errors="replace")


def read_file(path: str | os.PathLike[str], *, strict: bool = False, jobs: int | None = 1) -> list[Profile] | HostTrace:
    """All sessions of a device profile, or a host trace; which it is is told by content.

    Args:
        path: Name of the file; "-" is standard input.
        strict: Refuse what is damaged or odd instead of reading what is whole.
        jobs: By how many processes a large host trace may be read; see `read_host`.

    Raises:
        FormatError: It cannot be read.
        CheckError: `strict`, and something is missing or odd.
    """
    found = peek(os.fspath(path))
    if found.kind is FileKind.HOST_TRACE:
        return read_host(found.source, strict=strict, jobs=jobs)
    if found.kind is FileKind.VENDOR_PROFILE:
        return [_read_vendor([found], strict=strict)]
    # What is of no known kind is refused by this reader, which names it.
    return read_all(found.source, strict=strict)


def _require_one(what: str, names: Sequence[str]) -> None:
    if len(names) > 1:
        raise MergeError(f"cannot join {len(names)} {what} ({', '.join(names[:3])}): give one of them")
