"""Where two clocks may lie to each other, told by votes: each two records of one name and length vote for an offset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ..timeline import Int64
from .clock_lines import ClockLine
from .record_matching import Records, are_alike, nearest_pairs

__all__ = ["Seed", "seeds", "tilted"]

_WINDOWS: Final = 16
_WINDOW_ROWS: Final = 128
_MOST_VOTES: Final = 100_000
_PEAKS: Final = 3
_TILT_NS: Final = 500
"""How near to a line its records lie, in a file of whole microseconds."""
_SEEDS: Final = 8
_WIDTH_NS: Final = 5_000
_DRIFT_SHIFT: Final = 10
"""A clock that is off by a thousandth moves by its window's length shifted by this."""
_FINER: Final = (0, 4, 8)
"""Votes of a window are counted in bins of its own width, and in narrower ones: a clock may as well be good."""


@dataclass(frozen=True)
class Seed:
    """An offset that a window voted for.

    Attributes:
        tick: Where it holds, in the own clock: the middle of those records that voted for it.
        offset_ns: What is added to a time of the own clock for the other's.
        width_ns: How sure that is.
        support: How many records pair in the window.
        noise_ns: Their median distance.
    """

    tick: int
    offset_ns: int
    width_ns: int
    support: int
    noise_ns: int


def seeds(own: Records, other: Records) -> list[Seed]:
    """Offsets between the clocks of two tables: those of their ends, and those that pair the most records in a window.

    Args:
        own, other: Records in the order of time, at least one each, whose keys are in both tables.
    """
    # Windows of the shorter table lie within the time of the longer one, if there is such a time at all.
    if len(own) <= len(other):
        found = list(_voted(own, other))
    else:
        found = [
            Seed(one.tick + one.offset_ns, -one.offset_ns, one.width_ns, one.support, one.noise_ns) for one in _voted(other, own)
        ]
    found.sort(key=lambda one: (-one.support, one.noise_ns, abs(one.offset_ns)))
    # Where all records are alike every window votes for any of them: then the first is the first, or the last the last.
    ends = [Seed(int(own.start[at]), int(other.start[at] - own.start[at]), 0, 1, 0) for at in (0, -1)]
    return [*ends, *found[:_SEEDS]]


def _voted(probe: Records, target: Records) -> Iterator[Seed]:
    by_key = order_by(target.key)
    keys = target.key[by_key]
    seen: set[tuple[int, int]] = set()
    last = max(len(probe) - _WINDOW_ROWS, 0)
    for first in sorted({round(one) for one in np.linspace(0, last, _WINDOWS).tolist()}):
        window = probe.take(slice(first, first + _WINDOW_ROWS))
        rows, candidates = _candidates(window, keys, by_key)
        alike = are_alike(window.duration[rows], target.duration[candidates])
        votes = np.sort(target.start[candidates[alike]] - window.start[rows[alike]])
        if not len(votes):
            continue
        length = int(window.start[-1] - window.start[0])
        widest = _WIDTH_NS + (length >> _DRIFT_SHIFT)
        for width in dict.fromkeys(max(widest >> finer, 64) for finer in _FINER):
            for offset in _peaks(votes, width):
                if (first, offset) not in seen:
                    seen.add((first, offset))
                    yield _tried(window, target, offset, width)


def _candidates(window: Records, keys: Int64, by_key: Int64) -> tuple[Int64, Int64]:
    """Rows of the window and of the target that have one key, all pairs of them; rare names first, if they are too many."""
    begin = np.searchsorted(keys, window.key, side="left")
    count = np.searchsorted(keys, window.key, side="right") - begin
    rows = order_by(count)
    rows = rows[np.cumsum(count[rows]) <= max(_MOST_VOTES, int(count.min(initial=0)))]
    repeats = count[rows]
    place = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return np.repeat(rows, repeats).astype(np.int64), by_key[np.repeat(begin[rows], repeats) + place]


def _peaks(votes: Int64, width: int) -> list[int]:
    """The offsets on which most votes agree to within a width, the most first; no two of them overlap."""
    until = np.searchsorted(votes, votes + width, side="right")
    count = until - np.arange(len(votes))
    found: list[int] = []
    for _ in range(_PEAKS):
        first = int(count.argmax())
        if count[first] == 0:
            break
        found.append(int(votes[(first + int(until[first]) - 1) // 2]))
        # What overlaps it is part of it.
        count[np.searchsorted(until, first, side="right") : int(until[first])] = 0
    return found


def _tried(window: Records, target: Records, offset: int, width: int) -> Seed:
    """The offset, with how many records of its window meet a partner there."""
    expected = window.start + offset
    near = np.searchsorted(target.start, (int(expected[0]) - width, int(expected[-1]) + width + 1))
    there = target.take(slice(int(near[0]), int(near[1])))
    mine, theirs = nearest_pairs(window, expected, there, width)
    gaps = there.start[theirs] - expected[mine]
    middle = int(np.median(gaps)) if len(gaps) else 0
    noise = int(np.median(np.abs(gaps - middle))) if len(gaps) else width
    # One that is a record's: between two of them there may be nothing to begin with.
    voters = np.sort(window.start[mine]) if len(mine) else window.start
    tick = int(voters[len(voters) // 2])
    return Seed(tick, offset + middle, width, len(mine), noise)


def tilted(line: ClockLine, added: Records, other: Records, slack_ns: int) -> ClockLine:
    """The line with the slope beyond its anchors for which records further out vote: each with every one that it could be.

    Args:
        line: How the clocks lie as far as is known.
        added: Records beyond its anchors, a few.
        other: All records of the other table, in the order of time.
        slack_ns: How far from the line a record may be, whatever the slope.

    Returns:
        The line, surer of its slope; the same when there are too many votes or none.
    """
    expected = added.start + line.at(added.start)
    beyond = (added.start - line.tick).astype(np.float64)
    beyond = np.minimum(beyond - line.anchor_ticks[0], 0) + np.maximum(beyond - line.anchor_ticks[-1], 0)
    room = slack_ns + line.slope_error * np.abs(beyond)
    first, last = np.searchsorted(other.start, (int((expected - room).min()), int((expected + room).max()) + 1))
    if len(added) * int(last - first) > _MOST_VOTES:
        return line
    there = other.take(slice(int(first), int(last)))
    off = there.start[None, :] - expected[:, None]
    fits = (np.abs(off) <= room[:, None]) & (there.key[None, :] == added.key[:, None])
    fits &= are_alike(added.duration[:, None], there.duration[None, :]) & (np.abs(beyond) > 0)[:, None]
    row, partner = np.nonzero(fits)
    if not len(row):
        return line
    votes = np.sort(off[row, partner] / beyond[row])
    width = 2 * _TILT_NS / float(np.median(np.abs(beyond)))
    until = np.searchsorted(votes, votes + width, side="right")
    best = int((until - np.arange(len(votes))).argmax())
    middle = float(np.median(votes[best : int(until[best])]))
    return replace(line, slope=line.slope + middle, slope_error=min(width, line.slope_error))
