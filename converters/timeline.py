"""The merged model: where sources, merge, analyses and sinks meet.

A source turns foreign bytes into a `HostTrace` (or a `rblnpb.Profile`); merge turns both into a `Timeline`; analyses and
sinks read nothing else. Everything is a numpy column or an immutable value; every time is int64 nanoseconds of the trace
clock, which is Unix time (CLOCK_REALTIME) wherever the input says where its zero lies. No JSON, no protobuf, no files
beyond the handle that copies bytes through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.errors import Finding

from .aligned_slices import JOIN_RULES, JOINED_RULES, AlignedSlices, DeferredSlices, Rows, SliceNames
from .host_trace import Bool, Document, HostEvents, HostTrace, HostTrack, Id, Int32, Int64, UInt8

__all__ = [
    "JOINED_RULES",
    "JOIN_RULES",
    "MATCHED_RULES",
    "MATCH_RULES",
    "AlignedCounters",
    "AlignedLaunches",
    "AlignedLoss",
    "AlignedSlices",
    "Bool",
    "ClockQuality",
    "DeferredDependencies",
    "DeferredSlices",
    "Document",
    "ExplainedCounts",
    "HostEvents",
    "HostTrace",
    "HostTrack",
    "Id",
    "Int32",
    "Int64",
    "OverheadRecords",
    "RecordCount",
    "Rows",
    "RuntimeSlices",
    "SliceDependencies",
    "SliceNames",
    "Timeline",
    "Track",
    "UInt8",
]


@dataclass(frozen=True)
class Track:
    """A row of the device side of the timeline.

    Attributes:
        device: What the row belongs to, such as "rbln:0"; the sinks make one process of each distinct text.
        name: The row's own name, such as "Neural DMA (chiplet 2)".
        kind: The engine kind's name in lower case, such as "neural_dma"; "unknown" where the source does not say.
        is_work: Whether slices here are busy time: compute and data movement on the device. Host rows, workload frames,
            waits and annotations are not.
        order: Rows of one device are shown in this order.
    """

    device: str
    name: str
    kind: str
    is_work: bool
    order: int


@dataclass(frozen=True, eq=False)
class SliceDependencies:
    """Which slices had to end before others could start; all columns have the same length k.

    Attributes:
        predecessor, successor: int64[k], or int32[k] where there are very many; rows of `Timeline.slices`.
    """

    predecessor: npt.NDArray[np.signedinteger[Any]]
    successor: npt.NDArray[np.signedinteger[Any]]

    def __len__(self) -> int:
        return len(self.predecessor)


class DeferredDependencies(SliceDependencies):
    """Dependencies that are found when somebody asks for them: not every output shows them."""

    def __init__(self, find: Callable[[], npt.NDArray[np.signedinteger[Any]]]) -> None:
        """Keep how to find them: int[2, k], predecessors and successors."""
        object.__setattr__(self, "_find", find)

    def __getattr__(self, name: str) -> Any:
        if name not in {"predecessor", "successor"}:
            raise AttributeError(name)
        for column, rows in zip(("predecessor", "successor"), self.__dict__["_find"](), strict=True):
            object.__setattr__(self, column, rows)
        return self.__dict__[name]


@dataclass(frozen=True, eq=False)
class AlignedLaunches:
    """Submissions by the host, in the trace clock; all columns have the same length n.

    Attributes:
        start_ns: int64[n]; trace clock; the moment of submission.
        launch_id: int64[n]; as the runtime numbered it; 0 = unknown.
        name: int32[n]; row of `Timeline.strings`: the program, or the call that launched it where no program is known.
        compile_id: int32[n]; row of `Timeline.strings`: the compiled graph that it belongs to, such as "0/0"; 0 = none or unknown.
        pid, tid: int64[n]; native ids of the submitting thread.
        host_row: int64[n]; row of `Timeline.host.events`: innermost op on that thread at that time; -1 = unmatched.
        reason: int32[n]; row of `MATCH_RULES`: why it matched, or why it did not.
    """

    start_ns: Int64
    launch_id: Int64
    name: Int32
    compile_id: Int32
    pid: Int64
    tid: Int64
    host_row: Int64
    reason: Int32

    def __len__(self) -> int:
        return len(self.start_ns)


MATCH_RULES: Final = (
    "innermost-op",
    "recorded-link",
    "no-host-trace",
    "thread-not-in-trace",
    "outside-window",
    "annotation-only",
    "between-ops",
)
"""Outcomes of matching a launch to a host op; the first two matched, the others say why not."""

MATCHED_RULES: Final = 2
"""How many of `MATCH_RULES`, from the front, are matches."""


@dataclass(frozen=True, eq=False)
class RuntimeSlices:
    """What the device runtime did on the host (submit, copy, wait, compile), in the trace clock; length n.

    Attributes:
        start_ns, duration_ns: int64[n]; trace clock.
        name: int32[n]; row of `Timeline.strings`.
        pid, tid: int64[n]; native ids.
        launch: int64[n]; row of `Timeline.launches`; -1 = none.
        size_bytes: int64[n]; ABSENT = none, or not read: a host trace that shows the slice keeps it.
        event: int64[n]; row of `Timeline.host.events` that shows it already; -1 = none does.
    """

    start_ns: Int64
    duration_ns: Int64
    name: Int32
    pid: Int64
    tid: Int64
    launch: Int64
    size_bytes: Int64
    event: Int64

    def __len__(self) -> int:
        return len(self.start_ns)

    def unshown(self) -> RuntimeSlices:
        """Those that the host trace does not show."""
        rows = np.flatnonzero(self.event < 0)
        return (
            self if len(rows) == len(self) else RuntimeSlices(**{one.name: getattr(self, one.name)[rows] for one in fields(self)})
        )


@dataclass(frozen=True, eq=False)
class OverheadRecords:
    """Work that the program did not ask for; all columns have the same length n.

    Attributes:
        kind: uint32[n]; number of a `rblnpb.profile.OverheadKind`, or one that is not known.
        op, reason, place: int32[n]; rows of `Timeline.strings`; 0 = unknown.
        duration_ns, size_bytes: int64[n]; ABSENT = not known.
        start_ns: int64[n]; trace clock; ABSENT = it has no place there.
        tid: int64[n]; native id of the thread that did it; 0 = unknown.
    """

    kind: npt.NDArray[np.uint32]
    op: Int32
    reason: Int32
    place: Int32
    duration_ns: Int64
    size_bytes: Int64
    start_ns: Int64
    tid: Int64

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True)
class ExplainedCounts:
    """What a runtime counted in a region, without a record for each thing; what is not there is not known.

    Attributes:
        fallback_count, fallback_ns: Operators that ran on the CPU, and their time; None = not known.
        recompilation_count: Programs that were compiled.
        fallbacks_by_op, fallbacks_by_reason, recompilations_by_op: How often, by name.
        copies: How often and how many bytes, by the name of the way that they took.
        places: Lines of the program that led to an operator or a way, the innermost first, with ` <- ` between them.
    """

    fallback_count: int
    fallback_ns: int | None
    fallbacks_by_op: dict[str, int]
    fallbacks_by_reason: dict[str, int]
    recompilation_count: int
    recompilations_by_op: dict[str, int]
    copies: dict[str, tuple[int, int]]
    places: dict[str, str]


@dataclass(frozen=True, eq=False)
class AlignedCounters:
    """Sampled values in the trace clock; length n.

    Attributes:
        time_ns: int64[n]; trace clock.
        device: int32[n]; row of `Timeline.strings`.
        name: int32[n]; row of `Timeline.strings`, with its unit in it.
        value: float64[n]; finite.
    """

    time_ns: Int64
    device: Int32
    name: Int32
    value: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.time_ns)


@dataclass(frozen=True)
class ClockQuality:
    """How well one clock could be placed in the trace clock.

    Attributes:
        name: The clock.
        snapshot_count: Readings against the host's monotonic clock.
        residual_ns: Largest distance of a reading from the line between its neighbours.
        uncertainty_ns: Largest half bracket of a reading.
        drift_ppm: Measured rate against the nominal one, parts per million.
        step_count: Readings that show that the clock was set while recording.
        extrapolated_count: Records outside the readings, placed by the rate alone.
        basis: What placed it: "readings" of both clocks; "pairs" of records that both files hold, `snapshot_count` of them; or
            "launch-order", the order of launches and workloads alone.
    """

    name: str
    snapshot_count: int
    residual_ns: int
    uncertainty_ns: int
    drift_ppm: float
    step_count: int
    extrapolated_count: int
    basis: str = "readings"


@dataclass(frozen=True)
class RecordCount:
    """Records of one kind: read from the file, and dropped before they reached it."""

    kind: str
    read: int
    dropped: int
    is_lower_bound: bool = False


@dataclass(frozen=True)
class AlignedLoss:
    """Records of one kind that were lost for one reason.

    Attributes:
        kind: Whose records, such as "device_slices"; "unknown" = several kinds, or not known.
        reason: Why, such as "buffer_full".
        count: How many; a lower bound where `is_lower_bound`.
        device: Device of the engine whose records they were; empty = several, none or not known.
        start_ns, end_ns: When the first and the last of them were lost, trace clock; None = not known.
    """

    kind: str
    reason: str
    count: int
    is_lower_bound: bool = False
    device: str = ""
    start_ns: int | None = None
    end_ns: int | None = None


@dataclass(frozen=True, eq=False)
class Timeline:
    """Host and device in one clock. Built by merge alone; analyses and sinks read it.

    Attributes:
        host: The host trace; None when there is only a profile.
        slices: Device slices that are records of work or waiting, in the trace clock, in record order.
        frames: Workload frames: they enclose slices and are never busy time.
        launches: Submissions by the host.
        dependencies: Order between slices that the compiler or the runtime fixed.
        runtime: What the runtime did on the host.
        counters: Samples.
        overheads: Work that the program did not ask for.
        tracks: Rows of the device side; `slices.track` and `frames.track` refer to them.
        strings: Texts of launches, runtime slices, counters and overheads; row 0 is "". (Slice names carry their own.)
        argument_names: Names of the columns of `slices.arguments` and `frames.arguments`.
        counts: Records by kind, as the profile has them.
        clocks: Quality of every clock that was placed.
        is_serialised: Whether recording waited for the device after each run; None = not known.
        process_id: Process that the profile recorded; 0 = unknown.
        device_name: What the framework calls the device, such as "rbln".
        sources: Names of the inputs.
        findings: Everything that reading and merging found odd.
        losses: What is known to be missing, in the order noticed.
    """

    host: HostTrace | None
    slices: AlignedSlices
    frames: AlignedSlices
    launches: AlignedLaunches
    dependencies: SliceDependencies
    runtime: RuntimeSlices
    counters: AlignedCounters
    overheads: OverheadRecords
    tracks: tuple[Track, ...]
    strings: tuple[str, ...]
    argument_names: tuple[str, ...]
    counts: tuple[RecordCount, ...]
    clocks: tuple[ClockQuality, ...]
    is_serialised: bool | None
    process_id: int
    device_name: str
    sources: tuple[str, ...]
    findings: tuple[Finding, ...]
    losses: tuple[AlignedLoss, ...] = ()

    def with_findings(self, more: Iterable[Finding]) -> Timeline:
        """The same with further findings."""
        return replace(self, findings=(*self.findings, *more))

    def working_tracks(self) -> Bool:
        """bool[tracks + 1]; which of `tracks` do work, whose slices are busy time; the last is of no track."""
        return np.array([*(track.is_work for track in self.tracks), False], np.bool_)

    def is_work(self) -> Bool:
        """bool[n]; which of `slices` are busy time: those of tracks that do work."""
        return self.working_tracks()[self.slices.track]
