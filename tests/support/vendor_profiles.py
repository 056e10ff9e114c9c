"""Files of the vendor's profiler by hand, made with Perfetto's official bindings, in every layout that the public facts allow.

No real file and no schema of the vendor's is public. A test says what happened (`Slice`), and how it is written (`Layout`).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tests.support import vendor_traces
from tests.support.vendor_traces import Json

perfetto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="Perfetto's bindings are not installed")

DEVICE = "RBLN NPU 0"
NEC, NEURAL_DMA, TASK_DMA, EXTERNAL_HDMA = "Neural Engine Clusters", "Neural DMA", "Task DMA", "External HDMA"
DEVICE_SYNC, HOST, WORKLOAD = "Device Sync", "Host", "Device Workload"

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS_STATE = 1, 2
REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6


@dataclass(frozen=True)
class Slice:
    """What happened.

    Attributes:
        name, track, start_ns, end_ns: As they say; `end_ns` None: it never ends.
        device: Name of the device that the track belongs to.
        chiplet: Which chiplet the track is of.
        arguments: Of the annotation "Slice Arguments".
        annotations: Further annotations.
        flows, ends: Ids of flows that go on from here, and that end here.
        categories: Of the event.
    """

    name: str
    track: str
    start_ns: int
    end_ns: int | None
    device: str = DEVICE
    chiplet: int | None = None
    arguments: dict[str, Any] | None = None
    annotations: dict[str, Any] = field(default_factory=dict)
    flows: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """How it is written.

    Attributes:
        tracks: "threads" of processes, "nested" plain tracks (device > chiplet > engine), "chiplets" (engine > chiplet), or
            "processes".
        is_interned: Whether names, categories and names of annotations are interned.
        annotation: The arguments are a "text" of JSON, an "interned" text, a "dict", a "nested" value, "legacy" JSON, or "own"
            annotations.
        sequences: How many writers take turns.
        clock: Number of the clock of the packets; 0 = they name none.
        is_delta: Whether times in that clock are differences.
        unit_ns: What one of that clock's units is.
        boot_ns: Where boot time stands when that clock is at 0; None: nothing says.
        has_defaults: Whether track and clock stand in defaults where they can.
        in_order: Whether events stand in the order of time, or each end behind its begin.
        is_complete_event: Whether slices are Chrome's complete events.
        bundle: How many packets are compressed together; 0 = none.
    """

    tracks: str = "threads"
    is_interned: bool = False
    annotation: str = "text"
    sequences: int = 1
    clock: int = 0
    is_delta: bool = False
    unit_ns: int = 1
    boot_ns: int | None = None
    has_defaults: bool = False
    in_order: bool = False
    is_complete_event: bool = False
    bundle: int = 0


def packet(**values: Any) -> Any:
    """A TracePacket."""
    return perfetto.TracePacket(**values)


def encode(packets: Iterable[Any], bundle: int = 0) -> bytes:
    """A file of these packets, so many of them compressed together (0 = none)."""
    packets = list(packets)
    if not bundle:
        return bytes(perfetto.Trace(packet=packets).SerializeToString())
    parts = (packets[at : at + bundle] for at in range(0, len(packets), bundle))
    packed = (zlib.compress(perfetto.Trace(packet=part).SerializeToString()) for part in parts)
    return bytes(perfetto.Trace(packet=[packet(compressed_packets=one) for one in packed]).SerializeToString())


def vendor_file(slices: Sequence[Slice], layout: Layout | None = None, *more: Any) -> bytes:
    """A file of the vendor's: what happened, written in a layout, and further packets at its end."""
    return encode(vendor_packets(slices, layout or Layout(), *more), (layout or Layout()).bundle)


def vendor_packets(slices: Sequence[Slice], layout: Layout, *more: Any) -> list[Any]:
    """The packets of such a file."""
    writer = _Writer(layout)
    for one in slices:
        writer.describe(one)
    events = [event for number, one in enumerate(slices) for event in _events(number, one, layout)]
    if layout.in_order:
        events.sort(key=lambda event: event[0])
    for time_ns, number, kind in events:
        writer.write(slices[number], number % layout.sequences + 1, time_ns, kind)
    return [*writer.packets, *more]


