"""The events of a JSON trace, read the slow way: one value after the other, with Python's own parser and exact fractions."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from rblnpb.columns import ABSENT
from rblnpb.converters.timeline import HostTrace, Id

INT32, INT64 = 2**31, 2**63
_DECODER = json.JSONDecoder(parse_float=Decimal)

NUMBERED = ("Operator", "cpu_op", "gpu_user_annotation", "user_annotation")
"""Slices with a number of their own; those of other categories name a call, but for those that nothing links."""
LINKLESS = ("", "Trace", "overhead", "python_function")


@dataclass(frozen=True)
class SlowEvent:
    """One row of `HostEvents` with its texts in place of their rows."""

    phase: int
    category: str
    name: str
    pid: Id
    tid: Id
    start_ns: int
    duration_ns: int
    external_id: int
    correlation_id: int
    launch_id: int
    event_index: int
    sequence_number: int
    size_bytes: int
    device_type: int
    input_dims: str
    concrete_inputs: str
    flow_id: str
    offset: int
    length: int
    context: str = ""
    binding_point: int = 0


def slow_events(document: bytes) -> list[SlowEvent]:
    """What `read_host` should find in a document of valid JSON and valid UTF-8."""
    text = document.decode("utf-8")
    begin = 1 if text.startswith("\ufeff") else 0
    whole = json.loads(text[begin:])
    members = _members(text, _skip(text, begin)) if isinstance(whole, dict) else {}
    base_ns = int(Decimal(whole["baseTimeNanoseconds"])) if "baseTimeNanoseconds" in members else 0
    at = members["traceEvents"][0] if members else _skip(text, begin)
    found = []
    offset = position = 0
    for start, end in _elements(text, at):
        offset, position = offset + len(text[position:start].encode()), start
        if text[start] == "{":
            found.append(_event(text[start:end], base_ns, offset))
    return found


def events_of(trace: HostTrace) -> list[SlowEvent]:
    """The rows of a trace in the same form."""
    columns = values_of(trace)
    return [SlowEvent(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def values_of(trace: HostTrace) -> dict[str, list[Any]]:
    """The columns that were read of a trace, by the names of `SlowEvent`, with texts in place of their rows."""
    columns = {name: column.tolist() for name, column in trace.events.columns().items()}
    tracks = [trace.tracks[row] for row in columns.pop("track")]
    for name in columns.keys() & {"category", "name", "input_dims", "concrete_inputs", "context", "flow_id"}:
        columns[name] = [trace.strings[row] for row in columns[name]]
    return {**columns, "pid": [track.pid for track in tracks], "tid": [track.tid for track in tracks]}


def _event(text: str, base_ns: int, offset: int) -> SlowEvent:
    raw = {key: text[start:end] for key, (start, end) in _members(text, 0).items()}
    args_text = raw.get("args", "{}")
    args = {key: args_text[start:end] for key, (start, end) in _members(args_text, 0).items()} if args_text[0] == "{" else {}
    start_ns = _time(raw.get("ts"))
    if start_ns != ABSENT and not -INT64 < start_ns + base_ns < INT64:
        start_ns = ABSENT
    phase, category = _text(raw.get("ph")), _text(raw.get("cat"))
    return SlowEvent(
        phase=ord(phase) if len(phase) == 1 and phase.isascii() else 0,
        category=category,
        name=_text(raw.get("name")),
        pid=_id(raw.get("pid")),
        tid=_id(raw.get("tid")),
        start_ns=start_ns if start_ns == ABSENT else start_ns + base_ns,
        duration_ns=_time(raw.get("dur")),
        **_links(args, category if phase == "X" else ""),
        event_index=_integer(args.get("Ev Idx"), -1),
        sequence_number=_integer(args.get("Sequence number"), -1),
        size_bytes=_integer(args.get("Bytes"), ABSENT),
        device_type=_integer(args.get("Device Type"), -1, INT32),
        input_dims=args.get("Input Dims") or args.get("Input dims", ""),
        concrete_inputs=args.get("Concrete Inputs", ""),
        context=args.get("context", ""),
        flow_id=raw.get("id", ""),
        binding_point=ord("e") if phase in ("f", "t") and _text(raw.get("bp")) == "e" else 0,
        offset=offset,
        length=len(text.encode()),
    )


def _links(args: dict[str, str], category: str) -> dict[str, int]:
    """The ids of an event: under their usual names, or, of a slice that lacks the one that it should have, under any like them."""
    found = {
        "external_id": _link(args.get("External id")) or _link(args.get("external id")),
        "correlation_id": _link(args.get("correlation")),
        "launch_id": _link(args.get("launch_id")),
    }
    lacks_number, lacks_call = not found["external_id"], not (found["correlation_id"] or found["launch_id"])
    if category not in LINKLESS and (lacks_number if category in NUMBERED else lacks_call):
        for key, value in args.items():
            plain = "".join(letter for letter in key.lower() if letter not in " _")
            name = {"externalid": "external_id", "launchid": "launch_id"}.get(plain)
            name = "correlation_id" if plain in ("correlation", "correlationid") else name
            if name is not None:
                found[name] = found[name] or _link(value)
    return found


def _link(raw: str | None) -> int:
    value = _integer(raw, 0, 2 * INT64)
    return 0 if value < -INT64 or value == 2 * INT64 - 1 else (value + INT64) % (2 * INT64) - INT64


def _number(raw: str | None) -> Fraction | None:
    """An exact number of reasonable size, out of a JSON number or a text that holds one."""
    value = None if raw is None else _DECODER.decode(raw)
    if value is None or isinstance(value, (bool, list, dict)):
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    if not number.is_finite() or number.adjusted() > 1000:
        return None
    return Fraction(number)


def _time(raw: str | None) -> int:
    microseconds = _number(raw)
    nanoseconds = ABSENT if microseconds is None else round(microseconds * 1000)
    return nanoseconds if -INT64 < nanoseconds < INT64 else ABSENT


def _integer(raw: str | None, absent: int, limit: int = INT64) -> int:
    number = _number(raw)
    return absent if number is None or number.denominator != 1 or not -limit <= number < limit else int(number)


def _id(raw: str | None) -> Id:
    value = None if raw is None else _DECODER.decode(raw)
    if value is None or isinstance(value, str):
        return value
    number = _number(raw)
    return raw if number is None or number.denominator != 1 else math.floor(number)


def _text(raw: str | None) -> str:
    value = None if raw is None else _DECODER.decode(raw)
    return value if isinstance(value, str) else ""


def _members(text: str, at: int) -> dict[str, tuple[int, int]]:
    """Where the value of each key of an object stands; the last of equal keys counts."""
    found = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        end = _DECODER.raw_decode(text, start)[1]
        found[key] = (start, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _elements(text: str, at: int) -> list[tuple[int, int]]:
    """Where each element of an array stands."""
    found = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        found.append((at, end))
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
