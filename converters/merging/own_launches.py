"""Launches and runtime slices of a trace that we wrote ourselves: what a profile has as records is read back from its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.strings import StringTable

from ..dialect import DeviceRows, frame_mask, runtime_rows, runtime_tids, submission_mask
from ..timeline import AlignedLaunches, Bool, HostTrace, HostTrack, Int64, RuntimeSlices
from .correlate import id_number, native_tracks
from .launch_scopes import identified, launch_in_process, launch_in_scope, linked_ops

__all__ = ["OwnLaunches", "own_launches", "runtime_slices", "told_by_frames"]


@dataclass(frozen=True, eq=False)
class OwnLaunches:
    """What a runtime of ours did, and its calls that stand for launches; columns have a row for each of m launches.

    Attributes:
        rows: int64[m]; rows of `HostTrace.events`, ascending.
        track: int64[m]; row of `HostTrace.tracks` of the submitting thread; -1 = not in the trace.
        program: int64[m]; row of `HostTrace.events` that is called as the program: the frame of the launch, else the call itself.
        launch: int64[n]; which of these each device row of the trace names; -1 = none.
        is_frame: bool[n]; which device rows are frames; none where no launch is recorded.
        calls: int64[k]; rows of `HostTrace.events`, ascending: all that the runtime did.
        native: int64[tracks, 2]; process and thread that each row of `HostTrace.tracks` with calls shows; -1 = no number.
    """

    rows: Int64
    track: Int64
    program: Int64
    launch: Int64
    is_frame: Bool
    calls: Int64
    native: Int64


def own_launches(host: HostTrace, found: DeviceRows, ops: Int64) -> OwnLaunches:
    """The launches that calls of a runtime of ours stand for; none in the traces of others.

    Args:
        host: The trace.
        found: Its device side.
        ops: int64; rows of its operators.
    """
    calls = runtime_rows(host)
    rows = calls[submission_mask(host, calls)]
    if not len(rows):
        none, is_frame = np.full(len(found), -1, np.int64), np.zeros(len(found), np.bool_)
        return OwnLaunches(rows, rows, rows, none, is_frame, calls, _native(host, calls, {}))
    launch_id = host.events.launch_id
    launch = launch_in_scope(identified(host, rows, launch_id[rows]), identified(host, found.rows, launch_id[found.rows]))
    native = _native(host, calls, _threads_of_ops(host, rows, linked_ops(host, found.rows, ops), launch))
    is_frame = frame_mask(host, found.rows)
    program, frames = rows.copy(), np.flatnonzero(is_frame & (launch >= 0))[::-1]
    # Of several frames the first one is left.
    program[launch[frames]] = found.rows[frames]
    track = native_tracks(host, *native[host.events.track[rows]].T)
    return OwnLaunches(rows, track, program, launch, is_frame, calls, native)


def runtime_slices(host: HostTrace, own: OwnLaunches, first: int, strings: StringTable) -> RuntimeSlices:
    """What a runtime of ours did on the host.

    Args:
        host: The trace.
        own: Its calls and launches.
        first: Where the first of these launches stands among those of the timeline.
        strings: Learns the names.
    """
    events, rows = host.events, own.calls
    names, of_row = np.unique(events.name[rows], return_inverse=True)
    interned = np.array([strings.intern(host.strings[name]) for name in names.tolist()], np.int32)
    launches, records = (identified(host, some, events.launch_id[some]) for some in (own.rows, rows))
    launch = launch_in_process(launches, records)
    pid, tid = own.native[events.track[rows]].T
    return RuntimeSlices(
        start_ns=events.start_ns[rows],
        duration_ns=events.duration_ns[rows],
        name=interned[of_row] if len(rows) else interned,
        pid=pid,
        tid=tid,
        launch=np.where(launch >= 0, launch + first, -1),
        size_bytes=np.full(len(rows), ABSENT, np.int64),
        event=rows,
    )


def told_by_frames(
    host: HostTrace, found: DeviceRows, launch: Int64, launches: AlignedLaunches, strings: StringTable
) -> AlignedLaunches:
    """Launches that an arrow to a frame of ours stands for, no call having been recorded: with the id and the program of the frame.

    Args:
        host: The trace.
        found: Its device side.
        launch: int64[n]; row of `launches` of each device row; -1 = none, which becomes that of the frame with the row's id.
        launches: As the arrows tell them.
        strings: Learns the programs.
    """
    events, ids = host.events, host.events.launch_id[found.rows]
    frames = np.flatnonzero(frame_mask(host, found.rows) & (launch >= 0) & (ids != 0))
    frames = frames[launches.launch_id[launch[frames]] == 0]
    if not len(frames):
        return launches
    left = np.flatnonzero((launch < 0) & (ids != 0))
    of_frames, of_left = (identified(host, found.rows[some], ids[some]) for some in (frames, left))
    launch[left] = np.append(launch[frames], -1)[launch_in_scope(of_frames, of_left)]
    launch_id, name = launches.launch_id.copy(), launches.name.copy()
    launch_id[launch[frames]] = ids[frames]
    names, of_frame = np.unique(events.name[found.rows[frames]], return_inverse=True)
    name[launch[frames]] = np.array([strings.intern(host.strings[row]) for row in names.tolist()], np.int32)[of_frame]
    return replace(launches, launch_id=launch_id, name=name)


def _threads_of_ops(host: HostTrace, rows: Int64, op: Int64, launch: Int64) -> dict[int, HostTrack]:
    """The thread of an op that work submitted on each row of `HostTrace.tracks` names: a name may have been taken from the row."""
    events = host.events
    known = np.flatnonzero((launch >= 0) & (op >= 0))
    tracks, first = np.unique(events.track[rows[launch[known]]], return_index=True)
    return {row: host.tracks[at] for row, at in zip(tracks.tolist(), events.track[op[known[first]]].tolist(), strict=True)}


def _native(host: HostTrace, calls: Int64, of_ops: dict[int, HostTrack]) -> Int64:
    """As of `OwnLaunches`: what the row is called, else the thread of its ops, else the ids of the row itself."""
    native, tids = np.full((len(host.tracks), 2), -1, np.int64), runtime_tids(host)
    for row in np.unique(host.events.track[calls]).tolist():
        shown = host.tracks[row] if row in tids else of_ops.get(row, host.tracks[row])
        numbers = id_number(shown.pid), tids.get(row, id_number(shown.tid))
        native[row] = [-1 if one is None or abs(one) >= 1 << 63 else one for one in numbers]
    return native
