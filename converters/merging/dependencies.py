"""Which slices had to end before others: what the compiler fixed between commands, and what the records state beside that."""

from __future__ import annotations

import numpy as np

from rblnpb.columns import DeviceSlices
from rblnpb.profile import Commands, Profile

from ..timeline import Bool, Int64, SliceDependencies
from .correlate import row_by_id
from .group_rows import group_numbers

__all__ = ["between_commands", "no_dependencies", "recorded_rows", "slice_dependencies"]


def no_dependencies() -> SliceDependencies:
    """None at all: what a trace of another maker knows."""
    return SliceDependencies(np.empty(0, np.int64), np.empty(0, np.int64))


def slice_dependencies(profile: Profile, placed: Bool) -> SliceDependencies:
    """The dependencies between slices that are in the timeline.

    Args:
        profile: As read.
        placed: bool[n]; which records of `profile.device_slices` are slices of the timeline, in their order.

    Returns:
        Rows of the timeline's slices: those of commands first, in the order of their successors, then those of the records.
    """
    slices = profile.device_slices if placed.all() else profile.device_slices.take(placed)
    found = np.concatenate((between_commands(slices, profile.commands), recorded_rows(profile, placed)), axis=1)
    return SliceDependencies(found[0], found[1])


def recorded_rows(profile: Profile, placed: Bool) -> Int64:
    """int64[2, k]; predecessor and successor, rows of the timeline's slices, as the records state them. Arguments as above."""
    recorded = profile.dependencies
    both = np.stack((recorded.predecessor_ordinal, recorded.successor_ordinal))
    both = both[:, (both < len(placed)).all(axis=0) & (both >= 0).all(axis=0)]
    if placed.all():
        return both
    row = np.where(placed, np.cumsum(placed) - 1, -1)[both]
    there: Int64 = row[:, (row >= 0).all(axis=0)]
    return there


def between_commands(slices: DeviceSlices, commands: Commands) -> Int64:
    """int64[2, k]; predecessor and successor among the records, for the predecessors that their commands name; by successor.

    A command waits for the commands of its own call: the same launch where launches are numbered, and the same call of the same
    runtime instance.
    """
    first = np.concatenate(([0], commands.predecessor_ends[:-1]))
    count = commands.predecessor_ends - first
    of_slice = count[slices.command_row]
    total = int(of_slice.sum())
    if not total:
        return np.empty((2, 0), np.int64)
    successor = np.repeat(np.arange(len(slices)), of_slice)
    place = np.arange(total) - np.repeat(np.cumsum(of_slice) - of_slice, of_slice)
    wanted = commands.predecessor_rows[first[slices.command_row[successor]] + place].astype(np.int64)
    call = group_numbers(slices.launch_id, slices.instance, slices.sequence) + 1
    keys = call * len(commands) + slices.command_row
    # Key 0 would mean unknown there; a call of its own number is never 0.
    predecessor = row_by_id(keys, call[successor] * len(commands) + wanted)
    found = predecessor >= 0
    return np.stack((predecessor[found], successor[found]))
