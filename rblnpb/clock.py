"""Clocks: named sources of time, readings of two of them taken together, and the map that follows from the readings.

A `ClockMap` takes raw ticks of one clock to nanoseconds of the host's monotonic clock, piecewise linear between snapshots, and
says how well the snapshots agree with the straight line between their neighbours (residuals). Real time is a clock like any
other. All arithmetic is on integers; a tick is placed to the nearest nanosecond, halves up. The rule is part of the format:
proto/README.md states it step by step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.errors import ClockError

__all__ = ["BUILT_IN_CLOCKS", "HOST_MONOTONIC", "HOST_REALTIME", "Clock", "ClockKind", "ClockMap", "ClockSnapshot", "clock_maps"]

HOST_MONOTONIC: Final = 1
"""Id of the host's monotonic clock (CLOCK_MONOTONIC, ns) in every session."""

HOST_REALTIME: Final = 2
"""Id of the host's real-time clock (CLOCK_REALTIME, Unix ns) in every session."""

Int64 = npt.NDArray[np.int64]


class ClockKind(IntEnum):
    """What a clock follows; values as in the schema's ClockKind."""

    UNKNOWN = 0
    HOST_MONOTONIC = 1
    HOST_REALTIME = 2
    DEVICE = 3


@dataclass(frozen=True)
class Clock:
    """A source of time.

    Attributes:
        clock_id: Identity in its session; 16 or more for device clocks.
        name: For people.
        nominal_hz: Ticks a second as designed; 0 = unknown.
        width_bits: Width of the counter, 1 to 64; it wraps to 0 after 2**width - 1.
        device_id: Device that owns it; 0 = none.
        kind: What it follows.
    """

    clock_id: int
    name: str = ""
    nominal_hz: int = 0
    width_bits: int = 64
    device_id: int = 0
    kind: ClockKind = ClockKind.UNKNOWN


BUILT_IN_CLOCKS: Final = (
    Clock(HOST_MONOTONIC, "host monotonic", 10**9, 64, 0, ClockKind.HOST_MONOTONIC),
    Clock(HOST_REALTIME, "host real time", 10**9, 64, 0, ClockKind.HOST_REALTIME),
)
"""Clocks that every session has without defining them."""


@dataclass(frozen=True)
class ClockSnapshot:
    """Where a clock stood while the host's monotonic clock went from before to after.

    Attributes:
        clock_id: The clock that was read.
        value_ticks: Its value, raw.
        monotonic_before_ns, monotonic_after_ns: Host monotonic clock around the reading.
    """

    clock_id: int
    value_ticks: int
    monotonic_before_ns: int
    monotonic_after_ns: int

    @property
    def monotonic_ns(self) -> int:
        """Middle of the bracket, where the reading is taken to belong."""
        return (self.monotonic_before_ns + self.monotonic_after_ns) // 2

    @property
    def uncertainty_ns(self) -> int:
        """Half the bracket, rounded up."""
        return (self.monotonic_after_ns - self.monotonic_before_ns + 1) // 2


