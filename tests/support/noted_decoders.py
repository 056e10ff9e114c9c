"""Which decoders a reader of events asks, and how many events they give it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rblnpb.converters.sources._event_columns import EventColumns


def note_decoded(made: EventColumns, note: Callable[[str, int], None]) -> None:
    """Let each decoder that these columns have now tell its name and how many events it has made."""

    def noting(name: str, decode: Callable[[memoryview], list[Any]]) -> Callable[[memoryview], list[Any]]:
        def asked(text: memoryview) -> list[Any]:
            events = decode(text)
            note(name, len(events))
            return events

        return asked

    known = made._decoders
    made._decoders = replace(known, usual=noting("usual", known.usual), usual_of_any=noting("usual_of_any", known.usual_of_any))
