"""What reading and joining found, in every report that rests on it: who reads one report need not ask for another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from rblnpb.errors import Finding, Severity

from ..timeline import Timeline

__all__ = ["doubts", "with_doubts"]

_Report = TypeVar("_Report")


def doubts(timeline: Timeline) -> tuple[Finding, ...]:
    """Warnings and errors of the timeline, in their order: each bounds, or breaks, numbers that are taken from it."""
    return tuple(finding for finding in timeline.findings if finding.severity >= Severity.WARNING)


def with_doubts(report: _Report, timeline: Timeline) -> _Report:
    """A result with a field `findings`, and the doubts about its timeline before its own."""
    values: Any = report
    changed: _Report = replace(values, findings=(*doubts(timeline), *values.findings))
    return changed
