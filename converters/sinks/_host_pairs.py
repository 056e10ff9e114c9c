"""Slices of a host trace that are told by their begin and their end apart: on a thread ("B", "E"), or under an id ("b", "e")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding
from rblnpb.row_order import order_by

from ..timeline import Bool, HostTrace, Int32, Int64
from ._changes import changes
from ._host_slices import has_phase, threads

__all__ = ["HostPairs", "pair_findings", "pair_up", "pairs_by_id", "pairs_on_threads"]


@dataclass(frozen=True, eq=False)
class HostPairs:
    """Slices of which begin and end are events of their own; p of them.

    Attributes:
        begin, end: int64[p]; rows of `HostTrace.events`; an end of -1: it never came.
        loose: int64[k]; rows of ends without a begin.
        rows: int64[m]; all events that stand on the same rows of a viewer, those that are neither among them, ascending.
        group: int32[m]; of each of these what its events have in common: a thread, see `threads`; or an id, from 0 on.
    """

    begin: Int64
    end: Int64
    loose: Int64
    rows: Int64
    group: Int32


def pair_findings(*pairs: HostPairs) -> tuple[Finding, ...]:
    """How many slices never ended, or never began."""
    endless, loose = (sum(counts) for counts in zip(*((int((one.end < 0).sum()), len(one.loose)) for one in pairs), strict=True))
    return changes({"host-slices-without-end": endless, "host-ends-without-begin": loose})


def pairs_on_threads(host: HostTrace) -> HostPairs:
    """Those of phases B and E: an end ends what began last on its thread."""
    rows = _timed(host, "BE")
    return _pairs(host, rows, threads(host)[host.events.track[rows]], "B", "E")


def pairs_by_id(host: HostTrace) -> HostPairs:
    """Those of phases b and e, or S and F, with the instants n, T and p among them: of one process, category and id."""
    events = host.events
    rows = _timed(host, "benSFTp")
    process = {pid: number for number, pid in enumerate(dict.fromkeys(track.pid for track in host.tracks))}
    pid = np.array([process[track.pid] for track in host.tracks], np.int32)[events.track[rows]]
    is_old = has_phase(events.phase[rows], "SFTp")
    keys = np.stack((pid, events.category[rows], events.flow_id[rows], is_old))
    group = np.unique(keys, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return _pairs(host, rows, group, "bS", "eF")


def _timed(host: HostTrace, phases: str) -> Int64:
    events = host.events
    return np.flatnonzero(has_phase(events.phase, phases) & (events.start_ns != ABSENT)).astype(np.int64)


def _pairs(host: HostTrace, rows: Int64, group: Int32, begins: str, ends: str) -> HostPairs:
    phase, start = host.events.phase[rows], host.events.start_ns[rows]
    is_begin, is_end = (has_phase(phase, phases) for phases in (begins, ends))
    either = np.flatnonzero(is_begin | is_end)
    # Viewers take events in order of time, and those of one time as the file has them.
    either = either[order_by(group[either], start[either])]
    begin, end, loose = pair_up(group[either], is_begin[either])
    own = rows[either]
    ended = np.where(end < 0, -1, own[end]) if len(own) else end
    return HostPairs(begin=own[begin], end=ended, loose=own[loose], rows=rows, group=group)


def pair_up(group: Int32, opens: Bool) -> tuple[Int64, Int64, Int64]:
    """Pairs of brackets: each that closes goes with the last one of its group that is still open.

    Args:
        group: int32[n]; ascending.
        opens: bool[n]; whether each opens, or closes; in order within its group.

    Returns:
        Places that open, and for each the place that closes it, -1 = none; places that close nothing.

    >>> [column.tolist() for column in pair_up(np.zeros(5, np.int32), np.array([True, True, False, False, False]))]
    [[0, 1], [3, 2], [4]]
    """
    count = len(group)
    if not count:
        nothing = np.empty(0, np.int64)
        return nothing, nothing, nothing
    # The next group begins deeper than any could go, so that one running minimum does for all.
    is_first = np.diff(group, prepend=group[0] - 1) != 0
    ordinal = np.cumsum(is_first) - 1
    ground = -ordinal * np.int64(2 * count + 1)
    depth = np.cumsum(np.where(opens, 1, -1))
    before = np.concatenate(([0], depth[:-1]))
    depth = depth - before[is_first][ordinal] + ground
    lowest = np.minimum.accumulate(np.minimum(depth, ground))
    is_loose = ~opens & (depth < np.minimum(np.concatenate((ground[:1], lowest[:-1])), ground))
    level = depth - lowest + ~opens
    places = np.flatnonzero(~is_loose)
    # On one level a begin and its end follow each other.
    order = places[order_by(group[places], level[places])]
    is_begin = opens[order]
    follows = np.zeros(len(order), np.bool_)
    follows[:-1] = is_begin[:-1] & ~is_begin[1:]
    end = np.where(follows, np.append(order[1:], -1), -1)[is_begin]
    begin = order[is_begin]
    back = np.argsort(begin)
    return begin[back], end[back], np.flatnonzero(is_loose)
