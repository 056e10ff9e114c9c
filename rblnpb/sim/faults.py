"""What can go wrong with a recording, done to a good one on purpose.

Most faults are a profile made from a profile. Two are of files: one that was cut, and one that two processes wrote. What makes a
run slower is injected while it is simulated, see `rblnpb.sim.injections`, which says how much of what is injected.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO, Final, TypeVar

import numpy as np
import numpy.typing as npt

from rblnpb.clock import clock_maps
from rblnpb.columns import CHUNK_LIMIT, Dependencies, DeviceSlices, Int64, WorkloadSlices
from rblnpb.errors import UsageError
from rblnpb.output import open_output
from rblnpb.profile import KINDS, Loss, LossReason, Profile
from rblnpb.record_times import spans_by_clock
from rblnpb.sim.draws import Draws
from rblnpb.sim.injections import INJECTIONS
from rblnpb.writer import StreamWriter, write

__all__ = ["FAULTS", "FILE_FAULTS", "apply_faults", "refuse_unknown", "write_faulty"]

FAULTS: Final = {
    "drop": "a tenth of the device slices is overwritten before it is read, and counted as lost",
    "drift": "the device clock runs 400 parts per million fast at the start, and faster as it warms up",
    "step": "the device clock is set back by 40 ms in the middle",
    "wrap32": "the device clock counts in 32 bits and turns over in the middle",
    "launch0": "the runtime gives every launch the number 0",
    "lost-buffer": "one buffer of device slices is never written, and counted as lost",
    "truncate": "the file ends inside its last packet",
    "two-writers": "two processes write into one file",
    **INJECTIONS,
}
"""Faults by name, and what each does."""

FILE_FAULTS: Final = frozenset({"truncate", "two-writers"})
"""Faults that only a file can have."""

Slices = TypeVar("Slices", DeviceSlices, WorkloadSlices)

_LOST_IN_TEN_THOUSAND: Final = 1_000
_DRIFT_PPM: Final = 400
_WARMING_PPM_PER_S: Final = 25
_STEP_NS: Final = 40_000_000


def refuse_unknown(faults: Sequence[str]) -> None:
    """Raise unless every name is one of FAULTS.

    Raises:
        UsageError: A name is not; the text gives those that are.
    """
    for fault in faults:
        if fault not in FAULTS:
            raise UsageError(f"there is no fault {fault!r}; there are {', '.join(FAULTS)}")


def apply_faults(profile: Profile, faults: Sequence[str]) -> Profile:
    """The profile with these faults done to it, in the order given; those of files, and of the run itself, are passed over.

    Raises:
        UsageError: An unknown name.
    """
    refuse_unknown(faults)
    for fault in faults:
        if fault in _FAULTS:
            profile = _FAULTS[fault](profile)
    return profile


def write_faulty(
    profile: Profile,
    path: str | os.PathLike[str] | BinaryIO,
    faults: Sequence[str],
    *,
    display: bool | None = None,
    force: bool = False,
) -> None:
    """Write a profile with the faults of files among `faults` done to the file. Without any it is `rblnpb.write`.

    Args:
        profile: Faults of records are in it already, see `apply_faults`.
        path: The file, or a binary stream.
        faults: Names of FAULTS.
        display: As of `rblnpb.write`; not with two writers.
        force: Overwrite a file that is there.

    Raises:
        UsageError: An unknown name.
        OutputError: The file is there already, or cannot be written.
    """
    refuse_unknown(faults)
    if not FILE_FAULTS & set(faults):
        write(profile, path, display=display, force=force)
        return
    content = io.BytesIO()
    if "two-writers" in faults:
        _write_two(profile, content)
    else:
        write(profile, content, display=display)
    data = content.getvalue()
    with open_output(path, force=force) if isinstance(path, (str, os.PathLike)) else nullcontext(path) as file:
        # The closing packet holds at least the totals, so the last dozen bytes are all its own.
        file.write(data[:-12] if "truncate" in faults else data)


def _drop(profile: Profile) -> Profile:
    """A ring buffer that was read too late: runs of slices are gone, and the dependencies that name them."""
    slices = profile.device_slices
    draws = Draws(profile.session.session_id)
    # Runs of up to 16, so that whole pieces of calls are missing as after an overwrite.
    run = draws.between(np.zeros(len(slices) // 16 + 1, np.int64), 9_999) < _LOST_IN_TEN_THOUSAND
    lost = np.repeat(run, 16)[: len(slices)]
    if len(slices) and not lost.any():
        lost[len(slices) // 2] = True
    return _without(profile, lost, LossReason.DEVICE_OVERWRITE)


def _lose_buffer(profile: Profile) -> Profile:
    """A buffer for which there was no room: a run of slices is gone, between a twelfth and a sixth of all."""
    count = len(profile.device_slices)
    draws = Draws(profile.session.session_id)
    size = draws.one(-(-count // 12), max(-(-count // 12), count // 6))
    first = draws.one(count // 3, count // 2)
    lost = np.zeros(count, np.bool_)
    lost[first : first + size] = True
    return _without(profile, lost, LossReason.BUFFER_FULL, *_moments(profile, lost))


def _moments(profile: Profile, rows: npt.NDArray[np.bool_]) -> tuple[int | None, int | None]:
    """Least start and greatest end of some device slices, host monotonic ns; None each where no clock tells."""
    slices = profile.device_slices.take(rows)
    spans = [
        (start_ns.min(), (start_ns + duration_ns).max())
        for _, start_ns, duration_ns in spans_by_clock(slices, clock_maps(profile.clocks, profile.clock_snapshots))
    ]
    return (int(min(first for first, _ in spans)), int(max(last for _, last in spans))) if spans else (None, None)


def _without(
    profile: Profile,
    lost: npt.NDArray[np.bool_],
    reason: LossReason,
    first_ns: int | None = None,
    last_ns: int | None = None,
) -> Profile:
    """The profile without some of its device slices, and without the dependencies that name them; both are counted."""
    slices = profile.device_slices
    kept_before: Int64 = np.cumsum(~lost) - ~lost
    edges = profile.dependencies
    whole = ~(lost[edges.predecessor_ordinal] | lost[edges.successor_ordinal])
    dependencies = Dependencies.of(
        predecessor_ordinal=kept_before[edges.predecessor_ordinal[whole]],
        successor_ordinal=kept_before[edges.successor_ordinal[whole]],
    )
    counts = ((slices.kind, int(lost.sum())), (edges.kind, int((~whole).sum())))
    losses = tuple(
        Loss(kind, reason, count, first_monotonic_ns=first_ns, last_monotonic_ns=last_ns) for kind, count in counts if count
    )
    return profile.replace(device_slices=slices.take(~lost), dependencies=dependencies, losses=profile.losses + losses)


def _drift(profile: Profile) -> Profile:
    def warped(ticks: Int64, hz: int, origin: int) -> Int64:
        run = ticks - origin
        run_us = run // (hz // 10**6)
        # Warming by w ppm a second adds w * t * t / 2 microseconds after t seconds: the square of whole seconds and a rest, each
        # part divided before it is multiplied, so that days stay in 64 bits.
        whole_s, rest_us = np.divmod(run_us, 10**6)
        square = whole_s * whole_s * 1_000 + whole_s * rest_us // 500 + rest_us * rest_us // 10**9
        warmed_ns = square * _WARMING_PPM_PER_S // 2
        changed: Int64 = ticks + run * _DRIFT_PPM // 10**6 + warmed_ns * (hz // 10**6) // 1_000
        return changed

    return _with_ticks(profile, warped, is_stretching=True)


def _step(profile: Profile) -> Profile:
    middle = _middle_ticks(profile)

    def stepped(ticks: Int64, hz: int, origin: int) -> Int64:
        del origin
        return np.where(ticks < middle, ticks, ticks - _STEP_NS * (hz // 1_000) // 10**6)

    return _with_ticks(profile, stepped)


def _wrap32(profile: Profile) -> Profile:
    middle = _middle_ticks(profile)

    def wrapped(ticks: Int64, hz: int, origin: int) -> Int64:
        del hz, origin
        return (ticks - middle) & 0xFFFF_FFFF

    wrapping = _with_ticks(profile, wrapped)
    return wrapping.replace(clocks=tuple(replace(clock, width_bits=32) for clock in profile.clocks))


def _launch0(profile: Profile) -> Profile:
    return profile.replace(
        launches=profile.launches.replace(launch_id=np.zeros(len(profile.launches), np.uint64)),
        device_slices=profile.device_slices.replace(launch_id=np.zeros(len(profile.device_slices), np.uint64)),
        workload_slices=profile.workload_slices.replace(launch_id=np.zeros(len(profile.workload_slices), np.uint64)),
        host_slices=profile.host_slices.replace(launch_id=np.zeros(len(profile.host_slices), np.uint64)),
    )


_FAULTS: Final[dict[str, Callable[[Profile], Profile]]] = {
    "drop": _drop,
    "drift": _drift,
    "step": _step,
    "wrap32": _wrap32,
    "launch0": _launch0,
    "lost-buffer": _lose_buffer,
}


def _middle_ticks(profile: Profile) -> int:
    """Start of the device slice in the middle of the recording; 0 without any."""
    ticks = np.sort(profile.device_slices.start_ticks)
    return int(ticks[len(ticks) // 2]) if len(ticks) else 0


def _with_ticks(profile: Profile, change: Callable[[Int64, int, int], Int64], *, is_stretching: bool = False) -> Profile:
    """The profile with every reading of its device clocks changed: `change(ticks, nominal_hz, first reading)`.

    Durations are differences of changed readings where the change is one of rate; they stay where the counter was only set.
    """
    for clock in profile.clocks:
        own = [snapshot.value_ticks for snapshot in profile.clock_snapshots if snapshot.clock_id == clock.clock_id]
        bound = partial(_changed, change, clock.nominal_hz, min(own, default=0))
        profile = profile.replace(
            clock_snapshots=tuple(
                replace(snapshot, value_ticks=int(bound(snapshot.value_ticks))) if snapshot.clock_id == clock.clock_id else snapshot
                for snapshot in profile.clock_snapshots
            ),
            device_slices=_with_start(profile.device_slices, clock.clock_id, bound, is_stretching=is_stretching),
            workload_slices=_with_start(profile.workload_slices, clock.clock_id, bound, is_stretching=is_stretching),
        )
    return profile


def _changed(change: Callable[[Int64, int, int], Int64], hz: int, origin: int, ticks: Any) -> npt.NDArray[np.uint64]:
    return change(np.asarray(ticks).astype(np.int64), hz, origin).astype(np.uint64)


def _with_start(table: Slices, clock_id: int, changed: Callable[[Any], npt.NDArray[np.uint64]], *, is_stretching: bool) -> Slices:
    own = table.clock_id == clock_id
    start = changed(table.start_ticks)
    duration = changed(table.start_ticks + table.duration_ticks) - start if is_stretching else table.duration_ticks
    return table.replace(
        start_ticks=np.where(own, start, table.start_ticks), duration_ticks=np.where(own, duration, table.duration_ticks)
    )


def _write_two(profile: Profile, file: BinaryIO) -> None:
    """The same recording twice, under two identities, packet by packet in turn."""
    session = profile.session
    other = replace(session, session_id=session.session_id ^ 1 or 2, process_id=session.process_id + 1)
    writers = [StreamWriter(file, session), StreamWriter(file, other)]
    for writer in writers:
        writer.define(
            strings=profile.strings[1:],
            clocks=profile.clocks,
            devices=profile.devices,
            engines=profile.engines,
            programs=profile.programs,
            commands=profile.commands,
            threads=profile.threads,
        )
    for writer in writers:
        writer.snapshots(profile.clock_snapshots)
    for table in map(profile.table, KINDS):
        for at in range(0, len(table), CHUNK_LIMIT):
            for writer in writers:
                writer.chunk(table.take(slice(at, at + CHUNK_LIMIT)))
    for writer in writers:
        writer.losses(profile.losses)
        writer.close(ended_real_ns=session.ended_real_ns, ended_monotonic_ns=session.ended_monotonic_ns)
