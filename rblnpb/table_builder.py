"""Many parts to one table, held once."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from rblnpb.column_arrays import TextArray, frozen, repeated
from rblnpb.columns import Table

__all__ = ["TableBuilder"]

AnyTable = TypeVar("AnyTable", bound=Table)


class TableBuilder(Generic[AnyTable]):
    """Collects parts of one table in arrays of the final size, so that a large file is held once, not twice.

    A column that has one value throughout takes no memory: its array repeats that value.
    """

    def __init__(self, table: type[AnyTable], capacity: int) -> None:
        """Room for `capacity` records of the kind."""
        self._table = table
        self._capacity = capacity
        self._count = 0
        self._columns = {name: _Column(dtype) for name, (dtype, _) in table.schema().items() if dtype is not None}
        self._texts: dict[str, list[TextArray]] = {name: [] for name, (dtype, _) in table.schema().items() if dtype is None}

    def append(self, part: AnyTable) -> None:
        """Take the records of a part of the same kind; they must fit the capacity."""
        if not len(part):
            return
        stop = self._count + len(part)
        for name, column in self._columns.items():
            if not column.takes(part, name):
                part.column_into(name, column.array(self._count, self._capacity)[self._count : stop])
        for name, texts in self._texts.items():
            texts.append(part.column(name))
        self._count = stop

    def table(self) -> AnyTable:
        """What was collected, in the order it came."""
        arrays = {name: column.result(self._count) for name, column in self._columns.items()}
        return self._table(**arrays, **{name: TextArray.concat(texts) for name, texts in self._texts.items()})


class _Column:
    """One value, while all parts have it; then an array."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._value: np.generic | None = None
        self._array: Any = None

    def takes(self, part: Table, name: str) -> bool:
        """Whether the part goes on with the one value of all before it."""
        value = part.repeated_value(name) if self._array is None else None
        if value is None or (self._value is not None and self._value.tobytes() != value.tobytes()):
            return False
        self._value = value
        return True

    def array(self, count: int, capacity: int) -> Any:
        """The array of a capacity, with so many records in it already."""
        if self._array is None:
            self._array = np.empty(capacity, self._dtype)
            if self._value is not None:
                self._array[:count] = self._value
        return self._array

    def result(self, count: int) -> Any:
        """The column of so many records."""
        if self._array is None:
            return repeated(0 if self._value is None else self._value, count, self._dtype)
        return frozen(self._array[:count])
