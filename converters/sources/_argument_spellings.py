"""Ids that link rows, under names that differ from the usual ones in case, blanks or underscores: "External Id", "Correlation ID".

The typed records know the usual names. Only slices that lack the link which their category should have are looked at again, key by
key; in the usual trace there is hardly one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
import numpy as np

from ..timeline import Bool, Int64
from ._block_columns import Columns
from ._event_records import Arguments

__all__ = ["LINKLESS", "NUMBERED", "add_spelled_links", "unlinked_places", "unusual_link"]

_LINKS: Final = {
    "externalid": "external_id",
    "correlation": "correlation_id",
    "correlationid": "correlation_id",
    "launchid": "launch_id",
}
"""What is left of a key without case, blanks and underscores, to the column that it means."""

_USUAL: Final = frozenset(field.encode_name for field in msgspec.structs.fields(Arguments))
"""What the typed records, and who reads odd events, have looked at already."""

LINKLESS: Final = frozenset({"", "Trace", "overhead", "python_function"})
"""Categories whose slices nothing links."""

NUMBERED: Final = frozenset({"Operator", "cpu_op", "gpu_user_annotation", "user_annotation"})
"""Categories whose slices have a number of their own, and none of a call."""


class _Event(msgspec.Struct, gc=False):
    args: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)


_EVENT: Final = msgspec.json.Decoder(_Event)


def unusual_link(key: str) -> str | None:
    """The column of the id that a key of `args` stands for under an unusual name; None for usual names, and for what is no id."""
    return None if key in _USUAL else _LINKS.get(key.lower().replace("_", "").replace(" ", ""))


def unlinked_places(columns: Columns, is_slice: Bool, categories: Mapping[str, int]) -> Int64:
    """Which of some events lack the link that their category should have.

    Args:
        columns: Of these events, n rows each; `category` among them, which may be one value for all. What is not there is 0
            everywhere.
        is_slice: bool[n].
        categories: The row of `category` that stands for each text of the events.

    Returns:
        int64[k]; places, ascending.
    """
    category = columns["category"]
    is_numbered, is_called = np.zeros((2, int(category.max()) + 1), np.bool_)
    is_numbered[[row for text, row in categories.items() if text in NUMBERED]] = True
    is_called[[row for text, row in categories.items() if text not in NUMBERED | LINKLESS]] = True
    lacks_number, lacks_call = is_numbered[category] & is_slice, is_called[category] & is_slice
    if "external_id" in columns:
        lacks_number &= columns["external_id"] == 0
    for name in ("correlation_id", "launch_id"):
        if name in columns:
            lacks_call &= columns[name] == 0
    return np.flatnonzero(lacks_number | lacks_call).astype(np.int64)


def add_spelled_links(
    columns: Columns, places: Int64, text_of: Callable[[int], bytes], number: Callable[[str, bytes], int]
) -> None:
    """Fill in the ids of some events that are written under an unusual name.

    Args:
        columns: Of events that follow each other, `phase` among them; columns of links are added to where they are 0.
        places: int64[k]; which of the events to look at.
        text_of: The JSON text of the event at a place.
        number: The value of a JSON text under a name, 0 where it is no whole number.
    """
    count = len(columns["phase"])
    for place in places.tolist():
        try:
            found = _EVENT.decode(text_of(place)).args
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        for key, value in found.items():
            name = unusual_link(key)
            if name is None:
                continue
            column = columns.get(name)
            # A column of nothing but 0 is none.
            if (column is None or column[place] == 0) and (link := number(key, bytes(value))):
                columns.setdefault(name, np.zeros(count, np.int64))[place] = link
