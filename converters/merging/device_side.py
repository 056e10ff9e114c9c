"""A profile's records as the device side of a timeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT, DeviceSlices, WorkloadSlices
from rblnpb.errors import Finding, Severity
from rblnpb.profile import ENGINE_NAMES, KINDS, WORKING_KINDS, Engine, HostActivity, Profile
from rblnpb.strings import StringTable

from ..dialect import device_rows, host_window
from ..timeline import (
    JOIN_RULES,
    MATCH_RULES,
    AlignedCounters,
    AlignedLaunches,
    AlignedLoss,
    AlignedSlices,
    Bool,
    HostTrace,
    Int32,
    Int64,
    OverheadRecords,
    RecordCount,
    RuntimeSlices,
    SliceNames,
    Timeline,
    Track,
)
from .align import Alignment, require_unix_time
from .correlate import launch_by_id, match_launches, native_tracks, row_by_id
from .dependencies import slice_dependencies
from .quality import join_findings

__all__ = ["profile_timeline"]

ARGUMENTS: Final = ("launch_id", "instance", "sequence", "workload", "compute_cycles", "size_bytes", "planned_bytes")
"""What slices of a profile tell beside their times; planned bytes are the compiler's, and stand where none were measured."""


def profile_timeline(profile: Profile, host: HostTrace | None) -> Timeline:
    """The timeline of a profile, joined with a host trace when there is one.

    Raises:
        ClockError: The clocks of the two cannot be joined.
    """
    if host is not None:
        require_unix_time(host)
    alignment = Alignment.of(profile, needs_real_time=host is not None)
    strings = StringTable()
    launches, placed_launches = _launches(profile, host, alignment, strings)
    engines = tuple(sorted(profile.engines, key=lambda engine: (engine.device_id, engine.display_order, engine.engine_id)))
    slices, placed = _slices(profile, profile.device_slices, alignment, launches, engines)
    frames, placed_frames = _slices(profile, profile.workload_slices, alignment, launches, engines)
    runtime, placed_runtime = _runtime(profile, alignment, launches, strings)
    counters, placed_samples = _counters(profile, alignment, strings)
    timeline = Timeline(
        host=host,
        slices=slices,
        frames=frames,
        launches=launches,
        dependencies=slice_dependencies(profile, placed),
        runtime=runtime,
        counters=counters,
        overheads=_overheads(profile, alignment, strings),
        tracks=_tracks(profile, engines, has_unknown=bool((np.append(slices.track, frames.track) == len(engines)).any())),
        strings=strings.rows(),
        argument_names=ARGUMENTS,
        counts=_counts(profile),
        clocks=alignment.qualities(profile.device_slices),
        is_serialised=profile.session.drained_after_each_run,
        process_id=profile.session.process_id,
        device_name=_device_name(profile),
        sources=(f"session {profile.session.session_id:016x}", *([host.document.name] if host else [])),
        findings=(),
        losses=_losses(profile, alignment),
    )
    masks = {
        "launches": placed_launches,
        "device_slices": placed,
        "workload_slices": placed_frames,
        "host_slices": placed_runtime,
        "counters": placed_samples,
    }
    findings = (*profile.findings, *alignment.findings, *_unplaced(masks), *_far(slices, alignment), *_not_shown(profile))
    joined = () if host is None else (*host.findings, *join_findings(timeline, host_window(host)), *_origin_findings(profile, host))
    return replace(timeline, findings=findings + joined)


def _unplaced(placed: Mapping[str, Bool]) -> Iterator[Finding]:
    """Records that are not in the timeline, because they have no place there, by kind."""
    for label, mask in placed.items():
        lost = int((~mask).sum())
        if lost:
            message = f"{lost:,} {label} have no time or value that can be told: they are not in the timeline"
            yield Finding(Severity.ERROR, "unplaced-records", message, lost, label)


_FAR_NS: Final = 86_400 * 10**9
"""A day: no recording reads its clocks so seldom."""


def _far(slices: AlignedSlices, alignment: Alignment) -> Iterator[Finding]:
    """Slices so far from every reading of a clock that their ticks are damaged rather than late."""
    anchors = [alignment.maps[clock_id].anchor_ns for clock_id in alignment.clocks if clock_id in alignment.maps]
    if not anchors or not len(slices):
        return
    read_ns = alignment.monotonic_to_trace(np.concatenate(anchors))
    is_far = (slices.start_ns < read_ns.min() - _FAR_NS) | (slices.start_ns > read_ns.max() + _FAR_NS)
    if is_far.any():
        count = int(is_far.sum())
        message = f"{count:,} device slices lie a day or more from every reading of the clock: their times are not to be trusted"
        yield Finding(Severity.WARNING, "far-from-readings", message, count)


