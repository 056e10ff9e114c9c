"""What becomes of the events of a host trace in a Perfetto trace: decided on columns alone, before a packet is written.

A slice has a packet for its begin and one for its end. The begins are written as the document has them, since they carry args; the
ends of complete slices, which are known from columns, are written before all begins, as `_perfetto_slices` does it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT
from rblnpb.errors import Finding
from rblnpb.lanes import lanes
from rblnpb.perfetto_wire import EVENT_BEGIN, EVENT_COUNTER, EVENT_END, EVENT_INSTANT

from ..timeline import HostTrace, Int32, Int64, UInt8
from ._changes import changes
from ._host_pairs import HostPairs, pair_findings, pairs_by_id, pairs_on_threads
from ._host_slices import HostSlices, end_times, has_phase, threads
from ._perfetto_host_order import closing_order, writing_order
from ._perfetto_host_tracks import HostTracks, add_host_tracks
from ._perfetto_tracks import TrackBook

__all__ = ["HostSide", "first_time", "plan_host_side", "thread_slices", "used_rows"]


@dataclass(frozen=True, eq=False)
class HostSide:
    """How the host's events go into the trace.

    Attributes:
        kind: uint8[n]; what packet each event becomes, one of EVENT_…; 0 = none of its own.
        track: int32[n]; number of its track; 0 = none, or a curve's, which come when they are met.
        turn: int64[n]; each is written when the event of this row is read: its own, or a later one. None = each at its own.
        rank: int64[n]; place of each in the order in which they are written; None = as the document has them.
        closing: int32[k]; rows of complete slices that are not empty, the last of which ends first; None = in their order.
        pairs: Slices that are told by their begin and their end apart, on threads.
        endless: int64[m]; rows of begins whose slices end with the trace.
        last_ns: When the trace ends; trace clock.
        tracks: Tracks of processes and threads.
        findings: Every change, counted.
    """

    kind: UInt8
    track: Int32
    turn: Int64 | None
    rank: Int64 | None
    closing: Int32 | None
    pairs: HostPairs
    endless: Int64
    last_ns: int
    tracks: HostTracks
    findings: tuple[Finding, ...]

    def ranks(self, rows: Int64) -> Int64:
        """Places of some events in the order in which they are written."""
        return rows if self.rank is None else self.rank[rows]


def plan_host_side(host: HostTrace, book: TrackBook) -> HostSide:
    """Decide about every event of the trace.

    Args:
        host: The trace.
        book: Where its tracks are introduced.
    """
    events = host.events
    pairs, by_id = pairs_on_threads(host), pairs_by_id(host)
    kind = _kinds(host, pairs, by_id)
    track, tracks, moved = _tracks(host, pairs, kind, book)
    _add_id_tracks(host, by_id, tracks, track, book)
    turn, rank = writing_order(host, track)
    return HostSide(
        kind=kind,
        track=track,
        turn=turn,
        rank=rank,
        closing=closing_order(host, track, rank),
        pairs=pairs,
        endless=np.concatenate([paired.begin[paired.end < 0] for paired in (pairs, by_id)]),
        last_ns=max((_last(host, kind, rows) for rows in row_blocks(len(events))), default=int(ABSENT)),
        tracks=tracks,
        findings=(*tracks.findings, *pair_findings(pairs, by_id), *_findings(host, kind, moved)),
    )


def _kinds(host: HostTrace, pairs: HostPairs, by_id: HostPairs) -> UInt8:
    events = host.events
    of_phase = np.zeros(256, np.uint8)
    of_phase[list(b"iIR")], of_phase[ord("C")], of_phase[ord("X")] = EVENT_INSTANT, EVENT_COUNTER, EVENT_BEGIN
    kind: UInt8 = of_phase[events.phase]
    kind[events.start_ns == ABSENT] = 0
    kind[by_id.rows] = EVENT_INSTANT
    for paired in (pairs, by_id):
        kind[paired.begin] = EVENT_BEGIN
        kind[paired.end[paired.end >= 0]] = EVENT_END
        kind[paired.loose] = 0
    return kind


def _last(host: HostTrace, kind: UInt8, rows: slice) -> int:
    """The last moment of some events."""
    shown = np.flatnonzero(kind[rows] > 0) + rows.start
    return int(
        np.where(host.events.phase[shown] == ord("X"), end_times(host, shown), host.events.start_ns[shown]).max(initial=ABSENT)
    )


def _tracks(host: HostTrace, pairs: HostPairs, kind: UInt8, book: TrackBook) -> tuple[Int32, HostTracks, int]:
    """Track of every event that stands on a thread, the threads, and how many slices are not on the first row of theirs."""
    events, of_track = host.events, threads(host)
    is_complete = (events.phase == ord("X")) & (kind > 0)
    is_plain = bool((of_track == np.arange(len(of_track))).all())
    thread = events.track if is_plain or not len(of_track) else of_track[events.track]
    lane = lanes(thread, events.start_ns, _lengths(host), is_complete)
    row_count = np.zeros(len(of_track), np.int64)
    has_slices = np.zeros(len(of_track), np.bool_)
    for rows in row_blocks(len(kind)):
        row_count[thread[rows][kind[rows] > 0]] = 1
        has_slices[thread[rows][is_complete[rows]]] = True
    further = np.flatnonzero(lane)
    np.maximum.at(row_count, thread[further], lane[further] + 1)
    # A viewer that closes what began last must not find both kinds of slices on one row.
    is_mixed = np.unique(pairs.group[has_slices[pairs.group]])
    pair_lane = np.zeros(len(of_track), np.int32)
    pair_lane[is_mixed] = row_count[is_mixed]
    row_count[is_mixed] += 1
    tracks = add_host_tracks(host, of_track, row_count, book)
    lane[pairs.rows] = pair_lane[pairs.group]
    if not len(of_track):
        return lane, tracks, 0
    for rows in row_blocks(len(kind)):
        of, on = thread[rows], lane[rows]
        is_shown = (kind[rows] > 0) & (kind[rows] != EVENT_COUNTER)
        lane[rows] = np.where(is_shown, np.where(on > 0, tracks.further[of] + on - 1, tracks.threads[of]), 0)
    moved = len(further) + int((pair_lane[pairs.group[np.isin(pairs.rows, pairs.begin)]] > 0).sum())
    return lane, tracks, moved


def _lengths(host: HostTrace) -> Int64:
    """int64[n]; durations that end before time does; those of slices without one may be negative."""
    events = host.events
    if not len(events) or int(events.start_ns.max()) + int(events.duration_ns.max()) <= np.iinfo(np.int64).max:
        return events.duration_ns
    rows = np.flatnonzero((events.phase == ord("X")) & (events.start_ns != ABSENT))
    lengths = np.zeros(len(events), np.int64)
    lengths[rows] = end_times(host, rows) - events.start_ns[rows]
    return lengths


def _add_id_tracks(host: HostTrace, by_id: HostPairs, tracks: HostTracks, track: Int32, book: TrackBook) -> None:
    """A track for each id of which something is shown, below its process; a viewer shows those of one name together."""
    is_shown = ~np.isin(by_id.rows, by_id.loose)
    rows, group_of = by_id.rows[is_shown], by_id.group[is_shown]
    groups, first = np.unique(group_of, return_index=True)
    numbers = np.zeros(int(groups.max(initial=-1)) + 1, np.int32)
    for group, row in zip(groups.tolist(), rows[first].tolist(), strict=True):
        process = tracks.processes[host.tracks[host.events.track[row]].pid]
        numbers[group] = book.asynchronous(process, host.strings[host.events.name[row]] or "[No name]")
    track[rows] = numbers[group_of]


def thread_slices(host: HostTrace, side: HostSide, rows: Int64) -> tuple[HostSlices, Int64]:
    """Slices of threads, by the row of their begin, ascending, and the row of the event with whose packet each ends.

    Args:
        host: The trace.
        side: What becomes of it.
        rows: int64[k], ascending; which of the complete slices; all others are among them.
    """
    events, pairs = host.events, side.pairs
    track = events.track[rows]
    complete = HostSlices(rows, track, threads(host)[track] if len(track) else track, events.start_ns[rows], end_times(host, rows))
    if not len(pairs.begin):
        return complete, complete.rows
    end_ns = np.where(pairs.end < 0, side.last_ns, events.start_ns[pairs.end])
    begin_track = events.track[pairs.begin]
    apart = HostSlices(pairs.begin, begin_track, threads(host)[begin_track], events.start_ns[pairs.begin], end_ns)
    names = ("rows", "track", "thread", "start_ns", "end_ns")
    slices = HostSlices(*(np.concatenate((getattr(complete, name), getattr(apart, name))) for name in names))
    order = np.argsort(slices.rows)
    return slices.take(order), np.concatenate((complete.rows, pairs.end))[order]


def used_rows(column: Int32, kind: UInt8, count: int) -> Int64:
    """Rows of a table of so many texts that a column of events which become packets refers to, ascending."""
    is_used = np.zeros(count, np.bool_)
    for rows in row_blocks(len(kind)):
        is_used[column[rows][kind[rows] > 0]] = True
    return np.flatnonzero(is_used)


def first_time(host: HostTrace, kind: UInt8) -> int | None:
    """The least time of the events that become packets; None where there are none."""
    times = (host.events.start_ns[rows][kind[rows] > 0] for rows in row_blocks(len(kind)))
    return min((int(some.min()) for some in times if len(some)), default=None)


def _findings(host: HostTrace, kind: UInt8, moved: int) -> tuple[Finding, ...]:
    codes = (
        "host-slices-without-length",
        "host-slices-cut",
        "host-events-without-time",
        "host-events-without-phase",
        "host-events-not-shown",
    )
    counts = np.zeros(len(codes), np.int64)
    for rows in row_blocks(len(kind)):
        counts += _counts(host, kind, rows)
    return changes({"host-slices-moved": moved, **dict(zip(codes, counts.tolist(), strict=True))})


def _counts(host: HostTrace, kind: UInt8, rows: slice) -> list[int]:
    """Of some events, how many slices have no length and how many are cut; how many events have no time, no phase and no place."""
    events = host.events
    phase, is_timeless = events.phase[rows], events.start_ns[rows] == ABSENT
    complete = np.flatnonzero((phase == ord("X")) & ~is_timeless) + rows.start
    length_ns = events.duration_ns[complete]
    is_cut = end_times(host, complete) - events.start_ns[complete] < length_ns
    is_told = (phase != 0) & (phase != ord("M"))
    is_left = (kind[rows] == 0) & is_told & ~is_timeless & ~has_phase(phase, "stfBEbeSF")
    counts = (length_ns < 0, is_cut, is_told & is_timeless, phase == 0, is_left)
    return [int(one.sum()) for one in counts]
