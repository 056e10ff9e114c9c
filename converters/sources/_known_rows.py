"""What is known of a trace so far, to be recognised in its text: names and threads, with the rows that they have in tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

import numpy as np

from ..timeline import Id, Int32
from ._known_texts import KnownTexts
from ._text_words import before_other_than_digit, before_quote

Strings = Mapping[str, int]
Tracks = Mapping[tuple[Id, Id], int]
"""Rows by process and thread."""

NO_ROW: Final = -1
_MOST_THREADS: Final = 1 << 10
"""Where there are more, those that come later are not recognised."""
_UNWRITTEN: Final = re.compile('["\\\\\\x00-\\x1f]')
"""A text without such a character stands in JSON as it is."""


class KnownRows:
    """Names and threads that have rows.

    Attributes:
        names: Texts of names, each with its row of strings.
        threads: Texts of numbers of threads, each with a number of its own.
    """

    def __init__(self) -> None:
        """Know none."""
        self.names = KnownTexts(before_quote)
        self.threads = KnownTexts(before_other_than_digit)
        self._names: set[str] = set()
        self._thread_ids: dict[int, int] = {}
        self._track_count = 0
        self._rows_by_thread: dict[Id, Int32] = {}

    def know(self, names: Iterable[str], strings: Strings, tracks: Tracks) -> None:
        """Recognise from now on these names and all tracks, as far as they have rows.

        Args:
            names: Some names.
            strings, tracks: Rows of the texts and tracks of all events so far; they only ever grow.
        """
        new_names = [name for name in dict.fromkeys(names) if name not in self._names and name in strings]
        self._names.update(new_names)
        self.names.add({name.encode(): strings[name] for name in new_names if not _UNWRITTEN.search(name)})
        if len(tracks) == self._track_count:
            return
        new_tids = dict.fromkeys(tid for _, tid in islice(tracks, self._track_count, None) if isinstance(tid, int) and tid >= 0)
        new_threads = [tid for tid in new_tids if tid not in self._thread_ids][: _MOST_THREADS - len(self._thread_ids)]
        self._thread_ids.update(zip(new_threads, range(len(self._thread_ids), _MOST_THREADS), strict=False))
        self.threads.add({b"%d" % tid: self._thread_ids[tid] for tid in new_threads})
        self._track_count = len(tracks)
        self._rows_by_thread = {}

    def track_rows(self, pid: Id, tracks: Tracks) -> Int32:
        """int32; rows of the tracks of a process by number of their thread, NO_ROW where it has none.

        Args:
            pid: The process.
            tracks: As they were when last something became known, or more.
        """
        rows = self._rows_by_thread.get(pid)
        if rows is None:
            rows = np.array([tracks.get((pid, tid), NO_ROW) for tid in self._thread_ids], np.int32)
            self._rows_by_thread[pid] = rows
        return rows
