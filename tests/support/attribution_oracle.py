"""Device time by frame, told slowly: one call, one object, every stack a list of frames, every union a set of moments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rblnpb.converters.timeline import JOIN_RULES, HostTrace, Timeline, Track
from tests.support.timelines import host_trace, launches, slices, timeline

PID = 1
KINDS = ("python", "module", "annotation", "op")
CATEGORIES = {"python": "python_function", "module": "python_function", "annotation": "user_annotation", "op": "cpu_op"}
KEPT = {"op": ("op",), "module": ("module",), "python": ("python",), "all": KINDS}
NOWHERE = {"op": "(no op)", "module": "(no module)", "python": "(no Python frame)", "all": "(no frame)"}
BACKWARD = re.compile(r"autograd::engine::evaluate_function: .*|\w*Backward\d*")
COLUMNS = (
    *("calls", "launches_self", "launches_total", "slices_self", "slices_total"),
    *("device_self_sum_ns", "device_self_union_ns", "device_total_sum_ns", "device_total_union_ns", "device_total_by_forward_ns"),
    *("host_self_ns", "host_total_ns"),
)

Frame = tuple[str, str]
"""Name and kind."""


@dataclass(frozen=True)
class Call:
    """Something open on a thread; times in microseconds."""

    kind: str
    name: str
    start: int
    end: int
    tid: int = 1
    sequence: int = -1


@dataclass(frozen=True)
class Arrow:
    """One end of a flow from the forward to the backward pass; time in microseconds."""

    phase: str
    number: int
    at: int
    tid: int = 1


@dataclass(frozen=True)
class Work:
    """A slice of a device, in nanoseconds; the number of the op that it is on, and the rule that says so, or why it is on none."""

    start: int
    duration: int
    call: int | None = None
    rule: int = 0
    is_work: bool = True
    stage: str = ""
    launch: int = -1


@dataclass(frozen=True)
class Launch:
    """A submission by the host: the number of the op that it was matched with; its time in microseconds, and its thread."""

    call: int | None = None
    at: int = 0
    tid: int = 1


def trace(calls: Sequence[Call], arrows: Sequence[Arrow] = ()) -> HostTrace:
    """The host trace of these; row n is call n."""
    events: list[dict[str, Any]] = [
        {
            "ph": "X",
            "cat": CATEGORIES[call.kind],
            "name": call.name,
            "pid": PID,
            "tid": call.tid,
            "ts": call.start,
            "dur": call.end - call.start,
            "args": {"Sequence number": call.sequence},
        }
        for call in calls
    ]
    for arrow in arrows:
        end = {
            "ph": arrow.phase,
            "cat": "fwdbwd",
            "name": "fwdbwd",
            "id": arrow.number,
            "pid": PID,
            "tid": arrow.tid,
            "ts": arrow.at,
        }
        events.append(end)
    return host_trace(*events)


def merged(host: HostTrace | None, works: Sequence[Work], launching: Sequence[Launch] = ()) -> Timeline:
    """The timeline of a trace, of work and of launches."""
    submitted = [
        {"host_row": -1 if launch.call is None else launch.call, "start": launch.at * 1000, "tid": launch.tid, "pid": PID}
        for launch in launching
    ]
    rows = [
        {
            "start": work.start,
            "duration": work.duration,
            "host_row": -1 if work.call is None else work.call,
            "rule": work.rule,
            "track": int(not work.is_work),
            "stage": work.stage,
            "launch": work.launch,
        }
        for work in works
    ]
    tracks = (
        Track("rbln:0", "NEC", "neural_engine_clusters", is_work=True, order=0),
        Track("rbln:0", "Sync", "device_sync", is_work=False, order=1),
    )
    return timeline(host, slices=slices(*rows), tracks=tracks, launches=launches(*submitted))


class Tree:
    """Calls as torch nests them, with what is linked to the forward pass."""

    def __init__(self, calls: Sequence[Call], arrows: Sequence[Arrow], by: str) -> None:
        self.by = by
        numbered = list(enumerate(calls))
        self.calls = {number: call for number, call in numbered if call.kind != "annotation"}
        self._nest()
        self.left_out = 0
        if by == "all":
            between = {number: self._between(call) for number, call in numbered if call.kind == "annotation"}
            kept = {number: call for number, call in between.items() if call.start < call.end}
            self.left_out = len(between) - len(kept)
            self.calls |= kept
            self._nest()
        self.links = self._links(arrows)

    def _nest(self) -> None:
        def order(number: int) -> tuple[int, int, int, int]:
            call = self.calls[number]
            return call.start, -call.end, KINDS.index(call.kind.replace("module", "python")), number

        self.order = sorted(self.calls, key=order)
        self.parent: dict[int, int | None] = {}
        stacks: dict[int, list[int]] = {}
        for number in self.order:
            call = self.calls[number]
            stack = stacks.setdefault(call.tid, [])
            while stack and (call.start >= self.calls[stack[-1]].end or call.end > self.calls[stack[-1]].end):
                stack.pop()
            self.parent[number] = stack[-1] if stack else None
            stack.append(number)

    def chain(self, number: int | None) -> list[int]:
        """A call and those around it, the outermost first."""
        found = []
        while number is not None:
            found.append(number)
            number = self.parent[number]
        return found[::-1]

    def _around(self, tid: int, start: float, end: float) -> list[int]:
        """The innermost call that contains a stretch, and those around it, the innermost first."""
        holding = [n for n in self.order if self.calls[n].tid == tid and self.calls[n].start <= start and self.calls[n].end >= end]
        return self.chain(holding[-1])[::-1] if holding else []

    def _between(self, call: Call) -> Call:
        # Times of the host are whole microseconds here, and what only touches does not cross.
        start, end = call.start, call.end
        for number in self._around(call.tid, call.start - 0.5, call.start + 0.5):
            if self.calls[number].end >= call.end:
                break
            start = self.calls[number].end
        for number in self._around(call.tid, call.end - 0.5, call.end + 0.5):
            if self.calls[number].start <= call.start:
                break
            end = self.calls[number].start
        return Call(call.kind, call.name, start, end, call.tid)

    def _links(self, arrows: Sequence[Arrow]) -> dict[int, int]:
        by_flow: dict[int, int] = {}
        for head in (arrow for arrow in arrows if arrow.phase == "f"):
            tails = [tail for tail in arrows if tail.phase == "s" and tail.number == head.number and tail.at <= head.at]
            if not tails:
                continue
            last = max(tails, key=lambda tail: tail.at)
            tail = [tail for tail in tails if tail.at == last.at][-1]
            backward, forward = self._op_at(head), self._op_at(tail)
            if backward is not None and forward is not None and backward != forward:
                by_flow[backward] = forward
        links = dict(by_flow)
        for number, forward in by_flow.items():
            around, call = self.parent[number], self.calls[number]
            if around is None or around in by_flow or call.sequence < 0:
                continue
            if self.calls[around].kind == "op" and self.calls[around].sequence == call.sequence:
                links[around] = forward
        for number in self.order:
            found = self._by_sequence(number)
            if number not in links and found is not None:
                links[number] = found
        return links

    def _op_at(self, arrow: Arrow) -> int | None:
        return next((n for n in self._around(arrow.tid, arrow.at, arrow.at + 0.5) if self.calls[n].kind == "op"), None)

    def _by_sequence(self, number: int) -> int | None:
        def is_backward(one: int) -> bool:
            return self.calls[one].kind == "op" and BACKWARD.fullmatch(self.calls[one].name) is not None

        call = self.calls[number]
        if not is_backward(number) or call.sequence < 0:
            return None
        same = [n for n in self.order if self.calls[n].kind == "op" and self.calls[n].sequence == call.sequence]
        same = [n for n in same if not any(is_backward(one) for one in self.chain(n))]
        if len({self.calls[n].tid for n in same}) != 1:
            return None
        return next((n for n in reversed(same) if self.calls[n].start <= call.start), None)

    def frame(self, number: int) -> Frame:
        """The frame of a call."""
        return self.calls[number].name, self.calls[number].kind

    def stack(self, number: int, *, is_own: bool = False) -> list[Frame]:
        """Frames of a call, the thread first; `is_own`: without what the forward pass tells."""
        frames: list[Frame] = [(f"thread {self.calls[number].tid}", "thread")]
        linked = next((one for one in self.chain(number) if one in self.links), None)
        for one in self.chain(number):
            if one == linked and not is_own:
                given = self._given({self.calls[around].kind for around in self.chain(one)})
                frames += [self.frame(told) for told in self.chain(self.links[one]) if self.calls[told].kind in given]
            if self.calls[one].kind in KEPT[self.by]:
                frames.append(self.frame(one))
        return frames

    def _given(self, around: set[str]) -> tuple[str, ...]:
        if self.by == "module":
            return () if "module" in around else ("module",)
        if self.by == "python":
            return () if around & {"python", "module"} else ("python",)
        if self.by == "all" and "module" not in around:
            return ("module",) if "python" in around else ("python", "module")
        return ()

    def forward(self, number: int) -> int | None:
        """The op of the forward pass, by the outermost linked op around a call."""
        return next((self.links[one] for one in self.chain(number) if one in self.links), None)

    def caller(self, launch: Launch) -> int | None:
        """The call that a launch was made in: its op, or a frame of Python, or a range in one."""
        if launch.call is not None:
            return launch.call
        around = [n for n in self._around(launch.tid, launch.at, launch.at + 0.5) if self.calls[n].kind != "op"]
        is_python = {self.calls[n].kind for n in self.chain(around[0] if around else None)} & {"python", "module"}
        return around[0] if is_python else None

    def launcher(self, work: Work, launching: Sequence[Launch]) -> int | None:
        """The op of some work, or else the call that it was launched in."""
        if work.call is not None or work.launch < 0:
            return work.call
        return self.caller(launching[work.launch])

    def self_time(self, number: int) -> int:
        """Nanoseconds in a call and in nothing that it called."""
        called = sum(self.calls[n].end - self.calls[n].start for n, caller in self.parent.items() if caller == number)
        return max(self.calls[number].end - self.calls[number].start - called, 0) * 1000


def busy_parts(works: Sequence[Work]) -> list[int]:
    """Moments of each slice in which none runs that began before it."""
    order = sorted(range(len(works)), key=lambda row: works[row].start)
    parts = [0] * len(works)
    taken: set[int] = set()
    for row in order:
        own = set(range(works[row].start, works[row].start + works[row].duration)) - taken
        parts[row] = len(own)
        taken |= own
    return parts


def union(works: Iterable[Work]) -> int:
    """Moments in which at least one runs."""
    return len({moment for work in works for moment in range(work.start, work.start + work.duration)})


def slow_table(
    calls: Sequence[Call], arrows: Sequence[Arrow], works: Sequence[Work], launching: Sequence[Launch], by: str
) -> dict[Frame, dict[str, int]]:
    """What each row has, by frame."""
    tree = Tree(calls, arrows, by)
    nothing: Frame = (NOWHERE[by], "none")

    def shown(stack: list[Frame]) -> list[Frame]:
        return stack if by == "all" else stack[1:] or [nothing]

    def place(work: Work, *, is_own: bool = False) -> list[Frame]:
        call = work.call if by == "op" else tree.launcher(work, launching)
        if call is None:
            return [(f"(unattributed: {JOIN_RULES[work.rule]})", "none")]
        return shown(tree.stack(call, is_own=is_own))

    works = [work for work in works if work.is_work]
    hosts = {number: shown(tree.stack(number, is_own=True)) for number in tree.order}
    frames = {frame for stack in hosts.values() for frame in stack} | {frame for work in works for frame in place(work)}
    callers = [launch.call if by == "op" else tree.caller(launch) for launch in launching]
    submitted = [shown(tree.stack(number)) for number in callers if number is not None]
    table = {}
    for frame in frames:
        own = [work for work in works if place(work)[-1] == frame]
        total = [work for work in works if frame in place(work)]
        total_itself = [work for work in works if frame in place(work, is_own=True)]
        called = [number for number in tree.order if tree.calls[number].kind in KEPT[by] and tree.frame(number) == frame]
        outermost = [number for number in called if hosts[number].count(frame) == 1]
        duration = sum((tree.calls[number].end - tree.calls[number].start) * 1000 for number in outermost)
        inside = sum(tree.self_time(number) for number, stack in hosts.items() if frame in stack)
        values = (
            len(called),
            sum(stack[-1] == frame for stack in submitted),
            sum(frame in stack for stack in submitted),
            len(own),
            len(total),
            sum(work.duration for work in own),
            union(own),
            sum(work.duration for work in total),
            union(total),
            max(sum(work.duration for work in total) - sum(work.duration for work in total_itself), 0),
            sum(tree.self_time(number) for number, stack in hosts.items() if stack[-1] == frame),
            inside if frame[1] in ("thread", "none") else duration,
        )
        table[frame] = dict(zip(COLUMNS, values, strict=True))
    return {
        frame: values for frame, values in table.items() if frame[1] != "none" or values["slices_self"] or values["host_self_ns"]
    }


def slow_stacks(
    calls: Sequence[Call], arrows: Sequence[Arrow], works: Sequence[Work], launching: Sequence[Launch], by: str, weight: str
) -> dict[tuple[str, ...], int]:
    """What each stack weighs, by the names of its frames; stacks that weigh nothing are left out."""
    tree = Tree(calls, arrows, by)
    weights: Counter[tuple[str, ...]] = Counter()
    if weight == "host-self":
        for number in tree.order:
            weights[tuple(name for name, _ in tree.stack(number))] += tree.self_time(number)
        return {stack: value for stack, value in weights.items() if value}
    works = [work for work in works if work.is_work]
    for work, busy in zip(works, busy_parts(works), strict=True):
        reason = [(f"(unattributed: {JOIN_RULES[work.rule]})", "none")]
        call = work.call if by == "op" else tree.launcher(work, launching)
        stack = reason if call is None else tree.stack(call)
        weights[tuple(name for name, _ in stack)] += work.duration if weight == "device-sum" else busy
    return {stack: value for stack, value in weights.items() if value}


def slow_coverage(
    calls: Sequence[Call], arrows: Sequence[Arrow], works: Sequence[Work], launching: Sequence[Launch], by: str
) -> dict[str, tuple[int, int, int]]:
    """Slices, sum and busy time of each part of the coverage, by its name."""
    tree = Tree(calls, arrows, by)
    works = [work for work in works if work.is_work]
    parts = busy_parts(works)

    def kinds(number: int | None) -> set[str]:
        return {tree.calls[one].kind for one in tree.chain(number)}

    def has(work: Work, wanted: set[str], *, by_forward: bool = False) -> bool:
        caller = tree.launcher(work, launching)
        if caller is None:
            return False
        is_own = bool(kinds(caller) & wanted)
        forward = tree.forward(caller)
        return not is_own and forward is not None and bool(kinds(forward) & wanted) if by_forward else is_own

    def time(chosen: list[bool]) -> tuple[int, int, int]:
        picked = [(work.duration, part) for work, part, is_it in zip(works, parts, chosen, strict=True) if is_it]
        return len(picked), sum(duration for duration, _ in picked), sum(part for _, part in picked)

    module, python = {"module"}, {"python", "module"}
    return {
        "total": time([True for _ in works]),
        "on_ops": time([work.call is not None for work in works]),
        "unattributed": time([work.call is None for work in works]),
        "in_module": time([has(work, module) for work in works]),
        "in_module_by_forward": time([has(work, module, by_forward=True) for work in works]),
        "in_python": time([has(work, python) for work in works]),
        "in_python_by_forward": time([has(work, python, by_forward=True) for work in works]),
        "in_python_on_no_op": time([work.call is None and has(work, python) for work in works]),
    }
