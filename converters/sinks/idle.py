"""Busy and idle time, and why: text for people, JSON and CSV for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from rblnpb.profile import ENGINE_NAMES
from rblnpb.wording import counted

from ..results import CauseTime, DeviceBounds, GapPart, IdleReport, Occupancy
from ._csv_text import csv_parts
from ._gap_rows import gap_columns, gap_rows, gap_texts
from ._json_values import json_report
from ._text_tables import TextReport
from ._units import format_count, format_ns, format_part
from .bounds import bounds_values, whole_lines
from .findings import finding_values

__all__ = ["gap_columns", "gap_rows", "render_idle_csv", "render_idle_json", "render_idle_text"]

_NAMES_SHOWN: Final = 3
_PROGRAMS_SHOWN: Final = 10
_LONGEST_NAME: Final = 60


def render_idle_text(report: IdleReport, bounds: DeviceBounds | None = None, *, width: int = 120) -> str:
    """The report as plain text.

    Args:
        report: What to show.
        bounds: What bounds the device; None, or bounds of a device that counted nothing: not shown.
        width: Columns of the terminal; tables fold to it.
    """
    text = TextReport(width)
    whole, launched = report.all, report.launched_in_window
    share = f" ({format_part(whole.idle_ns, whole.span_ns)})" if whole.span_ns else ""
    text.line(f"Device idle: {format_ns(whole.idle_ns)} of {format_ns(whole.span_ns)}{share}")
    text.line(f"  {' + '.join(report.sources)}\n")
    text.table(("", *_OCCUPANCY), _occupancies(report, whole, launched))
    if report.causes:
        text.line()
        idle_ns = sum(cause.idle_ns for cause in report.causes)
        of_what = "Cause" if report.by == "device" else "Cause, of all engines"
        text.table((of_what, "most of it", "idle", "share", "±", "gaps"), _causes(report.causes, idle_ns), texts=2)
        if any(device.uncertainty_ns is None for device in report.devices):
            text.line("  ± is not known: the input does not tell how well the clocks of host and device were placed")
    if report.programs and any(program.call_count for program in report.programs):
        text.line()
        text.table(("Inside the calls of", "calls", *_OCCUPANCY[:4]), _programs(report))
        for device in report.devices:
            between = f"{format_ns(device.between_calls_ns)} between calls, {format_ns(device.inside_calls_ns)} inside"
            text.line(f"  {device.device}: of {format_ns(device.all.idle_ns)} idle, {between}")
    if bounds is not None and bounds.rates:
        text.line("\n" + "\n".join(whole_lines(bounds)))
    if report.gaps:
        text.line(f"\nLongest gaps: {len(report.gaps):,} of {report.gap_count:,}")
        text.table(("from", "for", "±", "between, and why"), _gaps(report), texts=4)
    text.findings(report.findings)
    return text.text()


_KIND_NAMES: Final = {kind.name.lower(): name for kind, name in ENGINE_NAMES.items()}
_OCCUPANCY: Final = ("busy", "busy %", "idle", "span", "sum", "concurrency", "slices")


def _cells(one: Occupancy) -> list[str]:
    concurrency = f"{one.sum_ns / one.busy_ns:.2f}" if one.busy_ns else ""
    times = (format_ns(one.idle_ns), format_ns(one.span_ns), format_ns(one.sum_ns))
    return [format_ns(one.busy_ns), format_part(one.busy_ns, one.span_ns), *times, concurrency, format_count(one.slice_count)]


def _occupancies(report: IdleReport, whole: Occupancy, launched: Occupancy) -> Iterator[list[str]]:
    several = len(report.devices) > 1
    if several or not report.devices:
        yield ["all devices", *_cells(whole)]
    for device in report.devices:
        yield [device.device, *_cells(device.all)]
        if device.launched_in_window != device.all:
            yield ["  launched in the trace", *_cells(device.launched_in_window)]
        for kind in report.kinds:
            if kind.device == device.device:
                count = f" ({kind.engine_count} engines)" if kind.engine_count > 1 else ""
                yield [f"  {_KIND_NAMES.get(kind.kind, kind.kind)}{count}", *_cells(kind.all)]
    if several and launched != whole:
        yield ["all devices, launched in the trace", *_cells(launched)]


def _causes(causes: Sequence[CauseTime], idle_ns: int) -> Iterator[list[str]]:
    for cause in sorted(causes, key=lambda one: -one.idle_ns):
        border = "" if not cause.uncertainty_ns else format_ns(cause.uncertainty_ns)
        numbers = [format_ns(cause.idle_ns), format_part(cause.idle_ns, idle_ns), border, format_count(cause.gap_count)]
        yield [cause.cause, _most(cause), *numbers]
        for step, step_ns in cause.steps.items():
            yield [f"  {step}", "", format_ns(step_ns), format_part(step_ns, idle_ns), "", ""]
    yield ["all", "", format_ns(idle_ns), "100.0 %" if idle_ns else "", "", ""]


def _most(cause: CauseTime) -> str:
    nothing = {"waiting-for-host": "in no op", "short": ""}.get(cause.cause, "not known")
    shown = [f"{one.name or nothing} {format_ns(one.idle_ns)}" for one in cause.names[:_NAMES_SHOWN] if one.name or nothing]
    return ", ".join(shown)


def _programs(report: IdleReport) -> Iterator[list[str]]:
    several = len(report.devices) > 1
    for program in report.programs[:_PROGRAMS_SHOWN]:
        name = " ".join(part for part in (program.program, program.compile_id) if part)
        yield [f"{name} on {program.device}" if several else name, format_count(program.call_count), *_cells(program.all)[:4]]
    rest = report.programs[_PROGRAMS_SHOWN:]
    if rest:
        yield [f"{len(rest):,} more", format_count(sum(program.call_count for program in rest)), *[""] * 4]


def _gaps(report: IdleReport) -> Iterator[list[str]]:
    """Each gap, and below it its parts, the longest first; moments count from the first work."""
    first_ns = min(device.first_ns for device in report.devices)
    several = len(report.devices) > 1
    for gap in report.gaps:
        where = " ".join(part for part in (gap.device if several else "", gap.engine) if part)
        place = f"{_short(gap.after.name)} .. {_short(gap.before.name)}" + (f" on {where}" if where else "")
        place += f", inside {gap.inside_program}" if gap.inside_program is not None else ""
        yield [f"+{format_ns(gap.start_ns - first_ns)}", format_ns(gap.duration_ns), "", place]
        for part in gap.parts:
            border = format_ns(part.uncertainty_ns) if part.uncertainty_ns else ""
            evidence = _evidence(part)
            yield ["", format_ns(part.duration_ns), border, f"  {part.cause}{': ' if evidence else ''}{evidence}"]


def _short(name: str) -> str:
    """A name of a kernel may be its whole signature."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."


