"""The words for failure: what is raised when bytes are wrong, and what is reported when data is odd.

A file that cannot be read raises one of the errors below; a file that can be read but is not what it should be carries
`Finding` values. Nothing here knows a format, a file handle or a terminal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

__all__ = [
    "CheckError",
    "ClockError",
    "Finding",
    "FormatError",
    "MergeError",
    "NotAProfileError",
    "OutputError",
    "RblnpbError",
    "Severity",
    "TruncatedError",
    "UsageError",
    "VersionError",
    "verdict",
]


_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _one_line(text: str) -> str:
    """The text with control characters spelled: it quotes paths, names and inputs, and any of these may hold a line break."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


class Severity(IntEnum):
    """How much a finding takes from the numbers; ordered, so that `max` of several is the verdict."""

    INFO = 0
    """Worth knowing; every number stands as it is."""
    WARNING = 1
    """Numbers are bounds: something is missing, moved or merged."""
    ERROR = 2
    """Numbers are wrong, or much is missing."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Finding:
    """One result of looking at a profile or a trace.

    Attributes:
        severity: What it does to the numbers.
        code: Stable, lower case, hyphenated; what a script may test for.
        message: One sentence for a person; names the figures.
        count: How many records or places it speaks of; at least 1.
        where: File, table or row it was found in; empty when it is the whole input.
    """

    severity: Severity
    code: str
    message: str
    count: int = 1
    where: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return _one_line(f"{self.severity}: {place}{self.message} [{self.code}]")


def verdict(findings: tuple[Finding, ...]) -> str:
    """`error` if any finding is one, else `warning` if any is one, else `ok`.

    >>> verdict((Finding(Severity.INFO, "one-snapshot", "offset only"),))
    'ok'
    """
    worst = max((finding.severity for finding in findings), default=Severity.INFO)
    return "ok" if worst == Severity.INFO else str(worst)


class RblnpbError(Exception):
    """Everything that this package raises on purpose; its text is one line that says what, where, why and what to do."""

    def __str__(self) -> str:
        return _one_line(super().__str__())


class FormatError(RblnpbError, ValueError):
    """The bytes are not what their format asks for.

    Attributes:
        path: The input's name, or `<bytes>` / `<stdin>`.
        offset: Byte offset in the (decompressed) input; -1 when the whole input is meant.
        place: Where in the structure, such as `chunk 3 (device_slices): column start_ticks`; may be empty.
        reason: What is wrong and, where there is one, what to do.
    """

    def __init__(self, path: str, reason: str, *, offset: int = -1, place: str = "") -> None:
        self.path = path
        self.offset = offset
        self.place = place
        self.reason = reason
        at = f" at byte {offset}" if offset >= 0 else ""
        inside = f" ({place})" if place else ""
        super().__init__(f"cannot read {path}{at}{inside}: {reason}")


class NotAProfileError(FormatError):
    """The input is something else; the reason names what it looks like."""


class TruncatedError(FormatError):
    """The input ends early; the reason says how much was whole."""


class VersionError(FormatError):
    """The input was written by a major version that this package does not read."""


class CheckError(RblnpbError, ValueError):
    """An input is well-formed and breaks an invariant, and the caller asked for strictness; or a profile to be written breaks one.

    Attributes:
        findings: All of them, the worst first.
    """

    def __init__(self, path: str, findings: tuple[Finding, ...], advice: str = "leave strict out to read what is whole") -> None:
        self.path = path
        self.findings = tuple(sorted(findings, key=lambda finding: -finding.severity))
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        super().__init__(f"{path}: {self.findings[0]}{more}; {advice}")


class ClockError(RblnpbError, ValueError):
    """No chain of clock snapshots connects two clocks, or the snapshots contradict each other."""


class MergeError(RblnpbError, ValueError):
    """Inputs that do not belong together: several sessions, several ranks, two host traces."""


class OutputError(RblnpbError, OSError):
    """The output exists already and `force` was not given, or it cannot be written."""


class UsageError(RblnpbError):
    """The command line asks for something impossible; the text says what would be possible."""
