"""The vendor's own `.pb`, the RBLN Profiler's: a Perfetto trace of track events, whose schema is not published.

What is public of it are names: of tracks, of slices, of one annotation and its keys (see the modules beside this one). Nothing here
depends on one layout: tracks may be threads of processes or plain tracks in any depth, texts interned or not, packets compressed or
not. Nothing is dropped silently: what has no place in a profile is counted by name, and so is what a host did, of which Perfetto
traces of others tell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import BinaryIO, Final

from rblnpb.errors import CheckError, MergeError, NotAProfileError, Severity, TruncatedError
from rblnpb.profile import Profile
from rblnpb.signatures import is_perfetto, looks_like

from ._document import open_document
from ._perfetto_events import EventReader
from ._perfetto_file import VendorFile
from ._perfetto_hosts import host_table
from ._perfetto_packets import Packets
from ._perfetto_profile import assemble
from ._perfetto_slices import put_together, samples

__all__ = ["read_vendor_profile"]

Source = str | os.PathLike[str] | BinaryIO

_FILE_NAME: Final = re.compile(r"(?P<recording>.*_)?(?P<ordinal>\d{1,9})\.pb(?:\.gz)?")
"""`rbln_<date>_<time>_<ordinal>.pb`: the ordinal counts the calls of the runtime, or what else it saves."""


def read_vendor_profile(sources: Source | Sequence[Source], *, strict: bool = False) -> Profile:
    """Read the file, or all the files, of one recording of the vendor's profiler.

    Times stay in the device's own clock, 10**9 ticks a second: clock 16, "device clock of the file", which nothing relates to a
    clock of the host unless the file has clock snapshots. Sizes are the bytes that `transfer` lists, compute cycles the sum of what
    `comp_cycle` lists.

    Args:
        sources: Paths, or open binary streams, which are read to their ends; gzip data is inflated. Of several files the names give
            the order, where they end in an ordinal.
        strict: Raise when something is missing or odd, instead of reporting it in `findings`.

    Returns:
        One profile. Device slices are in the order of their begins in the files; their names are whole in `name_strindex`, their
        layers in `stage_strindex`. Flows are `dependencies`.

    Raises:
        NotAProfileError: It is something else, or a Perfetto trace without track events.
        TruncatedError: It ends before anything could be read.
        FormatError: It cannot be opened, or is made to fill the memory.
        MergeError: The files are of several ranks or recordings.
        CheckError: `strict`, and a finding is a warning or worse.
    """
    is_one = isinstance(sources, (str, os.PathLike)) or not isinstance(sources, Sequence)
    given: list[Source] = [sources] if is_one else list(sources)  # type: ignore[list-item, arg-type]  # a text is a sequence too
    files = [_read(source) for source in _in_order(given)]
    _require_one_rank(files)
    profile = assemble(files)
    serious = tuple(finding for finding in profile.findings if finding.severity >= Severity.WARNING)
    if strict and serious:
        raise CheckError(files[0].name, serious)
    return profile


def _read(source: Source) -> VendorFile:
    packets = Packets(open_document(source))
    events = EventReader()
    for packet in packets:
        events.take(packet)
    _require_events(packets, events)
    is_hosts = host_table(events)
    slices, counters = put_together(events, is_hosts), samples(events, is_hosts)
    return VendorFile(packets, events, is_hosts, slices, counters, _ordinal(packets.name))


def _require_events(packets: Packets, events: EventReader) -> None:
    """Refuse what is no trace, and a trace that has nothing of a profiler in it."""
    if events.time or events.samples or events.odd.total() or events.tracks.has_engine():
        return
    if packets.packet_count:
        kinds = ", ".join(f"{name} {count:,}" for name, count in events.other.most_common(3)) or "no events at all"
        reason = f"it looks like a Perfetto trace without track events ({kinds}), which no profiler of an NPU wrote"
        raise NotAProfileError(packets.name, reason)
    if is_perfetto(packets.head):
        reason = f"it ends inside its first packet, after {packets.rest_bytes:,} bytes: nothing of it can be read"
        raise TruncatedError(packets.name, reason, offset=0)
    raise NotAProfileError(packets.name, f"it {'looks like' if packets.head else 'is'} {looks_like(packets.head)}")


def _in_order(sources: Sequence[Source]) -> list[Source]:
    """The sources by the ordinals at the ends of their names; those without stay where they are, before the others."""
    return sorted(sources, key=lambda source: -1 if (found := _ordinal(_name(source))) is None else found)


def _name(source: Source) -> str:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else str(getattr(source, "name", ""))


def _ordinal(name: str) -> int | None:
    match = _FILE_NAME.fullmatch(os.path.basename(name))
    return int(match["ordinal"]) if match else None


def _require_one_rank(files: Sequence[VendorFile]) -> None:
    """Refuse files that are of several devices, or of several recordings: each rank of a job writes files of its own."""
    by_ordinal: dict[int, str] = {}
    for file in files:
        if file.ordinal is not None and by_ordinal.setdefault(file.ordinal, file.name) != file.name:
            both = f"{by_ordinal[file.ordinal]} and {file.name}"
            raise MergeError(
                f"cannot join {both}: both are file {file.ordinal} of a recording, so they are of two; give one of them"
            )
    known = [file for file in files if file.device_ordinals()]
    for file in known[1:]:
        if not file.device_ordinals() & known[0].device_ordinals():
            which = (f"{one.name} is of device {min(one.device_ordinals())}" for one in (known[0], file))
            raise MergeError(f"cannot join files of several ranks ({', '.join(which)}): give those of one")
