"""How long each cause kept a lane idle: pieces of gaps, summed by cause, step and name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...results import CAUSES, STEPS, CauseTime, NamedTime
from ...timeline import Int64, Timeline
from ..grouping import numbered
from .gaps import Gaps
from .piece_table import GapPieces

__all__ = ["GapParts", "cause_times", "clock_uncertainty_ns", "gap_parts"]

_CAUSES: Final = tuple(CAUSES)
_STEPS: Final = tuple(STEPS)

_CROSSING: Final = ("recording-lost", "runtime", "serialised-by-profiling", "waiting-for-host", "queue-empty", "submission")
"""Causes that compare a time of the host with one of the device."""

_REAL_TIME: Final = "host real time"


def clock_uncertainty_ns(timeline: Timeline, device: str) -> int | None:
    """How far times of a device may be off those of the host: residual and uncertainty of its clock, and of real time if needed.

    None where nothing tells, as in a trace that holds both.
    """
    own = [clock for clock in timeline.clocks if clock.name != _REAL_TIME]
    if not own:
        return None
    named = [clock for clock in own if clock.name == device] or own
    uncertainty_ns = max(clock.residual_ns + clock.uncertainty_ns for clock in named)
    if timeline.host is not None:
        uncertainty_ns += sum(clock.residual_ns + clock.uncertainty_ns for clock in timeline.clocks if clock.name == _REAL_TIME)
    return uncertainty_ns


@dataclass(frozen=True, eq=False)
class GapParts:
    """Parts of gaps: all pieces of one cause in one gap. In order of gap and cause; all columns have the same length n.

    Attributes:
        gap: int64[n]; row of `Gaps`.
        cause: int64[n]; place in `results.CAUSES`.
        duration_ns: int64[n].
        touches: bool[n] as int64; whether the part begins or ends where the gap does, and compares host and device.
    """

    gap: Int64
    cause: Int64
    duration_ns: Int64
    touches: Int64

    def __len__(self) -> int:
        return len(self.gap)

    @classmethod
    def joined(cls, parts: Iterable[GapParts]) -> GapParts:
        """Those of some gaps, then those of later ones."""
        columns = [(one.gap, one.cause, one.duration_ns, one.touches) for one in parts]
        return cls(*(np.concatenate(own) for own in zip(*columns, strict=True))) if columns else cls(*np.empty((4, 0), np.int64))


def gap_parts(gaps: Gaps, pieces: GapPieces) -> GapParts:
    """The parts that pieces make.

    A border between host and device time is as uncertain as the clocks. A part that lies between two moments of the host has none;
    one that reaches to an end of its gap has one.
    """
    order = order_by(pieces.gap, pieces.cause)
    gap, cause = pieces.gap[order], pieces.cause[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (gap[1:] != gap[:-1]) | (cause[1:] != cause[:-1])
    begins = np.flatnonzero(is_new)
    if not len(begins):
        return GapParts(gap, cause, gap, gap)
    start_ns, end_ns = pieces.start_ns[order], pieces.end_ns[order]
    gap, cause = gap[begins], cause[begins]
    reaches = (np.minimum.reduceat(start_ns, begins) == gaps.start_ns[gap]) | (
        np.maximum.reduceat(end_ns, begins) == gaps.end_ns[gap]
    )
    is_crossing = np.array([name in _CROSSING for name in _CAUSES], np.bool_)[cause]
    return GapParts(gap, cause, np.add.reduceat(end_ns - start_ns, begins), (reaches & is_crossing).astype(np.int64))


def cause_times(
    gaps: Gaps, pieces: Iterable[GapPieces], parts: GapParts, uncertainty_ns: Sequence[int | None]
) -> dict[int, tuple[CauseTime, ...]]:
    """Causes of each lane that has gaps, in order of precedence; they add up to its idle time.

    Args:
        gaps: The gaps.
        pieces: Their pieces, so many at a time as are at hand.
        parts: Of these pieces.
        uncertainty_ns: Of each lane; None = not known.
    """
    found: dict[int, list[CauseTime]] = {}
    lane = gaps.lane[parts.gap]
    codes, group = numbered(lane * len(_CAUSES) + parts.cause)
    sums = np.zeros((3, len(codes)), np.int64)
    for own, column in zip(sums, (parts.duration_ns, np.ones(len(parts), np.int64), parts.touches), strict=True):
        np.add.at(own, group, column)
    steps, names = _shares(gaps, pieces)
    for code, (idle_ns, gap_count, border_count) in zip(codes.tolist(), sums.T.tolist(), strict=True):
        own, cause = divmod(code, len(_CAUSES))
        per_border_ns = uncertainty_ns[own]
        by_step = dict(steps[code])
        found.setdefault(own, []).append(
            CauseTime(
                cause=_CAUSES[cause],
                idle_ns=idle_ns,
                gap_count=gap_count,
                uncertainty_ns=None if per_border_ns is None else per_border_ns * border_count,
                steps={step: by_step[step] for step in _STEPS if step in by_step},
                names=tuple(NamedTime(name, ns) for name, ns in sorted(names[code], key=lambda one: -one[1])),
            )
        )
    return {own: tuple(causes) for own, causes in found.items()}


_Shares = dict[int, list[tuple[str, int]]]


def _shares(gaps: Gaps, pieces: Iterable[GapPieces]) -> tuple[_Shares, _Shares]:
    """Times by step and by name, for each lane and cause: keys as in `cause_times`; texts in their order."""
    by_step, by_name = _Sums(), _Sums()
    names: tuple[str, ...] = ("",)
    for block in pieces:
        code = gaps.lane[block.gap] * len(_CAUSES) + block.cause
        length_ns = block.end_ns - block.start_ns
        names = block.names
        by_step.add(code * (len(_STEPS) + 1) + block.step + 1, length_ns)
        by_name.add(code * len(names) + block.name, length_ns)
    return by_step.shares(("", *_STEPS)), by_name.shares(names)


class _Sums:
    """Adds up times by code."""

    def __init__(self) -> None:
        self._codes, self._sums = np.empty(0, np.int64), np.empty(0, np.int64)

    def add(self, code: Int64, duration_ns: Int64) -> None:
        """Times, each with its code."""
        distinct, group = numbered(code)
        sums = np.zeros(len(distinct), np.int64)
        np.add.at(sums, group, duration_ns)
        self._codes, group = numbered(np.concatenate((self._codes, distinct)))
        known, self._sums = np.concatenate((self._sums, sums)), np.zeros(len(self._codes), np.int64)
        np.add.at(self._sums, group, known)

    def shares(self, texts: Sequence[str]) -> _Shares:
        """What was added: a code is the row of a text, plus their number times the code of lane and cause."""
        shares: _Shares = {}
        for code, idle_ns in zip(self._codes.tolist(), self._sums.tolist(), strict=True):
            shares.setdefault(code // len(texts), []).append((texts[code % len(texts)], idle_ns))
        return shares
