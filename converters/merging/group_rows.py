"""Rows by group: a number for each group, the turn of a row in its own, the range of a group's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rblnpb.row_order import order_by

from ..timeline import Bool, Int64

__all__ = ["group_numbers", "ranges", "turns"]


def group_numbers(*columns: npt.NDArray[Any]) -> Int64:
    """int64[n], from 0 on; rows of one number are equal in all columns. Groups count in the order of the first column, and so on.

    >>> group_numbers(np.array([5, 2, 5, 5]), np.array([1, 9, 0, 1])).tolist()
    [2, 0, 1, 2]
    """
    order = order_by(*columns)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(_begins(order, columns)) - 1
    return number


def turns(*columns: npt.NDArray[Any], by: npt.NDArray[Any] | None = None) -> Int64:
    """int64[n]; how many rows that are equal in all columns stand before each, in the order of `by`, or of the rows.

    >>> turns(np.array([5, 2, 5])).tolist(), turns(np.array([5, 2, 5]), by=np.array([8, 0, 7])).tolist()
    ([0, 0, 1], [1, 0, 0])
    """
    order = order_by(*columns, *(() if by is None else (by,)))
    place = np.arange(len(order))
    turn = np.empty(len(order), np.int64)
    turn[order] = place - np.maximum.accumulate(np.where(_begins(order, columns), place, 0))
    return turn


def _begins(order: Int64, columns: tuple[npt.NDArray[Any], ...]) -> Bool:
    """bool[n]; whether each row, in this order, is the first of its group."""
    is_first = np.zeros(len(order), np.bool_)
    is_first[:1] = True
    for column in columns:
        is_first[1:] |= np.diff(column[order]) != 0
    return is_first


def ranges(group: Int64, values: Int64, count: int) -> tuple[Int64, Int64]:
    """int64[count], int64[count]; least and greatest value of each group; of none, the one is greater than the other.

    >>> least, most = ranges(np.array([0, 2, 0]), np.array([7, 1, 5]), 3)
    >>> least[[0, 2]].tolist(), most[[0, 2]].tolist(), bool(least[1] > most[1])
    ([5, 1], [7, 1], True)
    """
    least = np.full(count, np.iinfo(np.int64).max, np.int64)
    most = np.full(count, np.iinfo(np.int64).min, np.int64)
    np.minimum.at(least, group, values)
    np.maximum.at(most, group, values)
    return least, most
