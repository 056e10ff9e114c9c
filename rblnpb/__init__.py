"""rblnpb: an open, specified profile format for RBLN NPUs.

    >>> import rblnpb
    >>> profile = rblnpb.read("rbln_20261129_142200123_0.pb")        # doctest: +SKIP
    >>> profile.device_slices.start_ticks                            # doctest: +SKIP

This face loads nothing until a name is used: numpy costs ten times the start of the interpreter. The converters are
`rblnpb.converters`, the simulated runtime is `rblnpb.sim`.
"""

from __future__ import annotations

import importlib

from rblnpb._version import __version__

# A name that type checkers know; the module typing would be a good part of what this face costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from rblnpb.errors import Finding, FormatError, MergeError, RblnpbError, Severity
    from rblnpb.invariants import check
    from rblnpb.limits import Limits
    from rblnpb.profile import Profile, Session
    from rblnpb.reader import open_profile, read, read_all
    from rblnpb.recorder import Recorder
    from rblnpb.writer import write

__all__ = [
    "Finding",
    "FormatError",
    "Limits",
    "MergeError",
    "Profile",
    "RblnpbError",
    "Recorder",
    "Session",
    "Severity",
    "__version__",
    "check",
    "open_profile",
    "read",
    "read_all",
    "write",
]

_HOMES = {
    "Finding": "errors",
    "FormatError": "errors",
    "Limits": "limits",
    "MergeError": "errors",
    "Profile": "profile",
    "RblnpbError": "errors",
    "Recorder": "recorder",
    "Session": "profile",
    "Severity": "errors",
    "check": "invariants",
    "open_profile": "reader",
    "read": "reader",
    "read_all": "reader",
    "write": "writer",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'rblnpb' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rblnpb.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
