"""Submission latency and queue length: from the launch by the host to the work of the device."""

from __future__ import annotations

from dataclasses import dataclass

from rblnpb.errors import Finding

from ..timeline import Int64

__all__ = ["Distribution", "Latency", "LatencyFigures", "LatencyGroup", "QueueUse"]


@dataclass(frozen=True)
class Distribution:
    """Lengths of time, exact; each percentile is one that occurred (nearest rank). Without any there is no value: None.

    Attributes:
        count: How many.
        sum_ns: Their sum.
        mean_ns: The sum by the count, rounded to the nearest, halves up.
        min_ns, p50_ns, p90_ns, p99_ns, max_ns: As named.
    """

    count: int
    sum_ns: int
    mean_ns: int | None
    min_ns: int | None
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    max_ns: int | None


@dataclass(frozen=True)
class LatencyFigures:
    """The latency of some launches. A device that starts before its launch counts as latency 0.

    Attributes:
        latency: From the launch to the start of its first work.
        least_ns: The smallest difference as it stands in the records, below 0 where a device starts before its launch; None
            without launches.
        n_negative: Differences below 0.
        waited_count: Launches that were submitted while the device had work of earlier ones before it.
        waiting_ns: Sum of the parts of the latency until that work was over.
        submission_ns: Sum of the rest.
    """

    latency: Distribution
    least_ns: int | None
    n_negative: int
    waited_count: int
    waiting_ns: int
    submission_ns: int


@dataclass(frozen=True)
class LatencyGroup:
    """The latency of the launches of one program, or of one thread.

    Attributes:
        name: The program, or the call that launched; of a thread its name; empty = not known.
        compile_id: Compiled graph of the program; empty = none, or not known.
        pid, tid: Native ids of the thread; None for a program.
        figures: Of its launches.
    """

    name: str
    compile_id: str
    pid: int | None
    tid: int | None
    figures: LatencyFigures


@dataclass(frozen=True, eq=False)
class QueueUse:
    """How many launches were under way at a time: submitted, and their last work not ended.

    Attributes:
        device: Whose; empty = all devices together.
        launch_count: Launches that moved the counter: those with work.
        max_length: The longest it was.
        mean_length: Weighted by time, from the first launch to the last end; 0 where no time passed.
        span_ns: That time.
        length_time_ns: Sum of length times time, exact: the mean is this by the span.
        time_at_length_ns: Time at each length, from 0 to the longest; its sum is the span.
        time_ns, length: int64[k]; the length from each moment on, trace clock, ascending; the last is 0.
    """

    device: str
    launch_count: int
    max_length: int
    mean_length: float
    span_ns: int
    length_time_ns: int
    time_at_length_ns: tuple[int, ...]
    time_ns: Int64
    length: Int64


@dataclass(frozen=True)
class Latency:
    """Submission latency and queue length of a timeline.

    Attributes:
        sources: What was read.
        launch_count: Launches.
        launches_without_work: Launches of which no work is known; in no figure.
        slices_without_launch: Slices of work whose launch is not known; in no figure.
        uncertainty_ns: By how much each latency may be off, as far as the clocks tell; None = not known.
        total: Of all launches.
        waiting, submission: The two parts of each latency: until the work of earlier launches was over, and the rest.
        programs, threads: By program and by thread, those that launched most often first.
        queue: Of all devices together.
        queues: Of each device, in the order of the tracks.
        is_serialised: Whether recording waited for the device after each run; None = not known.
        findings: What these figures suffer from.
    """

    sources: tuple[str, ...]
    launch_count: int
    launches_without_work: int
    slices_without_launch: int
    uncertainty_ns: int | None
    total: LatencyFigures
    waiting: Distribution
    submission: Distribution
    programs: tuple[LatencyGroup, ...]
    threads: tuple[LatencyGroup, ...]
    queue: QueueUse
    queues: tuple[QueueUse, ...]
    is_serialised: bool | None
    findings: tuple[Finding, ...]
