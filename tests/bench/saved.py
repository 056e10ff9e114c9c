"""A run in a file, so that a later one can be compared with it: scripts/bench_compare.py.

pytest-benchmark measures one function at a time and keeps what it measured in this form of JSON. Measuring is not what we need
of it: here sides take turns, so that a noisy machine moves all of them, and some are processes. Its form, and its statistics, are:
`pytest-benchmark compare` reads the file too.
"""

from __future__ import annotations

import datetime as dt
import json
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.bench.measure import Measured
from tests.bench.table import machine


def save(path: Path, runs: Iterable[Measured]) -> None:
    """Write a run.

    Raises:
        ModuleNotFoundError: pytest-benchmark is not installed (dependency group bench).
    """
    entries = [entry for run in runs for entry in _entries(run)]
    document = {
        "machine_info": {"node": "", "machine": platform.machine(), "python_version": platform.python_version(), "told": machine()},
        "commit_info": {},
        "benchmarks": entries,
        "datetime": dt.datetime.now(dt.timezone.utc).isoformat(),
        "version": version("pytest-benchmark"),
    }
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")


def _entries(run: Measured) -> Iterable[dict[str, Any]]:
    from pytest_benchmark.stats import Stats

    for side, seconds in run.seconds.items():
        stats: Any = Stats()  # type: ignore[no-untyped-call]  # pytest-benchmark has no types
        for one in seconds:
            stats.update(one)
        name = f"{run.case.name}[{run.size}-{side}]"
        figures = {"count": run.count, "peak_mib": run.peak_mib, **run.figures} if side == "ours" else {"count": run.count}
        yield {
            "group": f"{run.case.name}[{run.size}]",
            "name": name,
            "fullname": f"tests/bench::{name}",
            "params": {"size": run.size, "side": side},
            "param": f"{run.size}-{side}",
            "extra_info": figures,
            "options": {"disable_gc": False, "timer": "process_time", "min_rounds": len(seconds), "warmup": False},
            "stats": {**stats.as_dict(), "data": seconds, "iterations": 1},
        }
