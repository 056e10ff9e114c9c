"""From the text of trace events to columns, without a dict for any of them.

Four ways of reading a block, tried from the fastest on: by patterns, and as records only what has none; all of it as records of
events that are written as usual; with times of any length; and event by event, where something is not of the type that it has
in other traces. Records expect the processes and threads that came before, and are followed by some that expect any. Where a
faster way applies, the slower ones would give the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np

from ..host_trace import ALL_COLUMNS
from ..timeline import HostEvents, HostTrack, Id, Int32, Int64
from ._argument_spellings import add_spelled_links, unlinked_places
from ._block_columns import Columns, TextsAt, put_binding_points, put_link, put_number
from ._event_records import LINKS, MEMORY, NO_SIZE, TEXTS, Arguments, DecimalEvent, Decode, Decoders, Event, columns_read_with
from ._event_scanner import EventScanner, all_columns
from ._exact_time import decimal_ns, float_ns, text_ns
from ._growing_columns import GrowingColumns
from ._json_blocks import BadElementError, EventBlock
from ._json_text import decoded_value, mended_text
from ._key_rows import column_of, rows_of
from ._odd_events import NotJsonError, OddEvents

_AnyEvent = Event | DecimalEvent
_STRING_COLUMNS: Final = frozenset({"category", "name", "input_dims", "concrete_inputs", "context", "flow_id"})
_LOOK_EVENTS: Final = 1 << 15
"""After so many events the tracks that there are become known: to make decoders takes as long as to read a thousand events."""
_UNDECODABLE: Final = (ValueError, ArithmeticError, RecursionError)


@dataclass(frozen=True, eq=False)
class EventRows:
    """What was read of some events that follow each other.

    Attributes:
        count: How many rows.
        columns: As `GrowingColumns.append` takes them.
        strings: Interned texts by row, the empty one first.
        tracks: Pairs of process and thread by row.
        thread_names, process_names, process_labels, odd_counts: As of `EventColumns`.
    """

    count: int
    columns: Columns
    strings: list[str]
    tracks: list[tuple[Id, Id]]
    thread_names: dict[HostTrack, str]
    process_names: dict[Id, str]
    process_labels: dict[Id, str]
    odd_counts: Counter[tuple[str, str]]


class EventColumns:
    """The columns of a trace while they grow, block by block.

    Attributes:
        odd: What was wrong with single events.
        thread_names, process_names, process_labels: From the metadata events.
    """

    def __init__(self, columns: Collection[str] = ALL_COLUMNS) -> None:
        """Make these columns of `HostEvents`."""
        self._asked = frozenset(columns)
        self._decoders = Decoders.of(self._asked)
        self._known: set[tuple[Id, Id]] = set()
        self._scanner = EventScanner(columns_read_with(self._asked))
        self._begin()

    def _begin(self) -> None:
        self.thread_names: dict[HostTrack, str] = {}
        self.process_names: dict[Id, str] = {}
        self.process_labels: dict[Id, str] = {}
        self.odd = OddEvents(self._decoders.argument_keys)
        self._columns = GrowingColumns(self._asked)
        self._strings: dict[str, int] = {"": 0}
        self._tracks: dict[tuple[Id, Id], int] = {}
        self._threads: dict[Id, dict[Id, int]] = {}
        self._scanner.forget_rows()

    def __len__(self) -> int:
        return len(self._columns)

    def take(self, block: EventBlock) -> bool:
        """Append the events of a block, as `_json_blocks.Take` says."""
        track_count = len(self._tracks)
        if len(block.starts) and (self._take_scanned(block) or self._take_usual(block) or self._take_decimal(block)):
            is_time = len(self._tracks) > track_count if self._known else len(self) >= _LOOK_EVENTS
            if is_time:
                self._look_at_tracks()
            return True
        if block.is_sure:
            self._take_singly(block)
        return block.is_sure

    def _look_at_tracks(self) -> None:
        """Let the decoders know the processes and threads that came so far."""
        is_first = not self._known
        if self._known.issuperset(self._tracks):
            return
        self._known.update(self._tracks)
        if is_first or self._decoders.knows_tracks:
            self._decoders = self._decoders.knowing(self._known)

    def cut_off(self) -> EventRows:
        """What was taken so far; this object is empty afterwards."""
        rows = EventRows(
            len(self._columns),
            self._columns.so_far(),
            list(self._strings),
            list(self._tracks),
            self.thread_names,
            self.process_names,
            self.process_labels,
            self.odd.counts,
        )
        self._begin()
        return rows

    def append(self, rows: EventRows) -> None:
        """Append what others took of the events that follow: the result is as if all of them had been taken here."""
        string_rows = rows_of(self._strings, rows.strings)
        columns = {name: string_rows[column] if name in _STRING_COLUMNS else column for name, column in rows.columns.items()}
        columns["track"] = rows_of(self._tracks, rows.tracks)[columns["track"]] if rows.tracks else columns["track"]
        self._columns.append(rows.count, {name: np.asarray(column) for name, column in columns.items()})
        self.thread_names.update(rows.thread_names)
        self.process_names.update(rows.process_names)
        self.process_labels.update(rows.process_labels)
        self.odd.counts.update(rows.odd_counts)

    def finish(self, base_time_ns: int) -> HostEvents:
        """The columns, with the file's zero added to every start; this object is empty afterwards."""
        events, lost_starts = self._columns.finish(base_time_ns)
        if lost_starts:
            self.odd.counts["time", "ts"] += lost_starts
        return events

    @property
    def strings(self) -> tuple[str, ...]:
        """The interned texts by row."""
        return tuple(self._strings)

    @property
    def tracks(self) -> tuple[HostTrack, ...]:
        """The tracks by row."""
        return tuple(HostTrack(pid, tid) for pid, tid in self._tracks)

    def _take_scanned(self, block: EventBlock) -> bool:
        scanned = None if block.is_sure else self._scanner.scan(block, self._strings, self._tracks)
        if scanned is None:
            return False
        columns: Columns = {}
        flow_ids = TextsAt(scanned.arrows.tolist(), list(map(str, scanned.flow_ids.tolist())))
        if len(scanned.rest):
            rest = block.some(scanned.rest)
            found = self._usual_events(rest)
            if found is None:
                return False
            # Before their names have rows: one that comes for the first time may never come again.
            self._scanner.know(found[0], self._strings, self._tracks)
            made = self._columns_of(*found, rest.event_text)
            if made is None:
                return False
            columns, more = made
            flow_ids = flow_ids.with_others(scanned.rest, more)
        columns = all_columns(scanned, columns)
        flow_ids.put(columns, "flow_id", len(block), self._strings)
        self._columns.append(len(block), {**columns, **_places(block)})
        return True

    def _take_usual(self, block: EventBlock) -> bool:
        found = self._usual_events(block)
        if found is None or not self._append(*found, _places(block), block.event_text):
            return False
        self._scanner.learn(block, found[0], self._strings, self._tracks)
        return True

    def _usual_events(self, block: EventBlock) -> tuple[list[Event], Int64, Int64] | None:
        """The events of a block with their times, where all are written as usual."""
        events: list[Event] | None = _decoded(self._decoders.usual, block)
        if events is None and self._decoders.knows_tracks:
            events = _decoded(self._decoders.usual_of_any, block)
        if events is None:
            return None
        start_ns = text_ns([event.ts for event in events])
        duration_ns = float_ns([event.dur for event in events])
        return None if start_ns is None or duration_ns is None else (events, start_ns, duration_ns)

    def _take_decimal(self, block: EventBlock) -> bool:
        events: list[DecimalEvent] | None = _decoded(self._decoders.decimal, block)
        if events is None:
            return False
        try:
            start_ns = decimal_ns([event.ts for event in events])
            duration_ns = decimal_ns([event.dur for event in events])
        except OverflowError:
            return False
        return self._append(events, start_ns, duration_ns, _places(block), block.event_text)

    def _take_singly(self, block: EventBlock) -> None:
        events: list[DecimalEvent] = []
        texts: list[bytes] = []
        starts: list[int] = []
        bounds = block.bounds.tolist()
        for index, (start, next_start) in enumerate(pairwise(bounds)):
            element = bytes(block.text[start : next_start - 1])
            try:
                event = self.odd.read(element)
            except NotJsonError as error:
                raise BadElementError(index) from error
            if event is not None:
                events.append(event)
                starts.append(block.offset + start + element.index(b"{"))
                texts.append(element.strip())
        start_ns = decimal_ns([event.ts for event in events])
        duration_ns = decimal_ns([event.dur for event in events])
        places = {"offset": np.array(starts, np.int64), "length": np.array([len(text) for text in texts], np.int64)}
        self._append(events, start_ns, duration_ns, places, lambda place: mended_text(texts[place]))

    def _append(
        self,
        events: Sequence[_AnyEvent],
        start_ns: Int64,
        duration_ns: Int64,
        places: Columns,
        text_of: Callable[[int], bytes],
    ) -> bool:
        """Append events, whose places these columns are; False when they have no columns (`_columns_of`)."""
        if not events:
            return True
        made = self._columns_of(events, start_ns, duration_ns, text_of)
        if made is None:
            return False
        columns, flow_ids = made
        flow_ids.put(columns, "flow_id", len(events), self._strings)
        self._columns.append(len(events), {**columns, **places})
        return True

    def _columns_of(
        self, events: Sequence[_AnyEvent], start_ns: Int64, duration_ns: Int64, text_of: Callable[[int], bytes]
    ) -> tuple[Columns, TextsAt] | None:
        """The columns of events of one type but for places and ids of arrows, and the texts of these.

        None when a number does not fit its column, or a text is none.

        Args:
            events: Their records, one at least.
            start_ns, duration_ns: Their times.
            text_of: The JSON text of one of them.
        """
        columns: Columns = {"start_ns": start_ns, "duration_ns": duration_ns}
        phases = "".join([event.ph for event in events])
        columns["phase"] = np.frombuffer(phases.encode("ascii"), np.uint8)
        try:
            self._put_arguments(columns, [event.args for event in events])
            flow_ids = TextsAt.of([event.id for event in events] if "flow_id" in self._asked else [])
        except (OverflowError, UnicodeDecodeError):
            return None
        if "binding_point" in self._asked:
            put_binding_points(columns, events)
        categories = [event.cat for event in events]
        columns["category"] = column_of(self._strings, categories)
        if LINKS & self._asked:
            rows = {text: self._strings[text] for text in set(categories)}
            unlinked = unlinked_places(columns, columns["phase"] == ord("X"), rows)
            add_spelled_links(columns, unlinked, text_of, self.odd.link)
        columns["name"] = column_of(self._strings, [event.name for event in events])
        columns["track"] = self._track_rows([event.pid for event in events], [event.tid for event in events])
        if phases.count(phases[0]) == len(phases):
            columns["phase"] = columns["phase"][0:1].reshape(())
        if "M" in phases:
            for event in events:
                if event.ph == "M":
                    self._take_metadata(event)
        return columns, flow_ids

    def _put_arguments(self, columns: Columns, args: Sequence[Arguments]) -> None:
        asked = self._asked
        if LINKS & asked:
            put_link(columns, "external_id", [arg.external_id for arg in args])
        if "event_index" in asked:
            put_number(columns, "event_index", [arg.event_index for arg in args], -1)
        if "sequence_number" in asked:
            put_number(columns, "sequence_number", [arg.sequence_number for arg in args], -1)
        if LINKS & asked:
            put_link(columns, "correlation_id", [arg.correlation_id for arg in args])
            put_link(columns, "launch_id", [arg.launch_id for arg in args])
            put_link(columns, "external_id", [arg.external_id_2021 for arg in args])
        if MEMORY & asked:
            put_number(columns, "size_bytes", [arg.size_bytes for arg in args], NO_SIZE)
            put_number(columns, "device_type", [arg.device_type for arg in args], -1, np.int32)
        if TEXTS & asked:
            self._put_texts(columns, "concrete_inputs", [arg.concrete_inputs for arg in args])
            self._put_texts(columns, "context", [arg.context for arg in args])
            self._put_texts(columns, "input_dims", [arg.input_dims_2021 for arg in args])
            self._put_texts(columns, "input_dims", [arg.input_dims for arg in args])

    def _put_texts(self, columns: Columns, name: str, values: Sequence[msgspec.Raw]) -> None:
        TextsAt.of(values).put(columns, name, len(values), self._strings)

    def _track_rows(self, pids: Sequence[Id], tids: Sequence[Id]) -> Int32:
        pid = pids[0]
        if pids.count(pid) < len(pids):
            return column_of(self._tracks, list(zip(pids, tids, strict=True)))
        # Half as dear to look up as pairs.
        threads = self._threads.setdefault(pid, {})
        return column_of(threads, tids, lambda new: rows_of(self._tracks, [(pid, tid) for tid in new]).tolist())

    def _take_metadata(self, event: Event | DecimalEvent) -> None:
        is_label = event.name == "process_labels"
        value = decoded_value(bytes(event.args.labels if is_label else event.args.name))
        if not isinstance(value, str):
            return
        if event.name == "thread_name":
            self.thread_names[HostTrack(event.pid, event.tid)] = value
        elif event.name == "process_name":
            self.process_names[event.pid] = value
        elif is_label:
            self.process_labels[event.pid] = value


def _places(block: EventBlock) -> Columns:
    return {"offset": block.offset + block.starts, "length": block.lengths}


def _decoded(decode: Decode, block: EventBlock) -> list[Any] | None:
    try:
        events = decode(block.text)
    except _UNDECODABLE:
        return None
    return events if len(events) == len(block) else None
