"""Columns become a timeline: align, correlate, attribute. Pure numpy, no input or output."""

from __future__ import annotations

from rblnpb.errors import UsageError
from rblnpb.profile import Profile

from ..timeline import HostTrace, Timeline
from .align import require_unix_time
from .device_side import profile_timeline
from .stored_slices import SliceStore
from .trace_side import trace_timeline

__all__ = ["SliceStore", "merge", "require_unix_time"]


def merge(profile: Profile | None, host: HostTrace | None = None, store: SliceStore | None = None) -> Timeline:
    """Host and device in one clock, with every launch on its op as far as that can be told.

    Args:
        profile: Device records; None: what the host trace itself holds of devices is the device side.
        host: Host events; None: the profile alone, with no op to charge.
        store: Device slices of a profile with launches that stay where they are stored; None: the profile has them.

    Returns:
        The timeline; `findings` say how well it went.

    Raises:
        UsageError: Neither is given.
        ClockError: The profile's clocks cannot be joined with the host trace's.

    Example:
        >>> from rblnpb import sim
        >>> from rblnpb.converters import merge
        >>> timeline = merge(sim.simulate(program="mm", calls=3))
        >>> len(timeline.slices)
        18
    """
    if profile is None:
        if host is None:
            raise UsageError("nothing to merge: give a profile, a host trace, or both")
        return trace_timeline(host)
    return profile_timeline(profile, host, store)
