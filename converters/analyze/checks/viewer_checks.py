"""Processes, threads and their names as viewers hold them: numbers that do not fit, rows that become one, names said twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rblnpb.errors import Severity
from rblnpb.wording import counted

from ...results import EventDetails, PlacedFinding
from ...timeline import HostTrack, Id
from .trace_rows import TraceRows, grouped

__all__ = ["seen_track", "viewer_findings"]

_TOO_LARGE: Final = 1 << 32
_LABELS: Final = ("process_name", "thread_name", "process_labels", "process_sort_index", "thread_sort_index")


def viewer_findings(rows: TraceRows, details: EventDetails) -> Iterator[PlacedFinding]:
    """Findings about the rows of a trace."""
    yield from _merged(rows)
    yield from _named_twice(rows, details)


def seen_track(track: HostTrack) -> tuple[Id, Id]:
    """A row under the ids that Perfetto knows it by: numbers of 32 bits without a sign, anything else is 0, as is a missing one.

    Thread 0 is the main thread of its process.

    >>> seen_track(HostTrack(7, 2**32)), seen_track(HostTrack(-1, "x")), seen_track(HostTrack(None, 3))
    ((7, 7), (0, 'x'), (0, 3))
    """
    pid, tid = map(_seen, (track.pid, track.tid))
    return pid, pid if tid == 0 else tid


def _seen(number: Id) -> Id:
    return number if isinstance(number, str) or (number is not None and 0 <= number < _TOO_LARGE) else 0


def _merged(rows: TraceRows) -> Iterator[PlacedFinding]:
    host, track = rows.host, rows.host.events.track
    timed = track[rows.timed]
    used = np.flatnonzero(np.bincount(timed, minlength=len(host.tracks)))
    owners: dict[tuple[Id, Id], int] = {}
    for number in used.tolist():
        owners.setdefault(seen_track(host.tracks[number]), number)
    is_other = np.zeros(len(host.tracks), np.bool_)
    is_other[used] = [owners[seen_track(host.tracks[number])] != number for number in used.tolist()]
    if (found := rows.timed[is_other[timed]]).size:
        merged = counted(int(is_other.sum()), "row of the trace becomes", "rows of the trace become")
        message = (
            f"{merged} one with another in Perfetto, which takes process and thread numbers beyond 32 bits, negative and missing "
            f"ones for 0; 'rblnpb convert' gives them others"
        )
        yield rows.at(Severity.WARNING, "merged-rows", message, found)
    wild = [number for number in used.tolist() if any(_is_wild(one) for one in (host.tracks[number].pid, host.tracks[number].tid))]
    is_wild = np.isin(np.arange(len(host.tracks)), wild) & ~is_other
    if (found := rows.timed[is_wild[timed]]).size:
        message = (
            f"{counted(int(is_wild.sum()), 'row of the trace has', 'rows of the trace have')} a process or thread number that is "
            f"negative or beyond 32 bits: Perfetto takes it for 0"
        )
        yield rows.at(Severity.INFO, "wild-ids", message, found)


def _is_wild(number: Id) -> bool:
    return isinstance(number, int) and not 0 <= number < _TOO_LARGE


def _named_twice(rows: TraceRows, details: EventDetails) -> Iterator[PlacedFinding]:
    """What is said of one row in two ways: viewers show one of them."""
    host, events = rows.host, rows.host.events
    is_label = np.zeros(len(host.strings), np.bool_)
    is_label[[row for row, text in host.used(events.name[details.label_rows]) if text in _LABELS]] = True
    own = is_label[events.name[details.label_rows]]
    label, of_row = details.label[own], details.label_rows[own]
    if not len(of_row):
        return
    is_thread = np.array([text.startswith("thread") for text in host.strings], np.bool_)[events.name[of_row]]
    pids: dict[Id, int] = {}
    pid = np.array([pids.setdefault(track.pid, len(pids)) for track in host.tracks], np.int64)
    track = events.track[of_row].astype(np.int64)
    about = np.where(is_thread, len(host.tracks) + track, pid[track])
    group, _ = grouped(events.name[of_row], about)
    pairs, first = np.unique(np.stack((group, label)), axis=1, return_index=True)
    others = first[1:][pairs[0, 1:] == pairs[0, :-1]]
    if len(others):
        saying = counted(len(others), "name or label is", "names or labels are")
        message = f"{saying} said again in other words: viewers show one of them"
        yield rows.at(Severity.INFO, "repeated-metadata", message, of_row[np.sort(others)])
