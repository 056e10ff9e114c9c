"""Patterns learned from events that were decoded: text by text, which is worth while for a few of many."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import msgspec

from ..json_text import members
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
_NUMBER_OR_TEXT: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|([-0-9][0-9.eE+-]*)')
_VALUES: Final = re.compile(rb'"name"[ \t\r\n]*:[ \t\r\n]*"[^"]*"|[0-9.]+')
_METADATA: Final = "M"
_WRITTEN: Final = {
    Kind.NAME: re.compile(rb'".+"'),
    Kind.THREAD: re.compile(rb"[0-9]+"),
    Kind.TIME: re.compile(rb"[0-9]{1,16}(?:\.[0-9]{1,3})?"),
    Kind.NUMBER: re.compile(rb"[0-9]{1,16}"),
    Kind.IGNORED: re.compile(rb"-?[0-9]{1,16}(?:\.[0-9]{1,23})?"),
}
"""How values have to be written; those that JSON does not have do not come. Threads written in another way are the pattern's."""

Part = tuple[bytes, Slot | None]
"""Text, and the gap behind it; None at the end of an event."""
Pattern = tuple[Part, ...]
Member = tuple[bool, str]
"""Whether it is one of `args`, and its key."""


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
    fixed_from = 0
    try:
        for slot, start, end in _gaps(text, columns):
            # Quotes and signs are text; a number with a sign is nobody's.
            quote_bytes = int(slot.kind is Kind.NAME)
            parts.append((text[fixed_from : start + (quote_bytes or text.startswith(b"-", start))], slot))
            fixed_from = end - quote_bytes
    except _NoPatternError:
        return None
    taken = [slot.column for _, slot in parts if slot and slot.column]
    has_lost_id = "flow_id" in columns and "flow_id" not in taken and bool(event.id)
    if has_lost_id or len(set(taken)) < len(taken):
        return None
    parts.append((text[fixed_from:], None))
    longest_bytes = sum(len(fixed) + (slot.longest_bytes if slot else 0) for fixed, slot in parts)
    is_short = longest_bytes <= _LONGEST_BYTES and all(len(fixed) <= _LONGEST_FIXED_BYTES for fixed, _ in parts)
    return tuple(parts) if is_short else None


def _gaps(text: bytes, columns: Collection[str]) -> Iterator[tuple[Slot, int, int]]:
    """The gaps of an event, and from where to where each is.

    Raises:
        _NoPatternError: A value is written in a way that no gap is for, or `_members`.
    """
    for member, low, high in _members(text):
        value, slot = text[low:high], _SLOTS.get(member)
        if slot is not None and slot.column in columns:
            if _WRITTEN[slot.kind].fullmatch(value):
                yield slot, low, high
            elif slot.kind is not Kind.THREAD:
                raise _NoPatternError
        elif _FIXED.get(member) not in columns:
            for match in _NUMBER_OR_TEXT.finditer(value):
                if match[1] and not _WRITTEN[Kind.IGNORED].fullmatch(match[1]):
                    raise _NoPatternError
                if match[1]:
                    yield _IGNORED, low + match.start(), low + match.end()


def _members(text: bytes) -> Iterator[tuple[Member, int, int]]:
    """The members of an event and of its `args`, and from where to where the value of each stands.

    Raises:
        _NoPatternError: One is there twice, or stands for a link under an unusual name.
    """
    found: set[Member] = set()
    for name, start, end in members(text):
        inner = members(text[start:end]) if name == "args" else ()
        for member, low, high in [((False, name), 0, end - start), *(((True, key), low, high) for key, low, high in inner)]:
            if member in found or (member[0] and unusual_link(member[1])):
                raise _NoPatternError
            found.add(member)
            if member != _ARGS:
                yield member, start + low, start + high


_ARGS: Final = (False, "args")
_IGNORED: Final = Slot(Kind.IGNORED, None)
_FIELDS: Final = [one for one in msgspec.structs.fields(Arguments) if one.name not in {"name", "labels"}]
"""What is read of `args`, of metadata events aside; a column of two spellings is made of two fields, its own one first."""
_SLOTS: Final[dict[Member, Slot]] = {
    (False, "name"): Slot(Kind.NAME, "name"),
    (False, "tid"): Slot(Kind.THREAD, "track"),
    (False, "ts"): Slot(Kind.TIME, "start_ns"),
    (False, "dur"): Slot(Kind.TIME, "duration_ns"),
    (False, "id"): Slot(Kind.NUMBER, "flow_id"),
    **{
        (True, one.encode_name): Slot(Kind.NUMBER, one.name.removesuffix("_2021"))
        for one in _FIELDS
        if one.type is int and one.name != "device_type"
    },
}
_TEXTS: Final = {one.name: one.name.removesuffix("_2021") for one in reversed(_FIELDS) if one.type is msgspec.Raw}
"""Fields whose JSON texts have columns: of two with one column, the later counts."""
_FIXED: Final[dict[Member, str]] = {
    (False, "pid"): "track",
    (True, "Device Type"): "device_type",
    **{(True, one.encode_name): _TEXTS[one.name] for one in _FIELDS if one.name in _TEXTS},
}
"""Members whose values are the same in all events of a pattern, and the columns that they are for."""
