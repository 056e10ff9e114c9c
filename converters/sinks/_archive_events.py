"""The events of a host trace as columns that give them back byte for byte.

The columns are those of the trace; of the text, the arguments are taken as they stand, and how the rest of an event is written is
its layout. Nothing is believed: an event has a layout only where layout and columns give its very text; else the text is kept.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from rblnpb.columns import ABSENT, CHUNK_LIMIT, TextArray, TraceEvents
from rblnpb.strings import StringTable

from ..event_layouts import ARGUMENTS, EventTexts, Layout
from ..json_text import json_string
from ..timeline import HostTrace, Id, Int64
from ._archive_layouts import layout_of
from ._archive_texts import event_texts

_CHUNK_BYTES: Final = 1 << 26
"""A chunk ends before its texts are longer than this together, so that who reads it needs little memory."""
_TRIES: Final = 64
"""How often events of one phase and category may turn out to be written in yet another way, before they are kept as they are."""
_VALUES: Final = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, eq=False)
class _Step:
    """Some events that follow each other: their columns without texts, their texts, and what becomes of each.

    Attributes:
        events: Columns.
        texts: Each event with what parts it from the one before.
        layout: int64[n]; row of the string table; 0 = none.
        arguments: bytes[n]; as they stand; empty where there is no layout, or none.
    """

    events: TraceEvents
    texts: list[bytes]
    layout: Int64
    arguments: npt.NDArray[np.object_]

    def archived(self) -> TraceEvents:
        """The columns with all that was found out."""
        kept = [b"" if layout else text for layout, text in zip(self.layout.tolist(), self.texts, strict=True)]
        return self.events.replace(
            layout_strindex=self.layout.astype(np.uint32),
            arguments=TextArray.of(self.arguments.tolist()),
            text=TextArray.of(kept),
        )


class EventArchiver:
    """Makes the columns of a trace's events, some at a time, in their order.

    What comes out depends on the document alone, not on the blocks in which it is read.
    """

    def __init__(self, host: HostTrace, strings: StringTable) -> None:
        """Texts become rows of `strings`."""
        self._host = host
        self._strings = strings
        self._texts = EventTexts(strings)
        self._string_rows = np.full(len(host.strings), -1, np.int64)
        tracks = [(_id_text(track.pid), _id_text(track.tid)) for track in host.tracks]
        self._track_rows = np.array([strings.intern_all(texts) for texts in tracks], np.uint32).reshape(-1, 2)
        self._layouts: dict[int, Layout] = {}
        self._known: dict[int, list[int]] = {}
        self._tries: dict[int, int] = {}

    def chunks(self) -> Iterator[TraceEvents]:
        """All events, at most CHUNK_LIMIT at a time.

        Raises:
            FormatError: The document cannot be read again.
        """
        parts: list[TraceEvents] = []
        count = size_bytes = 0
        for first, texts in event_texts(self._host):
            part = self._archived(self._columns(slice(first, first + len(texts))), texts)
            part_bytes = max(len(part.arguments.text), len(part.text.text))
            if parts and (count + len(part) > CHUNK_LIMIT or size_bytes + part_bytes > _CHUNK_BYTES):
                yield TraceEvents.concat(parts)
                parts, count, size_bytes = [], 0, 0
            parts.append(part)
            count += len(part)
            size_bytes += part_bytes
        if parts:
            yield TraceEvents.concat(parts)

    # --- columns -------------------------------------------------------------------------------------------------------

    def _columns(self, rows: slice) -> TraceEvents:
        """What the trace has of some of its events."""
        events = self._host.events
        start_ns, track = events.start_ns[rows], events.track[rows]
        ids, which = np.unique(events.flow_id[rows], return_inverse=True)
        id_rows, id_numbers = self._ids(ids)
        return TraceEvents.of(
            phase=events.phase[rows].astype(np.uint32),
            category_strindex=self._interned(events.category[rows]),
            name_strindex=self._interned(events.name[rows]),
            process_strindex=self._track_rows[track, 0],
            thread_strindex=self._track_rows[track, 1],
            start_ns=np.where(start_ns == ABSENT, ABSENT, start_ns - self._host.base_time_ns),
            duration_ns=events.duration_ns[rows],
            id_strindex=id_rows[which],
            id_number=id_numbers[which],
        )

    def _interned(self, host_rows: npt.NDArray[np.int32]) -> Int64:
        """Rows of the string table for rows of the trace's own."""
        rows = self._string_rows[host_rows]
        if (rows < 0).any():
            for row in np.unique(host_rows[rows < 0]).tolist():
                self._string_rows[row] = self._strings.intern(self._host.strings[row])
            rows = self._string_rows[host_rows]
        return rows

    def _ids(self, host_rows: npt.NDArray[np.int32]) -> tuple[Int64, Int64]:
        """Ids of events as rows of the string table, or as numbers where they are plain ones."""
        texts = [self._host.strings[row] for row in host_rows.tolist()]
        numbers = [int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else ABSENT for text in texts]
        plain = [str(number) == text for number, text in zip(numbers, texts, strict=True)]
        rows = [0 if is_plain else self._strings.intern(text) for text, is_plain in zip(texts, plain, strict=True)]
        return np.array(rows, np.int64), np.where(plain, np.array(numbers, np.int64), ABSENT)

    # --- texts ---------------------------------------------------------------------------------------------------------

    def _archived(self, events: TraceEvents, texts: list[bytes]) -> TraceEvents:
        step = _Step(events, texts, np.zeros(len(texts), np.int64), np.full(len(texts), b"", object))
        sorts = events.phase.astype(np.int64) << 32 | events.category_strindex
        distinct, which = np.unique(sorts, return_inverse=True)
        for number, sort in enumerate(distinct.tolist()):
            rows = np.flatnonzero(which == number)
            for layout in self._known.setdefault(sort, []):
                rows = self._give(step, layout, rows)
            while len(rows) and self._tries.setdefault(sort, 0) < _TRIES:
                self._tries[sort] += 1
                rows = self._learn(step, sort, rows)
        return step.archived()

    def _learn(self, step: _Step, sort: int, rows: Int64) -> Int64:
        """Find the layout of the first of these events, and give it to all that have it; the rows that are left."""
        found = layout_of(step.texts[int(rows[0])], step.events, int(rows[0]), self._texts)
        if found is None:
            return rows[1:]
        row = self._strings.intern(found)
        self._layouts[row] = Layout.of(found.encode())
        self._known[sort].append(row)
        left = self._give(step, row, rows)
        return left[1:] if len(left) == len(rows) else left

    def _give(self, step: _Step, row: int, rows: Int64) -> Int64:
        """Give a layout to those events whose text it makes, and their arguments with it; the rows that are left."""
        if not len(rows):
            return rows
        pieces, events = self._layouts[row].pieces, step.events
        texts = list(map(step.texts.__getitem__, rows.tolist()))
        if ARGUMENTS not in pieces:
            mask = np.fromiter(map(operator.eq, texts, self._texts.written(pieces, events, rows)), np.bool_, len(rows))
        else:
            cut = pieces.index(ARGUMENTS)
            before, after = self._texts.written(pieces[:cut], events, rows), self._texts.written(pieces[cut + 1 :], events, rows)
            between = _between(texts, before, after)
            mask = np.array(_are_values(between), np.bool_)
            step.arguments[rows[mask]] = np.array(between, object)[mask]
        step.layout[rows[mask]] = row
        return rows[~mask]


