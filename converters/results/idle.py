"""Busy and idle time of devices, and why they were idle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rblnpb.errors import Finding

from .gap_table import GapTable

__all__ = [
    "CAUSES",
    "STEPS",
    "CauseTime",
    "DeviceOccupancy",
    "EngineOccupancy",
    "IdleReport",
    "KindOccupancy",
    "NamedTime",
    "Occupancies",
    "Occupancy",
    "ProgramOccupancy",
]

CAUSES: Final[Mapping[str, str]] = {
    "short": "the whole gap is shorter than the threshold: not looked into",
    "recording-lost": "records of the device are known to be lost here: it may have been busy",
    "runtime": "before the next launch was submitted, its thread was in the runtime: it compiled, copied, waited or submitted",
    "serialised-by-profiling": "as runtime, but the wait is the recorder's own, which drains the device after each run",
    "waiting-for-host": "before the next launch was submitted, its thread was in ops, in Python, or in a part of the program that "
    "runs on the host",
    "queue-empty": "the next launch was not submitted yet, and nothing tells what its thread did",
    "dependency": "submitted, but waiting for work of another engine or device, where that is recorded",
    "submission": "submitted, and on its way: nothing else is known to hold it up before the device begins with it",
    "unknown": "within a program, or with a launch whose time is not known, and nothing recorded explains it",
}
"""Causes in order of precedence: what one explains is not asked of the next. They are of parts of gaps, and add up exactly."""

STEPS: Final[Mapping[str, str]] = {
    "before-op": "the op that submits had not begun",
    "inside-op": "the op that submits had begun, the submission had not",
    "outside-ops": "the submission lies in no op of the host trace",
    "fallback": "an operator ran on the CPU instead",
    "host-command": "the program itself computed on the host",
    "submit-call": "the call that submits had not returned",
    "on-its-way": "the call that submits had returned, or has no record of its own",
}
"""Steps of a submission, in order of time: which of them waiting-for-host and submission speak of."""


@dataclass(frozen=True)
class Occupancy:
    """How much of a stretch of time was busy.

    Attributes:
        slice_count: Slices of work.
        busy_ns: Their union.
        idle_ns: The rest of the span.
        span_ns: From the first start to the last end.
        sum_ns: Sum of durations; more than busy where work overlaps, and their ratio is the mean concurrency.
    """

    slice_count: int
    busy_ns: int
    idle_ns: int
    span_ns: int
    sum_ns: int


@dataclass(frozen=True)
class NamedTime:
    """A share of the time of a cause: of an op, an activity, an engine or a program, as the cause has it. Empty = not known."""

    name: str
    idle_ns: int


@dataclass(frozen=True)
class CauseTime:
    """How long one cause kept a device, or an engine, idle.

    Attributes:
        cause: One of `CAUSES`.
        idle_ns: How long.
        gap_count: Gaps that it has a part in.
        uncertainty_ns: By how much that may be wrong if all borders between host and device time are off in one direction;
            None = nothing tells.
        steps: The same by step, those of `STEPS` that occur.
        names: The same by name, the longest first.
    """

    cause: str
    idle_ns: int
    gap_count: int
    uncertainty_ns: int | None
    steps: Mapping[str, int]
    names: tuple[NamedTime, ...]


@dataclass(frozen=True)
class DeviceOccupancy:
    """One device.

    Attributes:
        device: As in `Track`.
        all: Every slice of work.
        launched_in_window: Those whose launch is in the trace.
        first_ns, last_ns: Least start and greatest end, trace clock.
        gap_count: Stretches without work.
        inside_calls_ns, between_calls_ns: Idle time between the first and the last slice of any call, and the rest of it.
        uncertainty_ns: How far its clock may be off that of the host, as placed; None = nothing tells.
        causes: Why it was idle, in order of precedence; they add up to its idle time.
    """

    device: str
    all: Occupancy
    launched_in_window: Occupancy
    first_ns: int
    last_ns: int
    gap_count: int
    inside_calls_ns: int
    between_calls_ns: int
    uncertainty_ns: int | None
    causes: tuple[CauseTime, ...]


@dataclass(frozen=True)
class KindOccupancy:
    """All engines of one kind of a device. `kind` as in `Track`."""

    device: str
    kind: str
    engine_count: int
    all: Occupancy


@dataclass(frozen=True)
class EngineOccupancy:
    """One engine.

    Attributes:
        device, name, kind: As in `Track`.
        all: Its slices, over its own span.
        causes: Why it was idle; empty unless gaps of engines were asked for.
    """

    device: str
    name: str
    kind: str
    all: Occupancy
    causes: tuple[CauseTime, ...] = ()


@dataclass(frozen=True)
class ProgramOccupancy:
    """The calls of one program on one device, each from its first slice to its last; what lies between calls is not in it.

    Attributes:
        device: As in `Track`.
        program: Its name, "(unknown)" where nothing tells.
        compile_id: The compiled graph that it belongs to; empty = none or not known.
        call_count: Calls.
        all: Sums over calls: the span of each, and the union of its own slices.
    """

    device: str
    program: str
    compile_id: str
    call_count: int
    all: Occupancy


@dataclass(frozen=True)
class Occupancies:
    """Busy and idle time without causes.

    Attributes:
        all, launched_in_window: Of all devices together.
        devices: Without causes, in order of tracks.
        kinds, engines: In order of tracks.
    """

    all: Occupancy
    launched_in_window: Occupancy
    devices: tuple[DeviceOccupancy, ...]
    kinds: tuple[KindOccupancy, ...]
    engines: tuple[EngineOccupancy, ...]


@dataclass(frozen=True)
class IdleReport:
    """Busy, idle, and why.

    Attributes:
        sources: What was read.
        by: Whose gaps `causes` and `gaps` speak of: "device" or "engine".
        min_gap_ns: Gaps below this are short.
        all, launched_in_window: Of all devices together.
        devices, kinds, engines: In order of tracks.
        programs: The one that idles longest inside its calls first.
        causes: Over all devices (or engines), in order of precedence; they add up to the sum of their idle times.
        gap_count: All gaps, the short ones among them.
        gaps: The longest, the longest first; a sequence of `Gap`, which holds columns and no gap.
        findings: What the numbers do not say by themselves.
    """

    sources: tuple[str, ...]
    by: str
    min_gap_ns: int
    all: Occupancy
    launched_in_window: Occupancy
    devices: tuple[DeviceOccupancy, ...]
    kinds: tuple[KindOccupancy, ...]
    engines: tuple[EngineOccupancy, ...]
    programs: tuple[ProgramOccupancy, ...]
    causes: tuple[CauseTime, ...]
    gap_count: int
    gaps: GapTable
    findings: tuple[Finding, ...]
