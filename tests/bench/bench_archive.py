"""What archiving a host trace costs and saves beside gzip, and what giving it back costs: in one process by turns.

python -m tests.bench.bench_archive [events or TRACE]
"""

from __future__ import annotations

import argparse
import gzip
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import rblnpb
from rblnpb.converters.merging import merge
from rblnpb.converters.sinks.profile_file import trace_profile, write_trace_archive
from rblnpb.converters.sources.archive import archived_trace
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace
from tests.bench.bench_kineto_read import write_trace

ROUNDS = 3


def archive(host: HostTrace) -> bytes:
    """The profile of a trace that is read."""
    file = io.BytesIO()
    write_trace_archive(host, trace_profile(merge(None, host))[0], file)
    return file.getvalue()


def ns_per_event(work: Callable[[], object], events: int) -> float:
    """CPU nanoseconds of one run."""
    begin = time.process_time()
    work()
    return (time.process_time() - begin) / events * 1e9


def measure(path: Path) -> None:
    """Print a row for each step, and the sizes."""
    host = read_host(path)
    text = b"".join(host.document.blocks())
    packed, zipped = archive(host), gzip.compress(text, 6)
    profile = rblnpb.read(packed)
    document = archived_trace(profile).document
    assert b"".join(document.blocks()) == text
    steps: dict[str, Callable[[], object]] = {
        "read the JSON": lambda: read_host(path),
        "archive it": lambda: archive(host),
        "  beside gzip -6": lambda: gzip.compress(text, 6),
        "read the profile": lambda: rblnpb.read(packed),
        "give the JSON back": lambda: sum(map(len, document.blocks())),
        "  beside gunzip": lambda: gzip.decompress(zipped),
    }
    taken: dict[str, list[float]] = {label: [] for label in steps}
    for _ in range(ROUNDS):
        for label, work in steps.items():
            taken[label].append(ns_per_event(work, len(host.events)))
    for label, values in taken.items():
        print(f"{label:<20} {statistics.median(values):7.0f} ns/event")
    for label, data in (("profile", packed), ("gzip -6", zipped)):
        print(f"{label:<20} {len(data):,} bytes, 1/{len(text) / len(data):.1f} of {len(text):,}")


def main() -> None:
    """Measure a trace of so many events, or a given one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", nargs="?", default="200000")
    given = parser.parse_args().trace
    if not given.isdecimal():
        measure(Path(given))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        write_trace(path, int(given))
        measure(path)


if __name__ == "__main__":
    main()
