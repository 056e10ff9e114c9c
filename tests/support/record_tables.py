"""Tables of records as two files hold them: one run, two clocks, some records missing on each side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rblnpb.converters.merging.record_matching import Records

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Run:
    """How a run was, and what its files are like.

    Attributes:
        calls, per_call: How many calls, of how many records each.
        names: How many names the records of a call have; 0 = every record of the run has its own.
        gap_ns: Usual distance of two calls.
        drift: How much faster the other clock runs.
        offset_ns: What the other clock shows more.
        missing: Share of records that each file lacks.
        noise_ns: How far times of the two may be off each other.
        rounded_ns: What the other file rounds times to.
        seed: Of everything that is drawn.
    """

    calls: int = 20
    per_call: int = 12
    names: int = 4
    gap_ns: int = 200_000
    drift: float = 0.0
    offset_ns: int = 1_790_000_000 * 10**9
    missing: float = 0.0
    noise_ns: int = 0
    rounded_ns: int = 1
    seed: int = 1


@dataclass(frozen=True)
class Tables:
    """Both tables, in no order, and which record of the run each row is."""

    own: Records
    other: Records
    own_record: Int64
    other_record: Int64

    @property
    def common(self) -> int:
        """How many records both hold."""
        return len(np.intersect1d(self.own_record, self.other_record))

    def wrong(self, own: Int64, other: Int64) -> int:
        """How many of these pairs are two records."""
        return int((self.own_record[own] != self.other_record[other]).sum())


def tables(run: Run) -> Tables:
    """The tables of a run."""
    draw = np.random.default_rng(run.seed)
    count = run.calls * run.per_call
    call = np.repeat(np.arange(run.calls), run.per_call)
    begin = np.cumsum(draw.integers(run.gap_ns // 2, 2 * run.gap_ns, run.calls))
    inner = np.cumsum(draw.integers(300, 4000, run.per_call))
    start = begin[call] + np.tile(inner, run.calls) + draw.integers(-80, 81, count)
    duration = np.tile(draw.integers(100, 3000, run.per_call), run.calls) + draw.integers(0, 60, count)
    key = np.tile(draw.integers(0, max(run.names, 1), run.per_call), run.calls) if run.names else np.arange(count)
    noise = draw.integers(-run.noise_ns, run.noise_ns + 1, count)
    there = start + np.rint(start * run.drift).astype(np.int64) + run.offset_ns + noise
    longer = duration + np.rint(duration * run.drift).astype(np.int64)
    rows = [draw.permutation(np.flatnonzero(draw.random(count) >= run.missing)) for _ in range(2)]
    own = Records(key[rows[0]], start[rows[0]], duration[rows[0]])
    step = run.rounded_ns
    other = Records(key[rows[1]], there[rows[1]] // step * step, longer[rows[1]] // step * step)
    return Tables(own, other, rows[0], rows[1])
