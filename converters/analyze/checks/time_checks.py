"""Times of a trace: their order, clocks that were mixed, and digits that viewers cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Severity
from rblnpb.lanes import crossing
from rblnpb.row_order import order_by
from rblnpb.wording import counted

from ...results import PlacedFinding
from ...timeline import Bool, Int64
from .slice_checks import DAY_NS
from .trace_rows import TraceRows, saturated_end

__all__ = ["is_distant", "seen_by_perfetto", "time_findings"]

_EXACT_BELOW_US: Final = 1 << 43
"""Up to here two neighbours among the doubles are less than a nanosecond apart, so that rounding finds the right one."""

_LARGEST_US: Final = (1 << 63) // 1000 - 1


def time_findings(rows: TraceRows) -> Iterator[PlacedFinding]:
    """Findings about the times of everything but metadata."""
    yield from _distant(rows)
    yield from _negative(rows)
    yield from _missing(rows)
    yield from _rounded(rows)
    yield from _unsorted(rows)


def _distant(rows: TraceRows) -> Iterator[PlacedFinding]:
    time_ns = rows.host.events.start_ns[rows.timed]
    if (found := rows.timed[is_distant(time_ns)]).size:
        message = (
            f"{counted(len(found), 'event lies', 'events lie')} more than a day from the others: times of two clocks are mixed, "
            f"such as time since boot and Unix time"
        )
        yield rows.at(Severity.ERROR, "distant-times", message, found)


def is_distant(time_ns: Int64) -> Bool:
    """Times that a day or more parts from the many.

    Args:
        time_ns: int64[n]; any clock, any order.

    Returns:
        bool[n]; all but those of the largest group of times with no such pause in it; of equal groups the later one is it.

    >>> is_distant(np.array([0, 10**15, 10**15 + 5])).tolist()
    [True, False, False]
    """
    order = order_by(time_ns)
    ordered = time_ns[order]
    # The difference of two times may be more than int64 holds, never more than uint64 does.
    pause = ordered[1:].view(np.uint64) - ordered[:-1].view(np.uint64)
    group = np.append(0, np.cumsum(pause > DAY_NS))[: len(order)]
    size = np.bincount(group)
    found = np.zeros(len(order), np.bool_)
    if len(size):
        found[order] = group != len(size) - 1 - np.argmax(size[::-1])
    return found


def _negative(rows: TraceRows) -> Iterator[PlacedFinding]:
    if (found := rows.timed[rows.written_ns[rows.timed] < 0]).size:
        lying = counted(len(found), "event lies", "events lie")
        message = f"{lying} before the zero of the file's clock: Perfetto leaves them out"
        yield rows.at(Severity.WARNING, "negative-time", message, found)


def _missing(rows: TraceRows) -> Iterator[PlacedFinding]:
    events = rows.host.events
    if (found := np.flatnonzero((events.start_ns == ABSENT) & (events.phase != ord("M")))).size:
        message = f"{counted(len(found), 'event has', 'events have')} no time: no analysis and no viewer can place them"
        yield rows.at(Severity.WARNING, "no-time", message, found)


def _rounded(rows: TraceRows) -> Iterator[PlacedFinding]:
    """A trace holds microseconds, and viewers hold those as doubles, which have no room for decimals in large numbers."""
    written = rows.written_ns[rows.timed]
    error_ns = np.abs(seen_by_perfetto(written) - written)
    if (found := rows.timed[error_ns != 0]).size:
        start_ns = seen_by_perfetto(rows.written_ns[rows.slices])
        duration_ns = rows.host.events.duration_ns[rows.slices]
        count = int(crossing(rows.track, start_ns, saturated_end(start_ns, duration_ns)).sum())
        crossed = f", so that {counted(count, 'slice crosses', 'slices cross')} another there" if count else ""
        message = (
            f"{counted(len(found), 'time has', 'times have')} more digits than a double holds: Perfetto is off by up to "
            f"{int(error_ns.max()):,} ns{crossed}; here they are exact, and 'rblnpb convert' writes them so"
        )
        yield rows.at(Severity.WARNING, "rounded-times", message, found)


def seen_by_perfetto(written_ns: Int64) -> Int64:
    """The time that Perfetto makes of a number of microseconds.

    Whole ones are exact. Others are doubles of microseconds, and of nanoseconds unless the first of the two is a whole number.

    Args:
        written_ns: int64[n].

    >>> seen_by_perfetto(np.array([1_700_000_000_000_000_123, 9_007_199_254_740_993, 1_700_000_000_000_000_000])).tolist()
    [1700000000000000000, 9007199254740992, 1700000000000000000]
    """
    whole, part = np.divmod(written_ns, 1000)
    is_risky = (part != 0) & (np.abs(whole) >= _EXACT_BELOW_US) & (np.abs(whole) < _LARGEST_US)
    microseconds = np.where(is_risky, whole + part / 1000.0, 0.0)
    nanoseconds = np.where(np.rint(microseconds) == microseconds, 0.0, np.rint(microseconds * 1000.0)).astype(np.int64)
    through_double = np.where(nanoseconds == 0, microseconds.astype(np.int64) * 1000, nanoseconds)
    return np.where(is_risky, through_double, written_ns)


def _unsorted(rows: TraceRows) -> Iterator[PlacedFinding]:
    time_ns = rows.host.events.start_ns[rows.timed]
    if (found := rows.timed[1:][time_ns[1:] < time_ns[:-1]]).size:
        message = (
            f"{counted(len(found), 'event stands', 'events stand')} behind a later one in the file: harmless, readers sort them"
        )
        yield rows.at(Severity.INFO, "unsorted-events", message, found)
