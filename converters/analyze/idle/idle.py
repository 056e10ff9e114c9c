"""Busy and idle time of a timeline, with causes that add up to the idle time exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from ...results import CAUSES, CauseTime, DeviceOccupancy, EngineOccupancy, IdleReport, NamedTime, Occupancies
from ...timeline import Bool, Timeline
from ..grouping import numbered
from .cause_times import GapParts, cause_times, clock_uncertainty_ns, gap_parts
from .gap_causes import explain_gaps
from .gap_evidence import ExplainedGaps
from .gap_listing import list_gaps, longest
from .gaps import Gaps, gaps_between, inside_calls
from .lost_records import device_losses
from .occupancy import Calls, OrderedWork, device_calls, device_occupancy, ordered_work, program_occupancy

__all__ = ["device_idle"]

_Causes = Mapping[int, tuple[CauseTime, ...]]


def device_idle(timeline: Timeline, *, min_gap_ns: int = 1000, top: int = 10, by: str = "device") -> IdleReport:
    """Busy, idle, and why.

    Args:
        timeline: Any; one without device work has nothing to tell.
        min_gap_ns: Gaps below this are short: they are counted, and not looked into.
        top: How many of the longest gaps to list; -1 = all.
        by: "device": gaps in which a device as a whole had no work; "engine": those of every engine.
    """
    work = ordered_work(timeline)
    calls = device_calls(timeline, work)
    of_devices = gaps_between(work, work.device)
    inside = inside_calls(of_devices, work, calls)
    if by == "device":
        found = _explained(timeline, work, calls, of_devices, inside, [(device, "") for device in work.devices], min_gap_ns)
    else:
        gaps = gaps_between(work, work.track)
        lanes = [(track.device, track.name) for track in timeline.tracks]
        is_in_one = (calls.of_work[gaps.after] == calls.of_work[gaps.before]) & (calls.of_work[gaps.before] >= 0)
        found = _explained(timeline, work, calls, gaps, is_in_one, lanes, min_gap_ns)
    causes = cause_times(found.gaps, found.pieces.blocks(), found.parts, found.uncertainty_ns)
    occupancy = device_occupancy(timeline, work)
    return IdleReport(
        sources=timeline.sources,
        by=by,
        min_gap_ns=min_gap_ns,
        all=occupancy.all,
        launched_in_window=occupancy.launched_in_window,
        devices=_devices(timeline, work, occupancy, of_devices, inside, causes if by == "device" else {}),
        kinds=occupancy.kinds,
        engines=_engines(work, occupancy, causes if by == "engine" else {}),
        programs=program_occupancy(work, calls),
        causes=_total(one for lane in sorted(causes) for one in causes[lane]),
        gap_count=len(found.gaps),
        gaps=list_gaps(timeline, found, longest(found.gaps, top)),
        findings=_findings(timeline, work),
    )


def _explained(
    timeline: Timeline,
    work: OrderedWork,
    calls: Calls,
    gaps: Gaps,
    inside: Bool,
    lanes: list[tuple[str, str]],
    min_gap_ns: int,
) -> ExplainedGaps:
    pieces = explain_gaps(timeline, work, calls, gaps, min_gap_ns)
    uncertainty_ns = tuple(clock_uncertainty_ns(timeline, device) for device, _ in lanes)
    parts = GapParts.joined(gap_parts(gaps, block) for block in pieces.blocks())
    return ExplainedGaps(work, calls, gaps, pieces, parts, tuple(lanes), inside, uncertainty_ns)


def _devices(
    timeline: Timeline, work: OrderedWork, occupancy: Occupancies, gaps: Gaps, inside: Bool, causes: _Causes
) -> tuple[DeviceOccupancy, ...]:
    length_ns = gaps.end_ns - gaps.start_ns
    found = []
    for device in occupancy.devices:
        lane = work.devices.index(device.device)
        own = gaps.lane == lane
        inside_ns = int(length_ns[own & inside].sum())
        found.append(
            replace(
                device,
                gap_count=int(own.sum()),
                inside_calls_ns=inside_ns,
                between_calls_ns=device.all.idle_ns - inside_ns,
                uncertainty_ns=clock_uncertainty_ns(timeline, device.device),
                causes=causes.get(lane, ()),
            )
        )
    return tuple(found)


def _engines(work: OrderedWork, occupancy: Occupancies, causes: _Causes) -> tuple[EngineOccupancy, ...]:
    """Engines in the order of their tracks, which may share a name."""
    tracks = numbered(work.track)[0].tolist()
    return tuple(replace(engine, causes=causes.get(track, ())) for track, engine in zip(tracks, occupancy.engines, strict=True))


def _total(causes: Iterable[CauseTime]) -> tuple[CauseTime, ...]:
    """Causes of several lanes together, in order of precedence."""
    by_cause: dict[str, list[CauseTime]] = {}
    for one in causes:
        by_cause.setdefault(one.cause, []).append(one)
    total = []
    for cause in CAUSES:
        own = by_cause.get(cause, [])
        if not own:
            continue
        uncertainties = [one.uncertainty_ns for one in own]
        known = [uncertainty_ns for uncertainty_ns in uncertainties if uncertainty_ns is not None]
        names: dict[str, int] = {}
        steps: dict[str, int] = {}
        for one in own:
            for named in one.names:
                names[named.name] = names.get(named.name, 0) + named.idle_ns
            for step, idle_ns in one.steps.items():
                steps[step] = steps.get(step, 0) + idle_ns
        total.append(
            CauseTime(
                cause=cause,
                idle_ns=sum(one.idle_ns for one in own),
                gap_count=sum(one.gap_count for one in own),
                uncertainty_ns=sum(known) if len(known) == len(own) else None,
                steps=steps,
                names=tuple(NamedTime(name, idle_ns) for name, idle_ns in sorted(names.items(), key=lambda one: -one[1])),
            )
        )
    return tuple(total)


def _findings(timeline: Timeline, work: OrderedWork) -> tuple[Finding, ...]:
    if not len(work):
        return (Finding(Severity.INFO, "no-device-work", "no slice of device work is in the input: there is no busy or idle time"),)
    findings = []
    losses = device_losses(timeline)
    if losses:
        count = sum(loss.count for loss in losses)
        records = counted(count, "record of the device is", "records of the device are")
        message = f"at least {records} lost: idle times are upper bounds, busy times lower ones"
        findings.append(Finding(Severity.WARNING, "records-lost", message, count))
    if timeline.is_serialised:
        message = "recording waited for the device after each run: unobserved, a part of the host time between runs is hidden"
        findings.append(Finding(Severity.INFO, "serialised", message))
    return tuple(findings)
