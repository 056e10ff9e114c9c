"""Device work of a timeline as the key_averages table counts it, linked by every rule or only as the trace itself does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..timeline import Timeline
from .device_links import DeviceLinks, no_device, recorded_links

__all__ = ["timeline_links"]


def timeline_links(timeline: Timeline, *, is_recorded: bool) -> DeviceLinks:
    """The device rows of the table.

    Args:
        timeline: With a host trace.
        is_recorded: Take only the links that the trace itself makes, as torch.profiler does; else every rule.

    Returns:
        One row a slice of work, in record order. Waits, host rows and frames are not device time and have no row.
    """
    assert timeline.host is not None
    slices = timeline.slices
    if len(slices) == 0 or int(slices.event[0]) >= 0:
        return _trace_links(timeline, is_recorded=is_recorded)
    rows = np.flatnonzero(timeline.is_work())
    if not len(rows):
        return no_device()
    names, of_slice = np.unique(slices.names.take(rows).render(), return_inverse=True)
    owner = slices.recorded_row if is_recorded else slices.host_row
    return DeviceLinks(
        strings=tuple(name.decode() for name in names.tolist()),
        name=of_slice.astype(np.int32),
        start_ns=slices.start_ns[rows],
        duration_ns=slices.duration_ns[rows],
        host_row=owner[rows],
        is_annotation=np.zeros(len(rows), np.bool_),
        event=np.full(len(rows), -1, np.int64),
    )


def _trace_links(timeline: Timeline, *, is_recorded: bool) -> DeviceLinks:
    """The trace's own device rows; those that it leaves unlinked get the op of their launch, unless told otherwise."""
    assert timeline.host is not None
    events, slices = timeline.host.events, timeline.slices
    links = recorded_links(timeline.host)
    external, correlation = events.external_id[links.event], events.correlation_id[links.event]
    # An id that is the row's own correlation id links it to nothing.
    host_row = np.where((external == correlation) & (external != 0), -1, links.host_row)
    if not is_recorded:
        owner = np.full(len(events), -1, np.int64)
        is_work = timeline.is_work()
        owner[slices.event[is_work]] = slices.host_row[is_work]
        host_row = np.where(host_row >= 0, host_row, owner[links.event])
    return replace(links, host_row=host_row)
