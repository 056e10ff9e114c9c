"""Small timelines made by hand: a test says what it is about, everything else is empty."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.converters.timeline import (
    AlignedCounters,
    AlignedLaunches,
    AlignedSlices,
    HostEvents,
    HostTrace,
    HostTrack,
    OverheadRecords,
    RuntimeSlices,
    SliceDependencies,
    SliceNames,
    Timeline,
    Track,
)
from rblnpb.naming import NameStyle

KINDS = {"UInt8": np.uint8, "Int32": np.int32, "Int64": np.int64}


@dataclass(frozen=True)
class TextDocument:
    """A document that stands in memory."""

    text: bytes
    block_bytes: int = 1 << 20
    name: str = "trace.json"

    def blocks(self) -> Iterator[bytes]:
        return (self.text[at : at + self.block_bytes] for at in range(0, len(self.text), self.block_bytes))


class Table:
    """Texts by row; row 0 is "" unless another is given."""

    def __init__(self, first: str | None = "") -> None:
        self.rows: dict[Any, int] = {} if first is None else {first: 0}

    def __call__(self, text: Any) -> int:
        return self.rows.setdefault(text, len(self.rows))


def host_trace(
    *events: dict[str, Any],
    head: str = '{"schemaVersion": 1, "baseTimeNanoseconds": 0, "traceEvents": [',
    tail: str = '], "traceName": "t"}',
    separator: str = ",\n  ",
    base_time_ns: int = 0,
    block_bytes: int = 1 << 20,
    texts: Sequence[bytes] | None = None,
) -> HostTrace:
    """A host trace of these events, with what the sinks need of it; times as in Kineto, microseconds.

    Args:
        *events: The events.
        head, tail, separator: What stands around and between them.
        base_time_ns: Unix time of the file's zero.
        block_bytes: In how small pieces the document comes.
        texts: The bytes of each event, where they are not to be `json.dumps` of it.
    """
    written = [json.dumps(event).encode() for event in events] if texts is None else list(texts)
    strings, tracks = Table(), Table(None)
    columns: dict[str, list[int]] = {column.name: [] for column in fields(HostEvents)}
    place = len(head.encode())
    for event, text in zip(events, written, strict=True):
        args = event.get("args", {})
        row = {
            "phase": ord(event.get("ph") or "\0"),
            "category": strings(event.get("cat", "")),
            "name": strings(event.get("name", "")),
            "track": tracks(HostTrack(event.get("pid"), event.get("tid"))),
            "start_ns": nanoseconds(event.get("ts"), base_time_ns),
            "duration_ns": nanoseconds(event.get("dur"), 0),
            "external_id": args.get("External id", 0),
            "correlation_id": args.get("correlation", 0),
            "launch_id": args.get("launch_id", 0),
            "event_index": args.get("Ev Idx", -1),
            "sequence_number": args.get("Sequence number", -1),
            "size_bytes": ABSENT,
            "device_type": -1,
            "input_dims": 0,
            "concrete_inputs": 0,
            "context": strings(json.dumps(args["context"])) if "context" in args else 0,
            "binding_point": ord("e") if event.get("bp") == "e" else 0,
            "flow_id": strings(json.dumps(event["id"])) if "id" in event else 0,
            "offset": place,
            "length": len(text),
        }
        for name, value in row.items():
            columns[name].append(value)
        place += len(text) + len(separator.encode())
    document = head.encode() + separator.encode().join(written) + tail.encode()
    return HostTrace(
        document=TextDocument(document, block_bytes),
        events=HostEvents(
            **{column.name: np.array(columns[column.name], KINDS[str(column.type)]) for column in fields(HostEvents)}
        ),
        strings=tuple(strings.rows),
        tracks=tuple(tracks.rows),
        base_time_ns=base_time_ns,
        has_base_time="baseTimeNanoseconds" in head + tail,
        head=head.encode(),
        tail=tail.encode(),
        metadata={},
        thread_names={HostTrack(e.get("pid"), e.get("tid")): e["args"]["name"] for e in events if e.get("name") == "thread_name"},
        process_names={event.get("pid"): event["args"]["name"] for event in events if event.get("name") == "process_name"},
    )


def nanoseconds(microseconds: float | str | None, base_time_ns: int) -> int:
    """Nanoseconds of a time as the JSON has it, exactly; ABSENT for None."""
    if microseconds is None:
        return int(ABSENT)
    whole, _, rest = str(microseconds).partition(".")
    thousandths = int((rest + "000")[:3])
    return base_time_ns + int(whole) * 1000 + (-thousandths if whole.startswith("-") else thousandths)


def microseconds(time_ns: int) -> str:
    """A time, not negative, as the JSON has it: microseconds with three decimals."""
    return f"{time_ns // 1000}.{time_ns % 1000:03d}"


def slices(*rows: dict[str, Any], argument_names: Sequence[str] = (), strings: Sequence[str] = ("",)) -> AlignedSlices:
    """Device slices: each gives `start`, `duration`, `name` and, where it matters, any other column by its name.

    An argument is given under its own name; `stage` is a text.
    """
    texts = Table()
    for text in strings:
        texts(text)

    def column(name: str, default: int, kind: type[np.generic] = np.int64) -> Any:
        return np.array([row.get(name, default) for row in rows], kind)

    names = SliceNames(
        NameStyle.PLAIN,
        strings=(),
        stage=np.array([texts(row.get("stage", "")) for row in rows], np.int32),
        command=column("command", 0, np.int32),
        instance=column("instance", 0, np.int32),
        sequence=column("sequence", -1),
        workload=column("workload", -1),
        override=np.array([texts(row.get("name", "")) for row in rows], np.int32),
    )
    arguments = np.array([[row.get(name, ABSENT) for name in argument_names] for row in rows], np.int64)
    return AlignedSlices(
        start_ns=column("start", 0),
        duration_ns=column("duration", 0),
        track=column("track", 0, np.int32),
        names=SliceNames(**{**{c.name: getattr(names, c.name) for c in fields(SliceNames)}, "strings": tuple(texts.rows)}),
        launch=column("launch", -1),
        host_row=column("host_row", -1),
        rule=column("rule", 0, np.int32),
        event=column("event", -1),
        arguments=arguments.reshape(len(rows), len(argument_names)),
    )


def launches(*rows: dict[str, Any]) -> AlignedLaunches:
    """Launches: each gives `start` and, where it matters, `launch_id`, `pid`, `tid`, `host_row`, `reason`."""
    defaults = {"start_ns": 0, "launch_id": 0, "name": 0, "compile_id": 0, "pid": 1, "tid": 1, "host_row": -1, "reason": 0}
    return AlignedLaunches(
        **{
            column.name: np.array(
                [row.get(column.name.removesuffix("_ns"), defaults[column.name]) for row in rows], KINDS[str(column.type)]
            )
            for column in fields(AlignedLaunches)
        }
    )


def runtime(*rows: tuple[int, int, int, int]) -> RuntimeSlices:
    """Runtime slices, each (start, duration, row of `Timeline.strings`, tid), of process 1."""
    start, duration, name, tid = np.array(rows, np.int64).reshape(-1, 4).T
    none = np.full(len(rows), ABSENT, np.int64)
    return RuntimeSlices(
        start,
        duration,
        name.astype(np.int32),
        np.ones_like(tid),
        tid,
        np.full(len(rows), -1, np.int64),
        none,
        np.full(len(rows), -1, np.int64),
    )


def counters(*rows: tuple[int, int, int, float]) -> AlignedCounters:
    """Samples, each (time, row of `Timeline.strings` for the device, the same for the name, value)."""
    time, device, name = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3).T
    return AlignedCounters(time, device.astype(np.int32), name.astype(np.int32), np.array([row[3] for row in rows], np.float64))


def timeline(host: HostTrace | None = None, **parts: Any) -> Timeline:
    """A timeline of these parts; one track of one device unless others are given."""
    empty: dict[str, Any] = {
        "slices": slices(argument_names=parts.get("argument_names", ())),
        "frames": slices(argument_names=parts.get("argument_names", ())),
        "launches": launches(),
        "dependencies": SliceDependencies(np.empty(0, np.int64), np.empty(0, np.int64)),
        "runtime": runtime(),
        "counters": counters(),
        "overheads": OverheadRecords(np.empty(0, np.uint32), *np.empty((3, 0), np.int32), *np.empty((4, 0), np.int64)),
        "tracks": (Track("rbln:0", "Neural Engine Clusters", "neural_engine_clusters", is_work=True, order=0),),
        "strings": ("",),
        "argument_names": (),
        "counts": (),
        "clocks": (),
        "is_serialised": None,
        "process_id": 1,
        "device_name": "rbln",
        "sources": (),
        "findings": (),
    }
    return Timeline(host=host, **{**empty, **parts})
