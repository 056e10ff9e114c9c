"""Writing traces for viewers, beside a dict per event and Perfetto's own bindings."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

from rblnpb.converters.merging import merge
from rblnpb.converters.sinks.chrome_trace import write_chrome_trace
from rblnpb.converters.sinks.perfetto_trace import write_perfetto_trace
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import Timeline
from tests.bench import baseline
from tests.bench.case import MEDIUM, Case, Side, Work
from tests.bench.inputs import ARGUMENTS, many_slices, trace_file

BEGIN, END = perfetto.TrackEvent.TYPE_SLICE_BEGIN, perfetto.TrackEvent.TYPE_SLICE_END
KEPT_SLICES = 10_000
STAGE = 100
"""Number of the annotation that names the stage; the others count from 1."""


class Counted:
    """A stream that counts what it is given, and keeps it where it is little."""

    def __init__(self, count: int) -> None:
        self.size_bytes = 0
        self.parts: list[bytes] | None = [] if count <= KEPT_SLICES else None

    def write(self, data: Any, /) -> None:
        self.size_bytes += len(data)
        if self.parts is not None:
            self.parts.append(bytes(data))

    def text(self) -> bytes:
        assert self.parts is not None
        return b"".join(self.parts)


def written(write: Callable[[Any], Any], count: int) -> Counted:
    """What a writer wrote."""
    file = Counted(count)
    write(file)
    return file


def bytes_each(count: int) -> Callable[[Counted], dict[str, float]]:
    return lambda file: {"bytes": file.size_bytes / count}


def write_dicts(source: Timeline, file: Counted, block_rows: int = 4096) -> None:
    """What people do today, at its best: small blocks, so that the garbage collector has little to look at."""
    slices = source.slices
    for first in range(0, len(slices), block_rows):
        rows = slice(first, first + block_rows)
        columns = zip(
            slices.track[rows].tolist(),
            slices.names.take(rows).render().tolist(),
            ((slices.start_ns[rows] - slices.start_ns[0]) / 1000).tolist(),
            (slices.duration_ns[rows] / 1000).tolist(),
            slices.arguments[rows].tolist(),
            strict=True,
        )
        events = [
            {
                "ph": "X",
                "cat": "kernel",
                "pid": 1,
                "tid": track,
                "name": name.decode(),
                "ts": start,
                "dur": duration,
                "args": dict(zip(ARGUMENTS, arguments, strict=True)),
            }
            for track, name, start, duration, arguments in columns
        ]
        # Without the brackets, so that blocks can follow each other as in one array.
        file.write(orjson.dumps(events)[1:-1] + b",")


def json_slices(document: bytes) -> list[tuple[Any, ...]]:
    """The slices of a trace: when they were, what they are called, their arguments."""
    events = [event for event in json.loads(document, parse_float=Decimal)["traceEvents"] if event["ph"] == "X"]
    begin = min(Decimal(event["ts"]) for event in events)
    return sorted(
        (int((event["ts"] - begin) * 1000), int(event["dur"] * 1000), event["name"], *(event["args"][name] for name in ARGUMENTS))
        for event in events
    )


def events_alone(file: Counted) -> list[tuple[Any, ...]]:
    """The same of a trace that is nothing but its events, with a comma after each."""
    return json_slices(b'{"traceEvents":[%s]}' % file.text().rstrip(b","))


def set_up_chrome(count: int, folder: Path) -> Work:
    source = many_slices(count)
    in_c = baseline.SliceWriter(source.slices, "write_json")
    return Work(
        Side(lambda: written(lambda file: write_chrome_trace(source, file), count), lambda file: json_slices(file.text())),
        Side(lambda: written(lambda file: write_dicts(source, file), count), events_alone),
        Side(lambda: written(in_c.write, count), events_alone) if baseline.library() else None,
        figures=bytes_each(count),
    )


def write_by_bindings(source: Timeline, file: Counted, block_rows: int = 4096) -> None:
    """The same slices by the bindings at their best: two messages that are used again, every text interned but names."""
    slices = source.slices
    begin, end = perfetto.Trace(), perfetto.Trace()
    for trace, kind in ((begin, BEGIN), (end, END)):
        packet = trace.packet.add(trusted_packet_sequence_id=1, sequence_flags=2)
        packet.track_event.type = kind
    begin.packet[0].track_event.category_iids.append(1)
    stage = begin.packet[0].track_event.debug_annotations.add(name_iid=STAGE)
    annotations = [begin.packet[0].track_event.debug_annotations.add(name_iid=1 + at) for at in range(len(ARGUMENTS))]
    first, last = begin.packet[0], end.packet[0]
    for at in range(0, len(slices), block_rows):
        rows = slice(at, at + block_rows)
        columns = zip(
            (slices.track[rows] + 1).tolist(),
            slices.names.take(rows).render().tolist(),
            slices.start_ns[rows].tolist(),
            (slices.start_ns[rows] + slices.duration_ns[rows]).tolist(),
            slices.names.stage[rows].tolist(),
            slices.arguments[rows].tolist(),
            strict=True,
        )
        parts: list[bytes] = []
        for track, name, start_ns, end_ns, stage_row, values in columns:
            first.timestamp, last.timestamp = start_ns, end_ns
            first.track_event.track_uuid = last.track_event.track_uuid = track
            first.track_event.name = name.decode()
            stage.string_value_iid = stage_row
            for annotation, value in zip(annotations, values, strict=True):
                annotation.int_value = value
            parts += (begin.SerializeToString(), end.SerializeToString())
        file.write(b"".join(parts))


def packet_slices(document: bytes) -> list[tuple[Any, ...]]:
    """The slices of a trace: when they were, what they are called, and their numbers."""
    annotations = {1 + at: name for at, name in enumerate(ARGUMENTS)}
    ends: list[tuple[Any, ...]] = []
    for packet in perfetto.Trace.FromString(document).packet:
        annotations.update((name.iid, name.name) for name in packet.interned_data.debug_annotation_names)
        event = packet.track_event
        if event.type in (BEGIN, END):
            # As Perfetto sorts them; of one moment, what ends goes before what begins.
            ends.append((event.track_uuid, packet.timestamp, event.type != END, len(ends), event))
    begun: Any = None
    found, begun_ns = [], 0
    for _, time_ns, is_begin, _, event in sorted(ends, key=lambda end: end[:4]):
        if is_begin:
            begun_ns, begun = time_ns, event
        else:
            values = {annotations.get(one.name_iid): one.int_value or one.uint_value for one in begun.debug_annotations}
            found.append((begun_ns, time_ns, begun.name, *(values[name] for name in ARGUMENTS)))
    return sorted(found)


def set_up_perfetto(count: int, folder: Path) -> Work:
    source = many_slices(count)
    in_c = baseline.SliceWriter(source.slices, "write_packets")
    return Work(
        Side(lambda: written(lambda file: write_perfetto_trace(source, file), count), lambda file: packet_slices(file.text())),
        Side(lambda: written(lambda file: write_by_bindings(source, file), count), lambda file: packet_slices(file.text())),
        Side(lambda: written(in_c.write, count), lambda file: packet_slices(file.text())) if baseline.library() else None,
        figures=bytes_each(count),
    )


def load_and_dump(path: Path, file: Counted) -> None:
    """The way of a host trace through a script that changes nothing of it."""
    file.write(orjson.dumps(orjson.loads(path.read_bytes())))


def host_slices(file: Counted) -> list[tuple[Any, ...]]:
    events = json.loads(file.text(), parse_float=Decimal)["traceEvents"]
    return [(event["name"], event["tid"], event["ts"], event["dur"]) for event in events if event["ph"] == "X"]


def set_up_chrome_host(count: int, folder: Path) -> Work:
    path = trace_file(folder, count)
    source = merge(None, read_host(path))
    return Work(
        Side(lambda: written(lambda file: write_chrome_trace(source, file), count), host_slices),
        Side(lambda: written(lambda file: load_and_dump(path, file), count), host_slices),
        figures=bytes_each(count),
    )


def set_up_perfetto_host(count: int, folder: Path) -> Work:
    source = merge(None, read_host(trace_file(folder, count)))
    return Work(
        Side(lambda: written(lambda file: write_perfetto_trace(source, file), count), Counted.text), figures=bytes_each(count)
    )


CASES = (
    Case("chrome", "write Chrome JSON, compact", "dicts, orjson", set_up_chrome, "slice", bar={"ns": 250, "peak MiB": 64}),
    Case(
        "chrome-host",
        "the same of a host trace",
        "orjson, both ways",
        set_up_chrome_host,
        "event",
        sizes=MEDIUM,
        plain_limit=100_000,
    ),
    Case("perfetto", "write native Perfetto", "Perfetto's bindings", set_up_perfetto, "slice", bar={"ns": 100}),
    Case("perfetto-host", "the same of a host trace", "", set_up_perfetto_host, "event"),
)
