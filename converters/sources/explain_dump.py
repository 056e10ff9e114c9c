"""Dumps of `torch.rbln.explain()`, saved as JSON: what the runtime counted in a region, without a record for each thing.

A dump may be of the vendor's package or of the simulated device; older and newer ones lack keys or have more, and what is not there
is not known. Places stand under the operator, or under the kind of copy.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from rblnpb.errors import FormatError

from ..timeline import ExplainedCounts

__all__ = ["read_explain_dump"]


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


def read_explain_dump(path: str | os.PathLike[str]) -> ExplainedCounts:
    """What a dump counted.

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
    moved = {**dump.hidden_host_bounce.by_site, **dump.runtime_residency.by_reason}
    return ExplainedCounts(
        fallback_count=dump.dispatch.cpu_fallback,
        fallback_ns=dump.dispatch.cpu_fallback_ns,
        fallbacks_by_op=dump.cpu_fallback_by_op,
        fallbacks_by_reason=dump.cpu_fallback_reasons,
        recompilation_count=dump.dispatch.recompile_miss,
        recompilations_by_op=dump.recompile_by_op,
        copies={way: (one.count, one.bytes) for way, one in moved.items()},
        places=dump.trace_by_op,
    )
