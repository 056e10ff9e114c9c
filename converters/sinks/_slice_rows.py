"""Numbers of some slices of a table, as traces are written: a block of rows at a time."""

from __future__ import annotations

import numpy as np

from ..timeline import Int64

__all__ = ["Rows", "linked"]

Rows = Int64 | slice
"""Some rows of a table, as numpy takes them."""


def linked(link: Int64, numbers: Int64, rows: Rows) -> Int64:
    """Numbers that stand in another table, to which `link` leads from some rows; -1 leads nowhere, and 0 is unknown.

    >>> linked(np.array([1, -1, 0]), np.array([7, 8]), slice(0, 2)).tolist()
    [8, 0]
    """
    found = link[rows]
    return np.where(found < 0, 0, numbers[found]) if len(numbers) else np.zeros(len(found), np.int64)
