"""A profile: one recording session as an immutable whole.

What a session defines once (clocks, devices, engines, programs with their commands, strings) stands in small value types; what
was recorded stands in the tables of `rblnpb.columns`. A `Profile` is what `rblnpb.read` returns and `rblnpb.write` takes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

import numpy as np

from rblnpb.clock import BUILT_IN_CLOCKS, Clock, ClockSnapshot
from rblnpb.columns import (
    ABSENT,
    Counters,
    Dependencies,
    DeviceSlices,
    HostSlices,
    Int64,
    Launches,
    Overheads,
    Table,
    TraceEvents,
    UInt32,
    WorkloadSlices,
    kept,
)
from rblnpb.container import SCHEMA_VERSION
from rblnpb.errors import Finding
from rblnpb.naming import NameStyle

__all__ = [
    "DMA_ENGINE_KINDS",
    "ENGINE_NAMES",
    "KINDS",
    "WORKING_KINDS",
    "Commands",
    "Device",
    "Engine",
    "EngineKind",
    "HostActivity",
    "Loss",
    "LossReason",
    "OverheadKind",
    "Profile",
    "Program",
    "Session",
    "TraceDocument",
]


class EngineKind(IntEnum):
    """What an engine does; values as in the schema's EngineKind."""

    UNKNOWN = 0
    HOST = 1
    NEURAL_ENGINE_CLUSTERS = 2
    NEURAL_DMA = 3
    TASK_DMA = 4
    EXTERNAL_HDMA = 5
    DEVICE_HDMA = 6
    DEVICE_SYNC = 7
    GENERAL_COMPUTE_ENGINE = 8
    WORKLOAD = 9
    COMPUTE = 10
    COPY = 11
    COLLECTIVE = 12
    STREAM = 13
    SYNC = 14


ENGINE_NAMES: Final = {
    EngineKind.UNKNOWN: "Unknown",
    EngineKind.HOST: "Host",
    EngineKind.NEURAL_ENGINE_CLUSTERS: "Neural Engine Clusters",
    EngineKind.NEURAL_DMA: "Neural DMA",
    EngineKind.TASK_DMA: "Task DMA",
    EngineKind.EXTERNAL_HDMA: "External HDMA",
    EngineKind.DEVICE_HDMA: "Device HDMA",
    EngineKind.DEVICE_SYNC: "Device Sync",
    EngineKind.GENERAL_COMPUTE_ENGINE: "General Compute Engine",
    EngineKind.WORKLOAD: "Device Workload",
    EngineKind.COMPUTE: "compute",
    EngineKind.COPY: "copy",
    EngineKind.COLLECTIVE: "collective",
    EngineKind.STREAM: "stream",
    EngineKind.SYNC: "sync",
}
"""The vendor's spelling of each kind, or ours where it has none."""

DMA_ENGINE_KINDS: Final = frozenset({EngineKind.NEURAL_DMA, EngineKind.TASK_DMA, EngineKind.EXTERNAL_HDMA, EngineKind.DEVICE_HDMA})
"""Engines of the vendor's devices that move bytes."""

WORKING_KINDS: Final = frozenset(EngineKind) - {
    EngineKind.HOST,
    EngineKind.DEVICE_SYNC,
    EngineKind.WORKLOAD,
    EngineKind.SYNC,
}
"""Kinds whose slices are busy time: compute and data movement on the device."""


class HostActivity(IntEnum):
    """What the runtime did on the host; values as in the schema's HostActivity."""

    UNKNOWN = 0
    SUBMIT = 1
    COPY_IN = 2
    COPY_OUT = 3
    WAIT = 4
    COMPILE = 5


class OverheadKind(IntEnum):
    """What hidden work was done; values as in the schema's OverheadKind."""

    UNKNOWN = 0
    CPU_FALLBACK = 1
    RECOMPILATION = 2
    HOST_COPY = 3


class LossReason(IntEnum):
    """Why records are missing; values as in the schema's LossReason."""

    UNKNOWN = 0
    BUFFER_FULL = 1
    DEVICE_OVERWRITE = 2
    AFTER_END = 3
    INVALID = 4
    WRITE_FAILED = 5


