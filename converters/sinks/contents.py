"""What is in a file, as indented text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..host_trace import UNIX_NS
from ._json_values import json_report
from ._units import format_bytes, format_count, format_unix_ns

__all__ = ["render_contents_json", "render_contents_text"]

_MOST_ROWS: Final = 12
"""Most rows of a list in the text; JSON has them all."""

_QUOTED: Final = ("settings", "metadata", "by_category", "engines", "counts")
"""Facts whose keys are words of the file, not ours: shown as they are."""

_MOMENTS: Final = ("started_real_ns", "ended_real_ns", "first_ns", "last_ns", "base_time_ns")

_IDS: Final = ("pid", "tid", "process_id", "rank")
"""Names, not amounts: their digits are not grouped."""


def render_contents_text(values: Mapping[str, object]) -> str:
    """Facts as `key: value` lines, nested ones indented."""
    return "\n".join(_lines(values, "")) + "\n"


def _lines(values: Mapping[str, object], indent: str, *, is_quoted: bool = False) -> Iterator[str]:
    for key, value in values.items():
        if value is None or value in ({}, [], ""):
            continue
        label = key if is_quoted else key.replace("_", " ")
        if isinstance(value, Mapping):
            yield f"{indent}{label}:"
            yield from _lines(value, indent + "  ", is_quoted=key in _QUOTED)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{indent}{label}: {format_count(len(value))}"
            for row in value[:_MOST_ROWS]:
                yield from _row(row, indent + "  ")
            if len(value) > _MOST_ROWS:
                yield f"{indent}  and {format_count(len(value) - _MOST_ROWS)} more (--format json lists all)"
        else:
            yield f"{indent}{label}: {_text(key, value)}"


def _row(row: object, indent: str) -> Iterator[str]:
    if not isinstance(row, Mapping):
        yield f"{indent}{row}"
    elif any(isinstance(value, (Mapping, list)) for value in row.values()):
        yield f"{indent}-"
        yield from _lines(row, indent + "  ")
    else:
        cells = (f"{key.replace('_', ' ')} {_text(key, value)}" for key, value in row.items() if value not in ("", None))
        yield f"{indent}{', '.join(cells)}"


def _text(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        if key.endswith("_bytes"):
            return format_bytes(value)
        if key in _MOMENTS and value >= UNIX_NS:
            return format_unix_ns(value)
        return str(value) if key in _IDS else format_count(value)
    return str(value)


def render_contents_json(values: Mapping[str, object]) -> bytes:
    """One JSON object, schema `rblnpb.show/1`; integers with units in the keys, those beyond 64 bits as text."""
    return json_report({"schema": "rblnpb.show/1", **values})
