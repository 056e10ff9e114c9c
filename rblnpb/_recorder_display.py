"""What a recorder keeps in memory of its recording, so that the file can show itself in Perfetto's viewer when it ends."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb._recorder_buffer import Pending
from rblnpb.clock import ClockSnapshot
from rblnpb.columns import DeviceSlices, Table, WorkloadSlices
from rblnpb.display import display_packets, is_shown
from rblnpb.profile import Commands, Profile, Session

__all__ = ["RecordedDisplay"]

UInt32 = npt.NDArray[np.uint32]

_READINGS_KEPT: Final = 1 << 14
"""Of each clock."""


class RecordedDisplay:
    """The slices that are in the file, while they are few enough to be shown; some hundred bytes each."""

    def __init__(self, session: Session, *, display: bool | None) -> None:
        """Begin with nothing.

        Args:
            session: Of the recording.
            display: As of `rblnpb.write`.
        """
        self._session = session
        self._display = display
        self._is_on = is_shown(0, display=display)
        self._rows: dict[str, list[Any]] = {"clocks": [], "devices": [], "engines": [], "programs": []}
        self._commands: Commands | None = None
        self._readings: dict[int, list[ClockSnapshot]] = defaultdict(list)
        self._slices: dict[type[Table], list[Any]] = {DeviceSlices: [], WorkloadSlices: []}
        self._count = 0

    def define(self, pending: Pending) -> None:
        """Take over new rows of the session's tables, and clock readings."""
        if not self._is_on:
            return
        for name, known in self._rows.items():
            known.extend(pending.rows.get(name, ()))
        self._commands = pending.commands or self._commands
        for reading in pending.snapshots:
            self._readings[reading.clock_id].append(reading)
        for clock_id, readings in self._readings.items():
            if len(readings) > _READINGS_KEPT:
                # Fewer of them, from the first on to the last, place slices nearly as well.
                self._readings[clock_id] = [*readings[:-1:2], readings[-1]]

    def keep(self, table: Table) -> None:
        """Take over records that are in the file now, if they are of a kind that is shown."""
        if not self._is_on or type(table) not in self._slices:
            return
        self._count += len(table)
        self._is_on = is_shown(self._count, display=self._display)
        if self._is_on:
            self._slices[type(table)].append(table)
        else:
            self._slices.clear()
            self._readings.clear()

    def packets(self, strings: Sequence[str]) -> Iterator[bytes]:
        """The display packets of the whole recording; none when there are too many slices.

        Args:
            strings: The session's string table.
        """
        if not self._is_on:
            return
        commands = self._commands or Commands.none()
        limits = {"command_row": len(commands), "stage_strindex": len(strings), "name_strindex": len(strings)}
        slices = DeviceSlices.concat(self._slices[DeviceSlices])
        yield from display_packets(
            Profile(
                self._session,
                clocks=tuple(self._rows["clocks"]),
                devices=tuple(self._rows["devices"]),
                engines=tuple(self._rows["engines"]),
                programs=tuple(self._rows["programs"]),
                commands=replace(commands, layer_strindex=_within(commands.layer_strindex, len(strings))),
                clock_snapshots=tuple(itertools.chain(*self._readings.values())),
                device_slices=slices.replace(**{name: _within(slices.columns()[name], limit) for name, limit in limits.items()}),
                workload_slices=WorkloadSlices.concat(self._slices[WorkloadSlices]),
                strings=tuple(strings),
            )
        )


def _within(rows: UInt32, count: int) -> UInt32:
    """Rows of a table; one that is not there becomes row 0, which is none."""
    within: UInt32 = np.where(rows < count, rows, np.uint32(0))
    return within