def _events(number: int, one: Slice, layout: Layout) -> list[tuple[int, int, int]]:
    """(time, place of its slice, type) of the events of a slice."""
    if one.end_ns is None or layout.is_complete_event:
        return [(one.start_ns, number, BEGIN)]
    return [(one.start_ns, number, BEGIN), (one.end_ns, number, END)]


class _Writer:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.packets: list[Any] = []
        self.uuids: dict[Any, int] = {}
        self.interned: dict[int, dict[tuple[str, str], int]] = {}
        self.last_ns: dict[int, int] = {}

    def describe(self, one: Slice) -> int:
        """Uuid of the track of a slice, described when it is new."""
        layout = self.layout.tracks
        label = f"{one.track} (chiplet {one.chiplet})" if one.chiplet is not None else one.track
        if layout == "threads":
            pid = 5_000_000 + self._uuid(("device", one.device), 0, lambda uuid: {"process": _process(uuid, one.device)})
            return self._uuid((one.device, label), 0, lambda uuid: {"thread": _thread(pid, uuid, label)})
        if layout == "processes":
            return self._uuid((one.device, label), 0, lambda uuid: {"process": _process(uuid, label)})
        parent = self._uuid(("device", one.device), 0, lambda uuid: {"process": _process(uuid, one.device)})
        path = [one.track] if one.chiplet is None else [f"Chiplet {one.chiplet}", one.track]
        for at in range(len(path)):
            key = (one.device, *(reversed(path) if layout == "chiplets" else path))[: at + 2]
            parent = self._uuid(key, parent, lambda uuid, name=key[-1]: {"name": name})
        return parent

    def _uuid(self, key: Any, parent: int, said: Any) -> int:
        if key not in self.uuids:
            uuid = self.uuids[key] = len(self.uuids) + 1
            parts = said(uuid)
            self.packets.append(packet(track_descriptor=perfetto.TrackDescriptor(uuid=uuid, parent_uuid=parent, **parts)))
        return self.uuids[key]

    def write(self, one: Slice, sequence: int, time_ns: int, kind: int) -> None:
        """An event, and before it whatever its writer has to say first."""
        new = packet(trusted_packet_sequence_id=sequence)
        interned = self.interned.get(sequence)
        if interned is None:
            interned = self.interned[sequence] = {}
            self._begin(sequence, new)
        elif self.layout.is_interned or self.layout.has_defaults:
            new.sequence_flags = NEEDS_STATE
        self._set_time(new, sequence, time_ns)
        event = new.track_event
        if not self.layout.is_complete_event:
            event.type = kind
        if not self.layout.has_defaults or self.describe(one) != self._default_track():
            event.track_uuid = self.describe(one)
        if kind == BEGIN:
            self._describe_event(new, one, interned)
        self.packets.append(new)

    def _default_track(self) -> int:
        return max(self.uuids.values())

    def _begin(self, sequence: int, new: Any) -> None:
        layout = self.layout
        new.sequence_flags = CLEARED
        if layout.has_defaults:
            new.trace_packet_defaults.timestamp_clock_id = layout.clock
            new.trace_packet_defaults.track_event_defaults.track_uuid = self._default_track()
        if layout.is_delta or layout.unit_ns != 1 or layout.boot_ns is not None:
            clocks = [{"clock_id": layout.clock, "timestamp": 0, "is_incremental": layout.is_delta}]
            if layout.unit_ns != 1:
                clocks[0]["unit_multiplier_ns"] = layout.unit_ns
            if layout.boot_ns is not None:
                clocks.append({"clock_id": BOOTTIME, "timestamp": layout.boot_ns})
            snapshot = packet(trusted_packet_sequence_id=sequence, clock_snapshot=perfetto.ClockSnapshot(clocks=clocks))
            self.packets.append(snapshot)

    def _set_time(self, new: Any, sequence: int, time_ns: int) -> None:
        layout = self.layout
        value = time_ns - (self.last_ns.get(sequence, 0) if layout.is_delta else 0)
        self.last_ns[sequence] = time_ns
        new.timestamp = value // layout.unit_ns
        if layout.clock and not layout.has_defaults:
            new.timestamp_clock_id = layout.clock

    def _describe_event(self, new: Any, one: Slice, interned: dict[tuple[str, str], int]) -> None:
        event, layout = new.track_event, self.layout
        if layout.is_interned:
            event.name_iid = self._iid(new, interned, "event_names", one.name)
            event.category_iids.extend(self._iid(new, interned, "event_categories", text) for text in one.categories)
        else:
            event.name = one.name
            event.categories.extend(one.categories)
        if one.arguments is not None:
            self._annotate(new, interned, one.arguments)
        for name, value in one.annotations.items():
            _set_value(self._annotation(new, interned, name), value)
        event.flow_ids.extend(one.flows)
        event.terminating_flow_ids.extend(one.ends)
        if layout.is_complete_event:
            assert one.end_ns is not None
            event.legacy_event.phase = ord("X")
            event.legacy_event.duration_us = (one.end_ns - one.start_ns) // 1000

    def _iid(self, new: Any, interned: dict[tuple[str, str], int], column: str, text: str) -> int:
        key = (column, text)
        if key not in interned:
            interned[key] = len(interned) + 1
            entry = getattr(new.interned_data, column).add(iid=interned[key])
            if column == "debug_annotation_string_values":
                entry.str = text.encode()
            else:
                entry.name = text
        return interned[key]

    def _annotation(self, new: Any, interned: dict[tuple[str, str], int], name: str) -> Any:
        annotation = new.track_event.debug_annotations.add()
        if self.layout.is_interned:
            annotation.name_iid = self._iid(new, interned, "debug_annotation_names", name)
        else:
            annotation.name = name
        return annotation

    def _annotate(self, new: Any, interned: dict[tuple[str, str], int], arguments: dict[str, Any]) -> None:
        how = self.layout.annotation
        if how == "own":
            for name, value in arguments.items():
                _set_value(self._annotation(new, interned, name), value)
            return
        annotation = self._annotation(new, interned, "Slice Arguments")
        if how == "text":
            annotation.string_value = json.dumps(arguments)
        elif how == "interned":
            annotation.string_value_iid = self._iid(new, interned, "debug_annotation_string_values", json.dumps(arguments))
        elif how == "legacy":
            annotation.legacy_json_value = json.dumps(arguments)
        elif how == "dict":
            _set_value(annotation, arguments)
        else:
            _set_nested(annotation.nested_value, arguments)


