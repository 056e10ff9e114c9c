r"""Texts, numbers and words that are nearly JSON, as the JSON that was meant.

A backslash that begins no escape is a backslash (a path of Windows), a control byte is its escape, what is no Unicode is
U+FFFD; a word such as NaN is null.
"""

from __future__ import annotations

import re
from typing import Final

Repairs = dict[str, int]
"""How often what was mended, by codes of `_salvage_report`."""

_HEX: Final = rb"[0-9a-fA-F]"
_ODD: Final = re.compile(
    rb"\\u[dD][89abAB]%(h)s{2}\\u[dD][c-fC-F]%(h)s{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F]%(h)s{2})"
    rb'|\\(?:["\\/bfnrt]|u%(h)s{4})'
    rb"|(?P<slash>\\)"
    rb"|(?P<control>[\x00-\x1f])" % {b"h": _HEX}
)
_PLAIN: Final = re.compile(rb"[^\x00-\x1f\\\x80-\xff]*")
_CODES: Final = {"half": "odd-characters", "slash": "bad-escapes", "control": "control-bytes"}
_REPLACED: Final = "\ufffd"

_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LOOSE_NUMBER: Final = re.compile(rb"([+-]?)0*([0-9]*)(\.?)([0-9]*)((?:[eE][+-]?[0-9]+)?)")
_TRUTH: Final = {b"true": b"true", b"false": b"false", b"null": b"null"}
_NO_VALUE: Final = re.compile(
    rb"[+-]?(?:nan(?:\((?:ind|snan|[0-9a-fx]*)\))?|inf(?:inity)?|1\.#(?:inf|ind|qnan|snan)[0-9]*)"
    rb"|n/a|na|none|nil|null|undefined|unknown|missing",
    re.IGNORECASE,
)


def mended_string(inner: bytes, repairs: Repairs) -> bytes:
    """What stands between the quotes of a text, so that it is JSON; what was done is counted."""
    matched = _PLAIN.match(inner)
    if matched is not None and matched.end() == len(inner):
        return inner

    def mend(found: re.Match[bytes]) -> bytes:
        kind = found.lastgroup
        if kind is None:
            return found[0]
        repairs[_CODES[kind]] = repairs.get(_CODES[kind], 0) + 1
        if kind == "half":
            return b"\\ufffd"
        return b"\\\\" if kind == "slash" else b"\\u%04x" % found[0][0]

    mended = _ODD.sub(mend, inner)
    try:
        mended.decode()
    except UnicodeDecodeError:
        decoded = mended.decode("utf-8", "replace")
        count = decoded.count(_REPLACED) - mended.count(_REPLACED.encode())
        repairs["odd-characters"] = repairs.get("odd-characters", 0) + count
        return decoded.encode()
    return mended


def mended_word(word: bytes, repairs: Repairs) -> bytes | None:
    """A value without quotes, so that it is JSON; None when nobody can tell what was meant."""
    if word in _TRUTH or _NUMBER.fullmatch(word):
        return word
    meant = _TRUTH.get(word.lower()) if word.lower() != b"null" else None
    meant = meant or _mended_number(word)
    if meant is not None:
        repairs["odd-spelling"] = repairs.get("odd-spelling", 0) + 1
        return meant
    if _NO_VALUE.fullmatch(word):
        repairs["bare-words"] = repairs.get("bare-words", 0) + 1
        return b"null"
    return None


def _mended_number(word: bytes) -> bytes | None:
    """A decimal number with a sign, a zero or a digit too many or too few, such as `+5`, `007`, `.5` or `0.`."""
    found = _LOOSE_NUMBER.fullmatch(word)
    if found is None or not any(digit in b"0123456789" for digit in found[1] + word[: found.end(4)]):
        return None
    sign, whole, _, decimals, exponent = found.groups()
    point = b"." + decimals if decimals else b""
    return (sign if sign == b"-" else b"") + (whole or b"0") + point + exponent
