"""Slices as Chrome trace events, a block of rows at a time: columns in, text out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT

from ..json_text import Texts, as_texts, decimal, join_rows, microseconds, signed_decimal, where
from ..timeline import Bool, Int32, Int64, UInt8
from ._slice_rows import Rows

__all__ = ["Numbers", "SliceTable", "Words", "slice_blocks"]

_BLOCK_ROWS: Final = 8192
_BLOCK_BYTES: Final = 1 << 24
_USUAL_BYTES: Final = 512
_EXACT_IN_DOUBLE: Final = 1 << 53


@dataclass(frozen=True, eq=False)
class Numbers:
    """A whole number in the args of events.

    Attributes:
        key: As JSON, with quotes.
        values: Gives the numbers of some rows, int64; ABSENT where a row has none.
    """

    key: bytes
    values: Callable[[Rows], Int64]

    def texts(self, rows: Rows) -> tuple[Bool, list[UInt8 | Texts]]:
        """Which rows have one, and the texts of the numbers in columns side by side; where there is none they say anything."""
        values = self.values(rows)
        present = values != ABSENT
        values = np.where(present, values, 0)
        digits = decimal(values) if values.min() >= 0 else signed_decimal(values)
        # A viewer in JavaScript would round these, so they go as texts.
        too_large = (values > _EXACT_IN_DOUBLE) | (values < -_EXACT_IN_DOUBLE)
        if not too_large.any():
            return present, [digits]
        quote = where(too_large, b'"')
        return present, [quote, digits, quote]


@dataclass(frozen=True, eq=False)
class Words:
    """A text in the args of events.

    Attributes:
        key: As JSON, with quotes.
        table: Texts as JSON, with quotes; row 0 means none.
        entry: int32[n]; rows of the table.
    """

    key: bytes
    table: tuple[bytes, ...]
    entry: Int32

    def texts(self, rows: Rows) -> tuple[Bool, list[UInt8 | Texts]]:
        """Which rows have one, and the texts: a column as wide as the longest of these, not as that of the table."""
        entry = self.entry[rows]
        used, of_row = np.unique(entry, return_inverse=True)
        return entry != 0, [as_texts([self.table[row] for row in used.tolist()])[of_row]]


@dataclass(frozen=True, eq=False)
class SliceTable:
    """Slices to be written; all columns have the same length n, which may be more than are ours.

    Attributes:
        prefixes: For each row of the output the text of an event on it, from the comma before it up to its name.
        row: int32[n]; rows of `prefixes`; -1 for slices that are not to be written.
        start_ns, duration_ns: int64[n]; trace clock.
        names: Gives the names of some slices as JSON without quotes.
        text_bytes: Gives for some slices how long their texts are at most; tells how many of them fit a block.
        members: Their args.
    """

    prefixes: Texts
    row: Int32
    start_ns: Int64
    duration_ns: Int64
    names: Callable[[Rows], Texts]
    text_bytes: Callable[[Rows], Int64]
    members: tuple[Numbers | Words, ...]


def slice_blocks(table: SliceTable, base_time_ns: int) -> Iterator[tuple[int, bytes]]:
    """The events of a table, each with a comma and a newline before it, in blocks of bounded size.

    Args:
        table: The slices.
        base_time_ns: Zero of the output; no slice starts before it.

    Yields:
        How many events, and their text.
    """
    for block in _row_blocks(table):
        rows: Rows = block
        is_ours = table.row[rows] >= 0
        count = int(is_ours.sum())
        if count == 0:
            continue
        if count < len(is_ours):
            rows = block.start + np.flatnonzero(is_ours)
        text = join_rows(
            count,
            table.prefixes[table.row[rows]],
            table.names(rows),
            b'","ts":',
            microseconds(table.start_ns[rows] - base_time_ns),
            b',"dur":',
            microseconds(table.duration_ns[rows]),
            b',"args":{',
            *_args(table.members, rows, count),
            b"}}",
        )
        yield count, text


def _row_blocks(table: SliceTable) -> Iterator[slice]:
    """Rows that are written together: their columns are as wide as the longest of their texts."""
    first = 0
    while first < len(table.row):
        count = min(_BLOCK_ROWS, len(table.row) - first)
        longest = np.maximum.accumulate(table.text_bytes(slice(first, first + count)) + _USUAL_BYTES)
        while count > 1 and count * int(longest[count - 1]) > _BLOCK_BYTES:
            count //= 2
        yield slice(first, first + count)
        first += count


def _args(members: tuple[Numbers | Words, ...], rows: Rows, count: int) -> list[bytes | Texts | UInt8]:
    columns: list[bytes | Texts | UInt8] = []
    has_member = np.zeros(count, np.bool_)
    for member in members:
        present, texts = member.texts(rows)
        comma = b"," if has_member.all() else where(has_member & present, b",")
        if present.all():
            columns += [comma, member.key, b":", *texts]
        elif present.any():
            columns += [where(present, column) for column in (comma, member.key, b":", *texts)]
        has_member |= present
    return columns
