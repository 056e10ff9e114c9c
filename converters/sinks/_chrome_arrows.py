"""Arrows of a Chrome trace: one from the place on the host where work was submitted to the first of that work on the device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.errors import Finding
from rblnpb.lanes import one_line

from ..json_text import TextTable, decimal, join_rows, microseconds
from ..timeline import Bool, HostTrace, HostTrack, Int64, Timeline
from ._chrome_device import DevicePlan, row_text
from ._chrome_host import HostPlan
from ._launch_arrows import FirstWork, first_work, launch_arrows

__all__ = ["Arrows", "arrow_blocks", "draw_arrows"]

_BLOCK_ROWS: Final = 8192


@dataclass(frozen=True, eq=False)
class Arrows:
    """Arrows; all columns have the same length n.

    Attributes:
        rows: Ids of the rows that the columns refer to.
        source, target: int64[n]; rows.
        source_ns, target_ns: int64[n]; trace clock; the source is not after the target.
        findings: Launches that have none, counted.
    """

    rows: tuple[HostTrack, ...]
    source: Int64
    source_ns: Int64
    target: Int64
    target_ns: Int64
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.source)


def draw_arrows(timeline: Timeline, host: HostTrace, host_plan: HostPlan, device_plan: DevicePlan) -> Arrows:
    """The arrows of `launch_arrows`, from row to row; none where an arrow of the host trace points at the same place."""
    work = first_work(timeline)
    target = _rows(work, host_plan, device_plan)
    arrows = launch_arrows(timeline, work, _is_pointed_at(host, host_plan, target, work.start_ns))
    return Arrows(
        rows=host_plan.rows + device_plan.rows,
        source=host_plan.row[arrows.op].astype(np.int64),
        source_ns=arrows.source_ns,
        target=target[arrows.launch],
        target_ns=work.start_ns[arrows.launch],
        findings=arrows.findings,
    )


def arrow_blocks(arrows: Arrows, first_id: int, base_time_ns: int) -> Iterator[tuple[int, bytes]]:
    """The events of the arrows, each with a comma and a newline before it, in blocks of bounded size.

    Args:
        arrows: The arrows.
        first_id: First of as many ids that no flow of the output has.
        base_time_ns: Zero of the output; no arrow starts before it.

    Yields:
        How many arrows, and their text.
    """
    texts = TextTable([row_text(row) for row in arrows.rows])
    for first in range(0, len(arrows), _BLOCK_ROWS):
        rows = slice(first, min(first + _BLOCK_ROWS, len(arrows)))
        count = rows.stop - rows.start
        number = decimal(np.arange(rows.start, rows.stop) + first_id)
        text = join_rows(
            count,
            b',\n{"ph":"s","cat":"ac2g","name":"ac2g","id":',
            number,
            b",",
            texts.take(arrows.source[rows]),
            b',"ts":',
            microseconds(arrows.source_ns[rows] - base_time_ns),
            b'},\n{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":',
            number,
            b",",
            texts.take(arrows.target[rows]),
            b',"ts":',
            microseconds(arrows.target_ns[rows] - base_time_ns),
            b"}",
        )
        yield count, text


def _rows(work: FirstWork, host_plan: HostPlan, device_plan: DevicePlan) -> Int64:
    """int64[launches]; the row of the output on which each launch's first work stands; -1 where there is none."""
    row = np.full(len(work.row), -1, np.int64)
    on_host = work.event >= 0
    row[on_host] = host_plan.row[work.event[on_host]]
    for is_frame, table in enumerate(device_plan.tables[:2]):
        ours = (work.row >= 0) & ~on_host & (work.is_frame == bool(is_frame))
        row[ours] = table.row(work.row[ours]) + len(host_plan.rows)
    return row


def _is_pointed_at(host: HostTrace, plan: HostPlan, target: Int64, target_ns: Int64) -> Bool:
    """Whether a flow of the host ends at each place."""
    pointed = np.zeros(len(target), np.bool_)
    on_host = np.flatnonzero((target >= 0) & (target < len(plan.rows)))
    ends = np.setdiff1d(np.flatnonzero(host.events.phase == ord("f")), plan.left_out)
    if len(on_host) and len(ends):
        rows = np.concatenate((target[on_host], plan.row[ends].astype(np.int64)))
        line = one_line(rows, np.concatenate((target_ns[on_host], host.events.start_ns[ends])))
        pointed[on_host] = np.isin(line[: len(on_host)], line[len(on_host) :])
    return pointed
