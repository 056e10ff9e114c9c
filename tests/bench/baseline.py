"""The functions of baseline.c, compiled when a compiler is there."""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rblnpb.converters.timeline import AlignedSlices
from tests.bench.inputs import Ints

SOURCE = Path(__file__).with_name("baseline.c")
FLAGS = ("-O3", "-std=c11", "-shared", "-fPIC")


def compiler() -> str | None:
    """The compiler that is used: that of CC, or the first that is there."""
    return next(
        (found for name in (os.environ.get("CC", ""), "cc", "gcc", "clang") if name and (found := shutil.which(name))), None
    )


@functools.cache
def library() -> ctypes.CDLL | None:
    """The compiled functions; None where there is no compiler, so that the column C of the table says that there is none."""
    program = compiler()
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "baseline.so"
        subprocess.run([program, *FLAGS, "-o", str(path), str(SOURCE)], check=True)
        found = ctypes.CDLL(str(path))
    for name in ("encode_rows", "decode_rows", "sum_column", "write_json", "write_packets", "scan_events", "idle_gaps"):
        found[name].restype = ctypes.c_int64
    return found


def function(name: str) -> Any:
    """One of them. A side in C is there when they are."""
    found = library()
    assert found is not None
    return found[name]


def place(array: npt.NDArray[Any]) -> ctypes.c_void_p:
    """Where an array stands. Who passes it on keeps the array alive."""
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def places(columns: Sequence[npt.NDArray[Any]]) -> Any:
    """Where several arrays stand, as an array of pointers."""
    return (ctypes.c_void_p * len(columns))(*(column.ctypes.data for column in columns))


def length(array: npt.NDArray[Any] | bytes) -> ctypes.c_int64:
    """As an argument."""
    return ctypes.c_int64(len(array))


class _Slices(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("start_ns", "duration_ns", "sequence", "workload", "arguments")),
        *((name, ctypes.c_void_p) for name in ("track", "stage", "command", "instance")),
        *((name, ctypes.c_void_p) for name in ("stages", "stage_ends")),
    ]


class SliceWriter:
    """Slices, written by one of the two writers of baseline.c, a block at a time."""

    BLOCK_ROWS = 2048
    ROW_BYTES = 1024

    def __init__(self, slices: AlignedSlices, function: str) -> None:
        names = slices.names
        texts = [text.encode() for text in names.strings]
        columns: dict[str, npt.NDArray[Any]] = {
            "start_ns": slices.start_ns,
            "duration_ns": slices.duration_ns,
            "sequence": names.sequence,
            "workload": names.workload,
            "arguments": slices.arguments,
            "track": slices.track,
            "stage": names.stage,
            "command": names.command,
            "instance": names.instance,
            "stages": np.frombuffer(b"".join(texts), np.uint8),
            "stage_ends": np.cumsum([len(text) for text in texts]),
        }
        self._columns = columns
        self._struct = _Slices(**{name: column.ctypes.data for name, column in columns.items()})
        self._function = function
        self._count = len(slices)

    def write(self, file: Any) -> Any:
        """Write them all; gives the file."""
        write = function(self._function)
        block = np.empty(self.BLOCK_ROWS * self.ROW_BYTES, np.uint8)
        for first in range(0, self._count, self.BLOCK_ROWS):
            last = min(first + self.BLOCK_ROWS, self._count)
            size = write(ctypes.byref(self._struct), ctypes.c_int64(first), ctypes.c_int64(last), place(block))
            file.write(block[:size].data)
        return file


class _Events(ctypes.Structure):
    _fields_ = [
        ("text", ctypes.c_char_p),
        *((name, ctypes.c_void_p) for name in ("start_ns", "duration_ns", "tid", "external_id", "event_index")),
        *((name, ctypes.c_void_p) for name in ("name", "name_at", "name_length", "table")),
        ("table_size", ctypes.c_int64),
        ("names", ctypes.c_int32),
    ]


def scan_kineto(path: Path, count: int) -> dict[str, Any]:
    """The columns of a trace of at most so many events, and the texts of its names in order of first appearance."""
    text = path.read_bytes()
    columns: dict[str, npt.NDArray[Any]] = {
        name: np.zeros(count, np.int64) for name in ("start_ns", "duration_ns", "tid", "external_id", "event_index")
    }
    columns["name"] = np.zeros(count, np.int32)
    places_of_names: dict[str, npt.NDArray[Any]] = {
        "name_at": np.zeros(1 << 15, np.int64),
        "name_length": np.zeros(1 << 15, np.int32),
        "table": np.zeros(1 << 16, np.int32),
    }
    addresses = {name: column.ctypes.data for name, column in {**columns, **places_of_names}.items()}
    events = _Events(text=text, table_size=1 << 16, names=0, **addresses)
    begin = text.index(b"[", text.index(b'"traceEvents"')) + 1
    found = function("scan_events")(ctypes.byref(events), ctypes.c_int64(begin), length(text))
    spans = zip(places_of_names["name_at"].tolist(), places_of_names["name_length"].tolist(), strict=True)
    names = [text[at : at + size].decode() for at, size in itertools.islice(spans, events.names)]
    return {"names": names, **{name: column[:found] for name, column in columns.items()}}


def int64(array: npt.NDArray[Any]) -> Ints:
    """As the C functions take their columns."""
    return np.ascontiguousarray(array, np.int64)
