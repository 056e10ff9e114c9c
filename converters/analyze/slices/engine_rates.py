"""How fast engines work at their best: cycles and bytes in a nanosecond, as this very timeline shows them, and the known peaks.

The best rate of a kind of engine is the 99th percentile (nearest rank) of amount by duration over its slices of a microsecond or
more: shorter ones are mostly rounding of ticks. Rates of more than ten times the median of the kind are left out and told, for no
engine is that uneven: such a slice has a damaged time. Where a kind has no slice that long, all count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from ...results import EngineRate
from ...timeline import Bool, Int64, Timeline, Track
from .slice_groups import chiplet, kind_name, work_rows

__all__ = ["COMPUTE_KINDS", "DMA_KINDS", "PEAK_BASIS", "cycles_and_bytes", "engine_rates", "frequency_findings", "peak_bytes_per_s"]

Float64 = npt.NDArray[np.float64]

COMPUTE_KINDS: Final = ("neural_engine_clusters", "general_compute_engine", "compute")
"""Kinds of engines that compute."""

DMA_KINDS: Final = ("neural_dma", "task_dma", "external_hdma", "device_hdma", "copy", "collective")
"""Kinds of engines that move data; collectives move it between devices."""

PEAK_BASIS: Final = (
    "Rebel100: 4.8 TB/s of HBM3E over 4 chiplets (docs.rbln.ai, profiler architecture of 0.12.0), so 1.2 TB/s for an engine of one "
    "chiplet that reads or writes it; the vendor states 2.7 TB/s as effective"
)
"""Where the peak that bandwidths are compared with comes from."""

_HBM_BYTES_PER_S: Final = 1_200_000_000_000
_HBM_KINDS: Final = ("neural_dma", "task_dma")
"""Kinds with one end in device memory and the other on the same chip: the memory is what bounds them."""

_LONG_NS: Final = 1_000
_OUTLIER: Final = 10
_BEST_PERCENT: Final = 99


def peak_bytes_per_s(tracks: Sequence[Track]) -> Int64:
    """int64[t]; most bytes that the memory behind each track gives in a second; 0 = not known.

    Known is Rebel100's alone, which is told by what no other NPU has: several chiplets, or General Compute Engines.
    """
    rebels = {track.device for track in tracks if (chiplet(track) or 0) > 0 or track.kind == "general_compute_engine"}
    is_known = [track.device in rebels and track.kind in _HBM_KINDS and chiplet(track) is not None for track in tracks]
    return np.where(np.array(is_known, np.bool_), _HBM_BYTES_PER_S, 0)


def cycles_and_bytes(timeline: Timeline, rows: Int64) -> tuple[Int64, Int64, Bool]:
    """What slices counted: compute cycles, bytes moved, and whether those bytes are the compiler's plan and not measured.

    Args:
        timeline: Merged; columns that it does not have are taken as absent.
        rows: int64[n]; rows of its slices.

    Returns:
        int64[n], int64[n], with ABSENT where a slice tells nothing, and bool[n].
    """
    columns = []
    for name in ("compute_cycles", "size_bytes", "planned_bytes"):
        if name in timeline.argument_names:
            values = timeline.slices.arguments[rows, timeline.argument_names.index(name)]
            columns.append(np.where(values < 0, ABSENT, values))
        else:
            columns.append(np.full(len(rows), ABSENT, np.int64))
    cycles, measured, planned = columns
    is_planned = (measured == ABSENT) & (planned != ABSENT)
    return cycles, np.where(is_planned, planned, measured), is_planned


def engine_rates(timeline: Timeline) -> tuple[EngineRate, ...]:
    """The best rates of the kinds of engines that did work, compute first, then data movement; see the module."""
    rows = work_rows(timeline)
    cycles, size_bytes, _ = cycles_and_bytes(timeline, rows)
    kind_of = np.array([_kind_row(track.kind) for track in timeline.tracks], np.int64)[timeline.slices.track[rows]]
    peaks = peak_bytes_per_s(timeline.tracks)
    rates = []
    for row, kind in enumerate((*COMPUTE_KINDS, *DMA_KINDS)):
        amount = cycles if kind in COMPUTE_KINDS else size_bytes
        own = np.flatnonzero((kind_of == row) & (amount > 0))
        if not len(own):
            continue
        best, high, low = _best_rate(amount[own], timeline.slices.duration_ns[rows[own]])
        known = {int(peak) for peak, track in zip(peaks.tolist(), timeline.tracks, strict=True) if track.kind == kind}
        rates.append(
            EngineRate(
                kind=kind,
                name=kind_name(kind),
                is_compute=kind in COMPUTE_KINDS,
                per_second=best,
                slice_count=len(own),
                high_count=high,
                low_count=low,
                peak_per_second=known.pop() or None if len(known) == 1 else None,
            )
        )
    return tuple(rates)


def _kind_row(kind: str) -> int:
    kinds = (*COMPUTE_KINDS, *DMA_KINDS)
    return kinds.index(kind) if kind in kinds else -1


def _best_rate(amount: Int64, duration_ns: Int64) -> tuple[int, int, int]:
    """Best rate in a second, and how many of the slices are ten times faster and slower than the median one."""
    is_timed = duration_ns > 0
    is_long = duration_ns >= _LONG_NS
    rate: Float64 = amount / np.maximum(duration_ns, 1)
    sample = rate[is_long if is_long.any() else is_timed]
    if not len(sample):
        return 0, 0, 0
    median = _nearest_rank(sample, 50)
    is_high, is_low = is_timed & (rate > _OUTLIER * median), is_timed & (rate < median / _OUTLIER)
    best = _nearest_rank(sample[sample <= _OUTLIER * median], _BEST_PERCENT)
    return round(best * 1e9), int(is_high.sum()), int(is_low.sum())


def _nearest_rank(values: Float64, percent: int) -> float:
    place = (percent * len(values) + 99) // 100 - 1
    return float(np.partition(values, place)[place])


def frequency_findings(rates: Sequence[EngineRate]) -> tuple[Finding, ...]:
    """Slices whose cycles do not go with their duration: too many for it, which no clock gives, or remarkably few."""
    findings = []
    for rate in rates:
        if not rate.is_compute:
            continue
        name = rate.name
        if rate.high_count:
            message = (
                f"{counted(rate.high_count, 'slice')} of {name} counted over ten times the cycles of the median slice for their "
                "duration: their times are damaged"
            )
            findings.append(Finding(Severity.WARNING, "frequency-too-high", message, rate.high_count, name))
        if rate.low_count:
            message = (
                f"{counted(rate.low_count, 'slice')} of {name} counted under a tenth of the cycles of the median slice for their "
                "duration: they waited, or their times are damaged"
            )
            findings.append(Finding(Severity.INFO, "frequency-low", message, rate.low_count, name))
    return tuple(findings)
