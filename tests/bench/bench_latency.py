"""What latency, queue and advice cost per record, beside Python loops that do the same.

Run it as a module; it prints and asserts nothing. Both sides take turns in one run: the ratio of their medians is what to compare.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rblnpb import sim
from rblnpb.converters.analyze.advice.advice import advise
from rblnpb.converters.analyze.launches.distribution import distributions
from rblnpb.converters.analyze.launches.latency import latency
from rblnpb.converters.analyze.launches.queue import queue_use
from rblnpb.converters.merging import merge
from rblnpb.converters.timeline import Int64
from tests.bench.bench_key_averages import as_trace, random_calls
from tests.bench.bench_merge import compare

RECORDS, LAUNCHES, OPS, GROUPS = 1_000_000, 200_000, 1_000_000, 50


def loop_percentiles(values: Int64, group: Int64) -> list[tuple[int, int, int]]:
    """Median, 90th and 99th percentile of each group, by nearest rank."""
    of_group: dict[int, list[int]] = {}
    for number, value in zip(group.tolist(), values.tolist(), strict=True):
        of_group.setdefault(number, []).append(value)
    found = []
    for number in sorted(of_group):
        own = sorted(of_group[number])
        middle, high, top = (own[(percent * len(own) + 99) // 100 - 1] for percent in (50, 90, 99))
        found.append((middle, high, top))
    return found


def loop_queue(submitted_ns: Int64, end_ns: Int64) -> int:
    """The longest that the queue was."""
    steps = [(time_ns, -1) for time_ns in end_ns.tolist()] + [(time_ns, 1) for time_ns in submitted_ns.tolist()]
    length = longest = 0
    for _, step in sorted(steps):
        length += step
        longest = max(longest, length)
    return longest


def compare_loops() -> None:
    draw = np.random.default_rng(7)
    values, group = draw.integers(0, 10**7, RECORDS), draw.integers(0, GROUPS, RECORDS)
    compare(
        "percentiles of groups, per value",
        RECORDS,
        lambda: np.array([(one.p50_ns, one.p90_ns, one.p99_ns) for one in distributions(values, group, GROUPS)]),
        lambda: list(map(list, loop_percentiles(values, group))),
    )
    submitted_ns = np.cumsum(draw.integers(0, 10_000, LAUNCHES))
    end_ns = submitted_ns + draw.integers(1, 100_000, LAUNCHES)
    compare(
        "queue, per launch",
        LAUNCHES,
        lambda: queue_use("", submitted_ns, end_ns).max_length,
        lambda: loop_queue(submitted_ns, end_ns),
    )


def measure(what: str, count: int, run: Callable[[], Any]) -> None:
    begun = time.process_time()
    run()
    print(f"{what:<34}{(time.process_time() - begun) / count * 1e9:8.1f} ns")


def main() -> None:
    """Prints a line a measurement."""
    compare_loops()
    timeline = merge(sim.simulate(program="decoder", records=RECORDS, drained=False))
    measure("latency, per slice", len(timeline.slices), lambda: latency(timeline))
    measure("advise, per slice", len(timeline.slices), lambda: advise(timeline))
    timeline = merge(None, as_trace(random_calls(OPS, 20)))
    measure("advise, per operator", OPS, lambda: advise(timeline))


if __name__ == "__main__":
    main()
