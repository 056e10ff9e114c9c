"""Arrows of a host trace that end at work of a device: what led there, where no id does.

An arrow is told by category, name and id, as viewers tell it. Its end lies at the start of a row of its thread, or, with `bp` "e",
inside one. An end without a start says that something was launched, and that its launch is not recorded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.row_order import order_by

from ..nesting import latest
from ..timeline import Bool, HostTrace, Int64
from .correlate import innermost, thread_lanes
from .group_rows import group_numbers, turns
from .launch_scopes import identified, launch_in_scope, process_numbers

__all__ = ["Arrows", "arrows_to", "no_arrows"]


@dataclass(frozen=True, eq=False)
class Arrows:
    """Arrows that end at rows of a device, by row; all columns have the length n of the rows that were asked for.

    Attributes:
        start: int64[n]; row of `HostTrace.events` where the arrow begins; -1 = none, or not recorded.
        is_on_op: bool[n]; whether it begins in an operator.
        is_end: bool[n]; whether an arrow ends at the row.
    """

    start: Int64
    is_on_op: Bool
    is_end: Bool


def no_arrows(count: int) -> Arrows:
    """Of rows that have none."""
    return Arrows(np.full(count, -1, np.int64), np.zeros(count, np.bool_), np.zeros(count, np.bool_))


def arrows_to(host: HostTrace, rows: Int64, ops: Int64) -> Arrows:
    """The arrow to each of these rows of devices.

    Args:
        host: The trace.
        rows: int64[n]; rows of devices, ascending.
        ops: int64[k]; operators. Of several arrows to one row, those from an operator go first, then those that begin last. An
            arrow from a process that only a device has says what had to end before, not what launched.
    """
    events = host.events
    arrows = no_arrows(len(rows))
    is_arrow = (events.flow_id != 0) & (events.start_ns != ABSENT)
    ends = np.flatnonzero(is_arrow & np.isin(events.phase, (ord("f"), ord("t")))).astype(np.int64)
    starts = np.flatnonzero(is_arrow & (events.phase == ord("s"))).astype(np.int64)
    process = process_numbers(host)
    starts = starts[~np.isin(process[events.track[starts]], np.setdiff1d(process[events.track[rows]], process[events.track[ops]]))]
    at = _rows_at(host, ends, rows) if len(ends) and len(rows) else np.full(len(ends), -1, np.int64)
    ends, at = ends[at >= 0], at[at >= 0]
    arrows.is_end[at] = True
    if not len(ends) or not len(starts):
        return arrows
    of_start, of_end = np.split(_keys(host, np.concatenate((starts, ends))), [len(starts)])
    begin = launch_in_scope(identified(host, starts, of_start), identified(host, ends, of_end))
    at, begin = at[begin >= 0], starts[begin[begin >= 0]]
    in_op = innermost(host, ops, events.track[begin].astype(np.int64), events.start_ns[begin]) >= 0
    best = order_by(in_op, events.start_ns[begin])
    arrows.start[at[best]], arrows.is_on_op[at[best]] = begin[best], in_op[best]
    return arrows


def _keys(host: HostTrace, rows: Int64) -> Int64:
    """int64[n], from 1; arrows that belong together have one. An id may be a number at one end and the text of it at the other."""
    events = host.events
    ids: dict[str, int] = {}
    of_text = {row: ids.setdefault(host.strings[row].strip('"'), len(ids)) for row in np.unique(events.flow_id[rows]).tolist()}
    number = np.zeros(len(host.strings), np.int64)
    number[list(of_text)] = list(of_text.values())
    return group_numbers(number[events.flow_id[rows]], events.category[rows], events.name[rows]) + 1


def _rows_at(host: HostTrace, ends: Int64, rows: Int64) -> Int64:
    """int64[k]; place among these rows of devices where each arrow ends; -1 = at none of them."""
    events = host.events
    lanes = thread_lanes(host)
    lane, of_end = lanes[events.track[rows]], lanes[events.track[ends]]
    found = _rows_starting(host, ends, rows, of_end, lane)
    left = np.flatnonzero(found < 0)
    if not len(left):
        return found
    encloses = left[events.binding_point[ends[left]] != 0]
    place = np.full(len(events), -1, np.int64)
    place[rows] = np.arange(len(rows))
    around = innermost(host, rows, events.track[ends[encloses]].astype(np.int64), events.start_ns[ends[encloses]])
    found[encloses] = np.where(around >= 0, place[around], -1)
    follows = left[events.binding_point[ends[left]] == 0]
    # The first that begins at or after a moment is, with time turned around, the last that begins no later.
    backwards = np.arange(len(rows) - 1, -1, -1)
    first = latest(lane[backwards], -events.start_ns[rows[backwards]], of_end[follows], -events.start_ns[ends[follows]])
    found[follows] = np.where(first >= 0, len(rows) - 1 - first, -1)
    return found


def _rows_starting(host: HostTrace, ends: Int64, rows: Int64, of_end: Int64, lane: Int64) -> Int64:
    """int64[k]; place of the row that starts where each arrow ends, -1 = none does.

    Several rows of a thread may start at one moment: the arrows of one category that end there belong to them in turn.
    """
    events = host.events
    _, dense = np.unique(events.start_ns[np.concatenate((rows, ends))], return_inverse=True)
    of_row, moment = np.split(dense * (len(host.tracks) + 1) + np.concatenate((lane, of_end)), [len(rows)])
    by_moment = order_by(of_row)
    first = np.searchsorted(of_row[by_moment], moment, side="left")
    beyond = np.searchsorted(of_row[by_moment], moment, side="right")
    turn = turns(moment, events.category[ends])
    place = np.minimum(first + turn, beyond - 1)
    return np.where(beyond > first, np.append(by_moment, -1)[place], -1)
