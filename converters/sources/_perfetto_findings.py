"""What reading files of the vendor found odd, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rblnpb.errors import Finding, Severity
from rblnpb.invariants import check, without_wild_samples
from rblnpb.profile import Loss, LossReason, Profile

from ._perfetto_clocks import Clocks
from ._perfetto_file import VendorFile
from ._perfetto_tables import FileTables

__all__ = ["checked", "losses"]

_EXPECTED: Final = frozenset({"clock-alone", "unplaced-clock", "launch-id-0", "no-launches", "not-ended"})
"""Findings about a profile of ours that are no news of the vendor's: its clock stands alone, it has no launches and no end."""

_MOST_NAMES: Final = 5


def losses(files: Sequence[VendorFile]) -> tuple[Loss, ...]:
    """Packets that the files say were lost, nobody knows of which records."""
    gaps = sum(file.events.sequences.loss_count for file in files)
    packets = sum(file.events.lost_packets for file in files)
    found = ((LossReason.UNKNOWN, gaps), (LossReason.BUFFER_FULL, packets))
    return tuple(Loss(0, reason, count, is_lower_bound=True) for reason, count in found if count)


def checked(profile: Profile, files: Sequence[VendorFile], tables: Sequence[FileTables], clocks: Clocks) -> Profile:
    """The profile with every finding about it and its files."""
    profile, wild = without_wild_samples(profile)
    own = [
        *(finding for file in files for finding in _cuts(file)),
        *_counted(files),
        *_arguments(files),
        *_joining(profile, files, tables, clocks),
    ]
    known = (finding for finding in check(profile) if finding.code not in _EXPECTED)
    return profile.replace(findings=(*own, *wild, *known))


def _cuts(file: VendorFile) -> Iterator[Finding]:
    packets = file.packets
    if packets.rest_bytes or packets.reason:
        message = (
            f"{file.name}: the last {packets.rest_bytes:,} bytes are no whole packet ({packets.reason}): "
            f"read up to byte {packets.whole_bytes:,}"
        )
        yield Finding(Severity.WARNING, "truncated", message, where=f"byte {packets.whole_bytes}")


_ODD: Final[dict[str, tuple[Severity, str, str]]] = {
    "unreadable packets": (Severity.ERROR, "unreadable-packet", "they are no packets of Perfetto's and were left out"),
    "unreadable bundles": (Severity.ERROR, "unreadable-packet", "their compressed packets are lost"),
    "cut bundles": (Severity.ERROR, "unreadable-packet", "their last packets are lost"),
    "bundles within bundles": (Severity.ERROR, "unreadable-packet", "which the format does not have; they were left out"),
    "fields that are no packet": (Severity.WARNING, "unknown-field", "they stand between packets and were passed over"),
    "packets of rblnpb's own format": (Severity.WARNING, "other-format", "they are not read here; are two files put together?"),
    "ends of gzip data": (Severity.WARNING, "cut-gzip", "the gzip data is cut or damaged, and was read as far as it goes"),
    "events without a time": (Severity.WARNING, "untimed-event", "nothing tells when they were; they were left out"),
    "events of an unknown type": (Severity.WARNING, "unknown-event", "they are no slices, instants or samples; left out"),
    "names that are not in the file": (Severity.WARNING, "lost-name", "events refer to texts that are not in the file"),
    "samples of no track": (Severity.WARNING, "untracked-sample", "they name no counter and were left out"),
    "slices without an end": (Severity.WARNING, "unclosed-slice", "how long they took is not known; they were left out"),
    "ends without a begin": (Severity.WARNING, "end-without-begin", "what they end is not in the file"),
    "flows at no slice": (Severity.WARNING, "flow-without-slice", "they lead from or to a slice that was left out"),
    "flows that end and never began": (Severity.WARNING, "flow-without-slice", "where they come from is not in the file"),
}


def _counted(files: Sequence[VendorFile]) -> Iterator[Finding]:
    """What packets and events could not give, over all files."""
    odd: Counter[str] = Counter()
    other: Counter[str] = Counter()
    for file in files:
        for one in (file.packets.odd, file.events.odd, file.slices.odd):
            odd.update(one)
        other.update(file.events.other)
    for what, (severity, code, why) in _ODD.items():
        if odd[what]:
            yield Finding(severity, code, f"{odd[what]:,} {what}: {why}", odd[what])
    lost = sum(file.events.sequences.unresolved_count for file in files)
    if lost:
        message = f"{lost:,} packets lean on packets of their writer that are not in the file: they were left out"
        yield Finding(Severity.ERROR, "lost-state", message, lost)
    if other.total():
        message = f"{other.total():,} packets of other kinds were passed over: {_names(other)}"
        yield Finding(Severity.INFO, "other-packets", message, other.total())
    bare = sum(not file.events.tracks.is_described(key) for file in files for key in file.events.track_keys)
    if bare:
        message = f"{bare:,} tracks are not described in the file: which engine they are is not known"
        yield Finding(Severity.WARNING, "undescribed-track", message, bare)


def _arguments(files: Sequence[VendorFile]) -> Iterator[Finding]:
    events = [file.events for file in files]
    parts = (
        ([one.arguments.unread + one.unread for one in events], Severity.INFO, "unread-arguments", "have no place in a profile"),
        ([one.arguments.unreadable for one in events], Severity.WARNING, "unreadable-arguments", "cannot be read"),
    )
    for counts, severity, code, why in parts:
        names = sum(counts, Counter[str]())
        if names:
            message = f"{names.total():,} arguments of slices {why} and were passed over: {_names(names)}"
            yield Finding(severity, code, message, names.total())


def _names(counts: Counter[str]) -> str:
    shown = [f"{name} {count:,}" for name, count in counts.most_common(_MOST_NAMES)]
    return ", ".join(shown) + (" …" if len(counts) > _MOST_NAMES else "")


def _joining(profile: Profile, files: Sequence[VendorFile], tables: Sequence[FileTables], clocks: Clocks) -> Iterator[Finding]:
    lost = sum(one.lost_edge_count for one in tables)
    if lost:
        message = f"{lost:,} flows lead from or to a frame around commands, which has no dependencies: they were passed over"
        yield Finding(Severity.INFO, "flow-at-frame", message, lost)
    made = sum(one.made_frame_count for one in tables)
    if made:
        message = f"{made:,} files hold one call of the runtime each and no frame: a frame of the file's name stands around each"
        yield Finding(Severity.INFO, "frames-from-files", message, made)
    if clocks.unrelated_count:
        message = f"{clocks.unrelated_count:,} clock snapshots have no clock of the host: they relate nothing"
        yield Finding(Severity.INFO, "unrelated-snapshot", message, clocks.unrelated_count)
    own = sum(clock.name.startswith("device clock of file") for clock in profile.clocks)
    if own > 1:
        message = f"the {len(files)} files lie over each other in time: each was taken to count from a zero of its own"
        yield Finding(Severity.WARNING, "files-overlap", message, own)
    mended = sum("\ufffd" in text for text in profile.strings)
    if mended:
        message = f"{mended:,} names are no UTF-8: replacement characters stand where they are not"
        yield Finding(Severity.INFO, "text-mended", message, mended)
    if not profile.session.tool_name and len(profile.device_slices):
        message = "no track is called like an engine of the vendor's profiler: what its slices do is not known"
        yield Finding(Severity.WARNING, "no-known-engine", message, len(profile.engines))
