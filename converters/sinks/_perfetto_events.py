"""Events of the host as packets: their args go through as they stand in the document, the rest comes out of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np

from rblnpb.byte_rows import Column, Joiner, join, row_sizes, stack
from rblnpb.perfetto_wire import EVENT_BEGIN, EVENT_END, event, number, numbers, sized
from rblnpb.row_order import order_by

from ..event_blocks import event_blocks
from ..json_text import is_utf8
from ..timeline import HostTrace, Int32, Int64, UInt8
from ._host_slices import end_times
from ._json_annotations import JSON_VALUE, annotation_value, is_plain
from ._perfetto_flows import FlowEnds
from ._perfetto_host import HostSide
from ._perfetto_host_order import closing_rows
from ._perfetto_tracks import SEQUENCE
from ._plain_arguments import quick_argument_texts

__all__ = ["EventWriter", "Text", "closing_blocks", "endless_packets", "event_texts"]

Text = bytes | msgspec.Raw
"""JSON text as it stands in the document."""

_BLOCK_ROWS: Final = 8192
_BLOCK_BYTES: Final = 1 << 22


def closing_blocks(host: HostTrace, side: HostSide, ends: FlowEnds, shift_ns: int) -> Iterator[memoryview]:
    """The ends of complete slices, in blocks of bounded size, each of use until the next one is asked for.

    Args:
        host: The trace.
        side: What becomes of its events.
        ends: Arrows that end with these packets, by row of the event.
        shift_ns: What is added to every time.
    """
    joiner = Joiner()
    for rows in closing_rows(host, side.closing):
        end_ns = end_times(host, rows) + shift_ns
        packets = event(EVENT_END, end_ns, numbers(11, side.track[rows]), SEQUENCE, *ends.entries(rows))
        yield joiner.join(len(rows), packets).data.toreadonly()


def endless_packets(side: HostSide, shift_ns: int) -> bytes:
    """Ends, at the end of the trace, of slices that have none."""
    rows = side.endless
    time_ns = np.full(len(rows), side.last_ns + shift_ns, np.int64)
    return join(len(rows), event(EVENT_END, time_ns, numbers(11, side.track[rows]), SEQUENCE)).tobytes()


def event_texts(host: HostTrace, side: HostSide) -> Iterator[tuple[Int64, list[Text]]]:
    """The events that become packets, in the order in which they are written, in pieces of bounded size.

    What has to wait for an event that stands later in the document is held back until then.

    Yields:
        Rows, and the JSON text of the args of each; empty where there are none.
    """
    rows: list[Int64] = []
    texts: list[Text] = []
    size_bytes = 0
    for block_rows, block_texts in _in_turn(host, side):
        is_written = side.kind[block_rows] > 0
        rows.append(block_rows[is_written])
        texts += [block_texts[place] for place in np.flatnonzero(is_written).tolist()]
        size_bytes += sum(map(len, block_texts))
        if len(texts) >= _BLOCK_ROWS or size_bytes >= _BLOCK_BYTES:
            yield np.concatenate(rows), texts
            rows, texts, size_bytes = [], [], 0
    if texts:
        yield np.concatenate(rows), texts


def _in_turn(host: HostTrace, side: HostSide) -> Iterator[tuple[Int64, Sequence[Text]]]:
    if side.turn is None or side.rank is None:
        # Nearly always everything is written as the file has it.
        for block in event_blocks(host, 0):
            yield np.arange(block.first, block.first + len(block)), quick_argument_texts(block)
        return
    order = order_by(side.rank)
    turn = side.turn[order]
    held: dict[int, Text] = {}
    for block in event_blocks(host, 0):
        texts = quick_argument_texts(block)
        first, last = block.first, block.first + len(block)
        waiting = first + np.flatnonzero(side.turn[first:last] >= last)
        rows = order[slice(*np.searchsorted(turn, (first, last)))]
        for row in waiting.tolist():
            held[row] = texts[row - first]
        if len(waiting) or len(rows) != len(block) or (np.diff(rows) != 1).any():
            yield rows, [held.pop(row) if row < first else texts[row - first] for row in rows.tolist()]
        else:
            yield rows, texts


class EventWriter:
    """Writes events as packets.

    Attributes:
        mended_count: How many had args that are no UTF-8.
    """

    def __init__(
        self,
        host: HostTrace,
        side: HostSide,
        *,
        names: Int32,
        categories: Int32,
        args: int,
        begins: FlowEnds,
        ends: FlowEnds,
        shift_ns: int,
    ) -> None:
        """Know what all events have in common.

        Args:
            host: The trace.
            side: What becomes of its events.
            names: int32; numbers of event names, by rows of the trace's strings.
            categories: int32; likewise of categories; 0 = none.
            args: Number of the annotation that holds the args.
            begins, ends: Arrows that begin and end with the packets, by row of the event.
            shift_ns: What is added to every time.
        """
        self._events = host.events
        self._side = side
        self._names, self._categories = names, categories
        self._args = number(1, args)
        self._begins, self._ends = begins, ends
        self._shift_ns = shift_ns
        self.mended_count = 0

    def packets(self, rows: Int64, texts: list[Text]) -> bytes:
        """The packets of some events, none of which is a sample.

        Args:
            rows: int64[n]; the events.
            texts: Their args as JSON; empty where there are none.
        """
        size = np.fromiter(map(len, texts), np.int64, len(texts))
        is_odd = (size > 0) & ~is_plain(texts, size)
        for place in np.flatnonzero(is_odd).tolist():
            text = bytes(texts[place])
            self.mended_count += not is_utf8(text)
            texts[place] = annotation_value(text)
            size[place] = len(texts[place])
        flows, flow_bytes = self._flows(rows)
        is_end = self._side.kind[rows] == EVENT_END
        has_category = ~is_end & (self._categories[self._events.category[rows]] > 0)
        heads = np.empty(len(rows), np.object_)
        # Events that have the same members have heads of one length.
        form = is_end + 2 * has_category + 4 * (size > 0) + 8 * is_odd
        for one in np.flatnonzero(np.bincount(form)).tolist():
            places = np.flatnonzero(form == one)
            named = self._named(rows[places], is_end=bool(one & 1), has_category=bool(one & 2))
            table = self._heads(rows[places], named, size[places] * bool(one & 4), flow_bytes[places], is_odd=bool(one & 8))
            heads[places] = table.view(f"V{table.shape[1]}")[:, 0].tolist()
        columns = [heads.tolist(), texts, flows, self._own_ends(rows)]
        parts: list[Text] = [b""] * (len(columns) * len(rows))
        for place, column in enumerate(columns):
            if column:
                parts[place :: len(columns)] = column
        return b"".join(parts)

    def _named(self, rows: Int64, *, is_end: bool, has_category: bool) -> list[Column]:
        """What an event says of itself but its args: kind, track, category, name."""
        columns: list[Column] = [*numbers(9, self._side.kind[rows]), *numbers(11, self._side.track[rows])]
        if has_category:
            columns += numbers(3, self._categories[self._events.category[rows]])
        if not is_end:
            columns += numbers(10, self._names[self._events.name[rows]])
        return columns

    def _heads(self, rows: Int64, named: list[Column], size: Int64, flow_bytes: Int64, *, is_odd: bool) -> UInt8:
        """uint8[n, w]; packets up to the text of the args."""
        told: list[Column] = []
        if size.any():
            value = [self._args] if is_odd else [self._args, *sized(JSON_VALUE, size)]
            told = [*sized(4, size + row_sizes(value)), *value]
        inner = [*named, *told]
        own = [
            *numbers(8, self._events.start_ns[rows] + self._shift_ns),
            SEQUENCE,
            *sized(11, row_sizes(inner) + size + flow_bytes),
        ]
        outer = sized(1, row_sizes([*own, *inner]) + size + flow_bytes)
        return stack(len(rows), [column for column in (*outer, *own, *inner) if isinstance(column, (bytes, np.ndarray))])

    def _flows(self, rows: Int64) -> tuple[list[bytes], Int64]:
        """Fields of the arrows of each event, empty where there are none at all, and their bytes."""
        if not self._begins.touch(rows) and not self._ends.touch(rows):
            return [], np.zeros(len(rows), np.int64)
        is_end = np.flatnonzero(self._side.kind[rows] == EVENT_END)
        texts = self._begins.texts(rows)
        texts[is_end] = self._ends.texts(rows[is_end])
        size = np.fromiter(map(len, texts), np.int64, len(rows))
        return (texts.tolist() if size.any() else []), size

    def _own_ends(self, rows: Int64) -> list[bytes]:
        """The packets that end slices where they begin; empty where there are none at all."""
        is_empty = (
            (self._side.kind[rows] == EVENT_BEGIN) & (self._events.phase[rows] == ord("X")) & (self._events.duration_ns[rows] <= 0)
        )
        places = np.flatnonzero(is_empty)
        if not len(places):
            return []
        time_ns = self._events.start_ns[rows[places]] + self._shift_ns
        packets = event(EVENT_END, time_ns, numbers(11, self._side.track[rows[places]]), SEQUENCE)
        table = stack(len(places), [column for column in packets if isinstance(column, (bytes, np.ndarray))])
        ends = np.full(len(rows), b"", np.object_)
        ends[places] = table.view(f"V{table.shape[1]}")[:, 0].tolist()
        return list(ends.tolist())
