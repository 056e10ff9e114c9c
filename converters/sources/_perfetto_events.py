"""The events of one file, packet by packet, in the order of the file: nothing is put together here yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any, Final

from ._perfetto_arguments import ArgumentReader, Arguments
from ._perfetto_categories import NO_CATEGORY, Category, category_of
from ._perfetto_sequences import ClockKey, Sequence, SequenceBook
from ._perfetto_text import as_text
from ._perfetto_tracks import TrackBook

__all__ = ["BEGIN", "END", "INSTANT", "EventReader"]

BEGIN, END, INSTANT = 1, 2, 3
_COUNTER: Final = 4

_LEGACY_TYPES: Final = {ord("B"): BEGIN, ord("E"): END, ord("i"): INSTANT, ord("I"): INSTANT, ord("X"): BEGIN}
"""Phases of Chrome's format that older writers put into an event without a type."""

_FLOWS: Final = {
    "flow_ids": False,
    "flow_ids_old": False,
    "terminating_flow_ids": True,
    "terminating_flow_ids_old": True,
}
"""Fields with ids of flows, and whether the flow ends there."""

_BARE_FIELDS: Final = 2
"""An event with no more than these, its type and its track, says nothing else."""

_READ: Final = frozenset(
    {
        "type",
        "track_uuid",
        "name",
        "name_iid",
        "categories",
        "category_iids",
        "debug_annotations",
        "legacy_event",
        "timestamp_absolute_us",
        "timestamp_delta_us",
        "counter_value",
        "double_counter_value",
        "extra_counter_values",
        "extra_counter_track_uuids",
        "extra_double_counter_values",
        "extra_double_counter_track_uuids",
        *_FLOWS,
    }
)
"""Fields of an event that are read."""

_TIME_LIMIT: Final = 1 << 64
_NO_ARGUMENTS: Final = Arguments()


