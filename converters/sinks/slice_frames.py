"""Summaries of device slices as data frames, of packages that are used where they are installed and never needed."""

from __future__ import annotations

from typing import Any, Final

from ..results import SliceRows
from ._slice_columns import row_columns
from .data_frames import Column, arrow_table, pandas_frame

__all__ = ["slices_to_arrow", "slices_to_pandas"]

_TEXTS: Final = ("name", "engine", "device", "kind", "compile_id", "phase", "bound", "compute_engine", "dma_engine")
_SHARES: Final = ("_share", "_use")


def slices_to_pandas(rows: SliceRows) -> Any:
    """The rows as a pandas.DataFrame, in order of first mention.

    Columns are those of the CSV. Numbers are whole, of type Int64, which knows missing values; those beyond 64 bits are text, as in
    the JSON.

    Raises:
        UsageError: pandas is not installed.
    """
    return pandas_frame(_columns(rows))


def slices_to_arrow(rows: SliceRows) -> Any:
    """The rows as a pyarrow.Table, in order of first mention; columns as of `slices_to_pandas`, null where not known.

    Raises:
        UsageError: pyarrow is not installed.
    """
    return arrow_table(_columns(rows))


def _columns(rows: SliceRows) -> dict[str, Column]:
    """What each column holds, "text", "share" or "number", and its values."""
    columns: dict[str, Column] = {}
    for name, values in row_columns(rows).items():
        if name in _TEXTS:
            columns[name] = ("text", values)
        elif name.endswith(_SHARES):
            columns[name] = ("share", values)
        elif any(value is not None and value >= 1 << 63 for value in values):
            columns[name] = ("text", [None if value is None else str(value) for value in values])
        else:
            columns[name] = ("number", values)
    return columns
