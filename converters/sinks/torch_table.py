"""The text of torch's `key_averages().table()`, character for character.

Its oddities are kept, since equality is the point: every line of columns ends in two spaces, a value that is too long
widens its line, the unit of operation counts follows the smallest, and `row_limit` counts after the sums are made.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.errors import UsageError

from ..results import KeyAverages
from ..timeline import Int64
from ._units import TORCH_TIME_UNITS, torch_flops_scale, torch_memory, torch_share, torch_time

__all__ = ["SORT_KEYS", "render", "sort_order"]

Float64 = npt.NDArray[np.float64]

_COLUMN_WIDTH: Final = 12
_GAP: Final = "  "


_SORT_COLUMNS: Final[dict[str, Callable[[KeyAverages], Int64 | Float64]]] = {
    "cpu_time": lambda rows: rows.cpu_time_total_us / rows.count,
    "cpu_time_total": lambda rows: rows.cpu_time_total_us,
    "self_cpu_time_total": lambda rows: rows.self_cpu_time_total_us,
    "device_time": lambda rows: rows.device_time_total_us / rows.count,
    "device_time_total": lambda rows: rows.device_time_total_us,
    "self_device_time_total": lambda rows: rows.self_device_time_total_us,
    "cpu_memory_usage": lambda rows: rows.cpu_memory_bytes,
    "self_cpu_memory_usage": lambda rows: rows.self_cpu_memory_bytes,
    "device_memory_usage": lambda rows: rows.device_memory_bytes,
    "self_device_memory_usage": lambda rows: rows.self_device_memory_bytes,
    "count": lambda rows: rows.count,
    "flops": lambda rows: rows.flops,
}

SORT_KEYS: Final = tuple(_SORT_COLUMNS)
"""What rows can be ordered by; `cuda`, `xpu` and `privateuse1` may stand for `device`."""


def sort_order(rows: KeyAverages, sort_by: str | None) -> Int64:
    """Row numbers in the order of the table: the largest first; equal rows, and all without a key, as they come.

    Args:
        rows: The rows.
        sort_by: One of `SORT_KEYS`, with any of torch's words for the device; None: as they come.

    Returns:
        int64[n].

    Raises:
        UsageError: There is no such key; the text names the nearest and all others.
    """
    if sort_by is None:
        return np.arange(len(rows.name), dtype=np.int64)
    key = sort_by
    for word in ("cuda", "xpu", "privateuse1"):
        key = key.replace(word, "device")
    if key not in _SORT_COLUMNS:
        near = difflib.get_close_matches(key, SORT_KEYS, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"cannot sort by {sort_by!r}: {hint}the keys are {', '.join(SORT_KEYS)}")
    return np.argsort(-_SORT_COLUMNS[key](rows), kind="stable").astype(np.int64)


def render(  # noqa: PLR0913  # torch's own arguments under torch's own names
    averages: KeyAverages,
    *,
    sort_by: str | None = None,
    row_limit: int = 100,
    max_src_column_width: int | None = 75,  # noqa: ARG001  # torch's argument; see below
    max_name_column_width: int | None = 55,
    max_shapes_column_width: int | None = 80,
    header: str | None = None,
    top_level_events_only: bool = False,
    time_unit: str | None = None,
) -> str:
    """Prints rows as torch prints them.

    Args:
        averages: The rows, of names or of single events.
        sort_by: One of `SORT_KEYS`, with any of torch's words for the device; None: in order of first appearance.
        row_limit: Rows to print; -1 = all.
        max_src_column_width: Without effect: traces hold no source locations that torch's table would show.
        max_name_column_width: Longer names are cut; None: none is.
        max_shapes_column_width: Longer input shapes are cut; None: none are.
        header: A line above the table.
        top_level_events_only: Whether to leave out rows whose first event was called by another; these do not count
            towards `row_limit`.
        time_unit: `s`, `ms` or `us` for every time; None: each by its size.

    Returns:
        Lines that end in a newline each; nothing at all when there are no rows.

    Raises:
        UsageError: Unknown `sort_by` or `time_unit`.
    """
    if time_unit is not None and time_unit not in TORCH_TIME_UNITS:
        raise UsageError(f"unknown time unit {time_unit!r}: the units are {', '.join(TORCH_TIME_UNITS)}")
    order = sort_order(averages, sort_by)
    if not len(order):
        return ""
    table = _Table(averages, _Totals.of(averages, order), time_unit, max_name_column_width, max_shapes_column_width)
    shown = order[averages.is_top_level[order]] if top_level_events_only else order
    shown = shown if row_limit < 0 else shown[:row_limit]
    widths = [column.width for column in table.columns]
    rule = "".join("-" * width + _GAP for width in widths)
    ruler = "=" * (len(rule) - len(_GAP))
    lines = [] if header is None else [ruler, header]
    if top_level_events_only:
        lines += [ruler, "This report only display top-level ops statistics"]
    lines += [rule, _line([column.title for column in table.columns], widths), rule]
    lines += [_line([column.cell(row) for column in table.columns], widths) for row in shown.tolist()]
    lines += [rule, *table.footer()]
    return "".join(line + "\n" for line in lines)


@dataclass(frozen=True)
class _Column:
    title: str
    width: int
    cell: Callable[[int], str]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "".join(f"{cell:>{width}}{_GAP}" for cell, width in zip(cells, widths, strict=True))


def _cut(text: str, max_width: int | None) -> str:
    return text if max_width is None or len(text) < max_width - 3 else text[: max_width - 3] + "..."


def _fitting_width(texts: tuple[str, ...], max_width: int | None) -> int:
    width = max(len(text) for text in texts) + 4
    return width if max_width is None else min(width, max_width)


@dataclass(frozen=True)
class _Totals:
    """What percentages are of. Floats, added in the order of the table, which decides their last digit."""

    self_cpu_us: float
    self_device_us: float

    @classmethod
    def of(cls, rows: KeyAverages, order: Int64) -> _Totals:
        is_work = rows.is_device & ~rows.is_annotation
        work = order[is_work[order]]
        return cls(_sum(rows.self_cpu_time_total_us[order]), _sum(rows.self_device_time_total_us[work]))


def _sum(values: Float64) -> float:
    """One after the other: numpy's own sum adds in pairs, which rounds differently."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


