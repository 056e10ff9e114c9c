"""Sums and percentiles of device slices by what they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from rblnpb.errors import Finding

from ..timeline import Int64
from .bounds import GroupBounds

__all__ = ["SliceOverview", "SliceRows", "SliceStatistics", "SliceTotals"]


@dataclass(frozen=True, eq=False)
class SliceStatistics:
    """Durations, bytes and cycles of k groups of slices; columns of length k, ABSENT where a group has none.

    Attributes:
        count: int64[k]; slices.
        total_ns: int64[k], or Python integers where 64 bits do not hold one; sum of durations.
        min_ns, p50_ns, p90_ns, p99_ns, max_ns: int64[k]; of durations, percentiles by nearest rank: each is a duration that was
            measured, the first of those in order that at least so many percent do not exceed.
        busy_ns: int64[k]; union: overlapping work is counted once.
        size_bytes: As `total_ns`; bytes moved.
        planned_bytes: As `total_ns`; those of them that the compiler planned and nothing measured.
        moving_ns: As `total_ns`; durations of the slices that tell their bytes.
        peak_bytes_per_s: int64[k]; peak of the memory behind those slices; ABSENT where one of them has none, or another.
        compute_cycles: As `total_ns`.
        computing_ns: As `total_ns`; durations of the slices that tell their cycles.
    """

    count: Int64
    total_ns: npt.NDArray[Any]
    min_ns: Int64
    p50_ns: Int64
    p90_ns: Int64
    p99_ns: Int64
    max_ns: Int64
    busy_ns: Int64
    size_bytes: npt.NDArray[Any]
    planned_bytes: npt.NDArray[Any]
    moving_ns: npt.NDArray[Any]
    peak_bytes_per_s: Int64
    compute_cycles: npt.NDArray[Any]
    computing_ns: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.count)


@dataclass(frozen=True)
class SliceTotals:
    """All slices of work together, whatever their groups.

    Attributes:
        row_count: Groups.
        count: Slices.
        total_ns: Sum of durations: what the groups add up to.
        busy_ns: Union of all of them.
        span_ns: From the first start to the last end.
        size_bytes, planned_bytes, compute_cycles: Sums; None = nothing tells.
    """

    row_count: int
    count: int
    total_ns: int
    busy_ns: int
    span_ns: int
    size_bytes: int | None
    planned_bytes: int | None
    compute_cycles: int | None


@dataclass(frozen=True, eq=False)
class SliceOverview:
    """A smaller table beside the rows: calls of a program, or steps of a phase.

    Attributes:
        by: What a row of it is.
        columns: k values by name, units in the names; None = not known.
    """

    by: str
    columns: dict[str, tuple[object, ...]]


@dataclass(frozen=True, eq=False)
class SliceRows:
    """Device slices by what they have in common: k rows, in order of first mention.

    Attributes:
        by: What a row is: "stage", "layer", "family", "program", "engine", "call" or "step".
        keys: What each row is called: columns of k values, "name" the first; None = not known.
        statistics: Their numbers.
        times: Further columns of this `by`, int64[k] by name with its unit; ABSENT = not known.
        bounds: What bounds each; None where a row is no part of the program that could be bound.
        overview: A smaller table, where this `by` has one.
        totals: Of all slices.
        origin_ns: Start of the first slice, trace clock; of the first step where there is no slice, 0 where there is neither.
        peak_basis: Where `peak_bytes_per_s` comes from; empty = no row has one.
        findings: What was odd.
    """

    by: str
    keys: dict[str, tuple[object, ...]]
    statistics: SliceStatistics
    times: dict[str, Int64]
    bounds: GroupBounds | None
    overview: SliceOverview | None
    totals: SliceTotals
    origin_ns: int
    peak_basis: str
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.statistics)

    @property
    def name(self) -> tuple[object, ...]:
        """What each row is called."""
        return self.keys["name"]
