"""Summaries of device slices: a table for people, JSON and CSV for programs, columns for data frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rblnpb.wording import counted

from ..results import SliceRows
from ._csv_text import csv_text
from ._json_values import json_report
from ._slice_columns import row_columns, row_order, total_columns
from ._text_tables import TextReport
from ._units import format_bytes, format_count, format_ns, format_rate, format_share
from .findings import finding_values

__all__ = ["render_slices_csv", "render_slices_json", "render_slices_text"]

_LEAST_NAME_WIDTH: Final = 24
"""Names fold at this width before a column of numbers is left out."""

_LONGEST_NAME: Final = 61
"""On a terminal, a name longer than this loses its middle: some are signatures of a page."""


@dataclass(frozen=True)
class _Column:
    """A column of numbers: its title, its values, their text; the higher its rank, the sooner it gives way to narrow terminals."""

    title: str
    name: str
    show: Callable[[Any], str]
    rank: int


_NUMBERS: Final = (
    _Column("count", "count", format_count, 1),
    _Column("total", "total_ns", format_ns, 1),
    _Column("share", "device_time_share", format_share, 2),
    _Column("mean", "mean_ns", format_ns, 3),
    _Column("min", "min_ns", format_ns, 9),
    _Column("p50", "p50_ns", format_ns, 4),
    _Column("p90", "p90_ns", format_ns, 9),
    _Column("p99", "p99_ns", format_ns, 5),
    _Column("max", "max_ns", format_ns, 5),
    _Column("busy", "busy_ns", format_ns, 7),
    _Column("of span", "span_share", format_share, 7),
    _Column("bytes", "size_bytes", format_bytes, 6),
    _Column("bandwidth", "bandwidth_bytes_per_s", lambda rate: format_rate(rate, "B/s"), 4),
    _Column("of peak", "peak_bandwidth_share", format_share, 6),
    _Column("cycles", "compute_cycles", format_count, 8),
    _Column("frequency", "frequency_hz", lambda rate: format_rate(rate, "Hz"), 6),
    _Column("launches", "launch_count", format_count, 8),
    _Column("span", "span_ns", format_ns, 2),
    _Column("on host", "duration_ns", format_ns, 3),
    _Column("carried over", "carried_over_ns", format_ns, 2),
    _Column("bound", "bound", str, 2),
    _Column("compute needs", "needed_compute_ns", format_ns, 8),
    _Column("DMA needs", "needed_dma_ns", format_ns, 8),
)

_LABEL_RANKS: Final = {"phase": 1, "compile_id": 3, "device": 5, "chiplet": 6, "launch_id": 6, "kind": 8}
"""The same for what rows are called by; the others always stay."""

_NOTES: Final = {
    "p50": "p50, p90, p99: nearest rank, so each is a duration that was measured.",
    "of span": "of span: busy time, in which overlapping slices count once, by the time from the first slice to the last.",
    "frequency": "frequency: compute cycles by the duration of the slices that counted them, waiting for data included.",
    "bound": "bound: by the side whose busiest engine needs at least 1.25 times as long for what it counted, at its best rate.",
    "carried over": "carried over: device time after the step that launched it had ended on the host.",
}
"""What columns mean whose title does not say it."""


def render_slices_text(rows: SliceRows, *, sort_by: str | None = "total", row_limit: int = 100, width: int | None = None) -> str:
    """The summary as a table for people.

    Args:
        rows: The summary.
        sort_by: As of `row_order`.
        row_limit: Most rows; -1 = all. The line of totals is of all rows.
        width: Columns of the terminal: names fold, and what does not fit even so is left out and named. None = as wide as it gets.

    Raises:
        UsageError: An unknown sort key.
    """
    order = row_order(rows, sort_by)
    if not order:
        return f"{_headline(rows)}\n"
    chosen = order if row_limit < 0 else order[:row_limit]
    columns = row_columns(rows, chosen)
    labels = {_title(rows, name): name for name in rows.keys if _is_told(columns[name])}
    numbers = [column for column in _NUMBERS if _is_told(columns.get(column.name, ()))]
    if set(columns.get("bound", ())) == {"unknown"}:
        numbers = [column for column in numbers if column.name != "bound"]
    if "start_ns" in columns:
        numbers.insert(0, _Column("at", "start_ns", lambda at: format_ns(at - rows.origin_ns), 3))
    texts = {title: [_shortened(_text(value), width) for value in columns[name]] for title, name in labels.items()}
    texts |= {one.title: ["" if value is None else one.show(value) for value in columns[one.name]] for one in numbers}
    ranks = {title: _LABEL_RANKS.get(name, 0) for title, name in labels.items()} | {one.title: one.rank for one in numbers}
    report = TextReport(width)
    report.line(f"{_headline(rows)}\n")
    total = _total_texts(rows, numbers)
    cells = ["total", *(total.get(title, "") for title in list(texts)[1:])] if total else []
    shown = _print_table(report, texts, len(labels), ranks, cells)
    if hidden := len(rows) - len(chosen):
        report.line(f"{counted(hidden, 'more row')} (--row-limit -1 shows all); the total is of all rows")
    _print_overview(report, rows, row_limit)
    for place, note in enumerate(_notes(rows, shown)):
        report.line(note if place else f"\n{note}")
    return report.text()


def _print_table(
    report: TextReport, texts: dict[str, list[str]], label_count: int, ranks: dict[str, int], total: Sequence[str] = ()
) -> list[str]:
    rows = zip(*texts.values(), strict=True)
    return report.table(tuple(texts), rows, texts=label_count, ranks=ranks, least=_LEAST_NAME_WIDTH, total=total)


def _title(rows: SliceRows, name: str) -> str:
    if name == "name":
        return "program" if rows.by == "call" else rows.by
    return name.replace("_", " ")


def _headline(rows: SliceRows) -> str:
    totals = rows.totals
    if not totals.count:
        return f"By {rows.by}: no slice of work"
    counts = f"{counted(totals.row_count, 'row')}, {counted(totals.count, 'slice')} of work"
    times = f"device time {format_ns(totals.total_ns)}, busy {format_ns(totals.busy_ns)} of {format_ns(totals.span_ns)}"
    return f"By {rows.by}: {counts}; {times}"


def _is_told(values: Iterable[object]) -> bool:
    """Whether a column says anything."""
    return any(value is not None and value != "" for value in values)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _shortened(text: str, width: int | None) -> str:
    """A name without its middle where it would take many lines; whole where there is room for all."""
    if width is None or len(text) <= _LONGEST_NAME:
        return text
    half = (_LONGEST_NAME - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def _total_texts(rows: SliceRows, numbers: Sequence[_Column]) -> dict[str, str]:
    """Cells of the last line, by title."""
    totals = rows.totals
    values = total_columns(rows) | {
        "device_time_share": 1.0 if totals.total_ns else None,
        "span_share": totals.busy_ns / totals.span_ns if totals.span_ns else None,
    }
    return {one.title: one.show(values[one.name]) for one in numbers if one.name in values and values[one.name] is not None}


_OVERVIEW: Final = {
    "name": ("", _text),
    "compile_id": ("compile id", _text),
    "call_count": ("calls", format_count),
    "first_span_ns": ("first", format_ns),
    "later_p50_span_ns": ("later (p50)", format_ns),
    "first_by_later": ("first by later", lambda ratio: f"{ratio:.2f}"),
    "compile_ns": ("compiling on host", format_ns),
    "step_count": ("steps", format_count),
    "launch_count": ("launches", format_count),
    "total_ns": ("total", format_ns),
    "p50_total_ns": ("a step (p50)", format_ns),
    "duration_ns": ("on host", format_ns),
    "p50_duration_ns": ("a step (p50) on host", format_ns),
    "carried_over_ns": ("carried over", format_ns),
}
"""Titles and texts of an overview's columns."""


