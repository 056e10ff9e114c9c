"""Args of host events as Perfetto's debug annotations.

Perfetto takes the JSON text of args as it stands and makes typed arguments of it. What its reader (v52) gets wrong is told value by
value instead: texts with a backslash, whole numbers beyond 64 bits with sign, numbers beyond a double, null, and what is no object.
"""

from __future__ import annotations

import itertools
import json
import math
import struct
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np

from rblnpb.perfetto_wire import field, number, utf8

from ..json_text import is_utf8
from ..timeline import Bool, Int64, UInt8

__all__ = ["JSON_VALUE", "annotation_value", "is_plain"]

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
    ends = np.cumsum(size)
    cuts = np.searchsorted(ends, np.arange(_PIECE_BYTES, int(ends[-1]) if len(ends) else 0, _PIECE_BYTES))
    edges = [0, *np.unique(cuts[cuts > 0]).tolist(), len(texts)]
    pieces = [_are_plain(texts[low:high], size[low:high]) for low, high in itertools.pairwise(edges)]
    return np.concatenate(pieces)


_PIECE_BYTES: Final = 1 << 18
"""Text at a time: fresh memory for much of it costs more than to look at it."""


def _are_plain(texts: Sequence[bytes | msgspec.Raw], size: Int64) -> Bool:
    whole = b"".join(texts)
    data = np.frombuffer(whole, np.uint8)
    ends = np.cumsum(size)
    plain = size > 0
    plain[plain] = data[(ends - size)[plain]] == ord("{")
    odd = [_long_numbers(data), _backslashes(whole), _nulls(data)]
    plain[np.searchsorted(ends, np.concatenate(odd), side="right")] = False
    if not is_utf8(whole):
        plain &= np.array([is_utf8(bytes(text)) for text in texts], np.bool_)
    return plain


def _long_numbers(data: UInt8) -> Int64:
    """Where 19 digits may stand in a row, and where a number may have an exponent of three digits."""
    # Of so many in a row at least three are seen when only every sixth is looked at; then 13 do stand there.
    some = _is_digit(data[::6])
    long = np.flatnonzero(some[:-2] & some[1:-1] & some[2:]) * 6
    around = _is_digit(data[np.clip(long[:, None] + np.arange(-6, 19), 0, max(len(data) - 1, 0))])
    before, inside, behind = np.logical_and.accumulate(around[:, 5::-1], axis=1), around[:, 6:19], around[:, 19:]
    length = before.sum(axis=1) + 13 + np.logical_and.accumulate(behind, axis=1).sum(axis=1)
    # Behind a point they are no whole number.
    is_whole = data[np.maximum(long - before.sum(axis=1) - 1, 0)] != ord(".")
    long = long[inside.all(axis=1) & (length >= 19) & is_whole]
    is_exponent = (data[1:-1] | 0x20) == ord("e")
    is_exponent &= _is_digit(data[:-2])
    letters = np.flatnonzero(is_exponent) + 1
    digits = letters + 1 + (data[letters + 1] == ord("+"))
    is_long = _is_digit(data[np.minimum(digits[:, None] + np.arange(3), len(data) - 1)]).all(axis=1)
    return np.concatenate((long, letters[is_long]))


def _is_digit(data: UInt8) -> Bool:
    digit: Bool = data - np.uint8(ord("0")) < 10
    return digit


def _backslashes(text: bytes) -> Int64:
    if b"\\" not in text:
        return np.empty(0, np.int64)
    return np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\\"))


def _nulls(data: UInt8) -> Int64:
    """Where `null` may stand: its second letter two before its last one, in the right company."""
    places = np.flatnonzero((data[1:-2] == ord("u")) & (data[3:] == ord("l")))
    found: Int64 = places[(data[places] == ord("n")) & (data[places + 2] == ord("l"))]
    return found


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
