"""Submission latency and queue length: text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from rblnpb.wording import counted

from ..results import Latency, LatencyFigures, LatencyGroup, QueueUse
from ._csv_text import csv_text
from ._json_values import json_report
from ._text_tables import TextReport
from ._units import format_count, format_ns
from .findings import finding_values

__all__ = ["figure_rows", "render_latency_csv", "render_latency_json", "render_latency_text"]

_GROUPS_SHOWN: Final = 20
_LENGTHS_SHOWN: Final = 3
_FIGURES: Final = ("mean", "min", "p50", "p90", "p99", "max")
_RANKS: Final = {"launches": 0, "p50": 1, "waited": 2, "p99": 3, "max": 4, "mean": 5, "min": 6, "p90": 7}
"""The higher, the sooner a column of groups gives way to narrow terminals."""


def render_latency_text(latency: Latency, *, width: int = 120) -> str:
    """Latency and queue as plain text.

    Args:
        latency: What to show.
        width: Columns of the terminal; tables fold to it.
    """
    report = TextReport(width)
    border_ns = latency.uncertainty_ns
    exactness = "not known how exact: no clock of a device was read" if border_ns is None else f"±{format_ns(border_ns)}"
    report.line(f"Submission latency: from the launch to its first work ({exactness})")
    report.line(f"  {' + '.join(latency.sources)}")
    report.line(f"  {counted(latency.total.latency.count, 'launch', 'launches')}\n")
    _print_total(report, latency)
    for line in _notes(latency):
        report.line(line)
    for title, groups in (("Program", latency.programs), ("Thread", latency.threads)):
        if len(groups) > 1:
            _print_groups(report, title, groups)
    _print_queues(report, latency)
    report.findings(latency.findings)
    return report.text()


def _print_total(report: TextReport, latency: Latency) -> None:
    """A row a figure: few columns, so that they fit everywhere."""
    columns = (latency.total.latency, latency.waiting, latency.submission)
    rows = [[name, *(_length(getattr(column, f"{name}_ns")) for column in columns)] for name in _FIGURES]
    report.table(("", "latency", "behind earlier launches", "submission"), rows)


def _length(time_ns: int | None) -> str:
    return "" if time_ns is None else format_ns(time_ns)


def _notes(latency: Latency) -> Iterator[str]:
    total = latency.total
    if total.latency.count:
        yield (
            f"\n  Waited behind earlier launches: {total.waited_count:,} of {total.latency.count:,}, "
            f"{format_ns(total.waiting_ns)} of {format_ns(total.latency.sum_ns)}"
        )
    if total.n_negative and total.least_ns is not None:
        early = f"{total.n_negative:,} of {total.latency.count:,}"
        yield f"  Device first: {early}, by up to {format_ns(-total.least_ns)}; they count as 0"
    if latency.launches_without_work:
        launches = counted(latency.launch_count, "launch", "launches")
        yield f"  Left out: {latency.launches_without_work:,} of {launches}, of which no work is known"
    if latency.slices_without_launch:
        yield f"  Left out: {counted(latency.slices_without_launch, 'slice')} of work, whose launch is not known"


def _print_groups(report: TextReport, title: str, groups: tuple[LatencyGroup, ...]) -> None:
    rows = [
        [
            _name(group),
            format_count(group.figures.latency.count),
            *(_length(getattr(group.figures.latency, f"{name}_ns")) for name in _FIGURES),
            format_ns(group.figures.waiting_ns),
        ]
        for group in groups[:_GROUPS_SHOWN]
    ]
    if len(groups) > _GROUPS_SHOWN:
        rest = sum(group.figures.latency.count for group in groups[_GROUPS_SHOWN:])
        rows.append([f"{len(groups) - _GROUPS_SHOWN:,} more", format_count(rest), *[""] * (len(_FIGURES) + 1)])
    report.line()
    report.table((title, "launches", *_FIGURES, "waited"), rows, ranks=_RANKS)


def _name(group: LatencyGroup) -> str:
    if group.tid is not None:
        return f"{group.tid} {group.name}".rstrip()
    return f"{group.name or 'unknown'} {group.compile_id}".rstrip()


def _print_queues(report: TextReport, latency: Latency) -> None:
    queues = latency.queues if len(latency.queues) < 2 else (*latency.queues, latency.queue)
    if not queues:
        return
    longest = min(max(queue.max_length for queue in queues), _LENGTHS_SHOWN)
    report.line()
    more = ("more",) if any(queue.max_length > longest for queue in queues) else ()
    report.table(
        ("Queue", "longest", "mean", "time", *(f"at {length}" for length in range(longest + 1)), *more),
        (
            [*_queue_cells(queue, longest), *(format_ns(sum(queue.time_at_length_ns[longest + 1 :])) for _ in more)]
            for queue in queues
        ),
    )


def _queue_cells(queue: QueueUse, longest: int) -> list[str]:
    spent = [format_ns(time_ns) for time_ns in queue.time_at_length_ns[: longest + 1]]
    spent += [""] * (longest + 1 - len(spent))
    return [queue.device or "all", format_count(queue.max_length), f"{queue.mean_length:.3f}", format_ns(queue.span_ns), *spent]


def _figure_values(figures: LatencyFigures) -> dict[str, object]:
    values = asdict(figures)
    return {**values.pop("latency"), **values}


def _queue_values(queue: QueueUse, *, series: bool) -> dict[str, object]:
    values: dict[str, object] = {
        "device": queue.device,
        "launch_count": queue.launch_count,
        "max_length": queue.max_length,
        "mean_length": round(queue.mean_length, 6),
        "span_ns": queue.span_ns,
        "length_time_ns": queue.length_time_ns,
        "time_at_length": [
            {"length": length, "time_ns": time_ns} for length, time_ns in enumerate(queue.time_at_length_ns) if time_ns
        ],
    }
    if series:
        values["series"] = {"time_ns": queue.time_ns.tolist(), "length": queue.length.tolist()}
    return values


def render_latency_json(latency: Latency, *, series: bool = False) -> bytes:
    """One JSON object, schema `rblnpb.latency/1`: integers in ns, units in the keys, stable key order.

    Args:
        latency: What to show.
        series: Whether to tell the length of each queue at each moment at which it changed.
    """
    value = {
        "schema": "rblnpb.latency/1",
        "sources": latency.sources,
        "counts": {
            "launches": latency.launch_count,
            "launches_without_work": latency.launches_without_work,
            "slices_without_launch": latency.slices_without_launch,
        },
        "uncertainty_ns": latency.uncertainty_ns,
        "latency": _figure_values(latency.total),
        "waiting": asdict(latency.waiting),
        "submission": asdict(latency.submission),
        "programs": [
            {"program": group.name, "compile_id": group.compile_id, **_figure_values(group.figures)} for group in latency.programs
        ],
        "threads": [
            {"pid": group.pid, "tid": group.tid, "name": group.name, **_figure_values(group.figures)} for group in latency.threads
        ],
        "queue": _queue_values(latency.queue, series=series),
        "queues": [_queue_values(queue, series=series) for queue in latency.queues],
        "is_serialised": latency.is_serialised,
        "findings": finding_values(latency.findings),
    }
    return json_report(value)


def render_latency_csv(latency: Latency) -> str:
    """A header, a line for all launches, then one a program and one a thread; integers in ns."""
    columns, rows = figure_rows(latency)
    return csv_text(columns, lambda: rows)


def figure_rows(latency: Latency) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Figures of all launches, of each program and of each thread as rows of a table, with the names of its columns."""
    everything = LatencyGroup("", "", None, None, latency.total)
    groups = [("all", everything), *(("program", one) for one in latency.programs), *(("thread", one) for one in latency.threads)]
    columns = ("group", "name", "compile_id", "pid", "tid", *_figure_values(latency.total))
    return columns, [
        (sort, one.name, one.compile_id, one.pid, one.tid, *_figure_values(one.figures).values()) for sort, one in groups
    ]