class _Table:
    """The columns that these rows call for, in torch's order."""

    def __init__(
        self, rows: KeyAverages, totals: _Totals, time_unit: str | None, name_width: int | None, shapes_width: int | None
    ) -> None:
        self._rows, self._totals, self._time_unit = rows, totals, time_unit
        self._has_device_time = bool(np.any(rows.self_device_time_total_us > 0))
        width = _fitting_width(rows.name, name_width)
        self.columns: list[_Column] = [_Column("Name", width, lambda row: _cut(rows.name[row], name_width))]
        self._add_cpu_time()
        if self._has_device_time:
            self._add_device_time()
        if rows.profile_memory:
            self._add_memory()
        self._add("# of Calls", lambda row: str(rows.count[row]))
        if any(shapes not in {"", "[]"} for shapes in rows.input_shapes):
            width = _fitting_width(rows.input_shapes, shapes_width)
            self.columns.append(_Column("Input Shapes", width, lambda row: rows.input_shapes[row][:width]))
        if rows.with_flops:
            self._add_flops()

    def footer(self) -> list[str]:
        """The lines below the table."""
        lines = [f"Self CPU time total: {self._time(self._totals.self_cpu_us)}"]
        if self._has_device_time:
            lines.append(f"Self {self._rows.device_name} time total: {self._time(self._totals.self_device_us)}")
        return lines

    def _add(self, title: str, cell: Callable[[int], str]) -> None:
        self.columns.append(_Column(title, _COLUMN_WIDTH, cell))

    def _add_time(self, title: str, times_us: Float64) -> None:
        self._add(title, lambda row: self._time(times_us[row]))

    def _add_size(self, title: str, sizes_bytes: Int64) -> None:
        self._add(title, lambda row: torch_memory(int(sizes_bytes[row])))

    def _time(self, time_us: float) -> str:
        return torch_time(float(time_us), self._time_unit)

    def _add_cpu_time(self) -> None:
        rows, whole = self._rows, self._totals.self_cpu_us
        alone, total = rows.self_cpu_time_total_us, rows.cpu_time_total_us
        self._add("Self CPU %", lambda row: torch_share(alone[row], whole))
        self._add_time("Self CPU", alone)
        self._add("CPU total %", lambda row: "0" if rows.is_async[row] else torch_share(total[row], whole))
        self._add_time("CPU total", total)
        self._add_time("CPU time avg", total / rows.count)

    def _add_device_time(self) -> None:
        rows, device = self._rows, self._rows.device_name
        alone, total = rows.self_device_time_total_us, rows.device_time_total_us
        self._add_time(f"Self {device}", alone)
        self._add(f"Self {device} %", lambda row: torch_share(alone[row], self._totals.self_device_us))
        self._add_time(f"{device} total", total)
        self._add_time(f"{device} time avg", total / rows.count)

    def _add_memory(self) -> None:
        rows, device = self._rows, self._rows.device_name
        columns = [("CPU Mem", rows.cpu_memory_bytes), ("Self CPU Mem", rows.self_cpu_memory_bytes)]
        if np.any(rows.self_device_memory_bytes > 0):
            columns += [
                (f"{device} Mem", rows.device_memory_bytes),
                (f"Self {device} Mem", rows.self_device_memory_bytes),
            ]
        for title, sizes in columns:
            self._add_size(title, sizes)

    def _add_flops(self) -> None:
        scale = torch_flops_scale(self._rows.flops.tolist())
        if scale is not None:
            factor, unit = scale
            flops = self._rows.flops
            self._add(f"Total {unit}", lambda row: f"{int(flops[row]) * factor:8.3f}" if flops[row] > 0 else "--")
