"""Reading host traces, archiving them, and torch's table of them, beside `json.load`, gzip and an object per event."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import rblnpb
from rblnpb.columns import ABSENT
from rblnpb.converters.host_trace import ALL_COLUMNS
from rblnpb.converters.merging import merge
from rblnpb.converters.sinks.profile_file import trace_profile, write_trace_archive
from rblnpb.converters.sources.archive import archived_trace
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace
from tests.bench import baseline
from tests.bench.case import MEDIUM, Case, Process, Side, Work
from tests.bench.inputs import BASE_NS, FIRST_US, trace_file
from tests.support.torch_events import Event, slow_key_averages

ABSOLUTE_US = BASE_NS // 1000
"""Where the traces of absolute times begin, as other writers than Kineto have them."""
Columns = dict[str, Any]


def load_columns(path: Path) -> Columns:
    """What a short script does: the whole file as objects, then a few columns; the times as floats, as they come."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        events = json.load(file)["traceEvents"]
    names: dict[str, int] = {}
    columns: Columns = {
        "start_us": np.array([event["ts"] for event in events], np.float64),
        "duration_us": np.array([event.get("dur", 0.0) for event in events], np.float64),
        "name": np.array([names.setdefault(event["name"], len(names)) for event in events], np.int32),
        "tid": np.array([event["tid"] for event in events], np.int64),
        "external_id": np.array([event.get("args", {}).get("External id", 0) for event in events], np.int64),
        "event_index": np.array([event.get("args", {}).get("Ev Idx", -1) for event in events], np.int64),
    }
    return {**columns, "names": list(names)}


def told(columns: Columns) -> Columns:
    """Columns that compare: names as texts, times as the doubles that `json.load` gives, which hold no more of absolute times."""
    names = columns["names"]
    times = {
        name: columns[f"{name}_us"].tolist() if f"{name}_us" in columns else [ns / 1000 for ns in columns[f"{name}_ns"].tolist()]
        for name in ("start", "duration")
    }
    numbers = {name: columns[name] for name in ("tid", "external_id", "event_index")}
    return {**times, **numbers, "name": [names[row] for row in columns["name"].tolist()]}


def told_of_trace(host: HostTrace) -> Columns:
    """The same of ours."""
    events = host.events
    track_tid: npt.NDArray[np.int64] = np.array([track.tid for track in host.tracks], np.int64)
    return told(
        {
            "names": host.strings,
            "name": events.name,
            "start_ns": events.start_ns - host.base_time_ns,
            # The script takes 0 where there is none.
            "duration_ns": np.where(events.duration_ns == ABSENT, 0, events.duration_ns),
            "tid": track_tid[events.track],
            "external_id": events.external_id,
            "event_index": events.event_index,
        }
    )


def one_line(path: Path) -> Path:
    """The same trace as compact JSON."""
    compact = path.with_suffix(".compact.json")
    if not compact.exists():
        compact.write_text(json.dumps(json.loads(path.read_bytes()), separators=(",", ":")), encoding="utf-8")
    return compact


def zipped(path: Path) -> Path:
    """The same trace, compressed."""
    packed = path.with_suffix(".json.gz")
    if not packed.exists():
        packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    return packed


NINE = ("external_id", "event_index")
"""With those that always are read: phase, category, name, process and thread, start and duration. The bar was set beside a reader
of nine columns, without word of which; the row of all twenty has to meet it, too."""


def set_up_read(
    count: int,
    folder: Path,
    *,
    columns: Collection[str] = NINE,
    first_us: int = FIRST_US,
    has_arrows: bool = False,
    change: Callable[[Path], Path] | None = None,
) -> Work:
    path = trace_file(folder, count, first_us, has_arrows=has_arrows)
    if change is not None:
        path = change(path)
    has_c = baseline.library() is not None and change is None and not has_arrows
    return Work(
        Side(lambda: read_host(path, columns=columns), told_of_trace),
        Side(lambda: load_columns(path), told),
        Side(lambda: baseline.scan_kineto(path, count), told) if has_c else None,
    )


READING = """
import json, sys, time
from rblnpb.converters.sources.kineto import read_host
began = time.perf_counter()
host = read_host(sys.argv[1], jobs=int(sys.argv[2]))
print(json.dumps({"wall_s": time.perf_counter() - began, "events": len(host.events), "names": len(host.strings)}))
"""


def what_was_read(printed: bytes) -> Mapping[str, float]:
    """What a process says that it has read."""
    told = json.loads(printed)
    return {name: told[name] for name in ("events", "names")}


def set_up_jobs(count: int, folder: Path) -> Work:
    """Two processes beside one; each side is a process, and one that it begins counts with it."""
    path = str(trace_file(folder, count))
    ours, alone = (Side(Process([sys.executable, "-c", READING, path, jobs]), what_was_read) for jobs in ("2", "1"))
    return Work(ours, alone, figures=lambda printed: {"wall ns": json.loads(printed)["wall_s"] / count * 1e9})


