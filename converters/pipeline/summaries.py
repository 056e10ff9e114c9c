"""Summaries of a timeline: torch's key_averages table by op, and device slices by anything else; and what bounds the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, overload

from rblnpb.errors import Finding, Severity, UsageError

from ..analyze.intervals import exact_sum
from ..analyze.slices.bounds import device_bounds as find_bounds
from ..analyze.slices.slice_summary import SLICE_KEYS, slice_summary
from ..analyze.torch_table.key_averages import key_averages
from ..analyze.torch_table.timeline_links import timeline_links
from ..analyze.torch_table.torch_notes import notes
from ..dialect import op_rows
from ..results import DeviceBounds, KeyAverages, SliceRows
from ..sinks.bounds import bounds_values, render_bounds_text
from ..sinks.data_frames import arrow_table, pandas_frame
from ..sinks.slice_frames import slices_to_arrow, slices_to_pandas
from ..sinks.slice_summary import render_slices_csv, render_slices_json, render_slices_text
from ..sinks.summary import render_summary_csv, render_summary_json, summary_columns
from ..sinks.torch_table import render as render_table
from ..sinks.torch_table import sort_order
from ..timeline import Timeline
from .doubts import doubts, with_doubts

__all__ = [
    "SUMMARY_KEYS",
    "Bounds",
    "SliceSummary",
    "Summary",
    "default_summary_key",
    "device_bounds",
    "summarize",
]

_DEFAULT_SORT_KEYS: Final = ("self_device_time_total", "self_cpu_time_total")

SUMMARY_KEYS: Final = ("op", *SLICE_KEYS)
"""What a row of a summary may be."""


@dataclass(frozen=True, eq=False)
class Summary:
    """The key_averages table of a timeline.

    Attributes:
        averages: Its rows, columns of exact ns and of torch's float64 µs.
        findings: Notes on where torch's own table may differ.
    """

    averages: KeyAverages
    findings: tuple[Finding, ...] = ()

    @property
    def default_sort_by(self) -> str:
        """Self device time where there is any, else self CPU time."""
        has_device_time = bool((self.averages.self_device_time_total_ns > 0).any())
        return _DEFAULT_SORT_KEYS[0] if has_device_time else _DEFAULT_SORT_KEYS[1]

    def table(self, sort_by: str | None = "default", row_limit: int = 100, **options: Any) -> str:
        """The table as torch prints it.

        Args:
            sort_by: One of torch's sort keys; "default" as `default_sort_by`; None = order of first appearance.
            row_limit: Most rows; -1 = all.
            **options: As of `sinks.torch_table.render`, under torch's names.

        Raises:
            UsageError: An unknown sort key.
        """
        key = self.default_sort_by if sort_by == "default" else sort_by
        return render_table(self.averages, sort_by=key, row_limit=row_limit, **options)

    def rows(self, sort_by: str | None = "default", row_limit: int = 100) -> list[int]:
        """Row numbers of `averages` in the order of the table, at most `row_limit` (-1 = all)."""
        key = self.default_sort_by if sort_by == "default" else sort_by
        order: list[int] = sort_order(self.averages, key).tolist()
        return order if row_limit < 0 else order[:row_limit]

    def to_json(self, sort_by: str | None = "default", row_limit: int = -1) -> bytes:
        """One JSON object, schema `rblnpb.summary/1`."""
        return render_summary_json(self.averages, self.rows(sort_by, row_limit), self.findings)

    def to_csv(self, sort_by: str | None = "default", row_limit: int = -1) -> str:
        """A header line and a line a row."""
        return render_summary_csv(self.averages, self.rows(sort_by, row_limit))

    def to_pandas(self) -> Any:
        """All rows, in order of first appearance, as a pandas.DataFrame; columns as of the CSV, names as they are.

        Raises:
            UsageError: pandas is not installed.
        """
        return pandas_frame(summary_columns(self.averages))

    def to_arrow(self) -> Any:
        """The same as a pyarrow.Table.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return arrow_table(summary_columns(self.averages))


@dataclass(frozen=True, eq=False)
class SliceSummary:
    """Device slices by what they have in common.

    Attributes:
        values: The rows: numpy columns, exact, in order of first mention; they add up to `values.totals`.
    """

    values: SliceRows

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was odd about the slices."""
        return self.values.findings

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None, sort_by: str | None = "total", row_limit: int = 100) -> str:
        """The summary for people.

        Args:
            width: Columns of the terminal; None = as wide as it gets.
            sort_by: A column with or without its unit, such as "total" or "p99"; None = order of first mention.
            row_limit: Most rows; -1 = all. Totals are of all rows.

        Raises:
            UsageError: An unknown sort key.
        """
        return render_slices_text(self.values, sort_by=sort_by, row_limit=row_limit, width=width)

    def to_json(self, sort_by: str | None = "total", row_limit: int = -1) -> bytes:
        """One JSON object, schema `rblnpb.summary/1`; arguments as of `text`."""
        return render_slices_json(self.values, sort_by=sort_by, row_limit=row_limit)

    def to_csv(self, sort_by: str | None = "total", row_limit: int = -1) -> str:
        """A header line and a line a row; arguments as of `text`."""
        return render_slices_csv(self.values, sort_by=sort_by, row_limit=row_limit)

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame, in order of first mention; columns as in CSV, of whole numbers that may be missing.

        Raises:
            UsageError: pandas is not installed.
        """
        return slices_to_pandas(self.values)

    def to_arrow(self) -> Any:
        """The rows as a pyarrow.Table, in order of first mention; columns as in CSV, null where not known.

        Raises:
            UsageError: pyarrow is not installed.
        """
        return slices_to_arrow(self.values)


