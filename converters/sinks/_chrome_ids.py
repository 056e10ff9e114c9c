"""Process, thread and flow ids in a Chrome trace: which of them a viewer can hold, and numbers that nobody uses yet.

Perfetto keeps a process or thread number in 32 bits without a sign and takes whatever does not fit for 0; it takes thread 0 of a
process for the process's main thread, and a missing id for 0. Where two rows of a file would become one by that, one of them
gets another number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rblnpb.errors import Finding

from ..json_text import json_string
from ..timeline import HostTrace, HostTrack, Id
from ._changes import changes

__all__ = ["FreeNumbers", "HeldRows", "Label", "first_free_flow_id", "hold_rows", "id_text", "thread_name"]

_TOO_LARGE: Final = 1 << 32
_EXACT_IN_DOUBLE: Final = 1 << 53


class FreeNumbers:
    """Process and thread numbers that no row uses, the smallest first; each is given out once."""

    def __init__(self, used: Iterable[Id]) -> None:
        # chrome://tracing takes "7" and 7 for the same.
        taken = {int(number) for number in used if isinstance(number, int) or (number and number.isdecimal() and len(number) < 20)}
        self._numbers: Iterator[int] = (number for number in itertools.count(1) if number not in taken)

    def take(self) -> int:
        """The next number, for one process or one thread."""
        return next(self._numbers)


@dataclass(frozen=True)
class Label:
    """What a metadata event says of a row or of its process.

    Attributes:
        name: Name of the event, such as "thread_name".
        row: The row; of a process its thread does not matter.
        value: The name, the labels or the sort index.
    """

    name: str
    row: HostTrack
    value: str | int

    def text(self, member: bytes = b"") -> bytes:
        r"""The event as JSON, with a comma and a newline before it.

        Args:
            member: More of the event, with a comma behind it.

        >>> Label("thread_name", HostTrack(1, 2), "x").text()
        b',\n{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"x"}}'
        """
        key = self.name.split("_", 1)[1].encode()
        value = json_string(self.value) if isinstance(self.value, str) else b"%d" % self.value
        ids = (id_text(self.row.pid), id_text(self.row.tid))
        return b',\n{"ph":"M",%s"pid":%s,"tid":%s,"name":"%s","args":{"%s":%s}}' % (member, *ids, self.name.encode(), key, value)


@dataclass(frozen=True)
class HeldRows:
    """Rows of a host trace under ids that Perfetto holds.

    Attributes:
        rows: The new ids of every row of `HostTrace.tracks`.
        labels: New names, with the old ids in them, of the rows and processes that got other ids.
        findings: How many ids were exchanged, if any.
    """

    rows: tuple[HostTrack, ...]
    labels: tuple[Label, ...]
    findings: tuple[Finding, ...]


def hold_rows(host: HostTrace, has_events: Iterable[bool], free: FreeNumbers) -> HeldRows:
    """Give other ids to the rows that Perfetto would lose among others.

    Args:
        host: The trace.
        has_events: For each of its tracks, whether anything but metadata stands on it.
        free: Where new numbers come from.
    """
    pids = {pid: free.take() for pid in dict.fromkeys(track.pid for track in host.tracks) if not _fits(pid)}
    rows = [HostTrack(pids.get(track.pid, track.pid), track.tid if _fits(track.tid) else free.take()) for track in host.tracks]
    owners: dict[tuple[Id, Id], int] = {}
    busy = [number for number, is_busy in enumerate(has_events) if is_busy]
    # A row that is called by the very ids that Perfetto calls it by is the last one to give way.
    for number in sorted(busy, key=lambda number: (rows[number].pid, rows[number].tid) != _seen_by_perfetto(rows[number])):
        if owners.setdefault(_seen_by_perfetto(rows[number]), number) != number:
            rows[number] = HostTrack(rows[number].pid, free.take())
    labels = [
        Label("process_name", HostTrack(new, 0), f"{host.process_names.get(old) or 'process'} (pid {old})")
        for old, new in pids.items()
    ]
    labels += [
        Label("thread_name", row, thread_name(host, track, row))
        for track, row in zip(host.tracks, rows, strict=True)
        if row.tid != track.tid
    ]
    return HeldRows(tuple(rows), tuple(labels), changes({"host-ids-renumbered": len(labels)}))


def thread_name(host: HostTrace, track: HostTrack, row: HostTrack) -> str:
    """What the file calls a row, with its old id behind it where it got another one."""
    name = host.thread_names.get(track) or f"thread {track.tid}"
    return name if row.tid == track.tid else f"{name} (tid {track.tid})"


def id_text(number: Id) -> bytes:
    """A process or thread id as JSON."""
    return json_string(number) if isinstance(number, str) else b"null" if number is None else b"%d" % number


def first_free_flow_id(used_texts: Iterable[str], count: int) -> int:
    """The least number from which on `count` numbers are nobody's flow id.

    Args:
        used_texts: Flow ids of the trace as JSON texts; Perfetto takes `"16"`, `"0x10"` and 16 for the same.
        count: How many numbers are needed.

    >>> first_free_flow_id(["3", '"0x10"', '"abc"'], 10), first_free_flow_id(["3", str(2**60)], 10)
    (17, 4)
    """
    used = sorted({0, *(number for number in map(_flow_number, used_texts) if 0 <= number < _EXACT_IN_DOUBLE)})
    if used[-1] + count < _EXACT_IN_DOUBLE:
        return used[-1] + 1
    return next(before + 1 for before, after in itertools.pairwise(used) if after - before > count)


def _flow_number(text: str) -> int:
    try:
        return int(text.strip('"'), 0)
    except ValueError:
        return -1


def _fits(number: Id) -> bool:
    return not isinstance(number, int) or 0 <= number < _TOO_LARGE


def _seen_by_perfetto(row: HostTrack) -> tuple[Id, Id]:
    pid = 0 if row.pid is None else row.pid
    tid = 0 if row.tid is None else row.tid
    return (pid, pid if tid == 0 and isinstance(pid, int) else tid)
