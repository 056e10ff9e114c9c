"""The generation report of one recording: what a runtime says of the profile that it has just written.

What the vendor's report looks like is not public; only its title is. Values first, text after.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rblnpb.clock import HOST_REALTIME, ClockMap, clock_maps
from rblnpb.columns import DeviceSlices, WorkloadSlices
from rblnpb.display import engine_rows, shown_engines
from rblnpb.profile import KINDS, Engine, LossReason, Profile
from rblnpb.record_times import spans_by_clock
from rblnpb.row_order import order_by

__all__ = ["TITLE", "ClockReport", "EngineReport", "GenerationReport", "KindReport", "generation_report", "render"]

TITLE = "RBLN Profiler Generation Status Report"

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class KindReport:
    """Records of one kind: its name, how many were kept, and how many dropped as far as is known."""

    kind: str
    kept: int
    dropped: int


@dataclass(frozen=True)
class EngineReport:
    """Slices of one engine.

    Attributes:
        engine_id, name, chiplet: Which; chiplet None = the device as a whole.
        slices: How many.
        first_ns, last_ns: Least start and greatest end, host monotonic clock; None when its clock was never read.
        busy_ns: Time in which at least one slice ran; None likewise.
    """

    engine_id: int
    name: str
    chiplet: int | None
    slices: int
    first_ns: int | None
    last_ns: int | None
    busy_ns: int | None


@dataclass(frozen=True)
class ClockReport:
    """How well one clock is known.

    Attributes:
        name: Of the clock.
        snapshots: Readings against the host's monotonic clock.
        uncertainty_ns: Half of the longest reading; None when the clock cannot be placed.
        residual_ns: Largest distance of a reading from the line between its neighbours; None likewise.
        drift_ppm: Measured rate against the nominal one; None likewise.
        steps: Readings that showed that it had been set.
    """

    name: str
    snapshots: int
    uncertainty_ns: int | None
    residual_ns: int | None
    drift_ppm: float | None
    steps: int


@dataclass(frozen=True)
class GenerationReport:
    """What was recorded.

    Attributes:
        file_name: Where it is.
        npu, devices: Kind and number of devices.
        duration_ns: From start to end of the recording; None when it was not ended properly.
        is_drained: Whether the host waited for each run; None = not known.
        kinds: Kinds that have records or losses, in schema order.
        engines: Engines that have slices, device by device in display order; last, as engine 0, those that are not defined.
        clocks: Defined clocks and real time.
        losses: (reason, count) of what was dropped, by reason.
    """

    file_name: str
    npu: str
    devices: int
    duration_ns: int | None
    is_drained: bool | None
    kinds: tuple[KindReport, ...]
    engines: tuple[EngineReport, ...]
    clocks: tuple[ClockReport, ...]
    losses: tuple[tuple[str, int], ...]


def generation_report(profile: Profile, file_name: str) -> GenerationReport:
    """The report of a profile.

    Args:
        profile: The recording.
        file_name: As it is to be shown.
    """
    session = profile.session
    has_times = bool(session.started_monotonic_ns and session.ended_monotonic_ns)
    kinds = (KindReport(table.label, len(profile.table(kind)), profile.dropped(kind)) for kind, table in KINDS.items())
    by_reason: dict[str, int] = {}
    for loss in profile.losses:
        reason = LossReason(loss.reason).name.lower().replace("_", " ")
        by_reason[reason] = by_reason.get(reason, 0) + loss.count
    maps = clock_maps(profile.clocks, profile.clock_snapshots)
    return GenerationReport(
        file_name=file_name,
        npu=session.npu,
        devices=len(profile.devices),
        duration_ns=session.ended_monotonic_ns - session.started_monotonic_ns if has_times else None,
        is_drained=session.drained_after_each_run,
        kinds=tuple(kind for kind in kinds if kind.kept or kind.dropped),
        engines=tuple(_engines(profile, maps)),
        clocks=tuple(_clocks(profile, maps)),
        losses=tuple(by_reason.items()),
    )


def _engines(profile: Profile, maps: dict[int, ClockMap]) -> Iterable[EngineReport]:
    """Of the device slices and of the frames; a single sort by engine, then one union each."""
    tables: tuple[DeviceSlices | WorkloadSlices, ...] = (profile.device_slices, profile.workload_slices)
    engine_id = np.concatenate([table.engine_id for table in tables])
    start_ns, duration_ns = np.zeros((2, len(engine_id)), np.int64)
    is_placed = np.zeros(len(engine_id), np.bool_)
    for table, first in zip(tables, (0, len(tables[0])), strict=True):
        for rows, start, duration in spans_by_clock(table, maps):
            start_ns[first + rows], duration_ns[first + rows], is_placed[first + rows] = start, duration, True
    engines = shown_engines(profile)
    place = engine_rows(engines, engine_id)
    order = order_by(place)
    for row, rows in enumerate(np.split(order, np.searchsorted(place[order], np.arange(1, len(engines))))):
        if len(rows):
            yield _engine(engines[row], start_ns[rows], duration_ns[rows], is_placed=bool(is_placed[rows].all()))


def _engine(engine: Engine, start_ns: Int64, duration_ns: Int64, *, is_placed: bool) -> EngineReport:
    if not is_placed:
        return EngineReport(engine.engine_id, engine.name, engine.chiplet, len(start_ns), None, None, None)
    order = order_by(start_ns)
    end_ns = np.maximum.accumulate((start_ns + duration_ns)[order])
    fresh_ns = end_ns - np.maximum(start_ns[order], np.concatenate([start_ns[order[:1]], end_ns[:-1]]))
    first_ns, last_ns, busy_ns = int(start_ns.min()), int(end_ns[-1]), int(np.maximum(fresh_ns, 0).sum())
    return EngineReport(engine.engine_id, engine.name, engine.chiplet, len(start_ns), first_ns, last_ns, busy_ns)


def _clocks(profile: Profile, maps: dict[int, ClockMap]) -> Iterable[ClockReport]:
    real_time = profile.clock(HOST_REALTIME)
    for clock in (*profile.clocks, *((real_time,) if real_time else ())):
        count = sum(snapshot.clock_id == clock.clock_id for snapshot in profile.clock_snapshots)
        clock_map = maps.get(clock.clock_id)
        if clock_map is None:
            yield ClockReport(clock.name, count, None, None, None, 0)
        else:
            residual_ns = int(np.abs(clock_map.residual_ns).max())
            yield ClockReport(clock.name, count, clock_map.uncertainty_ns, residual_ns, clock_map.drift_ppm, clock_map.step_count)


def render(report: GenerationReport) -> str:
    """The report as plain text, lines separated by newlines, the file name last; engines of one name are one row.

    >>> print(render(GenerationReport("rbln_0.pb", "atom", 1, 1_500_000, True, (), (), (), ())))
    RBLN Profiler Generation Status Report
      npu        atom, 1 device
      recorded   0.001500000 s, drained after each run
      losses     none
    Saved: rbln_0.pb
    """
    drained = {None: "", True: ", drained after each run", False: ", not drained"}[report.is_drained]
    duration = "not ended properly" if report.duration_ns is None else f"{_seconds(report.duration_ns)} s"
    losses = ", ".join(f"{count:,} ({reason})" for reason, count in report.losses)
    lines = [TITLE]
    lines.append(f"  npu        {report.npu or 'unknown'}, {report.devices} device{'s' if report.devices != 1 else ''}")
    lines.append(f"  recorded   {duration}{drained}")
    lines.append(f"  losses     {losses or 'none'}")
    lines += [f"  clock      {_clock_text(clock)}" for clock in report.clocks]
    lines += _table(
        ("records", "kept", "dropped"),
        [(kind.kind.replace("_", " "), f"{kind.kept:,}", f"{kind.dropped:,}") for kind in report.kinds],
    )
    lines += _table(("engine", "slices", "busy ms", "first ms", "last ms"), _engine_rows(report.engines))
    return "\n".join([*lines, f"Saved: {report.file_name}"])


def _clock_text(clock: ClockReport) -> str:
    readings = f"{clock.name}: {clock.snapshots} reading{'s' if clock.snapshots != 1 else ''}"
    if clock.uncertainty_ns is None:
        return f"{readings}, cannot be placed"
    steps = f", set {clock.steps} times" if clock.steps else ""
    return f"{readings}, ±{clock.uncertainty_ns} ns, residual {clock.residual_ns} ns, drift {clock.drift_ppm:+.2f} ppm{steps}"


def _engine_rows(engines: Sequence[EngineReport]) -> list[tuple[str, ...]]:
    """One row for all chiplets of a name; first and last are from the start of the earliest slice of all."""
    groups: dict[str, list[EngineReport]] = {}
    for engine in engines:
        groups.setdefault(engine.name, []).append(engine)
    origin_ns = min((engine.first_ns for engine in engines if engine.first_ns is not None), default=0)
    rows: list[tuple[str, ...]] = []
    for name, members in groups.items():
        chiplets = [engine for engine in members if engine.chiplet is not None]
        label = f"{name} (x{len(members)})" if len(chiplets) > 1 else name
        times = [(e.busy_ns, e.first_ns, e.last_ns) for e in members]
        if any(busy is None or first is None or last is None for busy, first, last in times):
            spans = ("-", "-", "-")
        else:
            busy = sum(busy or 0 for busy, _, _ in times)
            first, last = min(first or 0 for _, first, _ in times), max(last or 0 for _, _, last in times)
            spans = (_milliseconds(busy), _milliseconds(first - origin_ns), _milliseconds(last - origin_ns))
        rows.append((label, f"{sum(engine.slices for engine in members):,}", *spans))
    return rows


def _seconds(time_ns: int) -> str:
    return f"{time_ns // 10**9:,}.{time_ns % 10**9:09d}"


def _milliseconds(time_ns: int) -> str:
    return f"{time_ns // 10**6:,}.{time_ns % 10**6:06d}"


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Aligned lines, the first column to the left; none without rows."""
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return [
        "  "
        + "  ".join(
            cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (header, *rows)
    ]
