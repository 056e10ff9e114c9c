"""Names of many slices at once, as padded bytes: what few slices have in common is spelled once, and put together by numpy.

A name of `rblnpb.naming` is a head, which tells the call (instance and sequence), and a tail, which tells the command in it
(workload, layer and index). A call has many commands and a program is called many times, so there are far fewer heads and tails
than names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rblnpb.naming import NameStyle

__all__ = ["NameColumns", "distinct"]

Integers = npt.NDArray[np.integer[Any]]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt8 = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.integer[Any]] | slice

_BLOCK_ROWS: Final = 8192
_BLOCK_BYTES: Final = 1 << 24
_TABLE_BYTES: Final = 1 << 24
"""Tails that take no more than this, all as long as the longest, are held side by side."""


class NameColumns:
    """Names of n slices by their parts."""

    def __init__(
        self,
        style: NameStyle,
        texts: Sequence[bytes],
        *,
        text: Integers,
        is_whole: npt.NDArray[np.bool_],
        command: Integers,
        instance: Integers,
        sequence: Integers,
        workload: Integers,
    ) -> None:
        """Spell the tails.

        Args:
            style: How names are put together.
            texts: Texts that names are made of, UTF-8.
            text: int[n]; row of `texts`, the layer, or the whole name.
            is_whole: bool[n]; whether the text is the whole name; the other parts do not matter then.
            command, instance, sequence, workload: int[n]; as of `rblnpb.naming.render`.
        """
        self._style = style
        has_whole = bool(is_whole.any())
        self._call = (instance, sequence, is_whole) if has_whole else (instance, sequence)
        has_workload = style in (NameStyle.MULTI_STREAM, NameStyle.SINGLE_STREAM)
        if has_whole:
            command, workload = np.where(is_whole, 0, command), np.where(is_whole, -1, workload)
        if not has_workload:
            workload = np.broadcast_to(np.int64(-1), len(text))
        elif int(workload.min(initial=0)) < -1:
            workload = np.maximum(workload, -1)
        parts = (text, command, workload, is_whole)
        kinds, self._tail = distinct(*parts)
        self._tails = [
            texts[row] if whole else b"%s%s_%d" % (b"W%d_" % load if load >= 0 else b"", texts[row], index)
            for row, index, load, whole in zip(*(kind.tolist() for kind in kinds), strict=True)
        ]
        self._tail_bytes = np.array(list(map(len, self._tails)), np.int64)
        is_small = len(self._tails) * int(self._tail_bytes.max(initial=0)) <= _TABLE_BYTES
        self._padded = _padded(self._tails) if is_small else None

    def blocks(self, rows: Int64) -> Iterator[Int64]:
        """Some rows in pieces whose names, all as long as the longest, and what belongs to them take little memory."""
        rest = [rows[first : first + _BLOCK_ROWS] for first in range(0, len(rows), _BLOCK_ROWS)][::-1]
        while rest:
            block = rest.pop()
            if len(block) > 1 and len(block) * self._widest(block) > _BLOCK_BYTES:
                rest += [block[len(block) // 2 :], block[: len(block) // 2]]
            else:
                yield block

    def _widest(self, rows: Int64) -> int:
        """Bytes of the longest tail of some names, or of all."""
        return self._padded.shape[1] if self._padded is not None else int(self._tail_bytes[self._tail[rows]].max())

    def take(self, rows: Rows) -> tuple[UInt8, Int64]:
        """uint8[k, w] and int64[k]; names of some slices, each from the left, and how long each is."""
        tail = self._tail[rows]
        if self._padded is not None:
            tails, tail_bytes = self._padded, self._tail_bytes
        else:
            (used,), tail = distinct(tail)
            tails, tail_bytes = _padded([self._tails[row] for row in used.tolist()]), self._tail_bytes[used]
        if self._style is NameStyle.PLAIN:
            return _rows(tails, tail), tail_bytes[tail]
        kinds, head = distinct(*(part[rows] for part in self._call))
        heads = self._heads(*(kind.tolist() for kind in kinds))
        head_bytes = np.array(list(map(len, heads)), np.int64)[head]
        return _side_by_side(_rows(_padded(heads), head), head_bytes, _rows(tails, tail), tail_bytes[tail])

    def _heads(self, instances: list[int], calls: list[int], wholes: Sequence[bool] = ()) -> list[bytes]:
        """What stands before the tails of some calls."""
        heads = [b"%d_" % call if call >= 0 else b"" for call in calls]
        if self._style is NameStyle.MULTI_STREAM:
            firsts = {instance: b"i%d_" % instance for instance in set(instances)}
            heads = [firsts[instance] + head for instance, head in zip(instances, heads, strict=True)]
        return [b"" if whole else head for whole, head in zip(wholes, heads, strict=True)] if wholes else heads


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


def _padded(texts: Sequence[bytes]) -> UInt8:
    """uint8[k, w]; texts from the left, one at least a byte wide."""
    width = max(max(map(len, texts), default=0), 1)
    return np.array(texts, f"S{width}").view(np.uint8).reshape(-1, width)


def _rows(table: UInt8, rows: Integers) -> UInt8:
    """uint8[k, w]; some rows of a table, each taken as one value."""
    width = table.shape[1]
    return table.view(f"V{width}")[:, 0].take(rows).view(np.uint8).reshape(-1, width)


def _side_by_side(left: UInt8, left_bytes: Int64, right: UInt8, right_bytes: Int64) -> tuple[UInt8, Int64]:
    """Each left text with the right one behind it, and how long both are."""
    count, width = len(left), left.shape[1] + right.shape[1]
    names = np.empty(count * width + right.shape[1], np.uint8)
    rows = names[: count * width].reshape(count, width)
    np.ndarray(count, f"V{left.shape[1]}", names, 0, (width,))[:] = left.view(f"V{left.shape[1]}")[:, 0]
    anywhere = np.ndarray(len(names) - right.shape[1] + 1, f"V{right.shape[1]}", names, 0, (1,))
    anywhere[np.arange(count) * width + left_bytes] = right.view(f"V{right.shape[1]}")[:, 0]
    return rows, left_bytes + right_bytes
