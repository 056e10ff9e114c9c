"""Device slices where they stand: decoded chunk by chunk while the file is open, so that a long recording needs little memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb import codec as wire
from rblnpb.columns import DeviceSlices, Int64
from rblnpb.container import Buffer, Frame
from rblnpb.errors import FormatError
from rblnpb.references import ReferenceLimits, mended
from rblnpb.row_order import order_by

__all__ = ["StoredChunk", "StoredSlices", "rows_of_ordinals"]

_KEPT_CHUNKS: Final = 4
"""Decoded chunks that `take` keeps, 6 MB each: rows are asked for nearly in order, from few chunks at a time."""


@dataclass(frozen=True)
class StoredChunk:
    """A chunk of device slices that can be read.

    Attributes:
        frame: Where it stands.
        first_ordinal: Of its first record among all that the session wrote.
        first_row: Of its first record among those that are there.
        count: Records that are there.
        rows: int64[count]; which of its records these are, ascending; None: all.
    """

    frame: Frame
    first_ordinal: int
    first_row: int
    count: int
    rows: Int64 | None = None

    def ordinals(self) -> Int64:
        """int64[count]; ordinals of the records that are there."""
        # An ordinal that no int64 holds is of no record.
        return min(self.first_ordinal, 1 << 62) + (np.arange(self.count) if self.rows is None else self.rows)


def rows_of_ordinals(chunks: Sequence[StoredChunk], ordinals: Int64) -> Int64:
    """int64[n]; rows of the records of these ordinals; -1, or the ordinal itself if it is too large, where one is not there.

    Args:
        chunks: In the order of their rows, without a gap between them.
        ordinals: int64[n].
    """
    counts = np.array([chunk.count for chunk in chunks], np.int64)
    starts = np.array([chunk.first_row for chunk in chunks], np.int64)
    firsts = np.array([min(chunk.first_ordinal, 1 << 62) for chunk in chunks], np.int64)
    is_whole = all(chunk.rows is None for chunk in chunks)
    if is_whole and np.array_equal(firsts, starts):
        return ordinals
    if not is_whole:
        # Every record for itself: of a window there are few.
        firsts = np.concatenate([chunk.ordinals() for chunk in chunks])
        starts, counts = np.arange(len(firsts)), np.ones(len(firsts), np.int64)
    order = order_by(firsts)
    at = np.searchsorted(firsts[order], ordinals, side="right") - 1
    chunk = order[np.maximum(at, 0)]
    inside = ordinals - firsts[chunk]
    found: Int64 = np.where((at >= 0) & (inside < counts[chunk]), starts[chunk] + inside, -1)
    return found


class StoredSlices:
    """The device slices of one session of an open `ProfileFile`, row by row those that `rblnpb.read` gives.

    They are those of the chunks that can be read; what could not be is in the findings of the profile that came with them. Not
    thread-safe. Once the file is closed, every method but `len` raises ValueError.

    Attributes:
        chunks: In the order of their rows.
    """

    def __init__(self, name: str, data: Buffer, chunks: Sequence[StoredChunk], limits: ReferenceLimits) -> None:
        """Slices of a file.

        Args:
            name: Of the input, for errors.
            data: All of the input.
            chunks: In the order of their rows, without a gap between them.
            limits: What records may refer to.
        """
        self.chunks = tuple(chunks)
        self._name = name
        self._data = data
        self._limits = limits
        self._edges = np.array([*(chunk.first_row for chunk in chunks), len(self)], np.int64)
        self._kept: OrderedDict[int, DeviceSlices] = OrderedDict()

    def __len__(self) -> int:
        return self.chunks[-1].first_row + self.chunks[-1].count if self.chunks else 0

    def blocks(self) -> Iterator[tuple[int, DeviceSlices]]:
        """All slices, a chunk at a time: the row of the first one, and 1 to 65,536 of them, in the order of their rows.

        Raises:
            FormatError: The file changed since it was opened.
        """
        for chunk in self.chunks:
            yield chunk.first_row, self._decoded(chunk)

    def take(self, rows: slice | Int64) -> DeviceSlices:
        """The slices of these rows, in that order; only the chunks in which they lie are decoded.

        Args:
            rows: A slice, or int64[n] of rows in any order, each from 0 to `len(self)`, which is out.

        Returns:
            n slices. A few decoded chunks are kept for the next call, so rows that ascend from call to call cost each chunk once.

        Raises:
            IndexError: A row that is not there.
            FormatError: The file changed since it was opened.
        """
        if isinstance(rows, slice):
            first, stop, step = rows.indices(len(self))
            if step == 1:
                return self._stretch(first, stop)
            rows = np.arange(first, stop, step)
        if not len(rows):
            return DeviceSlices.empty()
        if int(rows.min()) < 0 or int(rows.max()) >= len(self):
            wild = int(rows.min()) if int(rows.min()) < 0 else int(rows.max())
            raise IndexError(f"there is no row {wild:,} among {len(self):,} device slices")
        of_chunk = np.searchsorted(self._edges, rows, side="right") - 1
        order = None
        if (of_chunk[1:] < of_chunk[:-1]).any():
            order = order_by(of_chunk)
            rows, of_chunk = rows[order], of_chunk[order]
        starts = np.flatnonzero(np.diff(of_chunk, prepend=-1)).tolist()
        parts = []
        for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
            number = int(of_chunk[start])
            parts.append(self._chunk(number).take(_as_slice(rows[start:stop] - self._edges[number])))
        taken = DeviceSlices.concat(parts)
        if order is None:
            return taken
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return taken.take(place)

    def _stretch(self, first: int, stop: int) -> DeviceSlices:
        """The slices from a row to another, which is out."""
        parts: list[DeviceSlices] = []
        number = int(np.searchsorted(self._edges, first, side="right")) - 1
        while first < stop:
            start, end = int(self._edges[number]), min(int(self._edges[number + 1]), stop)
            parts.append(self._chunk(number).take(slice(first - start, end - start)))
            first, number = end, number + 1
        return DeviceSlices.concat(parts)

    def _chunk(self, number: int) -> DeviceSlices:
        table = self._kept.pop(number, None)
        if table is None:
            table = self._decoded(self.chunks[number])
        self._kept[number] = table
        if len(self._kept) > _KEPT_CHUNKS:
            self._kept.popitem(last=False)
        return table

    def _decoded(self, chunk: StoredChunk) -> DeviceSlices:
        try:
            _, table = wire.decode_chunk(self._data, chunk.frame.start, chunk.frame.end)
        except wire.CodecError as error:
            raise FormatError(self._name, f"it changed while it was read: {error}", offset=chunk.frame.offset) from error
        is_same = isinstance(table, DeviceSlices) and (
            len(table) == chunk.count if chunk.rows is None else len(table) > int(chunk.rows[-1])
        )
        if not is_same:
            raise FormatError(self._name, "it changed while it was read", offset=chunk.frame.offset)
        assert isinstance(table, DeviceSlices)
        table = table if chunk.rows is None else table.take(chunk.rows)
        return mended(table, self._limits, chunk.first_row)[0]


def _as_slice(rows: Int64) -> slice | Int64:
    """Rows that follow each other as a slice, whose records need no copy."""
    if len(rows) == int(rows[-1]) - int(rows[0]) + 1 and (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows
