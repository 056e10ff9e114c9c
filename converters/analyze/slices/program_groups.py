"""Which slices belong to a program, and to which of its calls."""

from __future__ import annotations

import numpy as np

from rblnpb.row_order import order_by

from ...nesting import enclosing, nest
from ...timeline import Bool, Int64, Timeline
from ..grouping import numbered
from .slice_groups import UNKNOWN, SliceGroups, named_groups, work_rows

__all__ = ["call_groups", "program_groups"]


def program_groups(timeline: Timeline) -> SliceGroups:
    """Slices by the program that their launch submitted; without a known launch, by the workload frame around them.

    Where a trace of another maker names no program, the call that launched the work stands for it.
    """
    rows = work_rows(timeline)
    slices, launches = timeline.slices, timeline.launches
    launch = slices.launch[rows]
    # One more row at the end, which -1 leads to.
    name = np.append(launches.name, 0)[launch].astype(np.int64)
    compile_id = np.append(launches.compile_id, 0)[launch].astype(np.int64)
    texts, frame_texts = timeline.strings, timeline.frames.names.strings
    code = name * len(texts) + compile_id
    unnamed = np.flatnonzero(name == 0)
    frame = _frames_around(timeline, rows[unnamed])
    names = timeline.frames.names
    frame_name = np.append(np.where(names.override > 0, names.override, names.stage), 0)[frame].astype(np.int64)
    first_of_frames = len(texts) * len(texts)
    code[unnamed] = np.where(frame_name > 0, first_of_frames + frame_name, 0)
    distinct, group = numbered(code)
    pairs = [
        (frame_texts[one - first_of_frames], "")
        if one >= first_of_frames
        else (texts[one // len(texts)] or UNKNOWN, texts[one % len(texts)])
        for one in distinct.tolist()
    ]
    return named_groups(rows, group, {"name": [pair[0] for pair in pairs], "compile_id": [pair[1] for pair in pairs]})


def call_groups(timeline: Timeline) -> SliceGroups:
    """Slices by call: one launch of a program, or one turn of a runtime instance where no launch is known.

    Keys are the program, its compiled graph, the ordinal of the call among those of the program in the order in which they began
    on the device, from 0, and the launch id. Slices that tell of no call are one group of each program, without an ordinal.
    """
    programs = program_groups(timeline)
    slices, launches, rows = timeline.slices, timeline.launches, programs.rows
    names = slices.names
    launch = slices.launch[rows]
    # Calls without a launch are numbered behind the launches.
    turn = len(launches) + _turns(names.instance[rows].astype(np.int64), names.sequence[rows])
    call = np.where(launch >= 0, launch, np.where(names.sequence[rows] >= 0, turn, -1)) + 1
    distinct, group = numbered(call * len(programs) + programs.group)
    call, program = np.divmod(distinct, max(len(programs), 1))
    begun_ns = np.full(len(distinct), np.iinfo(np.int64).max)
    np.minimum.at(begun_ns, group, slices.start_ns[rows])
    ordinal = _ordinals(program, begun_ns, call > 0)
    launch_id = np.append(launches.launch_id, 0)[np.where(call <= len(launches), call - 1, -1)]
    keys: dict[str, tuple[object, ...]] = {
        **{key: tuple(values[at] for at in program.tolist()) for key, values in programs.keys.items()},
        "call": tuple(None if at < 0 else at for at in ordinal.tolist()),
        "launch_id": tuple(identity or None for identity in launch_id.tolist()),
    }
    return SliceGroups(rows, group, keys)


def _turns(instance: Int64, sequence: Int64) -> Int64:
    """int64[n]; the same number for slices of one turn of one runtime instance."""
    instances, which = numbered(instance)
    _, turn = numbered(sequence)
    return turn * len(instances) + which


def _ordinals(program: Int64, begun_ns: Int64, is_call: Bool) -> Int64:
    """int64[k]; place of each call among those of its program, in order of time; -1 for what is no call."""
    order = order_by(program, ~is_call, begun_ns)
    is_first = np.append(True, program[order][1:] != program[order][:-1])[: len(order)]
    first = np.maximum.accumulate(np.where(is_first, np.arange(len(order)), 0))
    ordinal = np.empty(len(order), np.int64)
    ordinal[order] = np.arange(len(order)) - first
    return np.where(is_call, ordinal, -1)


def _frames_around(timeline: Timeline, rows: Int64) -> Int64:
    """The workload frame that contains each slice, on its device and of its runtime instance: rows of `frames`, -1 = none."""
    slices, frames = timeline.slices, timeline.frames
    if not len(frames) or not len(rows):
        return np.full(len(rows), -1, np.int64)
    devices = {track.device: place for place, track in enumerate(timeline.tracks)}
    device = np.array([devices[track.device] for track in timeline.tracks], np.int64)
    instances = int(max(frames.names.instance.max(), slices.names.instance[rows].max())) + 1
    lane = device[frames.track] * instances + frames.names.instance
    order = order_by(lane, frames.start_ns, -frames.duration_ns)
    lane, start_ns = lane[order], frames.start_ns[order]
    end_ns = start_ns + frames.duration_ns[order]
    wanted = device[slices.track[rows]] * instances + slices.names.instance[rows]
    from_ns, until_ns = slices.start_ns[rows], slices.start_ns[rows] + slices.duration_ns[rows]
    found = enclosing(lane, start_ns, end_ns, nest(lane, start_ns, end_ns), wanted, from_ns, until_ns)
    return np.append(order, -1)[found]
