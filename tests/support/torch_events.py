"""Host traces written by hand, and what torch makes of them, told in plain Python: one event, one object, one step at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.converters.analyze.torch_table.flops import count_flops, flat_shapes_text
from rblnpb.converters.timeline import HostEvents, HostTrace, HostTrack, Id

ORIGIN_NS = 1_790_000_000_000_000_000


@dataclass(frozen=True)
class Event:
    """One event of a trace; times in ns since ORIGIN_NS, where the session starts."""

    category: str
    name: str
    start_ns: int = 0
    duration_ns: int = 0
    tid: Id = 7
    pid: Id = 7
    phase: str = "X"
    external_id: int = 0
    event_index: int = -1
    size_bytes: int = ABSENT
    device_type: int = -1
    input_dims: str = ""
    concrete_inputs: str = ""


@dataclass(frozen=True)
class NoDocument:
    """A trace that came out of no file."""

    name: str = "by hand"

    def blocks(self) -> Iterator[bytes]:
        yield b""


SESSION = Event("Trace", "PyTorch Profiler (0)", pid="Spans", tid="PyTorch Profiler")


def memory(at_ns: int, size_bytes: int, device_type: int = 0, tid: Id = 7, event_index: int = -1) -> Event:
    return Event(
        "cpu_instant_event",
        "[memory]",
        at_ns,
        0,
        tid,
        7,
        "i",
        event_index=event_index,
        size_bytes=size_bytes,
        device_type=device_type,
    )


def host_trace(*events: Event, metadata: dict[str, object] | None = None, processes: dict[Id, str] | None = None) -> HostTrace:
    """The model that a source makes of a file with these events; a session slice goes first."""
    texts: dict[str, int] = {"": 0}
    tracks: dict[HostTrack, int] = {}
    rows = [
        {
            "phase": ord(event.phase),
            "category": texts.setdefault(event.category, len(texts)),
            "name": texts.setdefault(event.name, len(texts)),
            "track": tracks.setdefault(HostTrack(event.pid, event.tid), len(tracks)),
            "start_ns": ABSENT if event.start_ns == ABSENT else ORIGIN_NS + event.start_ns,
            "duration_ns": event.duration_ns,
            "external_id": event.external_id,
            "event_index": event.event_index,
            "size_bytes": event.size_bytes,
            "device_type": event.device_type,
            "input_dims": texts.setdefault(event.input_dims, len(texts)),
            "concrete_inputs": texts.setdefault(event.concrete_inputs, len(texts)),
            "sequence_number": -1,
        }
        for event in (SESSION, *events)
    ]
    types = {"Int64": np.int64, "Int32": np.int32, "UInt8": np.uint8}
    columns = {
        column.name: np.array([row.get(column.name, 0) for row in rows], types[str(column.type)]) for column in fields(HostEvents)
    }
    return HostTrace(
        document=NoDocument(),
        events=HostEvents(**columns),
        strings=tuple(texts),
        tracks=tuple(tracks),
        base_time_ns=ORIGIN_NS,
        has_base_time=True,
        head=b"",
        tail=b"",
        metadata=metadata or {},
        process_names=processes or {},
    )


@dataclass(eq=False)
class Node:
    """An event as torch holds it."""

    name: str
    kind: str
    start_ns: int
    end_ns: int
    thread: object
    own_id: int = 0
    link: int = 0
    is_device: bool = False
    cpu_bytes: int = 0
    device_bytes: int = 0
    flops: int = 0
    shapes: str = "[]"
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    kernels: list[Node] = field(default_factory=list)

    @property
    def is_async(self) -> bool:
        return not self.is_device and self.name.split(":")[0] in {"gloo", "nccl", "mpi", "ucc", "xccl", "hccl"} and ":" in self.name

    @property
    def is_annotation(self) -> bool:
        return self.kind == "annotation"

    def length(self, unit: str) -> float:
        return self.end_ns - self.start_ns if unit == "ns" else self.end_ns / 1000 - self.start_ns / 1000

    def cpu(self, unit: str) -> float:
        return 0 if self.is_device else self.length(unit)

    def self_cpu(self, unit: str) -> float:
        return 0 if self.is_async or self.is_device else self.cpu(unit) - in_turn(child.cpu(unit) for child in self.children)

    def device(self, unit: str) -> float:
        if self.is_device:
            return self.length(unit)
        if self.is_async:
            return 0
        own = in_turn(kernel.length(unit) for kernel in self.kernels)
        return own + in_turn(child.device(unit) for child in self.children)

    def self_device(self, unit: str) -> float:
        return self.device(unit) if self.is_device else self.device(unit) - in_turn(child.device(unit) for child in self.children)

    def self_bytes(self, column: str) -> int:
        if self.is_async or self.is_device:
            return 0
        return int(getattr(self, column)) - sum(int(getattr(child, column)) for child in self.children)


def in_turn(values: Iterator[float]) -> float:
    """A sum as a loop makes it; the built-in rounds differently from Python 3.12 on."""
    total: float = 0
    for value in values:
        total += value
    return total


HOST_KINDS = {
    "cpu_op": "op",
    "python_function": "op",
    "user_annotation": "annotation",
    "privateuse1_runtime": "runtime",
    "privateuse1_driver": "runtime",
    "cuda_runtime": "runtime",
}
DEVICE_KINDS = {"kernel": "device", "gpu_memcpy": "device", "gpu_memset": "device", "gpu_user_annotation": "annotation"}
LEFT_OUT = {"aten::is_leaf", "aten::output_nr", "aten::_version", "[memory]", "[OutOfMemory]"}


def listed(event: Event) -> Node | None:
    """The node that a slice becomes, still alone."""
    kind = (HOST_KINDS | DEVICE_KINDS).get(event.category)
    if event.phase != "X" or kind is None or event.name in LEFT_OUT:
        return None
    name = "ProfilerStep*" if event.name.startswith("ProfilerStep#") else event.name
    node = Node(name, kind, event.start_ns, event.start_ns + event.duration_ns, (event.pid, event.tid))
    node.is_device = event.category in DEVICE_KINDS
    if kind == "runtime" or event.category in {"kernel", "gpu_memcpy", "gpu_memset"}:
        node.link = event.external_id
    else:
        node.own_id = event.external_id
    node.flops = count_flops(event.name, event.input_dims, event.concrete_inputs)
    node.shapes = flat_shapes_text(event.input_dims)
    return node


def torch_list(events: list[Event]) -> list[Node]:
    """torch's events in its order, with the work that each launched; not yet nested."""
    pairs = [(event, listed(event)) for event in events]
    ops = [node for _, node in pairs if node and not node.is_device and not node.is_async and node.kind != "runtime"]
    main = next((node.thread for node in ops if node.thread == (7, 7)), ops[0].thread if ops else None)
    owners: dict[int, Node] = {}
    for node in ops:
        # Where two ops have one id, the first in the file owns it.
        owners.setdefault(node.own_id, node)
    pairs.sort(key=lambda pair: pair[0].event_index if pair[0].event_index >= 0 else 10**9)
    host = [node for _, node in pairs if node and not node.is_device]
    devices = [node for _, node in pairs if node and node.is_device]
    records = unclaimed_records([event for event, _ in pairs], host)
    result = sorted([*host, *devices, *records], key=lambda node: (node.start_ns, -node.end_ns))
    for node in result:
        owner = owners.get(node.link) if node.link > 0 else None
        if node.is_device and owner:
            owner.kernels.append(node)
        elif node.kind == "runtime":
            node.thread = owner.thread if owner else main or node.thread
    return result


