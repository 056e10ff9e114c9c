"""Dumps of `torch.rbln.explain()`, saved as JSON: what the runtime counted in a region, without a record for each thing.

A dump may be of the vendor's package or of the simulated device; older and newer ones lack keys or have more, and what is not there
is not known. Places stand under the operator, or under the kind of copy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from rblnpb.errors import FormatError

from ..results import OverheadPart, OverheadTotal

__all__ = ["read_explain_dump"]

_SPLITS: Final = ("v2v_batch_to_per_entry", "host_batch_to_per_entry")
"""Copies that were done in several, which the runtime does not count among those through the host."""


class _Moved(msgspec.Struct):
    count: int = 0
    bytes: int = 0


class _Bounce(msgspec.Struct):
    by_site: dict[str, _Moved]


class _Dispatch(msgspec.Struct):
    cpu_fallback: int
    recompile_miss: int
    cpu_fallback_ns: int | None = None


class _Residency(msgspec.Struct):
    by_reason: dict[str, _Moved] = msgspec.field(default_factory=dict)


class _Dump(msgspec.Struct):
    hidden_host_bounce: _Bounce
    dispatch: _Dispatch
    cpu_fallback_by_op: dict[str, int] = msgspec.field(default_factory=dict)
    recompile_by_op: dict[str, int] = msgspec.field(default_factory=dict)
    cpu_fallback_reasons: dict[str, int] = msgspec.field(default_factory=dict)
    trace_by_op: dict[str, str] = msgspec.field(default_factory=dict)
    runtime_residency: _Residency = msgspec.field(default_factory=_Residency)


def read_explain_dump(path: str | os.PathLike[str]) -> tuple[OverheadTotal, ...]:
    """What a dump counted: the kinds of hidden work that there were.

    Args:
        path: Name of the file.

    Raises:
        FormatError: It cannot be read, or is no such dump.
    """
    name = os.fsencode(path).decode(errors="replace")
    try:
        dump = msgspec.json.decode(Path(path).read_bytes(), type=_Dump)
    except OSError as error:
        raise FormatError(name, (error.strerror or str(error)).lower()) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        reason = f"it is no dump of torch.rbln.explain(): {error}; json.dump(region.dump(), file) writes one"
        raise FormatError(name, reason) from error
    return tuple(total for total in _totals(dump) if total.count)


def _totals(dump: _Dump) -> list[OverheadTotal]:
    dispatch, places = dump.dispatch, dump.trace_by_op
    sites = dump.hidden_host_bounce.by_site
    through_host = {site: moved for site, moved in sites.items() if site not in _SPLITS} | dump.runtime_residency.by_reason
    fallbacks, compiled = _counted(dump.cpu_fallback_by_op, places), _counted(dump.recompile_by_op, places)
    why = _counted(dump.cpu_fallback_reasons, {})
    return [
        OverheadTotal("cpu_fallback", dispatch.cpu_fallback, None, dispatch.cpu_fallback_ns, fallbacks, why),
        OverheadTotal("recompilation", dispatch.recompile_miss, None, None, compiled, ()),
        _copies("host_copy", through_host, places),
        _copies("batch_split", {site: moved for site, moved in sites.items() if site in _SPLITS}, places),
    ]


def _copies(kind: str, ways: Mapping[str, _Moved], places: Mapping[str, str]) -> OverheadTotal:
    happened = {way: moved for way, moved in ways.items() if moved.count}
    parts = [OverheadPart(way, moved.count, moved.bytes, None, _first(places, way)) for way, moved in happened.items()]
    count, size_bytes = sum(part.count for part in parts), sum(moved.bytes for moved in happened.values())
    return OverheadTotal(kind, count, size_bytes, None, (), _ordered(parts))


def _counted(counts: Mapping[str, int], places: Mapping[str, Any]) -> tuple[OverheadPart, ...]:
    return _ordered([OverheadPart(name, count, place=_first(places, name)) for name, count in counts.items() if count])


def _first(places: Mapping[str, str], name: str) -> str:
    """The innermost of the lines that led to something."""
    return places.get(name, "").partition(" <- ")[0]


def _ordered(parts: list[OverheadPart]) -> tuple[OverheadPart, ...]:
    return tuple(sorted(parts, key=lambda part: (-part.count, part.name)))
