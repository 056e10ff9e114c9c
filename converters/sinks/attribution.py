"""Device time by op, module or Python frame: text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from rblnpb.errors import UsageError
from rblnpb.wording import counted

from ..results import AttributionTable, DeviceCoverage, DeviceTime
from ._csv_text import csv_text
from ._json_values import json_report
from ._text_tables import TextReport
from ._units import format_count, format_ns, format_part
from .findings import finding_values

__all__ = [
    "attribution_columns",
    "attribution_order",
    "render_attribution_csv",
    "render_attribution_json",
    "render_attribution_text",
    "render_coverage",
]

_NUMBERS: Final = (
    *("calls", "launches_self", "launches_total", "slices_self", "slices_total"),
    *("device_self_sum_ns", "device_self_union_ns", "device_total_sum_ns", "device_total_union_ns", "device_total_by_forward_ns"),
    *("host_self_ns", "host_total_ns"),
)
_RANKS: Final = {
    title: rank
    for rank, title in enumerate(
        ("self sum", "self %", "total sum", "calls", "host total", "self union", "total union", "launches", "host self"), start=1
    )
}
"""The less telling a column, the sooner it gives way to narrow terminals."""

_NAME_WIDTH: Final = 27
_TITLES: Final = {"op": "Op", "module": "Module", "python": "Python frame", "all": "Frame"}


def attribution_columns(table: AttributionTable, rows: Sequence[int]) -> dict[str, list[Any]]:
    """Columns by name, with units in the names.

    Args:
        table: The table.
        rows: Numbers of its rows, in order.
    """
    columns: dict[str, list[Any]] = {name: [getattr(table.frame[row], name) for row in rows] for name in ("name", "kind")}
    return columns | {name: [getattr(table, name)[row] for row in rows] for name in _NUMBERS}


def attribution_order(table: AttributionTable, sort_by: str | None) -> list[int]:
    """Rows of the table by a column, the greatest first; ties in order of first appearance.

    Args:
        table: The table.
        sort_by: A column of numbers, with or without `_ns`; "default" = device time of the frame itself, the host's where no
            device worked; None = order of first appearance.

    Raises:
        UsageError: There is no such column.
    """
    rows = list(range(len(table)))
    if sort_by is None:
        return rows
    if sort_by == "default":
        sort_by = "device_self_sum_ns" if table.coverage.total.sum_ns else "host_self_ns"
    name = sort_by if sort_by in _NUMBERS else f"{sort_by}_ns"
    if name not in _NUMBERS:
        raise UsageError(f"{sort_by!r} is no column to sort by: {', '.join(_NUMBERS)}, or none")
    values = getattr(table, name)
    return sorted(rows, key=lambda row: -values[row])


def render_attribution_text(table: AttributionTable, rows: Sequence[int], *, width: int = 160) -> str:
    """The table for people, and below it how much of all device time it speaks of.

    Args:
        table: The table.
        rows: Numbers of its rows to show, in order.
        width: Columns of the terminal; the table has as many of its own as fit beside the names, the most telling first.
    """
    report = TextReport(width)
    report.line(f"Device time by {_TITLES[table.by].lower() if table.by != 'python' else 'Python frame'}")
    report.line(f"  {' + '.join(table.sources)}\n")
    columns = _columns(table, rows)
    names = [table.frame[row].name for row in rows]
    cells = zip(names, *columns.values(), strict=True)
    report.table((_TITLES[table.by], *columns), cells, ranks=_RANKS, least=_NAME_WIDTH)
    if len(rows) < len(table):
        report.line(f"\n  {len(table) - len(rows):,} of {len(table):,} rows are not shown")
    report.line()
    report.line(render_coverage(table.coverage).rstrip())
    report.findings(table.findings)
    return report.text()


def _columns(table: AttributionTable, rows: Sequence[int]) -> dict[str, list[str]]:
    """Cells by title, in the order in which they stand."""
    whole = table.coverage.total.sum_ns

    def times(name: str) -> list[str]:
        return [format_ns(getattr(table, name)[row]) for row in rows]

    return {
        "calls": [format_count(table.calls[row]) for row in rows],
        "launches": [format_count(table.launches_total[row]) for row in rows],
        "self sum": times("device_self_sum_ns"),
        "self union": times("device_self_union_ns"),
        "self %": [format_part(table.device_self_sum_ns[row], whole) for row in rows],
        "total sum": times("device_total_sum_ns"),
        "total union": times("device_total_union_ns"),
        "host self": times("host_self_ns"),
        "host total": times("host_total_ns"),
    }


def render_coverage(coverage: DeviceCoverage) -> str:
    """How much of the device's time there is an answer for, a line each."""
    whole = coverage.total

    def part(time: DeviceTime) -> str:
        return f"{format_ns(time.sum_ns)} ({format_part(time.sum_ns, whole.sum_ns) or '-'})"

    def and_by_forward(time: DeviceTime, more: DeviceTime) -> str:
        return part(time) + (f", and {part(more)} by the op of the forward pass" if more.slices else "")

    rules = ", ".join(f"{rule} {time.slices:,}" for rule, time in coverage.by_rule.items())
    once = f"{format_ns(whole.busy_ns)} where overlaps count once"
    alone = f"; {part(coverage.in_python_on_no_op)} of it on no op" if coverage.in_python_on_no_op.slices else ""
    lines = [
        f"Device time: {format_ns(whole.sum_ns)} in {counted(whole.slices, 'slice')} of work, {once}",
        f"On an op: {part(coverage.on_ops)}, unattributed: {part(coverage.unattributed)}" + (f" ({rules})" if rules else ""),
        f"In a module: {and_by_forward(coverage.in_module, coverage.in_module_by_forward)}",
        f"In a Python frame: {and_by_forward(coverage.in_python, coverage.in_python_by_forward)}{alone}",
        f"Launches in an op: {coverage.launches_on_ops:,} of {coverage.launches:,}",
    ]
    return "".join(f"  {line}\n" for line in lines)


def render_attribution_json(table: AttributionTable, rows: Sequence[int]) -> bytes:
    """One JSON object, schema `rblnpb.stacks/1`; `totals` and `coverage` speak of all rows.

    Args:
        table: The table.
        rows: Numbers of its rows to show, in order.
    """
    columns = attribution_columns(table, rows)
    value = {
        "schema": "rblnpb.stacks/1",
        "by": table.by,
        "sources": table.sources,
        "rows": [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)],
        "totals": {
            "row_count": len(table),
            "device_self_sum_ns": sum(table.device_self_sum_ns),
            "host_self_ns": sum(table.host_self_ns),
        },
        # The field names of these values are the keys of the schema.
        "coverage": asdict(table.coverage),
        "findings": finding_values(table.findings),
    }
    return json_report(value)


def render_attribution_csv(table: AttributionTable, rows: Sequence[int]) -> str:
    """A header and a line a row.

    Args:
        table: The table.
        rows: Numbers of its rows to show, in order.
    """
    columns = attribution_columns(table, rows)
    return csv_text(tuple(columns), lambda: zip(*columns.values(), strict=True))
