"""A profile's records in the trace clock, as the device side of a timeline that no host is joined with yet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity
from rblnpb.profile import Profile
from rblnpb.strings import StringTable
from rblnpb.wording import counted

from ..dialect import device_rows
from ..timeline import AlignedSlices, Bool, HostTrace, Timeline
from .align import Alignment
from .clock_tally import ClockTally
from .profile_records import counters_of, counts_of, launches_of, losses_of, overheads_of, runtime_of
from .profile_slices import ARGUMENTS, Launched, engines_in_order, slices_of, tracks_of
from .stored_slices import SliceStore, device_work

__all__ = ["origin_findings", "place_profile"]


def place_profile(
    profile: Profile, host: HostTrace | None, alignment: Alignment, store: SliceStore | None = None
) -> tuple[Timeline, dict[str, Bool]]:
    """The timeline of a profile whose clocks are aligned.

    Args:
        profile: As read.
        host: The trace whose ops its launches are matched with; None when there is none.
        alignment: Of the profile's clocks.
        store: Device slices of the profile that stay where they are stored; None: they are in the profile.

    Returns:
        The timeline, with every finding about the profile itself; and which records of a kind are in it, in record order.
    """
    strings = StringTable()
    launches, placed_launches = launches_of(profile, host, alignment, strings)
    engines = engines_in_order(profile)
    launched = Launched(launches, engines)
    tally = ClockTally(alignment)
    slices, placed, dependencies = device_work(profile, store, alignment, launched, tally)
    frames, placed_frames = slices_of(profile, profile.workload_slices, alignment, launched)
    runtime, placed_runtime = runtime_of(profile, alignment, launches, strings)
    counters, placed_samples = counters_of(profile, alignment, strings)
    timeline = Timeline(
        host=host,
        slices=slices,
        frames=frames,
        launches=launches,
        dependencies=dependencies,
        runtime=runtime,
        counters=counters,
        overheads=overheads_of(profile, alignment, strings),
        tracks=tracks_of(profile, engines, has_unknown=_reaches(len(engines), slices, frames)),
        strings=strings.rows(),
        argument_names=ARGUMENTS,
        counts=counts_of(profile, len(placed)),
        clocks=alignment.qualities(tally.outside),
        is_serialised=profile.session.drained_after_each_run,
        process_id=profile.session.process_id,
        device_name=_device_name(profile),
        sources=(f"session {profile.session.session_id:016x}", *([host.document.name] if host else [])),
        findings=(),
        losses=losses_of(profile, alignment),
    )
    placed_records = {
        "launches": placed_launches,
        "device_slices": placed,
        "workload_slices": placed_frames,
        "host_slices": placed_runtime,
        "counters": placed_samples,
    }
    findings = (*tally.findings(profile.findings), *alignment.findings, *_unplaced(placed_records), *_far(slices, alignment))
    return replace(timeline, findings=findings), placed_records


def _reaches(track: int, *tables: AlignedSlices) -> bool:
    """Whether a slice of any of the tables stands on a track."""
    return any(bool((table.track == track).any()) for table in tables)


def _unplaced(placed: Mapping[str, Bool]) -> Iterator[Finding]:
    """Records that are not in the timeline, because they have no place there, by kind."""
    for label, mask in placed.items():
        lost = int((~mask).sum())
        if lost:
            message = f"{counted(lost, 'record')} of {label} without a time or value that can be told: not in the timeline"
            yield Finding(Severity.ERROR, "unplaced-records", message, lost, label)


_FAR_NS: Final = 86_400 * 10**9
"""A day: no recording reads its clocks so seldom."""


def _far(slices: AlignedSlices, alignment: Alignment) -> Iterator[Finding]:
    """Slices so far from every reading of a clock that their ticks are damaged rather than late."""
    anchors = [alignment.maps[clock_id].anchor_ns for clock_id in alignment.clocks if clock_id in alignment.maps]
    if alignment.is_alone or not anchors or not len(slices):
        return
    read_ns = alignment.monotonic_to_trace(np.concatenate(anchors))
    is_far = (slices.start_ns < read_ns.min() - _FAR_NS) | (slices.start_ns > read_ns.max() + _FAR_NS)
    if is_far.any():
        count = int(is_far.sum())
        lying = counted(count, "device slice lies", "device slices lie")
        message = f"{lying} a day or more from every reading of the clock: damaged, not late"
        yield Finding(Severity.WARNING, "far-from-readings", message, count)


def origin_findings(profile: Profile, host: HostTrace, *, is_paired: bool = False) -> list[Finding]:
    """Signs that profile and trace are of different recordings, or hold the same device activity twice.

    Args:
        profile: As read.
        host: The trace.
        is_paired: Whether what both hold was found to be one.
    """
    findings: list[Finding] = []
    named = host.metadata.get("host_name")
    if named and profile.session.host_name and named != profile.session.host_name:
        message = f"the profile was recorded on {profile.session.host_name}, the host trace on {named}"
        findings.append(Finding(Severity.WARNING, "host-differs", message))
    pids = {str(track.pid) for track in host.tracks}
    if profile.session.process_id and str(profile.session.process_id) not in pids and len(profile.launches):
        message = f"the host trace has no process {profile.session.process_id}, which the profile recorded"
        findings.append(Finding(Severity.WARNING, "process-differs", message))
    own = 0 if is_paired else len(device_rows(host))
    if own:
        message = f"the host trace has {counted(own, 'device row')} of its own: shown, but times are counted from the profile alone"
        findings.append(Finding(Severity.INFO, "device-rows-twice", message, own))
    return findings


_FRAMEWORK_NAME: Final = re.compile(r"(\S+?):\d+")


def _device_name(profile: Profile) -> str:
    """What the framework calls the device: the device's name without its ordinal. A name of several words is a person's."""
    names = {match[1] for device in profile.devices if (match := _FRAMEWORK_NAME.fullmatch(device.name))}
    return names.pop() if len(names) == 1 else "rbln"
