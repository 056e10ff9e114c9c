"""The key_averages table for programs: JSON and CSV with exact integer nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from rblnpb.errors import Finding

from ..results import KeyAverages
from ._csv_text import csv_text
from ._json_values import exact
from .data_frames import Column
from .findings import finding_values

__all__ = ["render_summary_csv", "render_summary_json", "summary_columns"]

_COLUMNS = (
    "self_cpu_time_total_ns",
    "cpu_time_total_ns",
    "self_device_time_total_ns",
    "device_time_total_ns",
)
_MEMORY_COLUMNS = ("cpu_memory_bytes", "self_cpu_memory_bytes", "device_memory_bytes", "self_device_memory_bytes")


def _columns(averages: KeyAverages) -> dict[str, Sequence[Any]]:
    """What stands in a row, by name; memory, operations and shapes only where they were told."""
    numbers = ["count", *_COLUMNS]
    if averages.profile_memory:
        numbers += _MEMORY_COLUMNS
    if averages.with_flops:
        numbers.append("flops")
    columns: dict[str, Sequence[Any]] = {"name": averages.name, "kind": averages.kind}
    columns |= {name: getattr(averages, name).tolist() for name in numbers}
    return columns | ({"input_shapes": averages.input_shapes} if any(averages.input_shapes) else {})


def _totals(averages: KeyAverages) -> dict[str, int]:
    """What percentages refer to: self times over all rows, device time over device rows alone; and how much of that is on ops."""
    is_device_work = averages.is_device & ~averages.is_annotation
    device_ns = int(averages.self_device_time_total_ns[is_device_work].sum())
    attributed_ns = int(averages.self_device_time_total_ns[~averages.is_device].sum())
    return {
        "self_cpu_time_total_ns": int(averages.self_cpu_time_total_ns.sum()),
        "self_device_time_total_ns": device_ns,
        "attributed_device_time_ns": attributed_ns,
        "unattributed_device_time_ns": device_ns - attributed_ns,
        "row_count": len(averages.name),
    }


def render_summary_json(averages: KeyAverages, rows: Sequence[int], findings: Sequence[Finding]) -> bytes:
    """One JSON object, schema `rblnpb.summary/1`: integers in ns and bytes with the unit in the key, stable key order.

    Args:
        averages: The table.
        rows: Its rows to show, in order. `totals` speak of all rows.
        findings: Notes.
    """
    columns = _columns(averages)
    value = {
        "schema": "rblnpb.summary/1",
        "by": "op",
        "device_name": averages.device_name,
        # There may be a row for each slice, and no number of a column is beyond 64 bits: rows are not looked at one by one.
        "rows": [{name: column[row] for name, column in columns.items()} for row in rows],
        "totals": _totals(averages),
        "findings": exact(finding_values(findings)),
    }
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def summary_columns(averages: KeyAverages) -> dict[str, Column]:
    """All rows as columns of data frames."""
    texts = ("name", "kind", "input_shapes")
    return {name: ("text" if name in texts else "number", list(values)) for name, values in _columns(averages).items()}


def render_summary_csv(averages: KeyAverages, rows: Sequence[int]) -> str:
    """A header and a line a row, RFC 4180 with line feeds.

    A name that a spreadsheet would take for a formula gets a leading apostrophe.
    """
    columns = _columns(averages)
    return csv_text(tuple(columns), lambda: ([column[row] for column in columns.values()] for row in rows))
