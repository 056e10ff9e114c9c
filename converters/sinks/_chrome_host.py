"""What has to change in the events of a host trace before they may stand in the output; everything else is copied.

Decided on columns alone: ids that a viewer cannot hold, slices that cross on their thread, flows that cannot be drawn, times that a
double cannot hold, slices without a length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.column_arrays import row_blocks
from rblnpb.columns import ABSENT
from rblnpb.errors import Finding
from rblnpb.lanes import lanes

from ..timeline import Bool, HostTrace, HostTrack, Int32, Int64
from ._changes import changes
from ._chrome_copy import Change, TableChange, TimeChange
from ._chrome_flows import DrawnFlows, draw_flows, move_flows
from ._chrome_ids import FreeNumbers, HeldRows, Label, hold_rows, id_text, thread_name
from ._host_slices import complete_slices, flow_rows, slices_around

__all__ = ["HostPlan", "plan_host", "shown_times", "slice_lengths"]

_METADATA, _SLICE = ord("M"), ord("X")


@dataclass(frozen=True, eq=False)
class HostPlan:
    """How the host's events go into the output.

    Attributes:
        rows: Ids of every row of the output: first those of `HostTrace.tracks`, then those that slices were moved to.
        row: int32[n]; the row of each event.
        left_out: int64[k]; rows of events that cannot be shown, ascending.
        flows: What changes for flows.
        labels: What metadata the new rows need.
        findings: Every change, counted.
    """

    rows: tuple[HostTrack, ...]
    row: Int32
    left_out: Int64
    flows: DrawnFlows
    labels: tuple[Label, ...]
    findings: tuple[Finding, ...]

    def changes(self, host: HostTrace, flow_id: int, base_time_ns: int) -> tuple[Change, ...]:
        """Every value to be exchanged.

        Args:
            host: The trace.
            flow_id: First number for flows that need another id.
            base_time_ns: Zero of the output; the times are written anew where it is not the file's.
        """
        events = host.events
        is_kept = np.ones(len(events), np.bool_)
        is_kept[self.left_out] = False
        chains = [b"%d" % (flow_id + chain) for chain in range(self.flows.chain_count)]
        no_length = np.flatnonzero(_lengthless(host) & is_kept)
        made: list[Change] = [
            self._id_change(host, "pid", is_kept),
            self._id_change(host, "tid", is_kept),
            TableChange("dur", no_length, table=[b"0"], entry=np.zeros(len(no_length), np.int64), is_there=False),
            TableChange("id", self.flows.renamed, table=chains, entry=self.flows.chain),
        ]
        if base_time_ns != host.base_time_ns:
            made.append(TimeChange("ts", _rows_where((events.start_ns != ABSENT) & is_kept), events.start_ns, base_time_ns))
        return tuple(change for change in made if len(change.rows))

    def _id_change(self, host: HostTrace, key: str, is_kept: Bool) -> TableChange:
        """What becomes of the process ids, or of the thread ids."""
        ids = [getattr(row, key) for row in self.rows]
        codes = {number: code for code, number in enumerate(dict.fromkeys(ids))}
        new = np.array([codes[number] for number in ids], np.int32)
        old = np.array([codes.get(getattr(track, key), -1) for track in host.tracks], np.int32)
        track = host.events.track
        rows = _rows_where((new[self.row] != old[track]) & is_kept)
        is_there = all(getattr(host.tracks[number], key) is not None for number in np.unique(track[rows]).tolist())
        texts = [id_text(number) for number in codes]
        return TableChange(key, rows, table=texts, entry=new[self.row[rows]], is_there=is_there)


def _rows_where(condition: Bool) -> Int32 | Int64:
    """The rows in as few bytes as they need."""
    count = np.count_nonzero(condition)
    rows: Int32 | Int64 = np.empty(count, np.int32) if len(condition) < 1 << 31 else np.empty(count, np.int64)
    done = 0
    for block in row_blocks(len(condition)):
        found = np.flatnonzero(condition[block])
        rows[done : done + len(found)] = found + block.start
        done += len(found)
    return rows


def plan_host(host: HostTrace, free: FreeNumbers) -> HostPlan:
    """Decide about every event of the trace.

    Args:
        host: The trace.
        free: Where numbers for new threads and processes come from.
    """
    events = host.events
    is_metadata, is_phaseless = events.phase == _METADATA, events.phase == 0
    is_timeless = ~is_phaseless & ~is_metadata & (events.start_ns == ABSENT)
    flow_events = flow_rows(host)
    is_around, around = slices_around(host, flow_events)
    flows = draw_flows(host, flow_events, is_around)
    has_events = np.zeros(len(host.tracks), np.bool_)
    for block in row_blocks(len(events)):
        has_events[events.track[block][~is_metadata[block]]] = True
    held = hold_rows(host, has_events.tolist(), free)
    rows, slice_row, labels = _apart(host, held, free)
    row = move_flows(host, slice_row, flow_events, around)
    changed = {
        "host-slices-moved": 0 if slice_row is events.track else int(np.count_nonzero(slice_row != events.track)),
        "host-flows-moved": 0 if row is slice_row else int(np.count_nonzero(row != slice_row)),
        "host-slices-without-length": int(np.count_nonzero(_lengthless(host))),
        "host-events-without-time": int(np.count_nonzero(is_timeless)),
        "host-events-without-phase": int(np.count_nonzero(is_phaseless)),
    }
    return HostPlan(
        rows=rows,
        row=row,
        left_out=np.sort(np.concatenate((np.flatnonzero(is_phaseless | is_timeless), flows.left_out))),
        flows=flows,
        labels=held.labels + labels,
        findings=(*held.findings, *flows.findings, *changes(changed)),
    )


def shown_times(host: HostTrace, rows: slice) -> Int64:
    """int64[k]; starts of those of some events that stand at a place in time; metadata do not, whatever time they give."""
    start_ns, phase = host.events.start_ns[rows], host.events.phase[rows]
    times: Int64 = start_ns[(start_ns != ABSENT) & (phase != _METADATA)]
    return times


def _lengthless(host: HostTrace) -> Bool:
    """Which slices have no length or, as ABSENT is negative too, a negative one."""
    events = host.events
    lengthless: Bool = (events.phase == _SLICE) & (events.start_ns != ABSENT) & (events.duration_ns < 0)
    return lengthless


def slice_lengths(host: HostTrace, rows: slice) -> Int64:
    """int64[k]; lengths of the slices among some events, as they will be shown."""
    slices = complete_slices(host, rows)
    return slices.end_ns - slices.start_ns


def _apart(host: HostTrace, held: HeldRows, free: FreeNumbers) -> tuple[tuple[HostTrack, ...], Int32, tuple[Label, ...]]:
    """All rows of the output, the row of every event such that no two slices of a row cross, and names for the new rows."""
    events = host.events
    is_slice = (events.phase == _SLICE) & (events.start_ns != ABSENT)
    lane = lanes(events.track, events.start_ns, _durations(host), is_slice)
    moved = np.flatnonzero(lane)
    if not len(moved):
        return held.rows, events.track, ()
    places, new = np.unique(np.stack((events.track[moved], lane[moved])), axis=1, return_inverse=True)
    row = events.track.copy()
    row[moved] = len(held.rows) + new.reshape(-1)
    added, labels = [], []
    for number, lane_number in places.T.tolist():
        track, first = host.tracks[number], held.rows[number]
        added.append(HostTrack(first.pid, free.take()))
        labels.append(Label("thread_name", added[-1], f"{thread_name(host, track, first)} ({lane_number + 1})"))
        if isinstance(track.tid, int):
            # Kineto sorts threads by their ids; the same place puts the second row beside the first.
            labels.append(Label("thread_sort_index", added[-1], track.tid))
    return held.rows + tuple(added), row, tuple(labels)


def _durations(host: HostTrace) -> Int64:
    """The durations; of what is longer than 64 bits hold, up to where they end."""
    events = host.events
    latest = int(np.iinfo(np.int64).max)
    if all(int(events.duration_ns[rows].max()) <= latest - int(events.start_ns[rows].max()) for rows in row_blocks(len(events))):
        return events.duration_ns
    shortened: Int64 = np.minimum(events.duration_ns, latest - np.maximum(events.start_ns, 0))
    return shortened
