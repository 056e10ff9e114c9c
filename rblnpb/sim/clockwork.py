"""The clock of a simulated device: ticks of its own rate, from its own zero, and readings of it against the host's clocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.clock import HOST_REALTIME, Clock, ClockKind, ClockSnapshot
from rblnpb.sim.draws import Draws

__all__ = ["SNAPSHOT_INTERVAL_NS", "DeviceClock", "snapshots"]

SNAPSHOT_INTERVAL_NS: Final = 1_000_000_000
"""Time between two readings of a clock while recording."""

_BILLION: Final = 1_000_000_000
_BRACKET_NS: Final = (300, 2_500)  # shortest and longest reading of a device register over the bus
_REALTIME_BRACKET_NS: Final = 80


@dataclass(frozen=True)
class DeviceClock:
    """A counter that runs a little off its nominal rate.

    Attributes:
        clock: What the session says of it.
        origin_ns: Host monotonic time at which it stood at `origin_ticks`.
        origin_ticks: Its value then.
        drift_ppb: How much faster than nominal it runs, parts in 10**9.
    """

    clock: Clock
    origin_ns: int
    origin_ticks: int
    drift_ppb: int

    @classmethod
    def of(cls, device_id: int, name: str, nominal_hz: int, origin_ns: int, draws: Draws) -> DeviceClock:
        """A clock with a drawn zero and a drawn drift of at most 20 parts per million."""
        clock = Clock(15 + device_id, name, nominal_hz, 64, device_id, ClockKind.DEVICE)
        return cls(clock, origin_ns, draws.one(10, 3_600) * nominal_hz + draws.one(0, nominal_hz), draws.one(-20_000, 20_000))

    def ticks(self, monotonic_ns: npt.ArrayLike) -> npt.NDArray[np.uint64]:
        """uint64; value of the counter at each host monotonic time, the last tick before it. Later times never read less."""
        seconds, rest_ns = np.divmod(np.asarray(monotonic_ns, np.int64) - self.origin_ns, _BILLION)
        hz = self.clock.nominal_hz
        nominal = seconds * hz + rest_ns * hz // _BILLION
        # nominal * drift may exceed 64 bits after hours, so the whole billions go apart.
        billions, rest = np.divmod(nominal, _BILLION)
        ticks = self.origin_ticks + nominal + billions * self.drift_ppb + rest * self.drift_ppb // _BILLION
        return np.asarray(ticks).astype(np.uint64)


def snapshots(clock: DeviceClock, real_offset_ns: int, times_ns: npt.NDArray[np.int64], draws: Draws) -> tuple[ClockSnapshot, ...]:
    """Readings of the device clock and of real time, one of each at each time.

    Args:
        clock: Of the device; it is read at some moment of a bracket.
        real_offset_ns: Real time minus host monotonic time. It is read in the middle of its bracket, so that a launch plan's real
            times come back exact.
        times_ns: int64[n]; host monotonic, when each reading begins.
        draws: Gives brackets and moments.
    """
    brackets = draws.between(np.full(len(times_ns), _BRACKET_NS[0]), _BRACKET_NS[1])
    moments = times_ns + draws.between(np.zeros_like(brackets), brackets)
    rows = zip(times_ns.tolist(), brackets.tolist(), clock.ticks(moments).tolist(), strict=True)
    out: list[ClockSnapshot] = []
    for before_ns, bracket_ns, ticks in rows:
        after_ns = before_ns + bracket_ns
        middle_ns = after_ns + _REALTIME_BRACKET_NS // 2
        out.append(ClockSnapshot(clock.clock.clock_id, ticks, before_ns, after_ns))
        out.append(ClockSnapshot(HOST_REALTIME, middle_ns + real_offset_ns, after_ns, after_ns + _REALTIME_BRACKET_NS))
    return tuple(out)
