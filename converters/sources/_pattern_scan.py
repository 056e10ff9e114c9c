"""Events read by their patterns: step by step for all events of a block at once, from words of the text to columns.

An event is read when its text is, from `{` to `}`, that of a pattern with plain values in the gaps. Whatever differs is left to the
decoder, which is the one to say what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..timeline import Int64
from ._event_patterns import Constants, Kind, Slot, Step
from ._growing_columns import ABSENT_VALUES
from ._json_blocks import EventBlock
from ._known_texts import KnownTexts
from ._text_numbers import number_sizes, times_ns, whole_numbers
from ._text_words import TextWords, Windows

FEWEST_EVENTS: Final = 256
"""To follow fewer events through the steps of a pattern takes longer than to decode them."""
NO_NUMBER: Final = -1
"""Where a column of numbers that stand for something has none."""
STANDING_FOR_SOMETHING: Final = frozenset({"track", "flow_id"})
"""Columns whose values are made of such numbers: of threads as `KnownValues` has them, and of arrows as they are written."""

Rows = Int64 | slice
"""Some events of a block; a slice is all of them."""


@dataclass(frozen=True)
class KnownValues:
    """What may stand in gaps for texts: names, and numbers of threads as they are written."""

    names: KnownTexts
    threads: KnownTexts


class PatternScan:
    """One reading of a block.

    Attributes:
        ends: Which events have ended as which pattern, and what these have in common. They are of different patterns.
        values: By column, [n] in its type; of columns that are `STANDING_FOR_SOMETHING` int64[n] of that, or NO_NUMBER. In
            rows of events that have not ended they mean nothing.
    """

    def __init__(self, block: EventBlock, steps: list[Step], known: KnownValues) -> None:
        """Read what begins with one of the steps."""
        self.ends: list[tuple[Rows, Constants]] = []
        self.values: dict[str, npt.NDArray[Any]] = {}
        self._count = len(block)
        self._known = known
        self._text = TextWords(block.padded)
        self._ends = block.starts + block.lengths
        self._follow(steps, slice(None), block.starts)

    def _follow(self, steps: list[Step], rows: Rows, places: Int64) -> None:
        """Go on with some events, which were read up to these places."""
        for step in steps:
            if len(places) < FEWEST_EVENTS:
                return
            windows = self._text.windows(places, step.window_bytes)
            is_like = windows.begin_with(step.fixed)
            count = np.count_nonzero(is_like)
            if count == len(places):
                self._take(step, rows, places, windows)
                return
            if count >= FEWEST_EVENTS:
                like = np.flatnonzero(is_like)
                self._take(step, _some(rows, like), places[like], windows.some(like))
                unlike = np.flatnonzero(~is_like)
                rows, places = _some(rows, unlike), places[unlike]

    def _take(self, step: Step, rows: Rows, places: Int64, windows: Windows) -> None:
        """Read the gap of a step that some events are like."""
        offset = len(step.fixed.text)
        places = places + offset
        if step.constants is not None:
            is_end = places == self._ends[rows]
            count = np.count_nonzero(is_end)
            if count:
                ended = rows if count == len(places) else _some(rows, np.flatnonzero(is_end))
                self.ends.append((ended, step.constants))
        if step.slot is None:
            return
        values, sizes = self._read(step.slot, windows, offset, places)
        if np.count_nonzero(sizes) < len(places):
            good = np.flatnonzero(sizes)
            rows, places, values, sizes = _some(rows, good), places[good], values[good], sizes[good]
        if step.slot.column is not None:
            self._put(step.slot.column, rows, values)
        self._follow(step.following, rows, places + sizes)

    def _read(self, slot: Slot, windows: Windows, offset: int, places: Int64) -> tuple[Int64, Int64]:
        """What stands in a gap, and its length in bytes: 0 where it is not what belongs there."""
        if slot.kind is Kind.TIME:
            return times_ns(windows, offset, self._text, places)
        if slot.kind is Kind.NUMBER:
            return whole_numbers(windows, offset)
        if slot.kind is Kind.IGNORED:
            return places, number_sizes(windows, offset, self._text, places)
        known = self._known.names if slot.kind is Kind.NAME else self._known.threads
        numbers, sizes = known.find(windows, offset, self._text, places)
        sizes[numbers < 0] = 0
        return numbers, sizes

    def _put(self, column: str, rows: Rows, values: Int64) -> None:
        absent = np.array(NO_NUMBER) if column in STANDING_FOR_SOMETHING else ABSENT_VALUES[column]
        if isinstance(rows, slice):
            self.values[column] = values.astype(absent.dtype, copy=False)
            return
        if column not in self.values:
            self.values[column] = np.full(self._count, absent)
        self.values[column][rows] = values


def _some(rows: Rows, places: Int64) -> Rows:
    """Some of these events."""
    return places if isinstance(rows, slice) else rows[places]
