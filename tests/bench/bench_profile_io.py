"""What writing and reading device records costs beside one row message a record, through protobuf's own Python.

Run it as a script, with the number of records if not a million; it prints and asserts nothing. CPU nanoseconds a record; all
sides run in turn in one process, and the ratios of their medians are what to compare: a busy machine moves all of them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import rblnpb
from rblnpb.clock import Clock, ClockKind, ClockSnapshot
from rblnpb.columns import ABSENT, Dependencies, DeviceSlices, Launches
from rblnpb.profile import Commands, Device, Engine, EngineKind, Profile, Program, Session

ROUNDS = 3
COMMANDS = 24
ROW_COLUMNS = ("command_row", "engine_id", "start_ticks", "duration_ticks", "launch_id", "instance", "sequence", "workload",
               "compute_cycles", "size_bytes")  # fmt: skip
KINDS = (
    EngineKind.EXTERNAL_HDMA,
    EngineKind.TASK_DMA,
    EngineKind.NEURAL_DMA,
    EngineKind.NEURAL_ENGINE_CLUSTERS,
    EngineKind.DEVICE_SYNC,
    EngineKind.GENERAL_COMPUTE_ENGINE,
)


def command_table() -> Commands:
    """One program: each command after the one before it; transfers have planned bytes."""
    rows = np.arange(COMMANDS + 1)
    kinds = np.array([0, *(int(KINDS[row % len(KINDS)]) for row in range(COMMANDS))], np.uint32)
    absent = np.full(COMMANDS + 1, ABSENT, np.int64)
    return Commands(
        program_id=(rows > 0).astype(np.uint32),
        layer_strindex=np.where(rows > 0, 2 + rows % 3, 0).astype(np.uint32),
        command_index=rows.astype(np.uint32),
        engine_kind=kinds,
        size_bytes=np.where((rows > 0) & (rows % 3 == 0), rows * 4096, absent),
        chiplet=absent,
        predecessor_ends=np.maximum(rows - 1, 0),
        predecessor_rows=np.arange(1, COMMANDS, dtype=np.uint32),
    )


def device_profile(count: int) -> Profile:
    """Records of many calls of one program on four chiplets: durations vary by 5 %, every column, dependencies between calls."""
    draw = np.random.default_rng(7)
    commands = command_table()
    calls = -(-count // COMMANDS)
    row = np.tile(np.arange(1, COMMANDS + 1), calls)[:count]
    call = np.repeat(np.arange(calls), COMMANDS)[:count]
    usual = draw.integers(800, 90_000, COMMANDS)
    duration = (usual[row - 1] * draw.uniform(0.95, 1.05, count)).astype(np.int64)
    start = np.cumsum(duration + draw.integers(50, 400, count)) + 10**12
    is_compute = np.isin(commands.engine_kind[row], [2, 8])
    first_of_call = np.arange(0, count - COMMANDS, COMMANDS)
    engines = tuple(Engine(row, 1, KINDS[(row - 1) % len(KINDS)], "", (row - 1) // len(KINDS)) for row in range(1, 25))
    return Profile(
        session=Session(7, npu="rebel100"),
        strings=("", "rbln:0", "args_0", "mm", "relu"),
        clocks=(Clock(16, "rbln:0", 10**9, 48, 1, ClockKind.DEVICE),),
        devices=(Device(1, "rbln:0", 0, 4, 16),),
        engines=engines,
        programs=(Program(1, "mm", "", "", 1, COMMANDS),),
        commands=commands,
        clock_snapshots=(
            ClockSnapshot(16, 10**12, 0, 20),
            ClockSnapshot(16, int(start[-1]), int(start[-1]) - 10**12, int(start[-1]) - 10**12 + 20),
        ),
        launches=Launches.of(
            launch_id=1 + np.arange(calls),
            program_id=1,
            start_ns=np.arange(calls) * 10**6,
            thread_id=42,
            instance=1,
            sequence=np.arange(calls),
        ),
        device_slices=DeviceSlices.of(
            clock_id=16,
            command_row=row,
            engine_id=1 + (row - 1) % len(KINDS) + 6 * (call % 4),
            start_ticks=start,
            duration_ticks=duration,
            launch_id=1 + call,
            instance=1,
            sequence=call,
            workload=np.where(commands.engine_kind[row] == 5, ABSENT, row // 12),
            compute_cycles=np.where(is_compute, duration * 13 // 10, ABSENT),
            size_bytes=np.where(is_compute, ABSENT, commands.size_bytes[row]),
        ),
        dependencies=Dependencies.of(predecessor_ordinal=first_of_call, successor_ordinal=first_of_call + COMMANDS),
    )


def row_messages() -> tuple[Any, Any]:
    """Classes of a record as one message, and of a file of them: what most people would write first."""
    file = descriptor_pb2.FileDescriptorProto(name="rows.proto", package="bench", syntax="proto3")
    row = file.message_type.add(name="Row")
    for number, name in enumerate(ROW_COLUMNS, start=1):
        row.field.add(name=name, number=number, type="TYPE_UINT64", label="LABEL_OPTIONAL")
    file.message_type.add(name="Rows").field.add(
        name="rows", number=1, type="TYPE_MESSAGE", type_name=".bench.Row", label="LABEL_REPEATED"
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    classes = message_factory.GetMessageClassesForFiles(["rows.proto"], pool)
    return classes["bench.Row"], classes["bench.Rows"]


def write_rows(profile: Profile, path: Path) -> None:
    """The device slices, a message each."""
    _, rows_class = row_messages()
    columns = {name: np.where(column == ABSENT, 0, column).tolist() if column.dtype.kind == "i" else column.tolist()
               for name, column in profile.device_slices.columns().items() if name in ROW_COLUMNS}  # fmt: skip
    rows = rows_class()
    for values in zip(*columns.values(), strict=True):
        rows.rows.add(**dict(zip(columns, values, strict=True)))
    path.write_bytes(rows.SerializeToString())


def read_rows(path: Path) -> dict[str, Any]:
    """The same file as columns."""
    _, rows_class = row_messages()
    rows = rows_class.FromString(path.read_bytes()).rows
    return {name: np.fromiter((getattr(row, name) for row in rows), np.uint64, len(rows)) for name in ROW_COLUMNS}


def view_raw(path: Path) -> None:
    """Every column of every chunk, mapped and not copied, and its checksum not computed."""
    with rblnpb.open_profile(path) as file:
        for chunk in file.chunks(DeviceSlices):
            assert chunk.records is not None


def cpu_ns(work: Callable[[], object]) -> int:
    """CPU nanoseconds of one run."""
    start = time.process_time_ns()
    work()
    return time.process_time_ns() - start


def main() -> None:
    """Print a table of all sides."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=1_000_000, help="device records (default: a million)")
    count = parser.parse_args().count
    profile = device_profile(count)
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.pb" for name in ("zstd", "zlib", "raw", "rows")}
        sides: dict[str, Callable[[], object]] = {
            "write row messages": lambda: write_rows(profile, paths["rows"]),
            "write zstd": lambda: rblnpb.write(profile, paths["zstd"], display=False, force=True),
            "write zlib": lambda: rblnpb.write(profile, paths["zlib"], codec="zlib", display=False, force=True),
            "write raw": lambda: rblnpb.write(profile, paths["raw"], codec="raw", display=False, force=True),
            "read row messages": lambda: read_rows(paths["rows"]),
            "read zstd": lambda: rblnpb.read(paths["zstd"]),
            "read zlib": lambda: rblnpb.read(paths["zlib"]),
            "read raw": lambda: rblnpb.read(paths["raw"]),
            "view raw": lambda: view_raw(paths["raw"]),
        }
        taken: dict[str, list[int]] = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, work in sides.items():
                taken[name].append(cpu_ns(work))
        sizes = {name: path.stat().st_size / count for name, path in paths.items()}
    medians = {name: statistics.median(values) / count for name, values in taken.items()}
    print(f"{count:,} device records, {len(profile.dependencies):,} dependencies, {ROUNDS} rounds")
    for name, median in medians.items():
        rows = medians[f"{name.split()[0]} row messages"] if not name.startswith("view") else medians["read row messages"]
        print(f"{name:20} {median:8.1f} ns a record, rows / this = {rows / median:7.1f}")
    print(", ".join(f"{name} {size:.2f}" for name, size in sizes.items()), "bytes a record")


if __name__ == "__main__":
    main()
