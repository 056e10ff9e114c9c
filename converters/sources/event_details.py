"""What a check asks of single events beyond their columns: read from their texts, which pass by once more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np

from ..results import EventDetails
from ..timeline import HostTrace, Int64
from ._json_text import mended_text

__all__ = ["read_details"]

_ASYNC: Final = np.frombuffer(b"benSTpF", np.uint8)


class _Event(msgspec.Struct, gc=False):
    args: msgspec.Raw = msgspec.Raw()
    id: msgspec.Raw = msgspec.Raw()
    id2: msgspec.Raw = msgspec.Raw()


_EVENT: Final = msgspec.json.Decoder(_Event)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NO_MEMBERS: Final[dict[str, msgspec.Raw]] = {}


def read_details(host: HostTrace, same: Int64) -> EventDetails:
    """Counters, asynchronous events and metadata of a trace, and which of some events are the same.

    Args:
        host: The trace.
        same: int64[s], ascending; rows of the events whose texts are compared.

    Raises:
        FormatError: The trace's document cannot be read again.
    """
    events = host.events
    reading = _Reading(host)
    wanted = np.union1d(np.flatnonzero(np.isin(events.phase, np.append(_ASYNC, np.frombuffer(b"CM", np.uint8)))), same)
    same_text = np.empty(len(same), np.int64)
    for row, text in _texts(host, wanted):
        phase = chr(events.phase[row])
        if phase == "C":
            reading.take_counter(row, text)
        elif phase == "M":
            reading.take_label(text)
        elif phase in "benSTpF":
            reading.take_async(row, text)
        place = int(np.searchsorted(same, row))
        if place < len(same) and same[place] == row:
            same_text[place] = reading.number(text)
    return reading.details(same, same_text)


class _Reading:
    """The details while they grow."""

    def __init__(self, host: HostTrace) -> None:
        self._host = host
        self._texts: dict[bytes, int] = {}
        self._series: dict[tuple[object, str], int] = {}
        self._samples: list[tuple[int, int, float]] = []
        self._empty: list[int] = []
        self._ids: list[int] = []
        self._labels: list[int] = []

    def number(self, text: bytes) -> int:
        """A number for each distinct text, of which a few bytes are kept, however long it is."""
        return self._texts.setdefault(hashlib.blake2b(text, digest_size=16).digest(), len(self._texts))

    def take_counter(self, row: int, text: bytes) -> None:
        """A counter event: each of its arguments is a counter of its own."""
        host = self._host
        values = _members(bytes(_decoded(text).args))
        name = host.strings[int(host.events.name[row])]
        # The same counter of two things is told apart by its id.
        scope = (host.tracks[int(host.events.track[row])].pid, int(host.events.flow_id[row]))
        for key, value in values.items():
            series = self._series.setdefault((scope, f"{name} {key}".strip()), len(self._series))
            self._samples.append((row, series, _value(bytes(value))))
        if not values:
            self._empty.append(row)

    def take_async(self, row: int, text: bytes) -> None:
        """An asynchronous event: its id counts within the process, unless it says otherwise."""
        event = _decoded(text)
        own, scoped = bytes(event.id), _members(bytes(event.id2))
        pid = repr(self._host.tracks[int(self._host.events.track[row])].pid).encode()
        key = own and b"%s %s" % (own, pid)
        if not own and scoped:
            key = b"".join(b"%s %s" % (scope.encode(), value) for scope, value in scoped.items())
            key += b"" if "global" in scoped else pid
        self._ids.append(self.number(b"id " + key) if key and own != b"null" else -1)

    def take_label(self, text: bytes) -> None:
        """A metadata event."""
        self._labels.append(self.number(b"label " + bytes(_decoded(text).args)))

    def details(self, same: Int64, same_text: Int64) -> EventDetails:
        """All of it as columns."""
        phase = self._host.events.phase
        rows, series, values = zip(*self._samples, strict=True) if self._samples else ((), (), ())
        return EventDetails(
            sample_row=np.array(rows, np.int64),
            series=np.array(series, np.int32),
            value=np.array(values, np.float64),
            series_names=tuple(name for _, name in self._series),
            empty_rows=np.array(self._empty, np.int64),
            async_rows=np.flatnonzero(np.isin(phase, _ASYNC)),
            async_id=np.array(self._ids, np.int64),
            label_rows=np.flatnonzero(phase == ord("M")),
            label=np.array(self._labels, np.int64),
            same_rows=same,
            same_text=same_text,
        )


def _texts(host: HostTrace, rows: Int64) -> Iterator[tuple[int, bytes]]:
    """Some events, ascending, each with its text."""
    if not len(rows):
        return
    starts, ends = host.events.offset[rows], host.events.offset[rows] + host.events.length[rows]
    text, position, done = b"", 0, 0
    for block in host.document.blocks():
        # Only an event that goes on in this block keeps text of the blocks before it.
        begin = min(max(int(starts[done]), position), position + len(text))
        text, position = text[begin - position :] + block, begin
        whole = int(np.searchsorted(ends, position + len(text), side="right"))
        places = zip(rows[done:whole].tolist(), starts[done:whole].tolist(), ends[done:whole].tolist(), strict=True)
        for row, start, end in places:
            yield row, text[start - position : end - position]
        done = whole
        if done == len(rows):
            return


def _decoded(text: bytes) -> _Event:
    try:
        return _EVENT.decode(text)
    except (ValueError, RecursionError):
        try:
            return _EVENT.decode(mended_text(text))
        except (ValueError, RecursionError):
            return _Event()


def _members(text: bytes) -> dict[str, msgspec.Raw]:
    try:
        return _MEMBERS.decode(text) if text.startswith(b"{") else _NO_MEMBERS
    except (ValueError, RecursionError):
        return _NO_MEMBERS


def _value(text: bytes) -> float:
    """A number, or a text that holds one, as viewers take it; NaN for anything else."""
    try:
        return float(text.strip(b'"'))
    except ValueError:
        return np.nan