def archive(host: HostTrace) -> bytes:
    """The profile of a trace that is read."""
    file = io.BytesIO()
    write_trace_archive(host, trace_profile(merge(None, host))[0], file)
    return file.getvalue()


def unpack(packed: bytes) -> bytes:
    """The JSON in it, byte for byte."""
    return b"".join(archived_trace(rblnpb.read(packed)).document.blocks())


def set_up_archive(count: int, folder: Path) -> Work:
    host = read_host(trace_file(folder, count))
    text = b"".join(host.document.blocks())
    return Work(
        Side(lambda: archive(host), unpack),
        Side(lambda: gzip.compress(text, 6), gzip.decompress),
        figures=lambda packed: {"bytes": len(packed) / count, "JSON / it": len(text) / len(packed)},
    )


def set_up_unpack(count: int, folder: Path) -> Work:
    path = trace_file(folder, count)
    packed, compressed = archive(read_host(path)), zipped(path).read_bytes()
    return Work(Side(lambda: unpack(packed)), Side(lambda: gzip.decompress(compressed)))


TABLE_COLUMNS = ("count", "cpu_time_total_ns", "self_cpu_time_total_ns")


def plain_table(path: Path) -> list[list[Any]]:
    """A row for each name, from an object per event that asks the events below it, as torch has it."""
    events = [
        Event(
            event["cat"],
            event["name"],
            round(event["ts"] * 1000) - FIRST_US * 1000,
            round(event["dur"] * 1000),
            event["tid"],
            event["pid"],
            external_id=event["args"]["External id"],
            event_index=event["args"]["Ev Idx"],
        )
        for event in json.loads(path.read_bytes())["traceEvents"]
    ]
    return sorted([row["name"], *(row[column] for column in TABLE_COLUMNS)] for row in slow_key_averages(events))


def table_rows(printed: bytes) -> list[list[Any]]:
    """The same rows of what `rblnpb summary` prints."""
    rows: list[Mapping[str, Any]] = json.loads(printed)["rows"]
    return sorted([row["name"], *(row[column] for column in TABLE_COLUMNS)] for row in rows)


def set_up_table(count: int, folder: Path) -> Work:
    path = trace_file(folder, count)
    # By one process, for what is counted is time of the processor.
    summary = [sys.executable, "-m", "rblnpb.converters", "summary", str(path), "--format", "json", "--jobs", "1"]
    program = (
        f"import json, pathlib\nfrom tests.bench.host_cases import *\nprint(json.dumps(plain_table(pathlib.Path({str(path)!r}))))"
    )
    return Work(Side(Process(summary), table_rows), Side(Process([sys.executable, "-c", program]), json.loads))


LOAD = "json.load, then columns"
CASES = (
    Case("read-kineto", "read nine columns of a Kineto JSON, times exact", LOAD, set_up_read, "event", bar={"ns": 1000}),
    Case(
        "read-all",
        "the same, all twenty columns",
        LOAD,
        partial(set_up_read, columns=ALL_COLUMNS),
        "event",
        bar={"ns": 1000},
        plain_limit=100_000,
    ),
    Case(
        "read-arrows",
        "the same, with arrows, as of a training step",
        LOAD,
        partial(set_up_read, columns=ALL_COLUMNS, has_arrows=True),
        "event",
        sizes=MEDIUM,
        plain_limit=100_000,
    ),
    Case(
        "read-kineto-gz",
        "nine columns, gzip",
        LOAD,
        partial(set_up_read, change=zipped),
        "event",
        sizes=MEDIUM,
        plain_limit=100_000,
    ),
    Case(
        "read-absolute",
        "nine columns, absolute µs",
        LOAD,
        partial(set_up_read, first_us=ABSOLUTE_US),
        "event",
        bar={"ns": 1250},
        plain_limit=100_000,
    ),
    Case(
        "read-one-line",
        "nine columns, one line",
        LOAD,
        partial(set_up_read, change=one_line),
        "event",
        sizes=MEDIUM,
        plain_limit=100_000,
    ),
    Case("read-jobs", "all columns by two processes", "by one", set_up_jobs, "event"),
    Case(
        "key-averages",
        "`rblnpb summary` of such a file",
        "an object per event",
        set_up_table,
        "event",
        bar={"CPU s": 3, "peak MiB": 600},
        plain_limit=100_000,
    ),
    Case("archive", "keep a host trace in a `.pb`", "gzip -6", set_up_archive, "event", sizes=MEDIUM, plain_limit=100_000),
    Case("unpack", "give it back, byte for byte", "gunzip", set_up_unpack, "event", sizes=MEDIUM, plain_limit=100_000),
)