def default_summary_key(timeline: Timeline) -> str:
    """What to sum up by when nobody says: "op" with ops of a host trace, or without work of a device to sum up; else "stage"."""
    host = timeline.host
    return "op" if host is not None and (len(op_rows(host)) or not timeline.is_work().any()) else "stage"


@overload
def summarize(
    timeline: Timeline,
    by: Literal["op"] = "op",
    *,
    device_time: str = "attributed",
    group_by_input_shape: bool = False,
    device_name: str | None = None,
) -> Summary: ...
@overload
def summarize(timeline: Timeline, by: Literal["stage", "layer", "family", "program", "engine", "call", "step"]) -> SliceSummary: ...
@overload
def summarize(
    timeline: Timeline,
    by: str,
    *,
    device_time: str = "attributed",
    group_by_input_shape: bool = False,
    device_name: str | None = None,
) -> Summary | SliceSummary: ...
def summarize(
    timeline: Timeline,
    by: str = "op",
    *,
    device_time: str = "attributed",
    group_by_input_shape: bool = False,
    device_name: str | None = None,
) -> Summary | SliceSummary:
    """Sum up host ops and device work by name, as torch.profiler's key_averages does, or device slices by anything else.

    Args:
        timeline: With a host trace, for ops.
        by: What a row is. "op": torch's table. "stage": the layer, apart for each kind of engine that worked on it. "layer": over
            all engines. "family": sort of layer, `linear_0` and `linear_7` in one. "program": what launches submitted. "engine".
            "call": one launch of a program; beside it the first call of each program against the later ones. "step": what of the
            host's steps submitted the work; beside it prefill and decode apart, where a server names its steps.
        device_time: By op: "attributed": device time on the op that launched it, by every rule; "recorded": only the links that
            the trace itself makes, as torch counts.
        group_by_input_shape: By op: whether calls with other input shapes are rows of their own.
        device_name: By op: what the table calls the device; None: what the inputs tell.

    Raises:
        UsageError: By op without a host trace, an unknown `by` or `device_time`, or an option of ops with another `by`.

    Example:
        >>> from rblnpb import converters
        >>> timeline = converters.merge(None, converters.read_host("rblnpb/data/transformer_step.json.gz"))
        >>> converters.summarize(timeline).averages.name[0]
        'serve'
        >>> from rblnpb import sim
        >>> converters.summarize(converters.merge(sim.simulate(program="decoder"), None), "family").values.name[:2]
        ('args', 'fused(rms_norm+rope)')
    """
    if device_time not in ("attributed", "recorded"):
        raise UsageError(f"device time is 'attributed' or 'recorded', not {device_time!r}")
    if by != "op":
        if device_time != "attributed" or group_by_input_shape or device_name is not None:
            raise UsageError("device_time, group_by_input_shape and device_name are of the summary by op")
        return SliceSummary(with_doubts(slice_summary(timeline, by), timeline))
    if timeline.host is None:
        raise UsageError("a summary by op needs the host trace of the same run: give it with --host TRACE")
    links = timeline_links(timeline, is_recorded=device_time == "recorded")
    name = device_name or (timeline.device_name.upper() if timeline.device_name else None)
    averages = key_averages(timeline.host, links, group_by_input_shape=group_by_input_shape, device_name=name)
    merged = _merged_away(timeline, averages) if device_time == "attributed" else ()
    return Summary(averages, (*doubts(timeline), *averages.findings, *merged, *notes(timeline.host)))


def _merged_away(timeline: Timeline, averages: KeyAverages) -> tuple[Finding, ...]:
    """Device time that is on ops and in no row of an op: torch makes one of two that lie in each other and have one name."""
    on_ops = timeline.is_work() & (timeline.slices.host_row >= 0)
    missing_ns = exact_sum(timeline.slices.duration_ns[on_ops]) - int(averages.self_device_time_total_ns[~averages.is_device].sum())
    if missing_ns <= 0:
        return ()
    message = (
        f"{missing_ns:,} ns of device time are of ops that lie directly inside one of their own name; torch leaves them out of the "
        "rows of ops, and so does this table: `rblnpb stacks --format text` has them"
    )
    return (Finding(Severity.WARNING, "merged-ops", message, missing_ns),)


@dataclass(frozen=True, eq=False)
class Bounds:
    """What bounds the device; its text is `str(bounds)`."""

    values: DeviceBounds

    def __str__(self) -> str:
        return self.text()

    def text(self) -> str:
        """A verdict with its evidence, a line a fact."""
        return render_bounds_text(self.values)

    def to_values(self) -> dict[str, Any]:
        """The same as values for JSON: integers in ns, units in the keys."""
        return bounds_values(self.values)


def device_bounds(timeline: Timeline, by: str = "program") -> Bounds:
    """What bounds the device, computing or moving data: as a whole, and each program, stage or step.

    Args:
        timeline: Merged.
        by: "program", "stage" or "step".

    Raises:
        UsageError: Another `by`.

    Example:
        >>> from rblnpb import converters, sim
        >>> converters.device_bounds(converters.merge(sim.simulate(), None)).values.whole.verdict
        ('dma-bound',)
    """
    return Bounds(find_bounds(timeline, by))
