"""What summaries of device slices and their bounds should be, one slice after the other, in plain Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.slices.slice_groups import SliceGroups
from rblnpb.converters.timeline import Timeline
from rblnpb.naming import family, parse

COMPUTE = ("neural_engine_clusters", "general_compute_engine", "compute")
DMA = ("neural_dma", "task_dma", "external_hdma", "device_hdma", "copy", "collective")
NAMES = {"neural_engine_clusters": "Neural Engine Clusters", "general_compute_engine": "General Compute Engine"}
NAMES |= {"neural_dma": "Neural DMA", "task_dma": "Task DMA", "external_hdma": "External HDMA", "device_hdma": "Device HDMA"}
NAMES |= {"unknown": "Unknown"}

Key = tuple[Any, ...]


def work(timeline: Timeline) -> list[int]:
    """Rows of slices that do work."""
    return [row for row, track in enumerate(timeline.slices.track.tolist()) if timeline.tracks[track].is_work]


def members(groups: SliceGroups) -> dict[tuple[Any, ...], list[int]]:
    """Rows of slices by the keys of their group."""
    keys = list(zip(*groups.keys.values(), strict=True))
    return {key: groups.rows[groups.group == at].tolist() for at, key in enumerate(keys)}


def grouped(timeline: Timeline, by: str) -> dict[Key, list[int]]:
    """Rows of slices of work by the keys of their group."""
    found: dict[Key, list[int]] = {}
    for row in work(timeline):
        found.setdefault(key_of(timeline, by, row), []).append(row)
    if by == "call":
        return with_ordinals(timeline, found)
    if by == "step":
        for place, step in enumerate(steps(timeline)):
            found.setdefault((step[0], phase(step[0]), place), [])
    return found


def key_of(timeline: Timeline, by: str, row: int) -> Key:
    """What the group of a slice is called; for calls and steps, with what tells groups of one name apart."""
    track = timeline.tracks[int(timeline.slices.track[row])]
    if by == "engine":
        chiplet = re.search(r"\(chiplet (\d+)\)", track.name)
        return track.name, track.device, track.kind, int(chiplet[1]) if chiplet else None
    if by == "program":
        return program(timeline, row)
    if by == "call":
        return (*program(timeline, row), call(timeline, row))
    if by == "step":
        return step_of(timeline, row)
    name = layer(timeline, row)
    if by == "family":
        return (name if name == "(unknown)" else family(name),)
    return (name, NAMES.get(track.kind, track.kind)) if by == "stage" else (name,)


def layer(timeline: Timeline, row: int) -> str:
    names = timeline.slices.names
    if names.stage[row]:
        return str(names.strings[names.stage[row]])
    whole = names.strings[names.override[row]]
    parts = parse(whole)
    return (parts.layer if parts and parts.sequence is not None else whole) or "(unknown)"


def program(timeline: Timeline, row: int) -> tuple[str, str]:
    slices, launches, frames = timeline.slices, timeline.launches, timeline.frames
    launch = int(slices.launch[row])
    if launch >= 0 and launches.name[launch]:
        return timeline.strings[launches.name[launch]], timeline.strings[launches.compile_id[launch]]
    start, end = span(slices, row)
    around = [
        (int(frames.start_ns[at]), -int(frames.duration_ns[at]), at)
        for at in range(len(frames))
        if span(frames, at)[0] <= start
        and end <= span(frames, at)[1]
        and timeline.tracks[int(frames.track[at])].device == timeline.tracks[int(slices.track[row])].device
        and frames.names.instance[at] == slices.names.instance[row]
    ]
    names = frames.names
    name = names.strings[names.override[max(around)[2]] or names.stage[max(around)[2]]] if around else ""
    return (name or "(unknown)", "")


def span(slices: Any, row: int) -> tuple[int, int]:
    return int(slices.start_ns[row]), int(slices.start_ns[row] + slices.duration_ns[row])


def call(timeline: Timeline, row: int) -> Any:
    """What tells calls apart, in the order in which those of equal start are counted; None = no call is known."""
    names = timeline.slices.names
    launch, sequence = int(timeline.slices.launch[row]), int(names.sequence[row])
    return (0, launch, 0) if launch >= 0 else (1, sequence, int(names.instance[row])) if sequence >= 0 else None


def with_ordinals(timeline: Timeline, found: dict[Key, list[int]]) -> dict[Key, list[int]]:
    """Calls by program, compile id, ordinal and launch id."""
    result: dict[Key, list[int]] = {}
    begun = {key: min(int(timeline.slices.start_ns[row]) for row in rows) for key, rows in found.items()}
    for key, rows in found.items():
        same = sorted((begun[other], other[2]) for other in found if other[:2] == key[:2] and other[2] is not None)
        if key[2] is None:
            result[(*key[:2], None, None)] = rows
        else:
            launch_id = int(timeline.launches.launch_id[key[2][1]]) if key[2][0] == 0 else 0
            result[(*key[:2], same.index((begun[key], key[2])), launch_id or None)] = rows
    return result


# --- steps -------------------------------------------------------------------------------------------------------------

GRAMMARS = (
    r"execute_new_\d+_cached_\d+|execute_(\d+_)?context_\d+(\(.*\))?_generation_\d+.*",
    r"ProfilerStep#\d+",
    r"(Torch-Compiled|Dispatched) Region(: .*)?",
)


def steps(timeline: Timeline) -> list[tuple[str, int, int, int]]:
    """Name, start, end and thread of each step, by start."""
    host = timeline.host
    if host is None:
        return []
    ranges = [
        (host.strings[name], start, start + duration, track, host.strings[category])
        for name, start, duration, track, category, ph in zip(
            host.events.name.tolist(),
            host.events.start_ns.tolist(),
            host.events.duration_ns.tolist(),
            host.events.track.tolist(),
            host.events.category.tolist(),
            host.events.phase.tolist(),
            strict=True,
        )
        if ph == ord("X") and host.strings[category] in ("user_annotation", "cpu_op", "Operator")
    ]
    for grammar in GRAMMARS:
        chosen = [one for one in ranges if re.fullmatch(grammar, one[0])]
        if chosen:
            break
    else:
        chosen = [one for one in ranges if one[4] == "user_annotation"]
    order = sorted(chosen, key=lambda one: (one[3], one[1], one[1] - one[2]))
    kept = [one for at, one in enumerate(order) if not any(other[3] == one[3] and other[2] >= one[2] for other in order[:at])]
    return [one[:4] for one in sorted(kept, key=lambda one: one[1])]


def phase(name: str) -> str:
    found = re.fullmatch(r"execute_new_(\d+)_cached_(\d+)", name) or re.fullmatch(
        r"execute_(?:\d+_)?context_(\d+)(?:\(.*\))?_generation_(\d+).*", name
    )
    if not found or (int(found[1]), int(found[2])) == (0, 0):
        return ""
    return "mixed" if int(found[1]) and int(found[2]) else "prefill" if int(found[1]) else "decode"


def step_of(timeline: Timeline, row: int) -> Key:
    """Name, phase and place of the step that submitted a slice."""
    found = steps(timeline)
    if not found or timeline.host is None:
        return "(whole window)", "", 0
    launch, op = int(timeline.slices.launch[row]), int(timeline.slices.host_row[row])
    if launch >= 0:
        time, pid, tid = (int(getattr(timeline.launches, name)[launch]) for name in ("start_ns", "pid", "tid"))
        threads = {at for at, track in enumerate(timeline.host.tracks) if track.tid == tid and pid in (0, track.pid)}
    elif op >= 0:
        time, threads = int(timeline.host.events.start_ns[op]), {int(timeline.host.events.track[op])}
    else:
        return "(unknown)", "", len(found) + 1
    around = [at for at, (_, start, end, _) in enumerate(found) if start <= time < end]
    own = [at for at in around if found[at][3] in threads]
    place = own[-1] if own else around[0] if len(around) == 1 else len(found)
    return ("(no step)", "", place) if place == len(found) else (found[place][0], phase(found[place][0]), place)


# --- numbers -----------------------------------------------------------------------------------------------------------


def percentile(values: Sequence[int], percent: int) -> int | None:
    """The least value that at least so many percent do not exceed."""
    return next((one for one in sorted(values) if 100 * sum(v <= one for v in values) >= percent * len(values)), None)


def moments(timeline: Timeline, rows: Sequence[int]) -> set[int]:
    """Nanoseconds that slices cover."""
    return {at for row in rows for at in range(*span(timeline.slices, row))}


def argument(timeline: Timeline, name: str, row: int) -> int | None:
    if name not in timeline.argument_names:
        return None
    value = int(timeline.slices.arguments[row, timeline.argument_names.index(name)])
    return None if value == ABSENT or value < 0 else value


def size_of(timeline: Timeline, row: int) -> int | None:
    measured = argument(timeline, "size_bytes", row)
    return argument(timeline, "planned_bytes", row) if measured is None else measured


def numbers(timeline: Timeline, rows: Sequence[int]) -> dict[str, int | None]:
    """As the columns of SliceStatistics; None for ABSENT."""
    durations = [int(timeline.slices.duration_ns[row]) for row in rows]
    moving = [row for row in rows if size_of(timeline, row) is not None]
    computing = [row for row in rows if argument(timeline, "compute_cycles", row) is not None]
    planned = [row for row in moving if argument(timeline, "size_bytes", row) is None]

    def total(values: Sequence[Any], told: Sequence[int]) -> int | None:
        return sum(values) if told else None

    peaks = {peak(timeline, row) for row in moving}
    return {
        "count": len(rows),
        "total_ns": sum(durations),
        "min_ns": min(durations, default=None),
        "p50_ns": percentile(durations, 50),
        "p90_ns": percentile(durations, 90),
        "p99_ns": percentile(durations, 99),
        "max_ns": max(durations, default=None),
        "busy_ns": len(moments(timeline, rows)),
        "size_bytes": total([size_of(timeline, row) for row in moving], moving),
        "planned_bytes": total([size_of(timeline, row) for row in planned], moving),
        "moving_ns": total([int(timeline.slices.duration_ns[row]) for row in moving], moving),
        "peak_bytes_per_s": peaks.pop() or None if len(peaks) == 1 else None,
        "compute_cycles": total([argument(timeline, "compute_cycles", row) for row in computing], computing),
        "computing_ns": total([int(timeline.slices.duration_ns[row]) for row in computing], computing),
    }


def peak(timeline: Timeline, row: int) -> int:
    """Bytes in a second behind the engine of a slice; 0 = not known."""
    track = timeline.tracks[int(timeline.slices.track[row])]
    same = [one for one in timeline.tracks if one.device == track.device]
    chiplets = [int(found[1]) for one in same if (found := re.search(r"\(chiplet (\d+)\)", one.name))]
    is_rebel = any(one.kind == "general_compute_engine" for one in same) or any(chiplets)
    return 1_200_000_000_000 if is_rebel and "(chiplet" in track.name and track.kind in ("neural_dma", "task_dma") else 0


# --- bounds ------------------------------------------------------------------------------------------------------------


def best_rates(timeline: Timeline) -> dict[str, float]:
    """Best amount in a nanosecond by kind of engine."""
    rates: dict[str, list[tuple[float, int]]] = {}
    for row in work(timeline):
        kind = timeline.tracks[int(timeline.slices.track[row])].kind
        amount = amount_of(timeline, row, kind)
        duration = int(timeline.slices.duration_ns[row])
        if amount and duration:
            rates.setdefault(kind, []).append((amount / duration, duration))
    best = {}
    for kind, found in rates.items():
        counted = sorted(rate for rate, duration in found if duration >= 1000) or sorted(rate for rate, _ in found)
        median = counted[(len(counted) + 1) // 2 - 1]
        credible = [rate for rate in counted if rate <= 10 * median]
        best[kind] = round(credible[(99 * len(credible) + 99) // 100 - 1] * 1e9) / 1e9
    return best


def amount_of(timeline: Timeline, row: int, kind: str) -> int | None:
    if kind in COMPUTE:
        return argument(timeline, "compute_cycles", row)
    return size_of(timeline, row) if kind in DMA else None


def needs(timeline: Timeline, rows: Sequence[int], kinds: Sequence[str]) -> tuple[int, int]:
    """What the busiest engine of some kinds needs at the least and at the most."""
    rates = best_rates(timeline)
    least: dict[int, float] = {}
    most: dict[int, float] = {}
    for row in rows:
        track = int(timeline.slices.track[row])
        kind = timeline.tracks[track].kind
        if kind not in kinds:
            continue
        amount, rate = amount_of(timeline, row, kind), rates.get(kind, 0)
        is_counted = amount is not None and rate > 0
        needed = amount / rate if amount is not None and rate > 0 else 0.0
        least[track] = least.get(track, 0) + needed
        most[track] = most.get(track, 0) + (needed if is_counted else int(timeline.slices.duration_ns[row]))
    return round(max(least.values(), default=0)), round(max(most.values(), default=0))


def overlap(timeline: Timeline) -> tuple[int, int, int, int]:
    """Time of compute alone, data movement alone, both, and neither."""
    rows = work(timeline)
    kind = {row: timeline.tracks[int(timeline.slices.track[row])].kind for row in rows}
    compute = moments(timeline, [row for row in rows if kind[row] in COMPUTE])
    dma = moments(timeline, [row for row in rows if kind[row] in DMA])
    spans = [span(timeline.slices, row) for row in rows]
    whole = max((end for _, end in spans), default=0) - min((start for start, _ in spans), default=0)
    return len(compute - dma), len(dma - compute), len(compute & dma), whole - len(compute | dma)