def _between(texts: list[bytes], before: list[bytes], after: list[bytes]) -> list[bytes]:
    """What stands between the two ends of each text; nothing where these are not its ends."""
    is_begun, is_ended = map(bytes.startswith, texts, before), map(bytes.endswith, texts, after)
    starts, ends = map(len, before), map(operator.sub, map(len, texts), map(len, after))
    found = map(bytes.__getitem__, texts, map(slice, starts, ends))
    return list(map(operator.mul, found, map(operator.and_, is_begun, is_ended)))


def _are_values(texts: Sequence[bytes]) -> list[bool]:
    """Whether each text is one JSON value; an empty text is none.

    A member of the event behind its arguments would be among them, and no value, for it has a colon outside of all braces.
    """
    fits = [bool(text) for text in texts]
    whole = [text for text in texts if text]
    if len(_values(b",".join(whole))) == len(whole):
        return fits
    return [len(_values(text)) == 1 for text in texts]


def _values(text: bytes) -> list[Any]:
    try:
        return _VALUES.decode(b"[%b]" % text)
    except (msgspec.DecodeError, RecursionError):
        return []


_DIGITS: Final = 18
"""Decimal digits that int64 has room for, whatever they are."""


def _id_text(number: Id) -> str:
    """The id of a process or thread as JSON; nothing where there is none."""
    if number is None:
        return ""
    return str(number) if isinstance(number, int) else json_string(number).decode()
