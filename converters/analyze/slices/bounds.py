"""What bounds the device: computing or moving data.

A Neural Engine counts as busy while it waits for its data, so being busy proves nothing. What does is how much an engine got done:
its cycles at the best rate that such engines show, and its bytes at the best rate that such engines show (`engine_rates`), are the
time that it needs at the least. The engine that needs longest bounds the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT
from rblnpb.errors import UsageError

from ...results import ChipletActivity, DeviceBounds, EngineOverlap, EngineRate, GroupBounds
from ...timeline import Int64, Timeline
from ..grouping import exact_sums, group_unions, numbered
from ..intervals import union_ns
from .engine_rates import COMPUTE_KINDS, DMA_KINDS, cycles_and_bytes, engine_rates, frequency_findings
from .program_groups import program_groups
from .slice_groups import SliceGroups, chiplet, layer_groups, work_rows
from .steps import step_groups

__all__ = ["device_bounds", "group_bounds"]

Float64 = npt.NDArray[np.float64]

_LEAD: Final = (5, 4)
"""A side bounds when it needs at least 5/4 of what the other needs."""


def device_bounds(timeline: Timeline, by: str = "program") -> DeviceBounds:
    """What bounds the device as a whole, and each program, stage or step.

    Args:
        timeline: Merged; a host trace is needed for steps alone.
        by: "program", "stage" (over all engines that worked on it) or "step".

    Raises:
        UsageError: Another `by`.

    Example:
        >>> from rblnpb import sim
        >>> from rblnpb.converters import merge
        >>> device_bounds(merge(sim.simulate(program="all_reduce"), None)).groups.verdict
        ('dma-bound',)
    """
    if by not in _GROUPS:
        raise UsageError(f"what bounds the device is told by {', '.join(_GROUPS)}, not by {by!r}")
    groups = _GROUPS[by](timeline)
    rates = engine_rates(timeline)
    chiplets = _chiplets(timeline)
    everything = SliceGroups(groups.rows, np.zeros(len(groups.rows), np.int64), {"name": ("",)})
    return DeviceBounds(
        whole=group_bounds(timeline, everything, rates),
        overlaps=_overlaps(timeline),
        chiplets=chiplets,
        skew=_skew(chiplets),
        rates=rates,
        by=by,
        keys=groups.keys,
        groups=group_bounds(timeline, groups, rates),
        findings=frequency_findings(rates),
    )


_GROUPS: Final[dict[str, Callable[[Timeline], SliceGroups]]] = {
    "program": program_groups,
    # Over all engines: the slices of one kind alone would always be bound by that kind.
    "stage": layer_groups,
    "step": lambda timeline: step_groups(timeline).groups,
}


def group_bounds(timeline: Timeline, groups: SliceGroups, rates: Sequence[EngineRate]) -> GroupBounds:
    """What bounds each group, from the best rates of the whole timeline.

    Args:
        timeline: Merged.
        groups: Of its slices of work.
        rates: As `engine_rates` gives them.
    """
    cycles, size_bytes, _ = cycles_and_bytes(timeline, groups.rows)
    compute = _needs(timeline, groups, cycles, rates, COMPUTE_KINDS)
    dma = _needs(timeline, groups, size_bytes, rates, DMA_KINDS)
    columns = (compute.least_ns, compute.most_ns, dma.least_ns, dma.most_ns)
    return GroupBounds(
        verdict=tuple(_verdict(*row) for row in zip(*(column.tolist() for column in columns), strict=True)),
        compute_ns=compute.least_ns,
        dma_ns=dma.least_ns,
        most_compute_ns=compute.most_ns,
        most_dma_ns=dma.most_ns,
        compute_engine=compute.engine,
        dma_engine=dma.engine,
        compute_use=compute.use,
        dma_use=dma.use,
    )


def _verdict(compute_ns: int, most_compute_ns: int, dma_ns: int, most_dma_ns: int) -> str:
    """The verdict on what is needed at the least and at the most."""
    more, less = _LEAD
    if not compute_ns and not dma_ns:
        return "unknown"
    if compute_ns * less >= most_dma_ns * more:
        return "compute-bound"
    if dma_ns * less >= most_compute_ns * more:
        return "dma-bound"
    is_close = most_compute_ns * less < dma_ns * more and most_dma_ns * less < compute_ns * more
    return "balanced" if is_close else "unknown"


@dataclass(frozen=True, eq=False)
class _Needs:
    """What the engines of one side need in each of k groups; columns as in `GroupBounds`."""

    least_ns: Int64
    most_ns: Int64
    engine: tuple[str, ...]
    use: Float64


def _needs(timeline: Timeline, groups: SliceGroups, amount: Int64, rates: Sequence[EngineRate], kinds: Sequence[str]) -> _Needs:
    """What engines of some kinds need for the amounts that their slices counted (ABSENT = not counted), group by group."""
    count, tracks = len(groups), timeline.tracks
    is_wanted = np.array([track.kind in kinds for track in tracks], np.bool_)
    own = np.flatnonzero(is_wanted[timeline.slices.track[groups.rows]])
    rows, group = groups.rows[own], groups.group[own]
    track, duration_ns = timeline.slices.track[rows], timeline.slices.duration_ns[rows]
    best = {rate.kind: rate.per_second for rate in rates}
    # Damaged amounts in a nanosecond make rates that no integer of 64 bits holds.
    per_second = np.array([best.get(one.kind, 0) for one in tracks], np.float64)
    is_counted = (amount[own] != ABSENT) & (per_second[track] > 0)
    # One number for each group and engine that meet.
    pairs, pair = numbered(group * max(len(tracks), 1) + track)
    of_pair, engine = np.divmod(pairs, max(len(tracks), 1))
    done = exact_sums(pair, np.where(is_counted, amount[own], 0), len(pairs)).astype(np.float64)
    least = done * 1e9 / np.maximum(per_second[engine], 1)
    most = least + exact_sums(pair, np.where(is_counted, 0, duration_ns), len(pairs)).astype(np.float64)
    least_ns, most_ns, name = np.zeros(count, np.int64), np.zeros(count, np.int64), np.full(count, "", object)
    busiest = np.lexsort((-engine, least, of_pair))
    chosen = busiest[np.flatnonzero(np.append(of_pair[busiest][1:] != of_pair[busiest][:-1], True)[: len(pairs)])]
    least_ns[of_pair[chosen]] = _whole_ns(least[chosen])
    np.maximum.at(most_ns, of_pair, _whole_ns(most))
    name[of_pair[chosen]] = [tracks[at].name if needed else "" for at, needed in zip(engine[chosen], least[chosen], strict=True)]
    worked = exact_sums(group, np.where(is_counted, duration_ns, 0), count).astype(np.float64)
    use = np.divide(np.bincount(of_pair, least, count), worked, out=np.full(count, np.nan), where=worked > 0)
    return _Needs(least_ns, most_ns, tuple(name.tolist()), use)


def _whole_ns(needed: Float64) -> Int64:
    """Rounded; what damaged counts make longer than time is, ends where 62 bits do."""
    return np.rint(np.minimum(needed, 2.0**62)).astype(np.int64)


def _overlaps(timeline: Timeline) -> tuple[EngineOverlap, ...]:
    """Compute and data movement of all devices together, and of each where there are several."""
    slices, rows = timeline.slices, work_rows(timeline)
    start_ns, end_ns = slices.start_ns[rows], slices.start_ns[rows] + slices.duration_ns[rows]
    span_ns = int(end_ns.max()) - int(start_ns.min()) if len(rows) else 0
    devices = tuple(dict.fromkeys(track.device for track in timeline.tracks if track.is_work))
    return tuple(_overlap(timeline, rows, device, span_ns) for device in ("", *(devices if len(devices) > 1 else ())))


def _overlap(timeline: Timeline, rows: Int64, device: str, span_ns: int) -> EngineOverlap:
    slices = timeline.slices

    def busy_ns(*kinds: str) -> int:
        chosen = [track.kind in kinds and device in ("", track.device) for track in timeline.tracks]
        own = rows[np.array([*chosen, False], np.bool_)[slices.track[rows]]]
        return union_ns(slices.start_ns[own], slices.duration_ns[own])

    compute, dma, either = busy_ns(*COMPUTE_KINDS), busy_ns(*DMA_KINDS), busy_ns(*COMPUTE_KINDS, *DMA_KINDS)
    return EngineOverlap(device, either - dma, either - compute, compute + dma - either, span_ns - either, span_ns)


def _chiplets(timeline: Timeline) -> tuple[ChipletActivity, ...]:
    """Busy time of the chiplets that tracks name."""
    places = [(track.device, chiplet(track)) for track in timeline.tracks]
    works = zip(places, timeline.tracks, strict=True)
    named = sorted({(device, number) for (device, number), track in works if number is not None and track.is_work})
    of_track = np.array([named.index(place) if place in named else -1 for place in places], np.int64)
    rows = work_rows(timeline)
    if not len(rows) or not named:
        return ()
    place = of_track[timeline.slices.track[rows]]
    rows, place = rows[place >= 0], place[place >= 0]
    busy_ns = group_unions(place, timeline.slices.start_ns[rows], timeline.slices.duration_ns[rows], len(named))
    return tuple(ChipletActivity(*where, busy) for where, busy in zip(named, busy_ns.tolist(), strict=True))


def _skew(chiplets: Sequence[ChipletActivity]) -> tuple[tuple[str, float], ...]:
    """Most busy chiplet by mean chiplet, for devices with several of which any worked."""
    found = []
    for device in dict.fromkeys(one.device for one in chiplets):
        busy_ns = [one.busy_ns for one in chiplets if one.device == device]
        total_ns = sum(busy_ns)
        if len(busy_ns) > 1 and total_ns > 0:
            found.append((device, max(busy_ns) * len(busy_ns) / total_ns))
    return tuple(found)
