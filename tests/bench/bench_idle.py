"""What idle time costs per slice: gaps alone beside a Python loop that finds the same, then with causes, then all of it as JSON.

Run it as a script; it prints and asserts nothing. Both sides run one after the other in one process: the ratio of their
medians is what to compare.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rblnpb import converters, sim
from rblnpb.converters.analyze.idle.gaps import gaps_between
from rblnpb.converters.analyze.idle.occupancy import device_occupancy, ordered_work
from rblnpb.converters.analyze.intervals import busy_stretches
from rblnpb.converters.timeline import Int64, Timeline

TURNS = 5
DRAWN = 1_000_000


def loop_gaps(lane: Int64, start_ns: Int64, end_ns: Int64) -> list[tuple[int, int, int]]:
    """Gaps of each lane, one slice after the other."""
    reach: dict[int, int] = {}
    gaps = []
    for start, own, end in sorted(zip(start_ns.tolist(), lane.tolist(), end_ns.tolist(), strict=True)):
        before = reach.get(own)
        if before is not None and start > before:
            gaps.append((own, before, start))
        reach[own] = end if before is None else max(before, end)
    return gaps


def median_s(run: Callable[[], Any], turns: int = TURNS) -> float:
    spent = []
    for _ in range(turns):
        begun = time.process_time()
        run()
        spent.append(time.process_time() - begun)
    return statistics.median(spent)


def tell(what: str, count: int, run: Callable[[], Any]) -> None:
    print(f"{what:<58}{median_s(run) / count * 1e9:8.0f} ns a slice")


def drawn() -> tuple[Int64, Int64, Int64]:
    """Slices of eight lanes in no order."""
    draws = np.random.default_rng(7)
    start = draws.integers(0, 10**9, DRAWN)
    return draws.integers(0, 8, DRAWN), start, start + draws.integers(1, 1500, DRAWN)


def ordered_gaps(lane: Int64, start_ns: Int64, end_ns: Int64) -> int:
    order = np.lexsort((start_ns, lane))
    return len(busy_stretches(lane[order], start_ns[order], end_ns[order]))


def measure(what: str, timeline: Timeline) -> None:
    work = ordered_work(timeline)
    count = len(work)
    print(f"\n{what}: {count:,} slices, {len(gaps_between(work, work.device)):,} gaps of devices")
    tell("order of the work, and gaps of devices", count, lambda: gaps_between(ordered_work(timeline), work.device))
    tell("gaps of engines", count, lambda: gaps_between(work, work.track))
    tell("gaps of engines, in a loop", count, lambda: loop_gaps(work.track, work.start_ns, work.end_ns))
    tell("busy, idle, span and sum: all, devices, kinds, engines", count, lambda: device_occupancy(timeline))
    tell("the whole report, gaps of devices with their causes", count, lambda: converters.idle(timeline))
    tell("the whole report, gaps of engines with their causes", count, lambda: converters.idle(timeline, by="engine"))


def main() -> None:
    """Prints one line a measurement."""
    lane, start_ns, end_ns = drawn()
    print(f"{DRAWN:,} slices of 8 lanes in no order")
    tell("gaps", DRAWN, lambda: ordered_gaps(lane, start_ns, end_ns))
    tell("gaps, in a loop", DRAWN, lambda: loop_gaps(lane, start_ns, end_ns))
    measure("overlapped decoder", converters.merge(sim.simulate(program="decoder", calls=3_000, drained=False)))
    drained = converters.merge(sim.simulate(program="mm", calls=50_000))
    measure("drained mm", drained)
    found = converters.idle(drained, top=-1)
    seconds, size = median_s(lambda: converters.idle(drained, top=-1), 1), len(found.to_json())
    print(f"\nall {found.values.gap_count:,} gaps listed in {seconds:.2f} s", end=", ")
    print(f"as JSON of {size / 1e6:.0f} MB in {median_s(found.to_json, 1):.2f} s")


if __name__ == "__main__":
    main()
