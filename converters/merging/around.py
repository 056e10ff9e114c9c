"""When something of a name lasts: an op, a step, a program, a layer of the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import UsageError

from ..timeline import AlignedSlices, Bool, Int64, SliceNames, Timeline

__all__ = ["around"]

_BLOCK_ROWS: Final = 8192


def around(timeline: Timeline, name: str) -> tuple[int, int, Int64]:
    """From when to when something of a name lasts, with the device work that it launched.

    Of several of one name it is the first. What the host did is looked through before the device's work.

    Args:
        timeline: Merged.
        name: Of an event of the host trace such as "ProfilerStep#3" or an op, of a program that was launched, or of a device slice,
            whole or its layer alone.

    Returns:
        Start and end, trace clock; and int64[k], ascending, when all of the name start.

    Raises:
        UsageError: Nothing has it.
    """
    for found in (_of_host, _of_launches, _of_slices):
        spans = found(timeline, name)
        if spans is not None and len(spans[0]):
            start, end = spans
            first = int(np.argmin(start))
            return int(start[first]), max(int(end[first]), int(start[first]) + 1), np.sort(start)
    raise UsageError(f"nothing in the input is called {name!r}: no host event, launched program, or layer of the device")


def _of_host(timeline: Timeline, name: str) -> tuple[Int64, Int64] | None:
    host = timeline.host
    if host is None or name not in host.strings:
        return None
    events = host.events
    is_it = (events.name == host.strings.index(name)) & (events.start_ns != ABSENT) & (events.phase == ord("X"))
    rows = np.flatnonzero(is_it)
    start = events.start_ns[rows]
    end = start + np.maximum(events.duration_ns[rows], 0)
    if len(rows):
        first = int(np.argmin(start))
        own = _launched(timeline, int(events.track[rows[first]]), int(start[first]), int(end[first]))
        end[first] = max(int(end[first]), own)
    return start, end


def _launched(timeline: Timeline, track: int, start_ns: int, end_ns: int) -> int:
    """When the last device work ends that a thread launched in a stretch of time; 0 where it launched none."""
    assert timeline.host is not None
    launches, slices = timeline.launches, timeline.slices
    thread = np.append(timeline.host.events.track, -1)[launches.host_row]
    is_own = (thread == track) & (launches.start_ns >= start_ns) & (launches.start_ns < end_ns)
    rows = np.flatnonzero(np.append(is_own, False)[slices.launch])
    return int((slices.start_ns[rows] + slices.duration_ns[rows]).max(initial=0))


def _of_launches(timeline: Timeline, name: str) -> tuple[Int64, Int64] | None:
    if name not in timeline.strings:
        return None
    launches, slices = timeline.launches, timeline.slices
    rows = np.flatnonzero(launches.name == timeline.strings.index(name))
    end = np.append(launches.start_ns, 0)
    known = slices.launch >= 0
    np.maximum.at(end, slices.launch[known], (slices.start_ns + slices.duration_ns)[known])
    return launches.start_ns[rows], end[rows]


def _of_slices(timeline: Timeline, name: str) -> tuple[Int64, Int64] | None:
    slices = timeline.slices
    is_it = np.zeros(len(slices), np.bool_)
    if name in slices.strings:
        row = slices.strings.index(name)
        is_it = _named(slices, lambda names: (names.stage == row) | (names.override == row))
    if not is_it.any():
        is_it = _named(slices, lambda names: np.asarray(names.render() == name.encode()))
    rows = np.flatnonzero(is_it)
    return slices.start_ns[rows], (slices.start_ns + slices.duration_ns)[rows]


def _named(slices: AlignedSlices, is_meant: Callable[[SliceNames], Bool]) -> Bool:
    """bool[n]; which slices have a name that is meant; names that stay in their file are read some at a time."""
    is_it = np.zeros(len(slices), np.bool_)
    for first in range(0, len(slices), _BLOCK_ROWS):
        rows = slice(first, first + _BLOCK_ROWS)
        is_it[rows] = is_meant(slices.take(rows).names)
    return is_it
