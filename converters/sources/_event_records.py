"""The parts of a trace event that have a column, as typed records for the decoder; everything else in an event is skipped."""

from __future__ import annotations

from decimal import Decimal
from typing import Final, Literal

import msgspec

from rblnpb.columns import ABSENT

NO_TEXT: Final = msgspec.Raw()
NO_TIME: Final = float("nan")
"""JSON has no such number, so it cannot be mistaken for one that was there."""
NO_SIZE: Final = int(ABSENT)
NO_PHASE: Final = "\0"
Phase = Literal[
    "\0", "B", "E", "X", "i", "I", "n", "b", "e", "S", "T", "p", "F", "s", "t", "f", "P", "N", "O", "D",
    "M", "V", "v", "R", "c", "(", ")", "C", "a", "A", "g", "G",
]  # fmt: skip
"""Every phase that the trace event format ever had; the decoder knows these texts and makes no new ones."""


class Arguments(msgspec.Struct, frozen=True, gc=False):
    """`args`; two spellings of a key are two fields, the second one of 2021 or of another exporter.

    Links of any other spelling are `_argument_spellings`' matter: a field more would cost every event.
    """

    external_id: int = msgspec.field(default=0, name="External id")
    event_index: int = msgspec.field(default=-1, name="Ev Idx")
    sequence_number: int = msgspec.field(default=-1, name="Sequence number")
    external_id_2021: int = msgspec.field(default=0, name="external id")
    correlation_id: int = msgspec.field(default=0, name="correlation")
    launch_id: int = 0
    size_bytes: int = msgspec.field(default=NO_SIZE, name="Bytes")
    device_type: int = msgspec.field(default=-1, name="Device Type")
    input_dims: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Input Dims")
    input_dims_2021: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Input dims")
    concrete_inputs: msgspec.Raw = msgspec.field(default=NO_TEXT, name="Concrete Inputs")
    context: msgspec.Raw = NO_TEXT
    name: msgspec.Raw = NO_TEXT
    labels: msgspec.Raw = NO_TEXT


NO_ARGUMENTS: Final = Arguments()


class Event(msgspec.Struct, gc=False):
    """An event whose values have the types that they have in any trace; `ts` as it is written, empty when absent."""

    ph: Phase = NO_PHASE
    cat: str = ""
    name: str = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: msgspec.Raw = NO_TEXT
    dur: float = NO_TIME
    args: Arguments = NO_ARGUMENTS
    id: msgspec.Raw = NO_TEXT
    bp: str = ""


class DecimalEvent(msgspec.Struct, gc=False):
    """The same with times of any length, or in quotes; None is absent."""

    ph: Phase = NO_PHASE
    cat: str = ""
    name: str = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: Decimal | None = None
    dur: Decimal | None = None
    args: Arguments = NO_ARGUMENTS
    id: msgspec.Raw = NO_TEXT
    bp: str = ""


class PlainArguments(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """`args` of an op on the host or of an annotation, without shapes; any other key is refused."""

    external_id: int = msgspec.field(default=0, name="External id")
    record_function_id: int = msgspec.field(default=0, name="Record function id")
    sequence_number: int = msgspec.field(default=-1, name="Sequence number")
    forward_thread_id: int = msgspec.field(default=0, name="Fwd thread id")
    event_index: int = msgspec.field(default=-1, name="Ev Idx")


class PlainEvent(msgspec.Struct, gc=False):
    """What most events of most traces are: an `Event` that the decoder is through with sooner."""

    ph: Literal["X", "s", "f"]
    cat: Literal["cpu_op", "user_annotation", "fwdbwd", "ac2g"]
    name: str = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: msgspec.Raw = NO_TEXT
    dur: float = NO_TIME
    args: PlainArguments = PlainArguments()
    id: msgspec.Raw = NO_TEXT
    bp: str = ""
