"""Slices that are written as a begin and an end, on a thread or asynchronous: what has no partner, or another name than it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Severity
from rblnpb.wording import counted

from ...results import EventDetails, PlacedFinding
from .pairs import pair_events
from .trace_rows import TraceRows, grouped

__all__ = ["pair_findings"]

_BEGINS: Final = np.frombuffer(b"bS", np.uint8)
_ENDS: Final = np.frombuffer(b"eF", np.uint8)


def pair_findings(rows: TraceRows, details: EventDetails) -> Iterator[PlacedFinding]:
    """Findings about pairs of both kinds."""
    yield from _on_threads(rows)
    yield from _asynchronous(rows, details)


def _on_threads(rows: TraceRows) -> Iterator[PlacedFinding]:
    events, pairs = rows.host.events, rows.pairs
    if (found := pairs.unended).size:
        message = (
            f"{counted(len(found), 'slice has', 'slices have')} a begin (B) and no end: viewers draw them to the end of the trace"
        )
        yield rows.at(Severity.WARNING, "begin-without-end", message, found)
    if (found := pairs.unbegun).size:
        message = f"{counted(len(found), 'slice has', 'slices have')} an end (E) and no begin: viewers leave them out"
        yield rows.at(Severity.WARNING, "end-without-begin", message, found)
    names = events.name[pairs.begin], events.name[pairs.end]
    if (found := np.sort(pairs.end[(names[1] != 0) & (names[0] != names[1])])).size:
        message = (
            f"{counted(len(found), 'slice has', 'slices have')} another name at the end (E) than at the begin (B): Perfetto does "
            f"not take the two for one slice"
        )
        yield rows.at(Severity.WARNING, "pair-names-differ", message, found)
    if (found := pairs.begin).size:
        message = (
            f"{counted(len(found), 'slice is', 'slices are')} written as a begin and an end (B, E): viewers show them, tables and "
            f"sums of this program leave them out"
        )
        yield rows.at(Severity.WARNING, "begin-end-pairs", message, found)


def _asynchronous(rows: TraceRows, details: EventDetails) -> Iterator[PlacedFinding]:
    events = rows.host.events
    if (found := details.async_rows[details.async_id < 0]).size:
        message = f'{counted(len(found), "asynchronous event has", "asynchronous events have")} no "id": Perfetto leaves them out'
        yield rows.at(Severity.WARNING, "async-without-id", message, found)
    phase = events.phase[details.async_rows]
    is_own = (details.async_id >= 0) & np.isin(phase, np.append(_BEGINS, _ENDS)) & (events.start_ns[details.async_rows] != ABSENT)
    own, phase = details.async_rows[is_own], phase[is_own]
    if not len(own):
        return
    lane, _ = grouped(details.async_id[is_own], events.category[own])
    pairs = pair_events(lane, events.start_ns[own], np.isin(phase, _BEGINS))
    if (unended := own[pairs.unended]).size:
        having = counted(len(unended), "asynchronous slice has", "asynchronous slices have")
        message = f"{having} a begin and no end: viewers draw them to the end of the trace"
        yield rows.at(Severity.WARNING, "begin-without-end", message, unended, "async")
    if (unbegun := own[pairs.unbegun]).size:
        having = counted(len(unbegun), "asynchronous slice has", "asynchronous slices have")
        yield rows.at(
            Severity.WARNING, "end-without-begin", f"{having} an end and no begin: viewers leave them out", unbegun, "async"
        )
