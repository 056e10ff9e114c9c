"""The device side of a profile, or of a trace, once it stands in the host's clock: launches, spans, queues, sequences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rblnpb.columns import ABSENT, Table
from rblnpb.errors import Finding, Severity
from rblnpb.lanes import crossing
from rblnpb.profile import Profile
from rblnpb.row_order import order_by
from rblnpb.wording import counted, first_few

from ...dialect import host_window
from ...results import Place, PlacedFinding
from ...timeline import AlignedSlices, Int64, Timeline
from .counter_checks import fall_message, falling, is_monotone, unsorted
from .slice_checks import QUEUE_STEPS, outlasting
from .trace_rows import PLACES_TOLD, grouped, saturated_end

__all__ = ["device_findings", "profile_findings"]


def device_findings(timeline: Timeline) -> Iterator[PlacedFinding]:
    """Findings that hold for the device side of whatever kind of file."""
    yield from _before_launch(timeline)
    yield from _disjoint(timeline)


def profile_findings(profile: Profile, timeline: Timeline | None) -> Iterator[PlacedFinding]:
    """Findings about a profile beyond its invariants.

    Args:
        profile: As it was recorded.
        timeline: Made of it; None where its clocks cannot be placed.
    """
    if timeline is not None:
        yield from _engines(timeline)
        yield from _launches(timeline)
    yield from _sequences(profile)
    yield from _counters(profile)


def _slice_places(slices: AlignedSlices, rows: Int64) -> tuple[Place, ...]:
    told = rows[:PLACES_TOLD]
    names = [name.decode(errors="replace") for name in slices.names.take(told).render().tolist()]
    is_event = bool((slices.event[told] >= 0).all())
    places = slices.event[told] if is_event else told
    table = "events" if is_event else "device_slices"
    return tuple(map(Place, [table] * len(told), places.tolist(), names, slices.start_ns[told].tolist()))


def _before_launch(timeline: Timeline) -> Iterator[PlacedFinding]:
    slices = timeline.slices
    known = np.flatnonzero(slices.launch >= 0)
    ahead_ns = timeline.launches.start_ns[slices.launch[known]] - slices.start_ns[known]
    early = np.flatnonzero(ahead_ns > 0)
    if not len(early):
        return
    starting = counted(len(early), "device slice starts", "device slices start")
    systematic = 2 * len(early) > len(known)
    hint = "so do most: the clocks are off by at least that" if systematic else "a sign of clocks that do not quite fit"
    message = f"{starting} before being launched, by up to {int(ahead_ns[early].max()):,} ns, {hint}"
    rows = known[early].astype(np.int64)
    finding = Finding(Severity.WARNING, "device-before-launch", message, len(early))
    yield PlacedFinding(finding, _slice_places(slices, rows))


def _disjoint(timeline: Timeline) -> Iterator[PlacedFinding]:
    """Work that all runs after the host's window may have waited, though not for longer than was recorded; none runs before it."""
    window = None if timeline.host is None else host_window(timeline.host)
    slices = timeline.slices
    if window is None or not len(slices):
        return
    first_ns, last_ns = int(slices.start_ns.min()), int(saturated_end(slices.start_ns, slices.duration_ns).max())
    if first_ns < window[1] and last_ns > window[0]:
        return
    gap_ns = max(first_ns - window[1], window[0] - last_ns)
    may_wait = 0 <= first_ns - window[1] <= window[1] - window[0]
    message = f"host and device do not overlap in time: {gap_ns:,} ns lie between them, so that a join of the two is suspect"
    yield PlacedFinding(Finding(Severity.WARNING if may_wait else Severity.ERROR, "disjoint-spans", message, len(slices)))


def _engines(timeline: Timeline) -> Iterator[PlacedFinding]:
    """An engine does one piece of work after the other."""
    slices, is_work = timeline.slices, timeline.is_work()
    own = np.flatnonzero(is_work & (slices.event < 0))
    track, start_ns = slices.track[own].astype(np.int64), slices.start_ns[own]
    end_ns = saturated_end(start_ns, slices.duration_ns[own])
    if (found := own[crossing(track, start_ns, end_ns)]).size:
        engines = first_few(sorted({timeline.tracks[row].name for row in np.unique(slices.track[found]).tolist()}))
        beginning = counted(len(found), "slice begins", "slices begin")
        message = f"{beginning} within another of the engine and end after it ({engines}): busy time is the union, sums are larger"
        yield PlacedFinding(Finding(Severity.INFO, "overlapping-slices", message, len(found)), _slice_places(slices, found))
    if (late := own[outlasting(track, start_ns, end_ns)]).size:
        ending = counted(len(late), "slice ends", "slices end")
        message = f"{ending} after the {QUEUE_STEPS} that begin next on the engine: noticed late, so that sums are upper bounds"
        yield PlacedFinding(Finding(Severity.WARNING, "outlasting-slices", message, len(late)), _slice_places(slices, late))


