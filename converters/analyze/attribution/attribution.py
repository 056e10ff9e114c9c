"""Which op, module or Python frame the device's time comes from: sums and unions, with and without what was called."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from ...results import FRAME_KINDS, AttributionTable, CallStacks, DeviceCoverage, DeviceTime, Frame
from ...timeline import JOIN_RULES, Bool, Int64, Timeline
from ..grouping import exact_sums
from ..host.host_calls import MODULE, PYTHON, HostCalls, is_within
from ..intervals import exact_sum
from ..launches.launch_calls import launch_calls
from .device_work import DeviceWork, device_work
from .frame_groups import FrameGroups
from .stacked_calls import KEPT, StackedCalls, stack_calls
from .stacks import Stacks, add_leaves

__all__ = ["WEIGHTS", "attribution_table", "call_stacks"]

WEIGHTS: Final = ("device-sum", "device-union", "host-self")
"""What stacks can weigh: the durations of work; its parts of the busy time; the time of the host."""

_NOWHERE: Final = {"op": "(no op)", "module": "(no module)", "python": "(no Python frame)", "all": "(no frame)"}


def attribution_table(timeline: Timeline, by: str) -> AttributionTable:
    """Device and host time by frame.

    Args:
        timeline: Merged; without a host trace all of it is unattributed.
        by: "op", "module", "python" or "all".
    """
    stacked = stack_calls(timeline.host, by)
    launched = launch_calls(timeline, stacked.calls, stacked.call_of_event)
    work = device_work(timeline, stacked.call_of_event, launched)
    frames = _frames(stacked, by)
    groups, own = (_groups(stacks, stacked, work, by) for stacks in (stacked.stacks, stacked.own))
    columns = {**_device_columns(groups, own, work), **_host_columns(own, stacked)}
    # By op, what was launched in Python alone is on none.
    launched = stacked.call_of_event[timeline.launches.host_row] if by == "op" else launched
    submitted = groups.rows(stacked.stacks.of_row[launched[launched >= 0]])
    columns["launches_self"], columns["launches_total"] = submitted.sums(np.ones_like(submitted.stack))
    is_kept = [FRAME_KINDS.index(frame.kind) in KEPT[by] for frame in stacked.frames]
    has_any = [any(columns[name][row] for name in ("slices_self", "host_self_ns")) for row in range(len(frames))]
    rows = [row for row in range(len(frames)) if (is_kept[row] if row < len(is_kept) else has_any[row])]
    return AttributionTable(
        by=by,
        frame=tuple(frames[row] for row in rows),
        **{name: tuple(values[row] for row in rows) for name, values in columns.items()},
        sources=timeline.sources,
        coverage=_coverage(timeline, stacked, work),
        findings=_findings(timeline, stacked),
    )


def call_stacks(timeline: Timeline, by: str, weight: str, *, with_stages: bool) -> CallStacks:
    """Distinct stacks of what ran on the host, each with what it weighs.

    Args:
        timeline: Merged.
        by: "op", "module", "python" or "all": which frames stacks are made of.
        weight: One of `WEIGHTS`.
        with_stages: Whether the stage of device work is a frame below the op that launched it.
    """
    stacked = stack_calls(timeline.host, by)
    work = device_work(timeline, stacked.call_of_event, launch_calls(timeline, stacked.calls, stacked.call_of_event))
    frames = _frames(stacked, by)
    if weight == "host-self":
        stacks, values = stacked.stacks, _self_ns(stacked.calls)[0]
    else:
        stacks, values = _placed(stacked.stacks, stacked, work), work.duration_ns if weight == "device-sum" else work.busy_ns
        if with_stages:
            stage, stages = _stages(timeline, work)
            stacks = add_leaves(stacks, stacks.of_row, len(frames) + stage)
            frames = (*frames, *stages)
    return CallStacks(
        by=by,
        weight=weight,
        frames=frames,
        parent=stacks.parent,
        frame=stacks.frame,
        weight_ns=tuple(exact_sums(stacks.of_row, values, len(stacks)).tolist()),
        sources=timeline.sources,
        coverage=_coverage(timeline, stacked, work),
        findings=_findings(timeline, stacked),
    )


def _frames(stacked: StackedCalls, by: str) -> tuple[Frame, ...]:
    """Frames of calls, then one for what has no frame, then one for each rule by which work may be on no op."""
    lost = (Frame(f"(unattributed: {rule})", "none") for rule in JOIN_RULES)
    return (*stacked.frames, Frame(_NOWHERE[by], "none"), *lost)


def _placed(stacks: Stacks, stacked: StackedCalls, work: DeviceWork) -> Stacks:
    """The stacks, with those of work that no call is known for; `of_row` is int64[slices]: where each slice is."""
    caller = work.op if stacked.by == "op" else work.caller
    lost = caller < 0
    more = add_leaves(stacks, np.full(int(lost.sum()), -1), (len(stacked.frames) + 1 + work.rule[lost]).astype(np.int64))
    of_slice = np.append(stacks.of_row, -1)[caller]
    of_slice[lost] = more.of_row
    return replace(more, of_row=of_slice)


def _groups(stacks: Stacks, stacked: StackedCalls, work: DeviceWork, by: str) -> FrameGroups:
    """The stacks by frame, with those of unattributed work. Where threads are no rows, what is in nothing on any of them is one."""
    placed = _placed(stacks, stacked, work)
    is_thread = placed.frame < stacked.thread_count
    count = len(stacked.frames) + 1 + len(JOIN_RULES)
    if by == "all":
        return FrameGroups(placed, placed.frame, np.ones(len(placed), np.bool_), count)
    return FrameGroups(placed, np.where(is_thread, len(stacked.frames), placed.frame), ~is_thread, count)


def _device_columns(groups: FrameGroups, own: FrameGroups, work: DeviceWork) -> dict[str, list[int]]:
    rows = groups.rows(groups.stacks.of_row)
    slices_self, slices_total = rows.sums(np.ones_like(work.row))
    sum_self, sum_total = rows.sums(work.duration_ns)
    union_self, union_total = rows.unions(work.start_ns, work.end_ns)
    _, own_total = own.rows(own.stacks.of_row).sums(work.duration_ns)
    return {
        "slices_self": slices_self,
        "slices_total": slices_total,
        "device_self_sum_ns": sum_self,
        "device_self_union_ns": union_self,
        "device_total_sum_ns": sum_total,
        "device_total_union_ns": union_total,
        # What is in nothing itself may be in something by the forward pass; so nothing has less by it, and nothing of it.
        "device_total_by_forward_ns": [max(total - itself, 0) for total, itself in zip(sum_total, own_total, strict=True)],
    }


def _self_ns(calls: HostCalls) -> tuple[Int64, int]:
    """int64[n]; time in each call and in nothing that it called; and how many would have less than none, because calls cross."""
    duration_ns = calls.end_ns - calls.start_ns
    self_ns = duration_ns.copy()
    called = np.flatnonzero(calls.parent >= 0)
    np.subtract.at(self_ns, calls.parent[called], duration_ns[called])
    return np.maximum(self_ns, 0), int((self_ns < 0).sum())


def _host_columns(own: FrameGroups, stacked: StackedCalls) -> dict[str, list[int]]:
    """Calls, self and total time of the host by group; the total of a thread is what all on it have themselves."""
    calls, first = stacked.calls, stacked.thread_count
    self_ns, total_ns = own.rows(stacked.own.of_row).sums(_self_ns(calls)[0])
    kept = np.flatnonzero(np.isin(calls.kind, KEPT[stacked.by]))
    frame = first + calls.frame[kept]
    is_outermost = ~_is_repeated(stacked.own)[stacked.own.of_row[kept]]
    duration_ns = (calls.end_ns - calls.start_ns)[kept]
    whole_ns = exact_sums(frame[is_outermost], duration_ns[is_outermost], own.count).tolist()
    last = first + len(calls.frames)
    total_ns[first:last] = whole_ns[first:last]
    return {
        "calls": np.bincount(frame, minlength=own.count).tolist(),
        "host_self_ns": self_ns,
        "host_total_ns": total_ns,
    }


def _is_repeated(stacks: Stacks) -> Bool:
    """bool[m]; whether the innermost frame of each stack is in it once more."""
    is_repeated = np.zeros(len(stacks), np.bool_)
    row, at = np.arange(len(stacks), dtype=np.int64), stacks.parent
    while len(row):
        row, at = row[at >= 0], at[at >= 0]
        is_same = stacks.frame[at] == stacks.frame[row]
        is_repeated[row[is_same]] = True
        row, at = row[~is_same], stacks.parent[at[~is_same]]
    return is_repeated


def _stages(timeline: Timeline, work: DeviceWork) -> tuple[Int64, tuple[Frame, ...]]:
    """What each slice is part of: int64[n], rows of the frames; the layer, or the whole name where none is known, or the engine."""
    names, track = timeline.slices.names.take(work.row), timeline.slices.track[work.row]
    texts = (*names.strings, *(track.name for track in timeline.tracks))
    text = np.where(names.stage > 0, names.stage, np.where(names.override > 0, names.override, len(names.strings) + track))
    distinct, first, of_slice = np.unique(text, return_index=True, return_inverse=True)
    number: dict[Frame, int] = {}
    row = np.zeros(len(distinct), np.int64)
    for at in np.argsort(first).tolist():
        row[at] = number.setdefault(Frame(texts[distinct[at]], "stage"), len(number))
    return row[of_slice], tuple(number)


def _coverage(timeline: Timeline, stacked: StackedCalls, work: DeviceWork) -> DeviceCoverage:
    calls = stacked.calls
    # One more, for what is in no call, and for ops without a forward pass.
    in_module, in_python = (np.append(is_within(calls, *kinds), False) for kinds in ((MODULE,), (PYTHON, MODULE)))
    forward = np.append(stacked.forward, -1)[work.caller]
    on_op, of_module, of_python = work.op >= 0, in_module[work.caller], in_python[work.caller]

    def time(is_it: Bool) -> DeviceTime:
        return DeviceTime(int(is_it.sum()), exact_sum(work.duration_ns[is_it]), exact_sum(work.busy_ns[is_it]))

    launched = stacked.call_of_event[timeline.launches.host_row]
    return DeviceCoverage(
        total=time(np.ones(len(work.row), np.bool_)),
        on_ops=time(on_op),
        unattributed=time(~on_op),
        by_rule={JOIN_RULES[rule]: time(work.rule == rule) for rule in np.unique(work.rule).tolist()},
        in_module=time(of_module),
        in_module_by_forward=time(~of_module & in_module[forward]),
        in_python=time(of_python),
        in_python_by_forward=time(~of_python & in_python[forward]),
        in_python_on_no_op=time(~on_op & of_python),
        launches=len(launched),
        launches_on_ops=int((launched >= 0).sum()),
    )


def _findings(timeline: Timeline, stacked: StackedCalls) -> tuple[Finding, ...]:
    if timeline.host is None:
        return ()
    calls, by = stacked.calls, stacked.by
    found = []
    if by in ("python", "module", "all") and not len(timeline.host.rows("X", "python_function")):
        message = "the host trace has no Python frames and no modules: torch.profiler records them with with_stack=True"
        found.append(Finding(Severity.INFO, "no-python-frames", message))
    elif by == "module" and not (calls.kind == MODULE).any():
        message = "no frame of the host trace is of a module: what ran was no torch.nn.Module, or was compiled"
        found.append(Finding(Severity.INFO, "no-modules", message))
    crossing = _self_ns(calls)[1]
    if crossing:
        overlapping = counted(crossing, "call on the host overlaps", "calls on the host overlap")
        message = f"{overlapping} callees without holding them whole: no self time"
        found.append(Finding(Severity.INFO, "crossing-calls", message, crossing))
    if calls.left_out_count:
        ranges = counted(calls.left_out_count, "named range")
        message = f"{ranges} around no call, or that may end on another thread: no frame of any stack"
        found.append(Finding(Severity.INFO, "range-around-nothing", message, calls.left_out_count))
    return tuple(found)
