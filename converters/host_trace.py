"""A host trace as columns: what a source makes of a file of PyTorch's profiler, or of any other in its format.

Every time is int64 nanoseconds of the trace clock, which is Unix time (CLOCK_REALTIME) wherever the file says where its zero lies.
No JSON and no files, beyond the handle that copies bytes through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT
from rblnpb.errors import Finding

__all__ = [
    "ALL_COLUMNS",
    "CORE_COLUMNS",
    "TABLE_COLUMNS",
    "UNIX_NS",
    "VIEW_COLUMNS",
    "Bool",
    "Document",
    "HostEvents",
    "HostTrace",
    "HostTrack",
    "Id",
    "Int32",
    "Int64",
    "UInt8",
]

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
UInt8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]

UNIX_NS: Final = 10**18
"""Times from here on (September 2001) are Unix times: a clock that counts from a start has run 31 years by then."""

Id = int | str | None
"""A process or thread id as traces have it: a number, a text such as "Spans", or missing."""


class Document(Protocol):
    """The bytes of an input as they stand, decompressed; readable as often as asked for."""

    @property
    def name(self) -> str:
        """What messages call this input."""

    def blocks(self) -> Iterator[bytes]:
        """The whole document from its first byte to its last, in order, in blocks of any size."""


@dataclass(frozen=True)
class HostTrack:
    """A row of the host trace: one thread of one process, under the very ids the file uses."""

    pid: Id
    tid: Id


@dataclass(frozen=True, eq=False, repr=False)
class HostEvents:
    """The events of a host trace, one row each, in file order; all columns have the same length n.

    Columns cannot be written to. One that holds the same value in all rows may be that value broadcast (its stride is 0), which
    takes no memory. Of events that were read in part (`some`), a column that was not asked for raises AttributeError.

    Attributes:
        phase: uint8[n]; the ASCII code of `ph` (88 = "X"); 0 when missing.
        category: int32[n]; row of `HostTrace.strings`; 0 = none.
        name: int32[n]; row of `HostTrace.strings`; 0 = none.
        track: int32[n]; row of `HostTrace.tracks`.
        start_ns: int64[n]; trace clock; ABSENT where the event has no `ts`.
        duration_ns: int64[n]; ABSENT where the event has no `dur`; may be negative in a broken file.
        external_id: int64[n]; "External id"; 0 = unknown, never a key. From 2**63 on, the negative number of the same 64 bits.
        correlation_id: int64[n]; "correlation"; the same.
        launch_id: int64[n]; the vendor's "launch_id"; the same.
        event_index: int64[n]; "Ev Idx", torch's order of events; -1 = none.
        sequence_number: int64[n]; autograd's "Sequence number"; -1 = none.
        size_bytes: int64[n]; "Bytes" of a memory event; ABSENT = none.
        device_type: int32[n]; torch's DeviceType number of a memory event; -1 = none.
        input_dims: int32[n]; row of `HostTrace.strings`, the JSON text of "Input Dims"; 0 = none.
        concrete_inputs: int32[n]; row of `HostTrace.strings`, the JSON text of "Concrete Inputs"; 0 = none.
        context: int32[n]; row of `HostTrace.strings`, the JSON text of "context"; 0 = none.
        flow_id: int32[n]; row of `HostTrace.strings`, the JSON text of the event's own `id`; 0 = none.
        binding_point: uint8[n]; the ASCII code of `bp` where an arrow ends at the slice around it (101 = "e"); 0 = none.
        offset: int64[n]; first byte of the event's `{` in the decompressed document.
        length: int32[n]; bytes from `{` to the matching `}`, both included; sums of it belong in an int64.
    """

    phase: UInt8
    category: Int32
    name: Int32
    track: Int32
    start_ns: Int64
    duration_ns: Int64
    external_id: Int64
    correlation_id: Int64
    launch_id: Int64
    event_index: Int64
    sequence_number: Int64
    size_bytes: Int64
    device_type: Int32
    input_dims: Int32
    concrete_inputs: Int32
    context: Int32
    flow_id: Int32
    binding_point: UInt8
    offset: Int64
    length: Int32

    @classmethod
    def some(cls, columns: Mapping[str, npt.NDArray[Any]]) -> HostEvents:
        """Events of which only these columns are known, by name; `phase` must be one of them.

        Example:
            >>> events = HostEvents.some({"phase": np.array([88], np.uint8)})
            >>> events.context
            Traceback (most recent call last):
            ...
            AttributeError: the column "context" of the host events was not read; name it in read_host(..., columns=...)
        """
        events = object.__new__(cls)
        vars(events).update(columns)
        events.__post_init__()
        return events

    def __post_init__(self) -> None:
        for column in self.columns().values():
            column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.phase)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns that were read, by name."""
        return dict(vars(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} events: {', '.join(vars(self))})"

    if not TYPE_CHECKING:  # a type checker should know the columns alone

        def __getattr__(self, name: str) -> object:
            if name in ALL_COLUMNS:
                reason = f'the column "{name}" of the host events was not read; name it in read_host(..., columns=...)'
                raise AttributeError(reason)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