@dataclass(frozen=True, eq=False)
class ClockMap:
    """Ticks of one clock to nanoseconds of the host monotonic clock, and back.

    Attributes:
        clock: The clock that is mapped.
        anchor_ticks: int64[k]; unwrapped ticks of the anchors, strictly ascending.
        anchor_ns: int64[k]; host monotonic ns of the anchors, strictly ascending.
        residual_ns: int64[k]; how far each inner anchor lies from the line between its neighbours; 0 at the ends.
        uncertainty_ns: Largest half bracket of the readings.
        drift_ppm: Measured rate against the nominal one, parts per million over the whole; 0.0 when either is unknown.
        step_count: Readings that are no anchors, because the clock was set before them: it went backwards, or far off its rate.
        later: The map of the readings after the last anchor, where the clock was set for good; None without any, or behind 16 such.
    """

    clock: Clock
    anchor_ticks: Int64
    anchor_ns: Int64
    residual_ns: Int64
    uncertainty_ns: int
    drift_ppm: float
    step_count: int
    later: ClockMap | None = None

    @classmethod
    def of(cls, clock: Clock, snapshots: tuple[ClockSnapshot, ...]) -> ClockMap:
        """The map that the snapshots of this clock give.

        Args:
            clock: Width and nominal rate.
            snapshots: Any order; those of other clocks are passed over.

        Raises:
            ClockError: No snapshot of this clock, a single one and no nominal rate, or numbers beyond 2**62.
        """
        own = sorted((s for s in snapshots if s.clock_id == clock.clock_id), key=lambda s: (s.monotonic_ns, s.value_ticks))
        if not own:
            raise ClockError(f"clock {clock.name or clock.clock_id} was never read against the host's; times cannot be placed")
        return cls._of_sorted(clock, own, _MOST_LATER)

    @classmethod
    def _of_sorted(cls, clock: Clock, own: list[ClockSnapshot], most_later: int) -> ClockMap:
        name = clock.name or clock.clock_id
        ticks = _unwrapped([s.value_ticks for s in own], [s.monotonic_ns for s in own], clock)
        rate = _typical_rate(ticks, [s.monotonic_ns for s in own], clock)
        kept_ticks, kept_ns, steps = _monotonic(ticks, [s.monotonic_ns for s in own], rate)
        if len(kept_ticks) == 1 and not clock.nominal_hz:
            raise ClockError(f"clock {name} was read once and its rate is unknown; times cannot be placed")
        if max(clock.nominal_hz, *map(abs, kept_ticks), *map(abs, kept_ns)) > _PLACEABLE:
            raise ClockError(f"clock {name} has readings or a rate beyond 2**62; times cannot be placed")
        at = np.array(kept_ticks, np.int64)
        ns = np.array(kept_ns, np.int64)
        drift = 0.0
        if len(at) > 1 and clock.nominal_hz:
            nominal_ns = int(at[-1] - at[0]) * 10**9 / clock.nominal_hz
            drift = (nominal_ns / int(ns[-1] - ns[0]) - 1.0) * 1e6
        uncertainty_ns = max(s.uncertainty_ns for s in own)
        later = None
        left_out = [s for s in own if s.monotonic_ns > kept_ns[-1]]
        if left_out and most_later:
            with contextlib.suppress(ClockError):
                later = cls._of_sorted(clock, left_out, most_later - 1)
        return cls(clock, at, ns, _residuals(at, ns), uncertainty_ns, drift, steps, later)

    def span_near(self, start_ticks: npt.NDArray[Any], duration_ticks: npt.NDArray[Any], near_ns: Int64) -> tuple[Int64, Int64]:
        """Start and duration in host monotonic ns of slices that begin near known times, where readings leave open when.

        A counter that turned over several times reads alike in every turn: the turn is taken in which the slice begins least behind
        the known time, or before it by at most an eighth of a turn. One that was set may read alike before and after: taken is
        where the slice begins least behind the known time, and a distance before it counts a thousand times, since nothing begins
        before it is submitted, but for what the readings are off.

        Args:
            start_ticks: uint64[n]; raw.
            duration_ticks: uint64[n].
            near_ns: int64[n]; host monotonic; when each was submitted.

        Returns:
            int64[n], int64[n].
        """
        start_ns, duration_ns = self._in_turn_near(start_ticks, duration_ticks, near_ns)
        if self.later is None:
            return start_ns, duration_ns
        other_ns, other_duration_ns = self.later.span_near(start_ticks, duration_ticks, near_ns)
        # It was set between two readings: before the first of them this map holds, behind the second the later one.
        may_be_own, may_be_other = start_ns < self.later.anchor_ns[0], other_ns > self.anchor_ns[-1]
        is_other = _distance(other_ns, near_ns) < _distance(start_ns, near_ns)
        is_other = may_be_other & (is_other | ~may_be_own)
        return np.where(is_other, other_ns, start_ns), np.where(is_other, other_duration_ns, duration_ns)

    def _in_turn_near(self, start_ticks: npt.NDArray[Any], duration_ticks: npt.NDArray[Any], near_ns: Int64) -> tuple[Int64, Int64]:
        start = self.unwrap(start_ticks)
        if self.clock.width_bits < 64:
            turn = 1 << self.clock.width_bits
            expected = self.to_ticks(near_ns) - turn // 8
            start = expected + ((start - expected) & np.int64(turn - 1))
        end = start + np.asarray(duration_ticks).astype(np.int64)
        start_ns = self.unwrapped_to_ns(start)
        return start_ns, self.unwrapped_to_ns(end) - start_ns

    def to_monotonic_ns(self, ticks: npt.NDArray[Any]) -> Int64:
        """Host monotonic ns of raw ticks, each rounded to the nearest nanosecond.

        Args:
            ticks: uint64[n]; raw, possibly wrapped; each is taken in the turn that `unwrap` says.

        Returns:
            int64[n].
        """
        return self.unwrapped_to_ns(self.unwrap(ticks))

    def unwrap(self, ticks: npt.NDArray[Any]) -> Int64:
        """int64[n]; raw ticks in the turn of the counter that lies within half a turn of the middle of the anchors.

        So a recording shorter than a turn is placed right on both sides of a wrap. One that is longer cannot be: equal readings of
        different turns land in one place, which `rblnpb.check` names. A clock of 64 bits is taken as signed and never wraps.
        """
        raw = np.asarray(ticks).astype(np.uint64)
        if self.clock.width_bits == 64:
            return raw.view(np.int64)
        turn = 1 << self.clock.width_bits
        first, last = int(self.anchor_ticks[0]), int(self.anchor_ticks[-1])
        middle = (first + last) // 2
        offset = (raw.view(np.int64) - np.int64(middle) + np.int64(turn // 2)) & np.int64(turn - 1)
        return offset + np.int64(middle - turn // 2)

    def unwrapped_to_ns(self, ticks: Int64) -> Int64:
        """int64[n]; host monotonic ns of unwrapped ticks, rounded to nearest; linear beyond the first and last anchor."""
        return _interpolate(ticks, *self._segments())

    def to_ticks(self, monotonic_ns: Int64) -> Int64:
        """int64[n]; unwrapped ticks at host monotonic ns, rounded to nearest: the inverse within the rounding."""
        at, ns, numerator, denominator = self._segments()
        return _interpolate(monotonic_ns, ns, at, denominator, numerator)

    def span_to_ns(self, start_ticks: npt.NDArray[Any], duration_ticks: npt.NDArray[Any]) -> tuple[Int64, Int64]:
        """Start and duration in host monotonic ns of slices in ticks.

        Start and end are each rounded, the duration is their difference: slices that touch in ticks touch in ns.
        """
        start = self.unwrap(start_ticks)
        end = start + np.asarray(duration_ticks).astype(np.int64)
        start_ns = self.unwrapped_to_ns(start)
        return start_ns, self.unwrapped_to_ns(end) - start_ns

    def _segments(self) -> tuple[Int64, Int64, Int64, Int64]:
        """Anchors, and ns per tick of the segment that begins at each as a fraction."""
        at, ns = self.anchor_ticks, self.anchor_ns
        if len(at) == 1:
            return at, ns, np.array([10**9], np.int64), np.array([self.clock.nominal_hz], np.int64)
        rise, run = np.diff(ns), np.diff(at)
        return at, ns, np.append(rise, rise[-1]), np.append(run, run[-1])


def _distance(start_ns: Int64, near_ns: Int64) -> Int64:
    """How far behind a time something is; before it, a thousand times as far."""
    behind: Int64 = np.clip(start_ns - near_ns, -(1 << 52), 1 << 62)
    return np.where(behind >= 0, behind, -1000 * behind)


_BLOCK_ROWS: Final = 1 << 15


def _interpolate(x: Int64, xs: Int64, ys: Int64, rise: Int64, run: Int64) -> Int64:
    """y on the piecewise line, rounded half up; exact wherever the result fits in 64 bits."""
    y = np.empty(len(x), np.int64)
    for at in range(0, len(x), _BLOCK_ROWS):
        block = slice(at, at + _BLOCK_ROWS)
        part = np.asarray(x[block], np.int64)
        edges = np.array([part.min(), part.max()])
        first, last = np.clip(np.searchsorted(xs, edges, side="right") - 1, 0, len(xs) - 1).tolist()
        # Records of one time lie between two readings: numbers divided by one number cost a fraction of numbers by numbers.
        segment = first if first == last else np.clip(np.searchsorted(xs, part, side="right") - 1, 0, len(xs) - 1)
        y[block] = ys[segment] + _scaled(part - xs[segment], rise[segment], run[segment])
    return y


def _scaled(delta: Int64, a: Int64 | np.int64, b: Int64 | np.int64) -> Int64:
    """delta * a / b rounded half up, for one a and b or some for each; b is positive.

    It is delta * whole + turns * part + rest * part / b. Each product may leave 64 bits where their sum does not: sums modulo 2**64
    are right in the end.
    """
    whole = a // b
    part = a - whole * b
    turns = delta // b
    rest = delta - turns * b
    with np.errstate(over="ignore"):
        scaled: Int64 = delta * whole + turns * part + _rounded_ratio(rest, part, b)
    return scaled


_FLOAT_SAFE: Final = 1 << 50


def _rounded_ratio(rest: Int64, part: Int64 | np.int64, b: Int64 | np.int64) -> Int64:
    """rest * part / b rounded half up, for 0 <= rest, part < b <= 2**62."""
    if int(np.max(b, initial=0)) >= _FLOAT_SAFE:
        numbers = zip(rest.tolist(), *(np.broadcast_to(column, len(rest)).tolist() for column in (part, b)), strict=True)
        return np.fromiter(((2 * r * p + q) // (2 * q) for r, p, q in numbers), np.int64, len(rest))
    # Below 2**50 a double misses the quotient by one at most. What is left over then fits in 64 bits, so it may be
    # computed modulo 2**64, and corrects the quotient.
    estimate = (rest.astype(np.float64) * part / b).astype(np.int64)
    left_over = 2 * (rest * part - estimate * b) + b
    return estimate + left_over // (2 * b)


def _unwrapped(raw: list[int], at_ns: list[int], clock: Clock) -> list[int]:
    """Readings in one continuous count: each takes the turn that its distance in time from the one before asks for."""
    if clock.width_bits == 64:
        return [value - (1 << 64) if value >= 1 << 63 else value for value in raw]
    turn = 1 << clock.width_bits
    out = [raw[0]]
    for value, before_ns, now_ns in zip(raw[1:], at_ns, at_ns[1:], strict=False):
        expected = out[-1] + (now_ns - before_ns) * clock.nominal_hz // 10**9
        out.append(expected + (value - expected + turn // 2) % turn - turn // 2)
    return out


def _typical_rate(ticks: list[int], at_ns: list[int], clock: Clock) -> Fraction:
    """Ticks per ns: the nominal rate, or the median over neighbours when none is known; 0 when there are none."""
    if clock.nominal_hz:
        return Fraction(clock.nominal_hz, 10**9)
    rates = sorted(Fraction(b - a, q - p) for (a, p), (b, q) in pairwise(zip(ticks, at_ns, strict=True)) if q > p)
    return rates[len(rates) // 2] if rates else Fraction(0)


_PLACEABLE: Final = 1 << 62
"""Ticks and nanoseconds beyond this are no readings; below it, differences of two fit in 64 bits."""

_SETTLED_NS: Final = 5_000_000
"""A clock that runs more than 1 % off its rate between two readings was set in between: quartz is off by 0.01 % at most. Readings
nearer than this are judged by 1 % of this, 50 µs, because each of them is uncertain."""

_MOST_LATER: Final = 16
"""A clock that never agrees with itself is a step at every reading: a map for each would take time by the square of them."""


def _monotonic(ticks: list[int], at_ns: list[int], rate: Fraction) -> tuple[list[int], list[int], int]:
    """Anchors that ascend in both clocks, and how many readings showed a step.

    Where a clock was set, two readings cannot both be right for one line; the anchors before the step are kept, those after it are
    left out and counted. A single reading that was off is passed over; where the next one agrees with it, the anchors end.
    """
    odd: tuple[int, int] | None = None
    kept, steps = (ticks[0], at_ns[0]), 0
    kept_ticks, kept_ns = [ticks[0]], [at_ns[0]]
    for place, reading in enumerate(zip(ticks[1:], at_ns[1:], strict=True), 1):
        if reading[1] <= kept[1] and reading[0] == kept[0]:
            continue
        if odd and rate > 0 and not _is_step(odd, reading, rate) and _off(odd, reading, rate) < _off(kept, reading, rate):
            return kept_ticks, kept_ns, steps + len(ticks) - place
        if _is_step(kept, reading, rate):
            steps, odd = steps + 1, reading
            continue
        kept, odd = reading, None
        kept_ticks.append(reading[0])
        kept_ns.append(reading[1])
    return kept_ticks, kept_ns, steps


def _off(earlier: tuple[int, int], later: tuple[int, int], rate: Fraction) -> Fraction:
    """How many ticks a reading is off the rate, seen from an earlier one; readings are (ticks, ns)."""
    return abs(later[0] - earlier[0] - (later[1] - earlier[1]) * rate)


def _is_step(earlier: tuple[int, int], later: tuple[int, int], rate: Fraction) -> bool:
    """Whether the clock was set between two readings."""
    run, time_ns = later[0] - earlier[0], later[1] - earlier[1]
    if run <= 0 or time_ns <= 0:
        return True
    return rate > 0 and 100 * _off(earlier, later, rate) > max(time_ns, _SETTLED_NS) * rate


def _residuals(at: Int64, ns: Int64) -> Int64:
    residual = np.zeros(len(at), np.int64)
    for row in range(1, len(at) - 1):
        run = int(at[row + 1] - at[row - 1])
        on_line = int(ns[row - 1]) + int(at[row] - at[row - 1]) * int(ns[row + 1] - ns[row - 1]) // run
        residual[row] = int(ns[row]) - on_line
    return residual


def clock_maps(clocks: Iterable[Clock], snapshots: Sequence[ClockSnapshot]) -> dict[int, ClockMap]:
    """Maps of all clocks that can be placed, by clock id: the given ones and the host's two, of which the monotonic maps to itself.

    A clock without a usable snapshot has no entry; who needs it calls `ClockMap.of` and gets the reason.
    """
    own: dict[int, list[ClockSnapshot]] = {}
    for snapshot in snapshots:
        own.setdefault(snapshot.clock_id, []).append(snapshot)
    monotonic, real_time = BUILT_IN_CLOCKS
    maps = {HOST_MONOTONIC: ClockMap.of(monotonic, (ClockSnapshot(HOST_MONOTONIC, 0, 0, 0),))}
    for clock in (real_time, *clocks):
        if clock.clock_id in maps:
            # Of two clocks with one id the first counts, as in `Profile.clock`.
            continue
        try:
            maps[clock.clock_id] = ClockMap.of(clock, tuple(own.get(clock.clock_id, ())))
        except ClockError:
            continue
    return maps
