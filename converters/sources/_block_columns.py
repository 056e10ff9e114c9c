"""What the columns of one block of events are made of: lists of what their records say, one value an event.

A column that says nothing of any event of the block is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from rblnpb.column_arrays import listed

from ..timeline import Int64
from ._event_records import ENDS_OF_ARROWS, NO_TEXT, DecimalEvent, Event, binding_point
from ._key_rows import column_of

_ENDS_OF_ARROWS: Final = np.frombuffer(ENDS_OF_ARROWS.encode(), np.uint8)

Columns = dict[str, npt.NDArray[Any]]
"""By name: an array of a value for each event, or one without dimensions, whose value all of them have."""


@dataclass(frozen=True)
class TextsAt:
    """Texts of some events of a block.

    Attributes:
        places: Which of the events have one, ascending.
        texts: Theirs.
    """

    places: list[int]
    texts: list[str]

    @classmethod
    def of(cls, values: Sequence[msgspec.Raw]) -> TextsAt:
        """Those of the events that have one.

        Raises:
            UnicodeDecodeError: A text is no UTF-8.
        """
        if values.count(NO_TEXT) == len(values):
            return cls([], [])
        places = list(compress(range(len(values)), values))
        return cls(places, [str(values[place], "utf-8") for place in places])

    def with_others(self, rows: Int64, others: TextsAt) -> TextsAt:
        """With those of other events.

        Args:
            rows: int64[k]; where in the block these stand.
            others: Their texts.
        """
        at = rows[others.places].tolist() if others.places else []
        merged = sorted(zip([*self.places, *at], [*self.texts, *others.texts], strict=True))
        return TextsAt([place for place, _ in merged], [text for _, text in merged])

    def put(self, columns: Columns, name: str, count: int, strings: dict[str, int]) -> None:
        """Make them a column of rows of strings, if there is one; of two of one name, the second counts where it has a text.

        Args:
            columns: Where to put it.
            name: Its name.
            count: How many events the block has.
            strings: Rows of strings; learns those that are new.
        """
        if not self.places:
            return
        rows = column_of(strings, self.texts)
        if len(self.places) == count:
            columns[name] = rows
            return
        column = np.zeros(count, np.int32)
        column[:] = columns.get(name, 0)
        column[listed(self.places, np.int64)] = rows
        columns[name] = column


def put_binding_points(columns: Columns, events: Sequence[Event | DecimalEvent]) -> None:
    """What the events that arrows end at bind to, if there are such events; `phase` is among the columns."""
    ends = np.flatnonzero(np.isin(columns["phase"], _ENDS_OF_ARROWS))
    if len(ends):
        points = np.zeros(len(events), np.uint8)
        points[ends] = [binding_point(events[place]) or 0 for place in ends.tolist()]
        columns["binding_point"] = points


def put_link(columns: Columns, name: str, values: Sequence[int]) -> None:
    """As `put_number`, for ids: those from 2**63 on are the same 64 bits, of which int64 shows a negative number.

    Raises:
        OverflowError: A number has more than 64 bits, or all of them set, which is no id.
    """
    try:
        put_number(columns, name, values, 0)
    except OverflowError:
        # The unsigned column refuses what is negative as well.
        bits = listed(values, np.uint64)
        if (bits == np.iinfo(np.uint64).max).any():
            raise
        put_number(columns, name, bits.view(np.int64).tolist(), 0)


def put_number(
    columns: Columns, name: str, values: Sequence[int], absent: int, kind: type[np.signedinteger[Any]] = np.int64
) -> None:
    """A column of whole numbers, if one of them is there; of two columns of one name, the first counts where it has a number.

    Raises:
        OverflowError: A number does not fit the column.
    """
    count = len(values)
    if values[:1] == values[-1:] and values.count(absent) == count:
        return
    column = listed(values, kind)
    columns[name] = np.where(columns[name] != absent, columns[name], column) if name in columns else column
