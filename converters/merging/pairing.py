"""The same records in two files, whose clocks nothing relates: which of one is which of the other.

Records pair by name, by duration and by when they are: the offset between the clocks is the one on which most records of one name
meet. It is voted for in short windows, where even a clock that is 0.1 % off its rate moves little, and followed from the best
window outward, twice as far with every step, so that drift is measured on the way. Of records that are called and timed alike the
order decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ..timeline import Int64
from .clock_lines import MOST_DRIFT, ClockLine, fit_line
from .pair_seeds import Seed, seeds, tilted
from .record_matching import Records, all_pairs, nearest_pairs

__all__ = ["Pairing", "find_pairs"]

_SLACK_NS: Final = 10_000
"""Records of one name that lie this near to where they are expected are the same: a clock that is set anew jumps by as much."""
_STRAY_NS: Final = 2_000
_STRAY_NOISE: Final = 30
"""In the end no pair is further from the line than this, and so many times the noise."""
_HALF_NS: Final = 400
"""A pair whose records differ by this counts half."""
_NEAR_NS: Final = 100
_NEAR_NOISE: Final = 4
_SHIFTS_NS: Final = (13_001, -29_009, 53_017)
"""Lines to compare with: no period of a program is likely to be one of these."""
_FIRST_REACH: Final = 250_000
"""How far from a seed its first pairs are sought: no clock drifts over that by more than a fraction of a microsecond."""
_FIRST_ROWS: Final = 8
"""How many records at least are added to each side with a step."""
_BLOCKS: Final = 32
_BLOCK_ROWS: Final = 128
"""While a seed is followed, so many blocks of so many records stand for all: it costs the same for any number of records."""
_PASS_ROWS: Final = 65_536
_TRIED: Final = 4
"""How many trails are gone to their ends, of few records, before the best is taken."""
_RIVAL_SHARE: Final = 0.9


@dataclass(frozen=True, eq=False)
class Pairing:
    """Records of two files that are one.

    Attributes:
        own, other: int64[k]; rows of the two tables, ascending by `own`.
        rival_count: Pairs that another offset makes nearly as well; 0 = there is no such offset.
        rival_ns: How far that offset is from the one that was taken.
    """

    own: Int64
    other: Int64
    rival_count: int
    rival_ns: int

    def __len__(self) -> int:
        return len(self.own)


def find_pairs(own: Records, other: Records) -> Pairing | None:
    """Pair records of two files.

    Args:
        own: Records in a clock of their own.
        other: Records in another clock, which runs at the same rate but for 0.1 %.

    Returns:
        The pairs; None when no offset pairs half of the records that both files should hold then.
    """
    own_rows, other_rows = _common(own, other)
    mine, theirs = own.take(own_rows), other.take(other_rows)
    if not len(mine):
        return None
    trails = _trails(mine, theirs, seeds(mine, theirs))
    found: list[_Trail] = []
    for trail in trails:
        whole = _whole(mine, theirs, trail) if len(found) < (_TRIED if len(mine) <= _PASS_ROWS else 1) else None
        found += [] if whole is None else [whole]
    if not found:
        return None
    best = min(found, key=_Trail.rank)
    order = order_by(own_rows[best.own])
    pairs = own_rows[best.own][order], other_rows[best.other][order]
    rival = _rival(mine, theirs, best, trails)
    return Pairing(*pairs, 0, 0) if rival is None else Pairing(*pairs, len(rival), best.distance_ns(rival))


def _trails(own: Records, other: Records, tried: list[Seed]) -> list[_Trail]:
    """Where seeds lead to, the best first."""
    return sorted((trail for seed in tried if len(trail := _follow(own, other, seed))), key=_Trail.rank)


def _whole(own: Records, other: Records, trail: _Trail) -> _Trail | None:
    """All pairs on a trail; None when it is not sound."""
    whole = _without_strays(own, other, _paired(own, other, trail, _overlap(own, other, trail.line), _PASS_ROWS))
    return whole if _is_sound(own, other, whole) and not _is_chance(own, other, whole) else None


def _rival(own: Records, other: Records, best: _Trail, trails: list[_Trail]) -> _Trail | None:
    """Another offset that pairs nearly as many records; None when there is none."""
    if len(best) == len(own) == len(other):
        # Any other offset leaves records over; where all are alike, this is what their order says.
        return None
    for trail in [*_trails(own, other, best.neighbours(other)), *trails]:
        if 2 * trail.score >= trails[0].score and not trail.is_near(best):
            whole = _whole(own, other, trail)
            if whole is not None and whole.score >= _RIVAL_SHARE * best.score:
                return whole
    return None


def _common(own: Records, other: Records) -> tuple[Int64, Int64]:
    """Rows of both tables whose key the other table has too, in the order of time."""
    mine, theirs = np.flatnonzero(np.isin(own.key, other.key)), np.flatnonzero(np.isin(other.key, own.key))
    return mine[order_by(own.start[mine])], theirs[order_by(other.start[theirs])]


@dataclass(frozen=True, eq=False)
class _Trail:
    """A seed as far as it was followed: its line, the pairs on it, how far from it further pairs may be, and how good they are."""

    seed: Seed
    line: ClockLine
    own: Int64
    other: Int64
    tolerance: float
    score: float = 0.0

    def __len__(self) -> int:
        return len(self.own)

    def rank(self) -> tuple[float, int]:
        """The best first: many pairs that are near to each other, the least offset."""
        return -round(self.score, 6), abs(self.seed.offset_ns)

    def distance_ns(self, other: _Trail) -> int:
        """How far apart two of them are."""
        at = np.array([self.seed.tick], np.int64)
        return abs(int(self.line.at(at)[0] - other.line.at(at)[0]))

    def neighbours(self, other: Records) -> list[Seed]:
        """Seeds that lead each record to the one of its name before, or behind, its partner, where all come at equal distances."""
        middle = int(self.other[len(self.other) // 2])
        alike = np.flatnonzero(other.key == other.key[middle])
        at = int(np.searchsorted(alike, middle))
        near = [int(alike[place]) for place in (at - 1, at + 1) if 0 <= place < len(alike)]
        gaps = [int(other.start[row] - other.start[middle]) for row in near]
        return [replace(self.seed, offset_ns=self.seed.offset_ns + gap, width_ns=0) for gap in gaps]

    def is_near(self, other: _Trail) -> bool:
        """Whether two of them are one."""
        return self.distance_ns(other) <= _SLACK_NS + 16 * self.line.noise_ns


def _follow(own: Records, other: Records, seed: Seed) -> _Trail:
    """Follow a seed outward, as far as both tables go."""
    line = ClockLine.level(seed.tick, seed.offset_ns)
    everything = _overlap(own, other, line)
    near = np.searchsorted(own.start, (seed.tick - _FIRST_REACH, seed.tick + _FIRST_REACH + 1))
    rows = slice(max(int(near[0]), everything.start), min(int(near[1]), everything.stop))
    trail = _Trail(seed, line, own.key[:0], own.key[:0], float(_SLACK_NS + seed.width_ns))
    trail = _paired(own, other, trail, rows, _BLOCK_ROWS, _BLOCKS)
    while len(trail) and rows != everything:
        more = max(rows.stop - rows.start, _FIRST_ROWS)
        wider = slice(max(rows.start - more, everything.start), min(rows.stop + more, everything.stop))
        reach = max(seed.tick - int(own.start[wider.start]), int(own.start[wider.stop - 1]) - seed.tick)
        if trail.line.slope_error * reach > _SLACK_NS:
            # So far off, a record of the same name is nearer than the right one.
            added = np.r_[wider.start : rows.start, rows.stop : wider.stop]
            trail = replace(trail, line=tilted(trail.line, own.take(added), other, _SLACK_NS))
        trail = replace(trail, tolerance=trail.tolerance + trail.line.slope_error * reach)
        rows = wider
        trail = _paired(own, other, trail, rows, _BLOCK_ROWS, _BLOCKS)
    return trail


def _overlap(own: Records, other: Records, line: ClockLine) -> slice:
    """Rows of the one table that lie in the time of the other, if the clock is off by no more than it may be."""
    offset = int(line.at(np.array([line.tick], np.int64))[0])
    ends = np.array([other.start[0], other.start[-1]]) - offset
    margin = _SLACK_NS + (np.abs(ends - line.tick) * MOST_DRIFT).astype(np.int64)
    first, last = np.searchsorted(own.start, (ends[0] - margin[0], ends[1] + margin[1] + 1))
    return slice(int(first), int(last))


def _paired(own: Records, other: Records, trail: _Trail, rows: slice, block_rows: int, blocks: int = 0) -> _Trail:
    """The pairs among these rows, block by block, and the line through them; of `blocks` blocks at most, 0 = all."""
    count = rows.stop - rows.start
    begins = list(range(rows.start, rows.stop, block_rows))
    if blocks and len(begins) > blocks:
        begins = [rows.start + one * (count - block_rows) // (blocks - 1) for one in range(blocks)]
    pairs = [_block_pairs(own, other, trail, slice(begin, min(begin + block_rows, rows.stop))) for begin in begins]
    left, right = all_pairs(pairs)
    if not len(left):
        return replace(trail, own=left, other=right, score=0.0)
    # Blocks may meet at their ends, and claim one partner twice.
    _, first = np.unique(right, return_index=True)
    left, right = left[np.sort(first)], right[np.sort(first)]
    line = fit_line(own.start[left], other.start[right], trail.seed.tick, trail.seed.offset_ns)
    return _scored(own, other, replace(trail, line=line, own=left, other=right, tolerance=_SLACK_NS + 8 * line.noise_ns))


def _scored(own: Records, other: Records, trail: _Trail) -> _Trail:
    """The trail with its score: a pair counts 1, and less the more its two records differ in time and length."""
    mine = own.take(trail.own)
    off = np.abs(mine.start + trail.line.at(mine.start) - other.start[trail.other])
    off += np.abs(mine.duration + np.rint(mine.duration * trail.line.slope).astype(np.int64) - other.duration[trail.other])
    return replace(trail, score=float((_HALF_NS / (_HALF_NS + off)).sum()))


def _block_pairs(own: Records, other: Records, trail: _Trail, rows: slice) -> tuple[Int64, Int64]:
    """The pairs among some records that follow each other, ascending."""
    mine = own.take(rows)
    if not len(mine):
        return mine.key, mine.key
    tolerance = int(trail.tolerance)
    expected = mine.start + trail.line.at(mine.start)
    first, last = np.searchsorted(other.start, (expected.min() - tolerance, expected.max() + tolerance + 1))
    found, partner = nearest_pairs(mine, expected, other.take(slice(int(first), int(last))), tolerance)
    order = order_by(found)
    return rows.start + found[order], first + partner[order]


def _without_strays(own: Records, other: Records, trail: _Trail) -> _Trail:
    """The trail without pairs that lie off its line: a record whose partner is missing finds one of its name nearby."""
    off = np.abs(own.start[trail.own] + trail.line.at(own.start[trail.own]) - other.start[trail.other])
    is_near = off <= _STRAY_NS + _STRAY_NOISE * trail.line.noise_ns
    return _scored(own, other, replace(trail, own=trail.own[is_near], other=trail.other[is_near]))


def _is_sound(own: Records, other: Records, trail: _Trail) -> bool:
    """Whether at least half of the records that both files should hold, the fewer of both, are pairs."""
    expected = own.start + trail.line.at(own.start)
    first, last = other.start[0] - _SLACK_NS, other.start[-1] + _SLACK_NS
    mine = int(((expected >= first) & (expected <= last)).sum())
    theirs = int(((other.start >= expected.min() - _SLACK_NS) & (other.start <= expected.max() + _SLACK_NS)).sum())
    return 2 * len(trail) >= min(mine, theirs) and len(trail) >= min(3, len(own), len(other))


def _is_chance(own: Records, other: Records, trail: _Trail) -> bool:
    """Whether another line would find half as many partners as near: few names that follow each other fast always find some."""
    near = replace(trail, tolerance=max(_NEAR_NOISE * trail.line.noise_ns, _NEAR_NS))
    rows = _overlap(own, other, trail.line)

    def count(shift_ns: int) -> int:
        line = replace(trail.line, offset_ns=trail.line.offset_ns + shift_ns)
        return len(_paired(own, other, replace(near, line=line), rows, _BLOCK_ROWS, _BLOCKS))

    return 2 * max(map(count, _SHIFTS_NS)) > count(0)
