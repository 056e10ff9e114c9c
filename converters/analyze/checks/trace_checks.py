"""Everything that is odd about a host trace, put together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding

from ...results import EventDetails, PlacedFinding
from ...timeline import HostTrace, Int64, Timeline
from .counter_checks import counter_findings
from .flow_checks import flow_findings
from .link_checks import link_findings
from .pair_checks import pair_findings
from .slice_checks import duplicate_candidates, slice_findings
from .time_checks import time_findings
from .trace_rows import TraceRows
from .viewer_checks import viewer_findings

__all__ = ["same_text_rows", "trace_findings"]


def same_text_rows(host: HostTrace) -> Int64:
    """Rows of the events whose texts the checks compare: int64[k], ascending."""
    return duplicate_candidates(TraceRows(host))


def trace_findings(host: HostTrace, details: EventDetails, timeline: Timeline | None) -> Iterator[PlacedFinding]:
    """Every finding about a trace, those of reading it first.

    Args:
        host: The trace.
        details: With the texts of `same_text_rows`.
        timeline: Of the trace alone; None where its device side is told by a profile.
    """
    rows = TraceRows(host)
    yield from (_placed(rows, finding) for finding in host.findings)
    yield from slice_findings(rows, details)
    yield from time_findings(rows)
    yield from pair_findings(rows, details)
    yield from flow_findings(rows)
    yield from counter_findings(rows, details)
    yield from viewer_findings(rows, details)
    if timeline is not None:
        yield from link_findings(rows, timeline)


def _placed(rows: TraceRows, finding: Finding) -> PlacedFinding:
    """What reading found, with the places that can be told afterwards."""
    events = rows.host.events
    mask = {
        "no-phase": events.phase == 0,
        "negative-duration": (events.duration_ns < 0) & (events.duration_ns != ABSENT),
        "no-duration": (events.phase == ord("X")) & (events.duration_ns == ABSENT),
    }.get(finding.code)
    return PlacedFinding(finding, () if mask is None else rows.places(np.flatnonzero(mask)))
