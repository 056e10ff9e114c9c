"""The profile status as text for people and as JSON for programs."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

import orjson

from ..results import ExplainedOverheads, OverheadPart, OverheadTotal, ProfileStatus
from ._json_values import exact
from ._units import format_bytes, format_count, format_ns
from .findings import finding_values

__all__ = ["render_explained_json", "render_explained_text", "render_status_json", "render_status_text"]

if TYPE_CHECKING:
    from rich.console import Console


def render_status_text(status: ProfileStatus, *, width: int = 120) -> str:
    """The status as plain text.

    Args:
        status: What to show.
        width: Columns of the terminal; tables fold to it.
    """
    console = _console(width)
    console.print(f"Profile status: {status.verdict.upper()}", style="bold")
    console.print(f"  {' + '.join(status.sources)}", soft_wrap=True)
    _print_records(console, status)
    _print_engines(console, status)
    _print_clocks(console, status)
    _print_join(console, status)
    _print_overheads(console, "Hidden work", status.overheads)
    _print_overheads(console, "Hidden work, as the runtime counted it", status.explained)
    console.print(f"\nFindings: {len(status.findings) or 'none'}")
    for finding in status.findings:
        console.print(f"  {str(finding.severity).upper():<8}{finding.message} [{finding.code}]", soft_wrap=True)
    return _text(console)


def render_explained_text(explained: ExplainedOverheads, *, width: int = 120) -> str:
    """What a runtime counted, as plain text, folded to a number of columns."""
    console = _console(width)
    _print(console, f"As the runtime counted it: {explained.source}")
    _print_overheads(console, "Hidden work", explained.explained)
    if not explained.explained:
        _print(console, "\nHidden work: none")
    return _text(console)


def render_explained_json(explained: ExplainedOverheads) -> bytes:
    """The same as one JSON object, schema `rblnpb.explained/1`; keys as in `rblnpb.status/1`, without a verdict."""
    value = {
        "schema": "rblnpb.explained/1",
        "sources": [explained.source],
        "explained": [asdict(total) for total in explained.explained],
        "findings": finding_values(explained.findings),
    }
    return orjson.dumps(exact(value), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _console(width: int) -> Console:
    from rich.console import Console

    return Console(file=io.StringIO(), width=width, color_system=None, highlight=False, markup=False, emoji=False)


def _text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


def _table(*columns: str, numbers: int) -> object:
    """A table whose last `numbers` columns are right-aligned."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place >= len(columns) - numbers else "left")
    return table


def _print_records(console: object, status: ProfileStatus) -> None:
    if not status.records:
        return
    _print(console, "")
    table = _table("Records", "read", "dropped", numbers=2)
    for record in status.records:
        bound = "at least " if record.is_lower_bound and record.dropped else ""
        _row(table, record.kind, format_count(record.read), f"{bound}{format_count(record.dropped)}")
    _print(console, table)


def _print_engines(console: object, status: ProfileStatus) -> None:
    if not status.engines:
        return
    origin = min(engine.first_ns for engine in status.engines)
    several = len({engine.device for engine in status.engines}) > 1
    names = Counter((engine.device, engine.name) for engine in status.engines)
    _print(console, "")
    table = _table("Engine", "work", "slices", "first", "last", "busy", "sum", numbers=5)
    for engine in status.engines:
        name = f"{engine.device} {engine.name}" if several else engine.name
        # A lane of a trace may hold rows of several kinds.
        name += f" ({engine.kind})" if names[engine.device, engine.name] > 1 else ""
        times = (engine.first_ns - origin, engine.last_ns - origin, engine.busy_ns, engine.sum_ns)
        _row(table, name, "yes" if engine.is_work else "no", format_count(engine.slice_count), *map(format_ns, times))
    _print(console, table)
    share = f" ({100 * status.busy_ns / status.span_ns:.1f} %)" if status.span_ns else ""
    _print(
        console, f"  Device busy {format_ns(status.busy_ns)} of {format_ns(status.span_ns)}{share}, counted from the first slice"
    )


def _print_clocks(console: object, status: ProfileStatus) -> None:
    if not status.clocks:
        return
    _print(console, "")
    table = _table("Clock", "snapshots", "residual", "uncertainty", "drift (ppm)", "steps", "extrapolated", numbers=6)
    for clock in status.clocks:
        _row(
            table,
            clock.name,
            format_count(clock.snapshot_count),
            format_ns(clock.residual_ns),
            format_ns(clock.uncertainty_ns),
            f"{clock.drift_ppm:+.3f}",
            format_count(clock.step_count),
            format_count(clock.extrapolated_count),
        )
    _print(console, table)


def _print_join(console: object, status: ProfileStatus) -> None:
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
        on_ops = f"{status.slices_attributed:,} of {total:,} slices of work, {format_ns(status.attributed_ns)}"
        lines.append(f"  On ops: {on_ops} (unattributed: {format_ns(status.unattributed_ns)})")
        lines.append(f"  Out of the host trace's window: {status.out_of_window:,} slices")
    words = {True: "yes", False: "no", None: "not known"}
    lines.append(f"  Recording serialised the runs: {words[status.is_serialised]}")
    _print(console, "\n" + "\n".join(lines))


_PARTS_SHOWN: Final = 10


def _print_overheads(console: object, title: str, totals: tuple[OverheadTotal, ...]) -> None:
    """A row a kind, below it what it is made of."""
    if not totals:
        return
    _print(console, "")
    table = _table(title, "count", "bytes", "time", "first at", numbers=4)
    table.columns[-1].justify = "left"  # type: ignore[attr-defined]  # as _row
    for total in totals:
        _row(table, total.kind, *_sums(total), "")
        for mark, parts in (("", total.ops), ("why: ", total.reasons)):
            for part in parts[:_PARTS_SHOWN]:
                _row(table, f"  {mark}{part.name}", *_sums(part), part.place)
            if len(parts) > _PARTS_SHOWN:
                _row(table, f"  {mark}{len(parts) - _PARTS_SHOWN:,} more", *[""] * 4)
    _print(console, table)


def _sums(of: OverheadTotal | OverheadPart) -> tuple[str, str, str]:
    size = "" if of.size_bytes is None else format_bytes(of.size_bytes)
    return format_count(of.count), size, "" if of.duration_ns is None else format_ns(of.duration_ns)


def _row(table: object, *cells: str) -> None:
    table.add_row(*cells)  # type: ignore[attr-defined]  # rich is imported where it is used, not for its types


def _print(console: object, what: object) -> None:
    console.print(what)  # type: ignore[attr-defined]  # as _row


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
    return orjson.dumps(exact(value), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
