"""A profile and a host trace that hold no record in common: joined by the order of their calls, which is all that they share.

The k-th call of the profile is the k-th launch of the trace where their distances in time agree. A launch is a marker of the
runtime; in a trace without markers, as of an ATOM, a range of a compiled graph; in one without those, an operator that is called
like a layer. No call begins before it is launched: that bounds the clock on one side. A range that waits for its call bounds it on
the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np

from rblnpb.clock import Clock, ClockMap
from rblnpb.errors import ClockError, Finding, Severity
from rblnpb.profile import Profile
from rblnpb.row_order import order_by
from rblnpb.strings import StringTable
from rblnpb.wording import counted

from ..dialect import compile_id_rows, host_window, op_rows
from ..timeline import AlignedLaunches, ClockQuality, HostTrace, Int64, Timeline
from .align import Alignment
from .calls import Calls, find_calls
from .clock_fit import ClockFit
from .correlate import row_by_id
from .placed_profile import origin_findings, place_profile
from .quality import join_findings
from .timeline_union import launches_behind, links_of
from .trace_joins import launches_at
from .trace_side import trace_timeline

__all__ = ["ordered_timeline"]

_AGREEING: Final = 4
"""Calls and launches agree when their distances differ by less than a fourth of the usual distance of two launches."""
_MOST_DISTANCES: Final = 50_000_000
_APART: Final = "look at each file alone: leave out --host, or the profile"


def ordered_timeline(profile: Profile, host: HostTrace) -> Timeline:
    """The timeline of a profile without launches and a host trace without its records.

    Args:
        profile: As read; times in ns of one clock of its own.
        host: The trace.

    Raises:
        ClockError: The two have nothing in common, or not enough to tell which call is which launch.
    """
    trace = trace_timeline(host)
    calls = find_calls(profile)
    clock = _only_clock(profile, host, trace, calls)
    strings = StringTable(trace.strings)
    for launches, end_ns in _launches(profile, host, trace, strings):
        order = _in_order(calls, launches, end_ns)
        if order is not None:
            return _joined(profile, host, calls, _Order(order, clock, launches, strings.rows()))
    message = (
        f"the {counted(len(calls), 'call')} of the profile and the launches of {host.document.name} do not fit each other in time"
    )
    raise ClockError(f"{message}: are the two of one run? A trace and all .pb files of it are needed; else {_APART}")


def _only_clock(profile: Profile, host: HostTrace, trace: Timeline, calls: Calls) -> Clock:
    """The one clock that all calls are timed on.

    Raises:
        ClockError: There are several, or no calls; or the trace has device work, of which none is in the profile.
    """
    if len(trace.slices):
        message = f"none of the {counted(len(trace.slices), 'device row')} of {host.document.name} is like a record of the profile"
        raise ClockError(f"{message} in name, length and distance to others: are the two of one run? Else {_APART}")
    if not len(calls):
        raise ClockError(f"cannot join the profile with {host.document.name}: its records tell no calls apart; {_APART}")
    used = np.unique(calls.clock_id).tolist()
    clock = profile.clock(used[0])
    if len(used) > 1 or clock is None or not clock.nominal_hz:
        ticking = counted(len(used), "clock that nothing knows the rate of", "clocks that nothing relates")
        message = f"cannot join the profile with {host.document.name}: its records tick on {ticking}"
        raise ClockError(f"{message}; {_APART}")
    return clock


def _launches(
    profile: Profile, host: HostTrace, trace: Timeline, strings: StringTable
) -> Iterator[tuple[AlignedLaunches, Int64 | None]]:
    """What may have launched the calls, the surest first, and when each was over, if it is a range that may wait for its call."""
    if len(trace.launches):
        yield _by_time(trace.launches), None
    ops = op_rows(host)
    for rows in (compile_id_rows(host)[0], _like_layers(profile, host, ops)):
        if len(rows):
            ordered = rows[order_by(host.events.start_ns[rows])]
            end_ns = host.events.start_ns[ordered] + host.events.duration_ns[ordered]
            yield launches_at(host, ordered, ops, strings), end_ns


def _by_time(launches: AlignedLaunches) -> AlignedLaunches:
    order = order_by(launches.start_ns)
    return AlignedLaunches(**{column.name: getattr(launches, column.name)[order] for column in fields(AlignedLaunches)})


_WORD: Final = re.compile(r"[a-z]+(?:_[a-z]+)*")


def _like_layers(profile: Profile, host: HostTrace, ops: Int64) -> Int64:
    """Operators that are called like a layer of the profile, such as aten::mm where a layer is called mm: rows of events."""
    used = np.unique(profile.device_slices.stage_strindex).tolist()
    words = {word for row in used for word in _WORD.findall(profile.strings[row].lower())}
    called = np.array([text.lower().rpartition("::")[2].strip("_") in words for text in host.strings], np.bool_)
    return ops[called[host.events.name[ops]]]


@dataclass(frozen=True, eq=False)
class _Bounds:
    """Which calls are which launches, and what that says of the clock.

    Attributes:
        call, launch: int64[k]; rows of both.
        is_by_id: Whether the calls name their launches, so that nothing was guessed.
        offset_ns: The least that is added to a time of the profile, so that no call begins before its launch.
        spread_ns: How much later than that the latest call begins after its launch.
        room_ns: By how much the offset may be larger, before a call ends after the range that waits for it; None = not known.
    """

    call: Int64
    launch: Int64
    is_by_id: bool
    offset_ns: int
    spread_ns: int
    room_ns: int | None


def _in_order(calls: Calls, launches: AlignedLaunches, end_ns: Int64 | None) -> _Bounds | None:
    """Calls and their launches, by id where the calls name them, else in order; None when they do not fit each other."""
    by_id = row_by_id(launches.launch_id, calls.launch_id)
    if (by_id >= 0).any():
        call = np.flatnonzero(by_id >= 0)
        return _bounds(calls, launches, call, by_id[call], end_ns, is_by_id=True)
    start, at = calls.start, launches.start_ns
    count = min(len(start), len(at))
    if (abs(len(start) - len(at)) + 1) * count > _MOST_DISTANCES:
        return None
    is_spare_call = len(start) > len(at)
    windows = np.lib.stride_tricks.sliding_window_view(start if is_spare_call else at, count)
    distances = at - windows if is_spare_call else windows - start
    spread = distances.max(axis=1) - distances.min(axis=1)
    best = int(spread.argmin())
    others = np.delete(spread, best)
    if len(others) and int(others.min()) <= 2 * int(spread[best]) + 1:
        # Another shift does as well.
        return None
    if count > 1 and _AGREEING * int(spread[best]) > int(np.median(np.diff(at))):
        return None
    rows = np.arange(count)
    call, launch = (rows + best, rows) if is_spare_call else (rows, rows + best)
    return _bounds(calls, launches, call, launch, end_ns, is_by_id=False)


def _bounds(
    calls: Calls, launches: AlignedLaunches, call: Int64, launch: Int64, end_ns: Int64 | None, *, is_by_id: bool
) -> _Bounds:
    distance = launches.start_ns[launch] - calls.start[call]
    offset = int(distance.max())
    room = None if end_ns is None else int((end_ns[launch] - calls.end[call]).min()) - offset
    return _Bounds(call, launch, is_by_id, offset, offset - int(distance.min()), room if room is not None and room >= 0 else None)


@dataclass(frozen=True, eq=False)
class _Order:
    """The order, and what it is an order of."""

    bounds: _Bounds
    clock: Clock
    launches: AlignedLaunches
    strings: tuple[str, ...]


def _joined(profile: Profile, host: HostTrace, calls: Calls, order: _Order) -> Timeline:
    bounds, clock = order.bounds, order.clock
    at = calls.start[bounds.call[:1]]
    clock_map = ClockMap(clock, at, at + bounds.offset_ns, np.zeros(1, np.int64), 0, 0.0, 0)
    unsure_ns = bounds.spread_ns if bounds.room_ns is None else bounds.room_ns
    quality = ClockQuality(
        clock.name or f"clock {clock.clock_id}", len(bounds.call), bounds.spread_ns, unsure_ns, 0.0, 0, 0, basis="launch-order"
    )
    alignment = Alignment.of_fits(profile, {clock.clock_id: ClockFit(clock_map, quality)})
    base, placed = place_profile(profile, None, alignment)
    launches = launches_behind(order.launches, base.strings)
    joined = replace(base, host=host, launches=launches, strings=(*base.strings, *order.strings[1:]))
    launch_of = np.full(len(calls) + 1, -1, np.int64)
    launch_of[bounds.call] = bounds.launch
    sides = {}
    for label, of_record, table in (("slices", calls.of_slice, "device_slices"), ("frames", calls.of_frame, "workload_slices")):
        slices = getattr(base, label)
        links = links_of(slices, base, joined, launch_of[of_record[placed[table]]])
        sides[label] = replace(slices, launch=links.launch, host_row=links.host_row, rule=links.rule)
    timeline = replace(joined, **sides, sources=(*base.sources, host.document.name))
    findings = (
        *base.findings,
        *host.findings,
        *_findings(calls, order),
        *join_findings(timeline, host_window(host)),
        *origin_findings(profile, host),
    )
    return replace(timeline, findings=findings)


def _findings(calls: Calls, order: _Order) -> Iterator[Finding]:
    bounds, count = order.bounds, len(order.bounds.call)
    room = "" if bounds.room_ns is None else f", and by at most {bounds.room_ns:,} ns, for its op waited for each call"
    how = "their launch ids alone join" if bounds.is_by_id else "nothing but their order joins"
    message = (
        f"{how} {counted(count, 'call')} of the profile with launches of the trace: device times are too early by what the "
        f"quickest of them took to begin{room}; the slowest took {bounds.spread_ns:,} ns longer"
    )
    yield Finding(Severity.WARNING, "joined-by-order", message, count)
    spare_calls, spare_launches = len(calls) - count, len(order.launches) - count
    if spare_calls:
        message = f"{counted(spare_calls, 'call')} of the profile without a launch in the trace: before it began, or after its end"
        yield Finding(Severity.INFO, "calls-without-launch", message, spare_calls)
    if spare_launches:
        missing = counted(spare_launches, "launch", "launches")
        message = f"{missing} of the trace without a call in the profile: give all .pb files of the run"
        yield Finding(Severity.WARNING, "launches-without-call", message, spare_launches)