@dataclass(frozen=True)
class Session:
    """What one recording says about itself. Zero and the empty text mean unknown, None means not there.

    Attributes:
        session_id: Random, never 0; tells recordings apart.
        started_real_ns, started_monotonic_ns: Start, in Unix time and in the host monotonic clock.
        ended_real_ns, ended_monotonic_ns: End, likewise; 0 when the recording was not ended properly.
        host_name, boot_id, process_id, process_name: Where it was recorded.
        rank, world_size: Place in a distributed job.
        tool_name, tool_version: What wrote it.
        name_style: How slice names are put together.
        drained_after_each_run: Whether the recorder waited for the device after each run.
        settings: (name, value) pairs that were in force.
        npu: Kind of NPU, such as "rebel100".
        file_ordinal: Ordinal of the file among those of its process.
        schema_version: (major, minor) that the writer followed.
        has_display_packets: Whether Perfetto display packets stand beside the records, or may, where a recorder wrote. Of the
            file, not of the recording: sessions that differ in it alone are equal.
    """

    session_id: int
    started_real_ns: int = 0
    started_monotonic_ns: int = 0
    ended_real_ns: int = 0
    ended_monotonic_ns: int = 0
    host_name: str = ""
    boot_id: str = ""
    process_id: int = 0
    process_name: str = ""
    rank: int | None = None
    world_size: int | None = None
    tool_name: str = ""
    tool_version: str = ""
    name_style: NameStyle = NameStyle.PLAIN
    drained_after_each_run: bool | None = None
    settings: tuple[tuple[str, str], ...] = ()
    npu: str = ""
    file_ordinal: int = 0
    schema_version: tuple[int, int] = SCHEMA_VERSION
    has_display_packets: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Device:
    """One accelerator, or one group that acts as one. `clock_id` 0: no clock is known."""

    device_id: int
    name: str = ""
    ordinal: int = 0
    chiplet_count: int = 0
    clock_id: int = 0


@dataclass(frozen=True)
class Engine:
    """A part of a device that does one piece of work after the other. `chiplet` None: the device as a whole."""

    engine_id: int
    device_id: int
    kind: EngineKind
    name: str = ""
    chiplet: int | None = None
    display_order: int = 0


@dataclass(frozen=True)
class Program:
    """One compiled command stream; its commands are `count` rows of `Profile.commands` from `first_command_row` on."""

    program_id: int
    name: str
    op: str = ""
    compile_id: str = ""
    first_command_row: int = 0
    command_count: int = 0


@dataclass(frozen=True, eq=False)
class Commands:
    """Commands of all programs of a session; row 0 is "none". All columns have the same length n.

    Attributes:
        program_id: uint32[n]; 0 in row 0.
        layer_strindex: uint32[n]; row of `Profile.strings`.
        command_index: uint32[n]; ordinal in its layer.
        engine_kind: uint32[n]; value of EngineKind, possibly one that this version does not know.
        size_bytes: int64[n]; planned bytes; ABSENT = none.
        chiplet: int64[n]; ABSENT = any.
        predecessor_ends: int64[n]; the predecessors of command i end here in `predecessor_rows`, and begin where those of
            command i - 1 end.
        predecessor_rows: uint32[m]; rows of this table.
    """

    program_id: UInt32
    layer_strindex: UInt32
    command_index: UInt32
    engine_kind: UInt32
    size_bytes: Int64
    chiplet: Int64
    predecessor_ends: Int64
    predecessor_rows: UInt32

    def __post_init__(self) -> None:
        for column in dataclasses.fields(self):
            object.__setattr__(self, column.name, kept(getattr(self, column.name)))

    def __len__(self) -> int:
        return len(self.program_id)

    @classmethod
    def none(cls) -> Commands:
        """The table with row 0 alone."""
        zero = np.zeros(1, np.uint32)
        absent = np.full(1, ABSENT, np.int64)
        return cls(
            zero.copy(),
            zero.copy(),
            zero.copy(),
            zero.copy(),
            absent,
            absent.copy(),
            np.zeros(1, np.int64),
            np.empty(0, np.uint32),
        )

    def predecessors(self, row: int) -> tuple[int, ...]:
        """Rows of the commands that must end before command `row` starts."""
        start = 0 if row == 0 else int(self.predecessor_ends[row - 1])
        return tuple(self.predecessor_rows[start : int(self.predecessor_ends[row])].tolist())

    def equals(self, other: Commands) -> bool:
        """Whether both have the same commands in the same order."""
        return all(np.array_equal(getattr(self, column.name), getattr(other, column.name)) for column in dataclasses.fields(self))


