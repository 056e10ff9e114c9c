"""Steps of a run on the host, and which step submitted each slice of work.

What a step is, is told by the first of these that the host trace has: the ranges that vLLM names after the requests of a turn
(`execute_new_2_cached_5`; newer ones `execute_context_2(64)_generation_5(5)`), the windows of torch's profiler
(`ProfilerStep#3`), compiled regions, and ranges that somebody named. Of ranges within each other the outermost counts. Without
any, the whole window is one step.

The numbers in vLLM's names are of requests: new ones start with their prompt, which is prefill; cached ones run already, which is
decode, or the rest of a prompt that was cut into chunks, which the older name does not tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.row_order import order_by

from ...dialect import OPS, slice_rows
from ...timeline import HostTrace, Int32, Int64, Timeline
from ..grouping import exact_sums
from ..host.host_threads import host_threads
from .slice_groups import UNKNOWN, SliceGroups, work_rows

__all__ = ["NO_STEP", "WHOLE_WINDOW", "StepGroups", "Steps", "find_steps", "phase", "step_groups", "step_phases"]

NO_STEP: Final = "(no step)"
WHOLE_WINDOW: Final = "(whole window)"

_SERVING: Final = re.compile(
    r"execute_new_([0-9]+)_cached_([0-9]+)|execute_(?:[0-9]+_)?context_([0-9]+)(?:\(.*?\))?_generation_([0-9]+).*"
)
_SORTS: Final = {
    "serving": _SERVING,
    "profiler-step": re.compile(r"ProfilerStep#[0-9]+"),
    "compiled-region": re.compile(r"(?:Torch-Compiled Region|Dispatched Region)(?:: .*)?"),
}
_ANNOTATION: Final = "user_annotation"


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps in order of their start; columns of length k. On one thread none contains another.

    Attributes:
        sort: "serving", "profiler-step", "compiled-region" or "annotation".
        name: What each is called.
        start_ns, end_ns: int64[k]; trace clock; the end is not in it.
        track: int32[k]; row of `HostTrace.tracks`: its thread.
    """

    sort: str
    name: tuple[str, ...]
    start_ns: Int64
    end_ns: Int64
    track: Int32

    def __len__(self) -> int:
        return len(self.name)


def phase(name: str) -> str:
    """What a step of a server does: "prefill", "decode" or "mixed"; empty where its name does not tell.

    >>> phase("execute_new_2_cached_0"), phase("execute_new_0_cached_8"), phase("execute_context_1(64)_generation_8(8)")
    ('prefill', 'decode', 'mixed')
    >>> phase("ProfilerStep#4")
    ''
    """
    found = _SERVING.fullmatch(name)
    if found is None:
        return ""
    prompts, running = (int(number) > 0 for number in found.groups() if number is not None)
    return "mixed" if prompts and running else "prefill" if prompts else "decode" if running else ""


def find_steps(host: HostTrace) -> Steps | None:
    """The steps of a host trace; None where it has no range that could be one."""
    rows = slice_rows(host, _ANNOTATION, *OPS)
    names = {name: host.strings[name] for name in np.unique(host.events.name[rows]).tolist()}
    for sort, grammar in _SORTS.items():
        of_sort = [name for name, text in names.items() if grammar.fullmatch(text)]
        if of_sort:
            return _outermost(host, sort, rows[np.isin(host.events.name[rows], of_sort)])
    annotations = slice_rows(host, _ANNOTATION)
    return _outermost(host, "annotation", annotations) if len(annotations) else None


def _outermost(host: HostTrace, sort: str, rows: Int64) -> Steps:
    """Steps of these events, without those that lie in another one of their thread."""
    events = host.events
    rows = rows[order_by(events.track[rows], events.start_ns[rows], -events.duration_ns[rows])]
    end_ns = events.start_ns[rows] + events.duration_ns[rows]
    kept = []
    for own in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(events.track[rows])) + 1):
        reach_ns = np.maximum.accumulate(end_ns[own])
        kept.append(own[np.append(True, end_ns[own][1:] > reach_ns[:-1])])
    chosen = np.concatenate(kept)
    chosen = chosen[order_by(events.start_ns[rows[chosen]])]
    rows, end_ns = rows[chosen], end_ns[chosen]
    names = tuple(host.strings[name] for name in events.name[rows].tolist())
    return Steps(sort, names, events.start_ns[rows], end_ns, events.track[rows])


@dataclass(frozen=True, eq=False)
class StepGroups:
    """Slices by the step that submitted them.

    Attributes:
        groups: One group a step, in order of time, then, where there are any, slices that no step submitted, and slices of which
            nothing tells when they were submitted. Keys are the name and the phase.
        start_ns, duration_ns: int64[k]; of the step on the host; ABSENT for groups that are no step.
        is_step: Which groups are steps.
        launch_count: int64[k]; launches that it submitted; ABSENT likewise.
        carried_over_ns: int64[k], or Python integers where 64 bits do not hold one; sums of the parts of its slices that ran after
            the end of the step.
    """

    groups: SliceGroups
    start_ns: Int64
    duration_ns: Int64
    is_step: tuple[bool, ...]
    launch_count: Int64
    carried_over_ns: Int64


