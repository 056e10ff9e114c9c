"""Single records of a recorder: one call's values to a few bytes, and many of these to a table.

A row is packed where it is recorded, which tells at once whether its values fit and costs little of the program's time and memory;
what is written has columns, and a block of rows becomes them in one go.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from rblnpb.columns import ABSENT, Int64, Table, frozen
from rblnpb.profile import KINDS
from rblnpb.strings import StringTable

__all__ = ["packed_row", "table_of_rows"]

_CODES: Final = {"<u4": "I", "<u8": "Q", "<i8": "q", "<f8": "d"}


class _Form:
    """The rows of a kind: the number of the record, then its columns of single values in schema order."""

    def __init__(self, table: type[Table]) -> None:
        columns = {name: (dtype, nullable) for name, (dtype, nullable) in table.schema().items() if dtype is not None}
        limits = table.limits()
        self.defaults: dict[str, Any] = {name: ABSENT if nullable else 0 for name, (_, nullable) in columns.items()}
        self.dtype = np.dtype([("number", "<i8"), *((name, dtype.newbyteorder("<")) for name, (dtype, _) in columns.items())])
        codes = (_CODES[np.dtype(dtype).newbyteorder("<").str] for dtype, _ in columns.values())
        self.pack = struct.Struct(f"<q{''.join(codes)}").pack
        self.doubles = [name for name in columns if name not in limits]
        self.moments = [name for name in table.signed_columns() & columns.keys() if not columns[name][1] and name in limits]
        # The highest bit of each column of 64 bits whose limits leave it out; of one that may be absent, it alone may be set.
        self.signs = self.strict_signs = 0
        for name, (low, high) in limits.items():
            if low == 0 and high == (1 << 63) - 1:
                sign = 1 << 8 * self.dtype.fields[name][1] + 63  # type: ignore[index]  # a record has fields
                self.signs |= sign
                self.strict_signs |= 0 if columns[name][1] else sign

    def packed(self, number: int, values: Mapping[str, Any]) -> bytes | None:
        """The row of values in schema order; None when one of them does not fit its column."""
        try:
            row = self.pack(number, *values.values())
        except (struct.error, TypeError, ValueError, OverflowError):
            return None
        bits = int.from_bytes(row, "little")
        below = bits & self.signs
        if below & self.strict_signs or bits & (below - (below >> 63)):
            return None
        if self.doubles and not all(math.isfinite(values[name]) for name in self.doubles):
            return None
        return None if self.moments and any(values[name] == ABSENT for name in self.moments) else row


_FORMS: Final = {kind: _Form(table) for kind, table in KINDS.items()}


def packed_row(kind: type[Table], number: int, columns: Mapping[str, Any], strings: StringTable) -> bytes | None:
    """The row of one record; None when one of its values does not fit its column.

    Args:
        kind: Of the record.
        number: Of the record.
        columns: Its values by name. None is absent, or 0 where there is no absent; a text becomes its row of `strings`.
        strings: Of the session.

    Raises:
        TypeError: A column that the kind does not have, or one of byte strings.
    """
    form = _FORMS[kind.kind]
    # What is given takes its place among the defaults, so that the order stays.
    values = {**form.defaults, **columns}
    if len(values) > len(form.defaults):
        unknown = sorted(columns.keys() - form.defaults.keys())
        raise TypeError(f"{kind.__name__} has no column {unknown[0]!r}; it has {', '.join(form.defaults)}")
    row = form.packed(number, values)
    if row is None:
        # Most rows have numbers alone, and those need no look at each value.
        for name, value in columns.items():
            if value is None:
                values[name] = form.defaults[name]
            elif isinstance(value, str):
                values[name] = strings.intern(value)
        row = form.packed(number, values)
    return row


def table_of_rows(kind: type[Table], rows: Sequence[bytes]) -> tuple[Table, Int64]:
    """The records of some rows, and their numbers, in the order of the rows."""
    records = np.frombuffer(b"".join(rows), _FORMS[kind.kind].dtype)
    columns = {name: frozen(records[name].astype(dtype)) for name, (dtype, _) in kind.schema().items() if dtype is not None}
    return kind.of(len(rows), **columns), records["number"].astype(np.int64)
