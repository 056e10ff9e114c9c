"""Clocks of a Perfetto trace as clocks of a profile, and its snapshots as readings against the host's monotonic clock.

A file of the vendor holds the time that each device measured on its own clock (docs.rbln.ai, profiler/perfetto/multi_trace), and
as far as is known nothing relates it to a clock of the host. Where snapshots do, they are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rblnpb.clock import HOST_MONOTONIC, HOST_REALTIME, Clock, ClockKind, ClockSnapshot

from ._perfetto_sequences import FIRST_OF_SEQUENCE

__all__ = ["BOOTTIME", "DEFAULT", "Clocks", "FileClock", "relate_clocks"]

DEFAULT, _REALTIME, _MONOTONIC, BOOTTIME = 0, 1, 3, 6
_STAND_INS: Final = (_MONOTONIC, BOOTTIME, _REALTIME)
"""Which clock of a file plays the host's monotonic clock: the first of these that its snapshots have. Boot time runs at the same
rate, and the three differ by an offset alone."""

_NAMES: Final = {2: "coarse real time", 4: "coarse monotonic", 5: "raw monotonic", BOOTTIME: "boot time", 9: "TSC", 10: "perf"}
_FIRST_CLOCK_ID: Final = 16
_LIMIT: Final = 1 << 63

FileClock = tuple[int, int, int]
"""(file, sequence, number) of a clock; file and sequence are -1 for clocks that all files share."""


@dataclass(frozen=True)
class Clocks:
    """The clocks of a profile.

    Attributes:
        ids: Clock id of each clock of the files that events have.
        clocks: Those that the profile defines.
        snapshots: Readings against the host's monotonic clock.
        unrelated_count: Snapshots that do not have that clock.
    """

    ids: dict[FileClock, int]
    clocks: tuple[Clock, ...]
    snapshots: tuple[ClockSnapshot, ...]
    unrelated_count: int


def relate_clocks(
    used: Sequence[FileClock], snapshots: Iterable[Mapping[FileClock, int]], device_id: int, first_ns: Mapping[FileClock, int]
) -> Clocks:
    """Give every clock an id, and turn snapshots into readings.

    Args:
        used: Clocks of events, in the order of their first ones.
        snapshots: Nanoseconds by clock, read at one moment.
        device_id: The device that a clock without a name belongs to; 0 = several.
        first_ns: A time of each clock at which there is an event.
    """
    readings = [dict(one) for one in snapshots]
    seen = {key for one in readings for key in one}
    stand_in = next((number for number in _STAND_INS if _shared(number) in seen), None)
    if stand_in is None and _shared(_REALTIME) in used:
        # Unix time needs no reading to be placed.
        stand_in = _REALTIME
        readings.append({_shared(_REALTIME): first_ns[_shared(_REALTIME)]})
    ids: dict[FileClock, int] = {_shared(_REALTIME): HOST_REALTIME, _shared(_MONOTONIC): HOST_MONOTONIC}
    if stand_in == BOOTTIME:
        ids[_shared(BOOTTIME)] = HOST_MONOTONIC
    clocks: list[Clock] = []
    for key in used:
        if key not in ids:
            ids[key] = _FIRST_CLOCK_ID + len(clocks)
            clocks.append(_clock(key, ids[key], device_id))
    found, unrelated = _readings(readings, ids, stand_in)
    return Clocks({key: ids[key] for key in used}, tuple(clocks), tuple(found), unrelated)


def _shared(number: int) -> FileClock:
    return (-1, -1, number)


def _clock(key: FileClock, clock_id: int, device_id: int) -> Clock:
    file, sequence, number = key
    if number == DEFAULT:
        which = "device clock of the file" if file < 0 else f"device clock of file {file + 1}"
        return Clock(clock_id, which, 10**9, 64, device_id, ClockKind.DEVICE)
    name = _NAMES.get(number, f"clock {number}" + (f" of sequence {sequence}" if sequence >= 0 else ""))
    kind = ClockKind.DEVICE if number >= FIRST_OF_SEQUENCE else ClockKind.UNKNOWN
    return Clock(clock_id, name, 10**9, 64, device_id if kind is ClockKind.DEVICE else 0, kind)


def _readings(
    snapshots: Sequence[Mapping[FileClock, int]], ids: Mapping[FileClock, int], stand_in: int | None
) -> tuple[list[ClockSnapshot], int]:
    """Readings of every clock that is of use, and how many snapshots gave none."""
    found: dict[ClockSnapshot, None] = {}
    unrelated = 0
    for snapshot in snapshots:
        monotonic_ns = snapshot.get(_shared(stand_in)) if stand_in is not None else None
        if monotonic_ns is None or monotonic_ns >= _LIMIT:
            # A snapshot of one clock says what its units are, no more.
            unrelated += len(snapshot) > 1
            continue
        for key, value in snapshot.items():
            clock_id = ids.get(key)
            if clock_id is not None and clock_id != HOST_MONOTONIC and value < 2 * _LIMIT:
                found[ClockSnapshot(clock_id, value, monotonic_ns, monotonic_ns)] = None
    return list(found), unrelated
