"""What bounds the device: rates of its engines, who waits for whom, and a verdict with its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from rblnpb.errors import Finding

from ..timeline import Int64

__all__ = ["ChipletActivity", "DeviceBounds", "EngineOverlap", "EngineRate", "GroupBounds"]

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EngineRate:
    """How fast the engines of one kind work at their best, as the timeline shows it.

    Attributes:
        kind: As in `Track`.
        name: The vendor's spelling of it.
        is_compute: Whether cycles were counted, else bytes.
        per_second: Cycles or bytes: the highest credible rate of a slice.
        slice_count: Slices that counted any.
        high_count, low_count: Slices at over ten times, and under a tenth, of the median rate.
        peak_per_second: Bytes in a second that the memory behind one engine gives; None = not known.
    """

    kind: str
    name: str
    is_compute: bool
    per_second: int
    slice_count: int
    high_count: int
    low_count: int
    peak_per_second: int | None


@dataclass(frozen=True, eq=False)
class GroupBounds:
    """What bounds each of k groups of slices; columns of length k.

    The engine that needs longest at its best rate bounds the rest: `compute_ns` and `dma_ns` are what the busiest engine of either
    side needs. Slices without a count may have needed nothing or all of their time: then there is a least and a most.

    Attributes:
        verdict: "compute-bound" or "dma-bound" where that side needs at least 1.25 times as long as the other whatever was not
            counted, "balanced" where neither does, "unknown" where nothing was counted, or too little to tell.
        compute_ns, dma_ns: int64[k]; what the busiest engine of a side needs for the cycles, or bytes, that were counted.
        most_compute_ns, most_dma_ns: int64[k]; the same if slices without a count needed all of their time.
        compute_engine, dma_engine: Name of that engine; empty = nothing was counted.
        compute_use, dma_use: float64[k]; counted cycles (or bytes) by what the engines could have done in the time of the slices
            that counted them; NaN = nothing counted. Busy time alone would call waiting for data computing.
    """

    verdict: tuple[str, ...]
    compute_ns: Int64
    dma_ns: Int64
    most_compute_ns: Int64
    most_dma_ns: Int64
    compute_engine: tuple[str, ...]
    dma_engine: tuple[str, ...]
    compute_use: Float64
    dma_use: Float64

    def __len__(self) -> int:
        return len(self.verdict)

    def take(self, rows: Sequence[int]) -> GroupBounds:
        """The bounds of these groups, in that order."""
        at = np.array(rows, np.int64)
        columns: dict[str, Any] = {column.name: getattr(self, column.name) for column in fields(self)}
        taken: dict[str, Any] = {
            name: values[at] if isinstance(values, np.ndarray) else tuple(values[row] for row in rows)
            for name, values in columns.items()
        }
        return GroupBounds(**taken)


@dataclass(frozen=True)
class EngineOverlap:
    """How long engines of either side worked, together and alone; the four parts add up to the span, exactly.

    Attributes:
        device: Which; empty = all devices together.
        compute_only_ns, dma_only_ns, both_ns, neither_ns: Parts of the span.
        span_ns: From the first work of any device to the last.
    """

    device: str
    compute_only_ns: int
    dma_only_ns: int
    both_ns: int
    neither_ns: int
    span_ns: int


@dataclass(frozen=True)
class ChipletActivity:
    """How long any engine of a chiplet worked.

    Attributes:
        device: Whose chiplet it is.
        chiplet: Its number.
        busy_ns: Union of its work.
    """

    device: str
    chiplet: int
    busy_ns: int


@dataclass(frozen=True, eq=False)
class DeviceBounds:
    """What bounds the device, as a whole and for the groups that were asked for.

    Attributes:
        whole: Of all work together: one row.
        overlaps: Of all devices together, and of each where there are several.
        chiplets: Where tracks name them; empty = they do not.
        skew: Device and most busy chiplet by mean chiplet, where a device has several; 1 = even.
        rates: Of every kind of engine that counted anything.
        by: What a group is.
        keys: What the groups are called; "name" the first.
        groups: Their bounds.
        findings: What was odd.
    """

    whole: GroupBounds
    overlaps: tuple[EngineOverlap, ...]
    chiplets: tuple[ChipletActivity, ...]
    skew: tuple[tuple[str, float], ...]
    rates: tuple[EngineRate, ...]
    by: str
    keys: dict[str, tuple[object, ...]]
    groups: GroupBounds
    findings: tuple[Finding, ...]
