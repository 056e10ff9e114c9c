"""Where the device's time comes from: the table by op, module or Python frame, and stacks for flame graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rblnpb.errors import UsageError

from ..analyze.attribution.attribution import WEIGHTS, attribution_table
from ..analyze.attribution.attribution import call_stacks as find_stacks
from ..analyze.attribution.stacked_calls import KEPT
from ..results import AttributionTable, CallStacks
from ..sinks.attribution import (
    attribution_columns,
    attribution_order,
    render_attribution_csv,
    render_attribution_json,
    render_attribution_text,
    render_coverage,
)
from ..sinks.data_frames import Column, arrow_table, columns_of, pandas_frame
from ..sinks.folded_stacks import render_folded
from ..sinks.speedscope import render_speedscope
from ..timeline import Timeline
from .doubts import with_doubts

__all__ = ["STACK_KEYS", "STACK_WEIGHTS", "Attribution", "FlameStacks", "attribute", "call_stacks"]

STACK_KEYS = tuple(KEPT)
"""What a row of the attribution, or a frame of a stack, may be."""

STACK_WEIGHTS = WEIGHTS
"""What stacks may weigh."""


@dataclass(frozen=True, eq=False)
class Attribution:
    """Device and host time by op, module or Python frame; its text is `str(attribution)`.

    Attributes:
        values: The rows, exact, in order of first appearance, and how much of all device time they explain.
    """

    values: AttributionTable

    def __str__(self) -> str:
        return self.text()

    def rows(self, sort_by: str | None = "default", row_limit: int = -1) -> list[int]:
        """Numbers of rows in order, at most `row_limit` (-1 = all).

        Args:
            sort_by: A column of numbers, such as "device_total_sum"; "default" = device time of the frame itself, or the host's
                where no device worked; None = order of first appearance.
            row_limit: Most rows.

        Raises:
            UsageError: There is no such column.
        """
        order = attribution_order(self.values, sort_by)
        return order if row_limit < 0 else order[:row_limit]

    def text(self, width: int = 160, sort_by: str | None = "default", row_limit: int = 100) -> str:
        """The table for people, as many of its columns as fit so many, with its coverage; other arguments as of `rows`."""
        return render_attribution_text(self.values, self.rows(sort_by, row_limit), width=width)

    def to_json(self, sort_by: str | None = "default", row_limit: int = -1) -> bytes:
        """One JSON object, schema `rblnpb.stacks/1`; arguments as of `rows`."""
        return render_attribution_json(self.values, self.rows(sort_by, row_limit))

    def to_csv(self, sort_by: str | None = "default", row_limit: int = -1) -> str:
        """A header line and a line a row; arguments as of `rows`."""
        return render_attribution_csv(self.values, self.rows(sort_by, row_limit))

    def to_pandas(self) -> Any:
        """All rows, in order of first appearance, as a pandas.DataFrame; columns as of the CSV.

        Raises:
            UsageError: pandas is not installed.
        """
        return pandas_frame(self._columns())

    def to_arrow(self) -> Any:
        """The same as a pyarrow.Table.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return arrow_table(self._columns())

    def _columns(self) -> dict[str, Column]:
        columns = attribution_columns(self.values, self.rows(None))
        return columns_of(tuple(columns), zip(*columns.values(), strict=True))


@dataclass(frozen=True, eq=False)
class FlameStacks:
    """Distinct stacks and what each weighs.

    Attributes:
        values: The stacks; their weights add up to all device time, to the busy time, or to the time of all threads.
    """

    values: CallStacks

    def coverage(self) -> str:
        """How much of the device's time is on ops, in modules and in Python frames: a line each."""
        return render_coverage(self.values.coverage)

    def to_folded(self) -> str:
        """A line a stack, `a;b;c 123`, in ns: what flamegraph.pl, inferno and speedscope read."""
        return render_folded(self.values)

    def to_speedscope(self) -> bytes:
        """The stacks in the file format of speedscope."""
        return render_speedscope(self.values)


def attribute(timeline: Timeline, by: str = "op") -> Attribution:
    """Device time of each op, module or Python frame, as sum and as union, itself and with what it called; the host's beside it.

    Work belongs to the innermost frame that was open on the thread that submitted it: an op, or what called that op. What Python
    launched in no op, as a graph, is on none, and in its module and Python frame all the same. What runs backward has no module
    and, on autograd's own threads, no Python frame: it belongs to those of the op that it differentiates. Both are counted apart.

    Args:
        timeline: Merged. What is in nothing has rows of its own, so that self times add up to all there is.
        by: What a row is: "op"; "module" (torch.nn.Module); "python": a Python function; "all": every frame, threads and named
            ranges too.

    Raises:
        UsageError: `by` is none of these.

    Example:
        >>> from rblnpb import converters, sim
        >>> host = converters.read_host("rblnpb/data/transformer_step.json.gz")
        >>> timeline = converters.merge(sim.simulate(launches=converters.launch_plan(host)), host)
        >>> found = converters.attribute(timeline).values
        >>> sum(found.device_self_sum_ns) == found.coverage.total.sum_ns
        True
    """
    _require("by", by, STACK_KEYS)
    return Attribution(with_doubts(attribution_table(timeline, by), timeline))


def call_stacks(timeline: Timeline, by: str = "all", weight: str | None = None, *, with_stages: bool = False) -> FlameStacks:
    """Stacks for flame graphs: thread, Python frames, modules and ops, down to what launched the work, each with its time.

    Args:
        timeline: Merged. Work that no frame launched has a stack of its own for each reason.
        by: Frames below the thread: "op", "module", "python" or "all".
        weight: "device-sum": durations of device work; "device-union": its busy time, where a moment in which several slices run
            belongs to the one that began first; "host-self": time of the host; None: device-sum where a device worked.
        with_stages: Whether the stage of device work is the innermost frame.

    Raises:
        UsageError: An unknown `by` or `weight`, or stages of the host's time.

    Example:
        >>> from rblnpb import converters
        >>> timeline = converters.merge(None, converters.read_host("rblnpb/data/transformer_step.json.gz"))
        >>> converters.call_stacks(timeline, "op").to_folded().splitlines()[0]
        'thread 6521 (python);aten::add 236919'
    """
    if weight is None:
        weight = "device-sum" if timeline.is_work().any() else "host-self"
    _require("by", by, STACK_KEYS)
    _require("weight", weight, STACK_WEIGHTS)
    if with_stages and weight == "host-self":
        raise UsageError("stages are of the device: they do not go with the weight host-self")
    return FlameStacks(with_doubts(find_stacks(timeline, by, weight, with_stages=with_stages), timeline))


def _require(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise UsageError(f"{what} is one of {', '.join(known)}, not {given!r}")
