"""The profile status as text for people and as JSON for programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Final

from rblnpb.wording import counted

from ..results import ExplainedOverheads, OverheadPart, OverheadTotal, ProfileStatus
from ._json_values import json_report
from ._text_tables import TextReport
from ._units import format_bytes, format_count, format_ns, format_part
from .findings import finding_values

__all__ = ["render_explained_json", "render_explained_text", "render_status_json", "render_status_text"]


def render_status_text(status: ProfileStatus, *, width: int = 120) -> str:
    """The status as plain text.

    Args:
        status: What to show.
        width: Columns of the terminal; tables fold to it.
    """
    report = TextReport(width)
    report.line(f"Profile status: {status.verdict.upper()}")
    report.line(f"  {' + '.join(status.sources)}")
    _print_records(report, status)
    _print_engines(report, status)
    _print_clocks(report, status)
    _print_join(report, status)
    _print_overheads(report, "Hidden work", status.overheads)
    _print_overheads(report, "Hidden work, as the runtime counted it", status.explained)
    report.findings(status.findings)
    return report.text()


def render_explained_text(explained: ExplainedOverheads, *, width: int = 120) -> str:
    """What a runtime counted, as plain text, folded to a number of columns."""
    report = TextReport(width)
    report.line(f"As the runtime counted it: {explained.source}")
    _print_overheads(report, "Hidden work", explained.explained)
    if not explained.explained:
        report.line("\nHidden work: none")
    return report.text()


def render_explained_json(explained: ExplainedOverheads) -> bytes:
    """The same as one JSON object, schema `rblnpb.explained/1`; keys as in `rblnpb.status/1`, without a verdict."""
    value = {
        "schema": "rblnpb.explained/1",
        "sources": [explained.source],
        "explained": [asdict(total) for total in explained.explained],
        "findings": finding_values(explained.findings),
    }
    return json_report(value)


def _print_records(report: TextReport, status: ProfileStatus) -> None:
    if not status.records:
        return
    report.line()
    rows = []
    for record in status.records:
        bound = "at least " if record.is_lower_bound and record.dropped else ""
        rows.append([record.kind, format_count(record.read), f"{bound}{format_count(record.dropped)}"])
    report.table(("Records", "read", "dropped"), rows)


_ENGINE_RANKS: Final = {"work": 3, "slices": 2, "first": 5, "last": 4, "busy": 1, "sum": 6}
"""The higher, the sooner a column gives way to narrow terminals."""


def _print_engines(report: TextReport, status: ProfileStatus) -> None:
    if not status.engines:
        return
    origin = min(engine.first_ns for engine in status.engines)
    several = len({engine.device for engine in status.engines}) > 1
    names = Counter((engine.device, engine.name) for engine in status.engines)
    rows = []
    for engine in status.engines:
        name = f"{engine.device} {engine.name}" if several else engine.name
        # A lane of a trace may hold rows of several kinds.
        name += f" ({engine.kind})" if names[engine.device, engine.name] > 1 else ""
        times = (engine.first_ns - origin, engine.last_ns - origin, engine.busy_ns, engine.sum_ns)
        rows.append([name, "yes" if engine.is_work else "no", format_count(engine.slice_count), *map(format_ns, times)])
    report.line()
    report.table(("Engine", "work", "slices", "first", "last", "busy", "sum"), rows, texts=2, ranks=_ENGINE_RANKS)
    share = f" ({format_part(status.busy_ns, status.span_ns)})" if status.span_ns else ""
    report.line(f"  Device busy {format_ns(status.busy_ns)} of {format_ns(status.span_ns)}{share}, counted from the first slice")


def _print_clocks(report: TextReport, status: ProfileStatus) -> None:
    if not status.clocks:
        return
    rows = (
        [
            clock.name,
            format_count(clock.snapshot_count),
            format_ns(clock.residual_ns),
            format_ns(clock.uncertainty_ns),
            f"{clock.drift_ppm:+.3f}",
            format_count(clock.step_count),
            format_count(clock.extrapolated_count),
        ]
        for clock in status.clocks
    )
    report.line()
    report.table(("Clock", "snapshots", "residual", "uncertainty", "drift (ppm)", "steps", "extrapolated"), rows)


def _print_join(report: TextReport, status: ProfileStatus) -> None:
    matched, unmatched = sum(status.launches_matched.values()), sum(status.launches_unmatched.values())
    lines = []
    if matched or unmatched:
        rules = ", ".join(f"{rule} {count:,}" for rule, count in status.launches_matched.items())
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in status.launches_unmatched.items())
        lines.append(f"  Launches matched: {matched:,} of {matched + unmatched:,}" + (f" ({rules})" if rules else ""))
        if reasons:
            lines.append(f"  Launches unmatched: {unmatched:,} ({reasons})")
    if status.slices_attributed or status.slices_unattributed:
        total = status.slices_attributed + status.slices_unattributed
        on_ops = f"{status.slices_attributed:,} of {counted(total, 'slice')} of work, {format_ns(status.attributed_ns)}"
        lines.append(f"  On ops: {on_ops} (unattributed: {format_ns(status.unattributed_ns)})")
        lines.append(f"  Out of the host trace's window: {counted(status.out_of_window, 'slice')}")
    words = {True: "yes", False: "no", None: "not known"}
    lines.append(f"  Recording serialised the runs: {words[status.is_serialised]}")
    report.line("\n" + "\n".join(lines))


_PARTS_SHOWN: Final = 10


def _print_overheads(report: TextReport, title: str, totals: tuple[OverheadTotal, ...]) -> None:
    """A row a kind, below it what it is made of."""
    if not totals:
        return
    rows = []
    for total in totals:
        rows.append([total.kind, *_sums(total), ""])
        for mark, parts in (("", total.ops), ("why: ", total.reasons)):
            rows += [[f"  {mark}{part.name}", *_sums(part), part.place] for part in parts[:_PARTS_SHOWN]]
            if len(parts) > _PARTS_SHOWN:
                rows.append([f"  {mark}{len(parts) - _PARTS_SHOWN:,} more", *[""] * 4])
    report.line()
    report.table((title, "count", "bytes", "time", "first at"), rows, remark=True)


def _sums(of: OverheadTotal | OverheadPart) -> tuple[str, str, str]:
    size = "" if of.size_bytes is None else format_bytes(of.size_bytes)
    return format_count(of.count), size, "" if of.duration_ns is None else format_ns(of.duration_ns)


def render_status_json(status: ProfileStatus) -> bytes:
    """The status as one JSON object, schema `rblnpb.status/1`; integers, units in the keys, stable key order."""
    matched, unmatched = status.launches_matched, status.launches_unmatched
    value = {
        "schema": "rblnpb.status/1",
        "verdict": status.verdict,
        "sources": status.sources,
        "counts": {
            "records": {
                record.kind: {"read": record.read, "dropped": record.dropped, "is_lower_bound": record.is_lower_bound}
                for record in status.records
            },
            "launches_matched": sum(matched.values()),
            "launches_matched_by_rule": matched,
            "launches_unmatched": unmatched,
            "slices_attributed": status.slices_attributed,
            "slices_unattributed": status.slices_unattributed,
            "slices_out_of_window": status.out_of_window,
        },
        "attributed_ns": status.attributed_ns,
        "unattributed_ns": status.unattributed_ns,
        "busy_ns": status.busy_ns,
        "span_ns": status.span_ns,
        # The field names of these values are the keys of the schema.
        "engines": [asdict(engine) for engine in status.engines],
        "clocks": [{**asdict(clock), "drift_ppm": round(clock.drift_ppm, 6)} for clock in status.clocks],
        "is_serialised": status.is_serialised,
        "overheads": [asdict(total) for total in status.overheads],
        "explained": [asdict(total) for total in status.explained],
        "findings": finding_values(status.findings),
    }
    return json_report(value)
