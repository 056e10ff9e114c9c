"""Numbers of some slices of a table, as traces are written: a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..timeline import Int64

__all__ = ["Rows", "linked", "row_blocks"]

Rows = Int64 | slice
"""Some rows of a table, as numpy takes them."""


def linked(link: Int64, numbers: Int64, rows: Rows) -> Int64:
    """Numbers that stand in another table, to which `link` leads from some rows; -1 leads nowhere, and 0 is unknown.

    >>> linked(np.array([1, -1, 0]), np.array([7, 8]), slice(0, 2)).tolist()
    [8, 0]
    """
    found = link[rows]
    return np.where(found < 0, 0, numbers[found]) if len(numbers) else np.zeros(len(found), np.int64)


def row_blocks(count: int, size: int = 1 << 16) -> Iterator[slice]:
    """The rows of a table of any size, a block at a time: what is made of a block stays in the processor's cache."""
    return (slice(first, min(first + size, count)) for first in range(0, count, size))
