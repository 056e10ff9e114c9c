"""A host trace of which nothing but what is public can be read, as JSON: event by event, with the numbers that they had.

Every value of every event has to be looked at, so the work of an event is Python's; a table keeps the
results of what comes again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, Final, TypeVar

import msgspec

from ..event_blocks import EventBlock, event_blocks
from ..host_trace import UNIX_NS
from ..json_text import members
from ..timeline import HostTrace
from ._redacted_names import KEPT_NAMES, RedactedNames
from ._redacted_values import RedactedValues
from ._streams import Progress

__all__ = ["KEPT_NAMES", "Progress", "RedactedNames", "write_redacted_trace"]

_BASE_TIME_KEY: Final = "baseTimeNanoseconds"
_EVENTS: Final = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_ARGUMENTS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NO_TEXT: Final = msgspec.Raw(b"")
_NO_DIGITS: Final = bytes.maketrans(b"0123456789", b"0" * 10)
_TABLE_ROWS: Final = 1 << 15
_LONGEST_BYTES: Final = 4096
"""What a table holds takes some hundred megabytes at worst."""


def write_redacted_trace(
    host: HostTrace,
    file: BinaryIO,
    names: RedactedNames,
    *,
    shift_s: int = 0,
    without_shapes: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write a host trace without what is not public in it.

    Args:
        host: The trace.
        file: Written to in order, and left open.
        names: What stands for names.
        shift_s: Whole seconds that every Unix time is moved back.
        without_shapes: Leave out what operators were called with.
        progress: Called with (events done, events in all).

    Raises:
        FormatError: The trace's document cannot be read again.
        OSError: The stream does not take the bytes.
    """
    shift_us = 0 if _counts_from_base(host) else shift_s * 10**6
    values = RedactedValues(names, shift_us=shift_us, without_shapes=without_shapes)
    is_bare = host.head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    file.write(b"[" if is_bare else _opening(host, values, shift_s))
    texts = _EventTexts(values)
    between = b"\n"
    for block in event_blocks(host, 0) if len(host.events) else ():
        file.write(between)
        file.write(b",\n".join(texts.of(block)))
        between = b",\n"
        if progress is not None:
            progress(block.first + len(block), len(host.events))
    file.write(b"\n]" if is_bare else b"\n]}")


def _counts_from_base(host: HostTrace) -> bool:
    """Whether the zero of a trace is Unix time, so that all of its times are moved with it."""
    return host.has_base_time and host.base_time_ns >= UNIX_NS


def _opening(host: HostTrace, values: RedactedValues, shift_s: int) -> bytes:
    """The document up to the first event."""
    metadata = dict(host.metadata)
    if _counts_from_base(host):
        metadata[_BASE_TIME_KEY] = host.base_time_ns - shift_s * 10**9
    elif shift_s and _BASE_TIME_KEY in metadata and not host.has_base_time:
        # No time that can be read, and who knows what it says of one.
        metadata[_BASE_TIME_KEY] = None
    parts = [values.metadata(key, value) for key, value in metadata.items()]
    return b"{" + b",\n".join([*parts, b'"traceEvents":['])


_Key = TypeVar("_Key")
_Made = TypeVar("_Made")


class _Table(dict[_Key, _Made]):
    """Results of a function; long ones are not kept, and when there are too many it begins anew."""

    def __init__(self, make: Callable[[_Key], _Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, given: _Key) -> _Made:
        made = self._make(given)
        if not isinstance(made, bytes) or len(made) <= _LONGEST_BYTES:
            if len(self) >= _TABLE_ROWS:
                self.clear()
            self[given] = made
        return made


class _EventTexts:
    """Texts of events, redacted."""

    def __init__(self, values: RedactedValues) -> None:
        self._rare = values.rare
        self._members = _Table[tuple[bytes, str, bytes], bytes](lambda given: values.member(*given))
        self._arguments = _Table[tuple[bytes, str, bytes], bytes](lambda given: values.argument(*given))
        self._numbers = _Table(values.number_key)
        self._plain = _Table(values.is_plain)

    def of(self, block: EventBlock) -> list[bytes]:
        """The text of every event of a block, without what parts them."""
        return [self._event(event) for event in _decoded(block)]

    def _event(self, event: dict[str, msgspec.Raw] | dict[str, bytes]) -> bytes:
        category, phase = bytes(event.get("cat", _NO_TEXT)), bytes(event.get("ph", _NO_TEXT))
        parts = [
            self._args(category, phase, bytes(value))
            if key == "args"
            # These hardly come again: nothing is gained by keeping them.
            else self._rare(key, bytes(value))
            if key in ("ts", "dur", "id")
            else self._members[category, key, bytes(value)]
            for key, value in event.items()
        ]
        return b"{%s}" % b",".join(parts)

    def _args(self, category: bytes, phase: bytes, text: bytes) -> bytes:
        if self._plain[text.translate(_NO_DIGITS)]:
            return b'"args":' + text
        if not text.startswith(b"{"):
            return self._members[category, "args", text]
        # A value that ends in a digit is a number. Ids hardly come again: nothing is gained by keeping them.
        parts = [
            number + value if value[-1:].isdigit() and number else self._arguments[phase, key, value]
            for key, value, number in ((key, bytes(value), self._numbers[key]) for key, value in _members(text).items())
        ]
        return b'"args":{%s}' % b",".join(filter(None, parts))


def _decoded(block: EventBlock) -> Iterator[dict[str, msgspec.Raw] | dict[str, bytes]]:
    try:
        events = _EVENTS.decode(b"[%s]" % block.text[int(block.start[0]) :])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        events = []
    if len(events) == len(block):
        yield from events
        return
    # What stands between these events is more than a comma, or one of them is odd.
    for start, end in zip(block.start.tolist(), block.end.tolist(), strict=True):
        yield _members(block.text[start:end])


def _members(text: bytes) -> dict[str, msgspec.Raw] | dict[str, bytes]:
    try:
        return _ARGUMENTS.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {name: text[low:high] for name, low, high in members(text)}