def _process(pid: int, name: str) -> Any:
    return perfetto.ProcessDescriptor(pid=5_000_000 + pid, process_name=name)


def _thread(pid: int, tid: int, name: str) -> Any:
    return perfetto.ThreadDescriptor(pid=pid, tid=tid, thread_name=name)


def _set_value(annotation: Any, value: Any) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            _set_value(annotation.dict_entries.add(name=name), inner)
    elif isinstance(value, list):
        for inner in value:
            _set_value(annotation.array_values.add(), inner)
    elif isinstance(value, bool):
        annotation.bool_value = value
    elif isinstance(value, int):
        annotation.int_value = value
    elif isinstance(value, float):
        annotation.double_value = value
    else:
        annotation.string_value = value


def _set_nested(nested: Any, value: Any) -> None:
    if isinstance(value, dict):
        nested.nested_type = 1
        for name, inner in value.items():
            nested.dict_keys.append(name)
            _set_nested(nested.dict_values.add(), inner)
    elif isinstance(value, list):
        nested.nested_type = 2
        for inner in value:
            _set_nested(nested.array_values.add(), inner)
    elif isinstance(value, int):
        nested.int_value = value
    else:
        nested.string_value = value


GENERATIONS = ("legacy", "single", "multi", "newer")


def run(generation: str, calls: int = 3, *, start_ns: int = 1000, step_ns: int = 10_000) -> list[Slice]:
    """Some calls of one program: bytes in, compute, a wait, a command on the host, bytes out, as a generation names and shows them.

    Flows lead from the bytes to the compute and on to the bytes out.
    """
    return [one for call in range(calls) for one in _call(generation, call, start_ns + call * step_ns)]


