"""The rows of a slice summary as columns for programs, and their order."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Final

from rblnpb.columns import ABSENT
from rblnpb.errors import UsageError

from ..results import SliceRows
from ._json_values import known_share

__all__ = ["row_columns", "row_order", "total_columns"]

_SHORT: Final = {"bytes": "size_bytes", "cycles": "compute_cycles", "share": "device_time_share"}
"""What people call a column beside its name without the unit."""

_UNITS: Final = ("_bytes_per_s", "_bytes", "_ns", "_hz")
_FROM_THE_LEAST: Final = ("start_ns", "call", "chiplet", "launch_id")


def row_columns(rows: SliceRows, chosen: Sequence[int] | None = None) -> dict[str, list[Any]]:
    """Columns by name, units in the names, in the order of the table; None = not known, or not of this row.

    Args:
        rows: The summary.
        chosen: Numbers of its rows, in order; None = all as they come.
    """
    picked: Sequence[int] = range(len(rows)) if chosen is None else chosen
    columns: dict[str, list[Any]] = {name: [values[row] for row in picked] for name, values in rows.keys.items()}
    of = {name: _picked(column, picked) for name, column in vars(rows.statistics).items()}
    totals = rows.totals
    columns |= {
        "count": of["count"],
        "total_ns": of["total_ns"],
        "device_time_share": [_share(part, totals.total_ns) for part in of["total_ns"]],
        "mean_ns": [_quotient(*pair) for pair in zip(of["total_ns"], of["count"], strict=True)],
        **{name: of[name] for name in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "busy_ns")},
        "span_share": [_share(part, totals.span_ns) for part in of["busy_ns"]],
        "size_bytes": of["size_bytes"],
        "planned_bytes": of["planned_bytes"],
        "bandwidth_bytes_per_s": [_rate(*pair) for pair in zip(of["size_bytes"], of["moving_ns"], strict=True)],
        "peak_bandwidth_share": [
            None if peak is None or not moving else _share(size * 10**9, moving * peak)
            for size, moving, peak in zip(of["size_bytes"], of["moving_ns"], of["peak_bytes_per_s"], strict=True)
        ],
        "compute_cycles": of["compute_cycles"],
        "frequency_hz": [_rate(*pair) for pair in zip(of["compute_cycles"], of["computing_ns"], strict=True)],
    }
    columns |= {name: _picked(column, picked) for name, column in rows.times.items()}
    return columns | _bound_columns(rows, picked)


def _bound_columns(rows: SliceRows, picked: Sequence[int]) -> dict[str, list[Any]]:
    if rows.bounds is None:
        return {}
    bounds = rows.bounds.take(picked)
    return {
        "bound": list(bounds.verdict),
        "needed_compute_ns": _needed(bounds.compute_ns.tolist(), bounds.compute_engine),
        "needed_dma_ns": _needed(bounds.dma_ns.tolist(), bounds.dma_engine),
        "compute_use": [known_share(part) for part in bounds.compute_use.tolist()],
        "dma_use": [known_share(part) for part in bounds.dma_use.tolist()],
        "compute_engine": [name or None for name in bounds.compute_engine],
        "dma_engine": [name or None for name in bounds.dma_engine],
    }


def _needed(needed_ns: Sequence[int], engine: Sequence[str]) -> list[int | None]:
    return [one if name else None for one, name in zip(needed_ns, engine, strict=True)]


def total_columns(rows: SliceRows) -> dict[str, int | None]:
    """The totals by name, units in the names."""
    return dict(vars(rows.totals))


def _picked(column: Any, picked: Sequence[int]) -> list[Any]:
    values = column.tolist()
    return [None if values[row] == ABSENT else values[row] for row in picked]


def _quotient(part: int, whole: int) -> int | None:
    """To the nearest integer, halves up."""
    return (2 * part + whole) // (2 * whole) if whole else None


def _rate(amount: int | None, duration_ns: int | None) -> int | None:
    return None if amount is None or not duration_ns else _quotient(amount * 10**9, duration_ns)


def _share(part: int, whole: int) -> float | None:
    return known_share(part / whole) if whole else None


def row_order(rows: SliceRows, sort_by: str | None) -> list[int]:
    """Row numbers in order: the largest first, moments and ordinals from the least, texts by their letters; what is not known last.

    Args:
        rows: The summary.
        sort_by: The name of a column with or without its unit, such as "total" or "max"; None = as the rows come. Equal rows stay
            as they come.

    Raises:
        UsageError: There is no such column.
    """
    if sort_by is None:
        return list(range(len(rows)))
    columns = row_columns(rows)
    names = {_short(name): name for name in columns} | _SHORT
    name = names.get(sort_by, sort_by)
    if name not in columns:
        near = difflib.get_close_matches(sort_by, names, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"cannot sort by {sort_by!r}: {hint}the keys by {rows.by} are {', '.join(names)}")
    values = columns[name]
    known = [row for row in range(len(rows)) if values[row] is not None]
    is_text = any(isinstance(values[row], str) for row in known)
    known.sort(key=lambda row: values[row], reverse=not is_text and name not in _FROM_THE_LEAST)
    return known + [row for row in range(len(rows)) if values[row] is None]


def _short(name: str) -> str:
    for unit in _UNITS:
        if name.endswith(unit):
            return name.removesuffix(unit)
    return name
