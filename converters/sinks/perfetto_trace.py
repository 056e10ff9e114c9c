"""A timeline as Perfetto's own binary trace, for ui.perfetto.dev and for SQL.

Processes and threads of the host, devices with their chiplets and engines, each slice with what is known of it. Times are exact to
the nanosecond: those of the timeline, and where they are Unix times the trace says so, so that Perfetto relates them to other clocks.

Held are columns and one block of packets, whatever the size of the trace. The same timeline gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from rblnpb.errors import Finding
from rblnpb.perfetto_wire import field, number

from ..timeline import Timeline
from ._device_lanes import device_lanes
from ._perfetto_device import add_device_tracks, device_tables
from ._perfetto_names import Interning
from ._perfetto_slices import slice_blocks
from ._perfetto_tracks import SEQUENCE_ID, TrackBook

__all__ = ["ByteStream", "Progress", "write_perfetto_trace"]

Progress = Callable[[int, int], None]
"""Called after each block with how many events are written, and how many there are."""


class ByteStream(Protocol):
    """What can be written to: a file, a compressor, standard output."""

    def write(self, data: bytes, /) -> object:
        """Take all of these bytes."""


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
    host = timeline.host
    book = TrackBook([*(track.pid for track in host.tracks)] if host else [])
    shown = device_lanes(timeline)
    tracks = add_device_tracks(timeline, shown, book, {})
    texts = Interning()
    tables = list(device_tables(timeline, tracks, texts, 0))
    first = min((int(table.start_ns.min()) for table in tables if len(table.rows)), default=0)
    file.write(_clock_snapshot(first) + texts.packets(SEQUENCE_ID, number(58, _REALTIME)) + b"".join(book.packets))
    written, total = 0, sum(len(table.rows) for table in tables)
    for table in tables:
        for count, packets in slice_blocks(table):
            file.write(packets)
            written += count
            if progress:
                progress(written, total)
    return shown.findings


def _clock_snapshot(time_ns: int) -> bytes:
    """Times are those of the real-time clock, for Perfetto's SQL too."""
    clock = field(1, number(1, _REALTIME) + number(2, time_ns))
    return field(1, number(10, SEQUENCE_ID) + field(6, clock + number(2, _REALTIME)))
