"""Advice, and what the host spent its time on: text and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Final

from rblnpb.wording import counted

from ..results import HOST_CLASSES, Advice, AdviceReport, HostShare, HostSplit
from ._json_values import json_report
from ._text_tables import TextReport
from ._units import format_ns, format_part
from .findings import finding_values

__all__ = ["advice_rows", "render_advice_json", "render_advice_text"]

_THREADS_SHOWN: Final = 10
_CLASSES_SHOWN: Final = 4


def render_advice_text(report: AdviceReport, *, width: int = 120) -> str:
    """Advice as plain text, the dearest first, then the host's time.

    Args:
        report: What to show.
        width: Columns of the terminal; long sentences and tables fold to it.
    """
    text = TextReport(width)
    count = len(report.advice)
    text.line(f"Advice: {counted(count, 'thing') if count else 'nothing'} to look at")
    text.line(f"  {' + '.join(report.sources)}")
    text.line(f"  window {format_ns(report.window_ns)}; costs below {format_ns(report.threshold_ns)} are not worth advice")
    for number, one in enumerate(report.advice, start=1):
        _print_advice(text, number, one)
    if report.below_threshold:
        text.line("\nBelow the threshold:")
        for one in report.below_threshold:
            cost = "" if one.cost_ns is None else f"{format_ns(one.cost_ns)}, "
            text.line(f"  {cost}{_times(one.count)}: {one.title} [{one.code}]")
    if report.host_split is not None:
        _print_split(text, report.host_split)
    text.findings(report.findings)
    return text.text()


def _print_advice(text: TextReport, number: int, one: Advice) -> None:
    cost = "cost not known" if one.cost_ns is None else f"{format_ns(one.cost_ns)} of the {one.side}"
    text.line(f"\n{number}. {cost}, {_times(one.count)}: {one.title} [{one.code}]")
    for mark, said in (("at ", one.place), ("", one.evidence), ("-> ", one.advice)):
        if said:
            text.line(f"{mark}{said}", indent=3, folds=True)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _print_split(text: TextReport, split: HostSplit) -> None:
    text.line(
        f"\nHost time: {format_ns(split.total_ns)} in operators, ranges and calls, in a window of {format_ns(split.window_ns)}"
    )
    rows = [
        [name, format_ns(split.by_class[name]), format_part(split.by_class[name], split.total_ns), meaning]
        for name, meaning in HOST_CLASSES.items()
        if split.by_class[name]
    ]
    text.table(("Spent on", "time", "share", "what it is"), rows, remark=True)
    if len(split.threads) > 1:
        text.line()
        text.table(("Thread", "time", "spent on"), map(_thread_cells, split.threads[:_THREADS_SHOWN]), remark=True)
        if len(split.threads) > _THREADS_SHOWN:
            text.line(f"  {counted(len(split.threads) - _THREADS_SHOWN, 'more thread')}")


def _thread_cells(share: HostShare) -> list[str]:
    largest = sorted(share.by_class.items(), key=lambda part: -part[1])
    parts = [f"{name} {format_part(time_ns, share.total_ns)}" for name, time_ns in largest[:_CLASSES_SHOWN] if time_ns > 0]
    return [f"{share.tid} {share.name}".strip(), format_ns(share.total_ns), ", ".join(parts)]


def render_advice_json(report: AdviceReport) -> bytes:
    """One JSON object, schema `rblnpb.advise/1`: integers in ns, units in the keys, stable key order."""
    split = report.host_split
    value = {
        "schema": "rblnpb.advise/1",
        "sources": report.sources,
        "window_ns": report.window_ns,
        "threshold_ns": report.threshold_ns,
        "advice": _values(report.advice),
        "below_threshold": _values(report.below_threshold),
        "host_split": None if split is None else _split_values(split),
        "findings": finding_values(report.findings),
    }
    return json_report(value)


def advice_rows(report: AdviceReport) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Advice as rows of a table, worth it or not, with the names of its columns."""
    columns = ("part", *(one.name for one in fields(Advice)))
    parts = (("advice", report.advice), ("below-threshold", report.below_threshold))
    return columns, [(part, *asdict(one).values()) for part, advice in parts for one in advice]


def _values(advice: Sequence[Advice]) -> list[dict[str, object]]:
    # The field names of these values are the keys of the schema.
    return [asdict(one) for one in advice]


def _split_values(split: HostSplit) -> dict[str, object]:
    return {
        "window_ns": split.window_ns,
        "total_ns": split.total_ns,
        **_class_values(split.by_class),
        "threads": [
            {"pid": share.pid, "tid": share.tid, "name": share.name, "total_ns": share.total_ns, **_class_values(share.by_class)}
            for share in split.threads
        ],
    }


def _class_values(by_class: Mapping[str, int]) -> dict[str, int]:
    return {f"{name}_ns": time_ns for name, time_ns in by_class.items()}