def _launches(timeline: Timeline) -> Iterator[PlacedFinding]:
    """Launches without a record on any device, and those without one where most of their program have one."""
    slices, launches = timeline.slices, timeline.launches
    if not len(launches):
        return
    own = np.flatnonzero(timeline.is_work() & (slices.launch >= 0))
    devices = {device: number for number, device in enumerate(dict.fromkeys(track.device for track in timeline.tracks))}
    of_track = np.array([devices[track.device] for track in timeline.tracks], np.int64)
    has_work = np.zeros((len(devices), len(launches)), np.bool_)
    has_work[of_track[slices.track[own]], slices.launch[own]] = True
    has_any = has_work.any(axis=0)
    if len(lost := np.flatnonzero(~has_any)):
        having = counted(len(lost), "launch has", "launches have")
        message = f"{having} no record of work on any device: lost, or after the recording; device times are lower bounds"
        finding = Finding(Severity.WARNING, "launches-without-work", message, len(lost))
        yield PlacedFinding(finding, _launch_places(timeline, lost))
    for device, number in devices.items():
        is_usual = 2 * np.bincount(launches.name, weights=has_work[number]) > np.bincount(launches.name)
        if not len(lost := np.flatnonzero(is_usual[launches.name] & has_any & ~has_work[number])):
            continue
        having = counted(len(lost), "launch has", "launches have")
        message = f"{having} no record of work on {device}, where most of their program do: its times are lower bounds"
        finding = Finding(Severity.WARNING, "launches-without-work", message, len(lost), device)
        yield PlacedFinding(finding, _launch_places(timeline, lost))


def _launch_places(timeline: Timeline, rows: Int64) -> tuple[Place, ...]:
    launches, told = timeline.launches, rows[:PLACES_TOLD]
    names = [timeline.strings[row] for row in launches.name[told].tolist()]
    return tuple(map(Place, ["launches"] * len(told), told.tolist(), names, launches.start_ns[told].tolist()))


def _sequences(profile: Profile) -> Iterator[PlacedFinding]:
    """Calls are counted on each instance; a number that is nowhere was lost, in a buffer that ran over for one."""
    for table in (profile.launches, profile.workload_slices, profile.device_slices):
        columns = table.columns()
        own = np.flatnonzero((columns["sequence"] != ABSENT) & (columns["instance"] != 0))
        if not len(own):
            continue
        missing, after = _gaps(columns["instance"][own].astype(np.int64), columns["sequence"][own])
        if missing:
            message = (
                f"{counted(missing, 'call is', 'calls are')} missing among those that {table.label} count on each instance, in "
                f"{counted(len(after), 'gap')}: lost, so that counts and times are lower bounds"
            )
            finding = Finding(Severity.WARNING, "sequence-gap", message, missing, f"{table.label}.sequence")
            yield PlacedFinding(finding, _record_places(table, own[after]))
        # What launches lost, the work that they launched lost with them.
        return


def _gaps(instance: Int64, sequence: Int64) -> tuple[int, Int64]:
    """How many numbers are missing between the first and the last of each instance, and rows of the first ones after them."""
    order = order_by(instance, sequence)
    step = np.diff(sequence[order])
    is_gap = (np.diff(instance[order]) == 0) & (step > 1)
    return int((step[is_gap] - 1).sum()), order[1:][is_gap]


def _record_places(table: Table, rows: Int64) -> tuple[Place, ...]:
    return tuple(Place(table.label, row) for row in np.sort(rows)[:PLACES_TOLD].tolist())


def _counters(profile: Profile) -> Iterator[PlacedFinding]:
    counters = profile.counters
    if not len(counters):
        return
    series, _ = grouped(counters.name_strindex, counters.device_id, counters.clock_id)
    time = counters.time_ticks.astype(np.int64)
    if (back := unsorted(series, time)).size:
        message = f"{counted(len(back), 'sample stands', 'samples stand')} behind a later one of the counter: readers sort them"
        finding = Finding(Severity.INFO, "unsorted-samples", message, len(back), counters.label)
        yield PlacedFinding(finding, _record_places(counters, back))
    grows = np.array([is_monotone(text) for text in profile.strings], np.bool_)
    own = np.flatnonzero(grows[counters.name_strindex])
    if (fallen := own[falling(series[own], time[own], counters.value[own])]).size:
        names = [profile.strings[row] for row in np.unique(counters.name_strindex[fallen]).tolist()]
        finding = Finding(Severity.WARNING, "counter-fell", fall_message(len(fallen), names), len(fallen), counters.label)
        yield PlacedFinding(finding, _record_places(counters, fallen))
