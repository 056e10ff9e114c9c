"""Slices as Chrome trace events, a block of rows at a time: columns in, text out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.naming import CALL_PARTS

from ..json_text import Column, TextTable, microseconds, row_texts, signed_decimal, where
from ..timeline import AlignedSlices, Bool, Int32, Int64, Rows, SliceNames

__all__ = ["BLOCK_ROWS", "EVENT_HEAD", "Numbers", "SliceBlock", "SliceTable", "block_texts", "slice_block"]

EVENT_HEAD: Final = b',\n{"ph":"X","cat":"'
"""How every event begins."""

BLOCK_ROWS: Final = 16_384
_BLOCK_BYTES: Final = 1 << 24
_USUAL_BYTES: Final = 512
_EXACT_IN_DOUBLE: Final = 1 << 53

Columns = list[bytes | Column]


@dataclass(frozen=True, eq=False)
class Numbers:
    """A whole number in the args of events.

    Attributes:
        key: As JSON, with quotes.
        values: Gives the numbers of some slices, int64; ABSENT where one has none.
    """

    key: bytes
    values: Callable[[AlignedSlices], Int64]


@dataclass(frozen=True, eq=False)
class SliceTable:
    """Slices to be written.

    Attributes:
        slices: The slices, n of them; those that a host trace shows are none of ours.
        lane: int32[n]; which of the rows of its track each stands on.
        first_row: int32; for each track its first row.
        heads: For each row of the output the text of an event on it, from behind `EVENT_HEAD` up to its name.
        texts: The texts of the slices as JSON without quotes.
        numbers: What they tell beside their stage.
    """

    slices: AlignedSlices
    lane: Int32
    first_row: Int32
    heads: TextTable
    texts: TextTable
    numbers: tuple[Numbers, ...]

    def row(self, rows: Rows) -> Int32:
        """Rows of the output on which some slices of ours stand."""
        row: Int32 = self.first_row[self.slices.track[rows]] + self.lane[rows]
        return row


@dataclass(frozen=True, eq=False)
class SliceBlock:
    """Some slices of ours as they are written together.

    Attributes:
        row: int32[n]; rows of the output on which they stand.
        slices: n of them.
    """

    row: Int32
    slices: AlignedSlices


def slice_block(table: SliceTable, rows: slice) -> SliceBlock:
    """Those of some slices that are ours, about `BLOCK_ROWS` of them, read from where they stand."""
    is_ours = table.slices.event[rows] < 0
    own: Rows = rows if is_ours.all() else rows.start + np.flatnonzero(is_ours)
    return SliceBlock(table.row(own), table.slices.take(own))


def block_texts(table: SliceTable, taken: SliceBlock, base_time_ns: int) -> Iterator[tuple[int, bytes]]:
    """The events of a block, each with a comma and a newline before it.

    Args:
        table: The slices.
        taken: Those of the block.
        base_time_ns: Zero of the output; no slice starts before it.

    Yields:
        How many events, and their text.
    """
    row, block = taken.row, taken.slices
    for piece in _pieces(table, block):
        count = piece.stop - piece.start
        columns = _event(table, row[piece], block if count == len(block) else block.take(piece), base_time_ns)
        yield from row_texts(count, *columns)


def _pieces(table: SliceTable, block: AlignedSlices) -> Iterator[slice]:
    """Slices that are written together: their cells are as wide as the longest of their texts."""
    size = 2 * table.texts.sizes(block.names.stage) + table.texts.sizes(block.names.override) + _USUAL_BYTES
    first = 0
    while first < len(block):
        count = len(block) - first
        if count * int(size[first:].max()) > _BLOCK_BYTES:
            longest = np.maximum.accumulate(size[first:])
            while count > 1 and count * int(longest[count - 1]) > _BLOCK_BYTES:
                count //= 2
        yield slice(first, first + count)
        first += count


def _event(table: SliceTable, row: Int32, block: AlignedSlices, base_time_ns: int) -> Columns:
    stage = table.texts.take(block.names.stage)
    return [
        EVENT_HEAD,
        table.heads.take(row),
        *_name(block.names, stage, table.texts),
        b'","ts":',
        microseconds(block.start_ns - base_time_ns),
        b',"dur":',
        microseconds(block.duration_ns),
        b',"args":{',
        *_args(table.numbers, block, stage),
        b"}}",
    ]


def _name(names: SliceNames, stage: Column, texts: TextTable) -> Columns:
    """Names, which `rblnpb.naming` would render one by one."""
    by_parts = names.override == 0
    if not by_parts.any():
        return [texts.take(names.override)]
    columns: Columns = []
    for before, part, behind in CALL_PARTS[names.style]:
        values: Int64 = getattr(names, part)
        told = by_parts if part == "instance" else by_parts & (values >= 0)
        columns += _told(told, [before.encode(), *signed_decimal(_or_zero(told, values)), behind.encode()])
    columns += [texts.take(names.override), *_told(by_parts, [stage])]
    return columns + _told(by_parts, [b"_", *signed_decimal(names.command)])


def _args(numbers: tuple[Numbers, ...], block: AlignedSlices, stage: Column) -> Columns:
    has_member = block.names.stage != 0
    columns = _told(has_member, [b'"stage":"', stage, b'"'])
    for member in numbers:
        values = member.values(block)
        present = values != ABSENT
        comma = _told(present & has_member, [b","])
        columns += comma + _told(present, [member.key + b":", *_number(_or_zero(present, values))])
        has_member = has_member | present
    return columns


def _told(condition: Bool, columns: Columns) -> Columns:
    """The columns, in the rows where the condition holds."""
    if condition.all():
        return columns
    return [where(condition, column) for column in columns] if condition.any() else []


def _or_zero(condition: Bool, values: Int64) -> Int64:
    """The values where the condition holds, 0 elsewhere."""
    return values if condition.all() else np.where(condition, values, 0)


def _number(values: Int64) -> Columns:
    # A viewer in JavaScript would round these, so they go as texts.
    if int(values.max()) <= _EXACT_IN_DOUBLE and int(values.min()) >= -_EXACT_IN_DOUBLE:
        return [*signed_decimal(values)]
    quote = where((values > _EXACT_IN_DOUBLE) | (values < -_EXACT_IN_DOUBLE), b'"')
    return [quote, *signed_decimal(values), quote]