def _not_shown(profile: Profile) -> Iterator[Finding]:
    """Records of kinds that a timeline has no place for."""
    if table := len(profile.trace_events):
        message = f"{table:,} trace_events are not in the timeline, which does not show this kind"
        yield Finding(Severity.INFO, "not-in-timeline", message, table, "trace_events")


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
        message = f"the host trace has {own:,} device rows of its own: they are shown, and times are counted from the profile alone"
        findings.append(Finding(Severity.INFO, "device-rows-twice", message, own))
    return findings


def _launches(profile: Profile, host: HostTrace | None, alignment: Alignment, strings: StringTable) -> tuple[AlignedLaunches, Bool]:
    """The launches that can be placed, in record order, and which of the records those are."""
    start_ns, placed = alignment.place_on_host(profile.launches.start_ns)
    table, start_ns = profile.launches.take(placed), start_ns[placed]
    distinct, of_launch = np.unique(table.program_id, return_inverse=True)
    programs = {program.program_id: program for program in profile.programs}
    ran = [programs.get(row) for row in distinct.tolist()]
    name = np.array([strings.intern(program.name) if program else 0 for program in ran], np.int32)
    compile_id = np.array([strings.intern(program.compile_id) if program else 0 for program in ran], np.int32)
    host_row = np.full(len(table), -1, np.int64)
    reason = np.full(len(table), MATCH_RULES.index("no-host-trace"), np.int32)
    if host is not None and len(table):
        track = native_tracks(host, table.process_id, table.thread_id)
        host_row, reason = match_launches(host, track, start_ns)
    aligned = AlignedLaunches(
        start_ns=start_ns,
        launch_id=table.launch_id.view(np.int64),
        name=name[of_launch] if len(table) else np.empty(0, np.int32),
        compile_id=compile_id[of_launch] if len(table) else np.empty(0, np.int32),
        pid=table.process_id,
        tid=table.thread_id,
        host_row=host_row,
        reason=reason,
    )
    return aligned, placed


def _tracks(profile: Profile, engines: Sequence[Engine], *, has_unknown: bool) -> tuple[Track, ...]:
    """A track for each engine, in their order, and one for slices of engines that the profile does not define."""
    devices = {device.device_id: device.name or f"device {device.ordinal}" for device in profile.devices}
    tracks = [
        Track(
            device=devices.get(engine.device_id, "device"),
            name=_engine_name(engine),
            kind=engine.kind.name.lower(),
            is_work=engine.kind in WORKING_KINDS,
            order=order,
        )
        for order, engine in enumerate(engines)
    ]
    if has_unknown:
        tracks.append(Track(next(iter(devices.values()), "device"), "Unknown engine", "unknown", is_work=True, order=len(engines)))
    return tuple(tracks)


def _engine_name(engine: Engine) -> str:
    name = engine.name or ENGINE_NAMES[engine.kind]
    return name if engine.chiplet is None else f"{name} (chiplet {engine.chiplet})"


def _slices(
    profile: Profile,
    table: DeviceSlices | WorkloadSlices,
    alignment: Alignment,
    launches: AlignedLaunches,
    engines: Sequence[Engine],
) -> tuple[AlignedSlices, Bool]:
    """The slices that can be placed, in record order, and which of the records those are."""
    start_ns, duration_ns, placed = alignment.place(table)
    if not placed.all():
        table, start_ns, duration_ns = table.take(placed), start_ns[placed], duration_ns[placed]
    count = len(table)
    launch = launch_by_id(launches.launch_id, launches.start_ns, table.launch_id.view(np.int64), start_ns)
    track = row_by_id(np.array([engine.engine_id for engine in engines], np.uint32), table.engine_id)
    owners = np.append(launches.host_row, -1)
    columns = {
        "launch_id": np.where(table.launch_id == 0, ABSENT, table.launch_id.view(np.int64)),
        "instance": np.where(table.instance == 0, ABSENT, table.instance.astype(np.int64)),
    }
    if isinstance(table, DeviceSlices):
        columns["planned_bytes"] = np.where(table.size_bytes == ABSENT, profile.commands.size_bytes[table.command_row], ABSENT)
    arguments = np.full((count, len(ARGUMENTS)), ABSENT, np.int64)
    for at, name in enumerate(ARGUMENTS):
        values = columns.get(name, getattr(table, name, None))
        if values is not None:
            arguments[:, at] = values
    aligned = AlignedSlices(
        start_ns=start_ns,
        duration_ns=duration_ns,
        track=np.where(track < 0, len(engines), track).astype(np.int32),
        names=_names(profile, table) if isinstance(table, DeviceSlices) else _frame_names(profile, table),
        launch=launch,
        host_row=owners[launch],
        rule=_rules(table, launches, launch),
        event=np.full(count, -1, np.int64),
        arguments=arguments,
    )
    return aligned, placed


