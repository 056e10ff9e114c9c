"""What was mended in a broken text, or lost of it: counted while it passes by, with the byte where each kind came first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

_KINDS: Final = {
    "lost-events": "{events} lost, {bytes} in all: they are no JSON ({reason})",
    "lost-text": "{bytes} between the events or around them left out: they are no JSON ({reason})",
    "cut-short": "the text ends early: {events} lost with its last {bytes}, all that is whole before it is kept",
    "cut-gzip": "the gzip data ends early; what comes out of it up to there is read",
    "damaged-gzip": "the gzip data is damaged ({reason}); what comes out of it up to there is read",
    "gzip-checksum": "the gzip data does not have the checksum or length that it names: something in it may be wrong",
    "bytes-after-gzip": "{bytes} after the gzip data: no gzip data, ignored",
    "another-document": "{bytes} after the end of the document left out, another one by its look: cut the file there to read it",
    "bare-words": "{places} with a word such as NaN, Infinity or N/A that is no JSON value; read as null",
    "odd-spelling": "{places} with a number or truth value that is not spelled as in JSON; its value is kept",
    "no-values": "{places} with no value behind the name; read as null",
    "odd-commas": "{commas} too many, left out",
    "no-commas": "{places} without a comma between two events, put in",
    "odd-brackets": "{places} where a bracket is too many or missing, left out or put in",
    "bad-escapes": "{places} with a backslash that begins no escape, as in a path of Windows; read as a backslash",
    "control-bytes": "{places} with a control byte that stands in a text as it is; read as its escape",
    "odd-characters": "{places} with text that is no Unicode; U+FFFD stands for it",
}
"""Codes of findings, in the order in which they are told, each with its sentence."""


DAMAGE_CODES: Final = frozenset(_KINDS)
"""Codes of the findings that say that a text is no JSON, no Unicode, or not all there."""


@dataclass(frozen=True)
class _Count:
    count: int
    first_offset: int
    size_bytes: int = 0
    reason: str = ""


class Tally:
    """Counts of repairs and losses of one pass."""

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, kind: str, offset: int, count: int = 1, *, size_bytes: int = 0, reason: str = "") -> None:
        """Count something of a kind, which is a code of a finding, where it begins in the text."""
        before = self._counts.get(kind)
        if before is None:
            self._counts[kind] = _Count(count, offset, size_bytes, reason)
        else:
            self._counts[kind] = replace(before, count=before.count + count, size_bytes=before.size_bytes + size_bytes)

    def findings(self) -> tuple[Finding, ...]:
        """One for each kind, those that cost the most first."""
        return tuple(_finding(kind, self._counts[kind]) for kind in _KINDS if kind in self._counts)


def _finding(kind: str, found: _Count) -> Finding:
    is_bare_cut = kind == "cut-short" and not found.size_bytes
    message = (
        "the text ends early, behind its last whole event"
        if is_bare_cut
        else _KINDS[kind].format(
            events=counted(found.count, "event"),
            commas=counted(found.count, "comma"),
            places=counted(found.count, "place"),
            bytes=counted(found.size_bytes, "byte"),
            reason=found.reason,
        )
    )
    place = f"; first at byte {found.first_offset:,}" if found.count > 1 else f"; at byte {found.first_offset:,}"
    return Finding(Severity.WARNING, kind, message + place, max(found.count, 1))
