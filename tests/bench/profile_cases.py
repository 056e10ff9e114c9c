"""Writing and reading device records, beside a protobuf message a record."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import rblnpb
from rblnpb.clock import clock_maps
from rblnpb.columns import ABSENT, DeviceSlices
from rblnpb.profile import Profile
from tests.bench import baseline
from tests.bench.case import Case, Side, Work
from tests.bench.inputs import CALL_NS, COMMANDS, FIRST_US, device_profile

ROW_COLUMNS = ("command_row", "engine_id", "start_ticks", "duration_ticks", "launch_id", "instance", "sequence", "workload",
               "compute_cycles", "size_bytes")  # fmt: skip
ROW_BYTES = 128
"""Room for one row message."""
DEVICE_CLOCK = 16
WINDOW_RECORDS = 10_000
WINDOW_NS = WINDOW_RECORDS // COMMANDS * CALL_NS
"""About so many records, which are 1 % of a million: what it costs should not depend on the size of the file."""
Columns = dict[str, npt.NDArray[np.uint64]]


def row_columns(records: DeviceSlices) -> Columns:
    """The columns that row messages have; what is absent is 0, as in a message."""
    columns = records.columns()
    return {name: np.where(columns[name] == ABSENT, 0, columns[name]).astype(np.uint64) if columns[name].dtype.kind == "i"
            else columns[name].astype(np.uint64) for name in ROW_COLUMNS}  # fmt: skip


def row_messages() -> Any:
    """The class of a file of records, each a message: what most people would write first."""
    file = descriptor_pb2.FileDescriptorProto(name="rows.proto", package="bench", syntax="proto3")
    row = file.message_type.add(name="Row")
    for number, name in enumerate(ROW_COLUMNS, start=1):
        row.field.add(name=name, number=number, type="TYPE_UINT64", label="LABEL_OPTIONAL")
    file.message_type.add(name="Rows").field.add(
        name="rows", number=1, type="TYPE_MESSAGE", type_name=".bench.Row", label="LABEL_REPEATED"
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClassesForFiles(["rows.proto"], pool)["bench.Rows"]


def write_rows(columns: Columns, path: Path) -> Path:
    """The records, a message each."""
    rows = row_messages()()
    for values in zip(*(column.tolist() for column in columns.values()), strict=True):
        rows.rows.add(**dict(zip(ROW_COLUMNS, values, strict=True)))
    path.write_bytes(rows.SerializeToString())
    return path


def parse_rows(path: Path) -> Any:
    """The messages of such a file."""
    return row_messages().FromString(path.read_bytes()).rows


def read_rows(path: Path) -> Columns:
    """The same file as columns."""
    rows = parse_rows(path)
    return {name: np.fromiter((getattr(row, name) for row in rows), np.uint64, len(rows)) for name in ROW_COLUMNS}


def write_rows_in_c(columns: Columns, path: Path) -> Path:
    """The same bytes as `write_rows`."""
    count = len(columns["start_ticks"])
    room = np.empty(count * ROW_BYTES, np.uint8)
    at = baseline.places(list(columns.values()))
    size = baseline.function("encode_rows")(at, ctypes.c_int64(len(columns)), ctypes.c_int64(count), baseline.place(room))
    with path.open("wb") as file:
        file.write(room[:size].data)
    return path


def read_rows_in_c(path: Path, count: int) -> Columns:
    """The same columns as `read_rows`."""
    data = path.read_bytes()
    columns = {name: np.zeros(count, np.uint64) for name in ROW_COLUMNS}
    assert baseline.function("decode_rows")(data, baseline.length(data), baseline.places(list(columns.values()))) == count
    return columns


def write_ours(profile: Profile, path: Path, codec: str) -> Path:
    """A profile without display packets."""
    rblnpb.write(profile, path, codec=codec, display=False, force=True)
    return path


def profile_file(folder: Path, count: int, codec: str = "zstd") -> Path:
    """The file of so many records, written once."""
    path = folder / f"device-{count}-{codec}.pb"
    return path if path.exists() else write_ours(device_profile(count), path, codec)


def rows_file(folder: Path, count: int) -> Path:
    """The same records, a message each; written in C where that is possible, which gives the same bytes."""
    path = folder / f"rows-{count}.pb"
    if not path.exists():
        write = write_rows_in_c if baseline.library() else write_rows
        write(row_columns(device_profile(count).device_slices), path)
    return path


def read_columns(profile: Profile) -> Columns:
    """Of what was read, what row messages tell too."""
    return row_columns(profile.device_slices)


def set_up_write(count: int, folder: Path, *, codec: str, with_others: bool = False) -> Work:
    profile = device_profile(count)
    columns = row_columns(profile.device_slices)
    ours = Side(lambda: write_ours(profile, folder / f"write-{codec}.pb", codec), lambda path: read_columns(rblnpb.read(path)))
    plain = Side(lambda: write_rows(columns, folder / "write-rows.pb"), read_rows)
    in_c = Side(lambda: write_rows_in_c(columns, folder / "write-rows-c.pb"), read_rows)
    return Work(
        ours,
        plain if with_others else None,
        in_c if with_others and baseline.library() else None,
        figures=lambda path: {"bytes": path.stat().st_size / count},
    )


def set_up_read(count: int, folder: Path, *, codec: str, with_others: bool = False) -> Work:
    path, rows = profile_file(folder, count, codec), rows_file(folder, count)
    return Work(
        Side(lambda: rblnpb.read(path), read_columns),
        Side(lambda: read_rows(rows)) if with_others else None,
        Side(lambda: read_rows_in_c(rows, count)) if with_others and baseline.library() else None,
    )


def sum_views(path: Path) -> int:
    """Every column of every chunk, mapped and not copied; one of them is added up."""
    with rblnpb.open_profile(path) as file:
        return sum(int(records.duration_ticks.sum()) for records in device_chunks(file.chunks(DeviceSlices)))


def device_chunks(chunks: Iterable[Any]) -> Iterable[DeviceSlices]:
    """Their records."""
    return (chunk.records for chunk in chunks)


def set_up_views(count: int, folder: Path) -> Work:
    path, rows = profile_file(folder, count, "raw"), rows_file(folder, count)
    # The width that the file has, so that both sides read as much.
    durations = device_profile(count).device_slices.duration_ticks.astype(np.uint32)
    return Work(
        Side(lambda: sum_views(path)),
        Side(lambda: sum(row.duration_ticks for row in parse_rows(rows))),
        Side(lambda: baseline.function("sum_column")(baseline.place(durations), baseline.length(durations)))
        if baseline.library()
        else None,
    )


def window_of_all(path: Path, window_ns: tuple[int, int]) -> DeviceSlices:
    """The slices of a stretch of time, out of the whole file."""
    profile = rblnpb.read(path)
    slices = profile.device_slices
    clock = clock_maps(profile.clocks, profile.clock_snapshots)[DEVICE_CLOCK]
    start_ticks = clock.unwrap(slices.start_ticks)
    start_ns = clock.unwrapped_to_ns(start_ticks)
    end_ns = clock.unwrapped_to_ns(start_ticks + slices.duration_ticks.astype(np.int64))
    return slices.take((start_ns < window_ns[1]) & (end_ns > window_ns[0]))


def set_up_window(count: int, folder: Path) -> Work:
    path = profile_file(folder, count)
    start_ns = int(device_profile(count).device_slices.start_ticks[count // 2]) - 10**12 + FIRST_US * 1000
    window_ns = (start_ns, start_ns + WINDOW_NS)
    return Work(
        Side(lambda: rblnpb.read(path, window=window_ns), read_columns),
        Side(lambda: window_of_all(path, window_ns), row_columns),
        count=WINDOW_RECORDS,
    )


MESSAGES = "a protobuf message a record"
LIMITS: Mapping[str, float] = {"ns": 70, "bytes": 6.5}
CASES = (
    Case(
        "write-pb",
        "write device records to `.pb`",
        MESSAGES,
        partial(set_up_write, codec="zstd", with_others=True),
        bar=LIMITS,
        large_bar=LIMITS,
    ),
    Case("write-pb-zlib", "the same, packed by zlib", "", partial(set_up_write, codec="zlib")),
    Case("write-pb-raw", "the same, raw", "", partial(set_up_write, codec="raw")),
    Case(
        "read-pb",
        "read them back into columns",
        MESSAGES,
        partial(set_up_read, codec="zstd", with_others=True),
        bar={"ns": 90},
        large_bar={"ns": 90},
    ),
    Case("read-pb-zlib", "the same, packed by zlib", "", partial(set_up_read, codec="zlib")),
    Case("read-pb-raw", "the same, raw", "", partial(set_up_read, codec="raw")),
    Case("view-pb", "map raw columns as views, add one up", MESSAGES, set_up_views, bar={"ns": 5}, large_bar={"ns": 5}),
    Case(
        "window", "open 10,000 records in the middle of n", "reading all of it", set_up_window, plain_limit=1_000_000, large_bar={}
    ),
)
