"""A profile as the device side of a timeline, joined with a host trace in the best way that the two allow.

A profile that recorded launches is joined by them, in Unix time. The vendor's own has none, and a clock that nothing relates to the
host's: then records that both files hold relate the clocks, and where the trace holds none, the order of its launches does.
"""

from __future__ import annotations

from dataclasses import replace

from rblnpb.errors import ClockError
from rblnpb.profile import Profile

from ..dialect import host_window
from ..timeline import HostTrace, Timeline
from .align import Alignment, require_unix_time
from .launch_order import ordered_timeline
from .paired_side import paired_timeline
from .placed_profile import origin_findings, place_profile
from .quality import join_findings
from .stored_slices import SliceStore

__all__ = ["profile_timeline"]


def profile_timeline(profile: Profile, host: HostTrace | None, store: SliceStore | None = None) -> Timeline:
    """The timeline of a profile, joined with a host trace when there is one.

    Args:
        profile: As read.
        host: The trace.
        store: Device slices of a profile with launches that stay where they are stored; None: the profile has them.

    Raises:
        ClockError: The clocks of the two cannot be joined.
    """
    if host is None:
        return place_profile(profile, None, Alignment.of(profile, needs_real_time=False), store)[0]
    has_launches = len(profile.launches) > 0
    paired = None if has_launches else paired_timeline(profile, host)
    if paired is not None:
        return paired
    try:
        require_unix_time(host)
        alignment = Alignment.of(profile, needs_real_time=True)
    except ClockError:
        if has_launches:
            raise
        alignment = None
    if alignment is None or not (has_launches or alignment.places_any(profile)):
        return ordered_timeline(profile, host)
    timeline, _ = place_profile(profile, host, alignment, store)
    joined = (*host.findings, *join_findings(timeline, host_window(host)), *origin_findings(profile, host))
    return replace(timeline, findings=timeline.findings + joined)