def _call(generation: str, call: int, at_ns: int) -> list[Slice]:
    parts = (
        ("args_0", 0, EXTERNAL_HDMA, 0, 900, {"transfer": [":4096Byte", ":512Byte"], "comp_cycle": []}),
        ("mm", 0, NEC, 1000, 5000, {"comp_cycle": [700, "300"]}),
        ("sync", 0, DEVICE_SYNC, 5000, 5100, None),
        ("reshape", 0, HOST, 5200, 5700, None),
        ("output", 0, EXTERNAL_HDMA, 6000, 7000, {"transfer": [":2048Byte"]}),
    )
    lanes = {EXTERNAL_HDMA: "copy", NEC: "compute", DEVICE_SYNC: "collective", HOST: "host"}
    flow = 3 * call
    flows = {"args_0": ((flow + 1,), ()), "mm": ((flow + 2,), (flow + 1,)), "output": ((), (flow + 2,))}
    made = []
    if generation in ("single", "multi"):
        made.append(Slice("Device Workload", WORKLOAD, at_ns, at_ns + 7000))
    for layer, command, track, start, end, arguments in parts:
        out, ends = flows.get(layer, ((), ()))
        name = _name(generation, layer, command, call, is_host=track == HOST)
        where = lanes[track] if generation == "newer" else track
        made.append(Slice(name, where, at_ns + start, at_ns + end, arguments=arguments, flows=out, ends=ends))
    return made if generation != "newer" else [replace(one, device="NPU 0", annotations={"launch_id": call + 1}) for one in made]


def _name(generation: str, layer: str, command: int, call: int, *, is_host: bool) -> str:
    if generation == "newer":
        return layer
    name = f"{layer}_{command}"
    if generation != "legacy" and not is_host:
        name = f"W0_{name}"
    return f"i1_{call}_{name}" if generation == "multi" else f"{call}_{name}"


def snapshot(sequence: int = 1, **clocks: int) -> Any:
    """A ClockSnapshot: `c64=5` is clock 64 at 5 ns."""
    entries = [{"clock_id": int(name[1:]), "timestamp": value} for name, value in clocks.items()]
    return packet(trusted_packet_sequence_id=sequence, clock_snapshot=perfetto.ClockSnapshot(clocks=entries))


# --- the trace.json of the same run ------------------------------------------------------------------------------------

_CATEGORIES = {
    NEC: "kernel",
    "compute": "kernel",
    NEURAL_DMA: "gpu_memcpy",
    TASK_DMA: "gpu_memcpy",
    EXTERNAL_HDMA: "gpu_memcpy",
    "copy": "gpu_memcpy",
    DEVICE_SYNC: "privateuse1_driver",
    "collective": "privateuse1_driver",
}


def trace_rows(slices: Sequence[Slice], to_host: Callable[[int], int], device_pid: int = vendor_traces.DEVICE_PID) -> list[Json]:
    """Rows of the vendor's bridge for what happened on the device.

    Args:
        slices: What happened.
        to_host: A time of the device to ns since the start of the session.
        device_pid: Process of the rows.
    """
    lanes = {track: lane for lane, track in enumerate(dict.fromkeys(one.track for one in slices))}
    rows = [vendor_traces.metadata("process_name", device_pid, name=slices[0].device)] if slices else []
    rows += [vendor_traces.metadata("thread_name", device_pid, lane, name=track) for track, lane in lanes.items()]
    for one in slices:
        assert one.end_ns is not None
        start, end = to_host(one.start_ns), to_host(one.end_ns)
        category = _CATEGORIES.get(one.track, "privateuse1_runtime")
        rows.append(vendor_traces.span(category, one.name, start, end, pid=device_pid, tid=lanes[one.track], **one.annotations))
    return rows


def launched(slices: Sequence[Slice], step_ns: int = 10_000) -> list[Slice]:
    """The same with the id of the launch of each, as the bridge notes it: from 1 on, one for every `step_ns`."""
    first = min(one.start_ns for one in slices)
    return [replace(one, annotations={"launch_id": (one.start_ns - first) // step_ns + 1}) for one in slices]


def host_rows(starts_ns: Sequence[int], *, has_markers: bool = True) -> list[Json]:
    """An operator of 2,000 ns around each launch, and a marker of the bridge 500 ns after its begin."""
    rows = []
    for number, at in enumerate(starts_ns, start=1):
        rows.append(vendor_traces.op(f"aten::op{number}", at - 500, at + 1500))
        if has_markers:
            rows.append(vendor_traces.span("privateuse1_runtime", "rbln_run", at, at, launch_id=number))
    return rows
