"""Tables as data frames, of packages that are used where they are installed and never needed."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from rblnpb.errors import UsageError

__all__ = ["Column", "arrow_table", "columns_of", "pandas_frame"]

Column = tuple[Literal["text", "share", "number"], list[Any]]
"""What a column holds, and its values; None where one is not known."""


def pandas_frame(columns: Mapping[str, Column]) -> Any:
    """A pandas.DataFrame. Whole numbers are of type Int64, which knows missing values.

    Raises:
        UsageError: pandas is not installed.
    """
    pandas = _module("pandas")
    kinds = {"text": object, "share": "float64", "number": "Int64"}
    return pandas.DataFrame({name: pandas.Series(values, dtype=kinds[kind]) for name, (kind, values) in columns.items()})


def arrow_table(columns: Mapping[str, Column]) -> Any:
    """A pyarrow.Table, null where a value is not known.

    Raises:
        UsageError: pyarrow is not installed.
    """
    arrow = _module("pyarrow")
    kinds = {"text": arrow.string(), "share": arrow.float64(), "number": arrow.int64()}
    return arrow.table({name: arrow.array(values, kinds[kind]) for name, (kind, values) in columns.items()})


def columns_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, Column]:
    """The columns of a table by its rows. What is a number is told by the name, so that an empty table has the same types.

    Numbers beyond 64 bits make their column one of texts, as in JSON.

    >>> columns_of(("name", "count"), [("mm", 2), ("bmm", None)])
    {'name': ('text', ['mm', 'bmm']), 'count': ('number', [2, None])}
    """
    cells = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: _typed(name, list(values)) for name, values in zip(names, cells, strict=True)}


_NUMBERS = ("_ns", "_bytes", "count", "calls", "launches", "slices", "pid", "tid", "n_negative")


def _typed(name: str, values: list[Any]) -> Column:
    known = [value for value in values if value is not None]
    if any(isinstance(value, float) for value in known):
        return "share", values
    is_number = all(isinstance(value, int) for value in known) if known else name.endswith(_NUMBERS)
    if is_number and all(-(1 << 63) <= value < 1 << 63 for value in known):
        return "number", values
    return "text", [None if value is None else str(value) for value in values]


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"this needs {name}, which is not installed: pip install {name}") from error
