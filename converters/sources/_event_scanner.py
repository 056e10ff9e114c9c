"""Which events of a trace are read by their patterns, and which are the decoder's.

What comes for the first time, be it a pattern, a name or a thread, is the decoder's: it gives texts and tracks their rows, in the
order in which they come. What it has seen is learned from it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..timeline import Int64
from ._block_columns import Columns
from ._event_patterns import Step
from ._event_records import Event
from ._growing_columns import ABSENT_VALUES
from ._json_blocks import EventBlock
from ._known_rows import NO_ROW, KnownRows, Strings, Tracks
from ._pattern_learning import learn_steps
from ._pattern_scan import FEWEST_EVENTS, NO_NUMBER, PatternScan

_LEARN_EVENTS: Final = 1 << 13
"""After so many events patterns are learned: it takes as long as to decode some thousand."""
_SAMPLE_EVENTS: Final = 48
_MOST_UNREAD: Final = 1 / 3
"""Where more of a block than that is left, all of it is decoded."""
_STRIDE: Final = 0x9E37_79B1
"""A large prime: places that far apart, modulo the number of events, are all over a block and fall in step with no loop."""
_OF_ALL: Final = frozenset({"phase", "category", "name", "track", "input_dims", "concrete_inputs", "context"})
"""Columns that are one value where all events of a block have that."""


@dataclass(frozen=True, eq=False)
class ScannedEvents:
    """What was read of a block.

    Attributes:
        rest: int64[k]; which events were not read, ascending.
        arrows: int64[m]; which of the others have an id as arrows do, ascending.
        flow_ids: int64[m]; these ids.
        columns: [n]; what was read of all events, without `flow_id`. In the rows of `rest` it means nothing.
    """

    rest: Int64
    arrows: Int64
    flow_ids: Int64
    columns: Columns


def all_columns(scanned: ScannedEvents, rest: Columns) -> Columns:
    """The columns of all events of a block, as `GrowingColumns.append` takes them.

    Args:
        scanned: What was read of it.
        rest: The columns of the events that were not; empty when there are none.
    """
    columns: Columns = {}
    for name in dict.fromkeys((*scanned.columns, *rest)):
        absent = ABSENT_VALUES[name]
        column = scanned.columns.get(name)
        if len(scanned.rest):
            column = np.full(len(scanned.columns["phase"]), absent) if column is None else column.copy()
            column[scanned.rest] = rest.get(name, absent)
        if column is not None and name in _OF_ALL and (column == column[0]).all():
            columns[name] = column[:1].reshape(())
        elif column is not None and (name in rest or (column != absent).any()):
            columns[name] = column
    return columns


class EventScanner:
    """Reads what it can of the blocks of a trace by patterns that it has learned."""

    def __init__(self, columns: Collection[str]) -> None:
        """Make these columns of `HostEvents`, which are those that records are made with."""
        self._columns = columns
        self._steps: list[Step] = []
        self._decoded_events = 0
        self._patience = Patience()
        self.forget_rows()

    def forget_rows(self) -> None:
        """Begin with tables that are empty: patterns stay known, but nothing that has a row."""
        self._known = KnownRows()
        self._is_last_chance = False

    def scan(self, block: EventBlock, strings: Strings, tracks: Tracks) -> ScannedEvents | None:
        """Read a block; None when no patterns are known, or too few of its events have them.

        Args:
            block: A guess, for only there it is known that there is nothing but white space around its events.
            strings, tracks: Rows of the texts and tracks of all events so far.
        """
        self._patience.pass_block()
        if not self._steps or len(block) < FEWEST_EVENTS:
            return None
        scanned = self._scanned(block, strings, tracks)
        had_chance, self._is_last_chance = self._is_last_chance, len(scanned.rest) > _MOST_UNREAD * len(block)
        if self._is_last_chance:
            # The first time it may be for names that are new.
            self._steps = [] if had_chance else self._steps
            return None
        self._patience.reward()
        return scanned

    def learn(self, block: EventBlock, events: Sequence[Event], strings: Strings, tracks: Tracks) -> None:
        """Learn from a block that was decoded as a whole: names, if there are patterns, and else patterns, unless that was in vain.

        Args:
            block: The block.
            events: Its records.
            strings, tracks: Rows of the texts and tracks of all events so far, its own among them.
        """
        self._decoded_events += len(events)
        if not self._steps and self._decoded_events >= _LEARN_EVENTS and len(block) >= FEWEST_EVENTS and self._patience.is_over:
            rows = sorted({row * _STRIDE % len(block) for row in range(_SAMPLE_EVENTS)})
            texts = [block.event_text(row) for row in rows]
            self._steps = learn_steps(texts, [events[row] for row in rows], self._columns, FEWEST_EVENTS / len(block))
            self._is_last_chance = False
            self._patience.lose()
        if self._steps:
            self.know(events, strings, tracks)

    def know(self, events: Sequence[Event], strings: Strings, tracks: Tracks) -> None:
        """Recognise from now on the names of some events and all tracks, as far as they have rows."""
        self._known.know((event.name for event in events), strings, tracks)

    def _scanned(self, block: EventBlock, strings: Strings, tracks: Tracks) -> ScannedEvents:
        scan = PatternScan(block, self._steps, self._known)
        columns = scan.columns
        count = len(block)

        def column(name: str) -> npt.NDArray[Any]:
            return columns.setdefault(name, np.full(count, ABSENT_VALUES[name]))

        for name in ("phase", "category", "name", "start_ns", "duration_ns"):
            column(name)
        track = columns["track"] = np.full(count, NO_ROW, np.int32)
        for events, constants in scan.ends:
            texts = {"category": constants.category, **dict(constants.texts)}
            if not strings.keys() >= set(texts.values()):
                continue
            for name, text in texts.items():
                column(name)[events] = strings[text]
            columns["phase"][events] = ord(constants.phase)
            if constants.has_tid:
                track[events] = tracks.get((constants.pid, constants.tid), NO_ROW)
            else:
                track[events] = self._known.track_rows(constants.pid, tracks)[scan.threads[events]]
            if constants.binding_point is not None:
                column("binding_point")[events] = constants.binding_point
            if constants.device_type is not None:
                column("device_type")[events] = constants.device_type
        is_read = track != NO_ROW
        arrows = np.flatnonzero(is_read & (scan.flow_ids != NO_NUMBER))
        return ScannedEvents(np.flatnonzero(~is_read), arrows, scan.flow_ids[arrows], columns)


class Patience:
    """When to learn patterns again, after some have been learned: the later, the more often that was in vain."""

    def __init__(self) -> None:
        self._tries = self._blocks_to_wait = 0

    @property
    def is_over(self) -> bool:
        """Whether it is time."""
        return not self._blocks_to_wait

    def pass_block(self) -> None:
        """Another block comes."""
        self._blocks_to_wait -= self._blocks_to_wait > 0

    def lose(self) -> None:
        """Patterns were learned: wait 2 blocks, the next time 4, and 64 at last."""
        self._tries = min(self._tries + 1, 6)
        self._blocks_to_wait = 1 << self._tries

    def reward(self) -> None:
        """A block was read by them: one try less was in vain."""
        self._tries -= self._tries > 0
