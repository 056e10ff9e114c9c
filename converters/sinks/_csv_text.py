"""Tables as CSV: RFC 4180 with line feeds, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, Literal

__all__ = ["csv_parts", "csv_text"]

_BLOCK: Final = 1024
"""Rows whose cells are looked at one by one if a formula may be among them."""

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_text(columns: Sequence[str], rows: Callable[[], Iterable[Sequence[object]]]) -> str:
    r"""A header and a line a row. A text that a spreadsheet would take for a formula gets a leading apostrophe; None is empty.

    Args:
        columns: Their names.
        rows: Tells the cells of each row, as often as it is asked.

    >>> csv_text(("name", "count"), lambda: [("=1+1", 2), ("mm", None)])
    "name,count\n'=1+1,2\nmm,\n"
    >>> csv_text(("name", "count"), lambda: [("a\rb", 2)])
    '"name","count"\n"a\rb",2\n'
    """
    return "".join(csv_parts(columns, rows))


def csv_parts(columns: Sequence[str], rows: Callable[[], Iterable[Sequence[object]]]) -> list[str]:
    """What `csv_text` is made of, in order: of very many rows joined text would be a second one."""
    parts = _written(columns, rows(), csv.QUOTE_MINIMAL)
    # Python's csv does not quote a carriage return where lines end in a line feed, and reads one as the end of a line.
    return _written(columns, rows(), csv.QUOTE_NONNUMERIC) if any("\r" in part for part in parts) else parts


def _written(columns: Sequence[str], rows: Iterable[Sequence[object]], quoting: Literal[0, 2]) -> list[str]:
    parts, left = [], iter(rows)
    block: Iterable[Sequence[object]] = [columns]
    while block:
        text = _lines(block, quoting)
        if _may_hold_a_formula(text):
            text = _lines(([_harmless(cell) for cell in row] for row in block), quoting)
        parts.append(text)
        block = list(islice(left, _BLOCK))
    return parts


def _lines(rows: Iterable[Sequence[object]], quoting: Literal[0, 2]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=quoting).writerows(rows)
    return out.getvalue()


def _may_hold_a_formula(text: str) -> bool:
    """Whether a cell of these lines looks like one; a negative number does as well."""
    is_inside = any(start in text and any(before + start in text for before in ',\n"') for start in _FORMULA_STARTS)
    return is_inside or text.startswith(_FORMULA_STARTS)


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell
