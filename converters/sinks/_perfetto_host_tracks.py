"""Processes and threads of a host trace as tracks of Perfetto's."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rblnpb.errors import Finding

from ..timeline import HostTrace, HostTrack, Id, Int32, Int64
from ._changes import changes
from ._perfetto_tracks import TrackBook, fits

__all__ = ["HostTracks", "add_host_tracks"]


@dataclass
class HostTracks:
    """Tracks of a host trace; those of curves and of slices under an id come when they are met.

    Attributes:
        processes: Track of each process, by its id in the file.
        threads: int32[threads]; for each row of `HostTrace.tracks` that stands for a thread the track; 0 = it is not shown.
        further: int32[threads]; the first of the further rows of the thread, which the others follow.
        findings: How many ids Perfetto cannot hold.
    """

    processes: dict[Id, int]
    threads: Int32
    further: Int32
    findings: tuple[Finding, ...] = field(default=())


def add_host_tracks(host: HostTrace, thread: Int32, row_count: Int64, book: TrackBook) -> HostTracks:
    """Introduce processes and threads: processes in the order of the file, threads in that of their ids, as Kineto sorts them.

    Args:
        host: The trace.
        thread: int32[tracks]; for each of its tracks the one that stands for its thread.
        row_count: int64[tracks]; how many rows the thread that a track stands for needs; 0 = it is not shown.
        book: Where tracks are introduced.
    """
    shown, odd = HostTracks({}, *np.zeros((2, len(row_count)), np.int32)), 0
    members: dict[str, list[int]] = {}
    for number, track in enumerate(host.tracks):
        members.setdefault(str(track.pid), []).append(number)
    for numbers in members.values():
        stand = sorted({int(thread[number]) for number in numbers if row_count[thread[number]]}, key=lambda row: _order(host, row))
        if not stand:
            continue
        pids = list(dict.fromkeys(host.tracks[number].pid for number in numbers))
        pid = _number(pids[0])
        name = next((host.process_names[one] for one in pids if one in host.process_names), "")
        labels = [host.process_labels[one] for one in pids if one in host.process_labels]
        odd += isinstance(pid, int) and not fits(pid)
        told = name if fits(pid) else _told(name, "process", "pid", pids[0])
        process, known = book.process(pid, told, *labels)
        shown.processes.update(dict.fromkeys(pids, process))
        for row in stand:
            same = [host.tracks[number] for number in numbers if thread[number] == row]
            odd += isinstance(_number(same[0].tid), int) and not fits(_number(same[0].tid))
            _add_thread(host, same, row, int(row_count[row]), process, known, book, shown)
    shown.findings = changes({"host-ids-renumbered": odd})
    return shown


def _add_thread(
    host: HostTrace, same: list[HostTrack], row: int, count: int, process: int, pid: int, book: TrackBook, shown: HostTracks
) -> None:
    """One thread, and its further rows below it."""
    tid = _number(same[0].tid)
    name = next((host.thread_names[track] for track in same if track in host.thread_names), "")
    if isinstance(tid, int) and fits(tid):
        shown.threads[row] = book.thread(process, pid, tid, name)
    else:
        shown.threads[row] = book.row(process, _told(name, "thread", "tid", same[0].tid))
    told = name or (f"thread {tid}" if isinstance(tid, int) else _told(name, "thread", "tid", same[0].tid))
    rows = [book.row(int(shown.threads[row]), f"{told} ({lane + 1})") for lane in range(1, count)]
    shown.further[row] = rows[0] if rows else 0


def _told(name: str, kind: str, of: str, id_: Id) -> str:
    """A name that tells what the id was; a text tells it by itself."""
    if isinstance(id_, str):
        return f"{name} ({id_})" if name and id_ and name != id_ else name or id_ or kind
    return f"{name or kind} ({of} {id_})"


def _number(id_: Id) -> Id:
    """The number that a text says, if it says one: both are the same to chrome://tracing, and to Kineto of 2021."""
    return int(id_) if isinstance(id_, str) and id_.isdecimal() and len(id_) < 20 else id_


def _order(host: HostTrace, row: int) -> tuple[bool, int, int]:
    """Numbers first, in their order; all else as it comes."""
    tid = _number(host.tracks[row].tid)
    return (not isinstance(tid, int), tid if isinstance(tid, int) else 0, row)
