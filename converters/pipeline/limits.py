"""What an input may ask for before it is refused, by the names under which a limit is given."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Final

from rblnpb.errors import UsageError
from rblnpb.limits import DEFAULT_LIMITS, Limits

from ..sources.text_limits import DEFAULT_TEXT_LIMITS, TextLimits

__all__ = ["DEFAULT_READING_LIMITS", "ReadingLimits", "limit_names", "parse_limits"]

_UNITS: Final = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
_VALUE: Final = re.compile(r"([0-9][0-9_,]{0,25})\s{0,3}([KMG]I?B)?", re.IGNORECASE)
_PREFIXES: Final = {"profile": "profile-", "text": "json-"}


@dataclass(frozen=True)
class ReadingLimits:
    """What inputs may ask for.

    Attributes:
        profile: Profiles of ours.
        text: Host traces.
    """

    profile: Limits = DEFAULT_LIMITS
    text: TextLimits = DEFAULT_TEXT_LIMITS


DEFAULT_READING_LIMITS: Final = ReadingLimits()


def limit_names() -> dict[str, tuple[str, str]]:
    """Names of all limits, each with the attribute of `ReadingLimits` and that of its value."""
    parts = ((part.name, getattr(DEFAULT_READING_LIMITS, part.name)) for part in fields(ReadingLimits))
    return {_PREFIXES[part] + one.name.replace("_", "-"): (part, one.name) for part, value in parts for one in fields(value)}


def parse_limits(given: Iterable[str]) -> ReadingLimits:
    """Limits as they are typed: NAME=VALUE each, a number that may have a unit (KB, MB, GB, KiB, MiB, GiB).

    Raises:
        UsageError: There is no such limit, or its value is no number.

    >>> parse_limits(["json-depth=1000", "profile-record-bytes=4GiB"]).profile.record_bytes
    4294967296
    """
    limits, names = DEFAULT_READING_LIMITS, limit_names()
    for text in given:
        name, equals, value = text.partition("=")
        if name not in names or not equals:
            raise UsageError(f"a limit is NAME=VALUE, and {text!r} names none; there are {', '.join(names)}")
        match = _VALUE.fullmatch(value.strip())
        if match is None:
            raise UsageError(f"{value!r} is no value of {name}: write a whole number, with a unit if need be, such as 4GiB")
        number = int(match[1].replace("_", "").replace(",", "")) * _UNITS[(match[2] or "").upper()]
        part, attribute = names[name]
        limits = replace(limits, **{part: replace(getattr(limits, part), **{attribute: number})})
    return limits