def step_groups(timeline: Timeline) -> StepGroups:
    """Slices by the step in which their launch was submitted.

    A launch belongs to the step that contains it on its own thread; on a thread without one, to the only step that is open on any
    thread then, as for the backward pass, which runs on a thread of its own.
    """
    rows = work_rows(timeline)
    steps = None if timeline.host is None else find_steps(timeline.host)
    if timeline.host is None or steps is None:
        return _whole_window(timeline, rows)
    launch_step = _containing(steps, timeline.launches.start_ns, host_threads(timeline).launch)
    step = _slice_steps(timeline, timeline.host, rows, steps, launch_step)
    count = len(steps)
    others = [code for code in (count, count + 1) if (step == code).any()]
    place = np.append(np.arange(count), np.array([count, count + len(others) - 1]))
    names = (*steps.name, *({count: NO_STEP, count + 1: UNKNOWN}[code] for code in others))
    end_ns = np.append(steps.end_ns, [np.iinfo(np.int64).max] * 2)[step]
    slices = timeline.slices
    start_ns, until_ns = slices.start_ns[rows], slices.start_ns[rows] + slices.duration_ns[rows]
    nothing = np.full(len(others), ABSENT, np.int64)
    group = place[step]
    return StepGroups(
        groups=SliceGroups(rows, group, {"name": names, "phase": tuple(phase(name) for name in names)}),
        start_ns=np.append(steps.start_ns, nothing),
        duration_ns=np.append(steps.end_ns - steps.start_ns, nothing),
        is_step=(*[True] * count, *[False] * len(others)),
        launch_count=np.append(np.bincount(launch_step, minlength=count + 1)[:count], nothing),
        carried_over_ns=exact_sums(group, np.maximum(until_ns - np.maximum(start_ns, end_ns), 0), len(names)),
    )


def _whole_window(timeline: Timeline, rows: Int64) -> StepGroups:
    slices = timeline.slices
    start_ns, end_ns = slices.start_ns[rows], slices.start_ns[rows] + slices.duration_ns[rows]
    names = (WHOLE_WINDOW,) if len(rows) else ()
    return StepGroups(
        groups=SliceGroups(rows, np.zeros(len(rows), np.int64), {"name": names, "phase": ("",) * len(names)}),
        start_ns=start_ns.min(keepdims=True) if len(rows) else start_ns,
        duration_ns=end_ns.max(keepdims=True) - start_ns.min(keepdims=True) if len(rows) else start_ns,
        is_step=(True,) * len(names),
        launch_count=np.full(len(names), len(timeline.launches), np.int64),
        carried_over_ns=np.zeros(len(names), np.int64),
    )


def _slice_steps(timeline: Timeline, host: HostTrace, rows: Int64, steps: Steps, launch_step: Int64) -> Int64:
    """The step of each slice of work: k = its launch is in none, k + 1 = nothing tells when it was submitted."""
    launch, op = timeline.slices.launch[rows], timeline.slices.host_row[rows]
    step = np.append(launch_step, len(steps) + 1)[launch]
    # Without a launch there may be an op all the same, as the trace itself says.
    by_op = np.flatnonzero((launch < 0) & (op >= 0))
    if len(by_op):
        owner = op[by_op]
        step[by_op] = _containing(steps, host.events.start_ns[owner], host.events.track[owner].astype(np.int64))
    return step


def _containing(steps: Steps, time_ns: Int64, track: Int64) -> Int64:
    """The step of each moment: int64[n], k = none; on its own thread, else the only one that is open on any."""
    count = len(steps)
    found = np.full(len(time_ns), -1, np.int64)
    for one in np.unique(steps.track).tolist():
        own, here = np.flatnonzero(steps.track == one), np.flatnonzero(track == one)
        place = np.searchsorted(steps.start_ns[own], time_ns[here], side="right") - 1
        step = own[np.maximum(place, 0)]
        found[here] = np.where((place >= 0) & (time_ns[here] < steps.end_ns[step]), step, -1)
    left = np.flatnonzero(found < 0)
    by_end = order_by(steps.end_ns)
    begun = np.searchsorted(steps.start_ns, time_ns[left], side="right")
    ended = np.searchsorted(steps.end_ns[by_end], time_ns[left], side="right")
    # Numbers of the steps that have begun less those that have ended: where one is open, its own.
    sums = [np.append(0, np.cumsum(order)) for order in (np.arange(count), by_end)]
    found[left] = np.where(begun - ended == 1, sums[0][begun] - sums[1][ended], count)
    return found


def step_phases(steps: StepGroups) -> Iterator[tuple[str, Int64]]:
    """The phases that steps have, and the groups of each."""
    phases = steps.groups.keys["phase"]
    for name in ("prefill", "mixed", "decode"):
        own = np.array([at for at, one in enumerate(phases) if one == name and steps.is_step[at]], np.int64)
        if len(own):
            yield name, own
