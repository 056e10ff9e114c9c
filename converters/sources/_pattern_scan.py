"""Events read by their patterns: step by step for all events of a block at once, from words of the text to columns.

An event is read when its text is, from `{` to `}`, that of a pattern with plain values in the gaps. Whatever differs is left to the
decoder, which is the one to say what it is.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..timeline import Int64
from ._event_patterns import Constants, Kind, Slot, Step
from ._growing_columns import ABSENT_VALUES
from ._json_blocks import EventBlock
from ._known_rows import KnownRows
from ._text_numbers import number_sizes, times_ns, whole_numbers
from ._text_words import TextWords, Windows

FEWEST_EVENTS: Final = 256
"""To follow fewer events through ten steps or more, each of which takes 10 µs at least, takes longer than to decode them."""
NO_NUMBER: Final = -1
"""Of an event whose pattern has no gap for one."""

Events = Int64 | slice
"""Some events of a block, by row; a slice is all of them."""


class PatternScan:
    """One reading of a block. Of events that have not ended, what the arrays hold means nothing.

    Attributes:
        ends: Which events have ended as which pattern, and what these have in common. They are of different patterns.
        columns: Of gaps, [n] in the type of the column, with its absent value where there is no such gap.
        threads: int64[n]; numbers of threads as `KnownRows` has them, or NO_NUMBER.
        flow_ids: int64[n]; numbers of arrows as they are written, or NO_NUMBER.
    """

    def __init__(self, block: EventBlock, steps: list[Step], known: KnownRows) -> None:
        """Read what begins with one of the steps."""
        self.ends: list[tuple[Events, Constants]] = []
        self.columns: dict[str, npt.NDArray[Any]] = {}
        self.threads, self.flow_ids = np.full((2, len(block)), NO_NUMBER, np.int64)
        self._known = known
        self._text = TextWords(block.padded)
        self._ends = block.starts + block.lengths
        self._follow(steps, slice(None), block.starts)

    def _follow(self, steps: list[Step], events: Events, at: Int64) -> None:
        """Go on with some events, each of which was read up to this byte."""
        for step in steps:
            if len(at) < FEWEST_EVENTS:
                return
            windows = self._text.windows(at, step.window_bytes)
            is_like = windows.begin_with(step.fixed)
            count = np.count_nonzero(is_like)
            if count == len(at):
                self._take(step, events, at, windows)
                return
            if count >= FEWEST_EVENTS:
                like, unlike = np.flatnonzero(is_like), np.flatnonzero(~is_like)
                self._take(step, _some(events, like), at[like], windows.some(like))
                events, at = _some(events, unlike), at[unlike]

    def _take(self, step: Step, events: Events, at: Int64, windows: Windows) -> None:
        """Go on behind the text of a step that some events are like."""
        offset = len(step.fixed.text)
        at = at + offset
        if step.slot is None:
            self._end(step, events, at)
            return
        values, sizes = self._read(step.slot, windows, offset, at)
        if np.count_nonzero(sizes) < len(at):
            good = np.flatnonzero(sizes)
            events, at, values, sizes = _some(events, good), at[good], values[good], sizes[good]
        if step.slot.column is not None:
            self._put(step.slot.column, events, values)
        self._follow(step.following, events, at + sizes)

    def _end(self, step: Step, events: Events, at: Int64) -> None:
        is_end = at == self._ends[events]
        count = np.count_nonzero(is_end)
        if count and step.constants is not None:
            ended = events if count == len(at) else _some(events, np.flatnonzero(is_end))
            self.ends.append((ended, step.constants))

    def _read(self, slot: Slot, windows: Windows, offset: int, at: Int64) -> tuple[Int64, Int64]:
        """What stands in a gap, and its length in bytes: 0 where it is not what belongs there."""
        if slot.kind is Kind.TIME:
            return times_ns(windows, offset, self._text, at)
        if slot.kind is Kind.NUMBER:
            return whole_numbers(windows, offset)
        if slot.kind is Kind.IGNORED:
            return at, number_sizes(windows, offset, self._text, at)
        known = self._known.names if slot.kind is Kind.NAME else self._known.threads
        numbers, sizes = known.find(windows, offset, self._text, at)
        sizes[numbers < 0] = 0
        return numbers, sizes

    def _put(self, column: str, events: Events, values: Int64) -> None:
        if column == "track":
            self.threads[events] = values
        elif column == "flow_id":
            self.flow_ids[events] = values
        elif isinstance(events, slice):
            self.columns[column] = values.astype(ABSENT_VALUES[column].dtype, copy=False)
        else:
            if column not in self.columns:
                self.columns[column] = np.full(len(self._ends), ABSENT_VALUES[column])
            self.columns[column][events] = values


def _some(events: Events, rows: Int64) -> Events:
    """Some of these events."""
    return rows if isinstance(events, slice) else events[rows]
