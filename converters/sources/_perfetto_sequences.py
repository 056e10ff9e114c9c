"""What packets of one writer leave unsaid because an earlier one said it: interned texts, defaults, clocks that count on.

A writer's packets carry its sequence id. Its state holds until it clears it; once packets of it were lost, nothing that leans on
the state can be told until then (perfetto.dev, docs/reference/synthetic-track-event; `trace_packet.proto`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Final

from ._perfetto_text import as_text

__all__ = ["FIRST_OF_SEQUENCE", "ClockKey", "Sequence", "SequenceBook"]

ClockKey = int | tuple[int, int]
"""A clock of one file: a number, or (sequence, number) where only one writer knows it; 0 = the file's default."""

_STATE_CLEARED, _NEEDS_STATE = 1, 2
FIRST_OF_SEQUENCE, _END_OF_SEQUENCE = 64, 128
"""Clocks of these numbers mean another one on each sequence."""


@dataclass
class _RunningClock:
    """A clock whose values are not ns since its zero as they stand."""

    multiplier: int
    is_incremental: bool
    last: int


@dataclass
class Sequence:
    """State of one writer.

    Attributes:
        number: Its id; 0 where the file has none.
        texts: Interned texts, by kind and number.
        track: Key of the track of events that name none.
        clock: Clock of packets that name none; 0 = the file's default.
        extra_tracks: Keys of the tracks of the further samples of events that name none.
        thread_track: Key of the track of the thread that an older writer named for all its events.
        thread_time_ns: Where the times stand that such a writer states as differences.
        is_whole: Whether the state is known: it was cleared, and no packet was lost since.
        is_begun: Whether a packet of it was there.
        clocks: Those of its clocks, by number, whose values are not ns as they stand.
    """

    number: int
    texts: dict[str, dict[int, str]] = field(default_factory=dict)
    track: Hashable = None
    extra_tracks: tuple[Hashable, ...] = ()
    thread_track: Hashable = None
    thread_time_ns: int = 0
    clock: int = 0
    is_whole: bool = False
    is_begun: bool = False
    clocks: dict[int, _RunningClock] = field(default_factory=dict)

    def text(self, kind: str, number: int) -> str | None:
        """An interned text; None where the file does not hold it."""
        return self.texts.get(kind, {}).get(number)

    def clock_key(self, number: int) -> ClockKey:
        """The clock that a number means on this sequence; 0 = that of packets which name none."""
        number = number or self.clock
        return (self.number, number) if FIRST_OF_SEQUENCE <= number < _END_OF_SEQUENCE else number

    def time(self, number: int, value: int) -> int:
        """Nanoseconds of a time in a clock of this sequence; of a clock that counts on, it is the next one."""
        running = self.clocks.get(number or self.clock)
        if running is None:
            return value
        running.last = value * running.multiplier + (running.last if running.is_incremental else 0)
        return running.last

    def clear(self) -> None:
        """Begin anew: what was interned and agreed is over. A clock goes on until it is read again."""
        self.texts.clear()
        self.track = self.thread_track = None
        self.extra_tracks = ()
        self.thread_time_ns = self.clock = 0
        self.is_whole = True

    def agree(self, defaults: Any) -> None:
        """Take a TracePacketDefaults."""
        self.clock = defaults.timestamp_clock_id
        events = defaults.track_event_defaults
        self.track = events.track_uuid if events.HasField("track_uuid") else None
        self.extra_tracks = (*events.extra_counter_track_uuids, *events.extra_double_counter_track_uuids)

    def intern(self, data: Any) -> None:
        """Take an InternedData."""
        for kind, column in _INTERNED.items():
            entries = getattr(data, column)
            if entries:
                self.texts.setdefault(kind, {}).update((entry.iid, as_text(entry.name)) for entry in entries)
        if data.debug_annotation_string_values:
            texts = self.texts.setdefault("text", {})
            texts.update((entry.iid, as_text(entry.str)) for entry in data.debug_annotation_string_values)


_INTERNED: Final = {"name": "event_names", "category": "event_categories", "annotation": "debug_annotation_names"}


class SequenceBook:
    """The writers of one file.

    Attributes:
        loss_count: How often packets of a writer were lost within the file.
        unresolved_count: Packets that were left out, because they lean on a state that was lost.
    """

    def __init__(self) -> None:
        self._sequences: dict[int, Sequence] = {}
        self.loss_count = 0
        self.unresolved_count = 0

    def of(self, packet: Any) -> Sequence | None:
        """The writer of a packet, with what the packet says of its state; None when it leans on a state that was lost."""
        number = packet.trusted_packet_sequence_id
        sequence = self._sequences.get(number)
        if sequence is None:
            sequence = self._sequences[number] = Sequence(number)
        flags = packet.sequence_flags
        if packet.previous_packet_dropped:
            self._lose(sequence, packet)
        sequence.is_begun = True
        if flags & _STATE_CLEARED or packet.incremental_state_cleared:
            sequence.clear()
        if flags & _NEEDS_STATE and not sequence.is_whole:
            self.unresolved_count += 1
            return None
        if packet.HasField("trace_packet_defaults"):
            sequence.agree(packet.trace_packet_defaults)
        if packet.HasField("interned_data"):
            sequence.intern(packet.interned_data)
        return sequence

    def _lose(self, sequence: Sequence, packet: Any) -> None:
        """Packets before this one are missing; the first of a sequence says so whether any were or not."""
        if sequence.is_begun and not packet.first_packet_on_sequence:
            self.loss_count += 1
            sequence.is_whole = False

    def set_clock(self, sequence: Sequence, clock: Any) -> None:
        """Take a clock of a ClockSnapshot: what its values mean, and where one that counts on stands."""
        multiplier = clock.unit_multiplier_ns or 1
        if multiplier != 1 or clock.is_incremental:
            running = _RunningClock(multiplier, clock.is_incremental, clock.timestamp * multiplier)
            sequences = [sequence] if FIRST_OF_SEQUENCE <= clock.clock_id < _END_OF_SEQUENCE else self._sequences.values()
            for one in sequences:
                one.clocks[clock.clock_id] = running
