"""What reading files of the vendor found odd, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rblnpb.errors import Finding, Severity
from rblnpb.invariants import check, without_wild_samples
from rblnpb.profile import Loss, LossReason, Profile
from rblnpb.wording import counted

from ._perfetto_categories import OUR_CATEGORIES
from ._perfetto_clocks import DEFAULT, Clocks
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
        *_hosts(files),
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
            f"{file.name}: the last {counted(packets.rest_bytes, 'byte is', 'bytes are')} no whole packet ({packets.reason}): "
            f"read up to byte {packets.whole_bytes:,}"
        )
        yield Finding(Severity.WARNING, "truncated", message, where=f"byte {packets.whole_bytes}")


def _hosts(files: Sequence[VendorFile]) -> Iterator[Finding]:
    """What of the host is in the files, which has no place in a profile."""
    for file in files:
        counts = (
            (file.slices.host_count, "slice", "slices"),
            (file.samples.host_count, "sample of a counter", "samples of counters"),
            (file.slices.host_edge_count, "flow from or to them", "flows from or to them"),
            *((file.slices.host_odd[what], one, what) for what, (_, _, one, _) in _ODD.items()),
        )
        left = ", ".join(counted(number, one, several) for number, one, several in counts if number)
        if not OUR_CATEGORIES.isdisjoint(file.events.categories):
            message = (
                f"{file.name} was written for viewers by rblnpb convert: what host and runtime did is not read here "
                f"({left or 'there is nothing'}); give the .pb or .json that it was made of"
            )
            yield Finding(Severity.WARNING, "written-for-viewers", message, max(file.host_count, 1))
        elif left:
            message = f"what the host did has no place in a profile of a device: left out of {file.name} ({left})"
            yield Finding(Severity.WARNING, "host-rows", message, file.host_count)


_ODD: Final[dict[str, tuple[Severity, str, str, str]]] = {
    "unreadable packets": (Severity.ERROR, "unreadable-packet", "unreadable packet", "none of Perfetto's, left out"),
    "unreadable bundles": (Severity.ERROR, "unreadable-packet", "unreadable bundle", "the compressed packets are lost"),
    "cut bundles": (Severity.ERROR, "unreadable-packet", "cut bundle", "the last packets are lost"),
    "bundles within bundles": (Severity.ERROR, "unreadable-packet", "bundle within a bundle", "the format has none; left out"),
    "fields that are no packet": (Severity.WARNING, "unknown-field", "field that is no packet", "between packets; passed over"),
    "packets of rblnpb's own format": (
        Severity.WARNING,
        "other-format",
        "packet of rblnpb's own format",
        "not read here; are two files put together?",
    ),
    "ends of gzip data": (
        Severity.WARNING,
        "cut-gzip",
        "end of gzip data",
        "the gzip data is cut or damaged, and was read as far as it goes",
    ),
    "events without a time": (Severity.WARNING, "untimed-event", "event without a time", "nothing tells when; left out"),
    "events of an unknown type": (
        Severity.WARNING,
        "unknown-event",
        "event of an unknown type",
        "no slice, no instant, no sample; left out",
    ),
    "names that are not in the file": (
        Severity.WARNING,
        "lost-name",
        "name that is not in the file",
        "events refer to texts that are not in the file",
    ),
    "samples of no track": (Severity.WARNING, "untracked-sample", "sample of no track", "no counter is named; left out"),
    "slices without an end": (
        Severity.WARNING,
        "unclosed-slice",
        "slice without an end",
        "nothing tells for how long; left out",
    ),
    "ends without a begin": (Severity.WARNING, "end-without-begin", "end without a begin", "what ends there is not in the file"),
    "flows at no slice": (Severity.WARNING, "flow-without-slice", "flow at no slice", "from or to a slice that was left out"),
    "flows that end and never began": (
        Severity.WARNING,
        "flow-without-slice",
        "flow that ends and never began",
        "the beginning is not in the file",
    ),
}
"""What readers count, as they call several: how grave it is, its code, what one is called, and what follows from it."""


def _counted(files: Sequence[VendorFile]) -> Iterator[Finding]:
    """What packets and events could not give, over all files."""
    odd: Counter[str] = Counter()
    other: Counter[str] = Counter()
    for file in files:
        for counts in (file.packets.odd, file.events.odd, file.slices.odd):
            odd.update(counts)
        other.update(file.events.other)
    for what, (severity, code, one, why) in _ODD.items():
        if odd[what]:
            yield Finding(severity, code, f"{counted(odd[what], one, what)}: {why}", odd[what])
    lost = sum(file.events.sequences.unresolved_count for file in files)
    if lost:
        leaning = counted(lost, "packet leans", "packets lean")
        message = f"{leaning} on others of the same writer that are not in the file: left out"
        yield Finding(Severity.ERROR, "lost-state", message, lost)
    if other.total():
        message = (
            f"{counted(other.total(), 'packet of another kind was', 'packets of other kinds were')} passed over: {_names(other)}"
        )
        yield Finding(Severity.INFO, "other-packets", message, other.total())
    bare = sum(not file.events.tracks.is_described(key) for file in files for key in file.device_tracks())
    if bare:
        message = f"{counted(bare, 'track is', 'tracks are')} not described in the file: nothing tells the engine"
        yield Finding(Severity.WARNING, "undescribed-track", message, bare)


def _arguments(files: Sequence[VendorFile]) -> Iterator[Finding]:
    unread = [_of_devices(file, file.events.unread) for file in files]
    unreadable = [_of_devices(file, file.events.unreadable) for file in files]
    parts = (
        (unread, Severity.INFO, "unread-arguments", "without a place in a profile"),
        (unreadable, Severity.WARNING, "unreadable-arguments", "that cannot be read"),
    )
    for counts, severity, code, why in parts:
        names = sum(counts, Counter[str]())
        if names:
            message = f"passed over {counted(names.total(), 'argument')} of slices {why}: {_names(names)}"
            yield Finding(severity, code, message, names.total())


def _of_devices(file: VendorFile, counts: Counter[tuple[int, int, str]]) -> Counter[str]:
    """How often each name is told of events that are not the host's."""
    found: Counter[str] = Counter()
    for (track, category, name), count in counts.items():
        found[name] += 0 if file.is_hosts[track, category] else count
    return +found


