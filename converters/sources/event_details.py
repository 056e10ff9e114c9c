"""What a check asks of single events beyond their columns: read from their texts, which pass by once more.

Arguments of counters and metadata are objects whose keys anybody makes up, so that each such event is decoded by itself, in Python.
Slices, of which there are the most, are not among them, but for those that may stand in the file twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np

from ..event_blocks import event_blocks
from ..results import EventDetails
from ..timeline import HostTrace, Int64
from ._json_text import mended_text

__all__ = ["read_details"]

_ASYNC: Final = np.frombuffer(b"benSTpF", np.uint8)


_ASYNC_CODES: Final = frozenset(_ASYNC.tolist())
_COUNTER, _LABEL = b"CM"


class _Counter(msgspec.Struct, gc=False):
    args: dict[str, float]


class _Event(msgspec.Struct, gc=False):
    args: msgspec.Raw = msgspec.Raw()
    id: msgspec.Raw = msgspec.Raw()
    id2: msgspec.Raw = msgspec.Raw()


_COUNTERS: Final = msgspec.json.Decoder(_Counter)
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
    same_text: list[int] = []
    # Columns are asked once: one value of an array takes longer than all of the rest of it as a list.
    values = (
        wanted,
        events.phase[wanted],
        np.isin(wanted, same),
        events.name[wanted],
        events.track[wanted],
        events.flow_id[wanted],
    )
    columns = (column.tolist() for column in values)
    for text, row, phase, is_same, name, track, own_id in zip(_texts(host, wanted), *columns, strict=True):
        if phase == _COUNTER:
            reading.take_counter(row, text, (name, track, own_id))
        elif phase == _LABEL:
            reading.take_label(text)
        elif phase in _ASYNC_CODES:
            reading.take_async(text, track)
        if is_same:
            same_text.append(reading.number(text))
    return reading.details(same, np.array(same_text, np.int64))


class _Reading:
    """The details while they grow."""

    def __init__(self, host: HostTrace) -> None:
        self._host = host
        self._texts: dict[bytes, int] = {}
        self._series: dict[tuple[object, str], int] = {}
        self._series_of: dict[tuple[int, int, int, str], int] = {}
        self._rows: list[int] = []
        self._series_rows: list[int] = []
        self._values: list[float] = []
        self._empty: list[int] = []
        self._ids: list[int] = []
        self._labels: list[int] = []

    def number(self, text: bytes) -> int:
        """A number for each distinct text, of which a few bytes are kept, however long it is."""
        return self._texts.setdefault(hashlib.blake2b(text, digest_size=16).digest(), len(self._texts))

    def take_counter(self, row: int, text: bytes, of: tuple[int, int, int]) -> None:
        """A counter event, of a name, a track and an id: each of its arguments is a counter of its own."""
        values = _numbers(text)
        for key, value in values.items():
            series = self._series_of.get((*of, key))
            self._rows.append(row)
            self._series_rows.append(self._new_series(of, key) if series is None else series)
            self._values.append(value)
        if not values:
            self._empty.append(row)

    def _new_series(self, of: tuple[int, int, int], key: str) -> int:
        name, track, own_id = of
        # The same counter of two things is told apart by its id; whichever thread writes it, it is of the process.
        scope = (self._host.tracks[track].pid, own_id)
        series = self._series.setdefault((scope, f"{self._host.strings[name]} {key}".strip()), len(self._series))
        self._series_of[(*of, key)] = series
        return series

    def take_async(self, text: bytes, track: int) -> None:
        """An asynchronous event: its id counts within the process, unless it says otherwise."""
        event = _decoded(text)
        own, scoped = bytes(event.id), _members(bytes(event.id2))
        pid = repr(self._host.tracks[track].pid).encode()
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
        return EventDetails(
            sample_row=np.array(self._rows, np.int64),
            series=np.array(self._series_rows, np.int32),
            value=np.array(self._values, np.float64),
            series_names=tuple(name for _, name in self._series),
            empty_rows=np.array(self._empty, np.int64),
            async_rows=np.flatnonzero(np.isin(phase, _ASYNC)),
            async_id=np.array(self._ids, np.int64),
            label_rows=np.flatnonzero(phase == ord("M")),
            label=np.array(self._labels, np.int64),
            same_rows=same,
            same_text=same_text,
        )


def _texts(host: HostTrace, rows: Int64) -> Iterator[bytes]:
    """The texts of some events, ascending."""
    done = 0
    for block in event_blocks(host, int(rows[0])) if len(rows) else ():
        last = int(np.searchsorted(rows, block.first + len(block)))
        places = rows[done:last] - block.first
        for start, end in zip(block.start[places].tolist(), block.end[places].tolist(), strict=True):
            yield block.text[start:end]
        done = last
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


def _numbers(text: bytes) -> dict[str, float]:
    """What a counter event says, by key; NaN for what is no number."""
    try:
        return _COUNTERS.decode(text).args
    except (ValueError, RecursionError):
        return {key: _value(bytes(value)) for key, value in _members(bytes(_decoded(text).args)).items()}


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
