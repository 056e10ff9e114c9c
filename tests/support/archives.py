"""Traces into profiles and out of them again, and the rules of proto/README.md followed one event at a time."""

from __future__ import annotations

import io
import json
import re
from decimal import Decimal
from typing import Final

import rblnpb
from rblnpb.columns import ABSENT
from rblnpb.converters.pipeline import write_profile
from rblnpb.converters.sources.archive import archived_trace
from rblnpb.converters.sources.kineto import read_host
from rblnpb.converters.timeline import HostTrace
from rblnpb.profile import Profile

_MARK: Final = re.compile("\x1a([sd])([0-3])|\x1a([cnCNptiIa])")


def archive(document: bytes) -> bytes:
    """The profile of a trace."""
    return archive_of(read_host(io.BytesIO(document)))


def archive_of(host: HostTrace, profile: Profile | None = None) -> bytes:
    """The same, of a trace that is read, beside a profile."""
    file = io.BytesIO()
    write_profile(profile, host, file)
    return file.getvalue()


def given_back(profile: bytes) -> bytes:
    """The document of the trace that a profile archives."""
    return b"".join(archived_trace(rblnpb.read(profile)).document.blocks())


def slowly_given_back(profile: Profile) -> bytes:
    """The same by the rules of proto/README.md."""
    frame = profile.trace_document
    assert frame is not None
    return b"".join([frame.head, *(_event(profile, row) for row in range(len(profile.trace_events))), frame.tail])


def _event(profile: Profile, row: int) -> bytes:
    events, strings = profile.trace_events, profile.strings
    layout = strings[events.layout_strindex[row]]
    if not layout:
        return events.text[row]

    def value(mark: re.Match[str]) -> str:
        if mark[1]:
            return _microseconds(int((events.start_ns if mark[1] == "s" else events.duration_ns)[row]), int(mark[2]))
        symbol = mark[3]
        if symbol == "a":
            return events.arguments[row].decode("utf-8", "surrogateescape")
        if symbol == "I":
            assert events.id_number[row] != ABSENT
            return str(int(events.id_number[row]))
        text = strings[_columns(events)[symbol][row]]
        return json.dumps(text, ensure_ascii=symbol.isupper()) if symbol in "cCnN" else text

    return _MARK.sub(value, layout).encode("utf-8", "surrogateescape")


def _columns(events: rblnpb.columns.TraceEvents) -> dict[str, list[int]]:
    names = {"c": "category", "n": "name", "p": "process", "t": "thread", "i": "id"}
    columns = {symbol: getattr(events, f"{name}_strindex").tolist() for symbol, name in names.items()}
    return columns | {symbol.upper(): columns[symbol] for symbol in "cn"}


def _microseconds(time_ns: int, least_decimals: int) -> str:
    text = f"{Decimal(time_ns).scaleb(-3):.3f}"
    while text.endswith("0") and len(text) - text.index(".") - 1 > least_decimals:
        text = text[:-1]
    return text.removesuffix(".")
