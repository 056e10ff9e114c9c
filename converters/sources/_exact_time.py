"""Microseconds as a trace writes them, as whole nanoseconds: rounded once, half to even, from the decimal text.

Three ways: `text_ns` for plain digits with at most three decimals, `float_ns` for what went through a float64 without
harm, `decimal_ns` for everything else. The first two say None where they do not apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from typing import Final

import numpy as np
import numpy.typing as npt

from rblnpb.byte_rows import stack
from rblnpb.column_arrays import listed
from rblnpb.columns import ABSENT

from ..timeline import Int64, UInt8
from ._text_numbers import eight_digits

_EXACT: Final = Context(prec=MAX_PREC, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX)
_MOST_DIGITS: Final = 16
"""Digits before the point that a uint64 of nanoseconds has room for."""
_DECIMALS: Final = 3
_INT64_MAX: Final = np.uint64(np.iinfo(np.int64).max)
_PROVEN_BELOW_US: Final = float(1 << 42)
_POINT, _COMMA, _ZERO = b".,0"


def exact_ns(microseconds: Decimal) -> int:
    """Nanoseconds of a number of microseconds.

    Raises:
        OverflowError: It is not finite, or so large that no int64 holds it.
    """
    if not microseconds.is_finite() or microseconds.adjusted() > _MOST_DIGITS:
        raise OverflowError(f"{microseconds} µs do not fit int64 nanoseconds")
    return round(_EXACT.scaleb(microseconds, _DECIMALS))


def decimal_ns(values: Sequence[Decimal | None]) -> Int64:
    """Nanoseconds of microseconds; ABSENT for None.

    Returns:
        int64[n].

    Raises:
        OverflowError: One of them does not fit.
    """
    absent = int(ABSENT)
    return listed([absent if value is None else exact_ns(value) for value in values], np.int64)


def float_ns(values: Sequence[float]) -> Int64 | None:
    """Nanoseconds of microseconds that went through a float64; ABSENT for NaN.

    Below 2^42 µs two neighbours among the floats are less than half a nanosecond apart. So where a float is the one
    nearest to a whole number of nanoseconds, whatever decimal text it was read from rounds to that very nanosecond.

    Returns:
        int64[n]; None when this does not hold for one of them.
    """
    microseconds = listed(values, np.float64)
    if not len(microseconds):
        return np.empty(0, np.int64)
    is_absent = np.isnan(microseconds)
    has_absent = bool(is_absent.any())
    if has_absent:
        microseconds[is_absent] = 0.0
    if not -_PROVEN_BELOW_US < float(microseconds.min()) <= float(microseconds.max()) < _PROVEN_BELOW_US:
        return None
    nanoseconds = microseconds * 1000.0
    np.rint(nanoseconds, out=nanoseconds)
    if (nanoseconds / 1000.0 != microseconds).any():
        return None
    whole = nanoseconds.astype(np.int64)
    if has_absent:
        whole[is_absent] = ABSENT
    return whole


def text_ns(texts: Sequence[bytes]) -> Int64 | None:
    """Nanoseconds of microseconds that are written in plain digits; ABSENT for an empty text.

    Args:
        texts: JSON values.

    Returns:
        int64[n]; None when one of them has a sign, an exponent, a fourth decimal or too many digits, or is no number.
    """
    if not texts:
        return np.empty(0, np.int64)
    data = np.frombuffer(b",".join([*texts, b""]), np.uint8)
    width = len(data) // len(texts)
    is_even = len(data) == width * len(texts)
    whole = _same_width_ns(data.reshape(-1, width)) if is_even else None
    return _any_width_ns(data, len(texts)) if whole is None else whole


def _same_width_ns(rows: UInt8) -> Int64 | None:
    """Nanoseconds of texts of one width, a comma behind each; None unless all have three decimals, as Kineto writes them."""
    point = rows.shape[1] - 2 - _DECIMALS
    if not 0 < point <= _MOST_DIGITS or (rows[:, -1] != _COMMA).any() or (rows[:, point] != _POINT).any():
        return None
    digits = stack(len(rows), [b"0" * (-(point + _DECIMALS) % 8), rows[:, :point], rows[:, point + 1 : -1]])
    digits -= np.uint8(_ZERO)
    return None if (digits > 9).any() else _signed(_digits_as_number(digits))


def _digits_as_number(digits: UInt8) -> npt.NDArray[np.uint64]:
    """The number of each row of decimal digits, of which there are a multiple of eight."""
    number = np.zeros(len(digits), np.uint64)
    for column in digits.view("<u8").T:
        number = number * 100_000_000 + eight_digits(column)
    return number


def _any_width_ns(data: UInt8, count: int) -> Int64 | None:
    """Nanoseconds of texts of any width, a comma behind each."""
    ends = np.flatnonzero(data == _COMMA)
    if len(ends) != count:
        return None
    starts = np.concatenate(([0], ends[:-1] + 1))
    points = ends.copy()
    found = np.flatnonzero(data == _POINT)
    points[np.searchsorted(ends, found)] = found
    most_digits = int((points - starts).max())
    if most_digits > _MOST_DIGITS or (ends - points).max() > _DECIMALS + 1:
        return None
    whole = np.zeros(count, np.uint64)
    for step in (*range(-most_digits, 0), *range(1, _DECIMALS + 1)):
        at = points + step
        is_inside = (at >= starts) & (at < ends)
        digits = np.where(is_inside, data.take(at, mode="clip") - np.uint8(_ZERO), 0)
        if (digits > 9).any():
            return None
        whole *= 10
        whole += digits
    signed = _signed(whole)
    if signed is not None:
        signed[starts == ends] = ABSENT
    return signed


def _signed(whole: npt.NDArray[np.uint64]) -> Int64 | None:
    return None if (whole > _INT64_MAX).any() else whole.astype(np.int64)
