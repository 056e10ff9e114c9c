"""Events that are not written as Kineto writes them: read value by value, mended where that is safe, counted where it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from decimal import Decimal, InvalidOperation
from typing import Final, cast

import msgspec
import numpy as np

from rblnpb.errors import Finding, Severity
from rblnpb.wording import counted

from ..timeline import Id
from ._event_records import NO_ARGUMENTS, NO_PHASE, NO_SIZE, NO_TEXT, Arguments, DecimalEvent, Phase
from ._exact_time import exact_ns
from ._json_text import decoded_value, mended_text

_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_INT32: Final = np.iinfo(np.int32)
_INT64: Final = np.iinfo(np.int64)
_NO_LINK: Final = (1 << 64) - 1
_LONGEST_ID: Final = 1000
"""Decimal digits of the longest process or thread number that is kept as a number."""


class NotJsonError(Exception):
    """An element of the array of events is no JSON."""


class OddEvents:
    """Reads single events and counts what was wrong with them.

    Attributes:
        counts: How often what was wrong: ("number", "External id"), ("time", "ts"), ("text", "name"), ("characters", ""),
            ("args", ""), and ("element", "") for elements that are no objects.
    """

    def __init__(self, argument_keys: Collection[str]) -> None:
        """Read these keys of `args`, and leave all others alone."""
        self._argument_keys = argument_keys
        self.counts: Counter[tuple[str, str]] = Counter()

    def read(self, element: bytes) -> DecimalEvent | None:
        """The event, with everything of a wrong type replaced by what stands for absent; None if it is no object.

        Raises:
            NotJsonError: It is no JSON.
        """
        mended = mended_text(element)
        self.counts["characters", ""] += mended != element
        fields = _fields(mended)
        if fields is None:
            self.counts["element", ""] += 1
            return None
        return DecimalEvent(
            ph=self._phase(fields),
            cat=self._text(fields, "cat"),
            name=self._text(fields, "name"),
            pid=self._id(fields, "pid"),
            tid=self._id(fields, "tid"),
            ts=self._time(fields, "ts"),
            dur=self._time(fields, "dur"),
            args=self._arguments(fields),
            id=fields.get("id", NO_TEXT),
            bp=self._text(fields, "bp"),
        )

    def link(self, key: str, text: bytes) -> int:
        """The id that a JSON text under this name is, 0 = none; ids from 2**63 on are the same 64 bits as int64.

        All 64 bits set is no id: makers mean by it that there is none.
        """
        if text == b"null":
            return 0
        number = _number(text)
        if number is None or not _INT64.min <= number < _NO_LINK or number != number.to_integral_value():
            self.counts["number", key] += 1
            return 0
        return int(number) if number <= _INT64.max else int(number) - _NO_LINK - 1

    def findings(self) -> tuple[Finding, ...]:
        """One finding for each thing that was wrong, in a fixed order."""
        return tuple(_finding(kind, field, count) for (kind, field), count in sorted(self.counts.items()) if count)

    def _arguments(self, fields: dict[str, msgspec.Raw]) -> Arguments:
        text = bytes(fields.get("args", NO_TEXT))
        if text in (b"", b"null"):
            return NO_ARGUMENTS
        found = _fields(text)
        if found is None:
            self.counts["args", ""] += 1
            return NO_ARGUMENTS
        found = {key: value for key, value in found.items() if key in self._argument_keys}
        return Arguments(
            external_id=self._link(found, "External id"),
            event_index=self._integer(found, "Ev Idx", -1),
            sequence_number=self._integer(found, "Sequence number", -1),
            external_id_2021=self._link(found, "external id"),
            correlation_id=self._link(found, "correlation"),
            launch_id=self._link(found, "launch_id"),
            size_bytes=self._integer(found, "Bytes", NO_SIZE),
            device_type=self._integer(found, "Device Type", -1, _INT32),
            input_dims=found.get("Input Dims", NO_TEXT),
            input_dims_2021=found.get("Input dims", NO_TEXT),
            concrete_inputs=found.get("Concrete Inputs", NO_TEXT),
            context=found.get("context", NO_TEXT),
            name=found.get("name", NO_TEXT),
            labels=found.get("labels", NO_TEXT),
        )

    def _link(self, fields: dict[str, msgspec.Raw], key: str) -> int:
        return self.link(key, bytes(fields[key])) if key in fields else 0

    def _phase(self, fields: dict[str, msgspec.Raw]) -> Phase:
        text = self._text(fields, "ph")
        if len(text) == 1 and text.isascii():
            return cast("Phase", text)
        self.counts["text", "ph"] += bool(text)
        return NO_PHASE

    def _text(self, fields: dict[str, msgspec.Raw], key: str) -> str:
        if key not in fields:
            return ""
        value = decoded_value(bytes(fields[key]))
        if not isinstance(value, (str, type(None))):
            self.counts["text", key] += 1
        return value if isinstance(value, str) else ""

    def _id(self, fields: dict[str, msgspec.Raw], key: str) -> Id:
        if key not in fields:
            return None
        text = bytes(fields[key])
        value = decoded_value(text)
        if value is None or isinstance(value, str):
            return value
        number = _number(text)
        if number is not None and number.adjusted() < _LONGEST_ID and number == number.to_integral_value():
            return int(number)
        return text.decode("utf-8", "replace")

    def _time(self, fields: dict[str, msgspec.Raw], key: str) -> Decimal | None:
        text = bytes(fields.get(key, NO_TEXT))
        if text in (b"", b"null"):
            return None
        number = _number(text)
        try:
            if number is not None and abs(exact_ns(number)) <= _INT64.max:
                return number
        except OverflowError:
            pass
        self.counts["time", key] += 1
        return None

    def _integer(
        self, fields: dict[str, msgspec.Raw], key: str, absent: int, kind: np.iinfo[np.int64] | np.iinfo[np.int32] = _INT64
    ) -> int:
        text = bytes(fields.get(key, NO_TEXT))
        if text in (b"", b"null"):
            return absent
        number = _number(text)
        if number is None or not kind.min <= number <= kind.max or number != number.to_integral_value():
            self.counts["number", key] += 1
            return absent
        return int(number)


def _number(value: bytes) -> Decimal | None:
    """A JSON number, or a JSON string that holds one, as it is written; None for anything else."""
    text = value.decode("utf-8", "replace")
    if text.startswith('"'):
        text = str(decoded_value(value))
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _fields(text: bytes) -> dict[str, msgspec.Raw] | None:
    try:
        return _OBJECT.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        if isinstance(error, msgspec.ValidationError) and _is_json(text):
            return None
        raise NotJsonError from error


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _finding(kind: str, field: str, count: int) -> Finding:
    events = counted(count, "event")
    code, message = {
        "number": ("odd-number", f'"{field}" of {events} is no whole number of its range; taken as absent'),
        "time": ("odd-time", f'"{field}" of {events} is no time within int64 nanoseconds; taken as absent'),
        "text": ("odd-text", f'"{field}" of {events} is no text; taken as absent'),
        "characters": ("odd-characters", f"{count} of the events hold text that is not all Unicode; U+FFFD stands for what is not"),
        "args": ("odd-args", f'"args" of {events} is no object; taken as absent'),
        "element": ("not-an-event", f"{count} of the elements among the events are no objects; left out"),
    }[kind]
    return Finding(Severity.WARNING, code, message, count, field)
