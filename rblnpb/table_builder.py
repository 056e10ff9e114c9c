"""Many parts to one table, held once."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from rblnpb.columns import Table, TextArray, frozen

__all__ = ["TableBuilder"]

AnyTable = TypeVar("AnyTable", bound=Table)


class TableBuilder(Generic[AnyTable]):
    """Collects parts of one table in arrays of the final size, so that a large file is held once, not twice."""

    def __init__(self, table: type[AnyTable], capacity: int) -> None:
        """Room for `capacity` records of the kind."""
        self._table = table
        self._count = 0
        self._arrays = {name: np.empty(capacity, dtype) for name, (dtype, _) in table.schema().items() if dtype is not None}
        self._texts: dict[str, list[TextArray]] = {name: [] for name, (dtype, _) in table.schema().items() if dtype is None}

    def append(self, part: AnyTable) -> None:
        """Take the records of a part of the same kind; they must fit the capacity."""
        stop = self._count + len(part)
        for name, array in self._arrays.items():
            part.column_into(name, array[self._count : stop])
        for name, texts in self._texts.items():
            texts.append(getattr(part, name))
        self._count = stop

    def table(self) -> AnyTable:
        """What was collected, in the order it came."""
        arrays: dict[str, Any] = {name: frozen(array[: self._count]) for name, array in self._arrays.items()}
        return self._table(**arrays, **{name: TextArray.concat(texts) for name, texts in self._texts.items()})
