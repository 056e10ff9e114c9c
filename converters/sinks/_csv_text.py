"""Tables as CSV: RFC 4180 with line feeds, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Literal

__all__ = ["csv_text"]


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A header and a line a row. A text that a spreadsheet would take for a formula gets a leading apostrophe; None is empty.

    Args:
        columns: Their names.
        rows: Cells of each row.

    >>> csv_text(("name", "count"), [("=1+1", 2), ("mm", None)])
    "name,count\n'=1+1,2\nmm,\n"
    >>> csv_text(("name", "count"), [("a\rb", 2)])
    '"name","count"\n"a\rb",2\n'
    """
    table = [columns, *([_harmless(cell) for cell in row] for row in rows)]
    text = _written(table, csv.QUOTE_MINIMAL)
    # Python's csv does not quote a carriage return where lines end in a line feed, and reads one as the end of a line.
    return _written(table, csv.QUOTE_NONNUMERIC) if "\r" in text else text


def _written(table: Iterable[Sequence[object]], quoting: Literal[0, 2]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=quoting).writerows(table)
    return out.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
