"""Overheads, summed by kind, operator and reason."""

from __future__ import annotations

from typing import Final

import numpy as np

from rblnpb.profile import OverheadKind

from ..results import OverheadPart, OverheadTotal
from ..timeline import Bool, Int32, OverheadRecords, Timeline
from .intervals import known_sum

__all__ = ["overhead_totals"]

_KINDS: Final = (OverheadKind.CPU_FALLBACK, OverheadKind.RECOMPILATION, OverheadKind.HOST_COPY)


def overhead_totals(timeline: Timeline) -> tuple[OverheadTotal, ...]:
    """What the program did not ask for, by kind, in a fixed order; what is of no kind that we know is last."""
    records = timeline.overheads
    own = [(kind.name.lower(), records.kind == kind) for kind in _KINDS]
    own.append(("unknown", ~np.isin(records.kind, _KINDS)))
    return tuple(_total(kind, timeline.strings, records, rows) for kind, rows in own if rows.any())


def _total(kind: str, strings: tuple[str, ...], records: OverheadRecords, own: Bool) -> OverheadTotal:
    return OverheadTotal(
        kind=kind,
        count=int(own.sum()),
        size_bytes=known_sum(records.size_bytes[own]),
        duration_ns=known_sum(records.duration_ns[own]),
        ops=_parts(strings, records.op, records, own),
        reasons=_parts(strings, records.reason, records, own),
    )


def _parts(strings: tuple[str, ...], column: Int32, records: OverheadRecords, own: Bool) -> tuple[OverheadPart, ...]:
    """Shares by the values of a column, the most frequent first, then by name."""
    rows = np.flatnonzero(own)
    values, first, of_value, counts = np.unique(column[rows], return_index=True, return_inverse=True, return_counts=True)
    parts = [
        OverheadPart(
            name=strings[value] or "unknown",
            count=int(counts[at]),
            size_bytes=known_sum(records.size_bytes[rows[of_value == at]]),
            duration_ns=known_sum(records.duration_ns[rows[of_value == at]]),
            place=strings[records.place[rows[first[at]]]],
        )
        for at, value in enumerate(values.tolist())
    ]
    return tuple(sorted(parts, key=lambda part: (-part.count, part.name)))
