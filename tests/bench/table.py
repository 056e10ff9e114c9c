"""The table of a run, in Markdown whose columns also line up in a terminal."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from tests.bench import baseline
from tests.bench.case import LARGE, Case
from tests.bench.measure import Measured

HEADINGS = ("work", "n", "ns each", "bar", "met", "the plain way", "plain ns", "plain / ours", "C ns", "ours / C", "peak MiB",
            "growth", "besides")  # fmt: skip
UNITS = {"ns": "ns", "bytes": "B", "peak MiB": "MiB", "CPU s": "CPU s", "of plain": "x plain"}
BEGIN, END = "<!-- figures: begin; `python -m tests.bench --docs` writes them -->", "<!-- figures: end -->"


@dataclass(frozen=True)
class CaseRun:
    """What was measured of a case.

    Attributes:
        case: Which.
        runs: By ascending size.
        aside: At a smaller size, where the plain way is too slow for those; None: it is not.
    """

    case: Case
    runs: Sequence[Measured]
    aside: Measured | None = None


def table(case_runs: Sequence[CaseRun]) -> str:
    """A row for each case and size but the smallest, which serves to tell the growth."""
    rows: list[tuple[str, ...]] = [HEADINGS]
    for one in case_runs:
        rows += [_row(run, one) for run in one.runs[1:] or one.runs]
    return _aligned(rows)


def _row(run: Measured, of: CaseRun) -> tuple[str, ...]:
    case, bar = run.case, _bar(run)
    met = "" if not bar else "yes" if not (missed := _missed(run, bar)) else f"no: {missed}"
    smaller = [one for one in of.runs if one.size <= run.size]
    beside = next((one for one in [*reversed(smaller), of.aside] if one and "plain" in one.seconds), None)
    at = "" if beside is None or beside is run else f" (n = {beside.size:,})"
    ratio = beside.ratio("plain") if beside else None
    ratio_c = run.ratio("c")
    before = smaller[-2] if len(smaller) > 1 else None
    besides = ", ".join(f"{_number(value)} {name}" for name, value in run.figures.items())
    return (
        case.what,
        "" if case.sizes == (1,) else f"{run.size:,}",
        _time(run.ns("ours")),
        ", ".join(f"<= {_number(limit)} {UNITS[name]}" for name, limit in bar.items()),
        met,
        case.plain_way if beside else "",
        _time(beside.ns("plain") if beside else None) + at,
        _number(ratio),
        _time(run.ns("c")),
        _number(1 / ratio_c if ratio_c else None),
        f"{'' if run.is_whole else '+'}{_number(run.peak_mib)}",
        _number((run.ns("ours") or 0) / (before.ns("ours") or 1) if before else None),
        besides,
    )


def _bar(run: Measured) -> Mapping[str, float]:
    if run.size >= LARGE:
        return run.case.large_bar or {}
    return run.case.bar if run.size >= max(run.case.sizes) else {}


def _missed(run: Measured, bar: Mapping[str, float]) -> str:
    """The figures that are above the bar."""
    ratio = run.ratio("plain")
    values = {
        "ns": run.ns("ours"),
        "CPU s": run.cpu_s("ours"),
        "peak MiB": run.peak_mib,
        "of plain": 1 / ratio if ratio else None,
        **run.figures,
    }
    told = [(value, name) for name, limit in bar.items() if (value := values.get(name)) is None or value > limit]
    return ", ".join(f"{_number(value)} {UNITS[name]}" for value, name in told)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _time(ns: float | None) -> str:
    return "" if ns is None else f"{_number(ns / 1e6)} ms" if ns >= 1e6 else _number(ns)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    # What holds a figure stands to the right.
    is_text = [heading in {"work", "bar", "met", "the plain way", "besides"} for heading in HEADINGS]
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEADINGS))]
    lines = [
        " | ".join(cell.ljust(width) if left else cell.rjust(width) for cell, width, left in zip(row, widths, is_text, strict=True))
        for row in rows
    ]
    rule = "|".join("-" * (width + 1) + ("-" if left else ":") for width, left in zip(widths, is_text, strict=True))
    return "\n".join(f"| {line} |" if at else f"| {line} |\n|{rule}|" for at, line in enumerate(lines))


def machine() -> str:
    """What ran it, in one line."""
    model = next(
        (line.partition(":")[2].strip() for line in _text("/proc/cpuinfo").splitlines() if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    memory = next((int(line.split()[1]) for line in _text("/proc/meminfo").splitlines() if line.startswith("MemTotal")), 0)
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "protobuf", "msgspec", "orjson", "zstandard", "perfetto"))
    return (
        f"{os.cpu_count()} x {model}, {memory / 1024**2:.0f} GiB; {platform.system()}; Python {platform.python_version()}, "
        f"{libraries}; C: {_compiler()}"
    )


def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8") if Path(path).exists() else ""


def _compiler() -> str:
    program = baseline.compiler()
    if program is None:
        return "no compiler was found"
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return f"{told.splitlines()[0]}, {' '.join(baseline.FLAGS[:1])}"


def put_into(document: str, figures: str) -> str:
    """A page with these figures between its two marker lines.

    Raises:
        ValueError: The page does not have both.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"there are no two lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{figures}\n\n{END}{after}"
