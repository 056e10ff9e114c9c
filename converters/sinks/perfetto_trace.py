"""A timeline as Perfetto's own binary trace, for ui.perfetto.dev and for SQL.

Processes and threads of the host, devices with their chiplets and engines, each slice with what is known of it, and arrows between
them. Times are those of the timeline to the nanosecond, in Perfetto's `ts` too; where they are Unix times the trace says so, by a
reading of the clock, so that Perfetto relates them to other clocks.

Held are columns and one block of packets, whatever the size of the trace. The same timeline gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity
from rblnpb.perfetto_wire import field, number

from ..host_trace import UNIX_NS
from ..timeline import Timeline
from ._changes import changes
from ._device_lanes import device_lanes
from ._perfetto_arrows import FRAMES, SLICES, draw_arrows
from ._perfetto_device import add_device_tracks, device_tables
from ._perfetto_flows import Flows
from ._perfetto_host import HostSide, first_time, plan_host_side
from ._perfetto_host_packets import HostPackets
from ._perfetto_names import Interning
from ._perfetto_samples import counter_blocks
from ._perfetto_slices import SliceTable, slice_blocks
from ._perfetto_tracks import SEQUENCE_ID, TrackBook
from ._streams import SECOND_NS, ByteStream, Progress

__all__ = ["ByteStream", "Progress", "write_perfetto_trace"]

_REALTIME: Final = 1


def write_perfetto_trace(timeline: Timeline, file: ByteStream, *, progress: Progress | None = None) -> tuple[Finding, ...]:
    """Write a timeline as Perfetto's binary trace.

    Args:
        timeline: What to write; with or without a host trace.
        file: Written to in order, and left open.
        progress: See `Progress`.

    Returns:
        What could not go through as it was, counted.

    Raises:
        FormatError: The host's document cannot be read again.
        OSError: The stream does not take the bytes.
    """
    timeline = replace(timeline, runtime=timeline.runtime.unshown())
    plan = _plan(timeline)
    written = 0
    for count, packets in _blocks(timeline, plan):
        file.write(packets)
        written += count
        if progress is not None and count:
            progress(written, plan.event_count)
    return plan.findings + (plan.host.findings() if plan.host else ())


@dataclass(frozen=True, eq=False)
class _Plan:
    """Everything that is decided before the first packet is written."""

    host: HostPackets | None
    tables: tuple[SliceTable, ...]
    begins: tuple[Sequence[Flows], ...]
    ends: tuple[Sequence[Flows], ...]
    devices: dict[str, int]
    book: TrackBook
    texts: Interning
    first_ns: int
    shift_ns: int
    event_count: int
    findings: tuple[Finding, ...]


def _plan(timeline: Timeline) -> _Plan:
    host, counters = timeline.host, timeline.counters
    pids = [] if host is None else [track.pid for track in host.tracks]
    book, texts = TrackBook([*pids, *np.unique(timeline.runtime.pid).tolist()]), Interning()
    side = None if host is None else plan_host_side(host, book)
    shown = device_lanes(timeline)
    tracks = add_device_tracks(timeline, shown, book, dict(side.tracks.processes) if side else {})
    first_ns = _first(timeline, side)
    shift_ns = -(min(first_ns, 0) // SECOND_NS) * SECOND_NS
    tables = tuple(device_tables(timeline, tracks, texts, shift_ns))
    arrows = draw_arrows(timeline, side)
    packets = HostPackets(host, side, arrows, texts, book, shift_ns) if host is not None and side is not None else None
    sample_count = int(np.isfinite(counters.value).sum())
    return _Plan(
        host=packets,
        tables=tables,
        begins=(*arrows.begins[SLICES : FRAMES + 1], ()),
        ends=(*arrows.ends[SLICES : FRAMES + 1], ()),
        devices=tracks.devices,
        book=book,
        texts=texts,
        first_ns=first_ns,
        shift_ns=shift_ns,
        event_count=sum(len(table) for table in tables) + sample_count + (packets.event_count if packets else 0),
        findings=(
            *shown.findings,
            *arrows.findings,
            *_shifted(shift_ns),
            *changes({"counters-not-finite": len(counters) - sample_count}),
        ),
    )


def _first(timeline: Timeline, side: HostSide | None) -> int:
    """The least time that is shown; 0 where nothing is."""
    columns = [table.start_ns for table in (timeline.slices, timeline.frames, timeline.runtime)] + [timeline.counters.time_ns]
    times = [int(column.min()) for column in columns if len(column)]
    if timeline.host is not None and side is not None and (first := first_time(timeline.host, side.kind)) is not None:
        times.append(first)
    return min(times, default=0)


def _shifted(shift_ns: int) -> Iterator[Finding]:
    if shift_ns:
        yield Finding(Severity.INFO, "times-shifted", f"there are times before zero; all are {shift_ns} ns later now")


def _blocks(timeline: Timeline, plan: _Plan) -> Iterator[tuple[int, bytes | memoryview]]:
    """How many events each block has, and its packets: clock, names and tracks, host, devices, curves."""
    is_unix = plan.first_ns >= UNIX_NS
    names = plan.texts.packets(SEQUENCE_ID, number(58, _REALTIME) if is_unix else b"")
    yield 0, (_clock_reading(plan.first_ns) if is_unix else b"") + names + plan.book.take_packets()
    if plan.host:
        yield from plan.host.blocks()
    for table, begins, ends in zip(plan.tables, plan.begins, plan.ends, strict=True):
        yield from slice_blocks(table, begins, ends)
    yield from counter_blocks(timeline, plan.devices, plan.book, plan.shift_ns)


def _clock_reading(time_ns: int) -> bytes:
    """What makes Unix time the time of the trace."""
    clock = field(1, number(1, _REALTIME) + number(2, time_ns))
    return field(1, number(10, SEQUENCE_ID) + field(6, clock + number(2, _REALTIME)))