class EventReader:
    """Takes the packets of a file, one by one.

    Attributes:
        tracks, sequences: What the packets say of tracks and writers.
        clocks: Clocks of events, in the order of their first one.
        track_keys: Tracks of events, likewise.
        names: Texts of events; row 0 is "".
        argument_rows: Distinct arguments of events; row 0 is none.
        categories: Categories of events; row 0 says nothing.
        clock, time, track, type, name, argument, category: A row an event: row of `clocks`, ns, row of `track_keys`, BEGIN, END
            or INSTANT, row of `names`, row of `argument_rows`, row of `categories`: the first of its own that says something.
        flows: (row of an event, id, whether it ends the flow).
        samples: (row of `clocks`, ns, row of `track_keys`, value) of counters.
        snapshots: Readings of several clocks at one moment: ns by clock.
        odd: Events that could not be taken, by what they are, in the plural.
        unread, unreadable: Fields and arguments of events that have no place in a profile, and known arguments that cannot be
            read: (row of `track_keys`, row of `categories`, name).
        other: Packets of kinds that are not read, by kind.
        lost_packets: Packets that the file says its own buffers lost.
    """

    def __init__(self) -> None:
        self.tracks = TrackBook()
        self.sequences = SequenceBook()
        self.clocks: dict[ClockKey, int] = {}
        self.track_keys: dict[Hashable, int] = {}
        self.names: dict[str, int] = {"": 0}
        self.argument_rows: dict[Arguments, int] = {_NO_ARGUMENTS: 0}
        self.categories: dict[str, Category] = {"": NO_CATEGORY}
        self.clock: list[int] = []
        self.time: list[int] = []
        self.track: list[int] = []
        self.type: list[int] = []
        self.name: list[int] = []
        self.argument: list[int] = []
        self.category: list[int] = []
        self.flows: list[tuple[int, int, bool]] = []
        self.samples: list[tuple[int, int, int, float]] = []
        self.snapshots: list[dict[ClockKey, int]] = []
        self.odd: Counter[str] = Counter()
        self.unread: Counter[tuple[int, int, str]] = Counter()
        self.unreadable: Counter[tuple[int, int, str]] = Counter()
        self.other: Counter[str] = Counter()
        self.lost_packets = 0
        self._arguments = ArgumentReader()
        self._category_rows: dict[str, int] = {}

    def take(self, packet: Any) -> None:
        """Take the next packet of the file."""
        sequence = self.sequences.of(packet)
        if sequence is None:
            return
        which = packet.WhichOneof("data")
        if which == "track_event":
            self._take_event(packet, packet.track_event, sequence)
        elif which == "track_descriptor":
            self.tracks.describe(packet.track_descriptor)
        elif which == "clock_snapshot":
            self._take_snapshot(packet.clock_snapshot, sequence)
        elif which is not None:
            self._take_other(which, packet, sequence)

    def _take_event(self, packet: Any, event: Any, sequence: Sequence) -> None:
        # The fields that are there, in one call: asking for each of thirty costs more than all the rest.
        said = {field.name: value for field, value in event.ListFields()}
        time = self._time(packet, said, sequence)
        if time is None:
            self.odd["events without a time"] += 1
            return
        clock = self.clocks.setdefault(sequence.clock_key(packet.timestamp_clock_id), len(self.clocks))
        key = said["track_uuid"] if "track_uuid" in said else self._default_track(sequence)
        track = self.track_keys.setdefault(key, len(self.track_keys))
        legacy = said.get("legacy_event")
        kind = said.get("type") or (_LEGACY_TYPES.get(legacy.phase, 0) if legacy else 0)
        if "extra_counter_values" in said or "extra_double_counter_values" in said:
            self._take_extra_samples(said, sequence, clock, time)
        if kind == _COUNTER:
            self.samples.append((clock, time, track, float(said.get("double_counter_value", said.get("counter_value", 0)))))
        elif kind in (BEGIN, END, INSTANT):
            self._append(clock, time, track, kind)
            if len(said) > _BARE_FIELDS or "name" in said or "name_iid" in said:
                self._describe(said, sequence)
            end = time + max(legacy.duration_us, 0) * 1000 if legacy and legacy.phase == ord("X") else _TIME_LIMIT
            if end < _TIME_LIMIT:
                self._append(clock, end, track, END)
        else:
            self.odd["events of an unknown type"] += 1
        if not said.keys() <= _READ:
            category = self.category[-1] if kind in (BEGIN, END, INSTANT) else 0
            self.unread.update((track, category, name) for name in said if name not in _READ)

    def _append(self, clock: int, time: int, track: int, kind: int) -> None:
        self.clock.append(clock)
        self.time.append(time)
        self.track.append(track)
        self.type.append(kind)
        self.name.append(0)
        self.argument.append(0)
        self.category.append(0)

    def _describe(self, said: dict[str, Any], sequence: Sequence) -> None:
        """Name, arguments, categories and flows of the event that was appended last."""
        row = len(self.time) - 1
        name = as_text(said.get("name", ""))
        if not name and "name_iid" in said:
            found = sequence.text("name", said["name_iid"])
            self.odd["names that are not in the file"] += found is None
            name = found or ""
        self.name[row] = self.names.setdefault(name, len(self.names))
        if "categories" in said or "category_iids" in said:
            texts = [
                *map(as_text, said.get("categories", ())),
                *(sequence.text("category", one) or "" for one in said.get("category_iids", ())),
            ]
            self.category[row] = next((number for text in texts if (number := self._category(text))), 0)
        if "debug_annotations" in said:
            arguments, unread, unreadable = self._arguments.read(said["debug_annotations"], sequence)
            self.argument[row] = self.argument_rows.setdefault(arguments, len(self.argument_rows))
            where = (self.track[row], self.category[row])
            self.unread.update((*where, name) for name in unread)
            self.unreadable.update((*where, name) for name in unreadable)
        for field, is_end in _FLOWS.items():
            if field in said:
                self.flows += [(row, number, is_end) for number in said[field]]

    def _category(self, text: str) -> int:
        """Row of a category; 0 where it says nothing."""
        row = self._category_rows.get(text)
        if row is None:
            meaning = category_of(text)
            row = self._category_rows[text] = len(self.categories) if meaning else 0
            if meaning:
                self.categories[text] = meaning
        return row

    def _time(self, packet: Any, said: dict[str, Any], sequence: Sequence) -> int | None:
        """When an event was, in ns of its clock; None where nothing tells."""
        if packet.HasField("timestamp"):
            time = sequence.time(packet.timestamp_clock_id, packet.timestamp)
            return time if time < _TIME_LIMIT else None
        if "timestamp_absolute_us" in said:
            time = said["timestamp_absolute_us"] * 1000
        elif "timestamp_delta_us" in said:
            time = sequence.thread_time_ns = sequence.thread_time_ns + said["timestamp_delta_us"] * 1000
        else:
            return None
        return time if 0 <= time < _TIME_LIMIT else None

    def _default_track(self, sequence: Sequence) -> Hashable:
        for key in (sequence.track, sequence.thread_track):
            if key is not None:
                return key
        return 0

    def _take_extra_samples(self, said: dict[str, Any], sequence: Sequence, clock: int, time: int) -> None:
        """Samples that an event of a slice brings along, each for a track of its own."""
        keys = [*said.get("extra_counter_track_uuids", ()), *said.get("extra_double_counter_track_uuids", ())]
        values = [*said.get("extra_counter_values", ()), *said.get("extra_double_counter_values", ())]
        for key, value in zip(keys or sequence.extra_tracks, values, strict=False):
            track = self.track_keys.setdefault(key, len(self.track_keys))
            self.samples.append((clock, time, track, float(value)))
        self.odd["samples of no track"] += max(len(values) - len(keys or sequence.extra_tracks), 0)

    def _take_snapshot(self, snapshot: Any, sequence: Sequence) -> None:
        readings: dict[ClockKey, int] = {}
        for clock in snapshot.clocks:
            self.sequences.set_clock(sequence, clock)
            readings[sequence.clock_key(clock.clock_id)] = clock.timestamp * (clock.unit_multiplier_ns or 1)
        self.snapshots.append(readings)

    def _take_other(self, which: str, packet: Any, sequence: Sequence) -> None:
        if which == "thread_descriptor":
            thread = packet.thread_descriptor
            sequence.thread_track = self.tracks.name_thread(thread.pid, thread.tid, thread.thread_name)
            sequence.thread_time_ns = thread.reference_timestamp_us * 1000
        elif which == "process_descriptor":
            self.tracks.name_process(packet.process_descriptor)
        elif which == "process_tree":
            for process in packet.process_tree.processes:
                self.tracks.name_process(process)
        elif which == "trace_stats":
            self.lost_packets += _lost_packets(packet.trace_stats)
        elif which not in _ABOUT_THE_TRACE:
            self.other[which] += 1


_ABOUT_THE_TRACE: Final = frozenset(
    {"synchronization_marker", "trace_config", "trace_uuid", "service_event", "system_info", "trigger"}
)
"""Packets of Perfetto's service about its own work: nothing of the device."""


def _lost_packets(stats: Any) -> int:
    """Packets that were overwritten or refused, as far as the file counts them."""
    counted = ("chunks_overwritten", "chunks_discarded", "trace_writer_packet_loss")
    return sum(int(getattr(buffer, name, 0)) for buffer in stats.buffer_stats for name in counted)
