"""Every time of a profile into the trace clock: device ticks to the host's monotonic clock to Unix time.

The only place where a time changes its clock. Device clocks are mapped piecewise by their snapshots (`rblnpb.clock`). Monotonic and
real time run at one rate, so one offset joins them until somebody sets the clock: the reading with the smallest bracket gives it,
and offsets that differ by more than 50 µs beyond their brackets are a step (readings alone differ by 2 µs at most).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from rblnpb.clock import HOST_MONOTONIC, HOST_REALTIME, Clock, ClockMap, ClockSnapshot, clock_maps
from rblnpb.columns import Counters, DeviceSlices, UInt32, UInt64, WorkloadSlices
from rblnpb.errors import ClockError, Finding, Severity
from rblnpb.profile import Profile

from ..dialect import host_window
from ..host_trace import UNIX_NS
from ..timeline import Bool, ClockQuality, HostTrace, Int64
from .clock_fit import ClockFit
from .launch_times import LaunchTimes

__all__ = ["Alignment", "RealTime", "require_unix_time"]

_STEP_NS: Final = 50_000
"""Offsets of real time that differ by more than this, and by more than their brackets, are a set clock."""

_PLACEABLE: Final = 1 << 62
"""Times and readings, in ns or ticks, are nearer to zero than this: then differences of two fit in 64 bits."""


def require_unix_time(host: HostTrace) -> None:
    """Refuse a host trace whose times cannot be told in Unix time. Without any times there is nothing to be told.

    Raises:
        ClockError: It does not say when its zero was, and its times are no Unix times as they stand.
    """
    window = host_window(host)
    if not host.has_base_time and window is not None and window[1] < UNIX_NS:
        raise ClockError(
            f"cannot join {host.document.name} with a profile: its times are no Unix times, and it does not say when its zero was "
            "(baseTimeNanoseconds); export the trace with a newer torch, or look at each file alone"
        )


@dataclass(frozen=True, eq=False)
class RealTime:
    """Host monotonic ns to Unix ns: an offset, or several where the clock was set.

    Attributes:
        since_ns: int64[k]; host monotonic ns from which each offset holds; the first holds before it too. Ascending.
        offset_ns: int64[k]; real time minus monotonic time.
        uncertainty_ns: Half the smallest bracket.
        spread_ns: Largest distance of a reading from the offset that holds there.
        snapshot_count: Readings.
    """

    since_ns: Int64
    offset_ns: Int64
    uncertainty_ns: int
    spread_ns: int
    snapshot_count: int

    @classmethod
    def of(cls, snapshots: tuple[ClockSnapshot, ...]) -> RealTime:
        """The offsets that the readings of real time give.

        Raises:
            ClockError: There is no such reading.
        """
        readings = (s for s in snapshots if s.clock_id == HOST_REALTIME)
        sound = (s for s in readings if max(s.value_ticks, abs(s.monotonic_before_ns), abs(s.monotonic_after_ns)) < _PLACEABLE)
        own = sorted(sound, key=lambda s: s.monotonic_ns)
        if not own:
            raise ClockError("real time was never read against the host's monotonic clock")
        runs: list[list[ClockSnapshot]] = []
        best: list[ClockSnapshot] = []
        for snapshot in own:
            # A reading that was interrupted is off by up to its bracket: that is no step.
            if not best or abs(_offset(snapshot) - _offset(best[-1])) > (
                _STEP_NS + snapshot.uncertainty_ns + best[-1].uncertainty_ns
            ):
                runs.append([])
                best.append(snapshot)
            runs[-1].append(snapshot)
            best[-1] = min(best[-1], snapshot, key=lambda s: s.uncertainty_ns)
        return cls(
            np.array([run[0].monotonic_before_ns for run in runs], np.int64),
            np.array([_offset(one) for one in best], np.int64),
            min(one.uncertainty_ns for one in best),
            max(abs(_offset(s) - _offset(one)) for run, one in zip(runs, best, strict=True) for s in run),
            len(own),
        )

    def to_trace(self, monotonic_ns: Int64) -> Int64:
        """int64[n]; Unix ns at host monotonic ns."""
        run = np.clip(np.searchsorted(self.since_ns, monotonic_ns, side="right") - 1, 0, None)
        real_ns: Int64 = np.asarray(monotonic_ns, np.int64) + self.offset_ns[run]
        return real_ns


def _offset(snapshot: ClockSnapshot) -> int:
    return snapshot.value_ticks - snapshot.monotonic_ns


@dataclass(frozen=True, eq=False)
class Alignment:
    """How the clocks of one profile lie in the trace clock.

    Attributes:
        clocks: Clocks of the profile by id.
        maps: Those that can be placed.
        real_time: From the host monotonic clock to the trace clock; None: the trace clock *is* the monotonic clock.
        findings: What was odd about it.
        fitted: Quality of clocks that no reading places, but what the host trace holds of the same run; then no other clock is
            placed, and `maps` lead into the trace clock at once.
        is_alone: Whether no clock is placed at all, so that the trace clock is the device's own.
        launched: When what ticks on these clocks was submitted, by clock id, where readings alone do not settle their times.
    """

    clocks: dict[int, Clock]
    maps: dict[int, ClockMap]
    real_time: RealTime | None
    findings: tuple[Finding, ...]
    fitted: dict[int, ClockQuality] = field(default_factory=dict)
    is_alone: bool = False
    launched: dict[int, LaunchTimes] = field(default_factory=dict)

    @classmethod
    def of(cls, profile: Profile, *, needs_real_time: bool) -> Alignment:
        """The alignment that a profile's snapshots give.

        Args:
            profile: As read.
            needs_real_time: Whether there is a host trace to be joined, whose times are Unix times.

        Raises:
            ClockError: Real time is needed and nothing tells it.
        """
        if not needs_real_time and (alone := _maps_alone(profile)):
            return cls._alone(profile, alone)
        findings: list[Finding] = []
        real_time: RealTime | None = None
        session = profile.session
        try:
            real_time = RealTime.of(profile.clock_snapshots)
        except ClockError as error:
            if 0 < session.started_real_ns < _PLACEABLE and 0 < session.started_monotonic_ns < _PLACEABLE:
                start = ClockSnapshot(
                    HOST_REALTIME, session.started_real_ns, session.started_monotonic_ns, session.started_monotonic_ns
                )
                real_time = RealTime.of((start,))
                message = "real time was read only at the start of the session; its uncertainty is not known"
                findings.append(Finding(Severity.WARNING, "no-real-time-snapshot", message))
            elif needs_real_time:
                raise ClockError(f"the profile cannot be joined with a host trace: {error}") from error
            else:
                message = "real time was never read: times are those of the host's monotonic clock"
                findings.append(Finding(Severity.INFO, "no-real-time-snapshot", message))
        if real_time is not None and len(real_time.offset_ns) > 1:
            steps = len(real_time.offset_ns) - 1
            message = f"the host's real-time clock was set {steps} times while recording"
            findings.append(Finding(Severity.WARNING, "real-time-step", message, steps))
        maps = clock_maps(profile.clocks, profile.clock_snapshots)
        times = LaunchTimes.of(profile)
        launched = {
            clock.clock_id: times for clock in profile.clocks if clock.clock_id in maps and times.settle(maps[clock.clock_id])
        }
        clocks = {clock.clock_id: clock for clock in profile.clocks}
        return cls(clocks, maps, real_time, tuple(findings), launched=launched)

    @classmethod
    def of_fits(cls, profile: Profile, fits: Mapping[int, ClockFit]) -> Alignment:
        """The alignment of clocks that are placed by what the host trace holds of the same run.

        Args:
            profile: As read.
            fits: By clock id.
        """
        maps = {clock_id: fit.clock_map for clock_id, fit in fits.items()}
        clocks = {clock.clock_id: clock for clock in profile.clocks}
        return cls(clocks, maps, None, (), {clock_id: fit.quality for clock_id, fit in fits.items()})

    @classmethod
    def _alone(cls, profile: Profile, maps: dict[int, ClockMap]) -> Alignment:
        """The alignment of a profile whose clocks nothing relates to the host's: each is shown as it is, at its nominal rate."""
        names = ", ".join(one.clock.name or f"clock {clock_id}" for clock_id, one in maps.items())
        if len(maps) == 1:
            message = f"nothing relates {names} to a clock of the host: times are that clock's own"
            finding = Finding(Severity.INFO, "device-clock-alone", message)
        else:
            message = f"nothing relates {len(maps)} clocks to each other ({names}): each is shown from its own zero"
            finding = Finding(Severity.WARNING, "device-clocks-unrelated", message, len(maps))
        return cls({clock.clock_id: clock for clock in profile.clocks}, maps, None, (finding,), is_alone=True)

    def places_any(self, profile: Profile) -> bool:
        """Whether it places a clock on which slices of the profile tick; of a profile without slices, yes."""
        used = np.union1d(profile.device_slices.clock_id, profile.workload_slices.clock_id).tolist()
        return not used or any(clock_id in self.maps for clock_id in used)

    def monotonic_to_trace(self, monotonic_ns: Int64) -> Int64:
        """int64[n]; trace clock at host monotonic ns."""
        return np.asarray(monotonic_ns, np.int64) if self.real_time is None else self.real_time.to_trace(monotonic_ns)

    def place(self, table: DeviceSlices | WorkloadSlices) -> tuple[Int64, Int64, Bool]:
        """Start and duration of slices in the trace clock, and which of them could be placed (the others are 0).

        Args:
            table: n slices, of any clocks.

        Returns:
            int64[n], int64[n], bool[n].
        """
        if not self.launched:
            return self._place(table.clock_id, table.start_ticks, table.duration_ticks)
        near_ns = np.zeros(len(table), np.int64)
        for clock_id, times in self.launched.items():
            own = table.clock_id == clock_id
            near_ns[own] = times.near(table.launch_id[own])[0]
        return self._place(table.clock_id, table.start_ticks, table.duration_ticks, near_ns)

    def place_counters(self, table: Counters) -> tuple[Int64, Bool]:
        """Times of samples in the trace clock, and which could be placed (the others are 0): int64[n], bool[n]."""
        time_ns, _, placed = self._place(table.clock_id, table.time_ticks, np.zeros(len(table), np.uint64))
        return time_ns, placed

    def place_on_host(self, start_ns: Int64, duration_ns: Int64 | None = None) -> tuple[Int64, Bool]:
        """Starts in the trace clock of what the host's monotonic clock timed, and which could be placed (the others are 0).

        Args:
            start_ns: int64[n]; host monotonic ns.
            duration_ns: int64[n]; None: moments.

        Returns:
            int64[n], bool[n].
        """
        clock_id = np.full(len(start_ns), HOST_MONOTONIC, np.uint32)
        duration = np.zeros(len(start_ns), np.int64) if duration_ns is None else duration_ns
        trace_ns, _, placed = self._place(clock_id, start_ns.view(np.uint64), duration.view(np.uint64))
        return trace_ns, placed

    def _place(self, clock_id: UInt32, start: UInt64, duration: UInt64, near_ns: Int64 | None = None) -> tuple[Int64, Int64, Bool]:
        used = np.unique(clock_id).tolist()
        if len(used) == 1:
            start_ns, duration_ns, placed = self._spans(used[0], start, duration, near_ns)
        else:
            start_ns, duration_ns = np.zeros(len(start), np.int64), np.zeros(len(start), np.int64)
            placed = np.zeros(len(start), np.bool_)
            for one in used:
                rows = np.flatnonzero(clock_id == one)
                start_ns[rows], duration_ns[rows], placed[rows] = self._spans(
                    one, start[rows], duration[rows], None if near_ns is None else near_ns[rows]
                )
        if placed.all():
            return start_ns, duration_ns, placed
        return np.where(placed, start_ns, 0), np.where(placed, duration_ns, 0), placed

    def _spans(self, clock_id: int, start: UInt64, duration: UInt64, near_ns: Int64 | None = None) -> tuple[Int64, Int64, Bool]:
        """Start and duration in the trace clock of what one clock timed, and which of them these are right for.

        Every step is given only what it can place: a sum beyond 64 bits would come out as some other time.
        """
        at, length = start.view(np.int64), duration.view(np.int64)
        if clock_id == HOST_REALTIME and self.real_time is not None:
            return at, length, _lies_within(at, duration, -_PLACEABLE, _PLACEABLE)
        placed = np.ones(len(at), np.bool_)
        if clock_id != HOST_MONOTONIC or self.fitted:
            clock_map = self.maps.get(clock_id)
            if clock_map is None:
                return at, length, np.zeros(len(at), np.bool_)
            placed = _lies_within(clock_map.unwrap(start), duration, *_placeable_ticks(clock_map))
            if near_ns is None or clock_id not in self.launched:
                at, length = clock_map.span_to_ns(start, duration)
            else:
                at, length = clock_map.span_near(start, duration, near_ns)
        placed &= _lies_within(at, length.view(np.uint64), -_PLACEABLE, _PLACEABLE)
        trace_ns = self.monotonic_to_trace(at)
        return trace_ns, length, placed & _lies_within(trace_ns, length.view(np.uint64), -_PLACEABLE, _PLACEABLE)

    def qualities(self, outside: Mapping[int, int]) -> tuple[ClockQuality, ...]:
        """Quality of every placed clock, real time first.

        Args:
            outside: How many slices lie outside the readings of each clock.
        """
        if self.is_alone or self.fitted:
            return tuple(self.fitted.values())
        found: list[ClockQuality] = []
        if self.real_time is not None:
            real = self.real_time
            steps = len(real.offset_ns) - 1
            found.append(ClockQuality("host real time", real.snapshot_count, real.spread_ns, real.uncertainty_ns, 0.0, steps, 0))
        for clock_id, clock in self.clocks.items():
            clock_map = self.maps.get(clock_id)
            if clock_map is None:
                continue
            found.append(
                ClockQuality(
                    name=clock.name or f"clock {clock_id}",
                    snapshot_count=len(clock_map.anchor_ns),
                    residual_ns=int(np.abs(clock_map.residual_ns).max()),
                    uncertainty_ns=clock_map.uncertainty_ns,
                    drift_ppm=clock_map.drift_ppm,
                    step_count=clock_map.step_count,
                    extrapolated_count=outside.get(clock_id, 0),
                )
            )
        return tuple(found)