ALL_COLUMNS: Final = frozenset(column.name for column in fields(HostEvents))
"""Every column there is."""

CORE_COLUMNS: Final = frozenset({"phase", "category", "name", "track", "start_ns", "duration_ns"})
"""Columns that every reading has."""

VIEW_COLUMNS: Final = CORE_COLUMNS | {
    *("external_id", "correlation_id", "launch_id", "flow_id", "binding_point"),
    *("offset", "length"),
}
"""What it takes to join a trace with a profile, and to write both for a viewer."""

TABLE_COLUMNS: Final = ALL_COLUMNS - {"context", "offset", "length"}
"""What it takes to join a trace with a profile, and to make torch's tables of both."""


@dataclass(frozen=True, eq=False)
class HostTrace:
    """A host trace as its file holds it.

    Attributes:
        document: The input's bytes, for sinks that copy events through.
        events: One row per event, file order.
        strings: Interned texts; row 0 is "".
        tracks: Distinct (pid, tid) pairs in order of first appearance.
        base_time_ns: Unix time of the file's zero; 0 when the file does not say.
        has_base_time: Whether the file says so. False: `start_ns` is in the file's own clock.
        head: Bytes of the document before the first event (up to and including the `[`), as they stand.
        tail: Bytes after the last event (from the `]`), as they stand.
        metadata: Top-level keys other than traceEvents, values decoded from JSON, file order.
        thread_names, process_names, process_labels: From the metadata events; the last one of a track or process wins.
        findings: What was odd.
    """

    document: Document
    events: HostEvents
    strings: tuple[str, ...]
    tracks: tuple[HostTrack, ...]
    base_time_ns: int
    has_base_time: bool
    head: bytes
    tail: bytes
    metadata: dict[str, object]
    thread_names: dict[HostTrack, str] = field(default_factory=dict)
    process_names: dict[Id, str] = field(default_factory=dict)
    process_labels: dict[Id, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def mask(self, phase: str, *categories: str) -> Bool:
        """bool[n]; which of `events` are of one phase, such as "X", and of these categories; of all when none is named."""
        mask: Bool = self.events.phase == ord(phase)
        if categories:
            is_known = np.zeros(len(self.strings), np.bool_)
            is_known[[row for row, text in self.used(self.events.category) if text in categories]] = True
            mask &= is_known[self.events.category]
        return mask

    def rows(self, phase: str, *categories: str) -> Int64:
        """int64[k], ascending: rows of `events` as of `mask`."""
        return np.flatnonzero(self.mask(phase, *categories)).astype(np.int64, copy=False)

    def first_ns(self) -> int | None:
        """The first time of an event that is no metadata, trace clock; None without any."""
        times = self.events.start_ns[(self.events.phase != ord("M")) & (self.events.start_ns != ABSENT)]
        return int(times.min()) if len(times) else None

    def used(self, column: Int32) -> list[tuple[int, str]]:
        """The distinct texts of a column of `events`, or of some rows of it, each with its row of `strings`, ascending."""
        is_used = np.zeros(len(self.strings), np.bool_)
        for rows in row_blocks(len(column)):
            is_used[column[rows]] = True
        return [(row, self.strings[row]) for row in np.flatnonzero(is_used).tolist()]
