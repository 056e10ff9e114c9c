"""How long a device slice takes as Chrome trace JSON: our columns against a dict per event and orjson, in one process by turns.

python -m tests.bench.bench_chrome_write [--records N] [--rounds R]
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import orjson

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rblnpb.converters.sinks.chrome_trace import write_chrome_trace
from rblnpb.converters.timeline import AlignedSlices, SliceNames, Timeline, Track
from rblnpb.naming import NameStyle
from tests.support.timelines import launches, timeline

ARGUMENTS = ("launch_id", "compute_cycles", "size_bytes")
LAYERS = 400
ENGINES = 24
PER_LAUNCH = 40


class Counted:
    """A stream that counts what it is given and keeps nothing."""

    def __init__(self) -> None:
        self.size_bytes = 0

    def write(self, data: bytes, /) -> None:
        self.size_bytes += len(data)


def many_slices(count: int, seed: int = 1) -> Timeline:
    """`count` device slices on rows without crossings, in the names of the vendor, every column filled."""
    random = np.random.default_rng(seed)
    row = np.arange(count)
    track = (row % ENGINES).astype(np.int32)
    start = 1_790_857_026_000_000_000 + row * 500
    duration = random.integers(5_000, 11_000, count)
    call = row // PER_LAUNCH
    names = SliceNames(
        NameStyle.MULTI_STREAM,
        strings=("", *(f"encoder_layer_{layer}_linear" for layer in range(LAYERS))),
        stage=random.integers(1, LAYERS + 1, count).astype(np.int32),
        command=(row % 7).astype(np.int32),
        instance=np.ones(count, np.int32),
        sequence=call,
        workload=row % 3,
        override=np.zeros(count, np.int32),
    )
    none = np.full(count, -1, np.int64)
    arguments = np.stack((call + 1, random.integers(1000, 100_000, count), random.integers(64, 1 << 20, count)), axis=1)
    return timeline(
        slices=AlignedSlices(start, duration, track, names, call, none, np.zeros_like(track), none, arguments),
        launches=launches(*({"start": 0} for _ in range(call[-1] + 1))),
        tracks=tuple(Track("rbln:0", f"engine {engine}", "compute", is_work=True, order=engine) for engine in range(ENGINES)),
        argument_names=ARGUMENTS,
    )


def write_dicts(source: Timeline, file: Counted, block_rows: int = 4096) -> None:
    """What people do today, at its best: small blocks, so that the garbage collector has little to look at."""
    slices = source.slices
    for first in range(0, len(slices), block_rows):
        rows = slice(first, first + block_rows)
        columns = zip(
            slices.track[rows].tolist(),
            slices.names.take(rows).render().tolist(),
            ((slices.start_ns[rows] - slices.start_ns[0]) / 1000).tolist(),
            (slices.duration_ns[rows] / 1000).tolist(),
            slices.arguments[rows].tolist(),
            strict=True,
        )
        events = [
            {
                "ph": "X",
                "cat": "kernel",
                "pid": 1,
                "tid": track,
                "name": name.decode(),
                "ts": start,
                "dur": duration,
                "args": dict(zip(ARGUMENTS, arguments, strict=True)),
            }
            for track, name, start, duration, arguments in columns
        ]
        file.write(orjson.dumps(events))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    source = many_slices(options.records)
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(options.rounds):
        for write, seconds in ((write_chrome_trace, ours), (write_dicts, theirs)):
            file = Counted()
            begin = time.process_time()
            write(source, file)
            seconds.append(time.process_time() - begin)
            if write is write_chrome_trace:
                size_bytes = file.size_bytes
                grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib) / 1024
    per_event = 1e9 / options.records
    print(f"{options.records:,} device slices, CPU time, median of {options.rounds}")
    print(f"columns to text   {statistics.median(ours) * per_event:8.0f} ns/event  {size_bytes / options.records:6.1f} B/event")
    print(f"dict and orjson   {statistics.median(theirs) * per_event:8.0f} ns/event")
    print(f"ratio             {statistics.median(theirs) / statistics.median(ours):8.1f}")
    print(f"memory on top of the columns {grown_mib:.0f} MiB")


if __name__ == "__main__":
    main()
