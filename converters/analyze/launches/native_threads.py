"""Names of threads under their native ids, as records of a runtime have them."""

from __future__ import annotations

from ...timeline import HostTrace, Id

__all__ = ["thread_names"]


def thread_names(host: HostTrace) -> dict[tuple[int, int], str]:
    """Names of the threads of a host trace, by process id and thread id."""
    found = {}
    for track, name in host.thread_names.items():
        pid, tid = _number(track.pid), _number(track.tid)
        if pid is not None and tid is not None:
            found[pid, tid] = name
    return found


def _number(identity: Id) -> int | None:
    if isinstance(identity, str):
        return int(identity) if identity.isascii() and identity.isdecimal() else None
    return identity
