"""JSON of a trace with what is not public in it replaced: members of events, their arguments, and what is around the events.

A key that is not known becomes a pseudonym, and its whole value with it, whatever it is. Numbers, and texts that are numbers, stay
under known keys alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Final

from ._public_words import ARGUMENT_KEYS, CATEGORIES, EVENT_KEYS, METADATA_KEYS, SHAPE_KEYS, plain_key
from ._redacted_names import RedactedNames

__all__ = ["RedactedValues"]

Texts = Mapping[str, Callable[[str], str]]
"""What is done with the texts under some keys."""

_LITERAL: Final = re.compile(rb"-?[0-9][0-9.eE+-]*|true|false|null")
_KEY: Final = re.compile(rb'"([^"]*)"')
_NUMBERS: Final = re.compile(rb'\{(?:"[A-Za-z _/%().]+" ?: ?(?:-?[0-9][0-9.]*|null|true|false|\[[\[\]0-9, -]*\])(?:, ?|(?=\})))*\}')
_COUNTER: Final = b'"C"'
_UNIX_US: Final = 10**15


class RedactedValues:
    """What stands for the members of events and of a document; every result is JSON text."""

    def __init__(self, names: RedactedNames, *, shift_us: int = 0, without_shapes: bool = False) -> None:
        """Choose what stays.

        Args:
            names: What stands for names.
            shift_us: Taken off every `ts` that is Unix time.
            without_shapes: Leave out what operators were called with.
        """
        self._names = names
        self._shift_us = shift_us
        self._without_shapes = without_shapes
        self._metadata_texts: Texts = {
            "tracename": partial(names.of, "path"),
            "hostname": partial(names.of, "host"),
            "username": partial(names.of, "user"),
            "name": names.device,
        }
        self._texts: Texts = {
            "callstack": names.stack,
            "modulehierarchy": names.hierarchy,
            "kernel": names.row,
            "kernelname": names.row,
            "stage": names.layer,
            "name": names.track,
            "labels": names.track,
            "context": self._context,
        }

    # --- events ------------------------------------------------------------------------------------------------------------

    def member(self, category: bytes, key: str, value: bytes) -> bytes:
        """A member of an event other than an object of arguments, with its key.

        Args:
            category: JSON text of the event's category; empty without one.
            key: Of the member.
            value: JSON text.
        """
        if key not in EVENT_KEYS:
            return self._unknown(key, value)
        return b'"%s":%s' % (key.encode(), self._value(category, key, value))

    def rare(self, key: str, value: bytes) -> bytes:
        """A known member other than the name, with its key: mostly a number."""
        # No other JSON value ends in a digit.
        if value[-1:].isdigit() and not self._shift_us:
            return b'"%s":%s' % (key.encode(), value)
        return self.member(b"", key, value)

    def is_plain(self, arguments: bytes) -> bool:
        """Whether the arguments of an event stay as they are, because they are numbers under known keys.

        Args:
            arguments: JSON text, with 0 for every digit: what is told holds for all texts that give this one.
        """
        return _NUMBERS.fullmatch(arguments) is not None and all(self.number_key(key.decode()) for key in _KEY.findall(arguments))

    def number_key(self, key: str) -> bytes:
        """What stands before a number under a key among the arguments of an event; nothing if it does not stay."""
        plain = plain_key(key)
        stays = plain in ARGUMENT_KEYS and not (self._without_shapes and plain in SHAPE_KEYS)
        return b"%s:" % _json(key) if stays else b""

    def argument(self, phase: bytes, key: str, value: bytes) -> bytes:
        """A member of the arguments of an event, with its key; nothing where it is to be left out.

        Args:
            phase: JSON text of the event's phase: a counter's series are called as somebody liked, and are numbers all the same.
            key: Of the argument.
            value: JSON text.
        """
        plain = plain_key(key)
        if self._without_shapes and plain in SHAPE_KEYS:
            return b""
        if plain in ARGUMENT_KEYS:
            return b"%s:%s" % (_json(key), value if _LITERAL.fullmatch(value) else self._argument_value(plain, value))
        if phase == _COUNTER and _LITERAL.fullmatch(value):
            return b"%s:%s" % (_json(self._names.of("key", key)), value)
        return self._unknown(key, value)

    def _argument_value(self, plain: str, value: bytes) -> bytes:
        return _json(self._walked(plain, _decoded(value), ARGUMENT_KEYS, self._texts))

    def _value(self, category: bytes, key: str, value: bytes) -> bytes:
        if key == "ts" and self._shift_us:
            value = self._shifted(value)
        if _LITERAL.fullmatch(value):
            return value
        decoded = _decoded(value)
        if not isinstance(decoded, str):
            return _json(self._walked(key, decoded, ARGUMENT_KEYS, {}))
        if key == "name":
            sort = _decoded(category) if category else ""
            return _json(self._names.event(sort if isinstance(sort, str) else "", decoded))
        if key == "cat":
            return _json(decoded if decoded in CATEGORIES else self._names.of("category", decoded))
        if key in ("pid", "tid", "id"):
            return _json(self._names.identity(decoded))
        is_phase = key == "ph" and len(decoded) == 1 and decoded.isascii()
        return _json(decoded if is_phase else self._names.value(decoded))

    def _shifted(self, value: bytes) -> bytes:
        """A time, in quotes or not, moved if it is Unix time; anything else as it is."""
        text = value.strip(b'"').decode("utf-8", "replace")
        if not re.fullmatch(r"[0-9][0-9.eE+-]*", text):
            return value
        try:
            time_us = Decimal(text)
        except ArithmeticError:
            return value
        if not _UNIX_US <= time_us < _UNIX_US * 10**4:
            return value
        # Exact: a default context would round times of more than 28 digits.
        whole, fraction = divmod(time_us, 1)
        moved = f"{int(whole) - self._shift_us}{format(fraction, 'f')[1:]}"
        return value.replace(value.strip(b'"'), moved.encode())

    # --- the document ------------------------------------------------------------------------------------------------------

    def metadata(self, key: str, value: object) -> bytes:
        """A top-level member of a trace, with its key."""
        plain = plain_key(key)
        if plain not in METADATA_KEYS:
            return self._unknown(key, _json(value))
        return b"%s:%s" % (_json(key), _json(self._walked(plain, value, METADATA_KEYS, self._metadata_texts)))

    # --- anything ----------------------------------------------------------------------------------------------------------

    def _walked(self, plain: str, value: object, keys: frozenset[str], texts: Texts) -> object:
        """A value under a known key: numbers and public words stay, and so do keys that are known."""
        if isinstance(value, str):
            return texts.get(plain, self._names.value)(value)
        if isinstance(value, list):
            return [self._walked(plain, one, keys, texts) for one in value]
        if isinstance(value, dict):
            known = {key: self._walked(plain_key(key), one, keys, texts) for key, one in value.items() if plain_key(key) in keys}
            others = [key for key in value if key not in known]
            return known | {self._names.of("key", key): self._names.of("value", _json(value[key]).decode()) for key in others}
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value

    def _unknown(self, key: str, value: bytes) -> bytes:
        """Key and value of which nothing is known; equal values have equal pseudonyms, a text the same as elsewhere."""
        decoded = _decoded(value)
        text = decoded if isinstance(decoded, str) else value.decode("utf-8", "replace")
        return b"%s:%s" % (_json(self._names.of("key", key)), _json(self._names.of("value", text)))

    def _context(self, text: str) -> str:
        """The range of a compiled graph, or the graph alone."""
        return self._names.annotation(text) if "Region" in text else self._names.value(text)


def _decoded(value: bytes) -> object:
    """A JSON value; a number of more digits than Python converts, or what is no JSON, stays the text that it is."""
    text = value.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
