"""How well a join went, as findings: what matched nothing, what lies outside, what the times contradict."""

from __future__ import annotations

from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from ..timeline import JOIN_RULES, MATCH_RULES, MATCHED_RULES, Timeline

__all__ = ["join_findings"]

_WORDS: Final = {
    "no-host-trace": (Severity.INFO, "nothing of the host was recorded to match them with"),
    "thread-not-in-trace": (Severity.WARNING, "their thread is not in the host trace"),
    "outside-window": (Severity.INFO, "they lie outside the time that the host trace covers"),
    "annotation-only": (Severity.INFO, "they lie in a user annotation only, and an annotation owns no launch"),
    "between-ops": (Severity.INFO, "no op was running on their thread at that time"),
}


_LOST: Final = {
    "no-host-trace": "stand in a trace that shows nothing of the host",
    "no-link": "name no launch",
    "launch-not-recorded": "were launched before the recording began, or their launch was lost",
}


def join_findings(timeline: Timeline, window: tuple[int, int] | None, *, is_one_file: bool = False) -> list[Finding]:
    """What joining a device side with a host trace found.

    Args:
        timeline: With its host.
        window: First and last time that the host trace covers, trace clock; None when it covers nothing.
        is_one_file: Whether host and device come from one file, so that they cannot be of different runs.
    """
    findings = [
        *_unmatched(timeline, is_one_file=is_one_file),
        *_outside(timeline, window, is_one_file=is_one_file),
        *_early(timeline),
        *_unlaunched(timeline),
    ]
    # Where something serious is told already it is the reason, and this its result.
    if all(finding.severity < Severity.WARNING for finding in findings):
        findings += _mostly_unattributed(timeline)
    return findings


def _unmatched(timeline: Timeline, *, is_one_file: bool) -> list[Finding]:
    counts = np.bincount(timeline.launches.reason, minlength=len(MATCH_RULES)).tolist()
    slices = timeline.slices
    lost_by = slices.launch[timeline.is_work() & (slices.launch >= 0) & (slices.host_row < 0)]
    lost_counts = np.bincount(timeline.launches.reason[lost_by], minlength=len(MATCH_RULES)).tolist()
    findings = []
    for rule, count, lost in zip(MATCH_RULES[MATCHED_RULES:], counts[MATCHED_RULES:], lost_counts[MATCHED_RULES:], strict=True):
        if count:
            severity, why = _WORDS[rule]
            work = f", with {counted(lost, 'slice')} of work" if lost else ""
            message = f"{counted(count, 'launch is', 'launches are')} on no op{work}: {why}"
            findings.append(Finding(severity, f"unmatched-{rule}", message, count))
    total = len(timeline.launches)
    if total and not sum(counts[:MATCHED_RULES]):
        doubt = "" if is_one_file else ": are the two files of one run?"
        message = f"none of {counted(total, 'launch', 'launches')} lies in an op of the host trace{doubt}"
        findings.append(Finding(Severity.WARNING if is_one_file else Severity.ERROR, "nothing-matched", message, total))
    return findings


def _outside(timeline: Timeline, window: tuple[int, int] | None, *, is_one_file: bool) -> list[Finding]:
    slices = timeline.slices
    if window is None or not len(slices):
        return []
    outside = int(((slices.start_ns < window[0]) | (slices.start_ns >= window[1])).sum())
    if outside == len(slices) and not is_one_file:
        gap_ns = int(np.maximum(window[0] - slices.start_ns, slices.start_ns - window[1]).min())
        message = f"device and host do not overlap in time: at least {gap_ns:,} ns lie between them; the join is suspect"
        return [Finding(Severity.ERROR, "disjoint-spans", message, outside)]
    if outside:
        message = f"{outside:,} of {counted(len(slices), 'device slice')} outside the time that the host trace covers"
        return [Finding(Severity.INFO, "out-of-window", message, outside)]
    return []


def _early(timeline: Timeline) -> list[Finding]:
    """Device work before its own launch: a sign of clocks that do not fit."""
    slices = timeline.slices
    known = np.flatnonzero(slices.launch >= 0)
    latency_ns = slices.start_ns[known] - timeline.launches.start_ns[slices.launch[known]]
    early = int((latency_ns < 0).sum())
    if not early:
        return []
    worst = int(-latency_ns.min())
    starting = counted(early, "device slice starts", "device slices start")
    message = f"{starting} before being launched, by up to {worst:,} ns: the clocks are off by at least that"
    return [Finding(Severity.WARNING, "device-before-launch", message, early)]


def _unlaunched(timeline: Timeline) -> list[Finding]:
    """Work that nothing links to an op, by reason. That of a launch which matched no op has its reason from the launch."""
    slices, is_work = timeline.slices, timeline.is_work()
    counts = np.bincount(slices.rule[is_work & (slices.launch < 0) & (slices.host_row < 0)], minlength=len(JOIN_RULES)).tolist()
    findings = []
    for reason, why in _LOST.items():
        if count := counts[JOIN_RULES.index(reason)]:
            message = f"{count:,} of {counted(int(is_work.sum()), 'slice')} of work {why}: no op has that time"
            findings.append(Finding(Severity.WARNING, "unattributed-slices", message, count, reason))
    return findings


def _mostly_unattributed(timeline: Timeline) -> list[Finding]:
    """Most of the device time on no op, whatever the reasons: a summary by op is then no answer."""
    slices = timeline.slices
    work_ns = np.where(timeline.is_work(), slices.duration_ns, 0)
    total_ns, lost_ns = int(work_ns.sum()), int(work_ns[slices.host_row < 0].sum())
    if 2 * lost_ns <= total_ns:
        return []
    message = f"{lost_ns:,} of {total_ns:,} ns of device work are on no op: a summary by op tells little of this device"
    return [Finding(Severity.WARNING, "mostly-unattributed", message, int((slices.host_row[work_ns > 0] < 0).sum()))]
