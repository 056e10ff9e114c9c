"""Calls of the runtime in a profile that records no launches: which slices and frames ran in one call, and when that was.

A call is one execution on one runtime instance: names tell both by their numbers, frames stand around it, and records may name
their launch. Where the numbers begin anew, as they may with every file of a recording, the frames tell the calls apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT, DeviceSlices, WorkloadSlices
from rblnpb.profile import Profile
from rblnpb.row_order import order_by

from ..nesting import latest
from ..timeline import Int64
from .group_rows import group_numbers, ranges, turns

__all__ = ["Calls", "find_calls"]


@dataclass(frozen=True, eq=False)
class Calls:
    """Calls in the order of their starts, clock by clock.

    Attributes:
        of_slice: int64[n]; call of each of `Profile.device_slices`; -1 = none is known.
        of_frame: int64[m]; of each of `Profile.workload_slices`.
        clock_id: int64[k]; on which clock each is timed.
        start, end: int64[k]; first start and last end of what ran in it, in ticks.
        launch_id: int64[k]; the launch that its records name; 0 = none, or several.
    """

    of_slice: Int64
    of_frame: Int64
    clock_id: Int64
    start: Int64
    end: Int64
    launch_id: Int64

    def __len__(self) -> int:
        return len(self.start)


def find_calls(profile: Profile) -> Calls:
    """The calls of a profile."""
    slices, frames = profile.device_slices, profile.workload_slices
    count = len(slices)
    instance, sequence, clock, start, launch_id = (
        np.concatenate((getattr(slices, name).astype(np.int64), getattr(frames, name).astype(np.int64)))
        for name in ("instance", "sequence", "clock_id", "start_ticks", "launch_id")
    )
    is_named = sequence != ABSENT
    # From 1 on: 0 joins nothing.
    group = group_numbers(clock, np.where(is_named, instance, -1), np.where(is_named, sequence, launch_id)) + 1
    group = np.where(is_named | (launch_id != 0), group, 0)
    frame_call = _frame_calls(frames, group[count:], start[count:])
    of_slice = _by_frame(group[:count], start[:count], group[count:], start[count:], frame_call)
    bare = (of_slice < 0) & (group[:count] > 0)
    of_slice[bare] = group[:count][bare] + frame_call.max(initial=-1)
    _adopt(frame_call, frames, of_slice, slices)
    unnumbered = np.flatnonzero(group[:count] == 0)
    of_slice[unnumbered] = _by_time(slices.take(unnumbered), frames, frame_call)
    return _numbered(of_slice, frame_call, clock, start, launch_id, slices, frames)


def _frame_calls(frames: WorkloadSlices, group: Int64, start: Int64) -> Int64:
    """int64[m]; call of each frame: those of one execution are one, unless one of its numbers comes again; -1 = it has none."""
    if not len(frames):
        return np.empty(0, np.int64)
    turn = turns(group, frames.workload, by=start)
    return np.where(group > 0, group_numbers(group, turn), -1)


def _adopt(frame_call: Int64, frames: WorkloadSlices, of_slice: Int64, slices: DeviceSlices) -> None:
    """Give frames without numbers the call of the first numbered slice that starts in them, or one of their own."""
    open_frames = np.flatnonzero(frame_call < 0)
    if not len(open_frames):
        return
    numbered = np.flatnonzero(of_slice >= 0)
    own = slices.take(numbered)
    # The earliest at or after a moment is the latest at or before it, when time runs backward.
    wanted = frames.take(open_frames)
    start, at = own.start_ticks.view(np.int64), wanted.start_ticks.view(np.int64)
    first = latest(own.clock_id.astype(np.int64), -start, wanted.clock_id.astype(np.int64), -at)
    inside = (first >= 0) & (np.append(start, 0)[first] < at + wanted.duration_ticks.view(np.int64))
    fresh = 1 + max(int(of_slice.max(initial=-1)), int(frame_call.max())) + np.arange(len(open_frames))
    frame_call[open_frames] = np.where(inside, np.append(of_slice[numbered], -1)[first], fresh)


def _by_frame(group: Int64, start: Int64, frame_group: Int64, frame_start: Int64, frame_call: Int64) -> Int64:
    """int64[n]; the call of the last frame of its execution that began before each slice, or of the first; -1 = it has none."""
    row = latest(frame_group, frame_start, group, start)
    by_start = order_by(frame_group, frame_start)
    first = np.searchsorted(frame_group[by_start], group)
    has = first < len(by_start)
    first_row = np.append(by_start, -1)[np.where(has, first, -1)]
    has &= np.append(frame_group, -1)[first_row] == group
    row = np.where(row >= 0, row, np.where(has, first_row, -1))
    return np.where(group > 0, np.append(frame_call, -1)[row], -1)


def _by_time(slices: DeviceSlices, frames: WorkloadSlices, frame_call: Int64) -> Int64:
    """int64[n]; the call of the frame in which each slice starts; -1 = it starts in none."""
    start, frame_start = slices.start_ticks.view(np.int64), frames.start_ticks.view(np.int64)
    row = latest(frames.clock_id.astype(np.int64), frame_start, slices.clock_id.astype(np.int64), start)
    end = np.append(frame_start + frames.duration_ticks.view(np.int64), 0)
    return np.append(frame_call, -1)[np.where(start < end[row], row, -1)]


def _numbered(  # what both tables hold, one behind the other, and the tables
    of_slice: Int64,
    of_frame: Int64,
    clock: Int64,
    start: Int64,
    launch_id: Int64,
    slices: DeviceSlices,
    frames: WorkloadSlices,
) -> Calls:
    """The calls, numbered in the order of their clocks and starts."""
    call = np.concatenate((of_slice, of_frame))
    end = start + np.concatenate((slices.duration_ticks.view(np.int64), frames.duration_ticks.view(np.int64)))
    members = np.flatnonzero(call >= 0)
    used, of_member = np.unique(call[members], return_inverse=True)
    first, _ = ranges(of_member, start[members], len(used))
    _, last = ranges(of_member, end[members], len(used))
    named = launch_id[members] != 0
    least, most = ranges(of_member[named], launch_id[members[named]], len(used))
    which = np.zeros(len(used), np.int64)
    which[of_member] = clock[members]
    order = order_by(which, first)
    number = np.empty(len(used), np.int64)
    number[order] = np.arange(len(used))
    call[members] = number[of_member]
    ids = np.where(least == most, least, 0)
    return Calls(call[: len(of_slice)], call[len(of_slice) :], which[order], first[order], last[order], ids[order])
