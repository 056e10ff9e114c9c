"""Summaries of device slices: a table for people, JSON and CSV for programs, columns for data frames."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from ..results import SliceRows
from ._csv_text import csv_text
from ._json_values import exact
from ._slice_columns import row_columns, row_order, total_columns
from ._units import format_bytes, format_count, format_ns, format_rate, format_share
from .findings import finding_values

__all__ = ["render_slices_csv", "render_slices_json", "render_slices_text"]

_LEAST_NAME_WIDTH: Final = 24
"""Names fold at this width before a column of numbers is left out."""

_LONGEST_NAME: Final = 61
"""On a terminal, a name longer than this loses its middle: some are signatures of a page."""

_WIDEST: Final = 1 << 16
_GAP: Final = 3
"""Columns of the terminal between two columns of a table."""


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
    totals = _total_texts(rows, numbers)
    shown = _fitting(texts, set(labels), totals, ranks, width)
    lines = [_headline(rows), ""]
    lines += _table({title: texts[title] for title in shown}, set(labels), totals, width)
    if hidden := len(rows) - len(chosen):
        lines.append(f"{_counted(hidden, 'more row')} (--row-limit -1 shows all); the total is of all rows")
    lines += _overview_lines(rows, row_limit, width)
    lines += _note_lines(rows, shown, [title for title in texts if title not in shown])
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _title(rows: SliceRows, name: str) -> str:
    if name == "name":
        return "program" if rows.by == "call" else rows.by
    return name.replace("_", " ")


def _headline(rows: SliceRows) -> str:
    totals = rows.totals
    if not totals.count:
        return f"By {rows.by}: no slice of work"
    counted = f"{_counted(totals.row_count, 'row')}, {_counted(totals.count, 'slice')} of work"
    times = f"device time {format_ns(totals.total_ns)}, busy {format_ns(totals.busy_ns)} of {format_ns(totals.span_ns)}"
    return f"By {rows.by}: {counted}; {times}"


def _counted(count: int, what: str) -> str:
    return f"{format_count(count)} {what}{'' if count == 1 else 's'}"


def _is_told(values: Iterable[object]) -> bool:
    """Whether a column says anything."""
    return any(value is not None and value != "" for value in values)


def _text(value: object) -> str:
    """A cell on one line, whatever a name holds."""
    text = "" if value is None else str(value)
    return text.translate({code: f"\\x{code:02x}" for code in (*range(32), 127)})


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


def _fitting(
    texts: dict[str, list[str]], labels: set[str], totals: dict[str, str], ranks: dict[str, int], width: int | None
) -> list[str]:
    """Titles of the columns that fit, in their order; those of rank 0 always do."""
    if width is None:
        return list(texts)
    widths = _widths(texts, totals)
    needed = {title: (min(size, _LEAST_NAME_WIDTH) if title in labels else size) + _GAP for title, size in widths.items()}
    left, kept = width + _GAP, set()
    for title in sorted(texts, key=lambda title: ranks[title]):
        if needed[title] > left and ranks[title]:
            break
        left -= needed[title]
        kept.add(title)
    return [title for title in texts if title in kept]


def _widths(texts: dict[str, list[str]], totals: dict[str, str]) -> dict[str, int]:
    from rich.cells import cell_len

    return {title: max(map(cell_len, (title, totals.get(title, ""), *cells))) for title, cells in texts.items()}


def _table(texts: dict[str, list[str]], labels: set[str], totals: dict[str, str], width: int | None) -> list[str]:
    """Lines of a table of labels and numbers, with a line of totals where there are any."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(
        file=io.StringIO(),
        width=width or _WIDEST,
        color_system=None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in texts:
        is_label = title in labels
        table.add_column(title, justify="left" if is_label else "right", no_wrap=not is_label or width is None, overflow="fold")
    for cells in zip(*texts.values(), strict=True):
        table.add_row(*cells)
    if totals:
        table.add_section()
        table.add_row("total", *(totals.get(title, "") for title in list(texts)[1:]))
    console.print(table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


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


def _overview_lines(rows: SliceRows, row_limit: int, width: int | None) -> list[str]:
    overview = rows.overview
    if overview is None or not overview.columns.get("name"):
        return []
    count = len(overview.columns["name"])
    kept = count if row_limit < 0 else min(row_limit, count)
    texts: dict[str, list[str]] = {}
    for name, column in overview.columns.items():
        title, show = _OVERVIEW[name]
        values = column[:kept]
        if _is_told(values):
            show_any: Callable[[Any], str] = show
            texts[title or overview.by] = ["" if value is None else show_any(value) for value in values]
    labels = {overview.by, "compile id"}
    shown = _fitting(texts, labels, {}, {title: place for place, title in enumerate(texts)}, width)
    more = [f"{_counted(count - kept, 'more row')} (--row-limit -1 shows all)"] if kept < count else []
    return ["", *_table({title: texts[title] for title in shown}, labels, {}, width), *more]


def _note_lines(rows: SliceRows, shown: Sequence[str], left_out: Sequence[str]) -> list[str]:
    notes = [text for title, text in _NOTES.items() if title in shown]
    if rows.totals.planned_bytes:
        notes.append(f"bytes: {format_bytes(rows.totals.planned_bytes)} of them planned by the compiler, not measured.")
    if rows.peak_basis and "of peak" in shown:
        notes.append(f"of peak: {rows.peak_basis}.")
    if left_out:
        notes.append(f"Left out for want of width: {', '.join(left_out)} (--format csv has all).")
    return ["", *notes] if notes else []


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
    return orjson.dumps(exact(value), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


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
    has_return = any("\r" in str(name) for values in rows.keys.values() for name in values)
    return csv_text(tuple(columns), zip(*columns.values(), strict=True), has_return=has_return)
