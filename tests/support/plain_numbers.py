"""Numbers of a JSON text one by one: what the readers of many at a time have to agree with."""

from __future__ import annotations

import re
from decimal import Decimal

from rblnpb.converters.sources._exact_time import exact_ns

_WHOLE = re.compile(rb"[0-9]{1,16}")
_DECIMALS = re.compile(rb"\.([0-9]*)")
_INT64_MAX = (1 << 63) - 1


def whole_number(text: bytes) -> tuple[int, int]:
    """The number that a text begins with, of 16 digits at most, and its length; 0 and 0 where JSON has none there."""
    match = _WHOLE.match(text)
    if match is None or (len(match[0]) > 1 and match[0].startswith(b"0")):
        return 0, 0
    return int(match[0]), len(match[0])


def number_size(text: bytes, most_decimals: int) -> int:
    """Length of the number with up to so many decimals that a text begins with; 0 where there is none."""
    size = whole_number(text)[1]
    match = _DECIMALS.match(text, size) if size else None
    if match is None:
        return size
    return size + len(match[0]) if 0 < len(match[1]) <= most_decimals else 0


def time_ns(text: bytes) -> tuple[int, int]:
    """The time that a text begins with, in microseconds of up to three decimals, and its length; 0 and 0 where there is none."""
    size = number_size(text, 3)
    # What is added for decimals must not be more than int64 has room for, whatever it is.
    if not size or (whole_number(text)[0] + 1) * 1000 > _INT64_MAX:
        return 0, 0
    return exact_ns(Decimal(text[:size].decode())), size
