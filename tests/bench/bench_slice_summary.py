"""What a summary of device slices costs per record, part by part, beside a Python loop that does the same.

Run it as a script; it prints and asserts nothing. CPU seconds; both sides run one after the other in one process:
the ratio is what to compare.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from rblnpb import sim
from rblnpb.converters.analyze.grouping import exact_sums, group_unions, nearest_ranks
from rblnpb.converters.analyze.slices.bounds import device_bounds
from rblnpb.converters.analyze.slices.engine_rates import engine_rates
from rblnpb.converters.analyze.slices.program_groups import call_groups, program_groups
from rblnpb.converters.analyze.slices.slice_groups import SliceGroups, layer_groups, stage_groups
from rblnpb.converters.analyze.slices.slice_statistics import slice_statistics
from rblnpb.converters.analyze.slices.slice_summary import SLICE_KEYS, slice_summary
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import Int64, Timeline

RECORDS, TURNS = 1_000_000, 3
PERCENTS = (0, 50, 90, 99, 100)


def loop_numbers(group: Int64, start_ns: Int64, duration_ns: Int64) -> dict[int, tuple[int, list[int], int]]:
    """Sum, percentiles and union of each group, one slice after the other."""
    members: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for one, start, duration in zip(group.tolist(), start_ns.tolist(), duration_ns.tolist(), strict=True):
        members[one].append((start, duration))
    found = {}
    for one, spans in members.items():
        durations = sorted(duration for _, duration in spans)
        ranks = [durations[max((percent * len(durations) + 99) // 100 - 1, 0)] for percent in PERCENTS]
        covered, reach = 0, spans[0][0] - 1
        for start, duration in sorted(spans):
            covered += max(start + duration - max(reach, start), 0)
            reach = max(reach, start + duration)
        found[one] = (sum(durations), ranks, covered)
    return found


def cpu(run: Callable[[], Any]) -> float:
    """Least CPU seconds of some turns."""
    spent = []
    for _ in range(TURNS):
        begun = time.process_time()
        run()
        spent.append(time.process_time() - begun)
    return min(spent)


def measure(what: str, count: int, run: Callable[[], Any]) -> float:
    seconds = cpu(run)
    print(f"{what:<34}{seconds * 1e9 / count:8.1f} ns a record")
    return seconds


def measure_parts(timeline: Timeline, groups: SliceGroups) -> None:
    slices, rows, count = timeline.slices, groups.rows, len(groups.rows)
    start_ns, duration_ns = slices.start_ns[rows], slices.duration_ns[rows]
    print(f"{count:,} slices of work in {len(groups):,} groups")
    parts = (
        measure("  sums", count, lambda: exact_sums(groups.group, duration_ns, len(groups))),
        measure("  percentiles (five)", count, lambda: nearest_ranks(groups.group, duration_ns, len(groups), PERCENTS)),
        measure("  unions", count, lambda: group_unions(groups.group, start_ns, duration_ns, len(groups))),
    )
    slow = cpu(lambda: loop_numbers(groups.group, start_ns, duration_ns))
    print(f"  one slice after the other{slow * 1e9 / count:16.1f} ns a record, ratio {slow / sum(parts):.0f}")
    measure("  all statistics", count, lambda: slice_statistics(timeline, groups))


def main() -> None:
    """Prints one line a measurement, on a simulated decoder whose calls come from two instances."""
    timeline = merge(sim.simulate(program="decoder", records=RECORDS, instances=2), None)
    count = int(timeline.is_work().sum())
    groupings = (("layer", layer_groups), ("stage", stage_groups), ("program", program_groups), ("call", call_groups))
    for name, group in groupings:
        measure(f"grouping by {name}", count, lambda group=group: group(timeline))  # type: ignore[misc]  # bound in the loop
    measure("best rates of engines", count, lambda: engine_rates(timeline))
    measure("bounds by program", count, lambda: device_bounds(timeline))
    for _, group in groupings[::3]:
        measure_parts(timeline, group(timeline))
    for by in SLICE_KEYS:
        measure(f"summary by {by}", count, lambda by=by: slice_summary(timeline, by))  # type: ignore[misc]  # as above


if __name__ == "__main__":
    main()
