"""What a check found, as text for people, as JSON for programs, and as a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from rblnpb.errors import Finding, Severity, verdict
from rblnpb.wording import counted

from ..results import CheckReport, Place, PlacedFinding
from ._csv_text import csv_text
from ._json_values import json_report
from ._text_tables import TextReport
from ._units import format_ns
from .findings import finding_values

__all__ = ["render_checks_csv", "render_checks_json", "render_checks_text"]

_TITLES: Final = {
    Severity.ERROR: "Errors: numbers are wrong, or much is missing",
    Severity.WARNING: "Warnings: numbers are bounds, or viewers leave something out",
    Severity.INFO: "Info: worth knowing, every number stands as it is",
}

_NOUNS: Final = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.INFO: ("info", "info"),
}

_LONGEST_NAME: Final = 60


def render_checks_text(reports: Sequence[CheckReport], *, width: int | None = None) -> str:
    """The reports one below the other: a line with the verdict, then a block for each severity.

    Args:
        reports: At least one.
        width: Columns of the terminal, to which messages fold; None: a line each.
    """
    text = TextReport(width)
    for number, report in enumerate(reports):
        if number and reports[number - 1].found:
            text.line()
        counts = _counts(report.findings)
        told = ", ".join(counted(counts[severity], *_NOUNS[severity]) for severity in _TITLES if counts[severity])
        text.line(f"{report.name}: {report.verdict}" + (f" ({told})" if told else ""))
        for severity, title in _TITLES.items():
            if counts[severity]:
                text.line(f"\n{title}")
                _print_block(text, [one for one in report.found if one.finding.severity == severity], report.first_ns)
    return text.text()


def _print_block(text: TextReport, found: Sequence[PlacedFinding], first_ns: int | None) -> None:
    for one in found:
        finding = one.finding
        place = f"{finding.where}: " if finding.where else ""
        text.line(f"{place}{finding.message} [{finding.code}]", indent=2, folds=True)
        for at in one.places:
            text.line(_place_text(at, first_ns), indent=6)
        if one.places and finding.count > len(one.places):
            text.line(f"and {finding.count - len(one.places):,} more", indent=6)


def _place_text(place: Place, first_ns: int | None) -> str:
    name = place.name if len(place.name) <= _LONGEST_NAME else f"{place.name[: _LONGEST_NAME - 1]}…"
    parts = [f"{place.table}[{place.row}]" + (f" {json.dumps(name, ensure_ascii=False)}" if name else "")]
    if place.start_ns is not None and first_ns is not None:
        ahead_ns = place.start_ns - first_ns
        parts.append(f"{'' if ahead_ns < 0 else '+'}{format_ns(ahead_ns)}")
    if place.offset is not None:
        parts.append(f"byte {place.offset:,}")
    return ", ".join(parts)


def _counts(findings: Sequence[Finding]) -> Counter[Severity]:
    return Counter(finding.severity for finding in findings)


def render_checks_json(reports: Sequence[CheckReport]) -> bytes:
    """One JSON object, schema `rblnpb.check/1`: the report of one file, or those of several files under "files".

    Times are int64 ns of the trace clock, offsets are bytes of the decompressed document.
    """
    values = [_report_value(report) for report in reports]
    if len(values) == 1:
        return json_report({"schema": "rblnpb.check/1", **values[0]})
    findings = tuple(finding for report in reports for finding in report.findings)
    total = {"verdict": verdict(findings), "counts": _counts_value(findings)}
    return json_report({"schema": "rblnpb.check/1", **total, "files": values})


def _report_value(report: CheckReport) -> dict[str, object]:
    findings = finding_values(report.findings)
    placed = [
        {**value, "places": [asdict(place) for place in one.places]} for value, one in zip(findings, report.found, strict=True)
    ]
    return {"file": report.name, "verdict": report.verdict, "counts": _counts_value(report.findings), "findings": placed}


def _counts_value(findings: Sequence[Finding]) -> dict[str, int]:
    counts = _counts(findings)
    return {str(severity): counts[severity] for severity in _TITLES}


def render_checks_csv(reports: Sequence[CheckReport]) -> str:
    """A row for each finding of each file, with the first of its places."""
    columns = ("file", "severity", "code", "count", "where", "message", "table", "row", "name", "start_ns", "offset")
    return csv_text(columns, lambda: [_csv_row(report, one) for report in reports for one in report.found])


def _csv_row(report: CheckReport, one: PlacedFinding) -> list[object]:
    finding, first = one.finding, one.places[0] if one.places else None
    at = [None] * 5 if first is None else [first.table, first.row, first.name, first.start_ns, first.offset]
    return [report.name, str(finding.severity), finding.code, finding.count, finding.where, finding.message, *at]
