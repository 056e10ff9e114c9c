"""Arrows of a Chrome trace: one from the place on the host where work was submitted to the first of that work on the device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity
from rblnpb.lanes import one_line

from ..json_text import as_texts, decimal, join_rows, microseconds
from ..timeline import MATCHED_RULES, Bool, HostTrace, HostTrack, Int64, Timeline
from ._chrome_device import DevicePlan, row_text
from ._chrome_host import HostPlan

__all__ = ["Arrows", "arrow_blocks", "draw_arrows"]

_BLOCK_ROWS: Final = 8192
_NOWHERE: Final = np.iinfo(np.int64).max


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
    """An arrow for every launch that matched an op and did something on a device.

    It starts in the op, at the moment of the launch, and points at the start of the first slice or frame of the launch. Where all
    of these came out of the host trace, and an arrow of its own points there, no second one is drawn.
    """
    launches = timeline.launches
    target, target_ns = _first_work(timeline, host_plan, device_plan)
    matched = np.flatnonzero((launches.host_row >= 0) & (launches.reason < MATCHED_RULES))
    has_arrow = _is_pointed_at(host, host_plan, target[matched], target_ns[matched])
    idle = target[matched] < 0
    rows = matched[~idle & ~has_arrow]
    op = launches.host_row[rows]
    start = host.events.start_ns[op]
    last = start + np.maximum(host.events.duration_ns[op] - 1, 0)
    # What a launch causes cannot start before it: where it does, the clocks are to blame, and the arrow starts a little earlier.
    source_ns = np.clip(np.minimum(launches.start_ns[rows], target_ns[rows]), start, last)
    backwards = source_ns > target_ns[rows]
    drawn = ~backwards
    return Arrows(
        rows=host_plan.rows + device_plan.rows,
        source=host_plan.row[op[drawn]].astype(np.int64),
        source_ns=source_ns[drawn],
        target=target[rows[drawn]],
        target_ns=target_ns[rows[drawn]],
        findings=_findings(int(idle.sum()), int(backwards.sum())),
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
    texts = as_texts([row_text(row) for row in arrows.rows])
    for first in range(0, len(arrows), _BLOCK_ROWS):
        rows = slice(first, min(first + _BLOCK_ROWS, len(arrows)))
        count = rows.stop - rows.start
        number = decimal(np.arange(rows.start, rows.stop) + first_id)
        text = join_rows(
            count,
            b',\n{"ph":"s","cat":"ac2g","name":"ac2g","id":',
            number,
            b",",
            texts[arrows.source[rows]],
            b',"ts":',
            microseconds(arrows.source_ns[rows] - base_time_ns),
            b'},\n{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":',
            number,
            b",",
            texts[arrows.target[rows]],
            b',"ts":',
            microseconds(arrows.target_ns[rows] - base_time_ns),
            b"}",
        )
        yield count, text


def _first_work(timeline: Timeline, host_plan: HostPlan, device_plan: DevicePlan) -> tuple[Int64, Int64]:
    """Row and start of the first slice or frame of every launch; -1 where it has none. Those of our own go before the host's."""
    count = len(timeline.launches)
    target, target_ns = np.full(count, -1, np.int64), np.full(count, _NOWHERE, np.int64)
    tables = ((timeline.slices, device_plan.tables[0]), (timeline.frames, device_plan.tables[1]))
    for is_ours in (True, False):
        unfound = target < 0
        for slices, table in tables:
            rows = np.flatnonzero((slices.launch >= 0) & ((slices.event < 0) == is_ours))
            rows = rows[unfound[slices.launch[rows]]]
            launch, start = slices.launch[rows], slices.start_ns[rows]
            np.minimum.at(target_ns, launch, start)
            # Among equals the frame, which comes last here, and of slices the first, which is why they go backwards.
            first = rows[start == target_ns[launch]][::-1]
            shown = table.row[first] + len(host_plan.rows) if is_ours else host_plan.row[slices.event[first]]
            target[slices.launch[first]] = shown
    return target, target_ns


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


def _findings(idle: int, backwards: int) -> tuple[Finding, ...]:
    made = []
    if idle:
        text = f"{idle} launches matched an op and have no slice on a device; no arrow starts there"
        made.append(Finding(Severity.INFO, "launches-without-device-work", text, idle))
    if backwards:
        text = f"{backwards} launches have device work that starts before their op does; no arrow can say that"
        made.append(Finding(Severity.WARNING, "device-work-before-op", text, backwards))
    return tuple(made)
