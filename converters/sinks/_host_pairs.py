"""Slices of a host trace that are told by their begin and their end apart: on a thread ("B", "E"), or under an id ("b", "e")."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding
from rblnpb.row_order import order_by

from ..nesting import partners
from ..timeline import HostTrace, Int32, Int64
from ._changes import changes
from ._host_slices import has_phase, threads

__all__ = ["HostPairs", "pair_findings", "pairs_by_id", "pairs_on_threads"]


@dataclass(frozen=True, eq=False)
class HostPairs:
    """Slices of which begin and end are events of their own; p of them.

    Attributes:
        begin, end: int64[p]; rows of `HostTrace.events`, in order of group and time; an end of -1: it never came.
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
    partner = partners(is_begin[either], start[either], group[either])
    end = np.full(len(rows), -1, np.int64)
    end[either] = np.append(rows[either], -1)[partner]
    # What never ends is ended in this order.
    begin = np.flatnonzero(is_begin)
    begin = begin[order_by(group[begin], start[begin])]
    return HostPairs(begin=rows[begin], end=end[begin], loose=rows[is_end & (end < 0)], rows=rows, group=group)