def unclaimed_records(events: list[Event], host: list[Node]) -> list[Node]:
    """Adds every memory record to all nodes that were running; those that found none become nodes."""
    unclaimed = []
    for event in events:
        if event.phase != "i" or event.name != "[memory]":
            continue
        holders = [node for node in host if node.start_ns <= event.start_ns <= node.end_ns]
        if not holders:
            holders = [Node("[memory]", "op", event.start_ns, event.start_ns, (event.pid, event.tid))]
            unclaimed += holders
        for node in holders:
            node.cpu_bytes += event.size_bytes if event.device_type in {0, 2, 5} else 0
            node.device_bytes += event.size_bytes if event.device_type in {1, 6, 12, 20} else 0
    return unclaimed


def nest(nodes: list[Node]) -> None:
    """Finds every node's parent with a stack for each thread."""
    stacks: dict[object, list[Node]] = {}
    for node in nodes:
        if node.is_device or node.is_async:
            continue
        stack = stacks.setdefault(node.thread, [])
        while stack and (node.start_ns >= stack[-1].end_ns or node.end_ns > stack[-1].end_ns):
            stack.pop()
        if stack:
            node.parent = stack[-1]
            stack[-1].children.append(node)
        stack.append(node)


def merge_same_name(nodes: list[Node]) -> list[Node]:
    """Takes only calls of their parent's name into the parent, until there are none."""
    while True:
        left = []
        for node in nodes:
            parent = node.parent
            if parent is None or parent.name != node.name or len(parent.children) != 1:
                left.append(node)
                continue
            parent.children, parent.kernels = node.children, node.kernels
            for child in node.children:
                child.parent = parent
        if len(left) == len(nodes):
            return nodes
        nodes = left


Row = dict[str, object]


def row_of(nodes: list[Node]) -> Row:
    """The sums of one row of the table."""
    first = nodes[0]
    row: Row = {
        "name": first.name,
        "kind": first.kind,
        "count": len(nodes),
        "is_device": first.is_device,
        "is_annotation": first.is_annotation,
        "is_async": first.is_async,
        "is_top_level": first.parent is None,
        "input_shapes": first.shapes,
        "flops": sum(node.flops for node in nodes),
        "cpu_memory_bytes": sum(node.cpu_bytes for node in nodes),
        "device_memory_bytes": sum(node.device_bytes for node in nodes),
        "self_cpu_memory_bytes": sum(node.self_bytes("cpu_bytes") for node in nodes),
        "self_device_memory_bytes": sum(node.self_bytes("device_bytes") for node in nodes),
    }
    for unit in ("ns", "us"):
        row[f"cpu_time_total_{unit}"] = in_turn(node.cpu(unit) for node in nodes)
        row[f"self_cpu_time_total_{unit}"] = in_turn(node.self_cpu(unit) for node in nodes)
        row[f"device_time_total_{unit}"] = in_turn(node.device(unit) for node in nodes)
        row[f"self_device_time_total_{unit}"] = in_turn(node.self_device(unit) for node in nodes)
    return row


def slow_key_averages(events: list[Event], *, group_by_input_shape: bool = False) -> list[Row]:
    """Rows of the table, with operations counted whatever the trace says about them."""
    nodes = torch_list(events)
    nest(nodes)
    groups: dict[tuple[object, ...], list[Node]] = {}
    for node in merge_same_name(nodes):
        key = (node.name, node.is_device, node.is_annotation, node.shapes if group_by_input_shape else "")
        groups.setdefault(key, []).append(node)
    rows = [row_of(group) for group in groups.values()]
    return rows if group_by_input_shape else [row | {"input_shapes": ""} for row in rows]


def slow_event_rows(events: list[Event]) -> list[Row]:
    """The single events as rows of their own."""
    nodes = torch_list(events)
    nest(nodes)
    return [row_of([node]) for node in merge_same_name(nodes)]
