"""Patterns learned from events that were decoded: text by text, which is worth while for a few of many."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import msgspec

from ._argument_spellings import unusual_link
from ._event_patterns import Constants, Kind, Slot, Step
from ._event_records import NO_DEVICE, NO_TEXT, Arguments, Event, binding_point
from ._text_window import PADDING_BYTES
from ._text_words import FixedText

_LONGEST_BYTES: Final = PADDING_BYTES // 2
"""What is written like a pattern is at most so long, so that nobody who follows one looks at more than there is."""
_LONGEST_FIXED_BYTES: Final = 256
"""What has more text without a gap, such as the stack of a call, is hardly ever there twice."""
_LEAST_COVERED: Final = 3 / 4
"""The share of events that have patterns, from which on it is worth while to look for these."""
_TOKEN: Final = re.compile(rb'[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"|[-0-9][0-9.eE+-]*|true|false|null|[{}\[\],:])')
_VALUES: Final = re.compile(rb'"name"[ \t\r\n]*:[ \t\r\n]*"[^"]*"|[0-9.]+')
_METADATA: Final = "M"
_WRITTEN: Final = {
    Kind.NAME: re.compile(rb'".+"'),
    Kind.TIME: re.compile(rb"[0-9]{1,16}(?:\.[0-9]{1,3})?"),
    Kind.NUMBER: re.compile(rb"[0-9]{1,16}"),
    Kind.IGNORED: re.compile(rb"-?[0-9]{1,16}(?:\.[0-9]{1,23})?"),
}
"""How values have to be written; those that JSON does not have do not come."""

Part = tuple[bytes, Slot | None]
"""Text, and the gap behind it; None at the end of an event."""
Pattern = tuple[Part, ...]


def learn_steps(texts: Sequence[bytes], events: Sequence[Event], columns: Collection[str], least_share: float) -> list[Step]:
    """The steps that the common patterns of some events begin with; none where these are too few of the events.

    Events of one process that are alike but for numbers and names are taken for events of one pattern.

    Args:
        texts: Of each event, from `{` to `}`.
        events: What was decoded of it.
        columns: Of `HostEvents`, that are made of the records.
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
            _add(steps, pattern, _constants(events[place], pattern))
            covered += count
    return steps if covered >= _LEAST_COVERED * len(texts) else []


def _add(steps: list[Step], pattern: Pattern, constants: Constants) -> None:
    for text, slot in pattern:
        step = next((step for step in steps if step.fixed.text == text and step.slot == slot), None)
        if step is None:
            step = Step(FixedText(text), slot, None if slot else constants)
            steps.append(step)
        steps = step.following


def _constants(event: Event, pattern: Pattern) -> Constants:
    # Of what nobody asked for records have no field.
    device_type = getattr(event.args, "device_type", NO_DEVICE)
    texts = {column: str(value, "utf-8") for name, column in _TEXTS.items() if (value := getattr(event.args, name, NO_TEXT))}
    return Constants(
        event.ph,
        event.cat,
        event.pid,
        event.tid,
        all(slot is None or slot.kind is not Kind.THREAD for _, slot in pattern),
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
    is_short = longest_bytes <= _LONGEST_BYTES and all(len(fixed) <= _LONGEST_FIXED_BYTES for fixed, _ in parts)
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
    is_argument = len(path) == 2 and path[0] == b"args"
    return is_argument and unusual_link(path[1].decode(errors="replace")) is not None


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
        column = _NUMBERS.get(path[1])
        return Slot(Kind.NUMBER, column) if column in columns else None
    return None


_IGNORED: Final = Slot(Kind.IGNORED, None)
_SLOTS: Final = {
    b"name": Slot(Kind.NAME, "name"),
    b"ts": Slot(Kind.TIME, "start_ns"),
    b"dur": Slot(Kind.TIME, "duration_ns"),
    b"id": Slot(Kind.NUMBER, "flow_id"),
}
_FIELDS: Final = [one for one in msgspec.structs.fields(Arguments) if one.name not in {"name", "labels"}]
"""What is read of `args`, of metadata events aside; a column of two spellings is made of two fields, its own one first."""
_NUMBERS: Final = {
    one.encode_name.encode(): one.name.removesuffix("_2021") for one in _FIELDS if one.type is int and one.name != "device_type"
}
"""Keys whose numbers stand in gaps, and their columns."""
_TEXTS: Final = {one.name: one.name.removesuffix("_2021") for one in reversed(_FIELDS) if one.type is msgspec.Raw}
"""Fields whose JSON texts have columns: of two with one column, the later counts."""
_FIXED: Final = {
    one.encode_name.encode(): one.name.removesuffix("_2021") for one in _FIELDS if one.encode_name.encode() not in _NUMBERS
}
"""Keys whose values are the same in all events of a pattern, and their columns."""
