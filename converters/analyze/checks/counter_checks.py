"""Counters: samples that are no numbers, run back in time, or fall where they can only grow. Of traces and of profiles alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.errors import Severity
from rblnpb.row_order import order_by
from rblnpb.wording import counted, first_few

from ...results import EventDetails, PlacedFinding
from ...timeline import Int64
from .trace_rows import TraceRows

__all__ = ["counter_findings", "fall_message", "falling", "is_monotone", "unsorted"]

_MONOTONE: Final = re.compile(r"_total\b|\bcumulative\b|\bsince start\b", re.IGNORECASE)


def is_monotone(name: str) -> bool:
    """Whether a counter of this name can only grow: it ends in `_total`, as OpenMetrics names counters, or says so in words.

    "Total" by itself says nothing: memory that is in use in total rises and falls.

    >>> is_monotone("rx_bytes_total"), is_monotone("Cumulative stalls"), is_monotone("Total Allocated")
    (True, True, False)
    """
    return _MONOTONE.search(name) is not None


def falling(series: npt.NDArray[np.integer], time_ns: Int64, value: npt.NDArray[np.float64]) -> Int64:
    """Samples that are less than the one before them in time.

    Args:
        series: integer[n]; which counter.
        time_ns: int64[n]; any clock; of one time the order of the rows counts.
        value: float64[n]; NaN is not looked at.

    Returns:
        int64[k]; rows, ascending.

    >>> falling(np.zeros(4, np.int32), np.array([0, 2, 1, 3]), np.array([1.0, 5.0, 4.0, 3.0]))
    array([3])
    """
    known = np.flatnonzero(~np.isnan(value))
    order = known[order_by(series[known].astype(np.int64), time_ns[known])]
    falls = (series[order][1:] == series[order][:-1]) & (value[order][1:] < value[order][:-1])
    return np.sort(order[1:][falls]).astype(np.int64)


def unsorted(series: npt.NDArray[np.integer], time_ns: Int64) -> Int64:
    """Samples that stand behind a later one of their counter.

    Args:
        series: integer[n]; which counter.
        time_ns: int64[n]; any clock.

    Returns:
        int64[k]; rows, ascending.

    >>> unsorted(np.array([0, 1, 0]), np.array([5, 0, 4]))
    array([2])
    """
    order = order_by(series)
    is_back = (series[order][1:] == series[order][:-1]) & (time_ns[order][1:] < time_ns[order][:-1])
    return np.sort(order[1:][is_back]).astype(np.int64)


def counter_findings(rows: TraceRows, details: EventDetails) -> Iterator[PlacedFinding]:
    """Findings about the counter events of a trace."""
    if (found := details.empty_rows).size:
        message = f"{counted(len(found), 'counter event has', 'counter events have')} no value: Perfetto leaves them out"
        yield rows.at(Severity.WARNING, "counter-without-value", message, found)
    if (found := details.sample_row[np.isnan(details.value)]).size:
        message = f"{counted(len(found), 'value of a counter is', 'values of counters are')} no number: Perfetto leaves them out"
        yield rows.at(Severity.WARNING, "counter-not-a-number", message, found)
    if (found := details.sample_row[np.isinf(details.value)]).size:
        message = f"{counted(len(found), 'value of a counter is', 'values of counters are')} no finite number"
        yield rows.at(Severity.WARNING, "not-finite", message, found, "counters")
    time_ns = rows.host.events.start_ns[details.sample_row]
    if (back := unsorted(details.series, time_ns)).size:
        message = f"{counted(len(back), 'sample stands', 'samples stand')} behind a later one of the counter: viewers sort them"
        yield rows.at(Severity.INFO, "unsorted-samples", message, details.sample_row[back])
    yield from _fallen(rows, details, time_ns)


def _fallen(rows: TraceRows, details: EventDetails, time_ns: Int64) -> Iterator[PlacedFinding]:
    grows = np.array([is_monotone(name) for name in details.series_names] or [False], np.bool_)
    own = np.flatnonzero(grows[details.series])
    fallen = own[falling(details.series[own], time_ns[own], details.value[own])]
    if len(fallen):
        names = [details.series_names[row] for row in np.unique(details.series[fallen]).tolist()]
        yield rows.at(Severity.WARNING, "counter-fell", fall_message(len(fallen), names), details.sample_row[fallen])


def fall_message(count: int, names: Sequence[str]) -> str:
    """What a fall of a counter that only grows means."""
    falls = counted(count, "fall", "falls")
    return (
        f"{falls} of counters that only grow ({first_few(names)}): they were reset or ran over, and differences over that are wrong"
    )
