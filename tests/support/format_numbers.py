"""What a reader makes of a file, as plain JSON: kept beside the files of a released format, for later readers to be compared with.

The form of this JSON stays as it is, since what is kept is never written again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

import rblnpb
from rblnpb.columns import ABSENT, Table, TextArray
from rblnpb.converters.sources.archive import archived_trace
from rblnpb.errors import Severity
from rblnpb.profile import KINDS, Profile

__all__ = ["differences", "numbers", "numbers_of"]

_DEFINED: Final = ("clocks", "devices", "engines", "programs", "clock_snapshots", "losses")
_MOST: Final = 32
"""Longest column that is told value by value."""


def numbers(data: bytes) -> list[dict[str, Any]]:
    """All sessions of a file."""
    return [numbers_of(profile) for profile in rblnpb.read_all(data)]


def numbers_of(profile: Profile) -> dict[str, Any]:
    """One session: what it says of itself, its tables, its records by kind and column, and codes of findings that are grave."""
    said: dict[str, Any] = {name: _plain(getattr(profile, name)) for name in ("session", "strings", "threads")}
    said |= {name: _rows(getattr(profile, name)) for name in _DEFINED}
    # Not of the recording but of how it is stored.
    said["session"].pop("has_display_packets")
    said["commands"] = {name: _column(values) for name, values in vars(profile.commands).items()}
    said["records"] = {table.label: _table(getattr(profile, table.label)) for table in KINDS.values()}
    said["trace_document"] = _plain(profile.trace_document)
    said["trace"] = _given_back(profile)
    said["is_complete"] = profile.is_complete
    said["findings"] = sorted({finding.code for finding in profile.findings if finding.severity > Severity.INFO})
    return said


def _given_back(profile: Profile) -> Any:
    """Size and digest of the archived trace, where there is a layout: without one it is of no trace."""
    if not profile.trace_events.layout_strindex.any():
        return None
    return _digest(b"".join(archived_trace(profile).document.blocks()))


def _rows(rows: Sequence[Any]) -> dict[str, Any]:
    """Rows of one sort by their fields."""
    names = rows[0].__dataclass_fields__ if rows else ()
    return {"count": len(rows), **{name: [_plain(getattr(row, name)) for row in rows] for name in names}}


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(inner) for name, inner in asdict(value).items()}
    if isinstance(value, (tuple, list)):
        return [_plain(inner) for inner in value]
    if isinstance(value, bytes):
        return _digest(value)
    return value if value is None or isinstance(value, (str, bool)) else int(value)


def _digest(data: bytes) -> dict[str, Any]:
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _table(table: Table) -> dict[str, Any]:
    return {"count": len(table), **({name: _column(values) for name, values in table.columns().items()} if len(table) else {})}


def _column(values: Any) -> Any:
    """Values one by one, None where there is none; of a long column its sum and the digest of its values in 8 bytes each."""
    if isinstance(values, TextArray):
        return {"sizes": _column(values.sizes()), "text": _digest(values.text.tobytes())}
    if values.dtype.kind == "f":
        return [float(value).hex() for value in values]
    if len(values) <= _MOST:
        return [None if value == ABSENT else value for value in values.tolist()]
    wide = values.astype("<u8" if values.dtype.kind == "u" else "<i8")
    return {
        "sum": sum(values[values != ABSENT].tolist() if values.dtype == np.int64 else values.tolist()),
        **_digest(wide.tobytes()),
    }


def differences(kept: Any, found: Any, place: str = "") -> Iterator[str]:
    """Where what was kept is not found; what a later reader says besides (fields, columns, findings) is no difference."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for name, value in kept.items():
            if name not in found:
                yield f"{place}.{name} is gone"
            elif name == "findings":
                yield from (f"{place}: no finding {code}" for code in _missing(value, found[name]))
            else:
                yield from differences(value, found[name], f"{place}.{name}")
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for row, (value, other) in enumerate(zip(kept, found, strict=True)):
            yield from differences(value, other, f"{place}[{row}]")
    elif type(kept) is not type(found) or kept != found:
        yield f"{place} is {found!r} and was {kept!r}"


def _missing(kept: Iterable[str], found: Iterable[str]) -> list[str]:
    return sorted(set(kept) - set(found))
