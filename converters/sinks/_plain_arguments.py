"""The args of events by their place in the text: nothing is parsed where braces alone tell where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from ..event_blocks import EventBlock
from ..json_text import members
from ..timeline import Bool, Int64

__all__ = ["argument_texts", "quick_argument_texts"]

_SPACED: Final = np.frombuffer(b'"args": ', "<u8")[0]
_CLOSE: Final = np.frombuffer(b'"args":{', "<u8")[0]
_KEY_BYTES: Final = 8
"""What stands before the brace of args, or with it, is found as one number of so many bytes; no second key has room in so few."""
_FEW: Final = 8
"""One event in so many may be odd; where there are more, all are parsed together."""


def quick_argument_texts(block: EventBlock) -> Sequence[bytes | msgspec.Raw]:
    """The JSON text of the args of every event, as it stands; empty where an event has none.

    It gives what `argument_texts` gives. Braces alone tell of an event that has no object in it, or a single one under the key
    "args" which is its last member.
    """
    data = np.frombuffer(block.text, np.uint8)
    opening, closing = (np.flatnonzero(data == ord(brace)) for brace in "{}")
    first, behind = np.searchsorted(opening, block.start), np.searchsorted(opening, block.end)
    first_closing, behind_closing = np.searchsorted(closing, block.start), np.searchsorted(closing, block.end)
    has_one = (behind - first == 2) & (behind_closing - first_closing == 2)
    opens = np.where(has_one, np.append(opening, 0)[np.minimum(first + 1, len(opening))], 0)
    closes = np.where(has_one, np.append(closing, 0)[np.minimum(first_closing, len(closing))], 0)
    is_told = has_one & (opens < closes) & (block.end - closes <= _KEY_BYTES) & _has_key(block.text, opens)
    is_bare = behind - first == 1
    odd = np.flatnonzero(~is_told & ~is_bare)
    if len(odd) > len(block) // _FEW:
        return argument_texts(block)
    opens[~is_told] = closes[~is_told] = 0
    text, low, high = block.text, opens.tolist(), np.where(is_told, closes + 1, 0).tolist()
    texts: list[bytes | msgspec.Raw] = [text[start:end] for start, end in zip(low, high, strict=True)]
    bare = np.flatnonzero(is_bare)
    places = zip(bare.tolist(), block.start[bare].tolist(), block.end[bare].tolist(), strict=True)
    hidden = [row for row, start, end in places if _may_have_args(text[start:end])]
    for row in (*odd.tolist(), *hidden):
        start, end = int(block.start[row]), int(block.end[row])
        one = EventBlock(text[start:end], 0, np.zeros(1, np.int64), np.full(1, end - start, np.int64))
        texts[row] = argument_texts(one)[0]
    return texts


def _may_have_args(event: bytes) -> bool:
    # A letter of the key may be written as an escape.
    return b"args" in event or b"\\u" in event


def _has_key(text: bytes, opens: Int64) -> Bool:
    """Whether the key of args stands before each of some braces."""
    if len(text) < _KEY_BYTES:
        return np.zeros(len(opens), np.bool_)
    words = np.ndarray(len(text) - _KEY_BYTES + 1, "<u8", text, 0, (1,))
    before = words[np.clip(opens - _KEY_BYTES, 0, len(words) - 1)]
    within = words[np.clip(opens - _KEY_BYTES + 1, 0, len(words) - 1)]
    has_key: Bool = (opens >= _KEY_BYTES) & ((before == _SPACED) | (within == _CLOSE))
    return has_key


_NONE: Final = msgspec.Raw()


class _Event(msgspec.Struct, gc=False):
    """An event of which only the args matter."""

    args: msgspec.Raw = _NONE


_EVENTS: Final = msgspec.json.Decoder(list[_Event])


def argument_texts(block: EventBlock) -> Sequence[bytes | msgspec.Raw]:
    """The JSON text of the args of every event, as it stands; empty where an event has none."""
    if not len(block):
        return []
    try:
        events = _EVENTS.decode(b"[%s]" % block.text[int(block.start[0]) :])
    except (msgspec.DecodeError, RecursionError):
        events = []
    if len(events) == len(block):
        return [event.args for event in events]
    # What stands between these events is more than a comma, or one of them is odd.
    return [_arguments(block.text[start:end]) for start, end in zip(block.start.tolist(), block.end.tolist(), strict=True)]


def _arguments(event: bytes) -> bytes:
    found = b""
    for name, low, high in members(event):
        if name == "args":
            found = event[low:high]
    return found
