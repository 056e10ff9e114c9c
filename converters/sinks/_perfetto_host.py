"""What becomes of the events of a host trace in a Perfetto trace: decided on columns alone, before a packet is written.

A slice has a packet for its begin and one for its end. The begins are written as the document has them, since they carry args; the
ends of complete slices, which are known from columns, are written before all begins, as `_perfetto_slices` does it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding
from rblnpb.lanes import lanes, one_line
from rblnpb.perfetto_wire import EVENT_BEGIN, EVENT_COUNTER, EVENT_END, EVENT_INSTANT

from ..timeline import Bool, HostTrace, Int32, Int64, UInt8
from ._changes import changes
from ._host_pairs import HostPairs, pair_findings, pairs_by_id, pairs_on_threads
from ._host_slices import HostSlices, complete_slices, flow_rows, has_phase, threads
from ._perfetto_host_tracks import HostTracks, add_host_tracks
from ._perfetto_tracks import TrackBook

__all__ = ["HostSide", "plan_host_side"]


@dataclass(frozen=True, eq=False)
class HostSide:
    """How the host's events go into the trace.

    Attributes:
        kind: uint8[n]; what packet each event becomes, one of EVENT_…; 0 = none of its own.
        track: int32[n]; number of its track; 0 = none, or a curve's, which come when they are met.
        is_empty: bool[n]; which are complete slices that end as they begin.
        turn: int64[n]; each is written when the event of this row is read: its own, or a later one.
        rank: int64[n]; place of each in the order in which they are written.
        slices: Slices of threads, by the row of their begin, ascending.
        end_row: int64[slices]; row of the event with whose packet each ends: for complete slices its own.
        closing: int64[k]; rows of complete slices whose ends are written before all else, the inner ones first.
        endless: int64[m]; rows of begins whose slices end with the trace.
        last_ns: When the trace ends; trace clock.
        tracks: Tracks of processes and threads.
        findings: Every change, counted.
    """

    kind: UInt8
    track: Int32
    is_empty: Bool
    turn: Int64
    rank: Int64
    slices: HostSlices
    end_row: Int64
    closing: Int64
    endless: Int64
    last_ns: int
    tracks: HostTracks
    findings: tuple[Finding, ...]


def plan_host_side(host: HostTrace, book: TrackBook) -> HostSide:
    """Decide about every event of the trace.

    Args:
        host: The trace.
        book: Where its tracks are introduced.
    """
    events = host.events
    is_timed = events.start_ns != ABSENT
    complete, pairs, by_id = complete_slices(host), pairs_on_threads(host), pairs_by_id(host)
    is_instant = has_phase(events.phase, "iIR") & is_timed
    is_sample = has_phase(events.phase, "C") & is_timed
    kind = np.zeros(len(events), np.uint8)
    kind[complete.rows] = EVENT_BEGIN
    kind[is_instant] = EVENT_INSTANT
    kind[is_sample] = EVENT_COUNTER
    kind[by_id.rows] = EVENT_INSTANT
    for paired in (pairs, by_id):
        kind[paired.begin] = EVENT_BEGIN
        kind[paired.end[paired.end >= 0]] = EVENT_END
        kind[paired.loose] = 0
    track, tracks, moved = _tracks(host, complete, pairs, kind, book)
    _add_id_tracks(host, by_id, tracks, track, book)
    turn, rank = _turns(track, complete)
    last_ns = max(int(complete.end_ns.max(initial=ABSENT)), int(events.start_ns[kind > 0].max(initial=ABSENT)))
    slices, end_row = _thread_slices(host, complete, pairs, last_ns)
    is_empty = np.zeros(len(events), np.bool_)
    is_empty[complete.rows] = complete.end_ns == complete.start_ns
    return HostSide(
        kind=kind,
        track=track,
        is_empty=is_empty,
        turn=turn,
        rank=rank,
        slices=slices,
        end_row=end_row,
        closing=_inner_first(complete, rank),
        endless=np.concatenate([paired.begin[paired.end < 0] for paired in (pairs, by_id)]),
        last_ns=last_ns,
        tracks=tracks,
        findings=(*tracks.findings, *pair_findings(pairs, by_id), *_findings(host, kind, complete, moved)),
    )


def _tracks(host: HostTrace, complete: HostSlices, pairs: HostPairs, kind: UInt8, book: TrackBook) -> tuple[Int32, HostTracks, int]:
    """Track of every event that stands on a thread, the threads, and how many slices are not on the first row of theirs."""
    of_track = threads(host)
    thread = of_track[host.events.track] if len(of_track) else host.events.track
    lane = lanes(complete.thread, complete.start_ns, complete.end_ns - complete.start_ns)
    row_count = np.zeros(len(of_track), np.int64)
    row_count[thread[kind > 0]] = 1
    np.maximum.at(row_count, complete.thread, lane + 1)
    # A viewer that closes what began last must not find both kinds of slices on one row.
    is_mixed = np.intersect1d(pairs.group, complete.thread)
    pair_lane = np.zeros(len(of_track), np.int32)
    pair_lane[is_mixed] = row_count[is_mixed]
    row_count[is_mixed] += 1
    tracks = add_host_tracks(host, of_track, row_count, book)
    event_lane = np.zeros(len(kind), np.int32)
    event_lane[complete.rows] = lane
    event_lane[pairs.rows] = pair_lane[pairs.group]
    if not len(of_track):
        return event_lane, tracks, 0
    track = np.where(event_lane > 0, tracks.further[thread] + event_lane - 1, tracks.threads[thread]).astype(np.int32)
    moved = int((lane > 0).sum()) + int((pair_lane[pairs.group[np.isin(pairs.rows, pairs.begin)]] > 0).sum())
    return np.where((kind > 0) & (kind != EVENT_COUNTER), track, 0).astype(np.int32), tracks, moved


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


def _turns(track: Int32, complete: HostSlices) -> tuple[Int64, Int64]:
    """When each event is written: as the file has it, but slices that begin together on one row the outer one first."""
    turn = np.arange(len(track), dtype=np.int64)
    is_empty = complete.end_ns == complete.start_ns
    own = complete.take(~is_empty) if is_empty.any() else complete
    line = one_line(track[own.rows], own.start_ns)
    order = np.argsort(line, kind="stable")
    line = line[order]
    is_same = line[1:] == line[:-1]
    end_ns = own.end_ns[order]
    if not (is_same & (end_ns[1:] > end_ns[:-1])).any():
        return turn, turn
    rows = own.rows[order]
    group = np.cumsum(np.concatenate(([0], ~is_same)))
    wrong = np.isin(group, group[1:][is_same & (np.diff(end_ns) > 0)])
    last = np.zeros(int(group[-1]) + 1, np.int64)
    np.maximum.at(last, group[wrong], rows[wrong])
    turn[rows[wrong]] = last[group[wrong]]
    # The event whose turn it is may be an inner one.
    length = np.zeros(len(track), np.int64)
    length[rows[wrong]] = end_ns[wrong] - own.start_ns[order][wrong]
    rank = np.empty(len(track), np.int64)
    rank[np.lexsort((-length, turn))] = np.arange(len(track))
    return turn, rank


def _inner_first(complete: HostSlices, rank: Int64) -> Int64:
    """Rows of the slices that are not empty; one that begins within another comes before it."""
    is_empty = complete.end_ns == complete.start_ns
    own = complete.take(~is_empty) if is_empty.any() else complete
    if (own.start_ns[1:] >= own.start_ns[:-1]).all() and (rank[1:] >= rank[:-1]).all():
        return own.rows[::-1]
    return own.rows[np.lexsort((rank[own.rows], own.start_ns))[::-1]]


def _thread_slices(host: HostTrace, complete: HostSlices, pairs: HostPairs, last_ns: int) -> tuple[HostSlices, Int64]:
    """All slices of threads, and with which event each ends."""
    if not len(pairs.begin):
        return complete, complete.rows
    events = host.events
    end_ns = np.where(pairs.end < 0, last_ns, events.start_ns[pairs.end])
    begin_track = events.track[pairs.begin]
    apart = HostSlices(pairs.begin, begin_track, threads(host)[begin_track], events.start_ns[pairs.begin], end_ns)
    names = ("rows", "track", "thread", "start_ns", "end_ns")
    slices = HostSlices(*(np.concatenate((getattr(complete, name), getattr(apart, name))) for name in names))
    order = np.argsort(slices.rows)
    return slices.take(order), np.concatenate((complete.rows, pairs.end))[order]


def _findings(host: HostTrace, kind: UInt8, complete: HostSlices, moved: int) -> tuple[Finding, ...]:
    events = host.events
    is_phaseless = events.phase == 0
    is_metadata = events.phase == ord("M")
    is_timeless = ~is_phaseless & ~is_metadata & (events.start_ns == ABSENT)
    is_paired = has_phase(events.phase, "BEbeSF")
    is_flow = np.zeros(len(events), np.bool_)
    is_flow[flow_rows(host)] = True
    is_left = (kind == 0) & ~is_phaseless & ~is_timeless & ~is_metadata & ~is_flow & ~is_paired
    lengthless = int((events.duration_ns[complete.rows] < 0).sum())
    cut = int((complete.end_ns - complete.start_ns < events.duration_ns[complete.rows]).sum())
    return changes(
        {
            "host-slices-moved": moved,
            "host-slices-without-length": lengthless,
            "host-slices-cut": cut,
            "host-events-without-time": int(is_timeless.sum()),
            "host-events-without-phase": int(is_phaseless.sum()),
            "host-events-not-shown": int(is_left.sum()),
        }
    )
