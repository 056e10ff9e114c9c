"""Joins, nesting, idle time, percentiles and what is built on them, beside Python loops that do the same."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rblnpb.converters.analyze.grouping import exact_sums, group_unions, nearest_ranks
from rblnpb.converters.analyze.idle.gaps import gaps_between
from rblnpb.converters.analyze.idle.occupancy import OrderedWork
from rblnpb.converters.analyze.intervals import union_ns
from rblnpb.converters.analyze.launches.queue import queue_use
from rblnpb.converters.merging.correlate import launch_by_id, match_launches
from rblnpb.converters.nesting import nest
from rblnpb.converters.timeline import HostTrace
from rblnpb.row_order import order_by
from tests.bench import baseline
from tests.bench.case import Case, Side, Work
from tests.bench.inputs import Ints, host_of_calls, stored_calls

LANES, GROUPS, DEPTH = 8, 50, 20
PERCENTS = (50, 90, 99)
PER_LAUNCH = 40


def c_side(run: Callable[[], Any]) -> Side | None:
    """A side in C, where there is a compiler."""
    return Side(run) if baseline.library() else None


def call(function: str, *arguments: Any) -> Any:
    """A function of baseline.c; arrays by their place, numbers as 64 bits."""
    values = [baseline.place(one) if isinstance(one, np.ndarray) else ctypes.c_int64(one) for one in arguments]
    return baseline.function(function)(*values)


# ---- joins ----


def loop_by_id(ids: Ints, wanted: Ints) -> Ints:
    row_of = {launch_id: row for row, launch_id in enumerate(ids.tolist())}
    return np.array([row_of.get(launch_id, -1) for launch_id in wanted.tolist()], np.int64)


def join_in_c(ids: Ints, wanted: Ints) -> Ints:
    row = np.empty(len(wanted), np.int64)
    call("join_launches", ids, len(ids), wanted, len(wanted), row)
    return row


def set_up_join(count: int, folder: Path) -> Work:
    ids = np.arange(1, count // PER_LAUNCH + 2)
    # A device does its launches in order, or nearly so.
    wanted = np.sort(np.random.default_rng(7).integers(1, len(ids) + 1, count))
    return Work(
        Side(lambda: launch_by_id(ids, ids, wanted, wanted)),
        Side(lambda: loop_by_id(ids, wanted)),
        c_side(lambda: join_in_c(ids, wanted)),
    )


def loop_match(host: HostTrace, track: Ints, time_ns: Ints) -> Ints:
    """One sweep over the starts of ops and the launches of a thread, with a stack of the ops that are open."""
    events = host.events
    ops = zip(events.start_ns.tolist(), events.duration_ns.tolist(), events.track.tolist(), strict=True)
    points = [(start, -duration, row, thread) for row, (start, duration, thread) in enumerate(ops)]
    points += [(at, 1, row, thread) for row, (at, thread) in enumerate(zip(time_ns.tolist(), track.tolist(), strict=True))]
    stacks: dict[int, list[tuple[int, int]]] = {}
    found = [-1] * len(time_ns)
    for start, length, row, thread in sorted(points):
        stack = stacks.setdefault(thread, [])
        while stack and stack[-1][0] <= start:
            stack.pop()
        if length <= 0:
            stack.append((start - length, row))
        elif stack:
            found[row] = stack[-1][1]
    return np.array(found, np.int64)


def set_up_match(count: int, folder: Path) -> Work:
    host = host_of_calls(stored_calls(folder, count, DEPTH))
    own = np.sort(np.random.default_rng(7).choice(count, count // 10, replace=False))
    time_ns = host.events.start_ns[own] + host.events.duration_ns[own] // 2
    track = host.events.track[own].astype(np.int64)
    return Work(
        Side(lambda: match_launches(host, track, time_ns)[0]),
        Side(lambda: loop_match(host, track, time_ns)),
        count=count + len(own),
    )


# ---- nesting ----


def self_times(lane: Ints, start_ns: Ints, end_ns: Ints) -> Ints:
    """What each call has without its direct calls."""
    parent = nest(lane, start_ns, end_ns)
    own = end_ns - start_ns
    called = np.flatnonzero(parent >= 0)
    alone = own.copy()
    np.subtract.at(alone, parent[called], own[called])
    return alone


def loop_self_times(lane: Ints, start_ns: Ints, end_ns: Ints) -> Ints:
    own: list[int] = []
    stack: list[tuple[int, int]] = []
    before = -1
    for row, (thread, start, end) in enumerate(zip(lane.tolist(), start_ns.tolist(), end_ns.tolist(), strict=True)):
        if thread != before:
            stack, before = [], thread
        while stack and (stack[-1][0] <= start or stack[-1][0] < end):
            stack.pop()
        own.append(end - start)
        if stack:
            own[stack[-1][1]] -= end - start
        stack.append((end, row))
    return np.array(own, np.int64)


def self_times_in_c(lane: Ints, start_ns: Ints, end_ns: Ints) -> Ints:
    own, stack = np.empty((2, len(lane)), np.int64)
    call("self_times", lane, start_ns, end_ns, len(lane), own, stack)
    return own


def set_up_self_time(count: int, folder: Path) -> Work:
    calls = stored_calls(folder, count, DEPTH)
    columns = (calls.tid, calls.start_ns, calls.start_ns + calls.duration_ns)
    return Work(
        Side(lambda: self_times(*columns)), Side(lambda: loop_self_times(*columns)), c_side(lambda: self_times_in_c(*columns))
    )


# ---- time without work ----


def drawn_slices(count: int) -> tuple[Ints, Ints, Ints]:
    """Slices of some lanes, in no order: lane, start and end."""
    draw = np.random.default_rng(7)
    start_ns = draw.integers(0, 1000 * count, count)
    return draw.integers(0, LANES, count), start_ns, start_ns + draw.integers(1, 1500, count)


def idle_gaps(lane: Ints, start_ns: Ints, end_ns: Ints) -> tuple[int, int]:
    """How many gaps lanes have, and their length together."""
    order = order_by(start_ns)
    track = lane[order]
    work = OrderedWork(order, start_ns[order], end_ns[order], track, track, track, ())
    gaps = gaps_between(work, track)
    return len(gaps), int((gaps.end_ns - gaps.start_ns).sum())


def loop_gaps(lane: Ints, start_ns: Ints, end_ns: Ints) -> tuple[int, int]:
    reach: dict[int, int] = {}
    gaps = total = 0
    for start, own, end in sorted(zip(start_ns.tolist(), lane.tolist(), end_ns.tolist(), strict=True)):
        before = reach.get(own)
        if before is not None and start > before:
            gaps, total = gaps + 1, total + start - before
        reach[own] = end if before is None else max(before, end)
    return gaps, total


def gaps_in_c(lane: Ints, start_ns: Ints, end_ns: Ints) -> tuple[int, int]:
    total = np.zeros(1, np.int64)
    return call("idle_gaps", lane, start_ns, end_ns, len(lane), total), int(total[0])


def set_up_gaps(count: int, folder: Path) -> Work:
    columns = drawn_slices(count)
    return Work(Side(lambda: idle_gaps(*columns)), Side(lambda: loop_gaps(*columns)), c_side(lambda: gaps_in_c(*columns)))


def loop_union(start_ns: Ints, duration_ns: Ints) -> int:
    total, reach = 0, -1
    for start, duration in sorted(zip(start_ns.tolist(), duration_ns.tolist(), strict=True)):
        total += max(start + duration - max(reach, start), 0)
        reach = max(reach, start + duration)
    return total


def set_up_union(count: int, folder: Path) -> Work:
    _, start_ns, end_ns = drawn_slices(count)
    duration_ns = end_ns - start_ns
    return Work(Side(lambda: union_ns(start_ns, duration_ns)), Side(lambda: loop_union(start_ns, duration_ns)))


def loop_queue(submitted_ns: Ints, end_ns: Ints) -> int:
    """The longest that the queue was."""
    steps = [(time_ns, -1) for time_ns in end_ns.tolist()] + [(time_ns, 1) for time_ns in submitted_ns.tolist()]
    length = longest = 0
    for _, step in sorted(steps):
        length += step
        longest = max(longest, length)
    return longest


def set_up_queue(count: int, folder: Path) -> Work:
    draw = np.random.default_rng(7)
    submitted_ns = np.cumsum(draw.integers(0, 10_000, count))
    end_ns = submitted_ns + draw.integers(1, 100_000, count)
    return Work(
        Side(lambda: queue_use("", submitted_ns, end_ns).max_length),
        Side(lambda: loop_queue(submitted_ns, end_ns)),
    )


# ---- numbers of groups ----


def loop_percentiles(values: Ints, group: Ints) -> Ints:
    """Percentiles of each group, by nearest rank."""
    of_group: dict[int, list[int]] = defaultdict(list)
    for number, value in zip(group.tolist(), values.tolist(), strict=True):
        of_group[number].append(value)
    for own in of_group.values():
        own.sort()
    ranks = [[(percent * len(of_group[one]) + 99) // 100 - 1 for one in range(GROUPS)] for percent in PERCENTS]
    return np.array([[of_group[one][rank] for one, rank in enumerate(row)] for row in ranks], np.int64)


def percentiles_in_c(values: Ints, group: Ints) -> Ints:
    found = np.empty((len(PERCENTS), GROUPS), np.int64)
    call("percentiles", group, values, len(values), GROUPS, np.array(PERCENTS, np.int64), len(PERCENTS), found)
    return found


def set_up_percentiles(count: int, folder: Path) -> Work:
    draw = np.random.default_rng(7)
    values, group = draw.integers(0, 10**7, count), draw.permutation(np.arange(count) % GROUPS)
    return Work(
        Side(lambda: nearest_ranks(group, values, GROUPS, PERCENTS)),
        Side(lambda: loop_percentiles(values, group)),
        c_side(lambda: percentiles_in_c(values, group)),
    )


def group_numbers(group: Ints, start_ns: Ints, duration_ns: Ints) -> Any:
    """Sum, percentiles and union of each group."""
    ranks = nearest_ranks(group, duration_ns, GROUPS, PERCENTS)
    return exact_sums(group, duration_ns, GROUPS), ranks, group_unions(group, start_ns, duration_ns, GROUPS)


def loop_numbers(group: Ints, start_ns: Ints, duration_ns: Ints) -> Any:
    members: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for one, start, duration in zip(group.tolist(), start_ns.tolist(), duration_ns.tolist(), strict=True):
        members[one].append((start, duration))
    sums, unions = np.zeros((2, GROUPS), np.int64)
    for one, spans in members.items():
        sums[one] = sum(duration for _, duration in spans)
        unions[one] = loop_union(*np.array(spans, np.int64).T)
    return sums, loop_percentiles(duration_ns, group), unions


def set_up_numbers(count: int, folder: Path) -> Work:
    _, start_ns, end_ns = drawn_slices(count)
    group, duration_ns = np.random.default_rng(8).permutation(np.arange(count) % GROUPS), end_ns - start_ns
    return Work(Side(lambda: group_numbers(group, start_ns, duration_ns)), Side(lambda: loop_numbers(group, start_ns, duration_ns)))


LOOP = "a loop"
CASES = (
    Case("launch-join", "find the launch of each record", LOOP, set_up_join, bar={"ns": 30}, large_bar={"ns": 30}),
    Case("launch-ops", "find the op of each launch, per op or launch", LOOP, set_up_match, "op or launch"),
    Case("self-time", "self time of nested host events", LOOP, set_up_self_time, "event", bar={"ns": 400}),
    Case("idle-gaps", "gaps of engines, slices in no order", LOOP, set_up_gaps, "slice", bar={"ns": 130}, large_bar={"ns": 130}),
    Case("percentiles", "three percentiles of 50 groups", LOOP, set_up_percentiles, bar={"ns": 60}, large_bar={"ns": 60}),
    Case("union", "time that any slice covers", LOOP, set_up_union, "slice"),
    Case("queue", "the longest queue of launches", LOOP, set_up_queue, "launch"),
    Case("group-numbers", "sum, percentiles and union of groups", LOOP, set_up_numbers, "slice"),
)
