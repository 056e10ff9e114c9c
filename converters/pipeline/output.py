"""Files out: traces for viewers, a trace as it was, profiles, and reports."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, cast

from rblnpb.errors import Finding, UsageError
from rblnpb.output import open_output
from rblnpb.output import require_writable as require
from rblnpb.profile import Profile
from rblnpb.writer import write

from ..merging import merge
from ..sinks.chrome_trace import write_chrome_trace as render_chrome_trace
from ..sinks.profile_file import trace_profile, write_trace_archive
from ..timeline import HostTrace, Timeline
from .inputs import Progress

__all__ = [
    "Archived",
    "require_writable",
    "write_chrome_trace",
    "write_data",
    "write_host_trace",
    "write_perfetto_trace",
    "write_profile",
]


def require_writable(path: str | os.PathLike[str], *, force: bool) -> None:
    """Refuse an output that could not be written, before hours of work are spent on it.

    Raises:
        OutputError: As `rblnpb.output.require_writable`; how to overwrite a file is said in words of the command line.
    """
    require(path, force=force, advice="overwrite it with --force")


def write_chrome_trace(
    timeline: Timeline, path: str | os.PathLike[str] | BinaryIO, *, force: bool = False, progress: Progress | None = None
) -> tuple[Finding, ...]:
    """Write a timeline as a Chrome trace, which Perfetto and chrome://tracing open.

    Args:
        timeline: Merged.
        path: Name of the file; `.gz` at its end compresses. It appears whole or not at all. Or a binary stream.
        force: Overwrite a file that is there.
        progress: Called with (events done, events in all).

    Returns:
        What had to be changed so that the viewers lose nothing, as counted findings.

    Raises:
        OutputError: The file is there already, or cannot be written.
    """
    with _json_output(path, force=force) as file:
        return render_chrome_trace(timeline, file, progress=progress)


def write_perfetto_trace(
    timeline: Timeline, path: str | os.PathLike[str] | BinaryIO, *, force: bool = False, progress: Progress | None = None
) -> tuple[Finding, ...]:
    """Write a timeline as Perfetto's own trace: as `write_chrome_trace`, without compression.

    A stream is given `bytes` and read-only `memoryview`s, which are its own until `write` returns, as `io.RawIOBase.write` has it.
    """
    from ..sinks.perfetto_trace import write_perfetto_trace as render_perfetto_trace

    with _output(path, force=force) as file:
        return render_perfetto_trace(timeline, file, progress=progress)


def write_host_trace(
    host: HostTrace, path: str | os.PathLike[str] | BinaryIO, *, force: bool = False, progress: Progress | None = None
) -> None:
    """Write a host trace as it stands, byte for byte: as it was before it was archived, or before it was compressed.

    Args:
        host: The trace.
        path: Name of the file; `.gz` at its end compresses. It appears whole or not at all. Or a binary stream.
        force: Overwrite a file that is there.
        progress: Called with (bytes done, bytes in all).

    Raises:
        OutputError: The file is there already, or cannot be written.
        FormatError: The trace's document cannot be read again.
    """
    events = host.events
    size_bytes = int(events.offset[-1] + events.length[-1]) + len(host.tail) if len(events) else len(host.head + host.tail)
    done_bytes = 0
    with _json_output(path, force=force) as file:
        for block in host.document.blocks():
            file.write(block)
            done_bytes += len(block)
            if progress is not None:
                progress(min(done_bytes, size_bytes), size_bytes)


@dataclass(frozen=True)
class Archived:
    """What came of writing a profile.

    Attributes:
        trace_bytes: Size of the host trace in it, as JSON that is not compressed; 0 without one.
        findings: What the file does not say of the trace's device rows beyond their events, counted.
    """

    trace_bytes: int
    findings: tuple[Finding, ...]


def write_profile(
    profile: Profile | None,
    host: HostTrace | None,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Archived:
    """Write a profile, with a host trace archived in it.

    A trace that is not small takes about a tenth of the size of its JSON text or less.

    Args:
        profile: Device records, which go into the file as they are; None: those of the trace are told once more as device slices.
        host: The host trace of the same run, from which every byte of it can be made again; None: the profile alone.
        path: Name of the file, which appears whole or not at all, or a binary stream.
        force: Overwrite a file that is there.
        progress: Called with (events done, events in all).

    Raises:
        UsageError: There is neither.
        OutputError: The file is there already, or cannot be written.
        CheckError: The profile is one that a file cannot hold.
        FormatError: The trace's document cannot be read again.

    Example:
        >>> import io
        >>> from rblnpb import converters
        >>> file = io.BytesIO()
        >>> archived = converters.write_profile(None, converters.read_host("rblnpb/data/transformer_step.json.gz"), file)
        >>> archived.trace_bytes // len(file.getvalue()) > 10
        True
    """
    if host is None:
        if profile is None:
            raise UsageError("nothing to write: give a profile, a host trace, or both")
        write(profile, path, display=profile.session.has_display_packets, force=force)
        return Archived(0, ())
    records, findings = (profile, ()) if profile is not None else trace_profile(merge(None, host))
    with _output(path, force=force) as file:
        return Archived(write_trace_archive(host, records, file, progress=progress), findings)


def write_data(data: bytes, path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a report to a file, which appears whole or not at all.

    Args:
        data: The report.
        path: Name of the file.
        force: Overwrite a file that is there.

    Raises:
        OutputError: The file is there already, or cannot be written.
    """
    with open_output(path, force=force) as file:
        file.write(data)


@contextlib.contextmanager
def _output(path: str | os.PathLike[str] | BinaryIO, *, force: bool) -> Iterator[BinaryIO]:
    """A stream as it is, or a file that appears whole or not at all."""
    if not isinstance(path, (str, os.PathLike)):
        yield path
        return
    with open_output(path, force=force) as file:
        yield file


@contextlib.contextmanager
def _json_output(path: str | os.PathLike[str] | BinaryIO, *, force: bool) -> Iterator[BinaryIO]:
    """The same, compressed where the name ends in `.gz`."""
    with _output(path, force=force) as file:
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path).endswith(".gz"):
            yield file
            return
        from isal import igzip

        # No name and no time in the header: the same trace gives the same bytes.
        with igzip.IGzipFile(  # type: ignore[no-untyped-call]  # isal has no types for it
            filename="", mode="wb", fileobj=file, compresslevel=2, mtime=0
        ) as packed:
            yield cast("BinaryIO", packed)
