"""Complete slices of a trace: crossing, doubled, without time, without end, or far too long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rblnpb.errors import Severity
from rblnpb.lanes import crossing
from rblnpb.row_order import order_by
from rblnpb.wording import counted

from ...results import EventDetails, PlacedFinding
from ...timeline import Bool, Int64
from .trace_rows import TraceRows, grouped

__all__ = ["DAY_NS", "QUEUE_STEPS", "duplicate_candidates", "outlasting", "slice_findings"]

DAY_NS: Final = 86_400 * 10**9
"""Nobody profiles a day on end, and nothing on a device takes one."""

QUEUE_STEPS: Final = 50
"""On a queue that works in order nothing ends after so many that began later: then the end was noticed late."""

_SAME_ENDS: Final = 3
"""One call within another of its name ends with it now and then; the third one says that nobody saw them end."""


def slice_findings(rows: TraceRows, details: EventDetails) -> Iterator[PlacedFinding]:
    """Findings about slices, device rows among them.

    Args:
        rows: The trace.
        details: With the texts of `duplicate_candidates`.
    """
    yield from _crossing(rows)
    yield from _duplicates(rows, details)
    yield from _untimed(rows)
    yield from _long(rows)
    yield from _unfinished(rows)


def _crossing(rows: TraceRows) -> Iterator[PlacedFinding]:
    crosses = crossing(rows.track, rows.start_ns, rows.end_ns)
    show = "Perfetto moves or drops such slices, 'rblnpb convert' gives them a row"
    if (found := rows.slices[crosses & ~rows.is_device]).size:
        beginning = counted(len(found), "slice begins", "slices begin")
        message = f"{beginning} within another of the thread and {_ending(found)} after it: self times are bounds there; {show}"
        yield rows.at(Severity.WARNING, "crossing-slices", message, found)
    if (found := rows.slices[crosses & rows.is_device]).size:
        beginning = counted(len(found), "device slice begins", "device slices begin")
        message = f"{beginning} within another of the row and {_ending(found)} after it: sums are larger than the time; {show}"
        yield rows.at(Severity.INFO, "overlapping-slices", message, found)


def _ending(found: Int64) -> str:
    return "ends" if len(found) == 1 else "end"


def duplicate_candidates(rows: TraceRows) -> Int64:
    """Events that agree with another one in whatever the columns hold: int64[k], ascending; their texts tell the rest."""
    events = rows.host.events
    # Metadata and arrows may well be said twice.
    own = rows.timed[~np.isin(events.phase[rows.timed], np.frombuffer(b"stf", np.uint8))]
    columns = (events.start_ns, events.track, events.phase, events.name, events.category, events.duration_ns, events.length)
    group, size = grouped(*(column[own] for column in columns))
    return own[size[group] > 1] if len(own) else own


def _duplicates(rows: TraceRows, details: EventDetails) -> Iterator[PlacedFinding]:
    _, first = np.unique(details.same_text, return_index=True)
    found = np.delete(details.same_rows, first)
    if len(found):
        standing = counted(len(found), "event stands", "events stand")
        message = f"{standing} in the file once more, letter for letter: their times are counted twice"
        yield rows.at(Severity.ERROR, "duplicate-events", message, found)


def _untimed(rows: TraceRows) -> Iterator[PlacedFinding]:
    events, found = rows.host.events, rows.devices
    nothing = events.duration_ns[found.rows] == 0
    at_zero = nothing & (rows.written_ns[found.rows] == 0)
    if (untimed := found.rows[at_zero]).size:
        message = (
            f"{counted(len(untimed), 'device slice has', 'device slices have')} neither start nor duration: no sum has their time"
        )
        yield rows.at(Severity.WARNING, "untimed-record", message, untimed)
    if (empty := found.rows[nothing & ~at_zero & found.is_work]).size:
        message = f"{counted(len(empty), 'slice of device work lasts', 'slices of device work last')} no time at all"
        yield rows.at(Severity.INFO, "empty-slices", message, empty)


def _long(rows: TraceRows) -> Iterator[PlacedFinding]:
    events = rows.host.events
    own = rows.devices.rows[rows.devices.is_work]
    end_ns = rows.end_ns[np.searchsorted(rows.slices, own)]
    is_late = outlasting(events.track[own].astype(np.int64), events.start_ns[own], end_ns)
    if (late := own[is_late]).size:
        ending = counted(len(late), "device slice ends", "device slices end")
        message = (
            f"{ending} after the {QUEUE_STEPS} that begin next on the row: the end was noticed late, so that sums are upper bounds"
        )
        yield rows.at(Severity.WARNING, "outlasting-slices", message, late)
    if (endless := rows.slices[events.duration_ns[rows.slices] > DAY_NS]).size:
        message = f"{counted(len(endless), 'slice lasts', 'slices last')} longer than a day: no sum with them means anything"
        yield rows.at(Severity.ERROR, "endless-slices", message, endless)


def outlasting(lane: Int64, start_ns: Int64, end_ns: Int64) -> Bool:
    """Slices that end after each of the `QUEUE_STEPS` which begin next on their lane.

    Args:
        lane, start_ns, end_ns: int64[n]; any clock, any order.

    Returns:
        bool[n].
    """
    found = np.zeros(len(lane), np.bool_)
    if len(lane) <= QUEUE_STEPS:
        return found
    order = order_by(lane, start_ns, end_ns)
    lane, end_ns = lane[order], end_ns[order]
    last_end = np.lib.stride_tricks.sliding_window_view(end_ns[1:], QUEUE_STEPS).max(axis=1)
    found[order[:-QUEUE_STEPS]] = (lane[QUEUE_STEPS:] == lane[:-QUEUE_STEPS]) & (last_end < end_ns[:-QUEUE_STEPS])
    return found


def _unfinished(rows: TraceRows) -> Iterator[PlacedFinding]:
    events = rows.host.events
    is_longer = rows.end_ns > rows.start_ns
    own = rows.slices[is_longer]
    group, size = grouped(rows.track[is_longer], rows.end_ns[is_longer], events.name[own])
    if len(own) and (found := own[size[group] >= _SAME_ENDS]).size:
        ending = counted(len(found), "slice ends", "slices end")
        message = (
            f"{ending} at the very moment at which others of the name and thread end: nobody "
            f"saw them end, so that their durations are bounds"
        )
        yield rows.at(Severity.WARNING, "unfinished-slices", message, found)
