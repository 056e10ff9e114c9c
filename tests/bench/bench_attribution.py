"""What attribution costs on a large run, beside one list of frames a call.

Run it as a module; it prints, and asserts nothing. CPU seconds, after reading and merging; compare ratios within one run.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from rblnpb.converters.pipeline import attribute, call_stacks
from rblnpb.converters.timeline import AlignedSlices, HostEvents, HostTrace, HostTrack, Timeline
from tests.bench.bench_key_averages import random_calls
from tests.support.attribution_oracle import Call, Work, merged, slow_table, trace
from tests.support.timelines import host_trace, slices, timeline

Result = TypeVar("Result")

LARGE, SMALL, NAMES = 1_000_000, 1_500, 200
ENGINES = 9
"""Slices of one launch, which run at once on so many engines."""


def large_run(depth: int) -> Timeline:
    """A million calls, half of them of Python, and a million slices: every fourth op launched nine, without an object for any."""
    calls = random_calls(LARGE, depth)
    draw = np.random.default_rng(11)
    names = [
        {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": 0, "dur": 0}
        for number in range(NAMES)
        for category, name in (
            ("cpu_op", f"aten::op_{number}"),
            ("python_function", f"nn.Module: M_{number}" if number % 4 == 0 else f"model.py({number}): call"),
        )
    ]
    model = host_trace(*names)
    pick = draw.integers(0, len(names), LARGE)
    columns = {name: column[pick] for name, column in vars(model.events).items()}
    columns["start_ns"], columns["duration_ns"] = calls.start_ns, calls.duration_ns
    columns["track"] = calls.tid.astype(np.int32)
    tracks = tuple(HostTrack(1, 1 + thread) for thread in range(int(calls.tid.max()) + 1))
    host: HostTrace = replace(model, events=HostEvents(**columns), tracks=tracks)
    ops = np.flatnonzero(pick % 2 == 0)[:: ENGINES // 2]
    host_row = np.repeat(ops, ENGINES)[:LARGE]
    start_ns = calls.start_ns[host_row] + draw.integers(0, 400, len(host_row))
    one = slices({"stage": "mm"})
    rows = np.zeros(len(host_row), np.int64)
    launched: AlignedSlices = replace(
        one,
        **{name: getattr(one, name)[rows] for name in ("track", "launch", "rule", "event", "arguments")},
        names=one.names.take(rows),
        start_ns=start_ns,
        duration_ns=draw.integers(1, 3000, len(host_row)),
        host_row=host_row,
    )
    return timeline(host, slices=launched)


def timed(run: Callable[[], Result]) -> tuple[float, Result]:
    begun = time.process_time()
    result = run()
    return time.process_time() - begun, result


def measure_large(depth: int) -> None:
    line = large_run(depth)
    print(f"{LARGE:,} calls at most {depth} deep, {len(line.slices):,} slices")
    for by in ("op", "module", "python", "all"):
        table_s, table = timed(lambda by=by: attribute(line, by))  # type: ignore[misc]  # mypy does not infer a lambda's default
        stacks_s, stacks = timed(lambda by=by: call_stacks(line, by))  # type: ignore[misc]  # the same
        folded_s, text = timed(stacks.to_folded)
        shape = f"{len(table.values):,} rows, {len(stacks.values):,} stacks, {len(text) / 1e6:.1f} MB folded"
        print(f"  by {by:<7} table {table_s:.2f}  stacks {stacks_s:.2f}  folded {folded_s:.2f} CPU s: {shape}")
    tracemalloc.start()
    attribute(line, "all")
    print(f"  most memory for a table by all: {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB")
    tracemalloc.stop()


def compare() -> None:
    draw = np.random.default_rng(5)
    columns = random_calls(SMALL, 6, threads=2)
    calls = [
        Call("op" if number % 2 else "python", f"name_{name}", start, start + duration, 1 + tid)
        for number, (name, start, duration, tid) in enumerate(
            zip(columns.name.tolist(), columns.start_ns.tolist(), columns.duration_ns.tolist(), columns.tid.tolist(), strict=True)
        )
    ]
    works = [Work(int(draw.integers(0, 9000)), int(draw.integers(0, 90)), int(draw.integers(0, SMALL // 2)) * 2 + 1) for _ in calls]
    line = merged(trace(calls), works)
    fast, table = timed(lambda: attribute(line, "op"))
    slow, rows = timed(lambda: slow_table(calls, (), works, (), "op"))
    same = sum(row["device_total_union_ns"] for row in rows.values()) == sum(table.values.device_total_union_ns)
    print(f"{SMALL:,} calls: {fast:.3f} CPU s, with a list of frames a call {slow:.2f}, same: {same}, ratio {slow / fast:.0f}")


def main() -> None:
    """Prints a line a measurement."""
    for depth in (6, 40):
        measure_large(depth)
    compare()


if __name__ == "__main__":
    main()
