"""Kills recordings and conversions at random moments, and reads what they leave.

    python scripts/kill_writers.py                            # 200 recordings, 50 conversions; a minute or two
    python scripts/kill_writers.py --recordings 25 --conversions 0 --seed 3

Of a recording every record must be there that was in the file when `flush` came back: the process tells their number through a pipe
before it goes on. Of a conversion the output must be what it was before or the whole new one, and what is left beside it must be
gone after the next one. Exit code 1 when anything is missing. Needs a system with fork and SIGKILL.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rblnpb
from rblnpb import sim
from rblnpb.columns import Launches
from rblnpb.converters.cli import main as rblnpb_main
from rblnpb.errors import TruncatedError

ROUNDS, RECORDS = 40, 3_000
LATEST = 1.3
"""Kills come up to so many times later than the work takes: its end is of interest too."""


def seconds_of(work: Callable[[str], object]) -> float:
    """How long some work takes when it is done again: a process that is forked off has everything loaded."""
    work("first")
    began = time.monotonic()
    work("second")
    return time.monotonic() - began


def record(path: Path, told: int) -> None:
    """Record launches numbered from 1, and tell after each flush how many are in the file."""
    recorder = rblnpb.Recorder(path.open("xb"), rblnpb.Session(session_id=7), clock=time.monotonic_ns, flush_interval_ns=2_000_000)
    count = 0
    for _ in range(ROUNDS):
        numbers = np.arange(count + 1, count + 1 + RECORDS)
        recorder.record(Launches.of(launch_id=numbers, start_ns=numbers * numbers % 1_000_003))
        count += RECORDS
        for _ in range(100):
            count += 1
            recorder.add(Launches, launch_id=count, start_ns=time.monotonic_ns())
        recorder.flush()
        os.write(told, count.to_bytes(8, "little"))
    recorder.close()


def killed(work: Callable[[int], object], seconds: float) -> bytes:
    """Do some work in a process of its own, which is killed after so long; gives what it told."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            work(writer)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if status not in {0, int(signal.SIGKILL)}:
        raise SystemExit(f"the work failed by itself, with status {status}")
    with os.fdopen(reader, "rb") as told:
        return told.read()


def recording(folder: Path, number: int, seconds: float) -> str:
    """Kill a recording; how far it was, or what is wrong with its file."""
    path = folder / f"{number}.pb"
    told = killed(lambda writer: record(path, writer), seconds)
    flushed = int.from_bytes(told[-8:], "little")
    if not path.exists() or not path.stat().st_size:
        return "before its header" if not flushed else f"LOST: {path} is empty, and {flushed} records were flushed"
    try:
        profile = rblnpb.read(path)
    except TruncatedError:
        return "in its header" if not flushed else f"LOST: {path} cannot be read, and {flushed} records were flushed"
    launches = profile.launches.launch_id
    codes = {finding.code for finding in profile.findings}
    if len(launches) < flushed or (launches != np.arange(1, len(launches) + 1)).any():
        return f"LOST: {path} holds {len(launches)} records, and {flushed} were flushed"
    if not codes <= {"not-ended", "truncated", *(() if len(launches) else ("no-records",))}:
        return f"WRONG: {path} has {', '.join(sorted(codes))}"
    path.unlink()
    if profile.is_complete:
        return "after its end"
    return "in a packet" if "truncated" in codes else "between packets"


def convert(folder: Path) -> bool:
    """Convert a profile over an older output; whether that went well."""
    with open(os.devnull, "w", encoding="utf-8") as nothing, contextlib.redirect_stderr(nothing):
        return rblnpb_main(["convert", str(folder / "device.pb"), "-o", str(folder / "out.json"), "--force"]) == 0


def conversion(folder: Path, new: bytes, seconds: float) -> str:
    """Kill a conversion; how far it was, or what is wrong with its output."""
    out, old = folder / "out.json", b"before"
    out.write_bytes(old)
    told = killed(lambda writer: os.write(writer, b"done") if convert(folder) else None, seconds)
    content = out.read_bytes()
    if content not in (old, new) or (told and content == old):
        return f"WRONG: an output of {len(content)} bytes"
    left = list(folder.glob(".rblnpb-*"))
    for path in left:
        # As if it were long ago.
        os.utime(path, (0, 0))
    return "after its end" if content == new else "while it wrote" if left else "before it wrote"


def recordings(count: int, moments: random.Random, folder: Path) -> Counter[str]:
    """Kill so many recordings; how far they were."""
    took = seconds_of(lambda name: record(folder / name, os.open(os.devnull, os.O_WRONLY)))
    return Counter(recording(folder, number, moments.uniform(0, LATEST * took)) for number in range(count))


def conversions(count: int, moments: random.Random, folder: Path) -> Counter[str]:
    """Kill so many conversions, and do one that ends; how far they were."""
    rblnpb.write(sim.simulate(records=20_000), folder / "device.pb")
    took = seconds_of(lambda _: convert(folder))
    new = (folder / "out.json").read_bytes()
    found = Counter(conversion(folder, new, moments.uniform(0, LATEST * took)) for _ in range(count))
    if not convert(folder) or list(folder.glob(".rblnpb-*")):
        found["WRONG: what killed conversions left is still there"] += 1
    return found


def main() -> int:
    """Kill, read, and say how far each was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", type=int, default=200, metavar="N", help="default: 200")
    parser.add_argument("--conversions", type=int, default=50, metavar="N", help="default: 50")
    parser.add_argument("--seed", type=int, default=1, help="of the moments; default: 1")
    options = parser.parse_args()
    # Those of the library for linear algebra below numpy, of which nothing is used here.
    warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
    moments = random.Random(options.seed)
    is_fine = True
    for kill, count in ((recordings, options.recordings), (conversions, options.conversions)):
        with tempfile.TemporaryDirectory() as folder:
            for how, times in sorted(kill(count, moments, Path(folder)).items() if count else ()):
                print(f"{kill.__name__} killed {how}: {times}")
                is_fine = is_fine and not how.startswith(("LOST", "WRONG"))
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