def _maps_alone(profile: Profile) -> dict[int, ClockMap]:
    """Maps of the clocks that records tick on, each into itself, if nothing of the profile is in a clock that can be placed."""
    slices, frames, samples = profile.device_slices, profile.workload_slices, profile.counters
    clock_id = np.concatenate((slices.clock_id, frames.clock_id, samples.clock_id))
    start = np.concatenate((slices.start_ticks, frames.start_ticks, samples.time_ticks))
    used = np.unique(clock_id).tolist()
    if not used or any(map(len, (profile.launches, profile.host_slices, profile.overheads))):
        return {}
    clocks = [profile.clock(one) for one in used]
    known = [clock for clock in clocks if clock is not None and clock.nominal_hz and 1 <= clock.width_bits <= 64]
    placed = clock_maps(profile.clocks, profile.clock_snapshots)
    if len(known) < len(used) or any(one in placed for one in used):
        return {}
    try:
        zeros = (_own_zero(clock, int(start[clock_id == clock.clock_id][0])) for clock in known)
        return {clock.clock_id: ClockMap.of(clock, (zero,)) for clock, zero in zip(known, zeros, strict=True)}
    except ClockError:
        return {}


def _own_zero(clock: Clock, ticks: int) -> ClockSnapshot:
    """A reading that maps a clock into itself. A narrow counter is read at a record, so that none lies a turn away."""
    ticks = ticks % (1 << clock.width_bits) if clock.width_bits < 64 else 0
    at_ns = ticks * 10**9 // clock.nominal_hz
    return ClockSnapshot(clock.clock_id, ticks, at_ns, at_ns)


def _lies_within(start: Int64, length: UInt64, least: int, most: int) -> Bool:
    """bool[n]; which stretches start and end between two numbers, exclusive, that are at most 2**62 from zero."""
    inside = (start > least) & (start < most)
    room = np.where(inside, most - np.where(inside, start, 0), 0)
    return inside & (length < room.view(np.uint64))


def _placeable_ticks(clock_map: ClockMap) -> tuple[int, int]:
    """Between which unwrapped ticks, exclusive, a map stays within `_PLACEABLE`: beyond its anchors it goes on as a line."""
    ticks, ns = clock_map.anchor_ticks.tolist(), clock_map.anchor_ns.tolist()
    ends = ((ticks[:2], ns[:2]), (ticks[-2:], ns[-2:]))
    runs = [at[-1] - at[0] if len(at) > 1 else clock_map.clock.nominal_hz for at, _ in ends]
    rises = [at[-1] - at[0] if len(at) > 1 else 10**9 for _, at in ends]
    least = ticks[0] - (_PLACEABLE + ns[0]) * runs[0] // rises[0]
    most = ticks[-1] + (_PLACEABLE - ns[-1]) * runs[1] // rises[1]
    return max(least - 1, -_PLACEABLE), min(most + 1, _PLACEABLE)
