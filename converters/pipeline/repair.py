"""A clean file from a broken one: of a trace its mended text, of a profile what is whole of it, with an end."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO, Final

from rblnpb.errors import Finding, MergeError, Severity, UsageError
from rblnpb.profile import Profile
from rblnpb.reader import open_profile
from rblnpb.writer import write

from ..sources.file_kinds import FileKind
from ..sources.kineto import DAMAGE_CODES, read_mended
from .inputs import Progress
from .output import write_host_trace
from .peeked import Peeked, peek

__all__ = ["Repaired", "repair"]

_PERFETTO: Final = (".pftrace", ".perfetto-trace")


@dataclass(frozen=True)
class Repaired:
    """What came of a repair.

    Attributes:
        findings: What was mended, left out or lost, counted; empty when the file was whole.
        records: Events of a trace, or device slices and launches of a profile, that the new file has.
    """

    findings: tuple[Finding, ...]
    records: int


def repair(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str] | BinaryIO,
    *,
    session_id: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
    jobs: int | None = 1,
) -> Repaired:
    """Write a file that can be read strictly with what is whole of one that cannot.

    Args:
        source: A trace in JSON, or a device profile of ours; "-" is standard input.
        target: Name of the file, which appears whole or not at all; a trace whose name ends in `.gz` is compressed. Or a stream.
        session_id: Which session of a profile that has several.
        force: Overwrite a file that is there.
        progress: Called with (bytes done, bytes in all) while a trace is read.
        jobs: By how many processes a large trace may be read; see `read_host`.

    Returns:
        What was wrong. What was good of a trace is in the new one byte for byte.

    Raises:
        FormatError: Nothing of it can be read.
        MergeError: It has several sessions, and none is chosen, or none of this id.
        UsageError: It is the vendor's, or the suffix of the target is that of the other kind.
        CheckError: What is left of a profile refers to definitions that are lost.
        OutputError: The file is there already, or cannot be written.
    """
    found = peek(os.fspath(source))
    if found.kind is FileKind.VENDOR_PROFILE:
        raise UsageError(
            f"{found.name} is the vendor's own format: rblnpb convert {found.name} -o FILE.pb keeps what is whole of it"
        )
    if found.kind is not FileKind.HOST_TRACE:
        return _repair_profile(found, target, session_id, force=force)
    advice = f"{found.name} is a trace in JSON and stays one: end the output in .json or .json.gz"
    _refuse_suffix(target, (".pb", *_PERFETTO), advice)
    host = read_mended(found.source, progress=progress, columns={"offset", "length"}, jobs=jobs)
    write_host_trace(host, target, force=force)
    return Repaired(tuple(finding for finding in host.findings if finding.code in DAMAGE_CODES), len(host.events))


def _repair_profile(found: Peeked, target: str | os.PathLike[str] | BinaryIO, session_id: int | None, *, force: bool) -> Repaired:
    with open_profile(found.source) as file:
        _refuse_suffix(target, (".json", ".json.gz", *_PERFETTO), f"{file.name} is a profile and stays one: end the output in .pb")
        known = file.session_ids
        if session_id is None and len(known) > 1:
            names = ", ".join(f"{one:016x}" for one in known)
            raise MergeError(
                f"{file.name} holds {len(known)} sessions, and a clean file has one: choose it with --session ({names})"
            )
        if session_id is not None and session_id not in known:
            raise MergeError(f"{file.name} has no session {session_id:016x}; it has {', '.join(f'{one:016x}' for one in known)}")
        profile = file.profile(session_id)
    findings = tuple(finding for finding in profile.findings if finding.severity > Severity.INFO)
    write(profile.replace(is_complete=True), target, display=profile.session.has_display_packets, force=force)
    return Repaired(findings, _records(profile))


def _refuse_suffix(target: str | os.PathLike[str] | BinaryIO, suffixes: tuple[str, ...], reason: str) -> None:
    """Refuse the name of a file that would say something else of it than what it is."""
    if isinstance(target, (str, os.PathLike)) and os.fspath(target).endswith(suffixes):
        raise UsageError(f"{reason}; rblnpb convert makes the one of the other")


def _records(profile: Profile) -> int:
    return len(profile.device_slices) + len(profile.launches)
