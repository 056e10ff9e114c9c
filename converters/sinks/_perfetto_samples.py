"""Curves of a Perfetto trace: samples of the host's counters and of the devices'."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from rblnpb.byte_rows import join
from rblnpb.perfetto_wire import EVENT_COUNTER, event, numbers

from ..timeline import HostTrace, Id, Int64, Timeline
from ._perfetto_events import Text
from ._perfetto_tracks import SEQUENCE, TrackBook

__all__ = ["HostSamples", "counter_blocks"]

Float64 = npt.NDArray[np.float64]
_BLOCK_ROWS: Final = 8192
_DOUBLE: Final = b"\xe1\x02"
"""Field 44 of a track event, a double."""


def counter_blocks(timeline: Timeline, devices: dict[str, int], book: TrackBook, shift_ns: int) -> Iterator[tuple[int, bytes]]:
    """Samples of devices, in blocks of bounded size.

    Args:
        timeline: Its counters.
        devices: Track of each device.
        book: Where the curves are introduced.
        shift_ns: What is added to every time.

    Yields:
        How many samples, and their packets. One that is no finite number is passed over.
    """
    counters = timeline.counters
    curves, curve = np.unique(np.stack((counters.device, counters.name)), axis=1, return_inverse=True)
    made = [book.counter(devices[timeline.strings[device]], timeline.strings[name]) for device, name in curves.T.tolist()]
    tracks = np.array(made, np.int32)[curve.reshape(-1)]
    rows = np.flatnonzero(np.isfinite(counters.value))
    for first in range(0, len(rows), _BLOCK_ROWS):
        block = rows[first : first + _BLOCK_ROWS]
        packets = _samples(counters.time_ns[block] + shift_ns, tracks[block], counters.value[block])
        yield len(block), book.take_packets() + packets


class HostSamples:
    """Writes the counters of a host trace: a curve for each number in their args, as Perfetto does it.

    Attributes:
        odd_count: How many args were no finite numbers, or no args at all.
    """

    def __init__(self, host: HostTrace, processes: dict[Id, int], book: TrackBook, shift_ns: int) -> None:
        """Begin without a curve.

        Args:
            host: The trace.
            processes: Tracks of its processes.
            book: Where the curves are introduced.
            shift_ns: What is added to every time.
        """
        self._host = host
        self._processes = processes
        self._book = book
        self._shift_ns = shift_ns
        self._curves: dict[tuple[int, int, int, str], int] = {}
        self.odd_count = 0

    def packets(self, rows: Int64, texts: list[Text]) -> bytes:
        """The packets of some counter events.

        Args:
            rows: int64[n]; the events.
            texts: Their args as JSON.
        """
        events = self._host.events
        keys = zip(*(column[rows].tolist() for column in (events.track, events.name, events.flow_id)), strict=True)
        found = [
            (place, self._curve(key, arg), value)
            for place, (key, text) in enumerate(zip(keys, texts, strict=True))
            for arg, value in self._values(bytes(text))
        ]
        if not found:
            return b""
        place, curve, value = (np.array(column) for column in zip(*found, strict=True))
        packets = _samples(events.start_ns[rows[place]] + self._shift_ns, curve, value)
        return self._book.take_packets() + packets

    def _values(self, text: bytes) -> list[tuple[str, float]]:
        try:
            values = _ARGS.decode(text)
        except (msgspec.DecodeError, RecursionError):
            values = {}
        numbers = [(name, number) for name, value in values.items() if (number := _number(value)) is not None]
        self.odd_count += max(len(values), 1) - len(numbers)
        return numbers

    def _curve(self, key: tuple[int, int, int], arg: str) -> int:
        """Track of the curve for one arg of a counter, which has a row of tracks, a name and an id."""
        track, name, flow_id = key
        process = self._processes[self._host.tracks[track].pid]
        found = self._curves.get((process, name, flow_id, arg))
        if found is None:
            told = self._host.strings[name] or "[No name]"
            told += f"[{self._host.strings[flow_id].strip(chr(34))}]" if flow_id else ""
            found = self._curves[process, name, flow_id, arg] = self._book.counter(process, f"{told} {arg}")
        return found


_ARGS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_VALUE: Final = msgspec.json.Decoder(float | str | None)


def _number(text: msgspec.Raw) -> float | None:
    """The finite number that a JSON value is, or that its text says."""
    try:
        told = _VALUE.decode(text)
        value = math.nan if told is None else float(told)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return value if math.isfinite(value) else None


def _samples(time_ns: Int64, track: npt.NDArray[np.integer], value: Float64) -> bytes:
    doubles = np.ascontiguousarray(value, "<f8").view(np.uint8).reshape(-1, 8)
    return join(len(time_ns), event(EVENT_COUNTER, time_ns, numbers(11, track), SEQUENCE, _DOUBLE, doubles)).tobytes()
