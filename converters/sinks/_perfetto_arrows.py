"""Which slices of a Perfetto trace an arrow joins: flows of the host, launches and what they cause, dependencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity

from ..timeline import AlignedSlices, HostTrace, Int64, Timeline
from ._changes import changes
from ._host_slices import flow_rows, following, innermost
from ._launch_arrows import first_work, launch_arrows
from ._perfetto_flows import Arrows, Ends, draw
from ._perfetto_host import HostSide
from ._perfetto_slices import SliceColumns

__all__ = ["FRAMES", "HOST", "SLICES", "draw_arrows"]

HOST, SLICES, FRAMES = range(3)
"""Tables of slices that arrows join, in the order in which they are written."""
_START: Final = ord("s")
_END: Final = ord("f")


def draw_arrows(timeline: Timeline, side: HostSide | None, tables: Sequence[SliceColumns]) -> tuple[Arrows, tuple[Finding, ...]]:
    """All arrows, and those that cannot be drawn, counted.

    Args:
        timeline: The timeline.
        side: Its host trace, if it has one.
        tables: Its slices and its frames.
    """
    sources: list[Ends] = []
    targets: list[Ends] = []
    findings: list[Finding] = []
    if timeline.host is not None and side is not None:
        source, target, flow_findings = _host_arrows(timeline.host, side)
        launched_by, launched, launch_findings = _launch_ends(timeline, side, tables, target)
        sources += [_host_ends(side, source), launched_by]
        targets += [_host_ends(side, target), launched]
        findings += [*flow_findings, *launch_findings]
    if len(timeline.dependencies):
        for ends, rows in ((sources, timeline.dependencies.predecessor), (targets, timeline.dependencies.successor)):
            ends.append(_device_ends(timeline.slices, SLICES, tables[0], rows, side))
    arrows = draw(Ends.join(sources), Ends.join(targets), len((HOST, SLICES, FRAMES)))
    if arrows.lost:
        text = f"{arrows.lost} arrows would point at what ended before they begin; they are left out"
        findings.append(Finding(Severity.INFO, "arrows-backwards", text, arrows.lost))
    return arrows, tuple(findings)


def _host_arrows(host: HostTrace, side: HostSide) -> tuple[Int64, Int64, tuple[Finding, ...]]:
    """Places in the host's slices that its flows join: from the latest start or step of a flow to each step and end."""
    events = host.events
    rows = flow_rows(host)
    place = innermost(host, side.slices, side.track[side.slices.rows], rows)
    points_ahead = np.flatnonzero((events.phase[rows] == _END) & (events.binding_point[rows] == 0))
    place[points_ahead] = following(host, side.slices, rows[points_ahead])
    outside = place < 0
    rows, place = rows[~outside], place[~outside]
    keys = (events.flow_id[rows], events.category[rows], events.name[rows])
    order = np.lexsort((rows, events.start_ns[rows], *keys))
    rows, place = rows[order], place[order]
    phase = events.phase[rows]
    is_first = np.any([np.diff(key[order], prepend=-1) != 0 for key in keys], axis=0)
    at = np.arange(len(rows))
    first = np.maximum.accumulate(np.where(is_first, at, 0))
    started = np.maximum.accumulate(np.where(phase == _START, at, -1))
    is_open = started >= first
    before = np.concatenate(([-1], np.maximum.accumulate(np.where(phase == _END, -1, at))))[:-1]
    arrives = (phase != _START) & is_open
    endless = int(((phase != _START) & ~is_open).sum())
    findings = changes({"flows-outside-slices": int(outside.sum()), "flows-without-start": endless})
    return place[before[arrives]], place[arrives], findings


def _host_ends(side: HostSide, place: Int64) -> Ends:
    """Slices of the host by their places."""
    rows, end_rows = side.slices.rows[place], side.end_row[place]
    return Ends(
        table=np.full(len(place), HOST, np.int64),
        begin_row=rows,
        end_row=end_rows,
        begin_ns=side.slices.start_ns[place],
        # What never ends has no packet with which an arrow could.
        end_ns=np.where(end_rows < 0, side.slices.start_ns[place], side.slices.end_ns[place]),
        rank=side.rank[rows],
    )


def _device_ends(slices: AlignedSlices, table: int, columns: SliceColumns, rows: Int64, side: HostSide | None) -> Ends:
    """Slices of a table of the device side; those that came out of the host trace are in its table."""
    written = np.empty(len(slices), np.int64)
    written[columns.rows] = np.arange(len(columns.rows))
    event = slices.event[rows]
    on_host = event >= 0
    place = np.where(on_host, event, rows)
    rank = written[rows]
    if side is not None and on_host.any():
        rank = np.where(on_host, side.rank[event], rank)
    start_ns = slices.start_ns[rows]
    return Ends(np.where(on_host, HOST, table), place, place, start_ns, start_ns + slices.duration_ns[rows], rank)


def _launch_ends(
    timeline: Timeline, side: HostSide, tables: Sequence[SliceColumns], pointed_at: Int64
) -> tuple[Ends, Ends, tuple[Finding, ...]]:
    """From ops to the first work of what they launched, where no flow of the host points already."""
    work = first_work(timeline)
    arrows = launch_arrows(timeline, work, (work.event >= 0) & np.isin(work.event, side.slices.rows[pointed_at]))
    op = np.searchsorted(side.slices.rows, arrows.op)
    sources, targets = [], []
    for table, slices in ((SLICES, timeline.slices), (FRAMES, timeline.frames)):
        chosen = work.is_frame[arrows.launch] == (table == FRAMES)
        sources.append(_host_ends(side, op[chosen]))
        rows = work.row[arrows.launch[chosen]]
        targets.append(_device_ends(slices, table, tables[table - SLICES], rows, side))
    return Ends.join(sources), Ends.join(targets), arrows.findings
