"""From the text of trace events to columns: decoded into typed records, never into a dict per event.

Three ways of reading a block, tried from the fastest on: times as float64, where that is proven exact; times as decimals;
and event by event, where something is not of the type that Kineto writes. They agree wherever the faster one applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from ..timeline import ABSENT, HostEvents, HostTrack, Id, Int64
from ._event_records import NO_TEXT, Arguments, DecimalEvent, FloatEvent
from ._exact_time import decimal_ns, float_ns
from ._json_blocks import BadElementError, EventBlock
from ._odd_events import NotJsonError, OddEvents, readable_text

_Key = TypeVar("_Key")
_FLOATS: Final = msgspec.json.Decoder(FloatEvent)
_DECIMALS: Final = msgspec.json.Decoder(DecimalEvent)
_UNDECODABLE: Final = (ValueError, ArithmeticError, RecursionError)
_METADATA: Final = ord("M")
_KINDS: Final[dict[str, type[np.generic]]] = {
    "phase": np.uint8,
    **dict.fromkeys(("category", "name", "track", "device_type", "input_dims", "concrete_inputs", "flow_id"), np.int32),
}


class _Rows(dict[_Key, int]):
    """Row of each distinct key, in order of first appearance."""

    def __missing__(self, key: _Key) -> int:
        row = self[key] = len(self)
        return row


class _Texts(dict[bytes, int]):
    """Row of each distinct JSON text in a table of strings."""

    def __init__(self, strings: _Rows[str]) -> None:
        super().__init__({b"": 0})
        self._strings = strings

    def __missing__(self, text: bytes) -> int:
        row = self[text] = self._strings[text.decode("utf-8", "replace")]
        return row


class _Phases(dict[str, int]):
    """ASCII code of each phase; 0 where there is none."""

    def __missing__(self, phase: str) -> int:
        code = self[phase] = ord(phase) if len(phase) == 1 and phase.isascii() else 0
        return code


class EventColumns:
    """The columns of a trace while they grow, block by block.

    Attributes:
        odd: What was wrong with single events.
        thread_names, process_names, process_labels: From the metadata events.
    """

    def __init__(self) -> None:
        self.odd = OddEvents()
        self.thread_names: dict[HostTrack, str] = {}
        self.process_names: dict[Id, str] = {}
        self.process_labels: dict[Id, str] = {}
        self._chunks: dict[str, list[npt.NDArray[Any]]] = {column.name: [] for column in fields(HostEvents)}
        self._strings: _Rows[str] = _Rows({"": 0})
        self._texts = _Texts(self._strings)
        self._tracks: _Rows[tuple[Id, Id]] = _Rows()
        self._phases = _Phases({"": 0})
        self._uses_decimals = False
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def take(self, block: EventBlock, is_sure: bool) -> bool:  # noqa: FBT001  the signature of `Take`
        """Append the events of a block, as `_json_blocks.Take` says."""
        if len(block.starts):
            if not self._uses_decimals and self._take_floats(block):
                return True
            # A trace with absolute times needs decimals in every block.
            self._uses_decimals = self._take_decimals(block)
            if self._uses_decimals:
                return True
        if is_sure:
            self._take_singly(block)
        return is_sure

    def finish(self, base_time_ns: int) -> HostEvents:
        """The columns, with the file's zero added to every start; this object is empty afterwards.

        Raises:
            OverflowError: A start does not fit int64.
        """
        columns = {}
        for name, chunks in self._chunks.items():
            columns[name] = np.concatenate(chunks) if chunks else np.empty(0, _KINDS.get(name, np.int64))
            chunks.clear()
        start_ns = columns["start_ns"]
        np.add(start_ns, base_time_ns, out=start_ns, where=start_ns != ABSENT)
        return HostEvents(**columns)

    @property
    def strings(self) -> tuple[str, ...]:
        """The interned texts by row."""
        return tuple(self._strings)

    @property
    def tracks(self) -> tuple[HostTrack, ...]:
        """The tracks by row."""
        return tuple(HostTrack(pid, tid) for pid, tid in self._tracks)

    def _take_floats(self, block: EventBlock) -> bool:
        events: list[FloatEvent] | None = _decoded(_FLOATS, block)
        if events is None:
            return False
        start_ns = float_ns([event.ts for event in events])
        duration_ns = float_ns([event.dur for event in events])
        if start_ns is None or duration_ns is None:
            return False
        return self._append(events, start_ns, duration_ns, block.offset + block.starts, block.lengths)

    def _take_decimals(self, block: EventBlock) -> bool:
        events: list[DecimalEvent] | None = _decoded(_DECIMALS, block)
        if events is None:
            return False
        try:
            start_ns = decimal_ns([event.ts for event in events])
            duration_ns = decimal_ns([event.dur for event in events])
        except OverflowError:
            return False
        return self._append(events, start_ns, duration_ns, block.offset + block.starts, block.lengths)

    def _take_singly(self, block: EventBlock) -> None:
        events, starts, lengths = [], [], []
        for index, (start, end) in enumerate(zip(block.bounds.tolist(), (block.bounds[1:] - 1).tolist(), strict=True)):
            element = bytes(block.text[start:end])
            try:
                event = self.odd.read(element)
            except NotJsonError as error:
                raise BadElementError(index) from error
            if event is not None:
                events.append(event)
                starts.append(start + element.index(b"{"))
                lengths.append(len(element[element.index(b"{") :].rstrip()))
        start_ns = decimal_ns([event.ts for event in events])
        duration_ns = decimal_ns([event.dur for event in events])
        self._append(events, start_ns, duration_ns, block.offset + np.array(starts, np.int64), np.array(lengths, np.int64))

    def _append(
        self, events: Sequence[FloatEvent | DecimalEvent], start_ns: Int64, duration_ns: Int64, offset: Int64, length: Int64
    ) -> bool:
        count = len(events)
        args = [event.args for event in events]
        try:
            columns = _argument_columns(args)
        except OverflowError:
            return False
        strings, texts = self._strings, self._texts
        columns |= {
            "phase": np.fromiter([self._phases[event.ph] for event in events], np.uint8, count),
            "category": np.fromiter([strings[event.cat] for event in events], np.int32, count),
            "name": np.fromiter([strings[event.name] for event in events], np.int32, count),
            "track": np.fromiter([self._tracks[event.pid, event.tid] for event in events], np.int32, count),
            "start_ns": start_ns,
            "duration_ns": duration_ns,
            "input_dims": _text_rows([arg.input_dims for arg in args], texts),
            "concrete_inputs": _text_rows([arg.concrete_inputs for arg in args], texts),
            "flow_id": _text_rows([event.id for event in events], texts),
            "offset": offset,
            "length": length,
        }
        for name, column in columns.items():
            self._chunks[name].append(column)
        for row in np.flatnonzero(columns["phase"] == _METADATA).tolist():
            self._take_metadata(events[row])
        self._count += count
        return True

    def _take_metadata(self, event: FloatEvent | DecimalEvent) -> None:
        is_label = event.name == "process_labels"
        value, _ = readable_text(bytes(event.args.labels if is_label else event.args.name))
        if not isinstance(value, str):
            return
        if event.name == "thread_name":
            self.thread_names[HostTrack(event.pid, event.tid)] = value
        elif event.name == "process_name":
            self.process_names[event.pid] = value
        elif is_label:
            self.process_labels[event.pid] = value


def _decoded(decoder: msgspec.json.Decoder[Any], block: EventBlock) -> list[Any] | None:
    try:
        events = decoder.decode_lines(block.text)
    except _UNDECODABLE:
        return None
    return events if len(events) == len(block) else None


def _argument_columns(args: Sequence[Arguments]) -> dict[str, npt.NDArray[Any]]:
    external_id = _integers([arg.external_id for arg in args], 0)
    if (older := _integers([arg.external_id_2021 for arg in args], 0)).any():
        external_id = np.where(external_id != 0, external_id, older)
    return {
        "external_id": external_id,
        "correlation_id": _integers([arg.correlation_id for arg in args], 0),
        "launch_id": _integers([arg.launch_id for arg in args], 0),
        "event_index": _integers([arg.event_index for arg in args], -1),
        "sequence_number": _integers([arg.sequence_number for arg in args], -1),
        "size_bytes": _integers([arg.size_bytes for arg in args], int(ABSENT)),
        "device_type": _integers([arg.device_type for arg in args], -1, np.int32),
    }


def _integers(values: list[int], absent: int, kind: type[np.signedinteger[Any]] = np.int64) -> npt.NDArray[Any]:
    if values.count(absent) == len(values):
        return np.full(len(values), absent, kind)
    return np.fromiter(values, kind, len(values))


def _text_rows(values: list[msgspec.Raw], texts: _Texts) -> npt.NDArray[np.int32]:
    if values.count(NO_TEXT) == len(values):
        return np.zeros(len(values), np.int32)
    return np.fromiter([texts[bytes(value)] for value in values], np.int32, len(values))
