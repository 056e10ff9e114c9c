"""What bounds the device, as lines for people and as values for JSON."""

from __future__ import annotations

import math
from typing import Any

from rblnpb.wording import counted

from ..results import DeviceBounds, EngineOverlap, GroupBounds
from ._json_values import known_share
from ._units import format_ns, format_rate, format_share
from .findings import finding_values

__all__ = ["bounds_values", "render_bounds_text", "whole_lines"]

_GROUPS_SHOWN = 10


def render_bounds_text(bounds: DeviceBounds) -> str:
    """A verdict with its evidence, a line a fact; then the groups that were asked for, those with the greatest need first."""
    lines = whole_lines(bounds)
    groups = bounds.groups
    need = [max(pair) for pair in zip(groups.compute_ns.tolist(), groups.dma_ns.tolist(), strict=True)]
    for at in sorted(range(len(groups)), key=lambda at: -need[at])[:_GROUPS_SHOWN]:
        lines.append(f"  {bounds.by} {bounds.keys['name'][at]}: {_verdict(groups, at)}")
    if len(groups) > _GROUPS_SHOWN:
        lines.append(f"  {len(groups) - _GROUPS_SHOWN:,} more")
    return "\n".join(lines) + "\n"


def whole_lines(bounds: DeviceBounds) -> list[str]:
    """The verdict on the device as a whole with its evidence, a line a fact."""
    whole = bounds.whole
    lines = [f"What bounds the device while it works: {_verdict(whole, 0)}"]
    for overlap in bounds.overlaps:
        of = f" of {overlap.device}" if overlap.device else ""
        lines.append(f"  Time{of}: {_overlap_text(overlap)}")
    for side, use in (("Compute", whole.compute_use), ("DMA", whole.dma_use)):
        lines += [
            f"  {side} engines did {format_share(part)} of what they could while at work"
            for part in use.tolist()
            if not math.isnan(part)
        ]
    for rate in bounds.rates:
        unit = "Hz" if rate.is_compute else "B/s"
        peak = "" if rate.peak_per_second is None else f", peak of the memory behind it {format_rate(rate.peak_per_second, unit)}"
        count = counted(rate.slice_count, "slice")
        lines.append(f"  Best rate of {rate.name}: {format_rate(rate.per_second, unit)}{peak} ({count})")
    if bounds.chiplets:
        busy = ", ".join(f"{one.chiplet}: {format_ns(one.busy_ns)}" for one in bounds.chiplets)
        lines.append(f"  Busy by chiplet: {busy}")
    lines += [
        f"  Skew of {device}: its busiest chiplet worked {skew:.2f} times as long as the mean" for device, skew in bounds.skew
    ]
    return lines


def _verdict(bounds: GroupBounds, at: int) -> str:
    needs = [
        f"{engine} needs {format_ns(needed)} at its best rate"
        for engine, needed in (
            (bounds.compute_engine[at], int(bounds.compute_ns[at])),
            (bounds.dma_engine[at], int(bounds.dma_ns[at])),
        )
        if engine
    ]
    return f"{bounds.verdict[at]} ({', '.join(needs) or 'no cycles and no bytes were counted'})"


def _overlap_text(overlap: EngineOverlap) -> str:
    parts = (
        ("compute alone", overlap.compute_only_ns),
        ("DMA alone", overlap.dma_only_ns),
        ("both", overlap.both_ns),
        ("neither", overlap.neither_ns),
    )
    span_ns = max(overlap.span_ns, 1)
    return ", ".join(f"{name} {format_ns(part)} ({format_share(part / span_ns)})" for name, part in parts)


def bounds_values(bounds: DeviceBounds) -> dict[str, Any]:
    """The same as values for JSON: integers in ns, units in the keys, null = not known."""
    names = [dict(zip(bounds.keys, cells, strict=True)) for cells in zip(*bounds.keys.values(), strict=True)]
    return {
        **_bound_values(bounds.whole, 0),
        "overlaps": [vars(overlap) for overlap in bounds.overlaps],
        "chiplets": [vars(one) for one in bounds.chiplets],
        "skew": [{"device": device, "skew": known_share(skew)} for device, skew in bounds.skew],
        "rates": [vars(rate) for rate in bounds.rates],
        "by": bounds.by,
        "rows": [name | _bound_values(bounds.groups, at) for at, name in enumerate(names)],
        "findings": finding_values(bounds.findings),
    }


def _bound_values(bounds: GroupBounds, at: int) -> dict[str, Any]:
    return {
        "bound": bounds.verdict[at],
        "needed_compute_ns": int(bounds.compute_ns[at]),
        "needed_dma_ns": int(bounds.dma_ns[at]),
        "most_needed_compute_ns": int(bounds.most_compute_ns[at]),
        "most_needed_dma_ns": int(bounds.most_dma_ns[at]),
        "compute_use": known_share(float(bounds.compute_use[at])),
        "dma_use": known_share(float(bounds.dma_use[at])),
        "compute_engine": bounds.compute_engine[at] or None,
        "dma_engine": bounds.dma_engine[at] or None,
    }
