"""Small words of findings, reports and advice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["counted", "counted_records", "first_few"]

_FEW: Final = 3


def counted(count: int, noun: str, nouns: str = "") -> str:
    """A number of things, with its noun; `nouns` where the plural does not merely end in s, or where a verb goes with it.

    >>> counted(1, "scan"), counted(1_200, "copy", "copies"), counted(1, "launch is", "launches are")
    ('1 scan', '1,200 copies', '1 launch is')
    """
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def counted_records(count: int, table: str, verb: str = "", verbs: str = "") -> str:
    """A number of records of a table, by its label, with the verb that goes with one and with several.

    >>> counted_records(1, "device_slices", "has", "have"), counted_records(2, "launches"), counted_records(1, "dependencies")
    ('1 device_slice has', '2 launches', '1 dependency')
    """
    one = _ONE.get(table, table.removesuffix("s"))
    return counted(count, f"{one} {verb}".rstrip(), f"{table} {verbs}".rstrip())


_ONE: Final = {"launches": "launch", "dependencies": "dependency"}


def first_few(names: Sequence[str]) -> str:
    """The first three names, and how many more there are.

    >>> first_few(["mm", "add"]), first_few(["mm", "add", "mul", "sub"])
    ('mm, add', 'mm, add, mul and 1 more')
    """
    more = len(names) - _FEW
    return ", ".join(names[:_FEW]) + (f" and {more:,} more" if more > 0 else "")
