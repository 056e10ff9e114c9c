"""Reports for people: lines and tables as plain text, for a number of columns.

A table that is too wide folds its names and leaves whole columns out, which it says: no number is ever broken or cut.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

from rblnpb.errors import Finding

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["TextReport"]


_WIDEST: Final = 1 << 16
_GAP: Final = 3
"""Columns of the terminal between two columns of a table."""

_LONGEST_WORD: Final = 32
"""A word up to this length is not broken."""


class TextReport:
    """Lines and tables, one below the other, without colours: the same text on a terminal and in a file."""

    def __init__(self, width: int | None) -> None:
        """An empty report of so many columns; None = of as many as it takes."""
        # Here, so that a command which is only asked for help does not load it.
        from rich.console import Console

        self._is_endless = width is None
        self._console: Console = Console(
            file=io.StringIO(),
            width=width or _WIDEST,
            color_system=None,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
        )

    def line(self, text: str = "", *, indent: int = 0, folds: bool = False) -> None:
        """A line; a long one goes on beyond the last column unless it folds, at the same indent."""
        if folds:
            from rich.padding import Padding

            self._console.print(Padding(text, (0, 0, 0, indent)))
        else:
            self._console.print(" " * indent + text, soft_wrap=True)

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        texts: int = 1,
        remark: bool = False,
        ranks: Mapping[str, int] | None = None,
        least: int = 16,
        total: Sequence[str] = (),
    ) -> list[str]:
        """A table, and below it what it has no room for.

        Args:
            columns: Their names.
            rows: Their cells; a character that controls is written out, whatever a name holds.
            texts: How many of the columns, from the first on, are texts; the others are numbers.
            remark: Whether the last column is a text as well, which folds before any other.
            ranks: The higher the rank of a column, the sooner it is left out; 0 = never. Those that are not named give way from
                the last to the first; texts never do.
            least: Texts fold down to so many columns before a number is left out.
            total: Cells of a last row, set apart; none: there is no such row.

        Returns:
            Names of the columns that are shown.
        """
        from rich import box
        from rich.table import Table

        cells = [[_on_one_line(cell) for cell in row] for row in rows]
        is_text = [place < texts or (remark and place == len(columns) - 1) for place in range(len(columns))]
        every = zip(*cells, *([total] if total else []), strict=True) if cells or total else ((),) * len(columns)
        folds = [text and (not remark or place == len(columns) - 1) for place, text in enumerate(is_text)]
        sizes = [_size(name, column, least if fold else None) for name, column, fold in zip(columns, every, folds, strict=True)]
        order = {name: 0 if text else place for place, (name, text) in enumerate(zip(columns, is_text, strict=True))}
        shown = self._fitting(columns, sizes, order | dict(ranks or {}))
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for place in shown:
            justify: Literal["left", "right"] = "left" if is_text[place] else "right"
            is_stiff = self._is_endless or not folds[place]
            table.add_column(columns[place], justify=justify, overflow="fold", no_wrap=is_stiff)
        for row in cells:
            table.add_row(*(row[place] for place in shown))
        if total:
            table.add_section()
            table.add_row(*(total[place] for place in shown))
        self._console.print(table)
        if len(shown) < len(columns):
            left_out = ", ".join(name for place, name in enumerate(columns) if place not in shown)
            self.line(f"Left out for want of width: {left_out} (--format json has all)", indent=2, folds=True)
        return [columns[place] for place in shown]

    def _fitting(self, columns: Sequence[str], sizes: Sequence[int], ranks: Mapping[str, int]) -> list[int]:
        """Places of the columns that fit, in their order."""
        left, kept = self._console.width + _GAP, []
        for place in sorted(range(len(columns)), key=lambda place: ranks[columns[place]]):
            if sizes[place] + _GAP > left and ranks[columns[place]]:
                break
            left -= sizes[place] + _GAP
            kept.append(place)
        return sorted(kept)

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


def _on_one_line(text: str) -> str:
    return text if text.isprintable() else text.translate(_ESCAPED)


_ESCAPED: Final = {code: f"\\x{code:02x}" for code in (*range(32), 127)}


def _size(name: str, cells: Sequence[str], least: int | None) -> int:
    """How wide a column must be at least; a number has no `least` to fold down to."""
    from rich.cells import cell_len

    texts = [name, *cells]
    size = max(map(cell_len, texts))
    if least is None or size <= least:
        return size
    word = max(cell_len(word) for text in texts for word in (text.split() or [""]))
    return min(size, max(least, min(word, _LONGEST_WORD)))
