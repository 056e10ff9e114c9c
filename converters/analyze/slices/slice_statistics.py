"""Numbers of groups of slices, on whole columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT

from ...results import SliceStatistics, SliceTotals
from ...timeline import Bool, Int64, Timeline
from ..grouping import exact_sums, group_unions, nearest_ranks
from ..intervals import exact_sum, union_ns
from .engine_rates import cycles_and_bytes, peak_bytes_per_s
from .slice_groups import SliceGroups

__all__ = ["slice_statistics", "slice_totals"]


def slice_statistics(timeline: Timeline, groups: SliceGroups) -> SliceStatistics:
    """The numbers of each group; see `SliceStatistics`."""
    slices, rows, group, count = timeline.slices, groups.rows, groups.group, len(groups)
    duration_ns = slices.duration_ns[rows]
    cycles, size_bytes, is_planned = cycles_and_bytes(timeline, rows)
    moves, computes = size_bytes != ABSENT, cycles != ABSENT
    least, p50, p90, p99, most = nearest_ranks(group, duration_ns, count, (0, 50, 90, 99, 100))

    def sums(values: Int64, counted: Bool, told: Bool) -> npt.NDArray[Any]:
        """Sums over the slices that are counted, ABSENT in groups where no slice tells."""
        total = exact_sums(group[counted], values[counted], count)
        total[np.bincount(group[told], minlength=count) == 0] = ABSENT
        return total

    return SliceStatistics(
        count=np.bincount(group, minlength=count),
        total_ns=exact_sums(group, duration_ns, count),
        min_ns=least,
        p50_ns=p50,
        p90_ns=p90,
        p99_ns=p99,
        max_ns=most,
        busy_ns=group_unions(group, slices.start_ns[rows], duration_ns, count),
        size_bytes=sums(size_bytes, moves, moves),
        planned_bytes=sums(size_bytes, is_planned, moves),
        moving_ns=sums(duration_ns, moves, moves),
        peak_bytes_per_s=_peaks(timeline, rows[moves], group[moves], count),
        compute_cycles=sums(cycles, computes, computes),
        computing_ns=sums(duration_ns, computes, computes),
    )


def _peaks(timeline: Timeline, rows: Int64, group: Int64, count: int) -> Int64:
    """int64[count]; the one peak behind all slices that move data in a group, else ABSENT."""
    if not len(rows):
        return np.full(count, ABSENT, np.int64)
    peak = peak_bytes_per_s(timeline.tracks)[timeline.slices.track[rows]]
    least, most = np.full(count, np.iinfo(np.int64).max, np.int64), np.zeros(count, np.int64)
    np.minimum.at(least, group, peak)
    np.maximum.at(most, group, peak)
    return np.where((least == most) & (most > 0), most, ABSENT)


def slice_totals(timeline: Timeline, groups: SliceGroups) -> SliceTotals:
    """The numbers of all slices of work together."""
    slices, rows = timeline.slices, groups.rows
    start_ns, duration_ns = slices.start_ns[rows], slices.duration_ns[rows]
    cycles, size_bytes, is_planned = cycles_and_bytes(timeline, rows)
    moves, computes = size_bytes != ABSENT, cycles != ABSENT
    return SliceTotals(
        row_count=len(groups),
        count=len(rows),
        total_ns=exact_sum(duration_ns),
        busy_ns=union_ns(start_ns, duration_ns),
        span_ns=int((start_ns + duration_ns).max()) - int(start_ns.min()) if len(rows) else 0,
        size_bytes=exact_sum(size_bytes[moves]) if moves.any() else None,
        planned_bytes=exact_sum(size_bytes[is_planned]) if moves.any() else None,
        compute_cycles=exact_sum(cycles[computes]) if computes.any() else None,
    )