@dataclass(frozen=True)
class Loss:
    """Records of one kind that were lost for one reason.

    Attributes:
        kind: `Table.kind` of the records; 0 = several or unknown.
        reason: Why.
        count: How many.
        engine_id: Engine whose records they were; 0 = several or unknown.
        is_lower_bound: Whether more may be missing.
        first_monotonic_ns, last_monotonic_ns: When, host monotonic clock; None = not known.
    """

    kind: int
    reason: LossReason
    count: int
    engine_id: int = 0
    is_lower_bound: bool = False
    first_monotonic_ns: int | None = None
    last_monotonic_ns: int | None = None


@dataclass(frozen=True)
class TraceDocument:
    """What surrounds archived trace events: bytes before the first and after the last, and the Unix time of their zero."""

    head: bytes
    tail: bytes
    name: str = ""
    base_time_ns: int | None = None


KINDS: Final[dict[int, type[Table]]] = {
    table.kind: table
    for table in (
        Launches,
        DeviceSlices,
        WorkloadSlices,
        Dependencies,
        HostSlices,
        Overheads,
        Counters,
        TraceEvents,
    )
}
"""Record tables by the field number of their kind."""


@dataclass(frozen=True, eq=False)
class Profile:
    """One recording session.

    Attributes:
        session: What it says about itself.
        strings: Texts; `_strindex` columns refer to its rows; row 0 is "".
        clocks: Defined clocks; the two host clocks are built in and not listed.
        devices, engines, programs: In the order they were defined.
        commands: Commands of all programs; row 0 is "none".
        threads: Native thread id and name, in the order they were named.
        clock_snapshots: In the order they were taken.
        losses: In the order they were noticed.
        launches, device_slices, workload_slices, dependencies, host_slices, overheads, counters, trace_events: The records, in
            file order.
        trace_document: Frame of `trace_events`; None when there are none.
        is_complete: Whether the recording was ended properly (its closing packet is there).
        findings: What reading it found odd.
    """

    session: Session
    strings: tuple[str, ...] = ("",)
    clocks: tuple[Clock, ...] = ()
    devices: tuple[Device, ...] = ()
    engines: tuple[Engine, ...] = ()
    programs: tuple[Program, ...] = ()
    commands: Commands = field(default_factory=Commands.none)
    threads: tuple[tuple[int, str], ...] = ()
    clock_snapshots: tuple[ClockSnapshot, ...] = ()
    losses: tuple[Loss, ...] = ()
    launches: Launches = field(default_factory=Launches.empty)
    device_slices: DeviceSlices = field(default_factory=DeviceSlices.empty)
    workload_slices: WorkloadSlices = field(default_factory=WorkloadSlices.empty)
    dependencies: Dependencies = field(default_factory=Dependencies.empty)
    host_slices: HostSlices = field(default_factory=HostSlices.empty)
    overheads: Overheads = field(default_factory=Overheads.empty)
    counters: Counters = field(default_factory=Counters.empty)
    trace_events: TraceEvents = field(default_factory=TraceEvents.empty)
    trace_document: TraceDocument | None = None
    is_complete: bool = True
    findings: tuple[Finding, ...] = ()

    def table(self, kind: int) -> Table:
        """The records of one kind, by the field number of the kind."""
        table: Table = getattr(self, KINDS[kind].label)
        return table

    def clock(self, clock_id: int) -> Clock | None:
        """The clock of this id, built in or defined; None when there is none."""
        for clock in (*BUILT_IN_CLOCKS, *self.clocks):
            if clock.clock_id == clock_id:
                return clock
        return None

    def dropped(self, kind: int) -> int:
        """Records of this kind that were lost, as far as is known."""
        return sum(loss.count for loss in self.losses if loss.kind == kind)

    def replace(self, **changes: object) -> Profile:
        """The same profile with some attributes exchanged."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]  # names are checked by replace itself

    def equals(self, other: Profile) -> bool:
        """Whether both hold the same session, definitions and records in the same order; findings do not count."""
        for column in dataclasses.fields(self):
            mine, theirs = getattr(self, column.name), getattr(other, column.name)
            if column.name == "findings":
                continue
            same = mine.equals(theirs) if isinstance(mine, (Table, Commands)) else mine == theirs
            if not same:
                return False
        return True
