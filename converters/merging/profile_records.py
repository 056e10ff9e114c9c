"""What a profile recorded beside slices of engines, in the trace clock: launches, the runtime, overheads, losses, samples."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT, DeviceSlices
from rblnpb.profile import KINDS, HostActivity, Profile
from rblnpb.strings import StringTable

from ..timeline import (
    MATCH_RULES,
    AlignedCounters,
    AlignedLaunches,
    AlignedLoss,
    Bool,
    HostTrace,
    Int32,
    OverheadRecords,
    RecordCount,
    RuntimeSlices,
)
from .align import Alignment
from .correlate import launch_by_id, match_launches, native_tracks
from .profile_slices import device_names

__all__ = ["counters_of", "counts_of", "launches_of", "losses_of", "overheads_of", "runtime_of"]


def launches_of(
    profile: Profile, host: HostTrace | None, alignment: Alignment, strings: StringTable
) -> tuple[AlignedLaunches, Bool]:
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


_ACTIVITY_NAMES: Final = {
    HostActivity.UNKNOWN: "runtime",
    HostActivity.SUBMIT: "submit",
    HostActivity.COPY_IN: "copy in",
    HostActivity.COPY_OUT: "copy out",
    HostActivity.WAIT: "wait",
    HostActivity.COMPILE: "compile",
}


def runtime_of(
    profile: Profile, alignment: Alignment, launches: AlignedLaunches, strings: StringTable
) -> tuple[RuntimeSlices, Bool]:
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
        event=np.full(len(table), -1, np.int64),
    )
    return aligned, placed


def overheads_of(profile: Profile, alignment: Alignment, strings: StringTable) -> OverheadRecords:
    """All overheads, in record order; those without a place in time are there without one."""
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


def losses_of(profile: Profile, alignment: Alignment) -> tuple[AlignedLoss, ...]:
    """What was lost while recording, and when, as far as that is told."""
    devices = device_names(profile)
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


def counters_of(profile: Profile, alignment: Alignment, strings: StringTable) -> tuple[AlignedCounters, Bool]:
    """Samples with a time and a finite value, and which of the records those are."""
    time_ns, placed = alignment.place_counters(profile.counters)
    placed &= np.isfinite(profile.counters.value)
    table = profile.counters.take(placed)
    devices = {device_id: strings.intern(name) for device_id, name in device_names(profile).items()}
    ids, of_device = np.unique(table.device_id, return_inverse=True)
    device = np.array([devices.get(row, 0) for row in ids.tolist()], np.int32)
    names, of_name = np.unique(table.name_strindex, return_inverse=True)
    name = np.array([strings.intern(profile.strings[row]) for row in names.tolist()], np.int32)
    nothing = np.empty(0, np.int32)
    rows = (device[of_device], name[of_name]) if len(table) else (nothing, nothing)
    return AlignedCounters(time_ns[placed], *rows, table.value), placed


def counts_of(profile: Profile, slice_count: int) -> tuple[RecordCount, ...]:
    """Records by kind, read and dropped; the device slices may be elsewhere, so many they are."""
    counts = []
    for kind, table in KINDS.items():
        dropped = profile.dropped(kind)
        is_bound = any(loss.kind == kind and loss.is_lower_bound for loss in profile.losses) or not profile.is_complete
        read = slice_count if table is DeviceSlices else len(profile.table(kind))
        if read or dropped:
            counts.append(RecordCount(table.label, read, dropped, is_bound))
    elsewhere = sum(loss.count for loss in profile.losses if loss.kind not in KINDS)
    if elsewhere:
        counts.append(RecordCount("unknown", 0, elsewhere, is_lower_bound=True))
    return tuple(counts)
