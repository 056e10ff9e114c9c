"""Slices and frames of a profile in the trace clock, with the engine, the name and the launch of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT, DeviceSlices, WorkloadSlices
from rblnpb.profile import ENGINE_NAMES, WORKING_KINDS, Engine, Profile
from rblnpb.strings import StringTable

from ..timeline import JOIN_RULES, MATCH_RULES, AlignedLaunches, AlignedSlices, Bool, Int32, Int64, SliceNames, Track
from .align import Alignment
from .correlate import launch_by_id, row_by_id

__all__ = [
    "ARGUMENTS",
    "Launched",
    "Places",
    "details_of",
    "device_names",
    "engines_in_order",
    "frame_names_of",
    "names_of",
    "places_of",
    "slices_of",
    "tracks_of",
]

ARGUMENTS: Final = ("launch_id", "instance", "sequence", "workload", "compute_cycles", "size_bytes", "planned_bytes")
"""What slices of a profile tell beside their times; planned bytes are the compiler's, and stand where none were measured."""


def engines_in_order(profile: Profile) -> tuple[Engine, ...]:
    """The engines, device by device, as they are to be shown."""
    return tuple(sorted(profile.engines, key=lambda engine: (engine.device_id, engine.display_order, engine.engine_id)))


def device_names(profile: Profile) -> dict[int, str]:
    """What each device is called, by its id."""
    return {device.device_id: device.name or f"device {device.ordinal}" for device in profile.devices}


def tracks_of(profile: Profile, engines: Sequence[Engine], *, has_unknown: bool) -> tuple[Track, ...]:
    """A track for each engine, in their order, and one for slices of engines that the profile does not define."""
    devices = device_names(profile)
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


@dataclass(frozen=True, eq=False)
class Launched:
    """What slices are joined with.

    Attributes:
        launches: Of the profile, in the trace clock.
        engines: In the order of the timeline's tracks.
    """

    launches: AlignedLaunches
    engines: Sequence[Engine]


@dataclass(frozen=True, eq=False)
class Places:
    """Where slices are in the timeline: columns as of `AlignedSlices`."""

    start_ns: Int64
    duration_ns: Int64
    track: Int32
    launch: Int64
    rule: Int32


def places_of(table: DeviceSlices | WorkloadSlices, alignment: Alignment, launched: Launched) -> tuple[Places, Bool]:
    """Places of the slices that can be placed, in record order, and which of the records those are."""
    start_ns, duration_ns, placed = alignment.place(table)
    launch_id, engine_id = table.launch_id.view(np.int64), table.engine_id
    if not placed.all():
        start_ns, duration_ns, launch_id, engine_id = start_ns[placed], duration_ns[placed], launch_id[placed], engine_id[placed]
    launches, engines = launched.launches, launched.engines
    launch = launch_by_id(launches.launch_id, launches.start_ns, launch_id, start_ns)
    engine = row_by_id(np.array([engine.engine_id for engine in engines], np.uint32), engine_id)
    track = np.where(engine < 0, len(engines), engine).astype(np.int32)
    return Places(start_ns, duration_ns, track, launch, _rules(launch_id, launches, launch)), placed


def details_of(profile: Profile, table: DeviceSlices | WorkloadSlices) -> tuple[SliceNames, Int64]:
    """What slices are called, and int64[n, k], what they tell beside their times."""
    columns = {
        "launch_id": np.where(table.launch_id == 0, ABSENT, table.launch_id.view(np.int64)),
        "instance": np.where(table.instance == 0, ABSENT, table.instance.astype(np.int64)),
    }
    if isinstance(table, DeviceSlices):
        columns["planned_bytes"] = np.where(table.size_bytes == ABSENT, profile.commands.size_bytes[table.command_row], ABSENT)
    arguments = np.full((len(table), len(ARGUMENTS)), ABSENT, np.int64)
    for at, name in enumerate(ARGUMENTS):
        values = columns.get(name, getattr(table, name, None))
        if values is not None:
            arguments[:, at] = values
    names = names_of(profile, table) if isinstance(table, DeviceSlices) else frame_names_of(profile, table)
    return names, arguments


def slices_of(
    profile: Profile, table: DeviceSlices | WorkloadSlices, alignment: Alignment, launched: Launched
) -> tuple[AlignedSlices, Bool]:
    """The slices that can be placed, in record order, and which of the records those are."""
    places, placed = places_of(table, alignment, launched)
    names, arguments = details_of(profile, table if placed.all() else table.take(placed))
    aligned = AlignedSlices(
        start_ns=places.start_ns,
        duration_ns=places.duration_ns,
        track=places.track,
        names=names,
        launch=places.launch,
        host_row=np.append(launched.launches.host_row, -1)[places.launch],
        rule=places.rule,
        event=np.full(len(places.launch), -1, np.int64),
        arguments=arguments,
    )
    return aligned, placed


def _rules(launch_id: Int64, launches: AlignedLaunches, launch: Int64) -> Int32:
    """int32[n]; rows of JOIN_RULES for slices, the ids of the launches that they name, and these launches (-1 = none)."""
    reason = np.append(launches.reason, -1)[launch]
    conditions = (
        (np.append(launches.host_row, -1)[launch] >= 0, "launch-id"),
        (reason == MATCH_RULES.index("no-host-trace"), "no-host-trace"),
        (launch >= 0, "launch-on-no-op"),
        (launch_id != 0, "launch-not-recorded"),
    )
    masks = [mask for mask, _ in conditions]
    return np.select(masks, [JOIN_RULES.index(rule) for _, rule in conditions], JOIN_RULES.index("no-link")).astype(np.int32)


def names_of(profile: Profile, table: DeviceSlices) -> SliceNames:
    """What slices are called: by their commands, or as the record says itself."""
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


def frame_names_of(profile: Profile, table: WorkloadSlices) -> SliceNames:
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
