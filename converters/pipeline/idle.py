"""Busy and idle time of a timeline, with causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rblnpb.errors import UsageError

from ..analyze.idle.idle import device_idle
from ..analyze.slices.bounds import device_bounds
from ..results import DeviceBounds, IdleReport
from ..sinks.data_frames import arrow_table, columns_of, pandas_frame
from ..sinks.idle import gap_columns, gap_rows, render_idle_csv, render_idle_json, render_idle_text
from ..timeline import Timeline
from .doubts import with_doubts

__all__ = ["Idle", "idle"]


@dataclass(frozen=True)
class Idle:
    """Busy, idle, and why; its text is `str(idle)`.

    Attributes:
        values: The figures.
        bounds: What bounds the device while it works; None where it was not looked for.
    """

    values: IdleReport
    bounds: DeviceBounds | None = None

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 120) -> str:
        """The report for people, folded to a number of columns."""
        return render_idle_text(self.values, self.bounds, width=width)

    def to_json(self) -> bytes:
        """One JSON object, schema `rblnpb.idle/1`."""
        return b"".join(self.json_parts())

    def json_parts(self) -> Iterator[bytes]:
        """The same in parts, each made when it is asked for: of all gaps of a long run the whole is larger than memory."""
        return render_idle_json(self.values, self.bounds)

    def to_csv(self) -> str:
        """A header line and a line a gap."""
        return "".join(self.csv_parts())

    def csv_parts(self) -> Sequence[str]:
        """The same in parts."""
        return render_idle_csv(self.values)

    def to_pandas(self) -> Any:
        """The listed gaps as a pandas.DataFrame; columns as of the CSV.

        Raises:
            UsageError: pandas is not installed.
        """
        return pandas_frame(columns_of(gap_columns(), gap_rows(self.values.gaps)))

    def to_arrow(self) -> Any:
        """The same as a pyarrow.Table.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return arrow_table(columns_of(gap_columns(), gap_rows(self.values.gaps)))


def idle(timeline: Timeline, *, min_gap_ns: int = 1000, top: int = 10, by: str = "device") -> Idle:
    """How long the device was busy and idle, and what it waited for.

    Every nanosecond without work between the first and the last slice of a device has one cause: what `results.CAUSES` says, the
    first that explains it. Causes add up to the idle time exactly.

    Args:
        timeline: Any: a profile alone tells what the runtime did, a host trace which op and which Python frame held it up.
        min_gap_ns: Gaps below this are short: they are counted, and not looked into.
        top: How many of the longest gaps to list; -1 = all.
        by: "device": gaps in which a device as a whole had no work; "engine": those of every engine.

    Raises:
        UsageError: `by` is neither of the two, or `min_gap_ns` is negative.

    Example:
        >>> from rblnpb import converters, sim
        >>> found = converters.idle(converters.merge(sim.simulate(program="mm", calls=3))).values
        >>> sum(cause.idle_ns for cause in found.causes) == found.all.idle_ns
        True
    """
    if by not in ("device", "engine"):
        raise UsageError(f"gaps are those of a 'device' or of an 'engine', not of {by!r}")
    if min_gap_ns < 0:
        raise UsageError(f"a gap is not shorter than 0 ns, so {min_gap_ns} is no threshold")
    report = with_doubts(device_idle(timeline, min_gap_ns=min_gap_ns, top=top, by=by), timeline)
    return Idle(report, device_bounds(timeline, "program"))
