"""Microseconds as a trace writes them, as whole nanoseconds: rounded once, half to even, from the decimal text."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from typing import Final

import numpy as np

from ..timeline import ABSENT, Int64

_EXACT: Final = Context(prec=MAX_PREC, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX)
_DIGITS_BEFORE_POINT: Final = 17
_PROVEN_BELOW_US: Final = float(1 << 42)


def exact_ns(microseconds: Decimal) -> int:
    """Nanoseconds of a finite number of microseconds.

    Raises:
        OverflowError: They do not fit int64, or the number is not finite; ABSENT counts as not fitting.
    """
    if not microseconds.is_finite() or microseconds.adjusted() >= _DIGITS_BEFORE_POINT:
        raise OverflowError(f"{microseconds} µs do not fit int64 nanoseconds")
    return round(_EXACT.scaleb(microseconds, 3))


def decimal_ns(values: Sequence[Decimal | None]) -> Int64:
    """Nanoseconds of microseconds; ABSENT for None.

    Returns:
        int64[n].

    Raises:
        OverflowError: One of them does not fit.
    """
    absent = int(ABSENT)
    return np.fromiter([absent if value is None else exact_ns(value) for value in values], np.int64, len(values))


def float_ns(values: Sequence[float]) -> Int64 | None:
    """Nanoseconds of microseconds that went through a float64; ABSENT for NaN.

    Below 2^42 µs two neighbours among the floats are less than half a nanosecond apart. So where a float is the one
    nearest to a whole number of nanoseconds, whatever decimal text it was read from rounds to that very nanosecond.

    Returns:
        int64[n]; None when this does not hold for one of them.
    """
    microseconds = np.fromiter(values, np.float64, len(values))
    nanoseconds = np.rint(microseconds * 1000.0)
    is_absent = np.isnan(microseconds)
    is_proven = (nanoseconds / 1000.0 == microseconds) & (np.abs(microseconds) < _PROVEN_BELOW_US)
    if not (is_proven | is_absent).all():
        return None
    nanoseconds[is_absent] = 0
    return np.where(is_absent, ABSENT, nanoseconds.astype(np.int64))
