"""The profile status: what was recorded, lost, placed and joined."""

from __future__ import annotations

from dataclasses import dataclass

from rblnpb.errors import Finding

from ..timeline import ClockQuality, RecordCount

__all__ = ["EngineActivity", "ExplainedOverheads", "OverheadPart", "OverheadTotal", "ProfileStatus"]


@dataclass(frozen=True)
class EngineActivity:
    """What one row of the device side did.

    Attributes:
        device, name, kind: As in `Track`.
        is_work: Whether its slices are busy time.
        slice_count: Slices on it.
        first_ns, last_ns: Least start and greatest end, trace clock.
        busy_ns: Union of its slices.
        sum_ns: Sum of their durations; larger than the union where they overlap.
        overlap_count: Slices that start while an earlier one runs.
    """

    device: str
    name: str
    kind: str
    is_work: bool
    slice_count: int
    first_ns: int
    last_ns: int
    busy_ns: int
    sum_ns: int
    overlap_count: int


@dataclass(frozen=True)
class OverheadPart:
    """A share of the overheads of one kind.

    Attributes:
        name: The operator, or the reason; "unknown" where nothing says.
        count: How often.
        size_bytes, duration_ns: Sums; None = not known.
        place: Where in the program, the first time: `file:line(function)`; empty = not known.
    """

    name: str
    count: int
    size_bytes: int | None = None
    duration_ns: int | None = None
    place: str = ""


@dataclass(frozen=True)
class OverheadTotal:
    """Overheads of one kind: what the program did not ask for.

    Attributes:
        kind: "cpu_fallback", "recompilation", "host_copy"; of a runtime's own counts also "batch_split".
        count: How often.
        size_bytes, duration_ns: Sums; None = not known.
        ops, reasons: The same by operator and by reason, the most frequent first; empty where that is not known.
    """

    kind: str
    count: int
    size_bytes: int | None
    duration_ns: int | None
    ops: tuple[OverheadPart, ...]
    reasons: tuple[OverheadPart, ...]


@dataclass(frozen=True)
class ProfileStatus:
    """The profile status. Times are int64 ns of the trace clock.

    Attributes:
        verdict: "ok", "warning" (numbers are bounds) or "error" (numbers are wrong, or much is missing).
        sources: What was read.
        records: Records by kind, read and dropped.
        engines: Rows of the device side that have slices, in their order.
        busy_ns, span_ns: Union of all work of all devices, and from its least start to its greatest end.
        clocks: Every clock that was placed.
        launches_matched, launches_unmatched: Launches by rule, and by reason.
        slices_attributed, slices_unattributed: Slices of work that are on an op, and that are not.
        attributed_ns, unattributed_ns: Their durations, summed.
        out_of_window: Device slices that start outside the time that the host trace covers.
        is_serialised: Whether recording waited for the device after each run; None = not known.
        findings: The worst first, else in the order found.
        overheads: What the program did not ask for, by kind.
        explained: The same as the runtime itself counted it, where its dump was given beside a profile.
    """

    verdict: str
    sources: tuple[str, ...]
    records: tuple[RecordCount, ...]
    engines: tuple[EngineActivity, ...]
    busy_ns: int
    span_ns: int
    clocks: tuple[ClockQuality, ...]
    launches_matched: dict[str, int]
    launches_unmatched: dict[str, int]
    slices_attributed: int
    slices_unattributed: int
    attributed_ns: int
    unattributed_ns: int
    out_of_window: int
    is_serialised: bool | None
    findings: tuple[Finding, ...]
    overheads: tuple[OverheadTotal, ...] = ()
    explained: tuple[OverheadTotal, ...] = ()


@dataclass(frozen=True)
class ExplainedOverheads:
    """What a runtime itself counted. No profile was looked at, so there is nothing to judge.

    Attributes:
        source: The dump that was read.
        explained: Overheads by kind.
        findings: What was odd.
    """

    source: str
    explained: tuple[OverheadTotal, ...]
    findings: tuple[Finding, ...] = ()
