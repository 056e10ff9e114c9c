"""Finding out how an event is written: its layout, from its text and from what the columns hold of it."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from rblnpb.columns import TraceEvents

from ..event_layouts import MARKS, EventTexts, mark
from ..json_text import members

_GAP: Final = re.compile(rb"[ \t\r\n]*,?[ \t\r\n]*")
_LONGEST_BYTES: Final = 4096
"""A layout that is longer holds values that will hardly come again."""


def layout_of(text: bytes, events: TraceEvents, row: int, texts: EventTexts) -> str | None:
    """The layout of an event.

    Args:
        text: The event, with what parts it from the one before.
        events: Columns, of this event among others.
        row: Which of them it is.
        texts: How the columns are written.

    Returns:
        None when there is no layout with which the columns give this text.
    """
    gap = _GAP.match(text)
    start = gap.end() if gap else 0
    event = text[start:]
    if not event.startswith(b"{"):
        return None
    pieces, done = [text[:start]], 0
    for name, low, high in members(event):
        if name not in MARKS or event[low:high] == b"null":
            continue
        found = _mark_of(name, event[low:high], events, row, texts)
        if found is None or (name == "args" and found in pieces):
            return None
        pieces += [event[done:low], found]
        done = high
    layout = b"".join([*pieces, event[done:]])
    try:
        return layout.decode() if len(layout) <= _LONGEST_BYTES else None
    except UnicodeDecodeError:
        return None


def _mark_of(name: str, value: bytes, events: TraceEvents, row: int, texts: EventTexts) -> bytes | None:
    """What stands for the value of a member; None when the column does not give this text."""
    if name == "args":
        return mark("a")
    for symbol in MARKS[name]:
        if texts.written((b"", mark(symbol)), events, np.array([row])) == [value]:
            return mark(symbol)
    return None
