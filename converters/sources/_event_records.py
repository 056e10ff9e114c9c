"""The parts of a trace event that have a column, as typed records for the decoder; everything else in an event is skipped.

What nobody asked for is skipped too: the records that are decoded are the ones below without the fields of those columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, Literal

import msgspec

from rblnpb.columns import ABSENT

from ..timeline import Id

NO_TEXT: Final = msgspec.Raw()
NO_TIME: Final = float("nan")
"""JSON has no such number, so it cannot be mistaken for one that was there."""
NO_SIZE: Final = int(ABSENT)
NO_DEVICE: Final = -1
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
    device_type: int = msgspec.field(default=NO_DEVICE, name="Device Type")
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


ENDS_OF_ARROWS: Final = "tf"
"""Phases of the events that arrows end at."""
_ENCLOSING: Final = ord("e")


def binding_point(event: Event | DecimalEvent) -> int | None:
    """What `binding_point` of `HostEvents` is of the end of an arrow, None of other events; `bp` has to be in the records."""
    if event.ph not in ENDS_OF_ARROWS:
        return None
    return _ENCLOSING if event.bp == "e" else 0


LINKS: Final = frozenset({"external_id", "correlation_id", "launch_id"})
MEMORY: Final = frozenset({"size_bytes", "device_type"})
TEXTS: Final = frozenset({"input_dims", "concrete_inputs", "context"})
"""Columns of `args` that are read together: all of them, when one is asked for."""


def columns_read_with(columns: Collection[str]) -> frozenset[str]:
    """These columns, and those that are read together with one of them."""
    return frozenset(columns).union(*(group for group in (LINKS, MEMORY, TEXTS) if not group.isdisjoint(columns)))


_FIELDS: Final = (
    (LINKS, {"external_id", "external_id_2021", "correlation_id", "launch_id"}),
    (frozenset({"event_index"}), {"event_index"}),
    (frozenset({"sequence_number"}), {"sequence_number"}),
    (MEMORY, {"size_bytes", "device_type"}),
    (TEXTS, {"input_dims", "input_dims_2021", "concrete_inputs", "context"}),
    (frozenset({"flow_id"}), {"id"}),
    (frozenset({"binding_point"}), {"bp"}),
)
"""Columns, and the fields of the records that they are made of. Any other field is always needed."""

Decode = Callable[[memoryview], list[Any]]


_KNOWN_IDS: Final = 64
"""Traces name few processes and few threads; where they name more of either, an id is made for every event."""


@dataclass(frozen=True)
class Decoders:
    """What makes records of the text of events, one a line, the fastest first.

    Attributes:
        columns: What they are made for.
        usual: `Event`s of known processes and threads; of any, where none is known.
        usual_of_any: `Event`s of any; the same as `usual` where none is known.
        decimal: `DecimalEvent`s.
        argument_keys: Keys of `args` that any of them reads.
    """

    columns: frozenset[str]
    usual: Decode
    usual_of_any: Decode
    decimal: Decode
    argument_keys: frozenset[str]

    @classmethod
    def of(cls, columns: Collection[str]) -> Decoders:
        """Those that read what these columns of `HostEvents` are made of."""
        usual = _usual(Event, columns, {})
        keys = (field.encode_name for field in msgspec.structs.fields(_arguments(columns)))
        return cls(frozenset(columns), usual, usual, _usual(DecimalEvent, columns, {}), frozenset(keys))

    def knowing(self, tracks: Collection[tuple[Id, Id]]) -> Decoders:
        """The same, which take the ids of these processes and threads for words that they know and make none of them anew.

        Others are not known to `usual` then. Where they are more than such a decoder is good for, none is known.
        """
        ids = _literals(tracks)
        return replace(self, usual=_usual(Event, self.columns, ids) if ids else self.usual_of_any)

    @property
    def knows_tracks(self) -> bool:
        """Whether there are ids that `usual` does not take."""
        return self.usual is not self.usual_of_any


def _usual(record: type[msgspec.Struct], columns: Collection[str], ids: Mapping[str, Any]) -> Decode:
    return msgspec.json.Decoder(_without(record, _unread(columns), {"args": _arguments(columns), **ids})).decode_lines


def _arguments(columns: Collection[str]) -> type[msgspec.Struct]:
    return _without(Arguments, _unread(columns), {})


def _unread(columns: Collection[str]) -> set[str]:
    """Fields that none of these columns is made of."""
    return {name for made, names in _FIELDS if made.isdisjoint(columns) for name in names}


def _literals(tracks: Collection[tuple[Id, Id]]) -> dict[str, Any]:
    """The types of the fields of processes and threads where just these can stand there; empty when they are none, or many."""
    pids, tids = {pid for pid, _ in tracks}, {tid for _, tid in tracks}
    has_room = 0 < len(pids) <= _KNOWN_IDS and 0 < len(tids) <= _KNOWN_IDS
    # A literal number has 64 bits.
    is_usual = all(not isinstance(one, int) or -(1 << 63) <= one < 1 << 63 for one in pids | tids)
    return {"pid": Literal[tuple(pids)], "tid": Literal[tuple(tids)]} if has_room and is_usual else {}


def _without(record: type[msgspec.Struct], unread: Collection[str], types: Mapping[str, Any]) -> type[msgspec.Struct]:
    """The record without some fields, and with other types of some."""
    fields: list[tuple[str, Any, Any]] = []
    for field in msgspec.structs.fields(record):
        kind = types.get(field.name, field.type)
        if field.name == "args":
            fields.append((field.name, kind, kind()))
        elif field.name not in unread:
            fields.append((field.name, kind, msgspec.field(default=field.default, name=field.encode_name)))
    return msgspec.defstruct(record.__name__, fields, frozen=record.__struct_config__.frozen, gc=False)
