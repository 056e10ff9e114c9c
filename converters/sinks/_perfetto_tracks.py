"""Tracks of a Perfetto trace: processes, threads of processes, and rows with a name alone, each below the one that it belongs to.

Perfetto knows a thread by a number from 1 to 2^31 - 1, of a process that has such a number too. What a trace calls otherwise is a
row with a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final

from rblnpb.perfetto_wire import field, number, utf8

from ..timeline import Id

__all__ = ["SEQUENCE", "SEQUENCE_ID", "TrackBook", "fits"]

SEQUENCE_ID: Final = 1
SEQUENCE: Final = number(10, SEQUENCE_ID) + number(13, 2)
"""Fields of every packet with events: who wrote it, and that it stands on names that were told before."""

_EXPLICIT: Final = number(11, 3)
"""Tracks below this one are shown in the order of their ranks."""
_ALL_EXPLICIT: Final = number(19, 1) + number(20, 1)
"""Likewise processes, and threads of a process; Perfetto asks the track of number 0 for that."""
_APART: Final = number(15, 2)
"""No other track is merged with this one because it has the same name."""
_TOO_LARGE: Final = 1 << 31


def fits(id_: Id) -> bool:
    """Whether Perfetto can hold this as the number of a process or thread.

    >>> fits(7), fits(0), fits(-7), fits("7")
    (True, False, False, False)
    """
    return isinstance(id_, int) and 0 < id_ < _TOO_LARGE


class TrackBook:
    """Gives tracks their numbers, and the packets that introduce them."""

    def __init__(self, used_pids: Iterable[Id]) -> None:
        """Begin with no track.

        Args:
            used_pids: Numbers that processes of the trace have.
        """
        used = set(used_pids)
        self._free_pids: Iterator[int] = (pid for pid in count(1) if pid not in used)
        self._ranks: dict[int, int] = {}
        self._last = 0
        self._packets = [_packet(number(1, 0) + _ALL_EXPLICIT)]

    def take_packets(self) -> bytes:
        """The packets that introduce the tracks since the last call, each after the one that it is below."""
        packets, self._packets = self._packets, []
        return b"".join(packets)

    def process(self, pid: Id, name: str, *labels: str) -> tuple[int, int]:
        """A process.

        Args:
            pid: Its number; where Perfetto cannot hold it, or there is none, it gets one that nobody uses.
            name: What the viewer calls it; may be empty.
            *labels: What the viewer says beside the name.

        Returns:
            Number of the track, and the number that Perfetto knows the process by.
        """
        known = pid if isinstance(pid, int) and fits(pid) else next(self._free_pids)
        told = number(1, known) + _named(6, name) + b"".join(field(8, utf8(label)) for label in labels)
        return self._add(0, field(3, told)), known

    def thread(self, process: int, pid: int, tid: int, name: str) -> int:
        """A thread of a process that Perfetto can hold; its name may be empty. Gives the number of its track."""
        return self._add(process, field(4, number(1, pid) + number(2, tid) + _named(5, name)))

    def row(self, parent: int, name: str) -> int:
        """A row with a name below a track; gives the number of its track."""
        return self._add(parent, field(2, utf8(name)) + _APART)

    def asynchronous(self, parent: int, name: str) -> int:
        """A track below another that a viewer shows together with those of the same name; gives its number."""
        return self._add(parent, field(2, utf8(name)))

    def counter(self, parent: int, name: str) -> int:
        """A curve below a track; gives the number of its track."""
        return self._add(parent, field(2, utf8(name)) + _APART + field(8, b""))

    def _add(self, parent: int, fields: bytes) -> int:
        self._last += 1
        rank = self._ranks[parent] = self._ranks.get(parent, -1) + 1
        placed = (number(5, parent) if parent else b"") + number(12, rank)
        self._packets.append(_packet(number(1, self._last) + placed + _EXPLICIT + fields))
        return self._last


def _packet(descriptor: bytes) -> bytes:
    return field(1, number(10, SEQUENCE_ID) + field(60, descriptor))


def _named(tag: int, name: str) -> bytes:
    return field(tag, utf8(name)) if name else b""
