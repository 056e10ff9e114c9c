"""What a check of one file found, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rblnpb.errors import Finding, verdict

from ..host_trace import Int32, Int64

__all__ = ["CheckReport", "EventDetails", "Place", "PlacedFinding"]


@dataclass(frozen=True)
class Place:
    """One event or record that a finding speaks of.

    Attributes:
        table: What `row` counts: "events" of a trace in the order of its file, or a table of a profile, such as "launches".
        row: Ordinal there, from 0.
        name: What it is called; empty = nothing.
        start_ns: When it begins, trace clock; None = it has no time.
        offset: First byte of the event in the decompressed document; None for records of a profile.
    """

    table: str
    row: int
    name: str = ""
    start_ns: int | None = None
    offset: int | None = None


@dataclass(frozen=True)
class PlacedFinding:
    """A finding with the first few places that it speaks of; none where it is about the whole input, or reading found it."""

    finding: Finding
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class CheckReport:
    """Every finding about one file.

    Attributes:
        name: What the file is called.
        found: The worst first; of one severity in the order in which they were found.
        first_ns: Least time of an event or record, trace clock, from which reports count; None = there is no time.
    """

    name: str
    found: tuple[PlacedFinding, ...]
    first_ns: int | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings without their places."""
        return tuple(one.finding for one in self.found)

    @property
    def verdict(self) -> str:
        """The worst of the findings: "ok", "warning" or "error"."""
        return verdict(self.findings)


@dataclass(frozen=True, eq=False)
class EventDetails:
    """What a check asks of events beyond the columns of a trace. Rows are those of `HostTrace.events`.

    Attributes:
        sample_row: int64[k]; the counter event of each sample, ascending.
        series: int32[k]; row of `series_names`.
        value: float64[k]; NaN where it is no number.
        series_names: Of each counter of each process, "event key".
        empty_rows: int64[m]; counter events without any value, ascending.
        async_rows: int64[a]; asynchronous events ("b", "e", "n" and older ones), ascending.
        async_id: int64[a]; events of one id and process have one number; -1 = neither "id" nor "id2".
        label_rows: int64[l]; metadata events, ascending.
        label: int64[l]; those that say the same in their args have one number.
        same_rows: int64[s]; the events whose texts were asked for, ascending.
        same_text: int64[s]; those of one text have one number.
    """

    sample_row: Int64
    series: Int32
    value: npt.NDArray[np.float64]
    series_names: tuple[str, ...]
    empty_rows: Int64
    async_rows: Int64
    async_id: Int64
    label_rows: Int64
    label: Int64
    same_rows: Int64
    same_text: Int64
