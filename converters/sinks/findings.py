"""Findings as JSON has them in every report."""

from __future__ import annotations

from collections.abc import Sequence

from rblnpb.errors import Finding

__all__ = ["finding_values"]


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
