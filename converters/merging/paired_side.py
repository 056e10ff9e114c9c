"""A profile and a host trace that hold records of the same device work: each record once, with what both files know of it.

A pair has its time, its launch and its op from the trace, which is on the host's clock already, and its engine, its bytes and its
cycles from the profile. What only one file holds is there as well: records of the profile at the time that the pairs give their
clock, rows of the trace as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rblnpb.clock import Clock
from rblnpb.errors import Finding, Severity
from rblnpb.profile import Profile
from rblnpb.wording import counted

from ..dialect import host_window
from ..timeline import Bool, HostTrace, Int64, Timeline
from .align import Alignment
from .calls import find_calls
from .clock_fit import ClockFit, fit_clock
from .pairing import Pairing, find_pairs
from .placed_profile import origin_findings, place_profile
from .profile_slices import frame_names_of, names_of
from .quality import join_findings
from .record_matching import Records, all_pairs
from .record_names import NameNumbers, device_ordinals
from .timeline_union import OneRecord, union_timeline
from .trace_side import trace_timeline

__all__ = ["paired_timeline"]

_TIME_LIMIT: Final = 1 << 61
_HZ: Final = 10**9


def paired_timeline(profile: Profile, host: HostTrace) -> Timeline | None:
    """The timeline of a profile without launches and a host trace, joined by the records that both hold.

    Args:
        profile: As read; times in ns of clocks of its own.
        host: Its device rows are to be of the same run; its times need not be Unix times.

    Returns:
        The timeline; None when the two hold no record in common.
    """
    trace = trace_timeline(host)
    found = _pairs(profile, trace)
    if not found.fits:
        return None
    alignment = Alignment.of_fits(profile, found.fits)
    base, placed = place_profile(profile, None, alignment)
    count = len(profile.device_slices)
    is_slice = found.own < count
    slices = _placed_pairs(placed["device_slices"], found.own[is_slice], found.other[is_slice])
    frames = _placed_pairs(placed["workload_slices"], found.own[~is_slice] - count, found.other[~is_slice])
    calls = find_calls(profile)
    of_placed = calls.of_slice[placed["device_slices"]], calls.of_frame[placed["workload_slices"]]
    joined = union_timeline(base, trace, slices, frames, of_placed)
    timeline = replace(joined, host=host, sources=(*base.sources, host.document.name))
    findings = (
        *base.findings,
        *host.findings,
        *_findings(found, profile, trace),
        *join_findings(timeline, host_window(host)),
        *origin_findings(profile, host, is_paired=True),
    )
    return replace(timeline, findings=findings)


def _placed_pairs(placed: Bool, own: Int64, other: Int64) -> OneRecord:
    """Pairs whose record is in the timeline, by its row there."""
    row = np.where(placed, np.cumsum(placed) - 1, -1)
    is_there = row[own] >= 0
    return OneRecord(row[own][is_there], other[is_there])


@dataclass(frozen=True, eq=False)
class _Pairs:
    """What was found.

    Attributes:
        own: int64[k]; rows of the profile's slices, and behind them of its frames.
        other: int64[k]; rows of the trace's slices.
        fits: Clocks that the pairs place.
        pairings: By clock.
        is_by_layer: Whether names are alike in their layers only.
    """

    own: Int64
    other: Int64
    fits: dict[int, ClockFit]
    pairings: dict[int, Pairing]
    is_by_layer: bool


def _pairs(profile: Profile, trace: Timeline) -> _Pairs:
    """Pairs of all clocks, by whole names, or else by layers: names change with the release."""
    found = _pairs_by(profile, trace, by_layer=False)
    return found if found.fits else _pairs_by(profile, trace, by_layer=True)


def _pairs_by(profile: Profile, trace: Timeline, *, by_layer: bool) -> _Pairs:
    tables = (profile.device_slices, profile.workload_slices)
    clock_id = np.concatenate([table.clock_id for table in tables])
    start, duration = (
        np.concatenate([getattr(table, name) for table in tables]).view(np.int64) for name in ("start_ticks", "duration_ticks")
    )
    own_key, other_key = _keys(profile, trace, by_layer=by_layer)
    other = Records(other_key, trace.slices.start_ns, trace.slices.duration_ns)
    is_range = np.array([*(track.kind == "annotation" for track in trace.tracks), False], np.bool_)
    is_open = ~is_range[trace.slices.track] & _is_sane(other.start, other.duration)
    pairs: list[tuple[Int64, Int64]] = []
    fits: dict[int, ClockFit] = {}
    pairings: dict[int, Pairing] = {}
    for one in dict.fromkeys(clock_id.tolist()):
        rows = np.flatnonzero((clock_id == one) & _is_sane(start, duration))
        theirs = np.flatnonzero(is_open)
        clock = profile.clock(one)
        if clock is None or clock.nominal_hz != _HZ or not len(rows):
            continue
        pairing = find_pairs(Records(own_key[rows], start[rows], duration[rows]), other.take(theirs))
        if pairing is not None:
            mine, partners = rows[pairing.own], theirs[pairing.other]
            is_open[partners] = False
            fits[one] = _fit(clock, start[mine], other.start[partners], start[rows])
            pairings[one] = pairing
            pairs.append((mine, partners))
    return _Pairs(*all_pairs(pairs), fits, pairings, by_layer)


def _is_sane(start: Int64, duration: Int64) -> Bool:
    """bool[n]; which times are so small that differences of two of them, and sums of three, fit in 64 bits."""
    sane: Bool = (start > -_TIME_LIMIT) & (start < _TIME_LIMIT) & (duration >= 0) & (duration < _TIME_LIMIT)
    return sane


def _fit(clock: Clock, ticks: Int64, times_ns: Int64, all_ticks: Int64) -> ClockFit:
    """The clock through its pairs, with how many of its records lie outside of them."""
    fit = fit_clock(clock, ticks, times_ns, (int(all_ticks.min()), int(all_ticks.max())))
    outside = int(((all_ticks < ticks.min()) | (all_ticks > ticks.max())).sum())
    return replace(fit, quality=replace(fit.quality, extrapolated_count=outside))


def _keys(profile: Profile, trace: Timeline, *, by_layer: bool) -> tuple[Int64, Int64]:
    """Numbers of the profile's slices and frames, and of the trace's slices: equal for what is called the same on one device."""
    numbers = NameNumbers()
    own_names = (names_of(profile, profile.device_slices), frame_names_of(profile, profile.workload_slices))
    own = np.concatenate([numbers.of(names, by_layer=by_layer) for names in own_names])
    other = numbers.of(trace.slices.names, by_layer=by_layer)
    devices = {device.device_id: device.name for device in profile.devices}
    of_engine = {engine.engine_id: devices.get(engine.device_id, "") for engine in profile.engines}
    ids, of_row = np.unique(
        np.concatenate((profile.device_slices.engine_id, profile.workload_slices.engine_id)), return_inverse=True
    )
    mine = device_ordinals([of_engine.get(one, "") for one in ids.tolist()])
    theirs = device_ordinals([track.device for track in trace.tracks])
    if min(mine.min(initial=0), theirs.min(initial=0)) < 0 or not np.intersect1d(mine, theirs).size:
        # Not every device says which one it is, or the two files count them differently.
        return own, other
    count = 1 + max(int(mine.max(initial=0)), int(theirs.max(initial=0)))
    return own * count + mine[of_row], other * count + theirs[trace.slices.track]


def _findings(found: _Pairs, profile: Profile, trace: Timeline) -> Iterator[Finding]:
    """How well the records of the two files fit each other."""
    count = len(profile.device_slices) + len(profile.workload_slices)
    for fit in found.fits.values():
        quality = fit.quality
        message = (
            f"{counted(quality.snapshot_count, 'record')} of the profile found in the trace too, by name, length and time, and "
            f"shown with its times and launches; by {quality.name} {quality.uncertainty_ns:,} ns from there (median), "
            f"{quality.residual_ns:,} ns at most"
        )
        yield Finding(Severity.INFO, "paired-records", message, quality.snapshot_count)
    if found.is_by_layer:
        message = "the names of the two files are of different releases: records were paired by their layers"
        yield Finding(Severity.INFO, "paired-by-layer", message, len(found.own))
    mine, theirs = count - len(found.own), len(trace.slices) - len(found.other)
    # Where both sides are left with much, the same work may stand there under two names, and is counted twice.
    is_much = 2 * min(mine, theirs) > len(found.own)
    severity = Severity.WARNING if is_much else Severity.INFO
    if mine:
        message = f"{mine:,} of {counted(count, 'record')} of the profile not found in the trace: placed by the clock of the others"
        yield Finding(severity, "unpaired-records", message, mine)
    if theirs:
        message = (
            f"{theirs:,} of {counted(len(trace.slices), 'device row')} of the trace not found in the profile: counted as they are"
        )
        yield Finding(severity, "unpaired-rows", message, theirs)
    for pairing in found.pairings.values():
        if pairing.rival_count:
            message = (
                f"{counted(pairing.rival_count, 'record')} would pair as well if the clocks were {pairing.rival_ns:,} ns further "
                "apart: the records are too much alike to tell which of the trace is which of the profile"
            )
            yield Finding(Severity.WARNING, "pairing-ambiguous", message, pairing.rival_count)
