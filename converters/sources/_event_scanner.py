"""Which events of a trace are read by their patterns, and what they become: columns in the rows of tables that know all of it.

What comes for the first time, be it a pattern, a name or a thread, is the decoder's: it gives texts and tracks their rows, in the
order in which they come. What it has seen is learned from it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from ..timeline import Id, Int32, Int64
from ._block_columns import Columns
from ._event_patterns import Step, learn_steps
from ._event_records import Event
from ._growing_columns import ABSENT_VALUES
from ._json_blocks import EventBlock
from ._known_texts import KnownTexts
from ._pattern_scan import FEWEST_EVENTS, NO_NUMBER, STANDING_FOR_SOMETHING, KnownValues, PatternScan
from ._text_words import before_other_than_digit, before_quote

Strings = Mapping[str, int]
Tracks = Mapping[tuple[Id, Id], int]

_NO_ROW: Final = -1
_LOOK_EVENTS: Final = 1 << 13
"""After so many events patterns are looked for: it takes as long as to decode some thousand."""
_SAMPLE_EVENTS: Final = 48
_LONGEST_WAIT: Final = 64
"""So many blocks may pass until what was tried in vain is tried again."""
_MOST_UNREAD: Final = 1 / 3
"""Where more of a block than that is left, all of it is decoded."""
_STRIDE: Final = 0x9E37_79B1
"""A large prime: places that far apart, modulo the number of events, are all over a block and fall in step with no loop."""
_UNWRITTEN: Final = re.compile('["\\\\\x00-\x1f]')
"""A text without such a character stands in JSON as it is."""
_OF_ALL: Final = frozenset({"phase", "category", "name", "track", "input_dims", "concrete_inputs", "context"})
"""Columns that are one value where all events of a block have that."""
_ALWAYS: Final = frozenset({"phase", "category", "name", "track", "start_ns", "duration_ns", "binding_point"})
"""Columns that are there, once they are, even where no event has a value."""


@dataclass(frozen=True, eq=False)
class ScannedEvents:
    """What was read of a block.

    Attributes:
        rest: int64[k]; places of the events that were not read, ascending.
        arrows: int64[m]; places of the events that were read and have an id as arrows do, ascending.
        flow_ids: int64[m]; these ids.
    """

    rest: Int64
    arrows: Int64
    flow_ids: Int64
    _columns: Columns

    def columns(self, rest: Columns) -> Columns:
        """Columns of all events of the block, but for `flow_id`, as `GrowingColumns.append` takes them.

        Args:
            rest: Those of the events that were not read here; empty when there are none.
        """
        columns: Columns = {}
        for name in {*self._columns, *rest}:
            absent = ABSENT_VALUES[name]
            column = self._columns[name] if name in self._columns else np.full(len(self._columns["phase"]), absent)
            if len(self.rest):
                column[self.rest] = rest.get(name, absent)
            if name in _OF_ALL and (column == column[0]).all():
                columns[name] = column[:1].reshape(())
            elif name in rest or name in _ALWAYS or (column != absent).any():
                columns[name] = column
        return columns


class EventScanner:
    """Reads what it can of the blocks of a trace by patterns that it has learned."""

    def __init__(self, columns: Collection[str]) -> None:
        """Make these columns of `HostEvents`."""
        self._columns = columns
        self._steps: list[Step] = []
        self._decoded_events = 0
        self._blocks_to_wait = 0
        self._times_learned = 0
        self._is_last_chance = False
        self.forget_rows()

    def forget_rows(self) -> None:
        """Begin with tables that are empty: patterns stay known, but nothing that has a row."""
        self._known = KnownValues(KnownTexts(before_quote), KnownTexts(before_other_than_digit))
        self._names: set[str] = set()
        self._threads: dict[int, int] = {}
        self._track_rows: dict[Id, Int32] = {}
        self._track_count = 0

    def scan(self, block: EventBlock, strings: Strings, tracks: Tracks) -> ScannedEvents | None:
        """Read a block; None when no patterns are known of it, or too few of its events have them.

        Args:
            block: A guess, for only there it is known that there is nothing but white space around its events.
            strings, tracks: Rows of the texts and tracks of all events so far.
        """
        self._blocks_to_wait -= self._blocks_to_wait > 0
        if not self._steps or len(block) < FEWEST_EVENTS:
            return None
        scan = PatternScan(block, self._steps, self._known)
        columns = {name: values for name, values in scan.values.items() if name not in STANDING_FOR_SOMETHING}
        for name in ("phase", "category", "name", "start_ns", "duration_ns"):
            columns.setdefault(name, np.full(len(block), ABSENT_VALUES[name]))
        track = columns["track"] = np.full(len(block), _NO_ROW, np.int32)
        threads = scan.values.get("track")
        for rows, constants in scan.ends:
            texts = {"category": constants.category, **dict(constants.texts)}
            if not strings.keys() >= set(texts.values()):
                continue
            for name, text in texts.items():
                columns.setdefault(name, np.zeros(len(block), np.int32))[rows] = strings[text]
            columns["phase"][rows] = ord(constants.phase)
            if threads is not None and threads[rows][0] != NO_NUMBER:
                track[rows] = self._rows_of_process(constants.pid)[threads[rows]]
            else:
                track[rows] = tracks.get((constants.pid, constants.tid), _NO_ROW)
            if constants.binding_point is not None:
                columns.setdefault("binding_point", np.zeros(len(block), np.uint8))[rows] = constants.binding_point
            if constants.device_type is not None:
                columns.setdefault("device_type", np.full(len(block), ABSENT_VALUES["device_type"]))[rows] = constants.device_type
        rest = np.flatnonzero(track == _NO_ROW)
        had_chance, self._is_last_chance = self._is_last_chance, len(rest) > _MOST_UNREAD * len(block)
        if self._is_last_chance:
            # The first time it may be for names that are new.
            self._steps = [] if had_chance else self._steps
            return None
        self._times_learned -= self._times_learned > 0
        flow_ids = scan.values.get("flow_id", np.full(len(block), NO_NUMBER))
        flow_ids[rest] = NO_NUMBER
        arrows = np.flatnonzero(flow_ids != NO_NUMBER)
        return ScannedEvents(rest, arrows, flow_ids[arrows], columns)

    def learn(self, block: EventBlock, events: Sequence[Event], strings: Strings, tracks: Tracks) -> None:
        """Learn the patterns of a block that was decoded as a whole, if there are none, and its names.

        Where that leads to nothing, it is tried again some blocks later, and later each time.

        Args:
            block: The block.
            events: Its records.
            strings, tracks: Rows of texts and tracks.
        """
        self._decoded_events += len(events)
        if self._steps:
            self.know(events, strings, tracks)
        if self._steps or self._decoded_events < _LOOK_EVENTS or self._blocks_to_wait or len(block) < FEWEST_EVENTS:
            return
        places = sorted({place * _STRIDE % len(block) for place in range(_SAMPLE_EVENTS)})
        texts = [block.event_text(place) for place in places]
        self._steps = learn_steps(texts, [events[place] for place in places], self._columns, FEWEST_EVENTS / len(block))
        self._times_learned += 1
        self._blocks_to_wait = min(1 << self._times_learned, _LONGEST_WAIT)
        self._is_last_chance = False
        if self._steps:
            self.know(events, strings, tracks)

    def know(self, events: Sequence[Event], strings: Strings, tracks: Tracks) -> None:
        """Recognise from now on the names of these events and all tracks, as far as they have rows."""
        new = {event.name for event in events}.difference(self._names).intersection(strings)
        self._names |= new
        self._known.names.add({name.encode(): strings[name] for name in new if not _UNWRITTEN.search(name)})
        for (pid, tid), row in islice(tracks.items(), self._track_count, None):
            if isinstance(tid, int) and tid >= 0:
                if tid not in self._threads:
                    self._threads[tid] = len(self._threads)
                    self._known.threads.add({b"%d" % tid: self._threads[tid]})
                self._rows_of_process(pid)[self._threads[tid]] = row
        self._track_count = len(tracks)

    def _rows_of_process(self, pid: Id) -> Int32:
        """int32; row of the track of each thread, by its number, in a process; -1 where there is none."""
        rows = self._track_rows.get(pid)
        if rows is None or len(rows) < len(self._threads):
            longer = np.full(2 * len(self._threads), _NO_ROW, np.int32)
            if rows is not None:
                longer[: len(rows)] = rows
            self._track_rows[pid] = rows = longer
        return rows