def _evidence(part: GapPart) -> str:
    """The evidence in words."""
    facts = part.evidence
    said = []
    if part.cause == "waiting-for-host":
        said.append(f"{facts['op']} {format_ns(_int(facts['op_ns']))}" if "op" in facts else "no op ran")
    said += [str(facts[key]) for key in ("activity", "reason", "engine", "predecessor", "place") if key in facts]
    if part.cause == "unknown" and "launching_op" in facts:
        said.append(str(facts["launching_op"]))
    frames, steps = facts.get("python_frames"), facts.get("steps_ns")
    if isinstance(frames, tuple) and frames:
        # A function without a file of its own is told together with the line that called it.
        until = next((at for at, frame in enumerate(frames) if not frame.startswith("<")), len(frames) - 1)
        said.append(f"in {' <- '.join(frames[: until + 1])}")
    if isinstance(steps, Mapping):
        said.append(", ".join(f"{step} {format_ns(_int(step_ns))}" if len(steps) > 1 else step for step, step_ns in steps.items()))
    if "lost_count" in facts:
        said.append(counted(_int(facts["lost_count"]), "record"))
    if "tid" in facts and part.cause != "submission":
        said.append(f"thread {facts['tid']}")
    return "; ".join(said)


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value


def render_idle_json(report: IdleReport, bounds: DeviceBounds | None = None) -> Iterator[bytes]:
    """One JSON object, schema `rblnpb.idle/1`, in parts: integers in ns with the unit in the key, stable key order."""
    value = {
        "schema": "rblnpb.idle/1",
        "sources": report.sources,
        "by": report.by,
        "min_gap_ns": report.min_gap_ns,
        "all": asdict(report.all),
        "launched_in_window": asdict(report.launched_in_window),
        "devices": [{**_flat(device), "causes": _causes_json(device.causes)} for device in report.devices],
        "engine_kinds": [_flat(kind) for kind in report.kinds],
        "engines": [{**_flat(engine), "causes": _causes_json(engine.causes)} for engine in report.engines],
        "programs": [_flat(program) for program in report.programs],
        "causes": _causes_json(report.causes),
        "bounds": None if bounds is None else bounds_values(bounds),
        "gap_count": report.gap_count,
        "findings": finding_values(report.findings),
    }
    # Gaps are many, and close the object.
    yield json_report(value).removesuffix(b"\n}\n") + b',\n  "gaps": ['
    yield from gap_texts(report.gaps)
    yield (b"\n  ]" if report.gaps else b"]") + b"\n}\n"


def _flat(row: object) -> dict[str, object]:
    """A row with its occupancy in the midst of its own keys."""
    values: dict[str, object] = {}
    for key, value in asdict(row).items():  # type: ignore[call-overload]  # one of several dataclasses
        values |= value if key == "all" else {key: value}
    return values


def _causes_json(causes: Iterable[CauseTime]) -> dict[str, object]:
    return {
        cause.cause: {
            "idle_ns": cause.idle_ns,
            "count": cause.gap_count,
            "uncertainty_ns": cause.uncertainty_ns,
            "steps_ns": dict(cause.steps),
            "names": [asdict(name) for name in cause.names if name.name or cause.cause == "waiting-for-host"],
        }
        for cause in causes
    }


def render_idle_csv(report: IdleReport) -> list[str]:
    """A header and a line a gap, in parts: place, main cause with the evidence, and times of causes, which add up to the length."""
    return csv_parts(gap_columns(), lambda: gap_rows(report.gaps))
