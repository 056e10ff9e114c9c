"""Patterns of events: how the events of a trace are written, with what differs from one to the next left out.

The events of a file come from few places in one program, each of which prints the same text around other values. A pattern is
learned from the text of an event; patterns that begin alike share that, so that together they are a tree of steps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from ..timeline import Id
from ._argument_spellings import LINKS
from ._event_records import NO_DEVICE, NO_TEXT, Event, binding_point
from ._known_texts import LONG_BYTES, SHORT_BYTES
from ._text_numbers import LONGEST_NUMBER_BYTES, NUMBER_BYTES
from ._text_window import PADDING_BYTES
from ._text_words import WORD_BYTES, FixedText

LONGEST_BYTES: Final = PADDING_BYTES // 2
"""What is written like a pattern is at most so long, so that nobody who follows one looks at more than there is."""
_LONGEST_FIXED_BYTES: Final = 256
"""What has more text without a gap, such as the stack of a call, is hardly ever there twice."""
_LEAST_COVERED: Final = 3 / 4
"""The share of events that have patterns, from which on it is worth while to look for these."""
_TOKEN: Final = re.compile(rb'[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"|[-0-9][0-9.eE+-]*|true|false|null|[{}\[\],:])')
_VALUES: Final = re.compile(rb'"name"[ \t\r\n]*:[ \t\r\n]*"[^"]*"|[0-9.]+')
_METADATA: Final = "M"


class Kind(Enum):
    """What stands in a gap."""

    NAME = "name"
    THREAD = "thread"
    TIME = "time"
    NUMBER = "number"
    IGNORED = "ignored"


_WRITTEN: Final = {
    Kind.NAME: re.compile(rb'".+"'),
    Kind.TIME: re.compile(rb"[0-9]{1,16}(?:\.[0-9]{1,3})?"),
    Kind.NUMBER: re.compile(rb"[0-9]{1,16}"),
    Kind.IGNORED: re.compile(rb"-?[0-9]{1,16}(?:\.[0-9]{1,23})?"),
}
"""How values have to be written; those that JSON does not have do not come."""


@dataclass(frozen=True)
class Slot:
    """A gap of a pattern.

    Attributes:
        kind: What stands there.
        column: Of `HostEvents`, whose value it is; None of a number that is ignored.
    """

    kind: Kind
    column: str | None

    @property
    def window_bytes(self) -> int:
        """How much of the text it takes to read what is there, or to see that it is longer."""
        return SHORT_BYTES if self.kind in {Kind.NAME, Kind.THREAD} else NUMBER_BYTES

    @property
    def longest_bytes(self) -> int:
        """As much as can stand there, or more."""
        return LONG_BYTES if self.kind in {Kind.NAME, Kind.THREAD} else LONGEST_NUMBER_BYTES


@dataclass(frozen=True)
class Constants:
    """What all events of one pattern share.

    Attributes:
        phase, category, pid: Theirs.
        tid: Theirs, unless a gap is for it.
        binding_point: Theirs, if arrows end at them.
        device_type: Theirs, if they have one.
        texts: JSON values of theirs by the column that their text belongs to.
    """

    phase: str
    category: str
    pid: Id
    tid: Id
    binding_point: int | None
    device_type: int | None
    texts: tuple[tuple[str, str], ...]


Part = tuple[bytes, Slot | None]
"""Text, and the gap behind it; None at the end of an event."""
Pattern = tuple[Part, ...]


@dataclass
class Step:
    """A part of patterns that begin alike, and what may follow it.

    Attributes:
        fixed: The text that comes first.
        slot: The gap behind it; None: the event ends there.
        constants: Of the pattern that ends here.
        following: The next steps, the likeliest first.
    """

    fixed: FixedText
    slot: Slot | None
    constants: Constants | None = None
    following: list[Step] = field(default_factory=list)

    @property
    def window_bytes(self) -> int:
        """How much of the text it takes to look for it, in whole words."""
        size = len(self.fixed.text) + (self.slot.window_bytes if self.slot else 0)
        return -(-size // WORD_BYTES) * WORD_BYTES


def learn_steps(texts: Sequence[bytes], events: Sequence[Event], columns: Collection[str], least_share: float) -> list[Step]:
    """The steps that the common patterns of some events begin with; none where these are too few of the events.

    Events of one process that are alike but for numbers and names are taken for events of one pattern.

    Args:
        texts: Of each event, from `{` to `}`.
        events: What was decoded of it.
        columns: Of `HostEvents`, that are wanted.
        least_share: Of the events, that have a pattern: what is rarer is not common.
    """
    likenesses = [(event.pid, _VALUES.sub(b"", text)) for text, event in zip(texts, events, strict=True)]
    steps: list[Step] = []
    covered = 0
    for likeness, count in Counter(likenesses).most_common():
        if count < least_share * len(texts):
            break
        place = likenesses.index(likeness)
        if pattern := _pattern(texts[place], events[place], columns):
            _add(steps, pattern, _constants(events[place]))
            covered += count
    return steps if covered >= _LEAST_COVERED * len(texts) else []


def _add(steps: list[Step], pattern: Pattern, constants: Constants) -> None:
    for text, slot in pattern:
        step = next((step for step in steps if step.fixed.text == text and step.slot == slot), None)
        if step is None:
            step = Step(FixedText(text), slot, None if slot else constants)
            steps.append(step)
        steps = step.following


def _constants(event: Event) -> Constants:
    # Of what nobody asked for records have no field.
    device_type = getattr(event.args, "device_type", NO_DEVICE)
    texts = {column: str(value, "utf-8") for name, column in _TEXTS.items() if (value := getattr(event.args, name, NO_TEXT))}
    return Constants(
        event.ph,
        event.cat,
        event.pid,
        event.tid,
        binding_point(event) if hasattr(event, "bp") else None,
        None if device_type == NO_DEVICE else device_type,
        tuple(texts.items()),
    )


class _NoPatternError(Exception):
    """Of an event that is written like this one, not everything could be told that is to be told."""


def _pattern(text: bytes, event: Event, columns: Collection[str]) -> Pattern | None:
    """The pattern of an event, if it has one."""
    if event.ph == _METADATA:
        return None
    parts: list[Part] = []
    taken: set[str] = set()
    fixed_from = 0
    try:
        for path, start, end in _values(text):
            slot = _slot(path, text[start:end], columns)
            if slot is None:
                continue
            if slot.column in taken:
                return None
            taken |= {slot.column} if slot.column else set()
            # Quotes and signs are text; a number with a sign is nobody's.
            quote_bytes = int(slot.kind is Kind.NAME)
            parts.append((text[fixed_from : start + (quote_bytes or text.startswith(b"-", start))], slot))
            fixed_from = end - quote_bytes
    except _NoPatternError:
        return None
    if "flow_id" not in taken and "flow_id" in columns and event.id:
        return None
    parts.append((text[fixed_from:], None))
    longest_bytes = sum(len(fixed) + (slot.longest_bytes if slot else 0) for fixed, slot in parts)
    is_short = longest_bytes <= LONGEST_BYTES and all(len(fixed) <= _LONGEST_FIXED_BYTES for fixed, _ in parts)
    return tuple(parts) if is_short else None


def _values(text: bytes) -> Iterator[tuple[tuple[bytes, ...], int, int]]:
    """The single values of an event: the keys that lead there, none for places in lists, and from where to where they stand.

    Raises:
        _NoPatternError: A key is there twice, or is not written plainly, or stands for a link under an unusual name.
    """
    path: list[bytes] = []
    keys: list[set[bytes] | None] = []
    is_key, at = False, 0
    while match := _TOKEN.match(text, at):
        token = match[1]
        start, at = match.span(1)
        if token in {b"{", b"["}:
            is_key = token == b"{"
            path.append(b"")
            keys.append(set() if is_key else None)
        elif token in {b"}", b"]"}:
            path.pop()
            keys.pop()
        elif token == b",":
            is_key = keys[-1] is not None
        elif token == b":":
            is_key = False
        elif is_key:
            path[-1] = token[1:-1]
            of_object = keys[-1]
            if of_object is None or b"\\" in token or path[-1] in of_object or _is_odd_link(path):
                raise _NoPatternError
            of_object.add(path[-1])
        else:
            yield tuple(path), start, at


def _is_odd_link(path: Sequence[bytes]) -> bool:
    key = path[-1].decode(errors="replace")
    is_argument = len(path) == 2 and path[0] == b"args"
    return is_argument and key not in _COLUMNS and key.lower().replace("_", "").replace(" ", "") in LINKS


def _slot(path: tuple[bytes, ...], value: bytes, columns: Collection[str]) -> Slot | None:
    """The gap for a value; None where the value belongs to the pattern.

    Raises:
        _NoPatternError: It is written in a way that no gap is for.
    """
    if path == (b"tid",):
        return Slot(Kind.THREAD, "track") if value.isdigit() else None
    if path == (b"pid",) or (path[0] == b"args" and len(path) > 1 and _FIXED.get(path[1]) in columns):
        return None
    slot = _wanted(path, columns)
    if slot is None and value[:1] in b"-0123456789":
        slot = _IGNORED
    if slot is not None and not _WRITTEN[slot.kind].fullmatch(value):
        raise _NoPatternError
    return slot


def _wanted(path: tuple[bytes, ...], columns: Collection[str]) -> Slot | None:
    """The gap for what there is a column for."""
    if len(path) == 1:
        slot = _SLOTS.get(path[0])
        return slot if slot and slot.column in columns else None
    if len(path) == 2 and path[0] == b"args":
        key = path[1].decode(errors="replace")
        column = _COLUMNS.get(key)
        return Slot(Kind.NUMBER, column) if column in columns else None
    return None


_IGNORED: Final = Slot(Kind.IGNORED, None)
_SLOTS: Final = {
    b"name": Slot(Kind.NAME, "name"),
    b"ts": Slot(Kind.TIME, "start_ns"),
    b"dur": Slot(Kind.TIME, "duration_ns"),
    b"id": Slot(Kind.NUMBER, "flow_id"),
}
_COLUMNS: Final = {
    "External id": "external_id",
    "external id": "external_id",
    "correlation": "correlation_id",
    "launch_id": "launch_id",
    "Ev Idx": "event_index",
    "Sequence number": "sequence_number",
    "Bytes": "size_bytes",
}
"""Keys of `args` whose numbers have columns."""
_TEXTS: Final = {
    "concrete_inputs": "concrete_inputs",
    "context": "context",
    "input_dims_2021": "input_dims",
    "input_dims": "input_dims",
}
"""Fields of `args` whose JSON texts have columns; of two with one column, the later counts."""
_FIXED: Final = {
    b"Device Type": "device_type",
    b"Concrete Inputs": "concrete_inputs",
    b"context": "context",
    b"Input dims": "input_dims",
    b"Input Dims": "input_dims",
}
"""Keys of `args` whose values are the same in all events of a pattern, for the columns that they have."""
