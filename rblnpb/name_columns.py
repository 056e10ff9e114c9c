"""Names of many slices at once, as padded bytes: what few slices have in common is spelled once, and put together by numpy.

A name of `rblnpb.naming` is a head, which tells the call (instance and sequence), and a tail, which tells the command in it
(workload, layer and index). A call has many commands and a program is called many times, so there are far fewer heads and tails
than names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.byte_rows import as_bytes, as_values
from rblnpb.naming import NameStyle

__all__ = ["NameParts", "Speller", "distinct"]

Integers = npt.NDArray[np.integer[Any]]
Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.integer[Any]] | slice

_BLOCK_BYTES: Final = 1 << 24
"""Names of a block, all as long as the longest, take no more than this."""
_TABLE_BYTES: Final = 1 << 24
"""Tails take no more than this, all as long as the longest; when there are more, the table begins anew."""
_PLACES: Final = 1 << 21
"""Of so many combinations of text, command and workload each has a place of its own."""
_TAIL_BYTES: Final = 48
"""What may stand around the text in a name, at most: two numbers of 20 digits each and four letters."""


@dataclass(frozen=True, eq=False)
class NameParts:
    """Parts of n names.

    Attributes:
        text: int[n]; row of the texts: the layer, or the whole name.
        is_whole: bool[n]; whether the text is the whole name; the other parts do not matter then. None = of none it is.
        command, instance, sequence, workload: int[n]; as of `rblnpb.naming.render`.
    """

    text: Integers
    is_whole: Bool | None
    command: Integers
    instance: Integers
    sequence: Integers
    workload: Integers

    def __len__(self) -> int:
        return len(self.text)

    def take(self, rows: Rows) -> NameParts:
        """Of some names."""
        return NameParts(
            text=self.text[rows],
            is_whole=None if self.is_whole is None else self.is_whole[rows],
            command=self.command[rows],
            instance=self.instance[rows],
            sequence=self.sequence[rows],
            workload=self.workload[rows],
        )


class Speller:
    """Spells names, a block at a time. What it has spelled once it need not spell again, as long as there is room for it."""

    def __init__(self, style: NameStyle, texts: Sequence[bytes]) -> None:
        """Begin with nothing spelled.

        Args:
            style: How names are put together.
            texts: Texts that names are made of, UTF-8.
        """
        self._style = style
        self._texts = texts
        self._text_bytes = np.array(list(map(len, texts)), np.int64)
        self._longest = int(self._text_bytes.max(initial=0)) + _TAIL_BYTES
        self._has_workload = style in (NameStyle.MULTI_STREAM, NameStyle.SINGLE_STREAM)
        self._spans = (0, 0, 0)
        self._row: Integers = np.empty(0, np.intp)
        self._tails = _Texts()

    def pieces(self, text: Integers) -> Iterator[slice]:
        """Pieces of a block whose names, all as long as the longest, take little memory.

        Args:
            text: int[n]; as of `NameParts`.
        """
        rest = [slice(0, len(text))] if len(text) else []
        while rest:
            piece = rest.pop()
            count = piece.stop - piece.start
            if count > 1 and count * self._longest > _BLOCK_BYTES:
                longest = int(self._text_bytes[text[piece]].max()) + _TAIL_BYTES
                if count * longest > _BLOCK_BYTES:
                    middle = piece.start + count // 2
                    rest += [slice(middle, piece.stop), slice(piece.start, middle)]
                    continue
            yield piece

    def spelled(self, parts: NameParts) -> tuple[UInt8, UInt8, Int64]:
        """The names of some slices, of one piece.

        Returns:
            uint8[n, v]: what all of them begin with, as long in all of them; v may be 0. uint8[n, w] and int64[n]: what follows,
            each from the left, and how long each is.
        """
        tail = self._tail_rows(parts)
        tails, tail_bytes = _rows(self._tails.table, tail), self._tails.size.take(tail)
        if self._style is NameStyle.PLAIN or not len(parts):
            return np.empty((len(parts), 0), np.uint8), tails, tail_bytes
        heads, size = self._heads(parts)
        if isinstance(size, int):
            return heads, tails, tail_bytes
        return heads[:, :0], *_side_by_side(heads, size, tails, tail_bytes)

    def _heads(self, parts: NameParts) -> tuple[UInt8, Int64 | int]:
        """What stands before the tails of calls, and how long each is. Mostly slices of one call follow each other."""
        columns = [parts.sequence, *([parts.instance] if self._style is NameStyle.MULTI_STREAM else ())]
        columns += [parts.is_whole] if parts.is_whole is not None else ()
        is_next = columns[0][1:] != columns[0][:-1]
        for column in columns[1:]:
            is_next |= column[1:] != column[:-1]
        borders = np.concatenate(([0], np.flatnonzero(is_next) + 1, [len(parts)]))
        if len(borders) > len(parts) // 16:
            columns, row = distinct(*columns)
            spread = partial(np.take, indices=row)
        else:
            columns = [column[borders[:-1]] for column in columns]
            spread = partial(np.repeat, repeats=borders[1:] - borders[:-1])
        if parts.is_whole is None and (alike := self._alike_heads(*columns)) is not None:
            heads, size = alike
            return as_bytes(spread(as_values(heads)))[:, :size], size
        texts = self._spell_heads(*(column.tolist() for column in columns))
        heads, sizes = as_bytes(spread(as_values(_padded(texts)))), list(map(len, texts))
        if min(sizes) == max(sizes):
            return heads[:, : sizes[0]], sizes[0]
        return heads, spread(np.array(sizes, np.int64))

    def _alike_heads(self, *columns: Integers) -> tuple[UInt8, int] | None:
        """Heads of calls whose numbers are equally long, from the left, and their length; None where they are not."""
        greatest = [int(column.max()) for column in columns]
        digits = [len(str(number)) for number in greatest]
        least = [int(column.min()) for column in columns]
        if min(least) < 0 or digits != [len(str(number)) for number in least]:
            return None
        head = b"i%d_%d_" % (greatest[1], greatest[0]) if self._style is NameStyle.MULTI_STREAM else b"%d_" % greatest[0]
        heads = np.empty((len(columns[0]), _quick_width(len(head))), np.uint8)
        heads[:, : len(head)] = np.frombuffer(head, np.uint8)
        end = len(head)
        for place, (column, width) in enumerate(zip(columns, digits, strict=True)):
            if least[place] < greatest[place]:
                _write_digits(column, heads[:, end - 1 - width : end - 1])
            end -= width + 1
        return heads, len(head)

    def _spell_heads(self, calls: list[int], *others: list[int]) -> list[bytes]:
        if self._style is NameStyle.MULTI_STREAM:
            pairs = zip(others[0], calls, strict=True)
            heads = [b"i%d_%d_" % pair if pair[1] >= 0 else b"i%d_" % pair[0] for pair in pairs]
            others = others[1:]
        else:
            heads = [b"%d_" % call if call >= 0 else b"" for call in calls]
        return [b"" if whole else head for whole, head in zip(others[0], heads, strict=True)] if others else heads

    def _tail_rows(self, parts: NameParts) -> Integers:
        """Rows of the table of tails; those that are new are spelled."""
        text, command, load = parts.text, parts.command, parts.workload
        load = np.maximum(load, -1) + np.int64(1) if self._has_workload else np.broadcast_to(np.int64(0), len(text))
        if parts.is_whole is not None:
            text = text + parts.is_whole * len(self._texts)
            command, load = np.where(parts.is_whole, 0, command), np.where(parts.is_whole, 0, load)
        if not len(text):
            return np.empty(0, np.intp)
        spans = tuple(max(span, int(column.max()) + 1) for span, column in zip(self._spans, (text, command, load), strict=True))
        if spans[0] * spans[1] * spans[2] > _PLACES or int(command.min()) < 0:
            kinds, of_name = distinct(text, command, load)
            self._tails = _Texts()
            self._spans, self._row = (0, 0, 0), self._row[:0]
            self._tails.add(self._spell(*kinds))
            return of_name
        if spans != self._spans:
            self._spread(spans)
        # Small numbers are worked on in half the time.
        small = text.astype(np.int32, copy=False) * np.int32(spans[1])
        small += command
        small *= spans[2]
        key = small + load
        row = self._row.take(key)
        if int(row.min()) < 0:
            self._learn(key, row < 0)
            row = self._row.take(key)
        return row

    def _spread(self, spans: tuple[int, ...]) -> None:
        """Make places for more combinations."""
        wider = np.full(spans, -1, np.intp)
        wider[tuple(slice(span) for span in self._spans)] = self._row.reshape(self._spans)
        self._spans, self._row = (spans[0], spans[1], spans[2]), wider.reshape(-1)

    def _learn(self, key: Int64, is_new: Bool) -> None:
        """Spell what has no place yet; where there is no more room, what is not needed now loses it."""
        (keys,), _ = distinct(key[is_new])
        tails = self._spell_keys(keys)
        if self._tails.bytes_with(tails) > _TABLE_BYTES:
            self._tails = _Texts()
            self._row.fill(-1)
            (keys,), _ = distinct(key)
            tails = self._spell_keys(keys)
        self._row[keys] = np.arange(len(self._tails), len(self._tails) + len(keys))
        self._tails.add(tails)

    def _spell_keys(self, keys: Int64) -> list[bytes]:
        _, commands, loads = self._spans
        return self._spell(keys // (commands * loads), keys // loads % commands, keys % loads)

    def _spell(self, text: Integers, command: Integers, load: Integers) -> list[bytes]:
        texts, count = self._texts, len(self._texts)
        commands, loads = command.tolist(), load.tolist()
        # There are few numbers, each of which is printed once.
        begins = {number: b"W%d_" % (number - 1) if number else b"" for number in set(loads)}
        ends = {number: b"_%d" % number for number in set(commands)}
        return [
            texts[row - count] if row >= count else begins[load] + texts[row] + ends[index]
            for row, index, load in zip(text.tolist(), commands, loads, strict=True)
        ]


class _Texts:
    """A growing table of texts.

    Attributes:
        table: uint8[k, w]; from the left.
        size: int64[k]; bytes of each.
    """

    def __init__(self) -> None:
        self.table = np.empty((0, 1), np.uint8)
        self.size = np.empty(0, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def bytes_with(self, texts: list[bytes]) -> int:
        """How large the table is with these."""
        return (self._count + len(texts)) * max(self.table.shape[1], *map(len, texts))

    def add(self, texts: list[bytes]) -> None:
        """More rows."""
        more = _padded(texts)
        count, width = self._count + len(texts), max(self.table.shape[1], more.shape[1])
        if count > len(self.table) or width > self.table.shape[1]:
            table, size = np.zeros((count + count // 2, width), np.uint8), np.zeros(count + count // 2, np.int64)
            table[: self._count, : self.table.shape[1]] = self.table[: self._count]
            size[: self._count] = self.size[: self._count]
            self.table, self.size = table, size
        self.table[self._count : count, : more.shape[1]] = more
        self.size[self._count : count] = list(map(len, texts))
        self._count = count


def distinct(*columns: npt.NDArray[Any]) -> tuple[list[npt.NDArray[Any]], Int32]:
    """Rows of which no two are equal.

    Args:
        *columns: int[n] or bool[n].

    Returns:
        The columns of the distinct rows, ascending by the first, then by the next, and int32[n]: which of them each row is.

    >>> values, row = distinct(np.array([7, 5, 7]))
    >>> values[0].tolist(), row.tolist()
    ([5, 7], [1, 0, 1])
    """
    count = len(columns[0])
    if not count:
        return list(columns), np.empty(0, np.int32)
    bounds = [(least, int(column.max()) - least + 1) for column in columns for least in [int(column.min())]]
    span = 1
    for _, width in bounds:
        span *= width
    if span > max(4 * count, 1 << 16):
        if len(columns) == 1:
            values, places = np.unique(columns[0], return_inverse=True)
            return [values], places.astype(np.int32)
        # The ranks of the values of a column lie close together.
        ranked = [np.unique(column, return_inverse=True) for column in columns]
        kinds, places = _ranked_rows([rank for _, rank in ranked])
        return [values[kind] for (values, _), kind in zip(ranked, kinds, strict=True)], places.astype(np.int32)
    varied = [(column, least, width) for column, (least, width) in zip(columns, bounds, strict=True) if width > 1]
    is_there = np.zeros(span, np.bool_)
    for first in range(0, count, _KEY_ROWS):
        is_there[_keys(varied, first, min(first + _KEY_ROWS, count))] = True
    found = np.flatnonzero(is_there)
    place = np.empty(span, np.int32)
    place[found] = np.arange(len(found))
    row = np.empty(count, np.int32)
    for first in range(0, count, _KEY_ROWS):
        place.take(_keys(varied, first, min(first + _KEY_ROWS, count)), out=row[first : first + _KEY_ROWS], mode="clip")
    parts: list[npt.NDArray[Any]] = []
    for column, (least, width) in zip(reversed(columns), reversed(bounds), strict=True):
        parts.append((found % width + least).astype(column.dtype))
        found = found // width
    return parts[::-1], row


_KEY_ROWS: Final = 1 << 16
"""Rows at a time: fresh memory for all of them at once costs more than what is done with it."""


def _keys(varied: Sequence[tuple[npt.NDArray[Any], int, int]], first: int, last: int) -> Int64:
    """One number for each of some rows; equal where the rows are."""
    key = np.zeros(last - first, np.int64)
    for column, least, width in varied:
        key *= width
        key += column[first:last]
        key -= least
    return key


def _ranked_rows(ranks: list[npt.NDArray[np.intp]]) -> tuple[list[npt.NDArray[np.intp]], npt.NDArray[np.intp]]:
    """As `distinct`, of columns that begin at 0 and have no holes; two columns at a time."""
    row = ranks[0]
    for rank in ranks[1:]:
        row = np.unique(row * np.int64(int(rank.max()) + 1) + rank, return_inverse=True)[1]
    first = np.empty(int(row.max()) + 1, np.intp)
    first[row[::-1]] = np.arange(len(row))[::-1]
    return [rank[first] for rank in ranks], row


_QUICK_WIDTHS: Final = (1, 2, 4, 8, 16, 32)
"""Numpy takes rows of so many bytes from a table in a third of the time that it needs for others."""


def _quick_width(longest: int) -> int:
    return next((width for width in _QUICK_WIDTHS if width >= longest), longest)


def _write_digits(values: Integers, digits: UInt8) -> None:
    """Write numbers, not negative, in decimal: uint8[n, w], of which each has as many digits."""
    rest = values.astype(np.uint64)
    for place in range(digits.shape[1] - 1, -1, -1):
        tenth = rest // 10
        digits[:, place] = rest - 10 * tenth + ord("0")
        rest = tenth


def _padded(texts: Sequence[bytes]) -> UInt8:
    """uint8[k, w]; texts from the left, a byte wide at least."""
    width = _quick_width(max(map(len, texts), default=0))
    return np.array(texts, f"S{width}").view(np.uint8).reshape(-1, width)


def _rows(table: UInt8, rows: Integers) -> UInt8:
    """uint8[k, w]; some rows of a table, each taken as one value."""
    return as_bytes(as_values(table).take(rows))


def _side_by_side(left: UInt8, left_bytes: Int64, right: UInt8, right_bytes: Int64) -> tuple[UInt8, Int64]:
    """Each left text with the right one behind it, and how long both are."""
    count, width = len(left), left.shape[1] + right.shape[1]
    names = np.empty(count * width + right.shape[1], np.uint8)
    rows = names[: count * width].reshape(count, width)
    np.ndarray(count, f"V{left.shape[1]}", names, 0, (width,))[:] = left.view(f"V{left.shape[1]}")[:, 0]
    anywhere = np.ndarray(len(names) - right.shape[1] + 1, f"V{right.shape[1]}", names, 0, (1,))
    anywhere[np.arange(count) * width + left_bytes] = right.view(f"V{right.shape[1]}")[:, 0]
    return rows, left_bytes + right_bytes
