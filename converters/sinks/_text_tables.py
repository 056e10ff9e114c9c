"""Reports for people: lines and tables as plain text, folded to a number of columns."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rblnpb.errors import Finding

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["TextReport"]


class TextReport:
    """Lines and tables, one below the other, without colours: the same text on a terminal and in a file."""

    def __init__(self, width: int) -> None:
        """An empty report of so many columns."""
        # Here, so that a command which is only asked for help does not load it.
        from rich.console import Console

        self._console: Console = Console(
            file=io.StringIO(), width=width, color_system=None, highlight=False, markup=False, emoji=False
        )

    def line(self, text: str = "", *, indent: int = 0, folds: bool = False) -> None:
        """A line; a long one goes on beyond the last column unless it folds, at the same indent."""
        if folds:
            from rich.padding import Padding

            self._console.print(Padding(text, (0, 0, 0, indent)))
        else:
            self._console.print(" " * indent + text, soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int = 1, remark: bool = False) -> None:
        """A table.

        Args:
            columns: Their names.
            rows: Their cells.
            texts: How many of the columns, from the first on, are texts; the others are numbers.
            remark: Whether the last column is a text as well, which folds before any other.
        """
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for place, column in enumerate(columns):
            is_remark = remark and place == len(columns) - 1
            is_text = is_remark or place < texts
            table.add_column(column, justify="left" if is_text else "right", overflow="fold", no_wrap=remark and not is_remark)
        for row in rows:
            table.add_row(*row)
        self._console.print(table)

    def findings(self, findings: Sequence[Finding]) -> None:
        """How many findings there are, and a line each."""
        self.line(f"\nFindings: {len(findings) or 'none'}")
        for finding in findings:
            self.line(f"  {str(finding.severity).upper():<8}{finding.message} [{finding.code}]")

    def text(self) -> str:
        """All of it, without blanks at the ends of lines."""
        file = self._console.file
        assert isinstance(file, io.StringIO)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"
