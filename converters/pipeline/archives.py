"""Profiles that hold a host trace: taken apart into what each half is, wherever one is read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from rblnpb.columns import ABSENT, Dependencies, TraceEvents
from rblnpb.errors import CheckError, Severity, UsageError
from rblnpb.profile import KINDS, Profile

from ..host_trace import ALL_COLUMNS
from ..merging import merge as merge_timeline
from ..sources.archive import ArchiveDocument, archived_trace
from ..timeline import HostTrace, Timeline

__all__ = ["holds_trace", "is_archived", "merge", "unpack"]


def holds_trace(profile: Profile) -> bool:
    """Whether a profile archives a host trace."""
    return profile.trace_document is not None or len(profile.trace_events) > 0


def is_archived(host: HostTrace) -> bool:
    """Whether a host trace comes out of a profile."""
    return isinstance(host.document, ArchiveDocument)


def unpack(
    profile: Profile, name: str | None = None, *, strict: bool = False, columns: Collection[str] = ALL_COLUMNS
) -> tuple[Profile | None, HostTrace | None]:
    """What a profile recorded itself, and the host trace that it archives.

    Args:
        profile: With a host trace or without.
        name: What messages call it.
        strict: Refuse a trace that is odd.
        columns: Which columns of the trace are needed; see `read_host`.

    Returns:
        The profile without what it tells of the trace, or None when nothing is left; and the trace, or None when there is none.
        What is odd about the file is said by the profile where there is one, else by the trace.

    Raises:
        FormatError: The trace cannot be given back.
        CheckError: `strict`, and a finding about the trace is a warning or worse.
    """
    if not holds_trace(profile):
        return profile, None
    host = archived_trace(profile, name, columns=columns)
    grave = tuple(finding for finding in host.findings if finding.severity > Severity.INFO)
    if strict and grave:
        raise CheckError(host.document.name, grave)
    own = _without_trace(profile)
    if _records_something(own):
        return own, host
    return None, replace(host, findings=(*profile.findings, *host.findings))


def merge(profile: Profile | None, host: HostTrace | None = None) -> Timeline:
    """Host and device in one clock, with every launch on its op as far as that can be told.

    Args:
        profile: Device records, host events that it archives, or both; None: what the host trace itself holds of devices is the
            device side.
        host: Host events; None: those that the profile archives, or else the profile alone, with no op to charge.

    Returns:
        The timeline; `findings` say how well it went.

    Raises:
        UsageError: Neither is given, or both hold host events.
        ClockError: The profile's clocks cannot be joined with the host trace's.

    Example:
        >>> from rblnpb import sim
        >>> from rblnpb.converters import merge
        >>> timeline = merge(sim.simulate(program="mm", calls=3))
        >>> len(timeline.slices)
        18
    """
    if profile is None:
        return merge_timeline(None, host)
    own, archived = unpack(profile)
    if archived is not None and host is not None:
        raise UsageError(f"{archived.document.name} archives the host trace of its run: leave {host.document.name} out")
    return merge_timeline(own, archived or host)


def _without_trace(profile: Profile) -> Profile:
    """The profile without archived events, and without the device slices that tell of them once more."""
    slices, dependencies = profile.device_slices, profile.dependencies
    is_own = slices.event_ordinal == ABSENT
    if not is_own.all():
        rows = np.where(is_own, np.cumsum(is_own) - 1, -1)
        before, after = rows[dependencies.predecessor_ordinal], rows[dependencies.successor_ordinal]
        both = (before >= 0) & (after >= 0)
        dependencies = Dependencies.of(predecessor_ordinal=before[both], successor_ordinal=after[both])
    return profile.replace(
        device_slices=slices.take(is_own), dependencies=dependencies, trace_events=TraceEvents.empty(), trace_document=None
    )


def _records_something(profile: Profile) -> bool:
    has_records = any(len(profile.table(kind)) for kind in KINDS)
    return has_records or bool(profile.programs or profile.clock_snapshots or profile.losses)
