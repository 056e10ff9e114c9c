"""What joining costs per record, beside a Python loop that does the same, and what it costs to say hello.

Run it as a script; it prints and asserts nothing. Both sides take turns in one run: the ratio of their medians is what to compare.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rblnpb import sim
from rblnpb.converters.analyze.intervals import union_ns
from rblnpb.converters.merging import merge
from rblnpb.converters.merging.correlate import launch_by_id, match_launches
from rblnpb.converters.timeline import HostTrace, Int64
from tests.bench.bench_key_averages import as_trace, random_calls
from tests.support.torch_events import ORIGIN_NS

RECORDS, LAUNCHES, OPS, TURNS = 1_000_000, 25_000, 1_000_000, 3


def loop_by_id(ids: Int64, wanted: Int64) -> list[int]:
    row_of = {launch_id: row for row, launch_id in enumerate(ids.tolist())}
    return [row_of.get(launch_id, -1) for launch_id in wanted.tolist()]


def loop_match(host: HostTrace, track: Int64, time_ns: Int64) -> list[int]:
    """One sweep over the starts of ops and the launches of a thread, with a stack of the ops that are open."""
    events = host.events
    ops = zip(events.start_ns.tolist(), events.duration_ns.tolist(), events.track.tolist(), strict=True)
    points = [(start, -duration, row, thread) for row, (start, duration, thread) in enumerate(ops)]
    points += [(at, 1, row, thread) for row, (at, thread) in enumerate(zip(time_ns.tolist(), track.tolist(), strict=True))]
    stacks: dict[int, list[tuple[int, int]]] = {}
    found = [-1] * len(time_ns)
    for start, length, row, thread in sorted(points):
        stack = stacks.setdefault(thread, [])
        while stack and stack[-1][0] <= start:
            stack.pop()
        if length <= 0:
            stack.append((start - length, row))
        elif stack:
            found[row] = stack[-1][1]
    return found


def loop_union(start_ns: Int64, duration_ns: Int64) -> int:
    total, reach = 0, -1
    for start, duration in sorted(zip(start_ns.tolist(), duration_ns.tolist(), strict=True)):
        total += max(start + duration - max(reach, start), 0)
        reach = max(reach, start + duration)
    return total


def compare(what: str, count: int, ours: Callable[[], Any], loop: Callable[[], Any]) -> None:
    """Medians of turns in CPU ns for each of `count`, their ratio, and whether both found the same."""
    spent: tuple[list[float], list[float]] = ([], [])
    results: list[Any] = [None, None]
    for _ in range(TURNS):
        for side, run in enumerate((ours, loop)):
            begun = time.process_time()
            results[side] = run()
            spent[side].append((time.process_time() - begun) / count * 1e9)
    fast, slow = map(statistics.median, spent)
    same = results[1] == (results[0].tolist() if isinstance(results[0], np.ndarray) else results[0])
    print(f"{what:<34}{fast:8.1f} ns{slow:9.1f} ns in a loop{slow / fast:7.1f} times{'' if same else '   NOT THE SAME'}")


def compare_joins() -> None:
    draw = np.random.default_rng(7)
    ids = np.arange(1, LAUNCHES + 1)
    # A device does its launches in order, or nearly so.
    wanted = np.sort(draw.integers(1, LAUNCHES + 1, RECORDS))
    compare("record -> launch", RECORDS, lambda: launch_by_id(ids, ids, wanted, wanted), lambda: loop_by_id(ids, wanted))
    host = as_trace(random_calls(OPS, 20))
    own = np.sort(draw.choice(OPS, 100_000, replace=False))
    time_ns = host.events.start_ns[own] + host.events.duration_ns[own] // 2
    track = host.events.track[own].astype(np.int64)
    what = "launch -> op, per op or launch"
    compare(what, OPS + len(own), lambda: match_launches(host, track, time_ns)[0], lambda: loop_match(host, track, time_ns))
    start, duration = draw.integers(0, 10**9, RECORDS) + ORIGIN_NS, draw.integers(0, 2000, RECORDS)
    compare("busy time", RECORDS, lambda: union_ns(start, duration), lambda: loop_union(start, duration))


def measure_merge() -> None:
    profile = sim.simulate(program="decoder", records=RECORDS)
    begun = time.process_time()
    timeline = merge(profile)
    seconds = time.process_time() - begun
    print(f"merge of {len(timeline.slices):,} slices, clocks and all: {seconds / len(timeline.slices) * 1e9:.0f} ns a slice")


def measure_start(turns: int = 15) -> None:
    """Elapsed time, because most of it is waiting for files."""
    programs = (["-c", "pass"], ["-m", "rblnpb.converters", "--help"])
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(turns):
        for side, arguments in enumerate(programs):
            begun = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            spent[side].append(time.perf_counter() - begun)
    empty, hello = map(statistics.median, spent)
    print(f"python -c pass {empty * 1000:.1f} ms, rblnpb --help {hello * 1000:.1f} ms: {hello / empty:.2f} times")


def main() -> None:
    """Prints a line a measurement."""
    measure_start()
    compare_joins()
    measure_merge()


if __name__ == "__main__":
    main()
