"""Text as rows of a table: a string is put in once and referred to by its index; row 0 is the empty string, "none"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["StringTable"]


class StringTable:
    """A growing table of distinct texts.

    Strings are interned by the writer's side (recorder, sources); a finished profile holds the tuple of rows.

    >>> table = StringTable()
    >>> table.intern("mm"), table.intern("args_0"), table.intern("mm"), table.intern("")
    (1, 2, 1, 0)
    >>> table.rows()
    ('', 'mm', 'args_0')
    """

    def __init__(self, rows: Sequence[str] = ("",)) -> None:
        """Start from the rows of another table; the first of them must be the empty string."""
        if not rows or rows[0] != "":
            raise ValueError("row 0 of a string table is the empty string")
        self._rows = list(rows)
        self._index = {text: row for row, text in reversed(list(enumerate(self._rows)))}

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: int) -> str:
        return self._rows[row]

    def intern(self, text: str) -> int:
        """Row of `text`, which is added when it is new."""
        row = self._index.get(text)
        if row is None:
            # The exception of a signal handler may have come between the two statements below.
            self._index.setdefault(self._rows[-1], len(self._rows) - 1)
            row = self._index.get(text, len(self._rows))
            if row == len(self._rows):
                self._rows.append(text)
                self._index[text] = row
        return row

    def intern_all(self, texts: Iterable[str]) -> list[int]:
        """Rows of several texts, in their order."""
        return [self.intern(text) for text in texts]

    def rows(self, start: int = 0) -> tuple[str, ...]:
        """The texts from row `start` on, in index order."""
        return tuple(self._rows[start:])
