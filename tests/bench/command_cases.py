"""The command line as a whole: what it costs to say hello, and to convert files."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

from tests.bench.case import Case, Process, Side, Work
from tests.bench.inputs import CALL_NS, COMMANDS, FIRST_US, trace_file
from tests.bench.profile_cases import parse_rows, profile_file, rows_file

RBLNPB = (sys.executable, "-m", "rblnpb.converters")


def set_up_help(size: int, folder: Path) -> Work:
    nothing = Side(Process((sys.executable, "-c", "pass")), lambda _: True)
    hello = Side(Process((*RBLNPB, "--help")), lambda printed: b"usage: rblnpb" in printed)
    return Work(hello, nothing)


def plain_convert(rows: Path, trace: Path, output: Path) -> None:
    """What a script does: everything as objects, the device's events put behind those of the host."""
    document = json.loads(trace.read_bytes())
    document["traceEvents"] += [
        {
            "ph": "X",
            "cat": "kernel",
            "pid": 1,
            "tid": row.engine_id,
            "name": f"command {row.command_row}",
            "ts": (row.start_ticks - 10**12) / 1000 + FIRST_US,
            "dur": row.duration_ticks / 1000,
            "args": {"launch_id": row.launch_id, "compute_cycles": row.compute_cycles, "size_bytes": row.size_bytes},
        }
        for row in parse_rows(rows)
    ]
    with output.open("w", encoding="utf-8") as file:
        json.dump(document, file)


def told(output: Path) -> dict[str, Any]:
    """How long each slice of host and device is in a merged trace, in nanoseconds."""
    events = [event for event in json.loads(output.read_bytes())["traceEvents"] if event["ph"] == "X"]
    return {
        name: sorted(round(event["dur"] * 1000) for event in events if (event["cat"] == "cpu_op") == (name == "host"))
        for name in ("host", "device")
    }


def begins(output: Path) -> int:
    """How many slices begin in a Perfetto trace."""
    packets = perfetto.Trace.FromString(output.read_bytes()).packet
    return sum(packet.track_event.type == perfetto.TrackEvent.TYPE_SLICE_BEGIN for packet in packets)


def set_up_convert(count: int, folder: Path, *, suffix: str) -> Work:
    # As many host events as device records, over the time that the device takes.
    trace = trace_file(folder, count, gap_ns=CALL_NS // COMMANDS)
    device, output = profile_file(folder, count), folder / f"merged{suffix}"
    convert = Process((*RBLNPB, "convert", str(device), "--host", str(trace), "-o", str(output), "--force"))
    is_chrome = suffix == ".json"
    plain = None
    if is_chrome:
        paths = (rows_file(folder, count), trace, folder / "merged-plain.json")
        arguments = ", ".join(f"Path({str(path)!r})" for path in paths)
        program = f"from tests.bench.command_cases import *\nplain_convert({arguments})"
        plain = Side(Process((sys.executable, "-c", program)), lambda _: told(paths[-1]))
    return Work(
        Side(convert, lambda _: told(output) if is_chrome else begins(output)),
        plain,
        count=2 * count,
        figures=lambda _: {"bytes": output.stat().st_size / (2 * count)},
    )


LARGE_BAR = {"peak MiB": 1500}
CASES = (
    Case("help", "`rblnpb --help`", "python -c pass", set_up_help, "start", bar={"of plain": 3}, sizes=(1,), tiny=1),
    Case(
        "convert",
        "`rblnpb convert` n records and n host events to Chrome JSON",
        "json.load, dicts, json.dump",
        partial(set_up_convert, suffix=".json"),
        "event",
        plain_limit=100_000,
        large_bar=LARGE_BAR,
    ),
    Case("convert-pftrace", "the same to `.pftrace`", "", partial(set_up_convert, suffix=".pftrace"), "event", large_bar=LARGE_BAR),
)
