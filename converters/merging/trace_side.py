"""The device rows that a host trace holds itself, as the device side of a timeline.

Three rules link a row to its op, in this order: the op's id that the trace itself writes on the row ("External id", as torch
counts); the vendor's launch id, through the marker on the launching thread; the correlation id, through the call that launched.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding, Severity
from rblnpb.naming import NameStyle, parse
from rblnpb.strings import StringTable

from ..dialect import DeviceRows, device_rows, host_window, linked_rows, op_rows
from ..timeline import (
    JOIN_RULES,
    AlignedCounters,
    AlignedLaunches,
    AlignedSlices,
    HostTrace,
    Id,
    Int32,
    Int64,
    OverheadRecords,
    RecordCount,
    RuntimeSlices,
    SliceNames,
    Timeline,
    Track,
)
from .correlate import launch_by_id, match_launches
from .dependencies import no_dependencies
from .quality import join_findings

__all__ = ["trace_timeline"]

_ARGUMENTS: Final = ("launch_id",)


def trace_timeline(host: HostTrace) -> Timeline:
    """The timeline of a host trace alone, with what it holds of devices."""
    found = device_rows(host)
    strings = StringTable()
    launches, launch = _launches(host, found, strings)
    slices, tracks = _slices(host, found, launches, launch)
    nothing = np.empty(0, np.int64)
    none = np.empty(0, np.int32)
    timeline = Timeline(
        host=host,
        slices=slices,
        frames=_no_slices(host.strings),
        launches=launches,
        dependencies=no_dependencies(),
        runtime=RuntimeSlices(nothing, nothing, none, nothing, nothing, nothing, nothing),
        counters=AlignedCounters(nothing, none, none, np.empty(0, np.float64)),
        overheads=OverheadRecords(np.empty(0, np.uint32), none, none, none, nothing, nothing, nothing, nothing),
        tracks=tracks,
        strings=strings.rows(),
        argument_names=_ARGUMENTS,
        counts=(RecordCount("device_rows", len(found), 0),) if len(found) else (),
        clocks=(),
        is_serialised=None,
        process_id=0,
        device_name="",
        sources=(host.document.name,),
        findings=(),
    )
    findings = [*host.findings]
    if len(found):
        findings += _repeated(launches, len(found.markers))
        findings += join_findings(timeline, host_window(host), is_one_file=True)
    return replace(timeline, findings=tuple(findings))


def _no_slices(strings: tuple[str, ...]) -> AlignedSlices:
    nothing, none = np.empty(0, np.int64), np.empty(0, np.int32)
    names = SliceNames(NameStyle.PLAIN, strings, none, none, none, nothing, nothing, none)
    arguments = np.empty((0, len(_ARGUMENTS)), np.int64)
    return AlignedSlices(nothing, nothing, none, names, nothing, nothing, none, nothing, arguments)


def _launches(host: HostTrace, found: DeviceRows, strings: StringTable) -> tuple[AlignedLaunches, Int64]:
    """Launches that markers and calls stand for, and the launch of each device row (-1 = none)."""
    events = host.events
    at_ns = events.start_ns[found.rows]
    by_marker, by_call = (
        launch_by_id(ids[rows], events.start_ns[rows], ids[found.rows], at_ns)
        for ids, rows in ((events.launch_id, found.markers), (events.correlation_id, found.calls))
    )
    launching = np.unique(by_call[(by_call >= 0) & (by_marker < 0)])
    rows = np.concatenate([found.markers, found.calls[launching]])
    place = np.searchsorted(launching, np.maximum(by_call, 0))
    launch = np.where(by_marker >= 0, by_marker, np.where(by_call >= 0, len(found.markers) + place, -1))
    track, start_ns = events.track[rows].astype(np.int64), events.start_ns[rows]
    # A marker may be an instant, which has no duration.
    host_row, reason = match_launches(host, track, start_ns, start_ns + np.maximum(events.duration_ns[rows], 0))
    names, of_row = np.unique(events.name[rows], return_inverse=True)
    interned = np.array([strings.intern(host.strings[name]) for name in names.tolist()], np.int32)
    launches = AlignedLaunches(
        start_ns=start_ns,
        launch_id=np.where(events.launch_id[rows] != 0, events.launch_id[rows], events.correlation_id[rows]),
        name=interned[of_row] if len(rows) else np.empty(0, np.int32),
        compile_id=np.zeros(len(rows), np.int32),
        pid=_numbers([track.pid for track in host.tracks])[track],
        tid=_numbers([track.tid for track in host.tracks])[track],
        host_row=host_row,
        reason=reason,
    )
    return launches, launch


def _repeated(launches: AlignedLaunches, marker_count: int) -> list[Finding]:
    """Ids that stand for several launches; markers and calls have numbers of their own."""
    ids = np.split(launches.launch_id, [marker_count])
    repeated = sum(len(own) - len(np.unique(own)) for own in ids)
    if not repeated:
        return []
    message = f"{repeated:,} launches repeat an id: a device row was joined with the last launch of its id before it"
    return [Finding(Severity.WARNING, "repeated-launch-id", message, repeated)]


def _numbers(ids: list[Id]) -> Int64:
    """Ids as numbers, -1 where they are none; one more row, so that an empty list can be indexed by nothing."""
    return np.array([value if isinstance(value, int) and abs(value) < 1 << 63 else -1 for value in [*ids, -1]], np.int64)


def _slices(
    host: HostTrace, found: DeviceRows, launches: AlignedLaunches, launch: Int64
) -> tuple[AlignedSlices, tuple[Track, ...]]:
    events, rows = host.events, found.rows
    linked = linked_rows(host, rows, op_rows(host))
    by_launch = np.append(launches.host_row, -1)[launch]
    tracks, track = _tracks(host, found)
    launch_id = events.launch_id[rows]
    slices = AlignedSlices(
        start_ns=events.start_ns[rows],
        duration_ns=events.duration_ns[rows],
        track=track,
        names=_names(host, rows),
        launch=launch,
        host_row=np.where(linked >= 0, linked, by_launch),
        rule=_rules(host, rows, launch, linked, by_launch),
        event=rows,
        arguments=np.where(launch_id == 0, ABSENT, launch_id).reshape(-1, 1),
    )
    return slices, tracks


def _rules(host: HostTrace, rows: Int64, launch: Int64, linked: Int64, by_launch: Int64) -> Int32:
    """int32[n]; rows of JOIN_RULES for device rows."""
    has_launch_id = host.events.launch_id[rows] != 0
    conditions = (
        (linked >= 0, "external-id"),
        ((by_launch >= 0) & has_launch_id, "launch-id"),
        (by_launch >= 0, "correlation"),
        (launch >= 0, "launch-on-no-op"),
        (has_launch_id | (host.events.correlation_id[rows] != 0), "launch-not-recorded"),
    )
    masks = [mask for mask, _ in conditions]
    return np.select(masks, [JOIN_RULES.index(rule) for _, rule in conditions], JOIN_RULES.index("no-link")).astype(np.int32)


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
        return _no_slices(host.strings).names
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
