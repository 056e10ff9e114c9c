"""Tables as CSV: RFC 4180 with line feeds, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

__all__ = ["csv_text"]


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]], *, has_return: bool = False) -> str:
    r"""A header and a line a row. A text that a spreadsheet would take for a formula gets a leading apostrophe; None is empty.

    Args:
        columns: Their names.
        rows: Cells of each row.
        has_return: Whether a cell holds a carriage return: Python's csv does not quote one where lines end in a line feed, and
            reads one as the end of a line, so that all texts are quoted then.

    >>> csv_text(("name", "count"), [("=1+1", 2), ("mm", None)])
    "name,count\n'=1+1,2\nmm,\n"
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if has_return else csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
