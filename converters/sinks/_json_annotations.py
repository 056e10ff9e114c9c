"""Args of host events as Perfetto's debug annotations.

Perfetto takes the JSON text of args as it stands and makes typed arguments of it. What its reader (v52) gets wrong is told value by
value instead: texts with a backslash, whole numbers beyond 64 bits with sign, numbers beyond a double, null, and what is no object.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from rblnpb.perfetto_wire import field, number, utf8

from ..timeline import Bool, Int64

__all__ = ["JSON_VALUE", "annotation_value", "is_plain", "is_utf8"]

JSON_VALUE: Final = 9
"""Field of a debug annotation that takes JSON text."""

_BOOL, _INT, _DOUBLE, _TEXT, _NAME, _ENTRY, _ELEMENT = 2, 4, 5, 6, 10, 11, 12
_INT64: Final = range(-(1 << 63), 1 << 63)


def is_plain(texts: Sequence[bytes | msgspec.Raw], size: Int64) -> Bool:
    """bool[n]; which args Perfetto reads from their text as they are meant.

    Args:
        texts: n JSON texts, whole.
        size: int64[n]; their lengths.
    """
    whole = b"".join(texts)
    data = np.frombuffer(whole, np.uint8)
    ends = np.cumsum(size)
    plain = size > 0
    plain[plain] = data[(ends - size)[plain]] == ord("{")
    odd = [_long_numbers(data), *(_places(whole, mark) for mark in (b"\\", b"null"))]
    plain[np.searchsorted(ends, np.concatenate(odd), side="right")] = False
    if not is_utf8(whole):
        plain &= np.array([is_utf8(bytes(text)) for text in texts], np.bool_)
    return plain


def is_utf8(text: bytes) -> bool:
    """Whether these bytes are text."""
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _long_numbers(data: npt.NDArray[np.uint8]) -> Int64:
    """Where 19 digits stand in a row, or three behind the sign or the letter of an exponent."""
    is_digit = data - np.uint8(ord("0")) < 10
    three = np.flatnonzero(_runs(is_digit, 3)[1:]) + 1
    exponents = three[np.isin(data[three - 1], np.frombuffer(b"eE+", np.uint8))]
    return np.concatenate((np.flatnonzero(_runs(is_digit, 19)), exponents))


def _runs(mask: Bool, length: int) -> Bool:
    """Where so many begin that are all set."""
    size = 1
    while size < length:
        step = min(size, length - size)
        mask = mask[step:] & mask[: max(len(mask) - step, 0)]
        size += step
    return mask


def _places(text: bytes, mark: bytes) -> Int64:
    """Where a mark stands in a text."""
    if mark not in text:
        return np.empty(0, np.int64)
    return np.array([match.start() for match in re.finditer(re.escape(mark), text)], np.int64)


def annotation_value(text: bytes) -> bytes:
    """The value of a debug annotation that says what a JSON text says; a text that is no JSON says itself.

    >>> annotation_value(b'{"n": 5}').hex()
    '5a0552016e2005'
    """
    try:
        return _value(json.loads(text.decode("utf-8", "replace"), strict=False))
    except (ValueError, RecursionError):
        return field(_TEXT, utf8(text.decode("utf-8", "replace")))


def _value(value: Any) -> bytes:
    if isinstance(value, dict) and value:
        return b"".join(field(_ENTRY, field(_NAME, utf8(name)) + _value(inner)) for name, inner in value.items())
    if isinstance(value, list) and value:
        return b"".join(field(_ELEMENT, _value(inner)) for inner in value)
    if isinstance(value, bool):
        return number(_BOOL, value)
    if isinstance(value, int) and value in _INT64:
        return number(_INT, value % (1 << 64))
    if isinstance(value, float) and math.isfinite(value):
        return bytes([_DOUBLE << 3 | 1]) + struct.pack("<d", value)
    # Numbers that no field holds, empty ones, and null, which would not be shown.
    return field(_TEXT, utf8(value if isinstance(value, str) else json.dumps(value)))
