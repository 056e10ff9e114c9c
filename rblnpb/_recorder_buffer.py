"""What a recorder holds in memory: rows that wait to be written, and the count of what was lost."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from rblnpb._recorder_rows import table_of_rows
from rblnpb.clock import ClockSnapshot
from rblnpb.columns import Int64, Table
from rblnpb.profile import KINDS, Commands, Loss, LossReason

__all__ = ["LossCount", "Pending"]


class LossCount:
    """Losses added up by kind and reason."""

    def __init__(self) -> None:
        self._counts: dict[tuple[int, LossReason], tuple[int, int, int]] = {}

    def add(self, kind: int, reason: LossReason, count: int, first_ns: int, last_ns: int) -> None:
        """Count records that were lost between two host monotonic times."""
        before, before_first_ns, before_last_ns = self._counts.get((kind, reason), (0, first_ns, last_ns))
        self._counts[kind, reason] = before + count, min(before_first_ns, first_ns), max(before_last_ns, last_ns)

    def merge(self, other: LossCount) -> None:
        """Count what the other has counted as well."""
        for (kind, reason), counted in other._counts.items():
            self.add(kind, reason, *counted)

    def rows(self) -> tuple[Loss, ...]:
        """One row a kind and reason, in the order they were first noticed."""
        return tuple(
            Loss(kind, reason, count, first_monotonic_ns=first_ns, last_monotonic_ns=last_ns)
            for (kind, reason), (count, first_ns, last_ns) in self._counts.items()
        )


class Pending:
    """What waits to be written: new rows of the session's tables, clock readings, and the records of each kind in parts."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Any]] = defaultdict(list)
        self.commands: Commands | None = None
        self.snapshots: list[ClockSnapshot] = []
        self.counts: dict[int, int] = defaultdict(int)
        self._parts: dict[int, list[bytes | tuple[int, Table]]] = defaultdict(list)

    def define(self, **rows: Sequence[Any]) -> None:
        """Add rows of the session's tables, by the names of `StreamWriter.define`."""
        for name, added in rows.items():
            self.rows[name].extend(added)

    def put(self, kind: int, records: Table | bytes, count: int, number: int) -> None:
        """Add the first `count` records of a table, whose numbers begin with `number`, or the single one of a packed row."""
        # Records and numbers go in together: the exception of a signal handler may come between any two statements.
        if isinstance(records, bytes):
            self._parts[kind].append(records)
        else:
            self._parts[kind].append((number, records if count == len(records) else records.take(slice(0, count))))
        self.counts[kind] += count

    def kinds(self) -> list[int]:
        """Kinds of which there are records; device slices before the dependencies that name them."""
        return sorted(self._parts)

    def count(self, kind: int) -> int:
        """How many records there are of a kind."""
        return sum(1 if isinstance(part, bytes) else len(part[1]) for part in self._parts[kind])

    def table(self, kind: int) -> tuple[Table, Int64]:
        """The records of a kind, and their numbers."""
        tables: list[Table] = []
        numbers: list[Int64] = []
        for form, parts in itertools.groupby(self._parts[kind], type):
            if form is bytes:
                table, of_table = table_of_rows(KINDS[kind], list(parts))  # type: ignore[arg-type]  # they are bytes
                tables.append(table)
            else:
                first, of_kind = zip(*parts, strict=True)
                tables += of_kind
                of_table = _numbers(np.array(first, np.int64), np.array(list(map(len, of_kind)), np.int64))
            numbers.append(of_table)
        return KINDS[kind].concat(tables), np.concatenate(numbers)


def _numbers(first: Int64, counts: Int64) -> Int64:
    """The numbers of records of several tables, each of which begins with one and counts on."""
    ends = np.cumsum(counts)
    numbers: Int64 = np.repeat(first - (ends - counts), counts) + np.arange(ends[-1])
    return numbers
