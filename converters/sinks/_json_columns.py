"""JSON objects out of columns: rows that have the same members are written at once, in turns of constant text and values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Final

import numpy as np
import numpy.typing as npt
import orjson

from ..results import Coded, Fact, Numbers
from ..timeline import Bool, Int64
from ._json_values import exact

__all__ = ["Member", "Texts", "fact_texts", "list_texts", "number_texts", "object_texts", "string_texts", "value_texts"]

Texts = npt.NDArray[np.object_]
"""object[n]; bytes, one a row."""

_INDENT: Final = b"  "


def number_texts(values: Int64) -> Texts:
    """Whole numbers as JSON.

    >>> number_texts(np.array([7, -20])).tolist()
    [b'7', b'-20']
    """
    if not len(values):
        return np.empty(0, object)
    text = orjson.dumps(np.ascontiguousarray(values, np.int64), option=orjson.OPT_SERIALIZE_NUMPY)
    return np.fromiter(text[1:-1].split(b","), object, len(values))


def string_texts(values: Sequence[object]) -> list[bytes]:
    r"""Texts as JSON.

    >>> string_texts(["mm", '","', ""])
    [b'"mm"', b'"\\",\\""', b'""']
    """
    # Quotes within a text have a backslash before them, so that those around it are told apart; it has no line feed of its own.
    return orjson.dumps(values)[1:-1].replace(b'","', b'"\n"').split(b"\n") if values else []


@dataclass(frozen=True, eq=False)
class Member:
    """A member of objects of n rows: its name, its values as JSON, and where it is there at all; None = everywhere."""

    name: str
    texts: Texts
    is_told: Bool | None = None


def value_texts(column: Numbers | Coded, indent: bytes) -> Texts:
    """object[n]; the values of a column, null where none is told.

    Args:
        column: Of n rows.
        indent: Of the line that a value begins on.
    """
    if isinstance(column, Coded):
        if all(isinstance(value, str) for value in column.values):
            return column.spread(string_texts(column.values), b"null")
        # No text has a line feed of its own in JSON.
        values = [orjson.dumps(exact(value), option=orjson.OPT_INDENT_2).replace(b"\n", b"\n" + indent) for value in column.values]
        return column.spread(values, b"null")
    texts = np.empty(len(column.value), object)
    texts[column.is_told] = number_texts(column.value[column.is_told])
    texts[~column.is_told] = b"null"
    return texts


def object_texts(members: Sequence[Member], count: int, indent: bytes) -> Texts:
    r"""object[n]; an object for each row, with those of its members that are told, as orjson indents them.

    Args:
        members: In their order.
        count: n.
        indent: Of the line that the objects begin on.

    >>> names, is_told = np.array([b'"mm"', b'"add"'], object), np.array([True, False])
    >>> object_texts([Member("name", names, is_told)], 2, b"").tolist()
    [b'{\n  "name": "mm"\n}', b'{}']
    """
    shape = np.zeros(count, np.int64)
    for place, member in enumerate(members):
        shape |= (np.int64(1) if member.is_told is None else member.is_told.astype(np.int64)) << place
    found = np.empty(count, object)
    order = np.argsort(shape, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(shape[order])) + 1):
        told = [member for place, member in enumerate(members) if len(rows) and shape[rows[0]] >> place & 1]
        found[rows] = _alike(told, rows, indent)
    return found


def _alike(members: Sequence[Member], rows: Int64, indent: bytes) -> Texts:
    """Objects of the same members."""
    if not members:
        return np.full(len(rows), b"{}", object)
    columns: list[Iterable[bytes]] = []
    for place, member in enumerate(members):
        start = b"," if place else b"{"
        columns += [repeat(start + b"\n" + indent + _INDENT + orjson.dumps(member.name) + b": "), member.texts[rows].tolist()]
    columns.append(repeat(b"\n" + indent + b"}"))
    return np.fromiter(map(b"".join, zip(*columns, strict=False)), object, len(rows))


def fact_texts(facts: Sequence[Fact], count: int, indent: bytes) -> Texts:
    """object[n]; an object for each row, of the facts that are told; arguments as of `object_texts`."""
    inner, members = indent + _INDENT, []
    for fact in facts:
        is_told = fact.is_told
        if is_told.any():
            own = fact.column
            texts = fact_texts(own, count, inner) if isinstance(own, tuple) else value_texts(own, inner)
            members.append(Member(fact.key, texts, is_told))
    return object_texts(members, count, indent)


def list_texts(items: Texts, counts: Int64, indent: bytes) -> Texts:
    r"""object[k]; lists of so many consecutive items each.

    >>> list_texts(np.array([b"1", b"2"], object), np.array([2]), b"").tolist()
    [b'[\n  1,\n  2\n]']
    """
    between = b",\n" + indent + _INDENT
    inner = map(between.join, map(islice, repeat(iter(items.tolist())), counts.tolist()))
    whole = zip(repeat(b"[" + between[1:]), inner, repeat(b"\n" + indent + b"]"), strict=False)
    return np.fromiter(map(b"".join, whole), object, len(counts))
