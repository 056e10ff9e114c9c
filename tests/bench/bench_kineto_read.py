"""What reading a host trace costs beside `json.load` and the same columns, and how much memory it takes.

Run it as a script, with the number of events if not a million; it prints and asserts nothing. CPU seconds; both sides run in
turn in one process, and the ratios of their medians are what to compare. Peaks are of processes of their own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rblnpb.converters.sources.kineto import read_host

ROUNDS = 3
HEAD = """ {
    "schemaVersion": 1,
    "deviceProperties": [],
    "displayTimeUnit": "ms",
    "baseTimeNanoseconds": 1790857026000000000,
    "traceEvents": [
    
"""  # noqa: W293  as Kineto writes it
EVENT = """  {{
    "ph": "X",
    "cat": "cpu_op",
    "name": "{name}",
    "pid": 2293,
    "tid": {tid},
    "ts": {start_us}.{start_rest:03d},
    "dur": {us}.{rest:03d}
    ,
    "args": {{
      "External id": {external_id},"Record function id": 0,{sequence} "Ev Idx": {index}
    }}
  }}"""


def event_texts(count: int, first_us: int) -> Iterator[str]:
    """Ops in the formatting of Kineto, their names skewed as they are in a training step."""
    draw = random.Random(7)
    names = [f"aten::{''.join(draw.choices('abcdefghijklmnopqrstuvwxyz_', k=draw.randint(2, 20)))}" for _ in range(400)]
    start_ns = first_us * 1000
    for index, name in enumerate(draw.choices(names, [1 / (rank + 1) for rank in range(400)], k=count)):
        start_ns += draw.randint(50, 9000)
        duration_ns = int(draw.lognormvariate(9, 1.5))
        yield EVENT.format(
            name=name,
            tid=2293 + index % 2,
            start_us=start_ns // 1000,
            start_rest=start_ns % 1000,
            us=duration_ns // 1000,
            rest=duration_ns % 1000,
            external_id=index + 1,
            sequence=f' "Sequence number": {index // 5}, "Fwd thread id": 0,' if index % 5 == 0 else "",
            index=index,
        )


def write_trace(path: Path, count: int, first_us: int = 5_106_254_555_611) -> None:
    """A trace as `export_chrome_trace` writes it."""
    with path.open("w", encoding="utf-8") as file:
        file.write(HEAD)
        for index, text in enumerate(event_texts(count, first_us)):
            file.write(f",\n{text}" if index else text)
        file.write('\n  ],"traceName": "trace.json" }')


def read_with_json(path: Path) -> int:
    """What a short script does: the whole file as objects, then a few columns (times as floats, as they come)."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        events = json.load(file)["traceEvents"]
    names: dict[str, int] = {}
    columns: list[npt.NDArray[Any]] = [
        np.array([event["ts"] for event in events], np.float64),
        np.array([event.get("dur", 0.0) for event in events], np.float64),
        np.array([names.setdefault(event["name"], len(names)) for event in events], np.int32),
        np.array([event["tid"] for event in events], np.int64),
        np.array([event["args"].get("External id", 0) for event in events], np.int64),
        np.array([event["args"].get("Ev Idx", -1) for event in events], np.int64),
    ]
    return len(columns[0])


def read_with_source(path: Path) -> int:
    """All columns, times exact, and the place of every event."""
    return len(read_host(path).events)


def cpu_seconds(read: Callable[[Path], int], path: Path) -> float:
    """CPU seconds of one reading."""
    begin = time.process_time()
    read(path)
    return time.process_time() - begin


def peak_mib(read: Callable[[Path], int], path: Path) -> float:
    """How much one reading adds to the peak of a new process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_growth_mib, (read, path))


def _peak_growth_mib(read: Callable[[Path], int], path: Path) -> float:
    before = _peak_kib()
    read(path)
    return (_peak_kib() - before) / 1024


def _peak_kib() -> int:
    # Not getrusage: its peak is inherited from the parent.
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def compare(title: str, path: Path, count: int) -> None:
    """One row: both sides in turn, their medians, and their ratio."""
    slow, fast = [], []
    for _ in range(ROUNDS):
        slow.append(cpu_seconds(read_with_json, path))
        fast.append(cpu_seconds(read_with_source, path))
    slow_ns, fast_ns = (statistics.median(seconds) / count * 1e9 for seconds in (slow, fast))
    peaks = peak_mib(read_with_json, path), peak_mib(read_with_source, path)
    print(
        f"{title:<28} json.load {slow_ns:6.0f} ns/event {peaks[0]:6.0f} MiB   "
        f"read_host {fast_ns:6.0f} ns/event {peaks[1]:6.0f} MiB   ratio {slow_ns / fast_ns:5.2f}"
    )


def main() -> None:
    """Compare on Kineto's own formatting, on gzip, on absolute times, and on one line of compact JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", type=int, nargs="?", default=1_000_000)
    count = parser.parse_args().events
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write_trace(path, count)
        print(f"{count} events, {path.stat().st_size / count:.0f} bytes each")
        compare("as Kineto writes it", path, count)
        packed = Path(folder) / "trace.json.gz"
        packed.write_bytes(gzip.compress(path.read_bytes(), 1))
        compare("the same, gzip", packed, count)
        write_trace(path, count, 1_790_857_026_000_000)
        compare("absolute times", path, count)
        path.write_text(json.dumps(json.loads(path.read_bytes()), separators=(",", ":")), encoding="utf-8")
        compare("absolute times, one line", path, count)


if __name__ == "__main__":
    main()
