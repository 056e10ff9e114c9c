"""Findings of one file, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from rblnpb.errors import Finding

from ._json_values import json_report

__all__ = ["finding_values", "render_findings_json", "render_findings_text"]


def finding_values(findings: Sequence[Finding]) -> list[dict[str, object]]:
    """Findings as JSON has them everywhere."""
    return [
        {
            "severity": str(finding.severity),
            "code": finding.code,
            "message": finding.message,
            "count": finding.count,
            "where": finding.where,
        }
        for finding in findings
    ]


def render_findings_text(name: str, verdict: str, findings: Sequence[Finding]) -> str:
    """A line with the verdict, and a line a finding, the worst first."""
    ordered = sorted(findings, key=lambda finding: -finding.severity)
    return "".join(f"{line}\n" for line in [f"{name}: {verdict}", *(f"  {finding}" for finding in ordered)])


def render_findings_json(name: str, verdict: str, findings: Sequence[Finding]) -> bytes:
    """One JSON object, schema `rblnpb.check/1`."""
    value = {"schema": "rblnpb.check/1", "file": name, "verdict": verdict, "findings": finding_values(findings)}
    return json_report(value)
