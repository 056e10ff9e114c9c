"""What has to change in the events of a host trace before they may stand in the output; everything else is copied.

Decided on columns alone: ids that a viewer cannot hold, slices that cross on their thread, flows that cannot be drawn, times that a
double cannot hold, slices without a length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding
from rblnpb.lanes import lanes

from ..json_text import as_texts
from ..timeline import Bool, HostTrace, HostTrack, Int32, Int64
from ._changes import changes
from ._chrome_copy import Change, TableChange, TimeChange
from ._chrome_flows import DrawnFlows, draw_flows, move_flows
from ._chrome_ids import FreeNumbers, HeldRows, Label, hold_rows, id_text, thread_name
from ._host_slices import HostSlices, complete_slices

__all__ = ["HostPlan", "plan_host", "shown_times"]

_METADATA, _SLICE = ord("M"), ord("X")


@dataclass(frozen=True, eq=False)
class HostPlan:
    """How the host's events go into the output.

    Attributes:
        rows: Ids of every row of the output: first those of `HostTrace.tracks`, then those that slices were moved to.
        row: int32[n]; the row of each event.
        left_out: int64[k]; rows of events that cannot be shown, ascending.
        slices: The slices as they will be shown.
        flows: What changes for flows.
        labels: What metadata the new rows need.
        findings: Every change, counted.
    """

    rows: tuple[HostTrack, ...]
    row: Int32
    left_out: Int64
    slices: HostSlices
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
        chains = as_texts([b"%d" % (flow_id + chain) for chain in range(self.flows.chain_count)])
        no_length = np.flatnonzero(_lengthless(host) & is_kept)
        made: list[Change] = [
            self._id_change(host, "pid", is_kept),
            self._id_change(host, "tid", is_kept),
            TableChange("dur", no_length, table=as_texts([b"0"]), entry=np.zeros(len(no_length), np.int64), is_there=False),
            TableChange("id", self.flows.renamed, table=chains, entry=self.flows.chain),
        ]
        if base_time_ns != host.base_time_ns:
            rows = np.flatnonzero((events.start_ns != ABSENT) & is_kept)
            # Metadata may carry any time; what it says holds for the whole trace.
            made.append(TimeChange("ts", rows, np.maximum(events.start_ns[rows] - base_time_ns, 0)))
        return tuple(change for change in made if len(change.rows))

    def _id_change(self, host: HostTrace, key: str, is_kept: Bool) -> TableChange:
        """What becomes of the process ids, or of the thread ids."""
        ids = [getattr(row, key) for row in self.rows]
        codes = {number: code for code, number in enumerate(dict.fromkeys(ids))}
        new = np.array([codes[number] for number in ids], np.int64)
        old = np.array([codes.get(getattr(track, key), -1) for track in host.tracks], np.int64)
        track = host.events.track
        rows = np.flatnonzero((new[self.row] != old[track]) & is_kept)
        is_there = all(getattr(host.tracks[number], key) is not None for number in np.unique(track[rows]).tolist())
        texts = as_texts([id_text(number) for number in codes])
        return TableChange(key, rows, table=texts, entry=new[self.row[rows]], is_there=is_there)


def plan_host(host: HostTrace, free: FreeNumbers) -> HostPlan:
    """Decide about every event of the trace.

    Args:
        host: The trace.
        free: Where numbers for new threads and processes come from.
    """
    events = host.events
    is_metadata, is_phaseless = events.phase == _METADATA, events.phase == 0
    is_timeless = ~is_phaseless & ~is_metadata & (events.start_ns == ABSENT)
    slices = complete_slices(host)
    flows = draw_flows(host, slices)
    has_events = np.bincount(events.track[~is_metadata], minlength=len(host.tracks)) > 0
    held = hold_rows(host, has_events.tolist(), free)
    rows, slice_row, labels = _apart(host, held, slices, free)
    row = move_flows(host, slice_row, slices)
    changed = {
        "host-slices-moved": slice_row != events.track,
        "host-flows-moved": row != slice_row,
        "host-slices-without-length": _lengthless(host),
        "host-events-without-time": is_timeless,
        "host-events-without-phase": is_phaseless,
    }
    return HostPlan(
        rows=rows,
        row=row,
        left_out=np.sort(np.concatenate((np.flatnonzero(is_phaseless | is_timeless), flows.left_out))),
        slices=slices,
        flows=flows,
        labels=held.labels + labels,
        findings=(
            *held.findings,
            *flows.findings,
            *changes({code: int(mask.sum()) for code, mask in changed.items()}),
        ),
    )


def shown_times(host: HostTrace) -> Int64:
    """int64[k]; starts of all events that stand at a place in time; metadata do not, whatever time they give."""
    events = host.events
    times: Int64 = events.start_ns[(events.start_ns != ABSENT) & (events.phase != _METADATA)]
    return times


def _lengthless(host: HostTrace) -> Bool:
    """Which slices have no length or, as ABSENT is negative too, a negative one."""
    events = host.events
    lengthless: Bool = (events.phase == _SLICE) & (events.start_ns != ABSENT) & (events.duration_ns < 0)
    return lengthless


def _apart(
    host: HostTrace, held: HeldRows, slices: HostSlices, free: FreeNumbers
) -> tuple[tuple[HostTrack, ...], Int32, tuple[Label, ...]]:
    """All rows of the output, the row of every event such that no two slices of a row cross, and names for the new rows."""
    lane = lanes(slices.track, slices.start_ns, slices.end_ns - slices.start_ns)
    moved = np.flatnonzero(lane)
    places, new = np.unique(np.stack((slices.track[moved], lane[moved])), axis=1, return_inverse=True)
    row = host.events.track.copy()
    row[slices.rows[moved]] = len(held.rows) + new.reshape(-1)
    added, labels = [], []
    for number, lane_number in places.T.tolist():
        track, first = host.tracks[number], held.rows[number]
        added.append(HostTrack(first.pid, free.take()))
        labels.append(Label("thread_name", added[-1], f"{thread_name(host, track, first)} ({lane_number + 1})"))
        if isinstance(track.tid, int):
            # Kineto sorts threads by their ids; the same place puts the second row beside the first.
            labels.append(Label("thread_sort_index", added[-1], track.tid))
    return held.rows + tuple(added), row, tuple(labels)
