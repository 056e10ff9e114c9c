"""Which slices of a Perfetto trace an arrow joins: flows of the host, launches and what they cause, dependencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity
from rblnpb.row_order import order_by

from ..timeline import AlignedSlices, Bool, HostTrace, Int64, Timeline
from ._changes import changes
from ._host_slices import HostSlices, flow_rows, following, innermost
from ._launch_arrows import first_work, launch_arrows
from ._perfetto_dependencies import Dependencies
from ._perfetto_flows import Ends, FlowEnds, Flows, draw
from ._perfetto_host import HostSide, thread_slices
from ._perfetto_host_order import slices_to_join

__all__ = ["FRAMES", "HOST", "SLICES", "TraceArrows", "draw_arrows"]

HOST, SLICES, FRAMES = range(3)
"""Tables of slices that arrows join, in the order in which they are written."""
_START: Final = ord("s")
_END: Final = ord("f")


@dataclass(frozen=True, eq=False)
class TraceArrows:
    """All arrows of a trace.

    Attributes:
        begins, ends: For each table what the packets hold with which its slices begin and end.
        host_begins, host_ends: Those of the host alone.
        findings: What cannot be drawn, counted.
    """

    begins: list[list[Flows]]
    ends: list[list[Flows]]
    host_begins: FlowEnds
    host_ends: FlowEnds
    findings: tuple[Finding, ...]


def draw_arrows(timeline: Timeline, side: HostSide | None) -> TraceArrows:
    """All arrows, and those that cannot be drawn, counted.

    Args:
        timeline: The timeline.
        side: Its host trace, if it has one.
    """
    sources: list[Ends] = []
    targets: list[Ends] = []
    findings: list[Finding] = []
    if timeline.host is not None and side is not None:
        ends = _HostEnds(timeline.host, side, timeline.launches.host_row)
        source, target, flow_findings = _host_arrows(timeline.host, side, ends.slices)
        launched_by, launched, launch_findings = _launch_ends(timeline, side, ends, target)
        sources += [ends.of(source), launched_by]
        targets += [ends.of(target), launched]
        findings += [*flow_findings, *launch_findings]
    slices, predecessor, successor = timeline.slices, timeline.dependencies.predecessor, timeline.dependencies.successor
    if side is not None and bool((slices.event >= 0).any()):
        on_host = _on_host(slices, predecessor) | _on_host(slices, successor)
        sources.append(_device_ends(slices, SLICES, predecessor[on_host], side))
        targets.append(_device_ends(slices, SLICES, successor[on_host], side))
        predecessor, successor = predecessor[~on_host], successor[~on_host]
    source_ends, target_ends = Ends.join(sources), Ends.join(targets)
    arrows = draw(source_ends, target_ends, len((HOST, SLICES, FRAMES)))
    begun: list[list[Flows]] = [[one] for one in arrows.begins]
    ended: list[list[Flows]] = [[one] for one in arrows.ends]
    lost = arrows.lost
    if len(predecessor):
        between = Dependencies(slices.start_ns, slices.duration_ns, predecessor, successor, len(source_ends.table) + 1)
        begun[SLICES].append(between.begins)
        ended[SLICES].append(between.ends)
        lost += between.lost_count()
    if lost:
        text = f"{lost} arrows would point at what ended before they begin; they are left out"
        findings.append(Finding(Severity.INFO, "arrows-backwards", text, lost))
    return TraceArrows(begun, ended, arrows.begins[HOST], arrows.ends[HOST], tuple(findings))


def _on_host(slices: AlignedSlices, rows: Int64) -> Bool:
    """Which of some slices are shown in the host trace."""
    is_shown: Bool = slices.event[rows] >= 0
    return is_shown


class _HostEnds:
    """Slices of the host that arrows may join.

    Attributes:
        slices: Those that flow events stand in, and the ops of launches, among them all that are told by their begin and end apart.
    """

    def __init__(self, host: HostTrace, side: HostSide, ops: Int64) -> None:
        points = flow_rows(host)
        is_asked = np.zeros(len(host.events), np.bool_)
        is_asked[ops[ops >= 0]] = True
        rows = slices_to_join(host, points, is_asked, all_rows=bool(_points_ahead(host, points).any()))
        self._side = side
        self.slices, self._end_row = thread_slices(host, side, rows)

    def of(self, place: Int64) -> Ends:
        """Slices by their places."""
        rows, end_rows = self.slices.rows[place], self._end_row[place]
        return Ends(
            table=np.full(len(place), HOST, np.int64),
            begin_row=rows,
            end_row=end_rows,
            begin_ns=self.slices.start_ns[place],
            # What never ends has no packet with which an arrow could.
            end_ns=np.where(end_rows < 0, self.slices.start_ns[place], self.slices.end_ns[place]),
            rank=self._side.ranks(rows),
        )


def _points_ahead(host: HostTrace, rows: Int64) -> Bool:
    """Which flow events end at the slice that begins next."""
    is_ahead: Bool = (host.events.phase[rows] == _END) & (host.events.binding_point[rows] == 0)
    return is_ahead


def _host_arrows(host: HostTrace, side: HostSide, slices: HostSlices) -> tuple[Int64, Int64, tuple[Finding, ...]]:
    """Places in the host's slices that its flows join: from the latest start or step of a flow to each step and end."""
    events = host.events
    rows = flow_rows(host)
    place = innermost(host, slices, side.track[slices.rows], rows)
    points_ahead = np.flatnonzero(_points_ahead(host, rows))
    place[points_ahead] = following(host, slices, rows[points_ahead])
    outside = place < 0
    rows, place = rows[~outside], place[~outside]
    keys = (events.name[rows], events.category[rows], events.flow_id[rows])
    order = order_by(*keys, events.start_ns[rows])
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


def _device_ends(slices: AlignedSlices, table: int, rows: Int64, side: HostSide) -> Ends:
    """Slices of a table of the device side, joined with some of the host; what came out of the host trace is in its table."""
    event, start_ns = slices.event[rows], slices.start_ns[rows]
    on_host = event >= 0
    place = np.where(on_host, event, rows)
    # No two of one table of the device are joined here, so that their order does not matter.
    rank = np.where(on_host, side.ranks(event), 0) if on_host.any() else np.zeros(len(rows), np.int64)
    return Ends(np.where(on_host, HOST, table), place, place, start_ns, start_ns + slices.duration_ns[rows], rank)


def _launch_ends(timeline: Timeline, side: HostSide, ends: _HostEnds, pointed_at: Int64) -> tuple[Ends, Ends, tuple[Finding, ...]]:
    """From ops to the first work of what they launched, where no flow of the host points already."""
    work = first_work(timeline)
    arrows = launch_arrows(timeline, work, (work.event >= 0) & np.isin(work.event, ends.slices.rows[pointed_at]))
    op = np.searchsorted(ends.slices.rows, arrows.op)
    sources, targets = [], []
    for table, slices in ((SLICES, timeline.slices), (FRAMES, timeline.frames)):
        chosen = work.is_frame[arrows.launch] == (table == FRAMES)
        sources.append(ends.of(op[chosen]))
        rows = work.row[arrows.launch[chosen]]
        targets.append(_device_ends(slices, table, rows, side))
    return Ends.join(sources), Ends.join(targets), arrows.findings