def _print_overview(report: TextReport, rows: SliceRows, row_limit: int) -> None:
    overview = rows.overview
    if overview is None or not overview.columns.get("name"):
        return
    count = len(overview.columns["name"])
    kept = count if row_limit < 0 else min(row_limit, count)
    texts: dict[str, list[str]] = {}
    for name, column in overview.columns.items():
        title, show = _OVERVIEW[name]
        values = column[:kept]
        if _is_told(values):
            show_any: Callable[[Any], str] = show
            texts[title or overview.by] = ["" if value is None else show_any(value) for value in values]
    report.line()
    label_count = sum(title in texts for title in (overview.by, "compile id"))
    _print_table(report, texts, label_count, {title: place for place, title in enumerate(texts)})
    if kept < count:
        report.line(f"{counted(count - kept, 'more row')} (--row-limit -1 shows all)")


def _notes(rows: SliceRows, shown: Sequence[str]) -> list[str]:
    notes = [text for title, text in _NOTES.items() if title in shown]
    if rows.totals.planned_bytes:
        notes.append(f"bytes: {format_bytes(rows.totals.planned_bytes)} of them planned by the compiler, not measured.")
    if rows.peak_basis and "of peak" in shown:
        notes.append(f"of peak: {rows.peak_basis}.")
    return notes


def render_slices_json(rows: SliceRows, *, sort_by: str | None = "total", row_limit: int = -1) -> bytes:
    """One JSON object, schema `rblnpb.summary/1`: integers in ns and bytes with the unit in the key, null = not known.

    Args:
        rows: The summary.
        sort_by, row_limit: As of `render_slices_text`; `totals` are of all rows.

    Raises:
        UsageError: An unknown sort key.
    """
    order = row_order(rows, sort_by)
    chosen = order if row_limit < 0 else order[:row_limit]
    overview = rows.overview
    value = {
        "schema": "rblnpb.summary/1",
        "by": rows.by,
        "percentiles": "nearest-rank",
        "rows": _objects(row_columns(rows, chosen)),
        "hidden_row_count": len(rows) - len(chosen),
        "totals": total_columns(rows),
        "overview": None if overview is None else {"by": overview.by, "rows": _objects(overview.columns)},
        "peak_basis": rows.peak_basis or None,
        "findings": finding_values(rows.findings),
    }
    return json_report(value)


def _objects(columns: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def render_slices_csv(rows: SliceRows, *, sort_by: str | None = "total", row_limit: int = -1) -> str:
    """A header and a line a row; the columns of the JSON, empty = not known. A name that looks like a formula is made harmless.

    Args:
        rows: The summary.
        sort_by, row_limit: As of `render_slices_text`.

    Raises:
        UsageError: An unknown sort key.
    """
    order = row_order(rows, sort_by)
    columns = row_columns(rows, order if row_limit < 0 else order[:row_limit])
    return csv_text(tuple(columns), lambda: zip(*columns.values(), strict=True))
