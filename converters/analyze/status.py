"""Can this profile be trusted? What was recorded and lost, how good the clocks are, what was joined, what is odd."""

from __future__ import annotations

import numpy as np

from rblnpb.errors import Finding, Severity, verdict
from rblnpb.row_order import order_by
from rblnpb.wording import counted

from ..dialect import host_window
from ..results import EngineActivity, ProfileStatus
from ..timeline import MATCH_RULES, MATCHED_RULES, AlignedSlices, Timeline
from .advice.advice import advice_findings
from .intervals import exact_sum, overlap_count, union_ns
from .overheads import overhead_totals

__all__ = ["profile_status"]


def profile_status(timeline: Timeline) -> ProfileStatus:
    """The status of a merged timeline."""
    slices = timeline.slices
    is_work = timeline.is_work()
    start_ns, duration_ns = slices.start_ns[is_work], slices.duration_ns[is_work]
    is_attributed = slices.host_row[is_work] >= 0
    counts = np.bincount(timeline.launches.reason, minlength=len(MATCH_RULES)).tolist()
    by_rule = {rule: count for rule, count in zip(MATCH_RULES, counts, strict=True) if count}
    engines = _engines(timeline, slices) + _engines(timeline, timeline.frames)
    findings = (*timeline.findings, *_serialisation(timeline), *_overlaps(engines), *advice_findings(timeline))
    return ProfileStatus(
        verdict=verdict(findings),
        sources=timeline.sources,
        records=timeline.counts,
        engines=engines,
        busy_ns=union_ns(start_ns, duration_ns),
        span_ns=int((start_ns + duration_ns).max()) - int(start_ns.min()) if len(start_ns) else 0,
        clocks=timeline.clocks,
        launches_matched={rule: count for rule, count in by_rule.items() if rule in MATCH_RULES[:MATCHED_RULES]},
        launches_unmatched={rule: count for rule, count in by_rule.items() if rule not in MATCH_RULES[:MATCHED_RULES]},
        slices_attributed=int(is_attributed.sum()),
        slices_unattributed=int((~is_attributed).sum()),
        attributed_ns=exact_sum(duration_ns[is_attributed]),
        unattributed_ns=exact_sum(duration_ns[~is_attributed]),
        out_of_window=_out_of_window(timeline),
        is_serialised=timeline.is_serialised,
        findings=tuple(sorted(findings, key=lambda finding: -finding.severity)),
        overheads=overhead_totals(timeline),
    )


def _out_of_window(timeline: Timeline) -> int:
    window = None if timeline.host is None else host_window(timeline.host)
    if window is None:
        return 0
    start_ns = timeline.slices.start_ns
    return int(((start_ns < window[0]) | (start_ns >= window[1])).sum())


def _engines(timeline: Timeline, slices: AlignedSlices) -> tuple[EngineActivity, ...]:
    order = order_by(slices.track)
    bounds = np.searchsorted(slices.track[order], np.arange(len(timeline.tracks) + 1))
    engines = []
    for row, track in enumerate(timeline.tracks):
        own = order[bounds[row] : bounds[row + 1]]
        if not len(own):
            continue
        start_ns, duration_ns = slices.start_ns[own], slices.duration_ns[own]
        engines.append(
            EngineActivity(
                device=track.device,
                name=track.name,
                kind=track.kind,
                is_work=track.is_work,
                slice_count=len(own),
                first_ns=int(start_ns.min()),
                last_ns=int((start_ns + duration_ns).max()),
                busy_ns=union_ns(start_ns, duration_ns),
                sum_ns=exact_sum(duration_ns),
                overlap_count=overlap_count(start_ns, duration_ns),
            )
        )
    return tuple(engines)


def _serialisation(timeline: Timeline) -> tuple[Finding, ...]:
    if not timeline.is_serialised:
        return ()
    message = "recording waited for the device after each run: times between runs are not those of an unobserved program"
    return (Finding(Severity.INFO, "serialised", message),)


def _overlaps(engines: tuple[EngineActivity, ...]) -> tuple[Finding, ...]:
    """An engine does one thing at a time; where its slices overlap, sums are larger than the time that passed."""
    overlapping = [engine for engine in engines if engine.overlap_count and engine.kind not in ("annotation", "host", "workload")]
    count = sum(engine.overlap_count for engine in overlapping)
    if not count:
        return ()
    names = ", ".join(sorted({engine.name for engine in overlapping})[:3])
    starting = counted(count, "slice starts", "slices start")
    message = f"{starting} while another runs on the same engine ({names}): busy time is the union, sums are larger"
    return (Finding(Severity.INFO, "overlapping-slices", message, count),)
