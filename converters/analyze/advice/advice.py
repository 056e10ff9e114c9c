"""What costs time and need not: every rule asked, the dearest answer first.

Worth advice is what costs at least a thousandth of the window, and 10 µs; the rest is told apart. What has no known cost is always
told, after what has. The rules stand in `advice_host.py` (host trace), `advice_runtime.py` (records of the runtime) and
`advice_device.py` (records of the device), each with what it takes to apply.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity

from ...dialect import host_window
from ...results import Advice, AdviceReport
from ...timeline import Timeline
from ..host.host_classes import HostClasses, host_classes
from ..host.host_split import host_split
from ..launches.launch_work import launch_work
from .advice_device import lost_records, starved_device, uneven_slices
from .advice_host import host_habits
from .advice_runtime import hidden_work, runtime_calls

__all__ = ["advice_findings", "advise"]

_LEAST_NS: Final = 10_000
_THOUSAND: Final = 1_000
_TOLD_BY_STATUS: Final = frozenset({"serialised-by-profiling", "lost-records"})
"""What the profile status says in its own words."""


def advise(timeline: Timeline) -> AdviceReport:
    """Everything that costs time in a timeline and need not."""
    host = timeline.host
    classes = None if host is None else host_classes(timeline, host)
    window_ns = _window_ns(timeline)
    threshold_ns = max(_LEAST_NS, window_ns // _THOUSAND)
    found = _found(timeline, classes)
    is_worth = [one.cost_ns is None or one.cost_ns >= threshold_ns for one in found]
    return AdviceReport(
        sources=timeline.sources,
        window_ns=window_ns,
        threshold_ns=threshold_ns,
        advice=tuple(one for one, worth in zip(found, is_worth, strict=True) if worth),
        below_threshold=tuple(one for one, worth in zip(found, is_worth, strict=True) if not worth),
        host_split=None if host is None or classes is None else host_split(host, classes),
        findings=tuple(_doubts(timeline)),
    )


def _found(timeline: Timeline, classes: HostClasses | None) -> list[Advice]:
    """What every rule says, the dearest first; equal costs keep the order of the rules."""
    found = [
        *hidden_work(timeline),
        *runtime_calls(timeline),
        *starved_device(timeline, launch_work(timeline), None if classes is None else classes.stack),
        *uneven_slices(timeline),
        *lost_records(timeline),
        *([] if classes is None else host_habits(classes)),
    ]
    return sorted(found, key=lambda one: (one.cost_ns is None, -(one.cost_ns or 0)))


def advice_findings(timeline: Timeline) -> tuple[Finding, ...]:
    """Advice as findings of a profile status, which take nothing from its numbers; the split of the host's time is not made."""
    threshold_ns = max(_LEAST_NS, _window_ns(timeline) // _THOUSAND)
    classes = None if timeline.host is None else host_classes(timeline, timeline.host)
    return tuple(
        Finding(Severity.INFO, one.code, f"{one.title}{_cost(one)} ({one.evidence}): {one.advice}", max(one.count, 1), one.place)
        for one in _found(timeline, classes)
        if one.code not in _TOLD_BY_STATUS and (one.cost_ns is None or one.cost_ns >= threshold_ns)
    )


def _cost(advice: Advice) -> str:
    return "" if advice.cost_ns is None else f", {advice.cost_ns:,} ns"


def _window_ns(timeline: Timeline) -> int:
    """Time that the host trace covers; without one, from the first record to the last."""
    window = None if timeline.host is None else host_window(timeline.host)
    if window is not None:
        return window[1] - window[0]
    starts = [timeline.launches.start_ns, timeline.slices.start_ns, timeline.runtime.start_ns]
    ends = [
        timeline.launches.start_ns,
        timeline.slices.start_ns + timeline.slices.duration_ns,
        timeline.runtime.start_ns + timeline.runtime.duration_ns,
    ]
    if not sum(map(len, starts)):
        return 0
    return int(np.concatenate(ends).max()) - int(np.concatenate(starts).min())


def _doubts(timeline: Timeline) -> Iterator[Finding]:
    """What advice could not be given on, for want of an input."""
    if timeline.host is None:
        message = "there is no host trace: scans of inputs, and the host's own time, are not looked at"
        yield Finding(Severity.INFO, "no-host-trace", message)
