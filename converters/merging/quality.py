"""How well a join went, as findings: what matched nothing, what lies outside, what the times contradict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from ..timeline import JOIN_RULES, MATCH_RULES, MATCHED_RULES, Int64, Timeline

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
    seen = _look_through(timeline, window)
    findings = [
        *_unmatched(timeline, seen, is_one_file=is_one_file),
        *_outside(timeline, seen, is_one_file=is_one_file),
        *_early(seen),
        *_unlaunched(seen),
    ]
    # Where something serious is told already it is the reason, and this its result.
    if all(finding.severity < Severity.WARNING for finding in findings):
        findings += _mostly_unattributed(seen)
    return findings


_STEP_ROWS: Final = 1 << 17
"""Slices looked through at a time, so that no column of all of them is made."""


@dataclass
class _Seen:
    """What the slices of a timeline are like, counted.

    Attributes:
        lost_by: int64[MATCH_RULES]; slices of work whose launch is on no op, by the launch's reason.
        unlaunched: int64[JOIN_RULES]; slices of work that no launch and no op is known of, by rule.
        outside: Slices outside the time that the host trace covers.
        gap_ns: Least distance of any slice from that time; below zero where one lies in it.
        early, worst_ns: Slices that start before their launch, and by how much at most.
        work, work_ns: Slices of work, and their time.
        lost_ns, lost: Those of them that are on no op.
    """

    lost_by: Int64
    unlaunched: Int64
    outside: int = 0
    gap_ns: int = np.iinfo(np.int64).max
    early: int = 0
    worst_ns: int = 0
    work: int = 0
    work_ns: int = 0
    lost_ns: int = 0
    lost: int = 0


def _look_through(timeline: Timeline, window: tuple[int, int] | None) -> _Seen:
    slices, launches = timeline.slices, timeline.launches
    seen = _Seen(np.zeros(len(MATCH_RULES), np.int64), np.zeros(len(JOIN_RULES), np.int64))
    works = timeline.working_tracks()
    launched_ns, reasons = np.append(launches.start_ns, 0), np.append(launches.reason, 0)
    for first in range(0, len(slices), _STEP_ROWS):
        rows = slice(first, first + _STEP_ROWS)
        launch, start_ns, duration_ns = slices.launch[rows], slices.start_ns[rows], slices.duration_ns[rows]
        is_work, has_launch = works[slices.track[rows]], launch >= 0
        is_lost = is_work & (slices.host_rows(rows) < 0)
        seen.lost_by += np.bincount(reasons[launch[is_lost & has_launch]], minlength=len(MATCH_RULES))
        seen.unlaunched += np.bincount(slices.rule[rows][is_lost & ~has_launch], minlength=len(JOIN_RULES))
        if window is not None:
            gap_ns = np.maximum(window[0] - start_ns, start_ns - window[1])
            seen.outside += int(((start_ns < window[0]) | (start_ns >= window[1])).sum())
            seen.gap_ns = min(seen.gap_ns, int(gap_ns.min()))
        early_ns = (launched_ns[launch] - start_ns)[has_launch]
        seen.early += int((early_ns > 0).sum())
        seen.worst_ns = max(seen.worst_ns, int(early_ns.max(initial=0)))
        seen.work += int(is_work.sum())
        seen.work_ns += int(duration_ns[is_work].sum())
        seen.lost_ns += int(duration_ns[is_lost].sum())
        seen.lost += int((duration_ns[is_lost] > 0).sum())
    return seen


def _unmatched(timeline: Timeline, seen: _Seen, *, is_one_file: bool) -> list[Finding]:
    counts = np.bincount(timeline.launches.reason, minlength=len(MATCH_RULES)).tolist()
    lost_counts = seen.lost_by.tolist()
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


def _outside(timeline: Timeline, seen: _Seen, *, is_one_file: bool) -> list[Finding]:
    outside, total = seen.outside, len(timeline.slices)
    if outside and outside == total and not is_one_file:
        message = f"device and host do not overlap in time: at least {seen.gap_ns:,} ns lie between them; the join is suspect"
        return [Finding(Severity.ERROR, "disjoint-spans", message, outside)]
    if outside:
        message = f"{outside:,} of {counted(total, 'device slice')} outside the time that the host trace covers"
        return [Finding(Severity.INFO, "out-of-window", message, outside)]
    return []


def _early(seen: _Seen) -> list[Finding]:
    """Device work before its own launch: a sign of clocks that do not fit."""
    if not seen.early:
        return []
    starting = counted(seen.early, "device slice starts", "device slices start")
    message = f"{starting} before being launched, by up to {seen.worst_ns:,} ns: the clocks are off by at least that"
    return [Finding(Severity.WARNING, "device-before-launch", message, seen.early)]


def _unlaunched(seen: _Seen) -> list[Finding]:
    """Work that nothing links to an op, by reason. That of a launch which matched no op has its reason from the launch."""
    counts = seen.unlaunched.tolist()
    findings = []
    for reason, why in _LOST.items():
        if count := counts[JOIN_RULES.index(reason)]:
            message = f"{count:,} of {counted(seen.work, 'slice')} of work {why}: no op has that time"
            findings.append(Finding(Severity.WARNING, "unattributed-slices", message, count, reason))
    return findings


def _mostly_unattributed(seen: _Seen) -> list[Finding]:
    """Most of the device time on no op, whatever the reasons: a summary by op is then no answer."""
    if 2 * seen.lost_ns <= seen.work_ns:
        return []
    message = f"{seen.lost_ns:,} of {seen.work_ns:,} ns of device work are on no op: a summary by op tells little of this device"
    return [Finding(Severity.WARNING, "mostly-unattributed", message, seen.lost)]
