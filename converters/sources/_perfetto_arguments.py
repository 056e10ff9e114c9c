"""What a slice of the vendor's profile tells beside its name: bytes moved, compute cycles, its launch.

Public are one annotation, `Slice Arguments`, which is a JSON object in a text, and two of its keys: `transfer`, texts such as
":4096Byte", and `comp_cycle`, numbers or texts of numbers; readers add up both (rebel-semin/rbln-skills, `trace_summary.py`). The
vendor's bridge names a third, `launch_id`. Each may as well stand as an annotation of its own, or in one that is a dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from ._perfetto_sequences import Sequence
from ._perfetto_text import as_text

__all__ = ["ArgumentReader", "Arguments"]

_OBJECT: Final = "slice arguments"
_TRANSFER, _CYCLES, _LAUNCH = "transfer", "comp_cycle", "launch_id"
_BYTES: Final = re.compile(r":\s*(\d{1,20})\s*Bytes?")
_LIMIT: Final = 1 << 63
_MOST_CACHED: Final = 65_536


@dataclass(frozen=True)
class Arguments:
    """What is understood of the annotations of one slice; None = not there.

    Attributes:
        size_bytes: All that `transfer` lists, summed.
        compute_cycles: All that `comp_cycle` lists, summed: one number stands for one engine, or one step.
        launch_id: The submission that it belongs to.
    """

    size_bytes: int | None = None
    compute_cycles: int | None = None
    launch_id: int | None = None


Understood = tuple[Arguments, tuple[str, ...], tuple[str, ...]]
"""What is understood; names of arguments that are not known; names of those that are, and cannot be read."""


class ArgumentReader:
    """Reads the annotations of one file."""

    def __init__(self) -> None:
        self._cache: dict[str, Understood] = {}

    def read(self, annotations: Any, sequence: Sequence) -> Understood:
        """What the DebugAnnotations of an event say."""
        found: dict[str, Any] = {}
        for annotation in annotations:
            name = as_text(annotation.name) or sequence.text("annotation", annotation.name_iid) or ""
            value = _value(annotation, sequence)
            if name.casefold() != _OBJECT:
                found[name] = value
                continue
            if isinstance(value, str):
                if len(annotations) == 1:
                    return self._of_text(value)
                value = _decoded(value)
            found.update(value if isinstance(value, dict) else {name: None})
        return _understood(found)

    def _of_text(self, text: str) -> Understood:
        """The arguments in a JSON text, which many slices share."""
        known = self._cache.get(text)
        if known is None:
            if len(self._cache) >= _MOST_CACHED:
                self._cache.clear()
            value = _decoded(text)
            known = self._cache[text] = _understood(value if isinstance(value, dict) else {"Slice Arguments": None})
        return known


def _understood(found: dict[str, Any]) -> Understood:
    values: dict[str, int] = {}
    unread = [name for name, value in found.items() if name not in _KNOWN and value is not None]
    unreadable = [name for name, value in found.items() if name not in _KNOWN and value is None]
    for name, read in _KNOWN.items():
        # Of a slice that moves nothing the list may be there and empty.
        if found.get(name, []) != []:
            total = read(found[name])
            if total is None or total >= _LIMIT:
                unreadable.append(name)
            else:
                values[name] = total
    if _TRANSFER in values and any(_BYTES.sub("", one).strip() for one in _listed(found[_TRANSFER])):
        unread.append("label of a transfer")
    arguments = Arguments(values.get(_TRANSFER), values.get(_CYCLES), values.get(_LAUNCH))
    return arguments, tuple(map(str, unread)), tuple(map(str, unreadable))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _transferred(value: Any) -> int | None:
    """Bytes that texts such as ":4096Byte" name, all of them together; None if one names none."""
    sizes = [_BYTES.findall(one) if isinstance(one, str) else [] for one in _listed(value)]
    return sum(int(size) for found in sizes for size in found) if all(sizes) else None


def _counted_cycles(value: Any) -> int | None:
    """Numbers together; None if one is none."""
    cycles = [_number(one) for one in _listed(value)]
    return None if None in cycles else sum(one for one in cycles if one is not None)


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 40:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0 or value != value // 1:
        return None
    return int(value)


def _decoded(text: str) -> Any:
    """The value of a JSON text; None where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def _value(annotation: Any, sequence: Sequence) -> Any:
    """The value of an annotation as Python has it; None where it cannot be told."""
    if annotation.dict_entries:
        pairs = annotation.dict_entries
        return {as_text(one.name) or sequence.text("annotation", one.name_iid) or "": _value(one, sequence) for one in pairs}
    if annotation.array_values:
        return [_value(one, sequence) for one in annotation.array_values]
    field = annotation.WhichOneof("value")
    if field == "string_value_iid":
        return sequence.text("text", annotation.string_value_iid)
    if field in _READERS:
        return _READERS[field](getattr(annotation, field))
    # An empty list is written like nothing at all.
    return [] if field is None else None


def _nested(value: Any) -> Any:
    """The value of a NestedValue, which is how annotations held dictionaries before 2021."""
    if value.dict_keys:
        return dict(zip(map(as_text, value.dict_keys), map(_nested, value.dict_values), strict=False))
    if value.array_values:
        return [_nested(one) for one in value.array_values]
    set_fields = [name for name in ("int_value", "double_value", "bool_value", "string_value") if value.HasField(name)]
    found = getattr(value, set_fields[0]) if set_fields else []
    return as_text(found) if isinstance(found, bytes) else found


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "legacy_json_value": _decoded,
    "nested_value": _nested,
    "string_value": as_text,
    **dict.fromkeys(("bool_value", "uint_value", "int_value", "double_value", "pointer_value"), lambda value: value),
}
"""How a value of each kind becomes one of Python's."""

_KNOWN: Final = {_TRANSFER: _transferred, _CYCLES: _counted_cycles, _LAUNCH: _number}
"""The arguments that are read, and how."""
