"""Advice on a timeline: what costs time and need not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..analyze.advice.advice import advise as analyze
from ..results import AdviceReport
from ..sinks.advice import advice_rows, render_advice_json, render_advice_text
from ..sinks.data_frames import arrow_table, columns_of, pandas_frame
from ..timeline import Timeline
from .doubts import with_doubts

__all__ = ["Advised", "advise"]


@dataclass(frozen=True)
class Advised:
    """Advice on a timeline; its text is `str(advised)`."""

    values: AdviceReport

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int = 120) -> str:
        """The advice for people, folded to a number of columns."""
        return render_advice_text(self.values, width=width)

    def to_json(self) -> bytes:
        """One JSON object, schema `rblnpb.advise/1`."""
        return render_advice_json(self.values)

    def to_pandas(self) -> Any:
        """A row a piece of advice as a pandas.DataFrame, the dearest first; `part` tells apart what is below the threshold.

        Raises:
            UsageError: pandas is not installed.
        """
        return pandas_frame(columns_of(*advice_rows(self.values)))

    def to_arrow(self) -> Any:
        """The same as a pyarrow.Table.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return arrow_table(columns_of(*advice_rows(self.values)))


def advise(timeline: Timeline) -> Advised:
    """What costs time and need not, the dearest first, and what the host's time was spent on.

    Args:
        timeline: Of a profile, of a host trace, or of both; each rule uses what there is.

    Example:
        >>> from rblnpb import converters, sim
        >>> advised = converters.advise(converters.merge(sim.simulate(calls=100)))
        >>> [one.code for one in advised.values.advice]
        ['compile-in-window', 'serialised-by-profiling']
    """
    return Advised(with_doubts(analyze(timeline), timeline))
