"""Arrows of a trace: those that begin or end nowhere, and those that viewers draw otherwise than they were meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rblnpb.errors import Severity
from rblnpb.row_order import order_by
from rblnpb.wording import counted

from ...results import PlacedFinding
from ...timeline import Bool, HostTrace, Int64
from .trace_rows import TraceRows, grouped

__all__ = ["FlowFaults", "flow_faults", "flow_findings", "is_inside"]


@dataclass(frozen=True, eq=False)
class FlowFaults:
    """Which flow events do not fit the others of their arrow; bool[n] each.

    Attributes:
        unstarted: Steps and ends before which their arrow never started.
        unended: Starts that are the last of their arrow.
        restarted: Starts of an arrow that has started elsewhere before, and came nowhere since.
        reused: Starts of an arrow that has started before, and came somewhere, or starts at the very same place.
    """

    unstarted: Bool
    unended: Bool
    restarted: Bool
    reused: Bool


def flow_faults(arrow: Int64, track: Int64, time_ns: Int64, is_start: Bool) -> FlowFaults:
    """Follow each arrow in the order of time; of one time the order of the rows counts.

    Args:
        arrow: int64[n]; events of one arrow have one number.
        track: int64[n]; where each stands.
        time_ns: int64[n]; any clock.
        is_start: bool[n]; the others are steps and ends.
    """
    order = order_by(arrow, time_ns)
    own, starts = arrow[order], is_start[order]
    count = len(order)
    place = np.arange(count)
    is_first = np.diff(own, prepend=-1) != 0
    first = np.maximum.accumulate(np.where(is_first, place, 0)) if count else place
    last_start = np.maximum.accumulate(np.where(starts, place, -1)) if count else place
    before = np.append(-1, last_start)[:-1]
    has_started = before >= first
    follows = np.append(starts[1:] | is_first[1:], True)[:count]
    is_same = np.append(False, (np.diff(time_ns[order]) == 0) & (np.diff(track[order]) == 0))[:count]
    came_nowhere = has_started & (before == place - 1) & ~is_same
    found = np.zeros((4, count), np.bool_)
    found[:, order] = (
        ~starts & ~has_started,
        starts & follows & np.append(is_first[1:], True)[:count],
        starts & came_nowhere,
        starts & has_started & ~came_nowhere,
    )
    return FlowFaults(*found)


def flow_findings(rows: TraceRows) -> Iterator[PlacedFinding]:
    """Findings about starts, steps and ends of arrows."""
    events = rows.host.events
    own = rows.timed[np.isin(events.phase[rows.timed], np.frombuffer(b"stf", np.uint8))]
    if not len(own):
        return
    is_id = np.array([text not in ("", "null") for text in rows.host.strings], np.bool_)
    has_id = is_id[events.flow_id[own]]
    if (found := own[~has_id]).size:
        message = f"{counted(len(found), 'flow event has', 'flow events have')} no id: no viewer draws their arrow"
        yield rows.at(Severity.WARNING, "flow-without-id", message, found)
    own = own[has_id]
    # So Perfetto tells them apart.
    arrow, _ = grouped(_same_ids(rows.host)[events.flow_id[own]], events.category[own], events.name[own])
    faults = flow_faults(arrow, events.track[own].astype(np.int64), events.start_ns[own], events.phase[own] == ord("s"))
    yield from _misfits(rows, own, faults)
    yield from _bound(rows, own)


def _same_ids(host: HostTrace) -> Int64:
    """int64[strings]; ids that are one for viewers have one number: they take "0x10", "16" and 16 for the same."""
    number = np.arange(len(host.strings), dtype=np.int64)
    used = host.used(host.events.flow_id)
    if any(text.startswith('"') for _, text in used):
        first: dict[object, int] = {}
        for row, text in used:
            number[row] = first.setdefault(_id(text), row)
    return number


def _id(text: str) -> object:
    try:
        return int(text.strip('"'), 0)
    except ValueError:
        return text


def _misfits(rows: TraceRows, own: Int64, faults: FlowFaults) -> Iterator[PlacedFinding]:
    """What of each arrow does not fit the rest of it."""
    has, starts = ("arrow has", "arrows have"), ("arrow starts", "arrows start")
    undrawn, again = "viewers do not draw them", "that ended or began at the same place: Perfetto counts them as errors"
    kinds = (
        (faults.unstarted, Severity.INFO, "flow-without-start", has, f"an end or a step and no start before it: {undrawn}"),
        (faults.unended, Severity.INFO, "flow-without-end", has, f"a start and no end: {undrawn}"),
        (
            faults.restarted,
            Severity.WARNING,
            "flow-started-twice",
            starts,
            "again before having ended: viewers draw the last start alone",
        ),
        (faults.reused, Severity.INFO, "flow-id-reused", has, f"the id of an earlier one {again}"),
    )
    for is_one, severity, code, nouns, what in kinds:
        if (found := own[is_one]).size:
            yield rows.at(severity, code, f"{counted(len(found), *nouns)} {what}", found)


def _bound(rows: TraceRows, own: Int64) -> Iterator[PlacedFinding]:
    """What arrows are bound to: the slice around a start or a step; that around an end if it says so, else the next one."""
    events = rows.host.events
    is_loose = (events.phase[own] == ord("f")) & (events.binding_point[own] != ord("e"))
    if (found := own[is_loose]).size:
        message = (
            f"{counted(len(found), 'arrow does', 'arrows do')} not say to end in the slice around (bp: e): viewers draw the next "
            f"slice of the thread in its place, or no arrow"
        )
        yield rows.at(Severity.WARNING, "flow-to-next-slice", message, found)
    begins, ends = rows.pairs.begin, rows.pairs.end
    inside = is_inside(
        np.concatenate((rows.track, events.track[begins].astype(np.int64))),
        np.concatenate((rows.start_ns, events.start_ns[begins])),
        np.concatenate((rows.end_ns, events.start_ns[ends])),
        events.track[own].astype(np.int64),
        events.start_ns[own],
    )
    if (found := own[~inside & ~is_loose]).size:
        message = (
            f"{counted(len(found), 'arrow begins or ends', 'arrows begin or end')} in no slice of the thread: viewers draw them at "
            f"another slice, or not at all"
        )
        yield rows.at(Severity.WARNING, "flow-outside-slices", message, found)


def is_inside(lane: Int64, start_ns: Int64, end_ns: Int64, of_lane: Int64, at_ns: Int64) -> Bool:
    """Whether some slice of the lane is open at a moment, its own begin and its own end included.

    Args:
        lane, start_ns, end_ns: int64[n]; slices in any order.
        of_lane, at_ns: int64[k]; moments.

    Returns:
        bool[k].

    >>> is_inside(np.array([0, 0]), np.array([0, 5]), np.array([9, 6]), np.array([0, 0, 1]), np.array([9, 10, 5])).tolist()
    [True, False, False]
    """
    count = len(lane)
    lanes, times = np.concatenate((lane, of_lane)), np.concatenate((start_ns, at_ns))
    # Slices that begin at a moment stand before it.
    order = order_by(lanes, times)
    _, rank = np.unique(np.concatenate((end_ns, at_ns)), return_inverse=True)
    height = lanes * (len(rank) + 1) + 1 + rank
    height[count:] = lanes[count:] * (len(rank) + 1)
    reach = np.maximum.accumulate(height[order]) if len(order) else order
    found = np.empty(len(order), np.bool_)
    found[order] = reach >= (lanes * (len(rank) + 1) + 1 + rank)[order]
    return found[count:]
