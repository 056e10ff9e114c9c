"""A timeline of a stretch of time: what overlaps it, what launched that, and nothing else.

Joins are made before, with all that the inputs hold, so that cutting loses no link: the op that launched a kernel of the stretch
stays, whenever it ran.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Final, TypeVar

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import Finding, Severity
from rblnpb.row_order import order_by
from rblnpb.wording import counted

from ..host_excerpt import excerpt
from ..nesting import partners
from ..timeline import Bool, HostTrace, Int64, RecordCount, SliceDependencies, Timeline

__all__ = ["beginning_ns", "within"]

_T = TypeVar("_T")
_EARLIEST, _LATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def beginning_ns(timeline: Timeline) -> int | None:
    """The first time of a timeline, trace clock: of its slices, launches, samples, or events of its host; None without any."""
    columns = [timeline.slices.start_ns, timeline.frames.start_ns, timeline.runtime.start_ns, timeline.launches.start_ns]
    times = [int(column.min()) for column in (*columns, timeline.counters.time_ns) if len(column)]
    of_host = None if timeline.host is None else timeline.host.first_ns()
    return min(times if of_host is None else [*times, of_host], default=None)


def within(timeline: Timeline, start_ns: int | None, end_ns: int | None, *, zero_ns: int = 0) -> Timeline:
    """What of a timeline overlaps a stretch of time.

    Slices that reach into it stay whole. Launches stay that fall into it or launched a slice that stays, and so do the ops of both.
    Metadata and losses stay. Of a flow of the host trace either all events stay or none.

    Args:
        timeline: Merged.
        start_ns, end_ns: Trace clock; the end is not in it. None: from the beginning; to the end.
        zero_ns: What the times of its findings count from.

    Returns:
        A timeline whose finding `window` says what is left of it, and whose counts are of that; `window-empty` where nothing is.
    """
    stretch = _Stretch(_EARLIEST if start_ns is None else start_ns, _LATEST if end_ns is None else end_ns)
    kept = {
        name: stretch.overlaps(table.start_ns, table.duration_ns)
        for name, table in (("slices", timeline.slices), ("frames", timeline.frames), ("runtime", timeline.runtime))
    }
    launches = stretch.has(timeline.launches.start_ns)
    for name, mask in kept.items():
        launch = getattr(timeline, name).launch[mask]
        launches[launch[launch >= 0]] = True
    cut = replace(
        timeline,
        slices=timeline.slices.take(np.flatnonzero(kept["slices"])),
        frames=timeline.frames.take(np.flatnonzero(kept["frames"])),
        runtime=_cut(timeline.runtime, kept["runtime"]),
        launches=_cut(timeline.launches, launches),
        dependencies=_both_kept(timeline.dependencies, kept["slices"]),
        counters=_cut(timeline.counters, stretch.has(timeline.counters.time_ns)),
        overheads=_cut(timeline.overheads, stretch.has(timeline.overheads.start_ns)),
    )
    cut = _renumbered(cut, "launch", ("slices", "frames", "runtime"), _rows_after(launches))
    if timeline.host is not None:
        cut = _with_host(cut, timeline.host, stretch)
    # What a reader says of the part of a file that it read is not what is left of that.
    findings = (*(one for one in cut.findings if one.code != "window"), *_told(timeline, cut, stretch, zero_ns))
    return replace(cut, findings=findings, counts=_counts(cut))


@dataclass(frozen=True)
class _Stretch:
    """A stretch of time, trace clock; the end is not in it."""

    start_ns: int
    end_ns: int

    def has(self, time_ns: Int64) -> Bool:
        """bool[n]; which moments lie in it; ABSENT never does, unless all of time does."""
        return (time_ns >= self.start_ns) & (time_ns < self.end_ns)

    def overlaps(self, start_ns: Int64, duration_ns: Int64) -> Bool:
        """bool[n]; which slices have a part in it, or lie in it without a length."""
        return self.has(start_ns) | ((start_ns < self.start_ns) & (start_ns + duration_ns > self.start_ns))


def _rows_after(mask: Bool) -> Int64:
    """int64[n + 1]; where each row stands when only those of the mask are left; -1 = nowhere, as is what -1 leads to."""
    return np.append(np.where(mask, np.cumsum(mask) - 1, -1), -1)


def _cut(table: _T, mask: Bool) -> _T:
    """The rows of a table of columns that stay."""
    columns: dict[str, Any] = {one.name: getattr(table, one.name) for one in fields(table)}  # type: ignore[arg-type]  # a dataclass
    return type(table)(
        **{name: values.take(mask) if hasattr(values, "render") else values[mask] for name, values in columns.items()}
    )


def _renumbered(timeline: Timeline, column: str, tables: tuple[str, ...], row: Int64) -> Timeline:
    """The same, where a column of some tables leads to rows that have moved."""
    moved = {name: replace(getattr(timeline, name), **{column: row[getattr(getattr(timeline, name), column)]}) for name in tables}
    return replace(timeline, **moved)


def _both_kept(dependencies: SliceDependencies, kept: Bool) -> SliceDependencies:
    row = _rows_after(kept)
    before, after = row[dependencies.predecessor], row[dependencies.successor]
    both = (before >= 0) & (after >= 0)
    return SliceDependencies(before[both], after[both])


def _with_host(cut: Timeline, host: HostTrace, stretch: _Stretch) -> Timeline:
    """The timeline with those events of its host trace that stay."""
    kept = _host_mask(host, stretch)
    slices, frames = cut.slices, cut.frames
    for row in (slices.host_row, slices.event, frames.host_row, frames.event, cut.runtime.event, cut.launches.host_row):
        kept[row[row >= 0]] = True
    row = _rows_after(kept)
    cut = _renumbered(cut, "host_row", ("slices", "frames", "launches"), row)
    cut = _renumbered(cut, "event", ("slices", "frames", "runtime"), row)
    return replace(cut, host=excerpt(host, np.flatnonzero(kept)))


_FLOW: Final = b"stf"
_PAIRS: Final = (b"BE", b"be")


def _host_mask(host: HostTrace, stretch: _Stretch) -> Bool:
    """bool[n]; which events have a part in the stretch, or none in time."""
    events = host.events
    kept: Bool = (events.phase == ord("M")) | (events.start_ns == ABSENT)
    kept |= stretch.overlaps(events.start_ns, np.maximum(events.duration_ns, 0))
    names = (events.category, events.name, events.flow_id)
    for phases, keys in zip(_PAIRS, ((events.track,), (*names, events.track)), strict=True):
        rows = np.flatnonzero((events.phase == phases[0]) | (events.phase == phases[1]))
        is_begin = events.phase[rows] == phases[0]
        partner = partners(is_begin, events.start_ns[rows], *(key[rows] for key in keys))
        is_begin &= partner >= 0
        begin, end = rows[is_begin], rows[partner[is_begin]]
        kept[begin] = kept[end] = stretch.overlaps(events.start_ns[begin], events.start_ns[end] - events.start_ns[begin])
    rows = np.flatnonzero(np.isin(events.phase, list(_FLOW)))
    if len(rows):
        order = order_by(*(key[rows] for key in names))
        is_new = np.any([np.diff(key[rows][order], prepend=-1) != 0 for key in names], axis=0)
        is_whole = np.logical_and.reduceat(kept[rows][order], np.flatnonzero(is_new))
        kept[rows[order]] = is_whole[np.cumsum(is_new) - 1]
    return kept


def _counts(cut: Timeline) -> tuple[RecordCount, ...]:
    """The counts of records, of the kinds that are cut."""
    left = {
        "device_slices": len(cut.slices),
        "workload_slices": len(cut.frames),
        "launches": len(cut.launches),
        "host_slices": len(cut.runtime),
        "counters": len(cut.counters),
        "overheads": len(cut.overheads),
    }
    return tuple(replace(one, read=left.get(one.kind, one.read)) for one in cut.counts)


def _told(whole: Timeline, cut: Timeline, stretch: _Stretch, zero_ns: int) -> Iterator[Finding]:
    """What is left."""
    edges = ((stretch.start_ns, _EARLIEST, "the beginning"), (stretch.end_ns, _LATEST, "the end"))
    start, end = (name if edge == limit else f"{edge - zero_ns:,} ns" for edge, limit, name in edges)
    parts = [counted(len(cut.slices), "device slice")]
    timed = 0
    if cut.host is not None:
        timed = int((cut.host.events.phase != ord("M")).sum())
        parts.append(counted(timed, "host event"))
    message = f"only what overlaps the window from {start} to {end}: {' and '.join(parts)}"
    yield Finding(Severity.INFO, "window", message)
    if not any((len(cut.slices), len(cut.frames), len(cut.runtime), len(cut.launches), timed)):
        first_ns, last_ns = beginning_ns(whole), _last_ns(whole)
        covered = "" if first_ns is None else f"; what was read goes from {first_ns - zero_ns:,} to {last_ns - zero_ns:,} ns"
        yield Finding(Severity.WARNING, "window-empty", f"nothing lies in the window{covered}")


def _last_ns(timeline: Timeline) -> int:
    """The last time of a timeline, trace clock; 0 without any."""
    spans = [(table.start_ns, table.duration_ns) for table in (timeline.slices, timeline.frames, timeline.runtime)]
    if timeline.host is not None:
        events = timeline.host.events
        rows = np.flatnonzero((events.phase == ord("X")) & (events.start_ns != ABSENT))
        spans.append((events.start_ns[rows], np.maximum(events.duration_ns[rows], 0)))
    return max((int((start + duration).max()) for start, duration in spans if len(start)), default=0)
