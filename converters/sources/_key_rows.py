"""Tables that give each key a row, in the order in which the keys came: texts of a trace, its tracks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import count
from typing import TypeVar

import numpy as np

from rblnpb.column_arrays import listed

from ..timeline import Int32

Key = TypeVar("Key", bound=Hashable)


def rows_of(table: dict[Key, int], keys: Sequence[Key], learn: Callable[[list[Key]], Iterable[int]] | None = None) -> Int32:
    """Row of each key in a table, which learns the keys that it does not have.

    Args:
        table: The table; grows.
        keys: n keys.
        learn: Gives rows to new keys, each once and in their order; None: they get the next ones.

    Returns:
        int32[n].
    """
    try:
        return listed(list(map(table.__getitem__, keys)), np.int32)
    except KeyError:
        new = [key for key in dict.fromkeys(keys) if key not in table]
        table.update(zip(new, learn(new) if learn else count(len(table)), strict=False))
        return listed(list(map(table.__getitem__, keys)), np.int32)


def column_of(table: dict[Key, int], keys: Sequence[Key], learn: Callable[[list[Key]], Iterable[int]] | None = None) -> Int32:
    """The same of one key at least; int32 without dimensions where all are one."""
    is_one = keys[0] == keys[-1] and keys.count(keys[0]) == len(keys)
    return rows_of(table, keys[:1], learn).reshape(()) if is_one else rows_of(table, keys, learn)