def _names(counts: Counter[str]) -> str:
    shown = [f"{name} {count:,}" for name, count in counts.most_common(_MOST_NAMES)]
    return ", ".join(shown) + (" …" if len(counts) > _MOST_NAMES else "")


def _joining(profile: Profile, files: Sequence[VendorFile], tables: Sequence[FileTables], clocks: Clocks) -> Iterator[Finding]:
    lost = sum(one.lost_edge_count for one in tables)
    if lost:
        leading = counted(lost, "flow leads", "flows lead")
        message = f"{leading} from or to a frame around commands, which has no dependencies: passed over"
        yield Finding(Severity.INFO, "flow-at-frame", message, lost)
    made = sum(one.made_frame_count for one in tables)
    if made:
        message = (
            f"{counted(made, 'file holds', 'files hold')} one call of the runtime each and no frame: a frame of the file's name "
            "stands around each"
        )
        yield Finding(Severity.INFO, "frames-from-files", message, made)
    if clocks.unrelated_count:
        message = f"{counted(clocks.unrelated_count, 'clock snapshot')} without a clock of the host: nothing is related by that"
        yield Finding(Severity.INFO, "unrelated-snapshot", message, clocks.unrelated_count)
    own = sum(file >= 0 and number == DEFAULT for file, _, number in clocks.ids)
    if own > 1:
        message = f"the {len(files)} files lie over each other in time: each was taken to count from a zero of its own"
        yield Finding(Severity.WARNING, "files-overlap", message, own)
    mended = sum("\ufffd" in text for text in profile.strings)
    if mended:
        message = f"{counted(mended, 'name is', 'names are')} no UTF-8: replacement characters stand in the place of what is none"
        yield Finding(Severity.INFO, "text-mended", message, mended)
    if not profile.session.tool_name and len(profile.device_slices):
        message = "no track is called like an engine of the vendor's profiler: what its slices do is not known"
        yield Finding(Severity.WARNING, "no-known-engine", message, len(profile.engines))
