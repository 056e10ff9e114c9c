"""Advice on what the device did, and on what it waited for.

host-stall: gaps with nothing submitted, of which more than 200 µs and more than five times the usual (the median of all such
    gaps) nothing is recorded of the thread that submits next. Cost: what is beyond the usual.
launch-bound: nothing submitted for a fifth of the time or more, in a recording that did not wait by itself. Cost: these gaps,
    without stalls and without what the runtime recorded in them.
slow-dma: transfers at less than a third of the rate of others on engines of one kind of a device. The rate to be reached is the
    median over transfers of similar size (the same power of two of bytes), or that of smaller ones where it is higher: larger
    ones spend less of their time on setting up. Cost: the time beyond the median of equal transfers, or beyond that rate.
cycle-outliers: commands with counted cycles that take more than twice the median of the same command, which ran 5 times or more.
    Cost: what is beyond. (A name alone, as of a kernel in a trace, may stand for work of any size.)
lost-records: records that never reached the file. Their cost is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.row_order import order_by
from rblnpb.wording import counted

from ...results import Advice
from ...timeline import Bool, Int64, Timeline
from ..grouping import nearest_ranks, numbered
from ..host.host_stack import HostStack
from ..intervals import exact_sum
from ..launches.launch_gaps import launch_gaps
from ..launches.launch_work import LaunchWork
from ..slices.engine_rates import COMPUTE_KINDS, DMA_KINDS, cycles_and_bytes

__all__ = ["lost_records", "starved_device", "uneven_slices"]

_STALL_NS: Final = 200_000
_STALL_TIMES: Final = 5
_STARVED_PERCENT: Final = 20
_SLOW_TIMES: Final = 3
_LONG_TIMES: Final = 2
_ENOUGH: Final = 5
"""Slices of one command from which a median says what is usual."""

_SCALE_BYTES: Final = 1 << 30
_TOP: Final = 2.0**62
_EQUALS: Final = 4
"""Equal transfers from which their median says what is usual."""


def starved_device(timeline: Timeline, work: LaunchWork, stack: HostStack | None) -> Iterator[Advice]:
    """Advice on devices that had nothing to do because nothing was submitted."""
    gaps = launch_gaps(timeline, work, stack)
    if not len(gaps):
        return
    unknown_ns = gaps.duration_ns - gaps.recorded_ns
    usual_ns = _median(unknown_ns)
    is_stall = (unknown_ns > _STALL_NS) & (unknown_ns // _STALL_TIMES > usual_ns)
    stalled_ns = exact_sum(unknown_ns[is_stall] - usual_ns)
    if is_stall.any():
        longest = int(unknown_ns[is_stall].max())
        yield Advice(
            code="host-stall",
            title="the thread that submits pauses",
            side="host",
            cost_ns=stalled_ns,
            count=int(is_stall.sum()),
            place=_launched_by(timeline, gaps.launch[is_stall]),
            evidence=f"{int(is_stall.sum()):,} of {counted(len(gaps), 'pause')}; the longest {longest:,} ns, usual {usual_ns:,} ns",
            advice="look at what Python does there (garbage collection, data loading, logging, locks): the device stands idle",
        )
    span_ns = int(work.end_ns.max()) - int(work.submitted_ns.min())
    empty_ns = exact_sum(gaps.duration_ns)
    if not timeline.is_serialised and 100 * empty_ns >= _STARVED_PERCENT * span_ns:
        yield Advice(
            code="launch-bound",
            title="the device waits for launches",
            side="device",
            cost_ns=exact_sum(gaps.duration_ns - gaps.at_work_ns) - stalled_ns,
            count=len(gaps),
            place=_launched_by(timeline, gaps.launch),
            evidence=f"nothing was submitted for {empty_ns:,} of {span_ns:,} ns ({100 * empty_ns / span_ns:.1f} %)",
            advice="submit more work at a time: larger batches, fewer and larger operators, graph mode instead of single operators",
        )


def _launched_by(timeline: Timeline, launch: Int64) -> str:
    """The operator, or else the program, that most of some launches belong to."""
    row = timeline.launches.host_row[launch]
    if timeline.host is not None and (row >= 0).any():
        return timeline.host.strings[int(np.bincount(timeline.host.events.name[row[row >= 0]]).argmax())]
    return timeline.strings[int(np.bincount(timeline.launches.name[launch]).argmax())]


def uneven_slices(timeline: Timeline) -> Iterator[Advice]:
    """Advice on slices that took much longer than others like them."""
    rows = np.flatnonzero(timeline.is_work())
    kinds = np.array([track.kind for track in timeline.tracks], np.str_)
    for wanted, rule in ((DMA_KINDS, _slow_transfers), (COMPUTE_KINDS, _long_commands)):
        is_wanted = np.append(np.isin(kinds, wanted), False)
        own = rows[is_wanted[timeline.slices.track[rows]]]
        if len(own):
            yield from rule(timeline, own)


def _slow_transfers(timeline: Timeline, rows: Int64) -> Iterator[Advice]:
    _, size_bytes, _ = cycles_and_bytes(timeline, rows)
    rows, size_bytes = rows[size_bytes > 0], size_bytes[size_bytes > 0]
    if not len(rows):
        return
    engine = _engine_kinds(timeline)[timeline.slices.track[rows]]
    duration_ns = timeline.slices.duration_ns[rows]
    fair_ns = _fair_ns(engine, size_bytes, duration_ns)
    is_slow = duration_ns // _SLOW_TIMES > fair_ns
    groups, equal = _alike(engine, size_bytes)
    median_ns, count = _medians(equal, duration_ns, groups)
    usual_ns = np.where((count >= _EQUALS) & (median_ns // _SLOW_TIMES <= fair_ns), median_ns, fair_ns)
    for place, own in _stages(timeline, rows, is_slow):
        moved, took = exact_sum(size_bytes[own]), exact_sum(duration_ns[own])
        usual = exact_sum(usual_ns[own])
        yield Advice(
            code="slow-dma",
            title="transfers far slower than others of their engines",
            side="device",
            cost_ns=took - usual,
            count=len(own),
            place=place,
            evidence=f"{counted(len(own), 'transfer')} of {moved:,} bytes took {took:,} ns, usual are {usual:,} ns",
            advice="look at what else uses the memory or the link at that time, and at how the tensor lies in memory",
        )


def _fair_ns(engine: Int64, size_bytes: Int64, duration_ns: Int64) -> Int64:
    """int64[n]; how long each transfer would take at the best median rate of transfers of its size and of smaller ones."""
    power = np.frexp(size_bytes.astype(np.float64))[1].astype(np.int64)
    reach = int(power.max()) + 1
    codes, group = numbered(engine * reach + power)
    # Nanoseconds for a gibibyte: whole numbers, fine enough.
    slowness = np.minimum(duration_ns / size_bytes * _SCALE_BYTES, _TOP).astype(np.int64)
    (median,) = nearest_ranks(group, slowness, len(codes), (50,))
    best = median.copy()
    for one in np.unique(codes // reach).tolist():
        own = codes // reach == one
        best[own] = np.minimum.accumulate(median[own])
    fair: Int64 = np.rint(np.minimum(best[group] / _SCALE_BYTES * size_bytes, _TOP)).astype(np.int64)
    return fair


def _long_commands(timeline: Timeline, rows: Int64) -> Iterator[Advice]:
    names, slices = timeline.slices.names, timeline.slices
    cycles, _, _ = cycles_and_bytes(timeline, rows)
    rows, cycles = rows[cycles > 0], cycles[cycles > 0]
    if not len(rows):
        return
    program = np.append(timeline.launches.name, 0)[slices.launch[rows]]
    groups, group = _alike(program, names.stage[rows], names.command[rows], names.override[rows], slices.track[rows])
    duration_ns = slices.duration_ns[rows]
    median_ns, count = _medians(group, duration_ns, groups)
    is_long = (count >= _ENOUGH) & (duration_ns // _LONG_TIMES > median_ns)
    usual_cycles, _ = _medians(group, cycles, groups)
    for place, own in _stages(timeline, rows, is_long):
        more = int((cycles[own] // _LONG_TIMES > usual_cycles[own]).sum())
        took, usual = exact_sum(duration_ns[own]), exact_sum(median_ns[own])
        yield Advice(
            code="cycle-outliers",
            title="commands far longer than the same command usually is",
            side="device",
            cost_ns=took - usual,
            count=len(own),
            place=place,
            evidence=f"{counted(len(own), 'command')} took {took:,} ns, usual are {usual:,} ns; {more:,} with twice the cycles",
            advice="with the same cycles the clock was slower (heat, power); with more, look at what they had to wait for",
        )


def _medians(group: Int64, values: Int64, count: int) -> tuple[Int64, Int64]:
    """int64[n] each; the median of the group of each value, and how many it has."""
    (median,) = nearest_ranks(group, values, count, (50,))
    return median[group], np.bincount(group, minlength=count)[group]


def _median(values: Int64) -> int:
    return int(nearest_ranks(np.zeros(len(values), np.int64), values, 1, (50,))[0, 0])


def _alike(*columns: npt.NDArray[np.signedinteger[Any]]) -> tuple[int, Int64]:
    """How many different rows some columns have, and int64[n]: the number of each row; equal rows have one number."""
    count, group = 1, np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, of_row = numbered(column.astype(np.int64))
        distinct, group = numbered(group * max(len(values), 1) + of_row)
        count = len(distinct)
    return count, group


def _engine_kinds(timeline: Timeline) -> Int64:
    """int64[tracks]; a number for the kind of engine and the device of each track."""
    kinds = list(dict.fromkeys((track.device, track.kind) for track in timeline.tracks))
    return np.array([kinds.index((track.device, track.kind)) for track in timeline.tracks], np.int64)


def _stages(timeline: Timeline, rows: Int64, is_found: Bool) -> Iterator[tuple[str, Int64]]:
    """Places in `rows` of those that were found, by stage and engine, with what the two are called."""
    own = np.flatnonzero(is_found)
    names, track = timeline.slices.names, timeline.slices.track[rows[own]]
    stage = np.where(names.override[rows[own]] > 0, -names.override[rows[own]], names.stage[rows[own]])
    order = order_by(stage, track)
    changes = np.flatnonzero((np.diff(stage[order]) != 0) | (np.diff(track[order]) != 0)) + 1
    for part in np.split(order, changes):
        if len(part):
            text = names.strings[abs(int(stage[part[0]]))] or "unknown"
            yield f"{text} on {timeline.tracks[int(track[part[0]])].name}", own[part]


def lost_records(timeline: Timeline) -> Iterator[Advice]:
    """Advice on records that are missing."""
    lost = [record for record in timeline.counts if record.dropped]
    if not lost:
        return
    reasons = ", ".join(sorted({loss.reason.replace("_", " ") for loss in timeline.losses})) or "not known why"
    kinds = ", ".join(f"{record.dropped:,} {record.kind}" for record in lost)
    yield Advice(
        code="lost-records",
        title="records are missing",
        side="device",
        cost_ns=None,
        count=sum(record.dropped for record in lost),
        place="",
        evidence=f"{kinds} ({reasons})",
        advice="record less at a time: a shorter window, fewer steps, or a faster disk; all sums here are lower bounds",
    )
