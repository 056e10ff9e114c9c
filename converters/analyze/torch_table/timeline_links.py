"""Device work of a timeline as the key_averages table counts it, linked by every rule or only as the trace itself does."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...timeline import Int64, SliceNames, Timeline
from ..grouping import first_rows, numbered
from .device_links import DeviceLinks, recorded_links

__all__ = ["timeline_links"]

_BLOCK_ROWS: Final = 8192
_BLOCK_BYTES: Final = 1 << 24


def timeline_links(timeline: Timeline, *, is_recorded: bool) -> DeviceLinks:
    """The device rows of the table.

    Args:
        timeline: With a host trace.
        is_recorded: Take the rows and links that the trace itself makes, as torch.profiler does; else work as the profile status
            counts it, linked by every rule, and annotations, which are no part of any total.

    Returns:
        One row a slice, in record order. A profile's slices have no recorded links.
    """
    assert timeline.host is not None
    slices = timeline.slices
    if is_recorded and (len(slices) == 0 or int(slices.event[0]) >= 0):
        return recorded_links(timeline.host)
    is_range = np.array([track.kind == "annotation" for track in timeline.tracks], np.bool_)
    is_annotation = is_range[slices.track] if len(slices) else np.zeros(0, np.bool_)
    rows = np.flatnonzero(timeline.is_work() | is_annotation)
    strings, name = _distinct(slices.names.take(rows))
    return DeviceLinks(
        strings=strings,
        name=name.astype(np.int32),
        start_ns=slices.start_ns[rows],
        duration_ns=slices.duration_ns[rows],
        host_row=np.where(is_annotation[rows] | is_recorded, -1, slices.host_row[rows]),
        is_annotation=is_annotation[rows],
        event=slices.event[rows],
    )


def _distinct(names: SliceNames) -> tuple[tuple[str, ...], Int64]:
    """The distinct names, and int64[n]: which of them each slice has. No name is rendered twice, and few at a time."""
    first, of_slice = _distinct_parts(names)
    bytes_of = np.array([len(text) for text in names.strings], np.int64)
    size = bytes_of[names.stage[first]] + bytes_of[names.override[first]]
    # By length, for one long text widens every other of its block.
    order = np.argsort(size, kind="stable")
    rows: dict[str, int] = {}
    number = np.empty(len(first), np.int64)
    at = 0
    while at < len(order):
        count = min(_BLOCK_ROWS, len(order) - at)
        while count > 1 and count * size[order[at + count - 1]] > _BLOCK_BYTES:
            count //= 2
        block = order[at : at + count]
        number[block] = [rows.setdefault(name.decode(), len(rows)) for name in names.take(first[block]).render().tolist()]
        at += count
    return tuple(rows), number[of_slice]


def _distinct_parts(names: SliceNames) -> tuple[Int64, Int64]:
    """First row of all rows that have the same parts, and int64[n]: which of these each row is."""
    by_parts = (names.stage, names.command, names.instance, names.sequence, names.workload)
    code = np.zeros(len(names), np.int64)
    for column in (names.override, *(np.where(names.override > 0, 0, column) for column in by_parts)):
        values, of_row = numbered(column.astype(np.int64))
        if len(values) > 1:
            code = numbered(code * len(values) + of_row)[1]
    codes, of_row = numbered(code)
    return first_rows(of_row, len(codes)), of_row
