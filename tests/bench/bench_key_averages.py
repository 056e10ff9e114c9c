"""What the key_averages table costs on a large trace, beside one Python object per event.

Run it as a script; it prints and asserts nothing. CPU seconds, after reading; ratios within one run are what to compare.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rblnpb.converters.analyze.torch_table.key_averages import key_averages
from rblnpb.converters.sinks.torch_table import render
from rblnpb.converters.timeline import HostEvents, HostTrace, HostTrack
from tests.support.torch_events import ORIGIN_NS, Event, host_trace, slow_key_averages

Result = TypeVar("Result")
Ints = npt.NDArray[np.int64]

LARGE, SMALL, NAMES = 1_100_000, 55_000, 200


@dataclass(frozen=True)
class Calls:
    """Calls of random shape, as columns, one row each."""

    start_ns: Ints
    duration_ns: Ints
    tid: Ints
    name: Ints


def random_calls(size: int, depth: int, threads: int = 4, seed: int = 7) -> Calls:
    """Call trees of up to `depth` levels on some threads."""
    draw = np.random.default_rng(seed)
    start, duration = np.zeros((2, size), np.int64)
    per_thread = size // threads
    for thread in range(threads):
        rows = iter(range(thread * per_thread, (thread + 1) * per_thread if thread < threads - 1 else size))
        moves = draw.random(4 * size // threads + 4 * depth) < 0.55
        gaps = draw.integers(1, 900, len(moves))
        stack: list[int] = []
        now = 0
        for opens, gap in zip(moves.tolist(), gaps.tolist(), strict=True):
            now += gap
            row = next(rows, None) if opens and len(stack) < depth else None
            if row is not None:
                start[row] = now
                stack.append(row)
            elif stack:
                row = stack.pop()
                duration[row] = now - start[row]
    return Calls(
        start,
        duration,
        np.repeat(np.arange(threads), per_thread)[np.minimum(np.arange(size), per_thread * threads - 1)],
        draw.integers(0, NAMES, size),
    )


def as_trace(calls: Calls) -> HostTrace:
    """The trace without an object per event."""
    size = len(calls.start_ns)
    model = host_trace(Event("cpu_op", "aten::op"))
    first = len(model.strings)
    columns = {name: np.resize(column[1:], size) for name, column in vars(model.events).items()}
    columns |= {
        "name": (first + calls.name).astype(np.int32),
        "track": (len(model.tracks) + calls.tid).astype(np.int32),
        "start_ns": ORIGIN_NS + calls.start_ns,
        "duration_ns": calls.duration_ns.copy(),
        "external_id": np.arange(1, size + 1),
        "event_index": np.arange(size),
    }
    return replace(
        model,
        events=HostEvents(**columns),
        strings=(*model.strings, *(f"aten::op_{number}" for number in range(NAMES))),
        tracks=(*model.tracks, *(HostTrack(7, 7 + thread) for thread in range(int(calls.tid.max()) + 1))),
    )


def as_events(calls: Calls) -> list[Event]:
    columns = (calls.start_ns.tolist(), calls.duration_ns.tolist(), calls.tid.tolist(), calls.name.tolist())
    return [
        Event("cpu_op", f"aten::op_{name}", start, duration, 7 + tid, external_id=row + 1, event_index=row)
        for row, (start, duration, tid, name) in enumerate(zip(*columns, strict=True))
    ]


def timed(run: Callable[[], Result]) -> tuple[float, Result]:
    begun = time.process_time()
    result = run()
    return time.process_time() - begun, result


def measure_large(depth: int) -> None:
    trace = as_trace(random_calls(LARGE, depth))
    seconds, table = timed(lambda: key_averages(trace))
    drawn, _ = timed(lambda: render(table, sort_by="self_cpu_time_total"))
    print(f"{LARGE} events, at most {depth} levels: {seconds:.2f} CPU s; {len(table)} rows drawn in {drawn:.3f} CPU s")


def compare(depth: int) -> None:
    calls = random_calls(SMALL, depth)
    trace, events = as_trace(calls), as_events(calls)
    fast, table = timed(lambda: key_averages(trace))
    slow, rows = timed(lambda: slow_key_averages(events))
    same = [row["self_cpu_time_total_ns"] for row in rows] == table.self_cpu_time_total_ns.tolist()
    print(f"{SMALL} events, at most {depth} levels: {fast:.3f} CPU s, with an object per event {slow:.2f}, same: {same}")
    print(f"  ratio {slow / fast:.0f}")


def main() -> None:
    """Prints one line a measurement; the objects ask everything below them for device time, so they are slow where it is deep."""
    for depth in (1, 60, 1200):
        measure_large(depth)
    for depth in (1, 6, 20):
        compare(depth)


if __name__ == "__main__":
    main()
