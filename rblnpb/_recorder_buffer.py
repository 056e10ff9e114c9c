"""What a recorder holds in memory: rows that wait to be written, and the count of what was lost."""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
        self._rows: dict[tuple[int, LossReason], Loss] = {}

    def add(self, kind: int, reason: LossReason, count: int, now_ns: int) -> None:
        """Count records that were lost at this host monotonic time."""
        before = self._rows.get((kind, reason), Loss(kind, reason, 0, first_monotonic_ns=now_ns))
        first_ns = before.first_monotonic_ns
        self._rows[kind, reason] = Loss(kind, reason, before.count + count, first_monotonic_ns=first_ns, last_monotonic_ns=now_ns)

    def rows(self) -> tuple[Loss, ...]:
        """One row a kind and reason, in the order they were first noticed."""
        return tuple(self._rows.values())


class Pending:
    """What waits to be written: new rows of the session's tables, clock readings, and the records of each kind in parts."""

    def __init__(self) -> None:
        self.strings: Sequence[str] = ()
        self.rows: dict[str, list[Any]] = defaultdict(list)
        self.commands: Commands | None = None
        self.snapshots: list[ClockSnapshot] = []
        self.counts: dict[int, int] = defaultdict(int)
        self._parts: dict[int, list[Table | list[Row]]] = defaultdict(list)
        self._numbers: dict[int, list[range]] = defaultdict(list)

    def define(self, **rows: Sequence[Any]) -> None:
        """Add rows of the session's tables, by the names of `StreamWriter.define`."""
        for name, added in rows.items():
            self.rows[name].extend(added)

    def put(self, kind: int, records: Table | Row, count: int, number: int) -> None:
        """Add the first `count` records of a table, or the single one of a row, whose numbers begin with `number`."""
        parts, numbers = self._parts[kind], self._numbers[kind]
        self.counts[kind] += count
        if numbers and numbers[-1].stop == number:
            numbers[-1] = range(numbers[-1].start, number + count)
        else:
            numbers.append(range(number, number + count))
        if isinstance(records, Table):
            parts.append(records if count == len(records) else records.take(slice(0, count)))
        elif parts and isinstance(parts[-1], list):
            parts[-1].append(records)
        else:
            parts.append([records])

    def tables(self) -> Iterator[tuple[Table, Int64]]:
        """The records with their numbers, one table a kind; device slices before the dependencies that name them."""
        for kind in sorted(self._parts):
            table = KINDS[kind]
            records = table.concat([part if isinstance(part, Table) else _from_rows(table, part) for part in self._parts[kind]])
            yield records, np.concatenate([np.arange(run.start, run.stop) for run in self._numbers[kind]])


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


def _from_rows(kind: type[Table], rows: Sequence[Row]) -> Table:
    columns = zip(kind.schema().items(), zip(*rows, strict=True), strict=True)
    return kind(**{name: np.array(values, dtype) for (name, (dtype, _)), values in columns})
