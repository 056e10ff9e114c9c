"""A Perfetto trace read back with Perfetto's official bindings, packet by packet, as its trace processor understands it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import pytest

KINDS = ("event_names", "event_categories", "debug_annotation_names", "debug_annotation_string_values")


@dataclass
class ShownSlice:
    """A slice or an instant; `path` leads from its process to its row, and arguments have the names that SQL has for them."""

    path: tuple[str, ...]
    name: str
    start_ns: int
    end_ns: int
    category: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass
class ShownTrace:
    """What a trace shows, in the order in which slices begin.

    Attributes:
        slices: Slices and instants.
        samples: (path, time, value).
        arrows: Pairs of slices.
        tracks: Path of every track, in order.
        clock: Clock of the times; 0 = none is told.
    """

    slices: list[ShownSlice]
    samples: list[tuple[tuple[str, ...], int, float]]
    arrows: list[tuple[ShownSlice, ShownSlice]]
    tracks: list[tuple[str, ...]]
    clock: int

    def spans(self) -> list[tuple[tuple[str, ...], str, int, int]]:
        """Row, name, start and end of every slice."""
        return [(one.path, one.name, one.start_ns, one.end_ns) for one in self.slices]

    def named(self, name: str) -> ShownSlice:
        """The one slice of this name."""
        (found,) = (one for one in self.slices if one.name == name)
        return found


def shown(data: bytes) -> ShownTrace:
    """What Perfetto makes of a trace; fails on what it would count as an error."""
    module = "perfetto.protos.perfetto.trace.perfetto_trace_pb2"
    protos = pytest.importorskip(module, reason="Perfetto's bindings are not installed")
    packets = list(protos.Trace.FromString(data).packet)
    texts: dict[str, dict[int, str]] = {kind: {} for kind in KINDS}
    tracks = _tracks(packets)
    clock = 0
    events = []
    for packet in packets:
        assert packet.trusted_packet_sequence_id == 1
        for kind, known in texts.items():
            for entry in getattr(packet.interned_data, kind):
                assert entry.iid not in known
                known[entry.iid] = entry.str.decode() if hasattr(entry, "str") else entry.name
        if packet.HasField("clock_snapshot"):
            clock = packet.clock_snapshot.primary_trace_clock
        if packet.HasField("trace_packet_defaults"):
            assert packet.trace_packet_defaults.timestamp_clock_id == clock
            assert packet.sequence_flags == protos.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        if packet.HasField("track_event"):
            assert packet.sequence_flags == protos.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
            assert packet.track_event.track_uuid in tracks
            events.append(packet)
    # Perfetto takes packets in order of time, and those of one time as they come.
    events.sort(key=lambda packet: packet.timestamp)
    return _Reading(protos, texts, tracks).trace(events, clock)


def _tracks(packets: list[Any]) -> dict[int, tuple[str, ...]]:
    tracks: dict[int, tuple[str, ...]] = {0: ()}
    for packet in packets:
        track = packet.track_descriptor
        if packet.HasField("track_descriptor") and track.uuid:
            assert track.uuid not in tracks
            kind = "process" if track.HasField("process") else "thread" if track.HasField("thread") else "row"
            name = {"process": track.process.process_name, "thread": track.thread.thread_name, "row": track.name}[kind]
            number = {"process": track.process.pid, "thread": track.thread.tid}.get(kind)
            tracks[track.uuid] = (*tracks[track.parent_uuid], name or f"{kind} {number}")
    return tracks


class _Reading:
    """Plays the events of a trace."""

    def __init__(self, protos: Any, texts: dict[str, dict[int, str]], tracks: dict[int, tuple[str, ...]]) -> None:
        self.protos, self.texts, self.tracks = protos, texts, tracks
        self.slices: list[ShownSlice] = []
        self.open: dict[int, list[ShownSlice]] = defaultdict(list)
        self.flows: dict[int, ShownSlice] = {}
        self.arrows: list[tuple[ShownSlice, ShownSlice]] = []

    def trace(self, events: list[Any], clock: int) -> ShownTrace:
        samples = []
        kinds = self.protos.TrackEvent
        for packet in events:
            event = packet.track_event
            if event.type == kinds.TYPE_COUNTER:
                samples.append((self.tracks[event.track_uuid], packet.timestamp, event.double_counter_value))
                continue
            if event.type == kinds.TYPE_SLICE_END:
                one = self.open[event.track_uuid].pop()
                one.end_ns = packet.timestamp
            else:
                one = self.begin(packet)
                if event.type == kinds.TYPE_SLICE_BEGIN:
                    self.open[event.track_uuid].append(one)
            for annotation in event.debug_annotations:
                name = annotation.name or self.texts["debug_annotation_names"][annotation.name_iid]
                self.flatten(annotation, name, one.arguments)
            self.connect(event, one)
        assert not any(self.open.values())
        assert not self.flows
        return ShownTrace(self.slices, samples, self.arrows, list(self.tracks.values())[1:], clock)

    def begin(self, packet: Any) -> ShownSlice:
        event = packet.track_event
        name = event.name or self.texts["event_names"][event.name_iid]
        category = "".join(self.texts["event_categories"][iid] for iid in event.category_iids)
        time_ns = packet.timestamp
        self.slices.append(ShownSlice(self.tracks[event.track_uuid], name, time_ns, time_ns, category))
        return self.slices[-1]

    def connect(self, event: Any, one: ShownSlice) -> None:
        for flow in event.flow_ids:
            assert flow not in self.flows
            self.flows[flow] = one
        for flow in event.terminating_flow_ids:
            self.arrows.append((self.flows.pop(flow), one))

    def flatten(self, annotation: Any, name: str, into: dict[str, Any]) -> None:
        kind = annotation.WhichOneof("value")
        for inner in annotation.dict_entries:
            self.flatten(inner, f"{name}.{inner.name}", into)
        for place, inner in enumerate(annotation.array_values):
            self.flatten(inner, f"{name}[{place}]", into)
        if kind == "legacy_json_value":
            assert annotation.legacy_json_value[:1] == "{"
            self.spread(json.loads(annotation.legacy_json_value), name, into)
        elif kind == "string_value_iid":
            into[name] = self.texts["debug_annotation_string_values"][annotation.string_value_iid]
        elif kind is not None:
            into[name] = getattr(annotation, kind)

    def spread(self, value: Any, name: str, into: dict[str, Any]) -> None:
        """A JSON value as Perfetto's reader spreads it; it has no argument for what is empty."""
        if isinstance(value, dict):
            for key, inner in value.items():
                self.spread(inner, f"{name}.{key}", into)
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                self.spread(inner, f"{name}[{place}]", into)
        else:
            into[name] = value
