"""Pieces of many gaps in few bytes each: columns are made of some gaps at a time, when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from rblnpb.column_arrays import row_blocks

from ...results import CAUSES, STEPS
from ...timeline import Int64
from ..grouping import consecutive
from .gaps import Gaps

__all__ = ["GapPieces", "PieceTable"]


@dataclass(frozen=True, eq=False)
class GapPieces:
    """Pieces of gaps, each with one cause; they add up to the gaps. In order of gap and time; all columns have the same length n.

    Attributes:
        gap: int64[n]; row of `Gaps`.
        start_ns, end_ns: int64[n]; trace clock.
        cause: int64[n]; place in `results.CAUSES`.
        step: int64[n]; place in `results.STEPS`; -1 = none.
        name: int64[n]; row of `names`: the op, activity, engine or program that stands for it; 0 = none.
        names: Texts; row 0 is "".
    """

    gap: Int64
    start_ns: Int64
    end_ns: Int64
    cause: Int64
    step: Int64
    name: Int64
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.gap)


class PieceTable:
    """Pieces of all gaps of a timeline; a gap may have as many as the device has waits, so they outnumber the slices.

    Attributes:
        names: As of `GapPieces`.
    """

    BLOCK: Final = 8192
    """Gaps whose pieces are columns at one time."""

    def __init__(self, gaps: Gaps, names: tuple[str, ...], explain: Callable[[int, int], GapPieces]) -> None:
        """Explain them, and keep that.

        Args:
            gaps: The gaps.
            names: As of `GapPieces`.
            explain: Makes the pieces of the gaps from a row on, up to another; they have to fill each of these gaps.
        """
        self._gaps, self.names = gaps, names
        counts, starts, sorts = [np.zeros(1, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.uint32)]
        for rows in row_blocks(len(gaps), self.BLOCK):
            pieces = explain(rows.start, rows.stop)
            counts.append(np.bincount(pieces.gap - rows.start, minlength=rows.stop - rows.start))
            starts.append(pieces.start_ns)
            sorts.append(((pieces.name * (len(STEPS) + 1) + pieces.step + 1) * len(CAUSES) + pieces.cause).astype(self._narrow()))
        self._first = np.cumsum(np.concatenate(counts))
        # Pieces fill their gaps: each ends where the next one begins, or with its gap.
        self._start_ns = np.concatenate(starts)
        self._sort = np.concatenate(sorts)

    def _narrow(self) -> type[np.uint32 | np.uint64]:
        """What holds cause, step and name as one number."""
        return np.uint32 if len(self.names) * (len(STEPS) + 1) * len(CAUSES) < 1 << 32 else np.uint64

    def __len__(self) -> int:
        return len(self._start_ns)

    def blocks(self) -> Iterator[GapPieces]:
        """All of them, so many at a time that memory does not grow with their number."""
        for rows in row_blocks(len(self._gaps), self.BLOCK):
            gap = np.arange(rows.start, rows.stop)
            yield self._columns(gap, gap)

    def of(self, rows: Int64) -> GapPieces:
        """Those of some gaps, one gap after the other; `gap` is the place of a gap among these.

        Args:
            rows: int64[m]; rows of `Gaps`.
        """
        return self._columns(rows, np.arange(len(rows)))

    def _columns(self, rows: Int64, called: Int64) -> GapPieces:
        first = self._first[rows]
        counts = self._first[rows + 1] - first
        at = consecutive(first, counts)
        start_ns = self._start_ns[at]
        end_ns = np.empty(len(at), np.int64)
        end_ns[:-1] = start_ns[1:]
        end_ns[np.cumsum(counts) - 1] = self._gaps.end_ns[rows]
        rest, cause = np.divmod(self._sort[at].astype(np.int64), len(CAUSES))
        name, step = np.divmod(rest, len(STEPS) + 1)
        return GapPieces(np.repeat(called, counts), start_ns, end_ns, cause, step - 1, name, self.names)
