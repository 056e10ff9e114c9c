"""References between host and device that lead nowhere, and launches whose work is missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rblnpb.errors import Severity
from rblnpb.wording import counted, first_few

from ...dialect import NO_ID, annotation_rows, is_linked, linked_ids, op_rows, owner_rows
from ...results import PlacedFinding
from ...timeline import Int64, Timeline
from .trace_rows import TraceRows

__all__ = ["link_findings"]


def link_findings(rows: TraceRows, timeline: Timeline) -> Iterator[PlacedFinding]:
    """Findings about the ids of the device rows of a trace.

    Args:
        rows: The trace.
        timeline: Of the trace alone, so that its slices and frames are the device rows.
    """
    found = rows.devices
    if not len(found):
        return
    yield from _launches(rows, timeline)
    yield from _owners(rows)
    yield from _work(rows)


def _launches(rows: TraceRows, timeline: Timeline) -> Iterator[PlacedFinding]:
    found, events = rows.devices, rows.host.events
    ids = _launch_ids(rows, found.rows)
    launch, host_row = _joined(found.rows, timeline)
    is_lost = (ids != 0) & (launch < 0) & (host_row < 0) & found.is_work
    if not len(found.calls) and not len(found.markers) and not len(timeline.runtime):
        if (lost := found.rows[is_lost]).size:
            naming = counted(len(lost), "device slice names a launch", "device slices name launches")
            message = f"{naming}, and the trace shows none of the host's: it is not known what launched them"
            yield rows.at(Severity.INFO, "no-launches", message, lost)
    elif (lost := found.rows[is_lost]).size:
        message = (
            f"{counted(len(lost), 'device slice names', 'device slices name')} a launch that is not in the file: launched before "
            f"the recording began, or lost"
        )
        yield rows.at(Severity.WARNING, "launch-not-recorded", message, lost)
    named = (ids != 0) & found.is_work
    has_other = (events.external_id[found.rows] != 0) | (launch >= 0)
    if named.any() and (unknown := found.rows[found.is_work & ~named & ~has_other]).size:
        having = counted(len(unknown), "device slice has", "device slices have")
        message = f"{having} no launch id, or 0, where others have one: nothing says what launched them"
        yield rows.at(Severity.WARNING, "launch-id-0", message, unknown)


def _joined(rows: Int64, timeline: Timeline) -> tuple[Int64, Int64]:
    """int64[n], int64[n]; launch and op of each device row of the trace, be it a slice or a frame."""
    launch, host_row = np.full((2, len(rows)), -1, np.int64)
    for table in (timeline.slices, timeline.frames):
        place = np.searchsorted(rows, table.event)
        launch[place], host_row[place] = table.launch, table.host_row
    return launch, host_row


def _launch_ids(rows: TraceRows, own: Int64) -> Int64:
    events = rows.host.events
    ids = np.where(events.correlation_id[own] != 0, events.correlation_id[own], events.launch_id[own])
    return np.where(ids == NO_ID, 0, ids)


def _owners(rows: TraceRows) -> Iterator[PlacedFinding]:
    host, found = rows.host, rows.devices
    ops = op_rows(host)
    if not len(ops):
        return
    linked = found.rows[is_linked(host, found.rows)]
    wanted = linked_ids(host, linked)
    owners = np.union1d(ops, annotation_rows(host))
    if (lost := linked[(wanted != 0) & (owner_rows(host, owners, wanted) < 0)]).size:
        message = (
            f"{counted(len(lost), 'device slice names an op', 'device slices name ops')} (External id) that the file does not have"
        )
        yield rows.at(Severity.WARNING, "op-not-recorded", message, lost)


def _work(rows: TraceRows) -> Iterator[PlacedFinding]:
    """Calls without a device row, of names that launch work at other times: what a call launches, no list of names can tell."""
    host, found, events = rows.host, rows.devices, rows.host.events
    work = found.rows[found.is_work]
    for launches, ids in ((found.calls, events.correlation_id), (found.markers, events.launch_id)):
        own = launches[(ids[launches] != 0) & (ids[launches] != NO_ID)]
        has_work = np.isin(ids[own], ids[work])
        does_launch = np.zeros(len(host.strings), np.bool_)
        does_launch[events.name[own[has_work]]] = True
        if (lost := own[does_launch[events.name[own]] & ~has_work]).size:
            names = [host.strings[row] for row in np.unique(events.name[lost]).tolist()]
            having = counted(len(lost), "call has", "calls have")
            message = (
                f"{having} no device work, where others of their name do ({first_few(names)}): they launched none, its records are "
                f"lost, or it ran after the recording"
            )
            yield rows.at(Severity.INFO, "launches-without-work", message, lost)
