"""Arrows from the place on the host where work was submitted to the first of that work on the device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.column_arrays import row_blocks
from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from ..timeline import MATCHED_RULES, AlignedSlices, Bool, Int64, Timeline

__all__ = ["FirstWork", "LaunchArrows", "first_work", "launch_arrows"]

_NOWHERE: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class FirstWork:
    """What every launch that matched an op did first; columns have a row for each launch.

    Attributes:
        is_frame: bool[n]; whether that is a frame, or a slice.
        row: int64[n]; row of `Timeline.frames` or `Timeline.slices`; -1 = the launch did nothing, or matched none.
        event: int64[n]; row of the host trace's events that shows it; -1 = none does.
        start_ns: int64[n]; trace clock.
    """

    is_frame: Bool
    row: Int64
    event: Int64
    start_ns: Int64


@dataclass(frozen=True, eq=False)
class LaunchArrows:
    """Arrows; all columns have the same length n.

    Attributes:
        launch: int64[n]; rows of `Timeline.launches`.
        op: int64[n]; rows of the host trace's events, where they start.
        source_ns: int64[n]; trace clock; within the op, and not after the first work of the launch.
        findings: Launches that have no arrow, counted.
    """

    launch: Int64
    op: Int64
    source_ns: Int64
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.launch)


def first_work(timeline: Timeline) -> FirstWork:
    """The first slice or frame of every launch that matched an op.

    Those that no host trace shows go before the host's; among equals the frame.
    """
    count = len(timeline.launches)
    is_frame, row, event = np.zeros(count, np.bool_), np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    start_ns = np.full(count, _NOWHERE, np.int64)
    is_matched = _is_matched(timeline)
    for is_ours in (True, False):
        unfound = is_matched & (row < 0)
        if not unfound.any():
            break
        for slices in (timeline.slices, timeline.frames):
            for _, launch, start in _launched(slices, unfound, is_ours=is_ours):
                np.minimum.at(start_ns, launch, start)
        for slices in (timeline.frames, timeline.slices):
            # Of those that start first the frame stands, and of slices the first one.
            for rows, launch, start in _launched(slices, unfound, is_ours=is_ours):
                is_first = (start == start_ns[launch]) & (row[launch] < 0)
                first, of_launch = rows[is_first][::-1], launch[is_first][::-1]
                row[of_launch] = first
                event[of_launch] = slices.event[first]
                is_frame[of_launch] = slices is timeline.frames
    return FirstWork(is_frame, row, event, start_ns)


def _launched(slices: AlignedSlices, unfound: Bool, *, is_ours: bool) -> Iterator[tuple[Int64, Int64, Int64]]:
    """Rows of slices, ours or the host's, whose launch is one of these; their launches and their starts; a block at a time."""
    for block in row_blocks(len(slices)):
        launch = slices.launch[block]
        rows = np.flatnonzero((launch >= 0) & ((slices.event[block] < 0) == is_ours))
        launch = launch[rows]
        is_asked = unfound[launch]
        if not is_asked.all():
            rows, launch = rows[is_asked], launch[is_asked]
        if len(rows):
            yield rows + block.start, launch, slices.start_ns[block][rows]


def _is_matched(timeline: Timeline) -> Bool:
    """bool[launches]; which of them matched an op."""
    launches = timeline.launches
    is_matched: Bool = (launches.host_row >= 0) & (launches.reason < MATCHED_RULES)
    return is_matched


def launch_arrows(timeline: Timeline, work: FirstWork, has_arrow: Bool) -> LaunchArrows:
    """An arrow for every launch that matched an op and did something on a device.

    It starts in the op, at the moment of the launch, and points at the start of the launch's first work.

    Args:
        timeline: The timeline.
        work: See `first_work`.
        has_arrow: bool[launches]; whether an arrow of the host trace points at that work already; no second one is drawn.
    """
    launches = timeline.launches
    matched = np.flatnonzero(_is_matched(timeline))
    is_idle = work.row[matched] < 0
    rows = matched[~is_idle & ~has_arrow[matched]]
    op = launches.host_row[rows]
    if timeline.host is None:
        return LaunchArrows(rows, op, op, ())
    events = timeline.host.events
    start = events.start_ns[op]
    last = start + np.maximum(events.duration_ns[op] - 1, 0)
    # What a launch causes cannot start before it: where it does, the clocks are to blame, and the arrow starts a little earlier.
    source_ns = np.clip(np.minimum(launches.start_ns[rows], work.start_ns[rows]), start, last)
    is_backwards = source_ns > work.start_ns[rows]
    return LaunchArrows(
        launch=rows[~is_backwards],
        op=op[~is_backwards],
        source_ns=source_ns[~is_backwards],
        findings=_findings(int(is_idle.sum()), int(is_backwards.sum())),
    )


def _findings(idle: int, backwards: int) -> tuple[Finding, ...]:
    made = []
    if idle:
        text = f"{counted(idle, 'launch', 'launches')} with an op and no slice on a device: no arrow starts there"
        made.append(Finding(Severity.INFO, "launches-without-device-work", text, idle))
    if backwards:
        text = (
            f"{counted(backwards, 'launch has', 'launches have')} device work that starts before the op does; no arrow can say that"
        )
        made.append(Finding(Severity.WARNING, "device-work-before-op", text, backwards))
    return tuple(made)
