"""What is in a file, as indented text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import orjson

from ._units import format_bytes, format_count

__all__ = ["render_contents_json", "render_contents_text"]

_MOST_ROWS = 12
"""Most rows of a list in the text; JSON has them all."""


def render_contents_text(values: Mapping[str, object]) -> str:
    """Facts as `key: value` lines, nested ones indented."""
    return "\n".join(_lines(values, "")) + "\n"


def _lines(values: Mapping[str, object], indent: str) -> Iterator[str]:
    for key, value in values.items():
        if value is None or value in ({}, [], ""):
            continue
        label = key.replace("_", " ")
        if isinstance(value, Mapping):
            yield f"{indent}{label}:"
            yield from _lines(value, indent + "  ")
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
        # Ids are names, not amounts: no separators.
        return str(value) if key in ("pid", "tid", "process_id", "rank") else format_count(value)
    return str(value)


def render_contents_json(values: Mapping[str, object]) -> bytes:
    """One JSON object, schema `rblnpb.show/1`; integers with units in the keys."""
    return orjson.dumps({"schema": "rblnpb.show/1", **values}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
