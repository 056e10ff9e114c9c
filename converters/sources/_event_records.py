"""The parts of a trace event that have a column, as typed records for the decoder; everything else in an event is skipped."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

import msgspec

from ..timeline import ABSENT

NO_TEXT: Final = msgspec.Raw()
NO_TIME: Final = float("nan")
"""JSON has no such number, so it cannot be mistaken for one that was there."""


class Arguments(msgspec.Struct, frozen=True, gc=False):
    """`args`; two spellings of a key are two fields, the second one of 2021 or of another exporter."""

    external_id: int = msgspec.field(default=0, name="External id")
    event_index: int = msgspec.field(default=-1, name="Ev Idx")
    sequence_number: int = msgspec.field(default=-1, name="Sequence number")
    external_id_2021: int = msgspec.field(default=0, name="external id")
    correlation_id: int = msgspec.field(default=0, name="correlation")
    launch_id: int = 0
    size_bytes: int = msgspec.field(default=int(ABSENT), name="Bytes")
    device_type: int = msgspec.field(default=-1, name="Device Type")
    input_dims: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Input Dims")
    input_dims_2021: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Input dims")
    concrete_inputs: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Concrete Inputs")
    name: msgspec.Raw = NO_TEXT
    labels: msgspec.Raw = NO_TEXT


NO_ARGUMENTS: Final = Arguments()


class FloatEvent(msgspec.Struct, gc=False):
    """An event whose times are read as float64; NaN is absent."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: float = NO_TIME
    dur: float = NO_TIME
    args: Arguments = NO_ARGUMENTS
    id: msgspec.Raw = NO_TEXT


class DecimalEvent(msgspec.Struct, gc=False):
    """The same with the times as they are written; None is absent."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: Decimal | None = None
    dur: Decimal | None = None
    args: Arguments = NO_ARGUMENTS
    id: msgspec.Raw = NO_TEXT
