"""What recording costs the program that is recorded."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rblnpb
from rblnpb.columns import DeviceSlices, Launches
from rblnpb.profile import Profile, Session
from tests.bench.case import Case, Side, Work
from tests.bench.inputs import COMMANDS, device_profile

THREADS = 8
TIMED_CALLS = 20_000
VALUES = 20_000
"""What the recorded program works through for each launch: some twenty microseconds, on one thread."""

Row = dict[str, int]


def new_recorder(path: Path, profile: Profile) -> tuple[rblnpb.Recorder, Any]:
    """A recorder that writes to a file, as a runtime opens it, and knows the device; and that file."""
    path.unlink(missing_ok=True)
    file = path.open("xb", buffering=0)
    recorder = rblnpb.Recorder(file, Session(7, npu="rebel100"), clock=time.monotonic_ns, display=False)
    for text in profile.strings[1:]:
        recorder.intern(text)
    recorder.define(
        clocks=profile.clocks,
        devices=profile.devices,
        engines=profile.engines,
        programs=profile.programs,
        commands=profile.commands,
    )
    recorder.snapshot(*profile.clock_snapshots)
    return recorder, file


def rows_of(profile: Profile) -> list[Row]:
    """Its device slices, each as the arguments of `Recorder.add`."""
    columns = {name: column.tolist() for name, column in profile.device_slices.columns().items() if name != "name_strindex"}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def record_all(path: Path, profile: Profile, rows: Iterable[Row]) -> Path:
    recorder, file = new_recorder(path, profile)
    with file, recorder:
        for row in rows:
            recorder.add(DeviceSlices, **row)
    return path


def record_tables(path: Path, profile: Profile, tables: Iterable[DeviceSlices]) -> Path:
    recorder, file = new_recorder(path, profile)
    with file, recorder:
        for table in tables:
            recorder.record(table)
    return path


def keep_all(path: Path, rows: Iterable[Row]) -> Path:
    """What people do: a dict for each under a lock, and JSON at the end, all of which a crash takes along."""
    lock, kept = threading.Lock(), []
    for row in rows:
        with lock:
            kept.append(dict(row))
    path.write_text(json.dumps(kept), encoding="utf-8")
    return path


def recorded(path: Path) -> list[tuple[int, int]]:
    """Launch and start of each record in a file, in order; a loss would be a finding, and make it shorter."""
    slices = rblnpb.read(path).device_slices
    return sorted(zip(slices.launch_id.tolist(), slices.start_ticks.tolist(), strict=True))


def kept(path: Path) -> list[tuple[int, int]]:
    return sorted((row["launch_id"], row["start_ticks"]) for row in json.loads(path.read_bytes()))


def call_times(call: Callable[[Any], object], arguments: Iterable[Any]) -> dict[str, float]:
    """What a single call takes, by the clock on the wall; its own cost is in it."""
    spent = []
    for one in arguments:
        begin = time.perf_counter_ns()
        call(one)
        spent.append(time.perf_counter_ns() - begin)
    spent.sort()
    return {"median ns": statistics.median(spent), "p99 ns": float(spent[len(spent) * 99 // 100]), "max µs": spent[-1] / 1000}


def add_times(path: Path, profile: Profile, rows: list[Row]) -> dict[str, float]:
    recorder, file = new_recorder(path, profile)
    with file, recorder:
        return call_times(lambda row: recorder.add(DeviceSlices, **row), rows[:TIMED_CALLS])


def table_times(path: Path, profile: Profile, tables: list[DeviceSlices]) -> dict[str, float]:
    recorder, file = new_recorder(path, profile)
    with file, recorder:
        return call_times(recorder.record, tables[:TIMED_CALLS])


def set_up_add(count: int, folder: Path) -> Work:
    profile = device_profile(count)
    rows = rows_of(profile)
    return Work(
        Side(lambda: record_all(folder / "recorded.pb", profile, rows), recorded),
        Side(lambda: keep_all(folder / "recorded.json", rows), kept),
        figures=lambda _: add_times(folder / "timed.pb", profile, rows),
    )


def set_up_tables(count: int, folder: Path) -> Work:
    profile = device_profile(count)
    slices = profile.device_slices
    tables = [slices.take(slice(at, at + COMMANDS)) for at in range(0, count, COMMANDS)]
    return Work(
        Side(lambda: record_tables(folder / "recorded.pb", profile, tables), recorded),
        Side(lambda: record_all(folder / "single.pb", profile, rows_of(profile)), recorded),
        figures=lambda _: table_times(folder / "timed.pb", profile, tables),
    )


def record_at_once(path: Path, profile: Profile, shares: list[list[Row]]) -> Path:
    recorder, file = new_recorder(path, profile)

    def add(rows: list[Row]) -> None:
        for row in rows:
            recorder.add(DeviceSlices, **row)

    with file, recorder:
        threads = [threading.Thread(target=add, args=(rows,)) for rows in shares]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not recorder.losses
    return path


def set_up_threads(count: int, folder: Path) -> Work:
    profile = device_profile(count)
    rows = rows_of(profile)
    shares = [rows[first::THREADS] for first in range(THREADS)]
    return Work(
        Side(lambda: record_at_once(folder / "at-once.pb", profile, shares), recorded),
        Side(lambda: record_all(folder / "recorded.pb", profile, rows), recorded),
    )


def run_program(launches: int, launched: Callable[[int], object]) -> float:
    """A program that computes for each of its launches, and tells of it; gives what it computed."""
    values = np.linspace(0, 1, VALUES, dtype=np.float32)
    for number in range(launches):
        values = np.sqrt(values * values + 1)
        launched(number)
    return float(values.sum())


def run_recorded(launches: int, path: Path, profile: Profile, tables: list[DeviceSlices]) -> float:
    """The same; what each launch did on the device is recorded, as a runtime does when it comes back."""
    recorder, file = new_recorder(path, profile)

    def launched(number: int) -> None:
        recorder.add(Launches, launch_id=number + 1, program_id=1, start_ns=time.monotonic_ns(), thread_id=42, instance=1)
        recorder.record(tables[number % len(tables)])

    with file, recorder:
        return run_program(launches, launched)


def wall_percent(ours: Callable[[], object], plain: Callable[[], object], turns: int = 5) -> dict[str, float]:
    """How much longer ours takes on the wall, of medians taken by turns."""
    spent: list[list[float]] = [[], []]
    for _ in range(turns):
        for side, run in enumerate((ours, plain)):
            begin = time.perf_counter()
            run()
            spent[side].append(time.perf_counter() - begin)
    one, other = map(statistics.median, spent)
    return {"wall %": (one / other - 1) * 100}


def set_up_effect(count: int, folder: Path) -> Work:
    profile = device_profile(100 * COMMANDS)
    tables = [profile.device_slices.take(slice(at, at + COMMANDS)) for at in range(0, 100 * COMMANDS, COMMANDS)]
    with_it = partial(run_recorded, count, folder / "program.pb", profile, tables)
    without = partial(run_program, count, lambda number: number)
    return Work(Side(with_it), Side(without), figures=lambda _: wall_percent(with_it, without))


SMALL = (10_000, 100_000)
CASES = (
    Case("recorder-add", "record one at a time", "a list of dicts, json.dumps", set_up_add, sizes=SMALL),
    Case("recorder-table", "record 24 at a time", "one at a time", set_up_tables, sizes=SMALL),
    Case("recorder-threads", "record from eight threads at once", "from one", set_up_threads, sizes=SMALL),
    Case(
        "recorder-effect",
        "a program with a recorder, 25 records for 20 µs of work",
        "without",
        set_up_effect,
        "launch",
        sizes=(1_000, 10_000),
        tiny=10,
    ),
)
