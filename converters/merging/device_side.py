"""A profile's records as the device side of a timeline."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT, DeviceSlices, WorkloadSlices
from rblnpb.errors import Finding, Severity
from rblnpb.profile import ENGINE_NAMES, KINDS, WORKING_KINDS, Engine, HostActivity, Profile
from rblnpb.strings import StringTable

from ..dialect import device_rows
from ..timeline import (
    MATCH_RULES,
    AlignedCounters,
    AlignedLaunches,
    AlignedSlices,
    Dependencies,
    HostTrace,
    Int32,
    RecordCount,
    RuntimeSlices,
    SliceNames,
    Timeline,
    Track,
)
from .align import Alignment
from .correlate import host_window, match_launches, native_tracks, row_by_id
from .quality import join_findings

__all__ = ["profile_timeline"]

ARGUMENTS: Final = ("launch_id", "instance", "sequence", "workload", "compute_cycles", "size_bytes")
"""What slices of a profile tell beside their times."""


def profile_timeline(profile: Profile, host: HostTrace | None) -> Timeline:
    """The timeline of a profile, joined with a host trace when there is one.

    Raises:
        ClockError: The clocks of the two cannot be joined.
    """
    alignment = Alignment.of(profile, needs_real_time=host is not None)
    strings = StringTable()
    launches = _launches(profile, host, alignment, strings)
    tracks, track_of_engine = _tracks(profile)
    slices, placed = _slices(profile, profile.device_slices, alignment, launches, track_of_engine)
    frames, _ = _slices(profile, profile.workload_slices, alignment, launches, track_of_engine)
    timeline = Timeline(
        host=host,
        slices=slices,
        frames=frames,
        launches=launches,
        runtime=_runtime(profile, alignment, launches, strings),
        counters=_counters(profile, alignment, strings),
        dependencies=_dependencies(profile, placed),
        tracks=tracks,
        strings=strings.rows(),
        argument_names=ARGUMENTS,
        counts=_counts(profile),
        clocks=alignment.qualities(profile.device_slices),
        is_serialised=profile.session.drained_after_each_run,
        process_id=profile.session.process_id,
        device_name=_device_name(profile),
        sources=(f"session {profile.session.session_id:016x}", *([host.document.name] if host else [])),
        findings=(),
    )
    return _with_findings(timeline, profile, alignment, placed)


def _with_findings(timeline: Timeline, profile: Profile, alignment: Alignment, placed: npt.NDArray[np.bool_]) -> Timeline:
    findings = [*profile.findings, *alignment.findings]
    host = timeline.host
    if not placed.all():
        lost = int((~placed).sum())
        message = f"{lost:,} device slices tick on a clock that cannot be placed: they are not in the timeline"
        findings.append(Finding(Severity.ERROR, "unplaced-records", message, lost))
    if host is not None:
        findings += host.findings
        findings += join_findings(timeline, host_window(host))
        findings += _origin_findings(profile, host)
    return Timeline(**{**timeline.__dict__, "findings": tuple(findings)})


def _origin_findings(profile: Profile, host: HostTrace) -> list[Finding]:
    """Signs that profile and trace are of different recordings, or hold the same device activity twice."""
    findings: list[Finding] = []
    named = host.metadata.get("host_name")
    if named and profile.session.host_name and named != profile.session.host_name:
        message = f"the profile was recorded on {profile.session.host_name}, the host trace on {named}"
        findings.append(Finding(Severity.WARNING, "host-differs", message))
    pids = {str(track.pid) for track in host.tracks}
    if profile.session.process_id and str(profile.session.process_id) not in pids and len(profile.launches):
        message = f"the host trace has no process {profile.session.process_id}, which the profile recorded"
        findings.append(Finding(Severity.WARNING, "process-differs", message))
    own = len(device_rows(host))
    if own:
        message = f"the host trace has {own:,} device rows of its own: they are shown, and counted from the profile alone"
        findings.append(Finding(Severity.WARNING, "device-rows-twice", message, own))
    return findings


def _launches(profile: Profile, host: HostTrace | None, alignment: Alignment, strings: StringTable) -> AlignedLaunches:
    table = profile.launches
    start_ns = alignment.monotonic_to_trace(table.start_ns)
    names = {program.program_id: strings.intern(program.name) for program in profile.programs}
    distinct, of_launch = np.unique(table.program_id, return_inverse=True)
    name = np.array([names.get(row, 0) for row in distinct.tolist()], np.int32)
    host_row = np.full(len(table), -1, np.int64)
    reason = np.full(len(table), MATCH_RULES.index("no-host-trace"), np.int32)
    if host is not None and len(table):
        track = native_tracks(host, table.process_id, table.thread_id)
        host_row, reason = match_launches(host, track, start_ns)
    return AlignedLaunches(
        start_ns=start_ns,
        launch_id=table.launch_id.view(np.int64),
        name=name[of_launch] if len(table) else np.empty(0, np.int32),
        pid=table.process_id,
        tid=table.thread_id,
        host_row=host_row,
        reason=reason,
    )


def _tracks(profile: Profile) -> tuple[tuple[Track, ...], Int32]:
    """Tracks of all engines, and the track of each engine id (the last one is that of unknown engines)."""
    devices = {device.device_id: device.name or f"device {device.ordinal}" for device in profile.devices}
    engines = sorted(profile.engines, key=lambda engine: (engine.device_id, engine.display_order, engine.engine_id))
    top = max((engine.engine_id for engine in engines), default=0)
    track_of = np.full(top + 1, len(engines), np.int32)
    tracks: list[Track] = []
    for order, engine in enumerate(engines):
        track_of[engine.engine_id] = order
        tracks.append(
            Track(
                device=devices.get(engine.device_id, "device"),
                name=_engine_name(engine),
                kind=engine.kind.name.lower(),
                is_work=engine.kind in WORKING_KINDS,
                order=order,
            )
        )
    used = np.concatenate([profile.device_slices.engine_id, profile.workload_slices.engine_id])
    if len(used) == 0 or (track_of[np.minimum(used, top)] < len(engines)).all():
        return tuple(tracks), track_of
    first = next(iter(devices.values()), "device")
    tracks.append(Track(first, "Unknown engine", "unknown", is_work=True, order=len(engines)))
    return tuple(tracks), track_of


def _engine_name(engine: Engine) -> str:
    name = engine.name or ENGINE_NAMES[engine.kind]
    return name if engine.chiplet is None else f"{name} (chiplet {engine.chiplet})"


def _slices(
    profile: Profile, table: DeviceSlices | WorkloadSlices, alignment: Alignment, launches: AlignedLaunches, track_of_engine: Int32
) -> tuple[AlignedSlices, npt.NDArray[np.bool_]]:
    """The slices that can be placed, in record order, and which of the records those are."""
    start_ns, duration_ns, placed = alignment.place(table)
    if not placed.all():
        table, start_ns, duration_ns = table.take(placed), start_ns[placed], duration_ns[placed]
    count = len(table)
    launch = row_by_id(launches.launch_id, table.launch_id.view(np.int64))
    owners = np.append(launches.host_row, -1)
    columns = {
        "launch_id": np.where(table.launch_id == 0, ABSENT, table.launch_id.view(np.int64)),
        "instance": np.where(table.instance == 0, ABSENT, table.instance.astype(np.int64)),
    }
    arguments = np.full((count, len(ARGUMENTS)), ABSENT, np.int64)
    for at, name in enumerate(ARGUMENTS):
        values = columns.get(name, getattr(table, name, None))
        if values is not None:
            arguments[:, at] = values
    aligned = AlignedSlices(
        start_ns=start_ns,
        duration_ns=duration_ns,
        track=track_of_engine[table.engine_id] if count else np.empty(0, np.int32),
        names=_names(profile, table) if isinstance(table, DeviceSlices) else _frame_names(profile, table),
        launch=launch,
        host_row=owners[launch],
        recorded_row=np.full(count, -1, np.int64),
        event=np.full(count, -1, np.int64),
        arguments=arguments,
    )
    return aligned, placed


def _names(profile: Profile, table: DeviceSlices) -> SliceNames:
    commands = profile.commands
    by_command = commands.layer_strindex[table.command_row].astype(np.int32)
    return SliceNames(
        style=profile.session.name_style,
        strings=profile.strings,
        stage=np.where(table.stage_strindex > 0, table.stage_strindex, by_command).astype(np.int32),
        command=commands.command_index[table.command_row].astype(np.int32),
        instance=table.instance.astype(np.int32),
        sequence=np.where(table.sequence == ABSENT, -1, table.sequence),
        workload=np.where(table.workload == ABSENT, -1, table.workload),
        override=table.name_strindex.astype(np.int32),
    )


def _frame_names(profile: Profile, table: WorkloadSlices) -> SliceNames:
    """A frame is called by its program; it has no command."""
    strings = StringTable(profile.strings)
    rows = {program.program_id: strings.intern(program.name or f"program {program.program_id}") for program in profile.programs}
    distinct, of_frame = np.unique(table.program_id, return_inverse=True)
    fallback = strings.intern("Device Workload")
    name = np.array([rows.get(row, fallback) for row in distinct.tolist()], np.int32)
    zero = np.zeros(len(table), np.int32)
    return SliceNames(
        style=profile.session.name_style,
        strings=strings.rows(),
        stage=zero,
        command=zero,
        instance=table.instance.astype(np.int32),
        sequence=np.where(table.sequence == ABSENT, -1, table.sequence),
        workload=np.where(table.workload == ABSENT, -1, table.workload),
        override=name[of_frame] if len(table) else zero,
    )


_ACTIVITY_NAMES: Final = {
    HostActivity.UNKNOWN: "runtime",
    HostActivity.SUBMIT: "submit",
    HostActivity.COPY_IN: "copy in",
    HostActivity.COPY_OUT: "copy out",
    HostActivity.WAIT: "wait",
    HostActivity.COMPILE: "compile",
}


def _runtime(profile: Profile, alignment: Alignment, launches: AlignedLaunches, strings: StringTable) -> RuntimeSlices:
    table = profile.host_slices
    names = {int(kind): strings.intern(name) for kind, name in _ACTIVITY_NAMES.items()}
    distinct, of_slice = np.unique(table.activity, return_inverse=True)
    name = np.array([names.get(value, names[0]) for value in distinct.tolist()], np.int32)
    return RuntimeSlices(
        start_ns=alignment.monotonic_to_trace(table.start_ns),
        duration_ns=table.duration_ns,
        name=name[of_slice] if len(table) else np.empty(0, np.int32),
        pid=table.process_id,
        tid=table.thread_id,
        launch=row_by_id(launches.launch_id, table.launch_id.view(np.int64)),
        size_bytes=table.size_bytes,
    )


def _counters(profile: Profile, alignment: Alignment, strings: StringTable) -> AlignedCounters:
    table = profile.counters
    time_ns, placed = alignment.place_counters(table)
    placed &= np.isfinite(table.value)
    table, time_ns = table.take(placed), time_ns[placed]
    devices = {device.device_id: strings.intern(device.name or f"device {device.ordinal}") for device in profile.devices}
    device = np.array([devices.get(row, 0) for row in table.device_id.tolist()], np.int32)
    names, of_sample = np.unique(table.name_strindex, return_inverse=True)
    rows = np.array([strings.intern(profile.strings[row]) for row in names.tolist()], np.int32)
    return AlignedCounters(time_ns, device, rows[of_sample] if len(table) else np.empty(0, np.int32), table.value)


def _dependencies(profile: Profile, placed: npt.NDArray[np.bool_]) -> Dependencies:
    """Arrows between slices that are in the timeline, by their rows there."""
    row_of = np.where(placed, np.cumsum(placed) - 1, -1)
    table = profile.dependencies
    if not len(table) or not len(row_of):
        return Dependencies(np.empty(0, np.int64), np.empty(0, np.int64))
    predecessor, successor = row_of[table.predecessor_ordinal], row_of[table.successor_ordinal]
    both = (predecessor >= 0) & (successor >= 0)
    return Dependencies(predecessor[both], successor[both])


def _counts(profile: Profile) -> tuple[RecordCount, ...]:
    counts = []
    for kind, table in KINDS.items():
        dropped = profile.dropped(kind)
        is_bound = any(loss.kind == kind and loss.is_lower_bound for loss in profile.losses) or not profile.is_complete
        if len(profile.table(kind)) or dropped:
            counts.append(RecordCount(table.label, len(profile.table(kind)), dropped, is_bound))
    elsewhere = sum(loss.count for loss in profile.losses if loss.kind not in KINDS)
    if elsewhere:
        counts.append(RecordCount("unknown", 0, elsewhere, is_lower_bound=True))
    return tuple(counts)


def _device_name(profile: Profile) -> str:
    """What the framework calls the device: the device's name without its ordinal."""
    names = {device.name.split(":")[0] for device in profile.devices if device.name}
    return names.pop() if len(names) == 1 else "rbln"
