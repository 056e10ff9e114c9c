"""Rows of bytes from columns: what messages of one sort differ in stands in columns, and numpy puts the rows together.

What has one length in all rows is written column by column into a table of bytes; rows that have different fields are tables of
their own, whose rows are put where they belong. Only what has a length of its own, such as a name, is put between such stretches.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["Column", "Entries", "Flat", "Joiner", "Optional", "Padded", "as_bytes", "as_values", "join", "row_sizes", "stack"]

Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Bool = npt.NDArray[np.bool_]

_Values = npt.NDArray[Any]

Flat = bytes | UInt8
"""A part of every row: the same bytes in all of them, or a table uint8[n, w]."""


@dataclass(frozen=True, eq=False)
class Padded:
    """A text for every row; of the columns of a row at most one is such.

    Attributes:
        texts: uint8[n, w]; each text from the left; what stands behind it does not matter.
        size: int64[n]; bytes of each.
    """

    texts: UInt8
    size: Int64


@dataclass(frozen=True, eq=False)
class Optional:
    """Columns that only some rows have.

    Attributes:
        columns: The same bytes in all of these rows, or uint8[n, w]; what stands in the other rows does not matter.
        is_there: bool[n]; which rows have them.
    """

    columns: Sequence[Flat]
    is_there: Bool


@dataclass(frozen=True, eq=False)
class Entries:
    """Any number of pieces of one length for every row.

    Attributes:
        pieces: uint8[m, w]; all pieces, those of the first row first.
        count: int64[n]; how many each row has; their sum is m.
    """

    pieces: UInt8
    count: Int64


Column = Flat | Optional | Padded | Entries
"""A part of every row: of one length, or parts of lengths of their own."""


def row_sizes(columns: Sequence[Column]) -> int | Int64:
    """Bytes of every row: one number where all have the same, else int64[n]."""
    same = 0
    own: Int64 | None = None
    for column in columns:
        if isinstance(column, bytes):
            same += len(column)
        elif isinstance(column, np.ndarray):
            same += column.shape[1]
        else:
            size = _own_sizes(column)
            own = size if own is None else own + size
    return same if own is None else own + same


def _own_sizes(column: Optional | Padded | Entries) -> Int64:
    """int64[n]; bytes of a column that has not the same in all rows."""
    if isinstance(column, Padded):
        return column.size
    size: Int64
    if isinstance(column, Entries):
        size = column.count * column.pieces.shape[1]
    else:
        size = column.is_there * np.int64(sum(map(_width, column.columns)))
    return size


def stack(count: int, columns: Sequence[Flat]) -> UInt8:
    """uint8[count, w]; columns side by side."""
    return Joiner().stack(count, columns)


def join(count: int, columns: Sequence[Column]) -> UInt8:
    """uint8[m]; all rows, one after the other: of each row what its columns hold, side by side."""
    return Joiner().join(count, columns)


def as_values(table: UInt8) -> _Values:
    """[n]; each row of a table, uint8[n, w], as one value, which numpy moves at once."""
    return table.view(_kind(table.shape[1]))[:, 0]


def as_bytes(values: _Values) -> UInt8:
    """uint8[n, w]; the bytes of values of one kind."""
    return values.view(np.uint8).reshape(len(values), values.dtype.itemsize)


class Joiner:
    """Joins block after block; what rows have in common with those of the block before stands there already."""

    def __init__(self) -> None:
        """Begin with nothing in common."""
        self._stacks: dict[tuple[bytes | int, ...], UInt8] = {}
        self._packets = np.empty(0, np.uint8)

    def stack(self, count: int, columns: Sequence[Flat]) -> UInt8:
        """As the function of this name; of use until the next call."""
        rows, parts = self._laid_out(count, columns)
        for place, column in parts:
            place[:] = column
        return rows

    def _laid_out(self, count: int, columns: Sequence[Flat]) -> tuple[UInt8, list[tuple[_Values, _Values]]]:
        """uint8[count, w]: rows of what is the same in all of them; and the other columns, each with its place in so many rows.

        Such a column is one value of many bytes a row: numpy moves these several times as fast as many values.
        """
        shape = tuple([column if isinstance(column, bytes) else column.shape[1] for column in columns])
        rows = self._stacks.get(shape)
        if rows is None or len(rows) < count:
            if len(self._stacks) >= _STACKS:
                self._stacks.clear()
            self._stacks[shape] = rows = _same(count, shape)
        parts, at = [], 0
        for column in columns:
            if isinstance(column, np.ndarray) and column.size and count:
                kind = _kind(column.shape[1])
                parts.append((np.ndarray(count, kind, rows, at, (rows.shape[1],)), column.view(kind)[:, 0]))
            at += _width(column)
        return rows[:count], parts

    def join(self, count: int, columns: Sequence[Column]) -> UInt8:
        """As the function of this name; of use until the next call."""
        sizes = row_sizes(columns)
        if isinstance(sizes, int):
            return self.stack(count, [column for column in columns if isinstance(column, (bytes, np.ndarray))]).reshape(-1)
        if not count:
            return self._room(0)
        ends = np.cumsum(sizes)
        starts, end = ends - sizes, int(ends[-1])
        padded = [place for place, column in enumerate(columns) if isinstance(column, Padded)]
        # The last row may be padded beyond the end.
        packets = self._room(end + sum(_widest(columns[place]) for place in padded))
        if self._put_rows(packets, columns, starts):
            return packets[:end]
        # What a padded text leaves behind it is written over, by the next one and then by all other parts.
        for place in padded:
            _put(packets, columns[place], starts + row_sizes(columns[:place]))
        for pieces, at in self._pieces(count, columns, starts):
            _put(packets, pieces, at)
        return packets[:end]

    def _put_rows(self, packets: UInt8, columns: Sequence[Column], starts: Int64) -> bool:
        """Write rows of which only the end has a length of its own, if these are such and it is short."""
        *others, last = columns
        flat = [column for column in others if isinstance(column, (bytes, np.ndarray))]
        if len(flat) < len(others) or not isinstance(last, Padded) or last.texts.shape[1] > _SHORT:
            return False
        # Few at a time stay in the processor's cache. Each is written over what the one before leaves behind it.
        few = min(len(starts), _FEW_ROWS)
        rows, parts = self._laid_out(few, [*flat, last.texts])
        values = as_values(rows)
        anywhere = _anywhere(packets, values.dtype)
        for first in range(0, len(starts), few):
            # All are as many: of the last ones some were among those before, and are written again.
            some = slice(min(first, len(starts) - few), first + few)
            for place, column in parts:
                place[:] = column[some]
            anywhere[starts[some]] = values
        return True

    def _room(self, size_bytes: int) -> UInt8:
        """uint8[size_bytes]; the same memory each time, as fresh memory is dear."""
        if size_bytes > len(self._packets):
            self._packets = np.empty(size_bytes + size_bytes // 8, np.uint8)
        return self._packets[:size_bytes]

    def _pieces(self, count: int, columns: Sequence[Column], at: Int64) -> Iterator[tuple[UInt8, Int64]]:
        """What is not padded: pieces of one length, and where each begins."""
        for is_beside, group in itertools.groupby(columns, lambda column: isinstance(column, (bytes, np.ndarray, Optional))):
            together = list(group)
            if is_beside:
                for rows, flat in _forms(count, together):
                    yield self.stack(count if rows is None else len(rows), flat), at if rows is None else at[rows]
                at = at + row_sizes(together)
                continue
            for column in together:
                if isinstance(column, Entries):
                    first = np.cumsum(column.count) - column.count
                    ordinal = np.arange(len(column.pieces)) - np.repeat(first, column.count)
                    yield column.pieces, np.repeat(at, column.count) + column.pieces.shape[1] * ordinal
                at = at + row_sizes([column])


_SHORT: Final = 256
"""Texts up to so many bytes stand in the rows that are stacked."""
_FEW_ROWS: Final = 4096
_STACKS: Final = 8
"""So many sorts of rows are kept at a time."""


def _same(count: int, shape: Sequence[bytes | int]) -> UInt8:
    """uint8[count, w]; rows of the bytes that are the same in all of them, and room for so many others."""
    same = b"".join(part if isinstance(part, bytes) else bytes(part) for part in shape)
    rows = np.empty((count, len(same)), np.uint8)
    if same and count:
        rows.view(_kind(len(same)))[:, 0] = np.frombuffer(same, _kind(len(same)))
    return rows


def _widest(column: Column) -> int:
    return column.texts.shape[1] if isinstance(column, Padded) else 0


def _put(packets: UInt8, column: Column, at: Int64) -> None:
    """Write pieces of one length at their places."""
    pieces = column.texts if isinstance(column, Padded) else column
    if isinstance(pieces, np.ndarray) and pieces.size:
        values = as_values(pieces)
        _anywhere(packets, values.dtype)[at] = values


def _anywhere(packets: UInt8, kind: np.dtype[Any]) -> _Values:
    """Values of a kind that begin at every byte."""
    return np.ndarray(len(packets) - kind.itemsize + 1, kind, packets, 0, (1,))


def _forms(count: int, columns: Sequence[Column]) -> Iterator[tuple[Int64 | None, list[Flat]]]:
    """Columns of the rows that have the same ones of them, and which rows these are; None = all."""
    some = [column.is_there for column in columns if isinstance(column, Optional)]
    if not some:
        yield None, [column for column in columns if isinstance(column, (bytes, np.ndarray))]
        return
    bits = np.packbits(np.stack(some), axis=0)
    form = bits[0] if len(bits) == 1 else np.unique(bits, axis=1, return_inverse=True)[1].reshape(-1)
    for one in np.flatnonzero(np.bincount(form)).tolist() if count else ():
        rows = np.flatnonzero(form == one)
        flat: list[Flat] = []
        for column in columns:
            if isinstance(column, Optional):
                flat += column.columns if column.is_there[rows[0]] else ()
            elif isinstance(column, (bytes, np.ndarray)):
                flat.append(column)
        yield rows, [column if isinstance(column, bytes) else _taken(column, rows) for column in flat if _width(column)]


def _taken(column: UInt8, rows: Int64) -> UInt8:
    return as_bytes(as_values(column).take(rows))


def _width(column: Flat) -> int:
    return len(column) if isinstance(column, bytes) else column.shape[1]


def _kind(width: int) -> np.dtype[Any]:
    return _KINDS[width] if width < len(_KINDS) else np.dtype(f"V{width}")


_NUMBERS: Final = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}
_KINDS: Final = tuple(np.dtype(_NUMBERS.get(width) or f"V{width}") for width in range(1 << 8))
"""What numpy moves as one value, by its bytes."""
