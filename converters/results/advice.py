"""What the host spent its time on that nobody wrote, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rblnpb.errors import Finding

from ..host_trace import Id

__all__ = ["HOST_CLASSES", "Advice", "AdviceReport", "HostShare", "HostSplit"]

HOST_CLASSES: Final[Mapping[str, str]] = {
    "dispatch": "operators themselves: what is none of the following",
    "checks": "scans of inputs for NaN and infinity ahead of an operator, with the copies made for them",
    "fallback": "operators that ran on the CPU instead of the device, as the runtime recorded",
    "compile": "compilation of programs",
    "submit": "handing launches to the runtime",
    "upload": "copies from the host to the device",
    "download": "copies from the device to the host",
    "copy": "copies across devices whose direction is not known",
    "wait": "waiting for the device",
    "annotation": "in named ranges and Python frames, outside of operators",
    "other": "calls of the runtime and of the profiler that are none of these",
}
"""What a moment of a thread is spent on; each moment is in one."""


@dataclass(frozen=True)
class HostShare:
    """Time of one thread.

    Attributes:
        pid, tid: As the host trace names it.
        name: Empty = not known.
        total_ns: Self time of everything that the thread had open.
        by_class: The same by class, every one of `HOST_CLASSES`.
    """

    pid: Id
    tid: Id
    name: str
    total_ns: int
    by_class: Mapping[str, int]


@dataclass(frozen=True)
class HostSplit:
    """The host's time in operators, ranges and calls, split without a rest.

    Attributes:
        window_ns: Time that the host trace covers.
        total_ns: Self time of everything that was open, on all threads.
        by_class: The same by class, every one of `HOST_CLASSES`.
        threads: The same by thread, the busiest first.
    """

    window_ns: int
    total_ns: int
    by_class: Mapping[str, int]
    threads: tuple[HostShare, ...]


@dataclass(frozen=True)
class Advice:
    """One thing that costs time, and what to do about it.

    Attributes:
        code: Stable, lower case, hyphenated.
        title: What it is, in a few words.
        side: Whose time it costs: "host" or "device".
        cost_ns: How much; None = not known.
        count: How often.
        place: Where: a line of the program, an operator, a stage or an engine; empty = everywhere, or not known.
        evidence: The numbers behind it, one sentence.
        advice: What to do, one line.
    """

    code: str
    title: str
    side: str
    cost_ns: int | None
    count: int
    place: str
    evidence: str
    advice: str


@dataclass(frozen=True)
class AdviceReport:
    """Advice on a timeline.

    Attributes:
        sources: What was read.
        window_ns: Time that costs are compared with: what the host trace covers, else what was recorded.
        threshold_ns: Costs below this are not worth advice.
        advice: The dearest first; those whose cost is not known are last.
        below_threshold: What was found as well, and is not worth advice, the dearest first.
        host_split: The host's time; None without a host trace.
        findings: What the numbers suffer from.
    """

    sources: tuple[str, ...]
    window_ns: int
    threshold_ns: int
    advice: tuple[Advice, ...]
    below_threshold: tuple[Advice, ...]
    host_split: HostSplit | None
    findings: tuple[Finding, ...]
