"""Device rows into a trace that torch has written: at its end, so that the rest stays as it is, byte for byte, however large it is.

Rows and arguments are those of the vendor's bridge: a process for the device, a row for each engine, `launch_id` on every slice,
and on the launching thread the marker `rbln_run` with the same id. The marker is an instant: torch counts slices as calls.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from rblnpb.errors import OutputError
from rblnpb.output import open_output
from rblnpb.torch.activity import Activity

__all__ = ["add_device_rows"]

_BASE: Final = re.compile(rb'"baseTimeNanoseconds"\s*:\s*(\d+)')
_END: Final = re.compile(rb'\]\s*,\s*"traceName"')
_TAIL_BYTES: Final = 1 << 16
_DEVICE: Final = 5_000_000
"""Process id and sort index of the device: beyond every process of the host, and where Kineto sorts devices. Kineto itself gives
devices the ids 0 to 15, but has written their names by then, and viewers keep the first name of a process."""

_MARKER: Final = "rbln_run"
_FLOW: Final = {"cat": "ac2g", "name": "ac2g"}
_FLOW_BASE: Final = 0xF0000000
"""Flow ids from here on are the vendor's own."""


def add_device_rows(path: str, activity: Activity, owner_ids: tuple[int, ...]) -> None:
    """Add what the device did to a trace file; a name that ends in .gz is a compressed one.

    A file without the two places that torch always writes, its zero of time and its end, is left as it is.

    Args:
        path: Of the trace, which is changed.
        activity: What the device did.
        owner_ids: For each launch, the "External id" of its operator; 0 = none.

    Raises:
        OutputError: The rows cannot be written; the trace is as it was.
    """
    if path.endswith(".gz"):
        text = gzip.decompress(Path(path).read_bytes())
        base, end = _BASE.search(text), _last_end(text)
        if base and end is not None:
            rows = _rows(activity, owner_ids, int(base[1]))
            with open_output(path, force=True) as file:
                file.write(gzip.compress(text[:end] + b"".join(rows) + text[end:]))
        return
    with Path(path).open("rb") as file:
        base = _BASE.search(file.read(_TAIL_BYTES))
        start = max(file.seek(0, 2) - _TAIL_BYTES, 0)
        file.seek(start)
        tail = file.read()
        end = _last_end(tail)
    if base and end is not None:
        _insert(Path(path), start + end, _rows(activity, owner_ids, int(base[1])), tail[end:])


def _insert(path: Path, offset: int, rows: Iterator[bytes], rest: bytes) -> None:
    """Write rows into a file where its rest began, and that behind them; the file is as it was when that fails."""
    try:
        with path.open("r+b") as file:
            file.seek(offset)
            file.writelines(rows)
            file.write(rest)
    except BaseException as error:
        with path.open("r+b") as file:
            file.truncate(offset)
            file.seek(offset)
            file.write(rest)
        if isinstance(error, OSError):
            raise OutputError(f"cannot add what the device did to {path}: {error.strerror or error}") from error
        raise


def _last_end(text: bytes) -> int | None:
    """Where the list of events ends."""
    found = None
    for match in _END.finditer(text, max(len(text) - _TAIL_BYTES, 0)):
        found = match.start()
    return found


def _rows(activity: Activity, owner_ids: tuple[int, ...], base_ns: int) -> Iterator[bytes]:
    """Events, each with the comma that parts it from the one before."""
    yield from _labels(activity)
    for place, launch in enumerate(activity.launches):
        row: dict[str, object] = {"pid": launch.process_id, "tid": launch.thread_id}
        at_ns = launch.time_ns - base_ns
        yield _event(
            {"ph": "i", "s": "t", "cat": "privateuse1_runtime", "name": _MARKER, **row}, at_ns, args={"launch_id": launch.launch_id}
        )
        yield _event({**_FLOW, "ph": "s", "id": _FLOW_BASE + place, **row}, at_ns)
    for number, event in enumerate(activity.events):
        lane = activity.lanes[event.lane]
        row = {"pid": _DEVICE, "tid": lane.number}
        args: dict[str, object] = {"categories": lane.category}
        if event.launch >= 0:
            args |= {"launch_id": activity.launches[event.launch].launch_id}
            args |= {"External id": owner_ids[event.launch]} if owner_ids[event.launch] else {}
        start_ns, duration_ns = event.start_ns - base_ns, event.end_ns - event.start_ns
        yield _event({"ph": "X", "cat": lane.torch_category, "name": event.name, **row}, start_ns, duration_ns, args)
        if number in activity.first_events:
            yield _event({**_FLOW, "ph": "f", "bp": "e", "id": _FLOW_BASE + event.launch, **row}, start_ns)


def _labels(activity: Activity) -> Iterator[bytes]:
    device: dict[str, dict[str, object]] = {"process_name": {"name": activity.device}, "process_labels": {"labels": activity.label}}
    device["process_sort_index"] = {"sort_index": _DEVICE}
    for name, args in device.items():
        yield _event({"ph": "M", "name": name, "pid": _DEVICE, "tid": 0}, None, args=args)
    for lane in activity.lanes:
        row = {"ph": "M", "pid": _DEVICE, "tid": lane.number}
        yield _event({"name": "thread_name", **row}, None, args={"name": lane.name})
        yield _event({"name": "thread_sort_index", **row}, None, args={"sort_index": lane.number})


def _event(
    members: Mapping[str, object], at_ns: int | None, duration_ns: int | None = None, args: Mapping[str, object] | None = None
) -> bytes:
    """One event; times as text with three decimals, which is exact."""
    times = [(name, ns) for name, ns in (("ts", at_ns), ("dur", duration_ns)) if ns is not None]
    text = json.dumps(members)[:-1] + "".join(f', "{name}": {ns // 1_000}.{ns % 1_000:03d}' for name, ns in times)
    text += f', "args": {json.dumps(args)}' if args else ""
    return f",\n  {text}}}".encode()
