"""Submission latency and queue length of a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..analyze.launches.latency import latency
from ..results import Latency
from ..sinks.data_frames import arrow_table, columns_of, pandas_frame
from ..sinks.latency import figure_rows, render_latency_csv, render_latency_json, render_latency_text
from ..timeline import Timeline
from .doubts import with_doubts

__all__ = ["LatencyReport", "measure_latency"]


@dataclass(frozen=True)
class LatencyReport:
    """Submission latency and queue length; its text is `str(report)`."""

    values: Latency

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 120) -> str:
        """The report for people, folded to a number of columns."""
        return render_latency_text(self.values, width=width)

    def to_json(self, *, series: bool = False) -> bytes:
        """One JSON object, schema `rblnpb.latency/1`; with the length of the queue over time where `series` asks for it."""
        return render_latency_json(self.values, series=series)

    def to_csv(self) -> str:
        """A header, a line for all launches, and one for each program and thread."""
        return render_latency_csv(self.values)

    def to_pandas(self) -> Any:
        """The figures as a pandas.DataFrame; columns as of the CSV.

        Raises:
            UsageError: pandas is not installed.
        """
        return pandas_frame(columns_of(*figure_rows(self.values)))

    def to_arrow(self) -> Any:
        """The same as a pyarrow.Table.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return arrow_table(columns_of(*figure_rows(self.values)))


def measure_latency(timeline: Timeline) -> LatencyReport:
    """How long launches took to reach the device, and how many were under way at a time.

    Args:
        timeline: Of a profile, of a host trace with device rows, or of both.

    Example:
        >>> from rblnpb import converters, sim
        >>> report = converters.measure_latency(converters.merge(sim.simulate(calls=3)))
        >>> report.values.total.latency.count
        3
    """
    return LatencyReport(with_doubts(latency(timeline), timeline))
