"""Everything that is wrong with a file, or that viewers would drop, move or round of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rblnpb.errors import ClockError, Finding, FormatError, Severity
from rblnpb.profile import Profile

from ..analyze.checks.device_checks import device_findings, profile_findings
from ..analyze.checks.trace_checks import same_text_rows, trace_findings
from ..merging import merge
from ..results import CheckReport, PlacedFinding
from ..sinks.checks import render_checks_csv, render_checks_json, render_checks_text
from ..sources.event_details import read_details
from ..timeline import HostTrace, Timeline
from .archives import unpack
from .inputs import display_name, read_file

__all__ = ["UNREADABLE", "FileFindings", "check_file", "check_files"]

UNREADABLE: Final = "unreadable"
"""Code of the one finding about a file that cannot be read at all."""


@dataclass(frozen=True)
class FileFindings:
    """Every finding about one file or several."""

    values: tuple[CheckReport, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Those of all files, file by file, the worst of each first."""
        return tuple(finding for report in self.values for finding in report.findings)

    def text(self, width: int | None = None) -> str:
        """For people: a verdict for each file, and a block for each severity; folded to a number of columns, or a line each."""
        return render_checks_text(self.values, width=width)

    def to_json(self) -> bytes:
        """One JSON object, schema `rblnpb.check/1`."""
        return render_checks_json(self.values)

    def to_csv(self) -> str:
        """A row for each finding."""
        return render_checks_csv(self.values)


def check_files(paths: Sequence[str | os.PathLike[str]], *, jobs: int | None = 1) -> FileFindings:
    """What is wrong with each of these files, each by itself; `jobs`: see `read_host`.

    One of several that cannot be read at all has that as its finding, `unreadable`.

    Raises:
        FormatError: The only one cannot be read at all.
    """
    if len(paths) == 1:
        return FileFindings((check_file(paths[0], jobs=jobs),))
    return FileFindings(tuple(_report(path, jobs) for path in paths))


def _report(path: str | os.PathLike[str], jobs: int | None) -> CheckReport:
    try:
        return check_file(path, jobs=jobs)
    except FormatError as error:
        return CheckReport(display_name(path), (PlacedFinding(Finding(Severity.ERROR, UNREADABLE, error.reason)),))


def check_file(path: str | os.PathLike[str], *, jobs: int | None = 1) -> CheckReport:
    """Everything that is odd about a profile or a host trace, all sessions of it; what several of them share is named once.

    Args:
        path: Name of the file; "-" is standard input.
        jobs: By how many processes a large host trace may be read; see `read_host`.

    Raises:
        FormatError: It cannot be read at all.

    Example:
        >>> from rblnpb.converters import pipeline
        >>> report = pipeline.check_file("rblnpb/data/transformer_step.json.gz")
        >>> report.verdict, [finding.code for finding in report.findings]
        ('ok', ['unsorted-events'])
    """
    found = read_file(path, jobs=jobs)
    sessions: list[Profile | HostTrace] = [*found] if isinstance(found, list) else [found]
    placed: dict[Finding, PlacedFinding] = {}
    first_ns: list[int] = []
    for session in sessions:
        profile, host = unpack(session) if isinstance(session, Profile) else (None, session)
        # What is odd about the file is said by the profile itself, whatever is left of it.
        own = session.findings if isinstance(session, Profile) else ()
        for one in (*map(PlacedFinding, own), *_findings(profile, host, first_ns)):
            placed.setdefault(one.finding, one)
    worst_first = sorted(placed.values(), key=lambda one: -one.finding.severity)
    return CheckReport(display_name(path), tuple(worst_first), min(first_ns, default=None))


def _findings(profile: Profile | None, host: HostTrace | None, first_ns: list[int]) -> Iterator[PlacedFinding]:
    """Findings about one session; the first time in it is added to the list."""
    if host is not None:
        timeline = merge(None, host)
        yield from trace_findings(host, read_details(host, same_text_rows(host)), timeline)
        yield from device_findings(timeline)
        if (first := host.first_ns()) is not None:
            first_ns.append(first)
    if profile is not None:
        joined: Timeline | None = None
        try:
            joined = merge(profile, host)
        except ClockError as error:
            yield PlacedFinding(Finding(Severity.ERROR, "not-joined", str(error)))
        yield from profile_findings(profile, joined)
        if joined is not None:
            yield from device_findings(joined)
            first_ns += [int(column.min()) for column in (joined.slices.start_ns, joined.launches.start_ns) if len(column)]
