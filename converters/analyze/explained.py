"""What a runtime itself counted, as overheads by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..results import OverheadPart, OverheadTotal
from ..timeline import ExplainedCounts

__all__ = ["explained_totals"]

_SPLITS: Final = ("v2v_batch_to_per_entry", "host_batch_to_per_entry")
"""Copies that were done in several, which the runtime does not count among those through the host."""


def explained_totals(counts: ExplainedCounts) -> tuple[OverheadTotal, ...]:
    """The kinds of overheads that there were, in a fixed order."""
    places = counts.places
    fallbacks, compiled = _counted(counts.fallbacks_by_op, places), _counted(counts.recompilations_by_op, places)
    why = _counted(counts.fallbacks_by_reason, {})
    splits = {way: moved for way, moved in counts.copies.items() if way in _SPLITS}
    through_host = {way: moved for way, moved in counts.copies.items() if way not in _SPLITS}
    totals = (
        OverheadTotal("cpu_fallback", counts.fallback_count, None, counts.fallback_ns, fallbacks, why),
        OverheadTotal("recompilation", counts.recompilation_count, None, None, compiled, ()),
        _copies("host_copy", through_host, places),
        _copies("batch_split", splits, places),
    )
    return tuple(total for total in totals if total.count)


def _copies(kind: str, ways: Mapping[str, tuple[int, int]], places: Mapping[str, str]) -> OverheadTotal:
    parts = [
        OverheadPart(way, count, size_bytes, None, _innermost(places, way)) for way, (count, size_bytes) in ways.items() if count
    ]
    size_bytes = sum(part.size_bytes or 0 for part in parts)
    return OverheadTotal(kind, sum(part.count for part in parts), size_bytes, None, (), _ordered(parts))


def _counted(counts: Mapping[str, int], places: Mapping[str, str]) -> tuple[OverheadPart, ...]:
    return _ordered([OverheadPart(name, count, place=_innermost(places, name)) for name, count in counts.items() if count])


def _innermost(places: Mapping[str, str], name: str) -> str:
    """The innermost of the lines that led to something."""
    return places.get(name, "").partition(" <- ")[0]


def _ordered(parts: list[OverheadPart]) -> tuple[OverheadPart, ...]:
    return tuple(sorted(parts, key=lambda part: (-part.count, part.name)))
