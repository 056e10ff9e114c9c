"""Tables that give each key a row, in the order in which the keys came: texts of a trace, its tracks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from rblnpb.column_arrays import listed

from ..timeline import Int32

Key = TypeVar("Key", bound=Hashable)


def rows_of(table: dict[Key, int], keys: Sequence[Key]) -> Int32:
    """Row of each key in the table, which learns the keys that it does not have, in their order.

    Returns:
        int32[n]; int32 without dimensions where all keys are one.
    """
    try:
        return known_rows(table, keys)
    except KeyError:
        new = unknown_keys(table, keys)
        table.update(zip(new, range(len(table), len(table) + len(new)), strict=True))
        return known_rows(table, keys)


def known_rows(table: Mapping[Key, int], keys: Sequence[Key]) -> Int32:
    """The same of a table that has them all; else KeyError."""
    if keys[0] == keys[-1] and keys.count(keys[0]) == len(keys):
        return np.array(table[keys[0]], np.int32)
    rows: Int32 = listed(list(map(table.__getitem__, keys)), np.int32)
    return rows


def unknown_keys(table: Mapping[Key, int], keys: Sequence[Key]) -> list[Key]:
    """The keys that the table does not have, each once."""
    return [key for key in dict.fromkeys(keys) if key not in table]
