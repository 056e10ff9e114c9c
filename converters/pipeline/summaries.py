"""The key_averages table of a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rblnpb.errors import Finding, UsageError

from ..analyze.key_averages import key_averages
from ..analyze.timeline_links import timeline_links
from ..analyze.torch_notes import notes
from ..results import KeyAverages
from ..sinks.summary import render_summary_csv, render_summary_json
from ..sinks.torch_table import render as render_table
from ..sinks.torch_table import sort_order
from ..timeline import Timeline

__all__ = ["DEFAULT_SORT_KEYS", "Summary", "summarize"]

DEFAULT_SORT_KEYS: Final = ("self_device_time_total", "self_cpu_time_total")


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
        return DEFAULT_SORT_KEYS[0] if has_device_time else DEFAULT_SORT_KEYS[1]

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


def summarize(
    timeline: Timeline,
    *,
    device_time: str = "attributed",
    group_by_input_shape: bool = False,
    device_name: str | None = None,
) -> Summary:
    """Sum host ops and device work by name, as torch.profiler's key_averages does.

    Args:
        timeline: With a host trace.
        device_time: "attributed": device time on the op that launched it, by every rule; "recorded": only the links that the
            trace itself makes, as torch counts.
        group_by_input_shape: Whether calls with other input shapes are rows of their own.
        device_name: What the table calls the device; None: what the inputs tell.

    Raises:
        UsageError: There is no host trace, or `device_time` is neither of the two.

    Example:
        >>> from rblnpb import converters
        >>> timeline = converters.merge(None, converters.read_host("rblnpb/data/transformer_step.json.gz"))
        >>> converters.summarize(timeline).averages.name[0]
        'serve'
    """
    if device_time not in ("attributed", "recorded"):
        raise UsageError(f"device time is 'attributed' or 'recorded', not {device_time!r}")
    if timeline.host is None:
        raise UsageError("a summary by op needs the host trace of the same run: give it with --host TRACE")
    links = timeline_links(timeline, is_recorded=device_time == "recorded")
    name = device_name or (timeline.device_name.upper() if timeline.device_name else None)
    averages = key_averages(timeline.host, links, group_by_input_shape=group_by_input_shape, device_name=name)
    return Summary(averages, (*averages.findings, *notes(timeline.host)))
