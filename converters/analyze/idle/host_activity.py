"""What threads of the host did, as far as it can hold up a launch: the runtime's work, hidden work, and ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.profile import OverheadKind
from rblnpb.strings import StringTable

from ...dialect import ANNOTATIONS, device_rows, op_rows, slice_rows
from ...results import CAUSES, STEPS
from ...timeline import Bool, HostTrace, Int64, Timeline
from ..grouping import numbered
from ..host.host_threads import HostThreads
from .coverage import Coverage

__all__ = ["HostActivities", "host_activities", "interned", "op_coverage", "overhead_name", "told_tracks"]

_RUNTIME, _SERIALISED, _HOST = (list(CAUSES).index(name) for name in ("runtime", "serialised-by-profiling", "waiting-for-host"))
_FALLBACK: Final = list(STEPS).index("fallback")

_OVERHEAD_NAMES: Final = {int(kind): kind.name.lower().replace("_", " ") for kind in OverheadKind}

_WAIT: Final = "wait"
"""What merge calls the runtime's wait for the device."""


@dataclass(frozen=True, eq=False)
class HostActivities:
    """Activities of threads, and what they hold a launch up by; the columns have one row each.

    Attributes:
        coverage: Which of them is innermost, by lanes of `HostThreads`.
        start_ns: int64[n]; trace clock.
        cause: int64[n]; place in `results.CAUSES`.
        step: int64[n]; place in `results.STEPS`; -1 = none.
        name: int64[n]; row of the table of names.
    """

    coverage: Coverage
    start_ns: Int64
    cause: Int64
    step: Int64
    name: Int64


def host_activities(timeline: Timeline, threads: HostThreads, names: StringTable) -> HostActivities:
    """Records of the runtime, of hidden work, and of calls that the host trace shows.

    Args:
        timeline: Any.
        threads: Its threads.
        names: Gets the names of activities.
    """
    parts = [_of_runtime(timeline, threads, names), _of_overheads(timeline, threads, names)]
    if timeline.host is not None:
        parts.append(_of_calls(timeline.host, names))
    lane, start_ns, duration_ns, cause, step, name = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return HostActivities(Coverage.of(lane, start_ns, start_ns + duration_ns), start_ns, cause, step, name)


def overhead_name(kind: int) -> str:
    """What hidden work of a kind is called, such as "host copy"."""
    return _OVERHEAD_NAMES.get(kind, _OVERHEAD_NAMES[0])


def interned(names: StringTable, texts: tuple[str, ...], rows: Int64) -> Int64:
    """int64[n]; rows of the table of names for rows of other texts."""
    if not len(rows):
        return np.empty(0, np.int64)
    distinct, of_row = numbered(rows)
    return np.array([names.intern(texts[row]) for row in distinct.tolist()], np.int64)[of_row]


def _of_runtime(timeline: Timeline, threads: HostThreads, names: StringTable) -> tuple[Int64, ...]:
    runtime = timeline.runtime
    is_wait = np.array([text == _WAIT for text in timeline.strings], np.bool_)[runtime.name]
    cause = np.where(is_wait & bool(timeline.is_serialised), _SERIALISED, _RUNTIME)
    name = interned(names, timeline.strings, runtime.name.astype(np.int64))
    return threads.runtime, runtime.start_ns, runtime.duration_ns, cause, np.full(len(runtime), -1, np.int64), name


def _of_overheads(timeline: Timeline, threads: HostThreads, names: StringTable) -> tuple[Int64, ...]:
    """Fallbacks are ops on the host; what else the program did not ask for is the runtime's."""
    records = timeline.overheads
    own = np.flatnonzero((records.start_ns != ABSENT) & (records.duration_ns > 0) & (threads.overhead >= 0))
    kind = records.kind[own].astype(np.int64)
    is_fallback = kind == OverheadKind.CPU_FALLBACK
    codes, of_record = numbered(kind)
    sorts = np.array([names.intern(overhead_name(code)) for code in codes.tolist()], np.int64)
    name = sorts[of_record] if len(own) else of_record.astype(np.int64)
    name = np.where(is_fallback, interned(names, timeline.strings, records.op[own].astype(np.int64)), name)
    cause, step = np.where(is_fallback, _HOST, _RUNTIME), np.where(is_fallback, _FALLBACK, -1)
    return threads.overhead[own], records.start_ns[own], records.duration_ns[own], cause, step, name


def _of_calls(host: HostTrace, names: StringTable) -> tuple[Int64, ...]:
    found = device_rows(host)
    rows = np.sort(np.concatenate((found.calls, found.markers)))
    events = host.events
    # A marker may be an instant, which has no duration.
    duration_ns = np.maximum(events.duration_ns[rows], 0)
    name = interned(names, host.strings, events.name[rows].astype(np.int64))
    same = np.full((2, len(rows)), -1, np.int64)
    same[0] = _RUNTIME
    return events.track[rows].astype(np.int64), events.start_ns[rows], duration_ns, *same, name


def op_coverage(host: HostTrace, tracks: Int64) -> Coverage:
    """Which op is innermost on these tracks: owners are rows of `host.events`."""
    events = host.events
    rows = op_rows(host)
    is_wanted = np.zeros(len(host.tracks) + 1, np.bool_)
    is_wanted[tracks] = True
    rows = rows[is_wanted[events.track[rows]]]
    start_ns = events.start_ns[rows]
    found = Coverage.of(events.track[rows].astype(np.int64), start_ns, start_ns + events.duration_ns[rows])
    return Coverage(found.lane, found.since_ns, np.append(rows, -1)[found.owner])


def told_tracks(host: HostTrace) -> Bool:
    """bool[tracks]; on which threads the trace shows what the program did: ops, Python frames, or ranges that somebody named."""
    is_told = np.zeros(len(host.tracks), np.bool_)
    is_told[host.events.track[np.concatenate((op_rows(host), slice_rows(host, *ANNOTATIONS)))]] = True
    return is_told
