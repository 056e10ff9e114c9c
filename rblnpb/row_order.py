"""The order of rows by several columns of whole numbers: what a sort of tuples would give, from few passes over columns."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["order_by"]

Int64 = npt.NDArray[np.int64]
UInt16 = npt.NDArray[np.uint16]
UInt64 = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]

_WORD_BITS: Final = 64
_DIGIT_BITS: Final = 16
"""Numbers so narrow are counted by numpy's stable sort, not compared."""
_STRIDE: Final = 64
_FEW_RUNS: Final = 16


def order_by(*keys: Integers) -> Int64:
    """Rows in order of the first key, of equals in order of the next, and so on, and at last in their own: a stable sort.

    As many keys as fit in 64 bits are sorted as one number; the others are asked only of rows that are equal in these, which are
    few where a key is a time. What is in order already, or made of few parts that are, is only looked at. All else is counted, by
    16 bits at a time: that takes half the time of numpy's sort of 64-bit numbers, which compares.

    Args:
        *keys: One at least; integers or bool, of any width and sign; n each.

    Returns:
        int64[n].

    >>> order_by(np.array([1, 0, 1]), np.array([5, 7, 2]))
    array([1, 2, 0])
    """
    count = len(keys[0])
    told = list(keys)
    # The rows of equals stay in their own order, and this key has it.
    while told and bool((told[-1][1:] >= told[-1][:-1]).all()):
        told.pop()
    if not told:
        return np.arange(count)
    ranges = [(int(key.min()), int(key.max())) for key in told]
    widths = np.cumsum([(most - least).bit_length() for least, most in ranges])
    packed = max(int(np.searchsorted(widths, _WORD_BITS, side="right")), 1)
    if packed < len(told):
        # Without the others the last of these may be one that is in order.
        return _with_equals_by(order_by(*told[:packed]), told[:packed], told[packed:])
    code = _above(told[0], ranges[0][0])
    for key, (least, most) in zip(told[1:], ranges[1:], strict=True):
        code <<= np.uint64((most - least).bit_length())
        code |= _above(key, least)
    return _in_order(code, int(widths[-1]))


def _above(key: Integers, least: int) -> UInt64:
    """How far each value is above the least one."""
    wide = (key if key.dtype == np.uint64 else key.astype(np.int64, copy=False)).view(np.uint64)
    return wide - np.uint64(least % (1 << _WORD_BITS))


def _in_order(code: UInt64, width: int) -> Int64:
    """Rows in order of numbers of so many bits; the numbers are lost."""
    some = code[::_STRIDE]
    # Numpy's stable sort merges runs: it is slow only where there are many.
    if width > _DIGIT_BITS and np.count_nonzero(some[1:] < some[:-1]) <= _FEW_RUNS:
        return _stably(code)
    # The highest bits stand in the last of four digits then, and need not be taken out.
    code <<= np.uint64(_WORD_BITS - max(width, 1))
    digits = code.astype("<u8", copy=False).view("<u2").reshape(-1, 4)
    count = -(-width // _DIGIT_BITS)
    # What is in order by its two highest digits is mostly made of short runs; of so wide numbers they may be the same in all rows.
    ends_by_runs = count == 3
    first = 2 if ends_by_runs else 4 - max(count, 1)
    order = _stably(digits[:, first])
    for digit in range(first + 1, 4):
        order = order.take(_stably(digits[:, digit].take(order)))
    return order.take(_stably(code.take(order))) if ends_by_runs else order


def _stably(values: UInt16 | UInt64) -> Int64:
    return np.argsort(values, kind="stable").astype(np.int64, copy=False)


def _with_equals_by(order: Int64, known: list[Integers], keys: list[Integers]) -> Int64:
    """An order by some keys, in which rows that are equal in these are told apart by more keys.

    Args:
        order: int64[n]; is changed.
        known: By which it is.
        keys: By which it is not yet.
    """
    is_new = np.zeros(len(order) + 1, np.bool_)
    is_new[0] = is_new[-1] = True
    for key in known:
        ordered = key[order]
        is_new[1:-1] |= ordered[1:] != ordered[:-1]
    places = np.flatnonzero(~(is_new[:-1] & is_new[1:]))
    if len(places):
        rows = order[places]
        inner = order_by(*(key[rows] for key in keys))
        group = np.cumsum(is_new[places])
        order[places] = rows[inner[order_by(group[inner])]]
    return order