def _rules(table: DeviceSlices | WorkloadSlices, launches: AlignedLaunches, launch: Int64) -> Int32:
    """int32[n]; rows of JOIN_RULES for slices and their launches (-1 = none)."""
    reason = np.append(launches.reason, -1)[launch]
    conditions = (
        (np.append(launches.host_row, -1)[launch] >= 0, "launch-id"),
        (reason == MATCH_RULES.index("no-host-trace"), "no-host-trace"),
        (launch >= 0, "launch-on-no-op"),
        (table.launch_id != 0, "launch-not-recorded"),
    )
    masks = [mask for mask, _ in conditions]
    return np.select(masks, [JOIN_RULES.index(rule) for _, rule in conditions], JOIN_RULES.index("no-link")).astype(np.int32)


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


def _runtime(profile: Profile, alignment: Alignment, launches: AlignedLaunches, strings: StringTable) -> tuple[RuntimeSlices, Bool]:
    """The runtime's slices that can be placed, in record order, and which of the records those are."""
    start_ns, placed = alignment.place_on_host(profile.host_slices.start_ns, profile.host_slices.duration_ns)
    table, start_ns = profile.host_slices.take(placed), start_ns[placed]
    names = {int(kind): strings.intern(name) for kind, name in _ACTIVITY_NAMES.items()}
    distinct, of_slice = np.unique(table.activity, return_inverse=True)
    name = np.array([names.get(value, names[0]) for value in distinct.tolist()], np.int32)
    aligned = RuntimeSlices(
        start_ns=start_ns,
        duration_ns=table.duration_ns,
        name=name[of_slice] if len(table) else np.empty(0, np.int32),
        pid=table.process_id,
        tid=table.thread_id,
        launch=launch_by_id(launches.launch_id, launches.start_ns, table.launch_id.view(np.int64), start_ns),
        size_bytes=table.size_bytes,
    )
    return aligned, placed


def _overheads(profile: Profile, alignment: Alignment, strings: StringTable) -> OverheadRecords:
    table = profile.overheads
    start_ns, placed = alignment.place_on_host(table.start_ns, np.maximum(table.duration_ns, 0))

    def interned(column: npt.NDArray[np.uint32]) -> Int32:
        distinct, of_record = np.unique(column, return_inverse=True)
        rows = np.array([strings.intern(profile.strings[row]) for row in distinct.tolist()], np.int32)
        return rows[of_record] if len(column) else rows

    return OverheadRecords(
        kind=table.overhead,
        op=interned(table.op_strindex),
        reason=interned(table.reason_strindex),
        place=interned(table.place_strindex),
        duration_ns=table.duration_ns,
        size_bytes=table.size_bytes,
        start_ns=np.where(placed, start_ns, ABSENT),
        tid=table.thread_id,
    )


def _losses(profile: Profile, alignment: Alignment) -> tuple[AlignedLoss, ...]:
    devices = {device.device_id: device.name or f"device {device.ordinal}" for device in profile.devices}
    of_engine = {engine.engine_id: devices.get(engine.device_id, "device") for engine in profile.engines}
    losses = []
    for loss in profile.losses:
        moments = [loss.first_monotonic_ns, loss.last_monotonic_ns]
        at_ns, placed = alignment.place_on_host(np.array([moment or 0 for moment in moments], np.int64))
        # A moment that is not told, or that has no place, is not known.
        known = [
            at if is_placed and moment is not None else None
            for at, is_placed, moment in zip(at_ns.tolist(), placed.tolist(), moments, strict=True)
        ]
        kind = KINDS[loss.kind].label if loss.kind in KINDS else "unknown"
        device = of_engine.get(loss.engine_id, "")
        losses.append(AlignedLoss(kind, loss.reason.name.lower(), loss.count, loss.is_lower_bound, device, *known))
    return tuple(losses)


def _counters(profile: Profile, alignment: Alignment, strings: StringTable) -> tuple[AlignedCounters, Bool]:
    """Samples with a time and a finite value, and which of the records those are."""
    time_ns, placed = alignment.place_counters(profile.counters)
    placed &= np.isfinite(profile.counters.value)
    table = profile.counters.take(placed)
    devices = {device.device_id: strings.intern(device.name or f"device {device.ordinal}") for device in profile.devices}
    ids, of_device = np.unique(table.device_id, return_inverse=True)
    device = np.array([devices.get(row, 0) for row in ids.tolist()], np.int32)
    names, of_name = np.unique(table.name_strindex, return_inverse=True)
    name = np.array([strings.intern(profile.strings[row]) for row in names.tolist()], np.int32)
    nothing = np.empty(0, np.int32)
    rows = (device[of_device], name[of_name]) if len(table) else (nothing, nothing)
    return AlignedCounters(time_ns[placed], *rows, table.value), placed


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
