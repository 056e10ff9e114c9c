"""The host trace in a Perfetto trace, from its first packet to its last."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rblnpb.errors import Finding
from rblnpb.perfetto_wire import EVENT_COUNTER

from ..timeline import HostTrace, Int64
from ._changes import changes
from ._perfetto_arrows import TraceArrows
from ._perfetto_events import EventWriter, Text, closing_blocks, endless_packets, event_texts
from ._perfetto_host import HostSide, used_rows
from ._perfetto_names import ANNOTATION_NAMES, CATEGORIES, EVENT_NAMES, Interning
from ._perfetto_samples import HostSamples
from ._perfetto_tracks import TrackBook

__all__ = ["HostPackets"]


class HostPackets:
    """Makes the packets of a host trace."""

    def __init__(
        self, host: HostTrace, side: HostSide, arrows: TraceArrows, texts: Interning, book: TrackBook, shift_ns: int
    ) -> None:
        """Give the texts of the trace their numbers.

        Args:
            host: The trace.
            side: What becomes of its events.
            arrows: What begins and ends with its packets.
            texts: Where texts get their numbers.
            book: Where the curves are introduced.
            shift_ns: What is added to every time.
        """
        self._host, self._side, self._shift_ns = host, side, shift_ns
        self._ends = arrows.host_ends
        self._events = EventWriter(
            host,
            side,
            names=texts.table(EVENT_NAMES, host.strings, used_rows(host.events.name, side.kind, len(host.strings)), "[No name]"),
            categories=texts.table(CATEGORIES, host.strings, used_rows(host.events.category, side.kind, len(host.strings))),
            args=texts.number(ANNOTATION_NAMES, "args"),
            begins=arrows.host_begins,
            ends=self._ends,
            shift_ns=shift_ns,
        )
        self._samples = HostSamples(host, side.tracks.processes, book, shift_ns)

    @property
    def event_count(self) -> int:
        """How many events become packets."""
        return int((self._side.kind > 0).sum())

    def blocks(self) -> Iterator[tuple[int, bytes | memoryview]]:
        """How many events each block has, and its packets, of use until the next are asked for; ends of slices come first."""
        for packets in closing_blocks(self._host, self._side, self._ends, self._shift_ns):
            yield 0, packets
        for rows, texts in event_texts(self._host, self._side):
            yield len(rows), self._packets(rows, texts)
        yield 0, endless_packets(self._side, self._shift_ns)

    def findings(self) -> tuple[Finding, ...]:
        """Every change, counted; known when all blocks are made."""
        lost = {"host-text-mended": self._events.mended_count, "host-samples-not-numbers": self._samples.odd_count}
        return self._side.findings + changes(lost)

    def _packets(self, rows: Int64, texts: list[Text]) -> bytes:
        is_sample = self._side.kind[rows] == EVENT_COUNTER
        if not is_sample.any():
            return self._events.packets(rows, texts)
        samples, others = ([texts[place] for place in np.flatnonzero(mask).tolist()] for mask in (is_sample, ~is_sample))
        return self._samples.packets(rows[is_sample], samples) + self._events.packets(rows[~is_sample], others)
