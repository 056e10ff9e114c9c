"""Host traces as profiles: an archive of a trace, beside a profile's records or alone.

The same trace gives the same bytes. Held are columns and one chunk of events, whatever the size of the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from rblnpb.columns import TraceEvents
from rblnpb.profile import Profile, TraceDocument
from rblnpb.strings import StringTable
from rblnpb.writer import write_archive

from ..timeline import HostTrace
from ._archive_events import EventArchiver
from ._archive_session import trace_profile
from ._archive_texts import frame_of
from ._streams import Progress

__all__ = ["Progress", "trace_profile", "write_trace_archive"]


def write_trace_archive(host: HostTrace, profile: Profile, file: BinaryIO, *, progress: Progress | None = None) -> int:
    """Write a host trace as a profile of which `archived_trace` makes the very same trace again.

    Args:
        host: The trace.
        profile: What stands beside it in the file: device records of the same run, or the `trace_profile` of the trace. Without a
            session id it gets one that follows from the trace: the same trace is the same session, whenever it is archived.
        file: Written to in order, and left open.
        progress: See `Progress`.

    Returns:
        Size of the trace's document in bytes, not compressed.

    Raises:
        FormatError: The trace's document cannot be read again.
        CheckError: The profile is one that a file cannot hold.
        OSError: The stream does not take the bytes.
    """
    frame = frame_of(host)
    session_id = profile.session.session_id or int.from_bytes(frame.digest[:8], "big") or 1
    base_time_ns = host.base_time_ns if host.has_base_time else None
    archive = profile.replace(
        session=replace(profile.session, session_id=session_id),
        trace_document=TraceDocument(frame.head, frame.tail, _own_name(host), base_time_ns),
        trace_events=TraceEvents.empty(),
    )

    def events(strings: StringTable) -> Iterator[TraceEvents]:
        done = 0
        for chunk in EventArchiver(host, strings).chunks():
            yield chunk
            done += len(chunk)
            if progress is not None:
                progress(done, len(host.events))

    # What Perfetto would show of an archive is its device slices alone: half a picture, unless the profile is meant to be seen.
    write_archive(archive, file, events, display=profile.session.has_display_packets)
    return frame.size_bytes


def _own_name(host: HostTrace) -> str:
    """What the trace calls itself, without folders; not what its file is called, so that a copy gives the same bytes."""
    name = host.metadata.get("traceName")
    return name.rsplit("/", 1)[-1] if isinstance(name, str) else ""
