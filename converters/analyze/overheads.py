"""Hidden work, summed by kind, operator and reason."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import Overheads
from rblnpb.profile import OverheadKind

from ..results import OverheadPart, OverheadTotal
from ..timeline import ABSENT, HiddenWork, Int64, Timeline

__all__ = ["overhead_totals"]

_KINDS: Final = (OverheadKind.CPU_FALLBACK, OverheadKind.RECOMPILATION, OverheadKind.HOST_COPY)


def overhead_totals(timeline: Timeline) -> tuple[OverheadTotal, ...]:
    """What the program did not ask for, by kind, in a fixed order; what is of no kind that we know is last."""
    work = timeline.hidden_work
    own = [(kind.name.lower(), work.records.overhead == kind) for kind in _KINDS]
    own.append(("unknown", ~np.isin(work.records.overhead, _KINDS)))
    return tuple(_total(kind, work, work.records.take(rows)) for kind, rows in own if rows.any())


def _total(kind: str, work: HiddenWork, own: Overheads) -> OverheadTotal:
    return OverheadTotal(
        kind=kind,
        count=len(own),
        size_bytes=_sum(own.size_bytes),
        duration_ns=_sum(own.duration_ns),
        ops=_parts(work.strings, own.op_strindex, own),
        reasons=_parts(work.strings, own.reason_strindex, own),
    )


def _parts(strings: tuple[str, ...], column: npt.NDArray[np.uint32], own: Overheads) -> tuple[OverheadPart, ...]:
    """Shares by the values of a column, the most frequent first, then by name."""
    values, first, of_value, counts = np.unique(column, return_index=True, return_inverse=True, return_counts=True)
    parts = [
        OverheadPart(
            name=strings[value] or "unknown",
            count=int(counts[at]),
            size_bytes=_sum(own.size_bytes[of_value == at]),
            duration_ns=_sum(own.duration_ns[of_value == at]),
            place=strings[own.place_strindex[first[at]]],
        )
        for at, value in enumerate(values.tolist())
    ]
    return tuple(sorted(parts, key=lambda part: (-part.count, part.name)))


def _sum(values: Int64) -> int | None:
    """Sum of what is known; None where nothing is."""
    known = values[values != ABSENT]
    return int(known.sum()) if len(known) else None
