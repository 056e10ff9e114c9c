"""The device rows that a host trace holds itself, as the device side of a timeline."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding, Severity
from rblnpb.naming import NameStyle, parse
from rblnpb.strings import StringTable
from rblnpb.wording import counted

from ..dialect import DeviceRows, device_rows, host_window, op_rows
from ..timeline import (
    AlignedCounters,
    AlignedSlices,
    HostTrace,
    Int32,
    Int64,
    OverheadRecords,
    RecordCount,
    Rows,
    SliceNames,
    Timeline,
    Track,
)
from .dependencies import no_dependencies
from .quality import join_findings
from .trace_joins import TraceJoins, join_trace

__all__ = ["trace_timeline"]

_ARGUMENTS: Final = ("launch_id",)


def trace_timeline(host: HostTrace) -> Timeline:
    """The timeline of a host trace alone, with what it holds of devices."""
    found = device_rows(host)
    strings = StringTable()
    joins = join_trace(host, found, strings)
    tracks, track = _tracks(host, found)
    parts: tuple[Rows, Rows] = (slice(None), slice(0))
    if joins.is_frame.any():
        parts = np.flatnonzero(~joins.is_frame), np.flatnonzero(joins.is_frame)
    slices, frames = (_slices(host, found, joins, track, some) for some in parts)
    counts = (("device_rows", len(found)), ("host_slices", len(joins.runtime)))
    nothing = np.empty(0, np.int64)
    none = np.empty(0, np.int32)
    timeline = Timeline(
        host=host,
        slices=slices,
        frames=frames,
        launches=joins.launches,
        dependencies=no_dependencies(),
        runtime=joins.runtime,
        counters=AlignedCounters(nothing, none, none, np.empty(0, np.float64)),
        overheads=OverheadRecords(np.empty(0, np.uint32), none, none, none, nothing, nothing, nothing, nothing),
        tracks=tracks,
        strings=strings.rows(),
        argument_names=_ARGUMENTS,
        counts=tuple(RecordCount(kind, count, 0) for kind, count in counts if count),
        clocks=(),
        is_serialised=None,
        process_id=0,
        device_name="",
        sources=(host.document.name,),
        findings=(),
    )
    findings = [*host.findings]
    if len(found):
        findings += _repeated(joins)
        findings += join_findings(timeline, host_window(host), is_one_file=True)
    return replace(timeline, findings=tuple(findings))


def _repeated(joins: TraceJoins) -> list[Finding]:
    """Ids that stand for several launches."""
    if not joins.repeated:
        return []
    repeating = counted(joins.repeated, "launch repeats", "launches repeat")
    message = f"{repeating} an id: a device row was joined with the last launch of its id before it"
    return [Finding(Severity.WARNING, "repeated-launch-id", message, joins.repeated)]


def _slices(host: HostTrace, found: DeviceRows, joins: TraceJoins, track: Int32, some: Rows) -> AlignedSlices:
    """Some of the device rows, by place."""
    events, rows = host.events, found.rows[some]
    launch_id = events.launch_id[rows]
    return AlignedSlices(
        start_ns=events.start_ns[rows],
        duration_ns=events.duration_ns[rows],
        track=track[some],
        names=_names(host, rows),
        launch=joins.launch[some],
        host_row=joins.host_row[some],
        rule=joins.rule[some],
        event=rows,
        arguments=np.where(launch_id == 0, ABSENT, launch_id).reshape(-1, 1),
    )


def _tracks(host: HostTrace, found: DeviceRows) -> tuple[tuple[Track, ...], Int32]:
    """A track for each (row of the trace, kind): one lane may hold work and annotations, of which only work is busy."""
    events = host.events
    keys = events.track[found.rows].astype(np.int64) * len(found.kinds) + found.kind
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    hosts_names = {host.process_names.get(host.tracks[row].pid) for row in np.unique(events.track[op_rows(host)]).tolist()}
    tracks = []
    for order, at in enumerate(first.tolist()):
        lane = host.tracks[int(events.track[found.rows[at]])]
        named = host.process_names.get(lane.pid, "")
        # Kineto calls every device as the process that used it, and labels it; only a backend's own name says more than the label.
        device = (named if named not in hosts_names else "") or host.process_labels.get(lane.pid) or named or "device"
        name = host.thread_names.get(lane) or f"{lane.tid}"
        tracks.append(Track(f"{device} ({lane.pid})", name, found.kinds[found.kind[at]], bool(found.is_work[at]), order))
    return tuple(tracks), of_row.astype(np.int32)


def _names(host: HostTrace, rows: Int64) -> SliceNames:
    """Whole names as the trace spells them; parts where a name is of the vendor's grammar."""
    texts = StringTable()
    name = host.events.name[rows]
    distinct, of_row = np.unique(name, return_inverse=True)
    parts = [parse(host.strings[row]) for row in distinct.tolist()]
    stage = np.array([texts.intern(part.layer) if part else 0 for part in parts], np.int32)
    command = np.array([part.command if part else 0 for part in parts], np.int32)
    instance = np.array([(part.instance or 0) if part else 0 for part in parts], np.int32)
    sequence = np.array([-1 if part is None or part.sequence is None else part.sequence for part in parts], np.int64)
    workload = np.array([-1 if part is None or part.workload is None else part.workload for part in parts], np.int64)
    override = np.array([texts.intern(host.strings[row]) for row in distinct.tolist()], np.int32)
    if not len(rows):
        none, nothing = np.empty(0, np.int32), np.empty(0, np.int64)
        return SliceNames(NameStyle.PLAIN, host.strings, none, none, none, nothing, nothing, none)
    return SliceNames(
        style=NameStyle.PLAIN,
        strings=texts.rows(),
        stage=stage[of_row],
        command=command[of_row],
        instance=instance[of_row],
        sequence=sequence[of_row],
        workload=workload[of_row],
        override=override[of_row],
    )
