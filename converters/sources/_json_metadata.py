"""What a trace says about itself: the top-level keys around its events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

import numpy as np

from rblnpb.errors import Finding, Severity

from ._event_array import Surroundings
from ._json_errors import JsonSyntaxError, find_syntax_error
from ._json_head import EVENTS_KEY
from ._json_text import mended_text

_BASE_TIME_KEY: Final = "baseTimeNanoseconds"
_INT64: Final = np.iinfo(np.int64)


@dataclass(frozen=True)
class TraceMetadata:
    """The keys other than the events.

    Attributes:
        values: Decoded, in the order of the file.
        base_time_ns: Unix time of the file's zero; 0 when it does not say.
        has_base_time: Whether it says so.
        findings: What was odd.
    """

    values: dict[str, object]
    base_time_ns: int
    has_base_time: bool
    findings: tuple[Finding, ...]


def read_metadata(around: Surroundings) -> TraceMetadata:
    """Decode what stands before and after the events.

    Raises:
        JsonSyntaxError: It is no JSON, or it ends early.
    """
    findings = []
    text = around.head + around.tail
    last_pairs: list[tuple[str, object]] = []

    def keep(pairs: list[tuple[str, object]]) -> dict[str, object]:
        last_pairs[:] = pairs  # the outermost object ends last
        return dict(pairs)

    try:
        mended = mended_text(text)
        document = json.loads(mended.decode("utf-8-sig"), object_pairs_hook=keep, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise _error_around(around) from error
    if mended != text:
        message = "the text around the events is not all Unicode; U+FFFD stands for what is not"
        findings.append(Finding(Severity.WARNING, "odd-characters", message, where="metadata"))
    values: dict[str, object] = document if isinstance(document, dict) else {}
    if sum(key == EVENTS_KEY for key, _ in last_pairs) > 1 and values:
        message = f'the file has several "{EVENTS_KEY}"; only the first is read'
        findings.append(Finding(Severity.ERROR, "several-event-arrays", message))
    values.pop(EVENTS_KEY, None)
    base_time_ns = _whole_number(values.get(_BASE_TIME_KEY))
    if base_time_ns is None:
        findings.append(_no_base_time(values))
    return TraceMetadata(values, base_time_ns or 0, base_time_ns is not None, tuple(findings))


def _refuse(word: str) -> None:
    """Python's parser takes NaN and Infinity for numbers."""
    raise ValueError(word)


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    if not number.is_finite() or not _INT64.min < number <= _INT64.max or number != int(number):
        return None
    return int(number)


def _no_base_time(values: dict[str, object]) -> Finding:
    if _BASE_TIME_KEY in values:
        message = f'"{_BASE_TIME_KEY}" is {values[_BASE_TIME_KEY]!r:.40}, which is no time; times are kept in the clock of the file'
        return Finding(Severity.WARNING, "odd-base-time", message)
    message = f'the file has no "{_BASE_TIME_KEY}"; times are kept in the clock of the file'
    return Finding(Severity.INFO, "no-base-time", message)


def _error_around(around: Surroundings) -> JsonSyntaxError:
    error = find_syntax_error(around.head + around.tail, 0, is_document=True)
    behind_head = error.offset - len(around.head)
    if behind_head < 0:
        return error
    return JsonSyntaxError(error.reason, around.tail_offset + behind_head, is_cut=error.is_cut)
