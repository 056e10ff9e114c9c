"""What a recorder holds in memory: rows that wait to be written, and the count of what was lost."""

from __future__ import annotations

import itertools
import math
import operator
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from rblnpb.clock import ClockSnapshot
from rblnpb.columns import ABSENT, Int64, Table
from rblnpb.profile import KINDS, Commands, Loss, LossReason
from rblnpb.strings import StringTable

__all__ = ["LossCount", "Pending", "Row", "row_of"]

Row = tuple[Any, ...]


def _form(table: type[Table]) -> tuple[tuple[str, int, tuple[int, int] | None], ...]:
    return tuple(
        (name, ABSENT if is_nullable else 0, table.limits().get(name))
        for name, (dtype, is_nullable) in table.schema().items()
        if dtype is not None
    )


_FORMS: Final = {kind: _form(table) for kind, table in KINDS.items()}
"""For each column of single values of a kind: its name, what stands for None, and the limits of its integers."""


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
        self.strings: Sequence[str] = ()
        self.rows: dict[str, list[Any]] = defaultdict(list)
        self.commands: Commands | None = None
        self.snapshots: list[ClockSnapshot] = []
        self.counts: dict[int, int] = defaultdict(int)
        self._parts: dict[int, list[tuple[int, Table | Row]]] = defaultdict(list)

    def define(self, **rows: Sequence[Any]) -> None:
        """Add rows of the session's tables, by the names of `StreamWriter.define`."""
        for name, added in rows.items():
            self.rows[name].extend(added)

    def put(self, kind: int, records: Table | Row, count: int, number: int) -> None:
        """Add the first `count` records of a table, or the single one of a row, whose numbers begin with `number`."""
        if isinstance(records, Table) and count < len(records):
            records = records.take(slice(0, count))
        # Records and numbers go in together: the exception of a signal handler may come between any two statements.
        self._parts[kind].append((number, records))
        self.counts[kind] += count

    def kinds(self) -> list[int]:
        """Kinds of which there are records; device slices before the dependencies that name them."""
        return sorted(self._parts)

    def count(self, kind: int) -> int:
        """How many records there are of a kind."""
        return sum(len(records) if isinstance(records, Table) else 1 for _, records in self._parts[kind])

    def table(self, kind: int) -> tuple[Table, Int64]:
        """The records of a kind, and their numbers."""
        tables: list[Table] = []
        numbers: list[Int64] = []
        for is_table, parts in itertools.groupby(self._parts[kind], lambda part: isinstance(part[1], Table)):
            first, records = zip(*parts, strict=True)
            tables += records if is_table else [_from_rows(KINDS[kind], records)]
            numbers += map(_numbers, first, records) if is_table else [np.array(first, np.int64)]
        return KINDS[kind].concat(tables), np.concatenate(numbers)


def row_of(kind: type[Table], columns: Mapping[str, Any], strings: StringTable) -> Row | None:
    """The values of one record in schema order; None when one of them does not fit its column.

    Raises:
        TypeError: A column that the kind does not have, or one of byte strings.
    """
    form = _FORMS[kind.kind]
    row: list[Any] = []
    given = 0
    for name, none, limits in form:
        value = columns.get(name)
        given += name in columns
        if isinstance(value, str):
            value = strings.intern(value)
        if value is None:
            value = none
        elif value != none and not _fits(value, limits):
            return None
        row.append(value)
    if given < len(columns):
        unknown = sorted(columns.keys() - {name for name, _, _ in form})
        raise TypeError(f"{kind.__name__} has no column {unknown[0]!r}; it has {', '.join(name for name, _, _ in form)}")
    return tuple(row)


def _fits(value: Any, limits: tuple[int, int] | None) -> bool:
    if limits is None:
        return isinstance(value, (int, float)) and math.isfinite(value)
    try:
        return bool(limits[0] <= operator.index(value) <= limits[1])
    except TypeError:
        return False


def _numbers(first: int, records: Table) -> Int64:
    return np.arange(first, first + len(records))


def _from_rows(kind: type[Table], rows: Sequence[Row]) -> Table:
    columns = zip(kind.schema().items(), zip(*rows, strict=True), strict=True)
    return kind(**{name: np.array(values, dtype) for (name, (dtype, _)), values in columns})
