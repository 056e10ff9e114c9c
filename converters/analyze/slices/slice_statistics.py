"""Numbers of groups of slices on whole columns: exact sums, nearest-rank percentiles, unions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT

from ...results import SliceStatistics, SliceTotals
from ...timeline import Bool, Int64, Timeline
from ..intervals import exact_sum, union_ns
from .engine_rates import cycles_and_bytes, peak_bytes_per_s
from .slice_groups import SliceGroups

__all__ = ["exact_sums", "group_unions", "nearest_ranks", "slice_statistics", "slice_totals"]

_TOP: Final = (1 << 63) - 1


def exact_sums(group: Int64, values: Int64, count: int) -> npt.NDArray[Any]:
    """Sums of values by group.

    Args:
        group: int64[n]; group of each, from 0.
        values: int64[n]; not negative.
        count: Number of groups.

    Returns:
        int64[count]; Python integers where 64 bits do not hold a sum.

    >>> exact_sums(np.array([0, 1, 0]), np.array([1, 2, 3]), 2)
    array([4, 2])
    """
    total = np.zeros(count, np.int64)
    if not len(values) or int(values.max()) <= _TOP // len(values):
        np.add.at(total, group, values)
        return total
    high, low = np.zeros(count, np.int64), total
    np.add.at(high, group, values >> 32)
    np.add.at(low, group, values & 0xFFFF_FFFF)
    sums = [(upper << 32) + lower for upper, lower in zip(high.tolist(), low.tolist(), strict=True)]
    return np.array(sums, np.int64 if max(sums) <= _TOP else object)


def nearest_ranks(group: Int64, values: Int64, count: int, percents: tuple[int, ...]) -> Int64:
    """Percentiles of values by group: of n in order, the p-th is number ceil(n p / 100), the 0-th the first.

    Args:
        group: int64[n]; group of each, from 0.
        values: int64[n]; not negative.
        count: Number of groups.
        percents: Which, from 0 to 100.

    Returns:
        int64[len(percents), count]; ABSENT for a group without values.

    >>> nearest_ranks(np.array([0, 0, 1]), np.array([9, 5, 7]), 2, (50, 100))
    array([[5, 7],
           [9, 7]])
    """
    sizes = np.bincount(group, minlength=count)
    ordered = _ordered(group, values, count)
    first = np.cumsum(sizes) - sizes
    found = np.full((len(percents), count), ABSENT, np.int64)
    filled = sizes > 0
    for row, percent in enumerate(percents):
        place = np.maximum((percent * sizes + 99) // 100 - 1, 0) + first
        found[row, filled] = ordered[place[filled]]
    return found


def _ordered(group: Int64, values: Int64, count: int) -> Int64:
    """Values in order of group, then of value."""
    bits = int(values.max()).bit_length() if len(values) else 0
    if bits + count.bit_length() <= 63:
        # One number that holds both sorts several times faster than two columns, and faster still when it is small.
        both = group << bits | values
        ordered = np.sort(both.astype(np.uint32) if bits + count.bit_length() <= 32 else both)
        return ordered.astype(np.int64) & ((1 << bits) - 1)
    return values[np.lexsort((values, group))]


def group_unions(group: Int64, start_ns: Int64, duration_ns: Int64, count: int) -> Int64:
    """Time that at least one slice of each group covers.

    Args:
        group: int64[n]; group of each, from 0.
        start_ns: int64[n]; any clock, any order.
        duration_ns: int64[n]; not negative.
        count: Number of groups.

    Returns:
        int64[count].

    >>> group_unions(np.array([0, 1, 0]), np.array([0, 5, 8]), np.array([10, 1, 10]), 2)
    array([18,  1])
    """
    union = np.zeros(count, np.int64)
    if not len(group):
        return union
    order = np.argsort(start_ns, kind="stable")
    # A stable sort of 16 bits is a counting sort.
    small = group[order].astype(np.uint16 if count <= 1 << 16 else np.int64)
    order = order[np.argsort(small, kind="stable")]
    group, start, end = group[order], start_ns[order], start_ns[order] + duration_ns[order]
    begins = np.append(0, np.flatnonzero(np.diff(group)) + 1)
    length = np.maximum.reduceat(end, begins) - start[begins]
    if sum(length.tolist()) > _TOP:
        # Damaged times: laid end to end, the groups would be longer than time is.
        for one, own in zip(group[begins].tolist(), np.split(order, begins[1:]), strict=True):
            union[one] = union_ns(start_ns[own], duration_ns[own])
        return union
    # Groups laid end to end on one line of time, so that one running maximum never reaches from a group into the next.
    shift = np.repeat(np.cumsum(length) - length - start[begins], np.diff(np.append(begins, len(group))))
    start, reach = start + shift, np.maximum.accumulate(end + shift)
    covered = reach - np.maximum(start, np.append(start[:1], reach[:-1]))
    np.add.at(union, group, covered)
    return union


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
    least, most = np.full(count, _TOP, np.int64), np.zeros(count, np.int64)
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
