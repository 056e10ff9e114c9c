"""Device slices summed up by stage, layer, family, program, engine, call or step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import UsageError

from ...results import EngineRate, GroupBounds, SliceOverview, SliceRows, SliceStatistics
from ...timeline import Int64, Timeline
from ..grouping import exact_sums, nearest_ranks, numbered
from ..host.host_classes import runtime_rows
from .bounds import group_bounds
from .engine_rates import PEAK_BASIS, engine_rates, frequency_findings
from .program_groups import call_groups, program_groups
from .slice_groups import SliceGroups, engine_groups, family_groups, layer_groups, stage_groups
from .slice_statistics import slice_statistics, slice_totals
from .steps import StepGroups, step_groups, step_phases

__all__ = ["SLICE_KEYS", "slice_summary"]

SLICE_KEYS: Final = ("stage", "layer", "family", "program", "engine", "call", "step")
"""What a row of a summary of device slices may be."""

_PLAIN: Final = {
    "stage": stage_groups,
    "layer": layer_groups,
    "family": family_groups,
    "program": program_groups,
    "engine": engine_groups,
    "call": call_groups,
}


def slice_summary(timeline: Timeline, by: str) -> SliceRows:
    """Count, sums, percentiles, bytes, cycles and bounds of all slices of work, by what they have in common.

    Args:
        timeline: Merged.
        by: One of `SLICE_KEYS`.

    Returns:
        Rows whose counts and sums add up to those of `totals`, exactly.

    Raises:
        UsageError: Another `by`.
    """
    if by not in SLICE_KEYS:
        raise UsageError(f"a summary is by op, {', '.join(SLICE_KEYS)}; not by {by!r}")
    steps = step_groups(timeline) if by == "step" else None
    groups = _PLAIN[by](timeline) if steps is None else steps.groups
    statistics = slice_statistics(timeline, groups)
    rates = engine_rates(timeline)
    times: dict[str, Int64] = {}
    overview: SliceOverview | None = None
    bounds: GroupBounds | None = None
    if by in ("program", "step"):
        bounds = group_bounds(timeline, groups, rates)
    elif by == "stage":
        bounds = _stage_bounds(timeline, groups, rates)
    if steps is not None:
        times = _step_times(steps)
        overview = _phases(steps, statistics)
    elif by == "call":
        times = _call_times(timeline, groups)
        overview = _programs(timeline, groups, times["span_ns"])
    starts_ns = timeline.slices.start_ns[groups.rows] if len(groups.rows) else times.get("start_ns", groups.rows)
    return SliceRows(
        by=by,
        keys=groups.keys,
        statistics=statistics,
        times=times,
        bounds=bounds,
        overview=overview,
        totals=slice_totals(timeline, groups),
        origin_ns=int(starts_ns.min()) if len(starts_ns) else 0,
        peak_basis=PEAK_BASIS if (statistics.peak_bytes_per_s != ABSENT).any() else "",
        findings=frequency_findings(rates),
    )


def _stage_bounds(timeline: Timeline, stages: SliceGroups, rates: Sequence[EngineRate]) -> GroupBounds:
    """The bounds of each stage over all engines that worked on it, on every row of the stage."""
    layers = layer_groups(timeline)
    place = {name: at for at, name in enumerate(layers.keys["name"])}
    return group_bounds(timeline, layers, rates).take([place[name] for name in stages.keys["name"]])


def _step_times(steps: StepGroups) -> dict[str, Int64]:
    carried_over_ns = steps.carried_over_ns.copy()
    carried_over_ns[~np.array(steps.is_step, np.bool_)] = ABSENT
    return {
        "start_ns": steps.start_ns,
        "duration_ns": steps.duration_ns,
        "launch_count": steps.launch_count,
        "carried_over_ns": carried_over_ns,
    }


def _phases(steps: StepGroups, statistics: SliceStatistics) -> SliceOverview | None:
    """Steps of each phase together; None where no step has one."""
    columns: dict[str, list[object]] = {}
    for name, own in step_phases(steps):
        at = own.tolist()
        total_ns = statistics.total_ns[own]
        row: dict[str, object] = {
            "name": name,
            "step_count": len(own),
            "launch_count": int(steps.launch_count[own].sum()),
            "total_ns": sum(total_ns.tolist()),
            "p50_total_ns": sorted(total_ns.tolist())[(len(at) + 1) // 2 - 1],
            "duration_ns": sum(steps.duration_ns[own].tolist()),
            "p50_duration_ns": sorted(steps.duration_ns[own].tolist())[(len(at) + 1) // 2 - 1],
            "carried_over_ns": sum(steps.carried_over_ns[own].tolist()),
        }
        for key, value in row.items():
            columns.setdefault(key, []).append(value)
    return SliceOverview("phase", {key: tuple(values) for key, values in columns.items()}) if columns else None


def _call_times(timeline: Timeline, calls: SliceGroups) -> dict[str, Int64]:
    """When each call began on the device, and how long until its last slice ended."""
    slices, rows = timeline.slices, calls.rows
    begun_ns, ended_ns = (np.full(len(calls), at, np.int64) for at in (np.iinfo(np.int64).max, ABSENT))
    np.minimum.at(begun_ns, calls.group, slices.start_ns[rows])
    np.maximum.at(ended_ns, calls.group, slices.start_ns[rows] + slices.duration_ns[rows])
    return {"start_ns": begun_ns, "span_ns": ended_ns - begun_ns}


def _programs(timeline: Timeline, calls: SliceGroups, span_ns: Int64) -> SliceOverview:
    """Calls of each program: the first in the timeline against the median (nearest rank) of the later ones, and compilation."""
    ordinal = np.array([-1 if at is None else at for at in calls.keys["call"]], np.int64)
    names = list(zip(calls.keys["name"], calls.keys["compile_id"], strict=True))
    place = {name: at for at, name in enumerate(dict.fromkeys(names[at] for at in np.flatnonzero(ordinal >= 0).tolist()))}
    program = np.array([place.get(name, -1) for name in names], np.int64)
    first, later = np.flatnonzero(ordinal == 0), np.flatnonzero(ordinal > 0)
    first_ns = np.zeros(len(place), np.int64)
    first_ns[program[first]] = span_ns[first]
    (median_ns,) = nearest_ranks(program[later], span_ns[later], len(place), (50,)) if place else (first_ns,)
    compile_ns = _compile_ns(timeline, place)
    pairs = list(zip(first_ns.tolist(), median_ns.tolist(), strict=True))
    columns: dict[str, tuple[object, ...]] = {
        "name": tuple(name for name, _ in place),
        "compile_id": tuple(compiled for _, compiled in place),
        "call_count": tuple(np.bincount(program[ordinal >= 0], minlength=len(place)).tolist()),
        "first_span_ns": tuple(first_ns.tolist()),
        "later_p50_span_ns": tuple(None if later == ABSENT else later for _, later in pairs),
        "first_by_later": tuple(None if later in (ABSENT, 0) else round(first / later, 6) for first, later in pairs),
        "compile_ns": compile_ns,
    }
    return SliceOverview("program", columns)


def _compile_ns(timeline: Timeline, place: dict[tuple[object, object], int]) -> tuple[object, ...]:
    """How long the runtime compiled each program for its launches; None = it recorded no compilation."""
    runtime, launches, strings = timeline.runtime, timeline.launches, timeline.strings
    rows = runtime_rows(timeline, "compile")
    rows = rows[runtime.launch[rows] >= 0]
    launch, compiled = numbered(runtime.launch[rows])
    spent_ns = exact_sums(compiled, runtime.duration_ns[rows], len(launch)).tolist()
    found: dict[tuple[object, object], int] = {}
    for row, duration_ns in zip(launch.tolist(), spent_ns, strict=True):
        program = strings[launches.name[row]], strings[launches.compile_id[row]]
        found[program] = found.get(program, 0) + duration_ns
    return tuple(found.get(program) for program in place)
