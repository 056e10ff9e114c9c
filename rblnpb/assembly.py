"""One session from its packets: what is whole becomes a profile, what is not becomes a counted finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from rblnpb import codec as wire
from rblnpb.clock import clock_maps
from rblnpb.columns import Dependencies, DeviceSlices, Int64, Launches, Table, UInt64
from rblnpb.container import BODY_NAMES, SCHEMA_VERSION, Buffer, Frame
from rblnpb.errors import Finding, Severity
from rblnpb.invariants import check, without_wild_samples
from rblnpb.limits import Budget
from rblnpb.profile import KINDS, HostActivity, Loss, LossReason, OverheadKind, Profile
from rblnpb.record_times import TIMED_KINDS, bounds
from rblnpb.references import Fault, ReferenceLimits, fault_findings, mended, reference_limits
from rblnpb.session_packets import PlacedChunk, SessionPackets
from rblnpb.slice_facts import SliceFacts
from rblnpb.stored_slices import StoredChunk, StoredSlices, rows_of_ordinals
from rblnpb.table_builder import TableBuilder
from rblnpb.windows import Window
from rblnpb.wording import counted

__all__ = ["SessionSource", "assemble", "session_bounds"]

AnyTable = TypeVar("AnyTable", bound=Table)
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SessionSource:
    """Where a session comes from.

    Attributes:
        data: All of the input.
        session_id: The session.
        frames: Its packets, in file order, at least one.
        file_findings: What is odd about the file as a whole.
    """

    data: Buffer
    session_id: int
    frames: Sequence[Frame]
    file_findings: Sequence[Finding] = ()


def assemble(
    source: SessionSource, budget: Budget, *, keeps_slices: bool = True, window: tuple[int, int] | None = None
) -> tuple[Profile, StoredSlices]:
    """The profile that the packets of one session make, checked, and its device slices where they stand.

    Args:
        source: The packets.
        budget: Of the file; what the records take is spent.
        keeps_slices: Whether the profile holds its device slices too. Without them its findings are the same.
        window: First moment and the one after the last, host monotonic ns; None: all records.

    Raises:
        FormatError: The chunks claim more memory than a file of this size may.
    """
    packets, profile = _opened(source, budget, keeps_slices=keeps_slices)
    stretch = None if window is None else Window(*window, clock_maps(profile.clocks, profile.clock_snapshots))
    ordered = _ordered(source)
    packets.place_chunks((frame for frame in ordered if _is_chunk(frame)), stretch)
    packets.note_order(source.frames, ordered)
    packets.findings.extend(source.file_findings)
    if stretch is not None:
        message = (
            f"read were records from {stretch.start_ns:,} to {stretch.end_ns:,} ns of the host's monotonic clock and the launches "
            "of these: counts are of this window alone"
        )
        packets.note(Severity.INFO, "window", message)
    if packets.header is None:
        packets.note(Severity.ERROR, "no-header", "the session has no readable header: what it says of itself is unknown")
    return _Assembly(packets, profile, budget.name, stretch).result()


def session_bounds(source: SessionSource, budget: Budget) -> tuple[int, int] | None:
    """First start and last end of the records of a session, host monotonic ns; None when none of them can be placed.

    The index tells them, and the chunks that it does not tell of are read; what is damaged in those is passed over.

    Raises:
        FormatError: As for `assemble`.
    """
    packets, profile = _opened(source, budget, keeps_slices=False)
    maps = clock_maps(profile.clocks, profile.clock_snapshots)
    packets.place_chunks((frame for frame in _ordered(source) if _is_chunk(frame)), None)
    index = packets.index()
    found: list[tuple[int, int]] = []
    for placed in (chunk for chunks in packets.chunks.values() for chunk in chunks):
        told = index.bounds(placed.frame, placed.head)
        is_asked = not told and placed.head.kind in TIMED_KINDS
        part = _decoded(packets, placed, KINDS[placed.head.kind]) if is_asked else None
        start_ns, end_ns = told or (bounds(part, maps) if part is not None else (None, None))
        if start_ns is not None and end_ns is not None:
            found.append((start_ns, end_ns))
    return (min(start for start, _ in found), max(end for _, end in found)) if found else None


def _is_chunk(frame: Frame) -> bool:
    return BODY_NAMES.get(frame.body) == "chunk"


def _ordered(source: SessionSource) -> list[Frame]:
    # Buffers that are flushed by several threads may stand in another order than they were filled in.
    return sorted(source.frames, key=lambda frame: frame.sequence)


def _opened(source: SessionSource, budget: Budget, *, keeps_slices: bool) -> tuple[SessionPackets, Profile]:
    """The packets with the small ones read, and the profile that they make."""
    packets = SessionPackets(source.data, budget, keeps_slices)
    packets.read_small(frame for frame in _ordered(source) if not _is_chunk(frame))
    tables = packets.tables
    header = wire.parse("header", b"") if packets.header is None else packets.header
    return packets, Profile(
        session=wire.session(source.session_id, header, packets.closing, packets.unknowns),
        strings=tuple(tables.strings),
        clocks=tuple(tables.clocks),
        devices=tuple(tables.devices),
        engines=tuple(tables.engines),
        programs=tuple(tables.programs),
        commands=tables.commands(),
        threads=tuple(tables.threads),
        clock_snapshots=tuple(packets.snapshots),
        losses=tuple(_losses(packets)),
        trace_document=packets.document,
        is_complete=packets.closing is not None,
    )


def _losses(packets: SessionPackets) -> Iterator[Loss]:
    """The losses, and behind them what the totals count besides: of these the file had no room to say more."""
    told: Counter[int] = Counter()
    for loss in packets.losses:
        told[loss.kind] += loss.count
        yield loss
    for total in packets.closing.totals if packets.closing is not None else ():
        untold = total.dropped - told[total.kind]
        if untold > 0:
            told[total.kind] += untold
            yield Loss(total.kind, LossReason.UNKNOWN, untold)


def _decoded(packets: SessionPackets, placed: PlacedChunk, table: type[AnyTable]) -> AnyTable | None:
    """The records of a chunk; None when it cannot be read, which is noted."""
    try:
        text_bytes = packets.budget.limits.text_bytes
        head, part = wire.decode_chunk(packets.data, placed.frame.start, placed.frame.end, text_bytes=text_bytes)
    except wire.CodecError as error:
        packets.leave_out(placed.frame, "chunk", error)
        return None
    assert isinstance(part, table)  # its kind was looked at before
    for number in head.unknown_columns:
        packets.odd["column", f"{number} of {table.label}"] += 1
    for name, count in head.unknown_fields:
        packets.unknowns.fields[name] += count
    packets.budget.spend(sum(len(getattr(part, name).text) for name, (dtype, _) in table.schema().items() if dtype is None))
    return part


@dataclass
class _Assembly:
    """Records of one session on their way into its profile.

    Attributes:
        packets: Read and placed.
        profile: What it defines, without records.
        name: Of the input.
        window: Outside of which records are left out; None: all are read.
    """

    packets: SessionPackets
    profile: Profile
    name: str
    window: Window | None
    facts: SliceFacts = field(default_factory=SliceFacts)
    faults: list[Fault] = field(default_factory=list)
    counts: dict[int, int] = field(default_factory=dict)

    def result(self) -> tuple[Profile, StoredSlices]:
        """The profile with its records and with every finding, and the device slices where they stand."""
        limits = reference_limits(self.profile, 0)
        slices, stored = self._slices(limits)
        limits = reference_limits(self.profile, self.facts.count)
        tables: dict[str, Any] = {}
        for table in KINDS.values():
            # Launches come last: which of them are wanted is known when the others are there.
            if table is not DeviceSlices and table is not Launches:
                tables[table.label] = self._records(table, limits, stored)
        tables[Launches.label] = self._launches(limits, tables)
        profile = self.profile.replace(**tables)
        packets = self.packets
        if self.window is None:
            _note_totals(self.counts, packets)
        _note_unknown(profile, packets)
        profile, wild = without_wild_samples(profile)
        wild_ids, dangling = (fault_findings(fault for fault in self.faults if fault.is_wild is one) for one in (True, False))
        findings = (*packets.findings, *wild_ids, *wild, *dangling, *check(profile, self.facts))
        return profile.replace(device_slices=slices, findings=findings), StoredSlices(self.name, packets.data, stored, limits)

    def _slices(self, limits: ReferenceLimits) -> tuple[DeviceSlices, list[StoredChunk]]:
        """The device slices, if memory is taken for them, and the chunks in which they are."""
        stored: list[StoredChunk] = []
        chunks = self.packets.chunks.get(DeviceSlices.kind, [])
        keeps = self.packets.keeps_slices
        builder = TableBuilder(DeviceSlices, sum(placed.count for placed in chunks) if keeps else 0)
        for placed in chunks:
            part = _decoded(self.packets, placed, DeviceSlices)
            rows = None if part is None or self.window is None else _rows(self.window.mask(part))
            if part is None or (rows is not None and not len(rows)):
                continue
            part, found = mended(part if rows is None else part.take(rows), limits, self.facts.count)
            self.faults += found
            stored.append(StoredChunk(placed.frame, placed.head.first_ordinal, self.facts.count, len(part), rows))
            self.facts.add(part)
            if keeps:
                builder.append(part)
        self.counts[DeviceSlices.kind] = self.facts.count
        return builder.table(), stored

    def _records(self, table: type[AnyTable], limits: ReferenceLimits, stored: Sequence[StoredChunk]) -> Table:
        """The records of a kind, of a window those that overlap it."""
        chunks = self.packets.chunks.get(table.kind, [])
        builder = TableBuilder(table, sum(placed.count for placed in chunks))
        for placed in chunks:
            part = _decoded(self.packets, placed, table)
            if part is not None:
                rows = None if self.window is None else _rows(self.window.mask(part))
                builder.append(part if rows is None else part.take(rows))
        records: Table = builder.table()
        self.counts[table.kind] = len(records)
        if isinstance(records, Dependencies):
            records = self._by_row(records, stored)
        whole, found = mended(records, limits)
        self.faults += found
        return whole

    def _by_row(self, dependencies: Dependencies, stored: Sequence[StoredChunk]) -> Dependencies:
        """The dependencies by rows of the device slices that are there; of a window, those between its slices."""
        if self.window is not None:
            # Most are of slices outside of the window, which their ordinals tell.
            edges = [edge for chunk in stored for edge in chunk.ordinals()[[0, -1]].tolist()]
            ends = np.stack((dependencies.predecessor_ordinal, dependencies.successor_ordinal))
            is_near = (ends >= min(edges, default=0)) & (ends <= max(edges, default=-1))
            dependencies = dependencies.take(is_near[0] & is_near[1])
        by_row = Dependencies.of(
            predecessor_ordinal=rows_of_ordinals(stored, dependencies.predecessor_ordinal),
            successor_ordinal=rows_of_ordinals(stored, dependencies.successor_ordinal),
        )
        if self.window is None:
            return by_row
        return by_row.take((by_row.predecessor_ordinal >= 0) & (by_row.successor_ordinal >= 0))

    def _launches(self, limits: ReferenceLimits, tables: Mapping[str, Any]) -> Launches:
        """The launches; of a window, those in it and those of other records in it, whenever they were."""
        chunks = self.packets.chunks.get(Launches.kind, [])
        builder = TableBuilder(Launches, sum(placed.count for placed in chunks))
        named = _named_launches(self.facts, tables) if self.window else np.empty(0, np.uint64)
        for placed in chunks:
            if placed.is_outside and not self._names_any(placed, named):
                continue
            part = _decoded(self.packets, placed, Launches)
            if part is None:
                continue
            if self.window is not None:
                mask = np.isin(part.launch_id, named)
                inside = None if placed.is_outside else self.window.mask(part)
                part = part.take(mask if inside is None else mask | inside)
            builder.append(part)
        self.counts[Launches.kind] = len(builder.table())
        launches, found = mended(builder.table(), limits)
        self.faults += found
        return launches

    def _names_any(self, placed: PlacedChunk, named: UInt64) -> bool:
        """Whether a chunk has one of the launches; one that cannot be read does, so that it is noted."""
        try:
            _, part = wire.decode_chunk(self.packets.data, placed.frame.start, placed.frame.end, only="launch_id")
        except wire.CodecError:
            return True
        return isinstance(part, Launches) and bool(np.isin(part.launch_id, named).any())


def _rows(mask: Mask | None) -> Int64 | None:
    """The rows that a mask keeps; None: all."""
    return None if mask is None or mask.all() else np.flatnonzero(mask)


def _named_launches(facts: SliceFacts, tables: Mapping[str, Any]) -> UInt64:
    """Ids of the launches that records other than launches name, ascending, without 0."""
    ids = np.unique(np.concatenate((facts.launch_ids(), tables["workload_slices"].launch_id, tables["host_slices"].launch_id)))
    named: UInt64 = ids[ids != 0]
    return named


def _note_totals(counts: Mapping[int, int], packets: SessionPackets) -> None:
    if packets.closing is None:
        return
    for total in packets.closing.totals:
        if total.kind in KINDS and total.written != counts[total.kind]:
            label = KINDS[total.kind].label
            message = f"{counts[total.kind]:,} {label} were read, the closing packet says {total.written:,}"
            packets.note(Severity.ERROR, "total-differs", message, abs(total.written - counts[total.kind]), label)


def _note_unknown(profile: Profile, packets: SessionPackets) -> None:
    for enum, values in ((HostActivity, profile.host_slices.activity), (OverheadKind, profile.overheads.overhead)):
        for value, count in zip(*np.unique(values[values > max(enum)], return_counts=True), strict=True):
            packets.unknowns.counts[f"{enum.__name__} {value}"] += int(count)
    for what, count in sorted(packets.unknowns.counts.items()):
        packets.note(Severity.WARNING, "unknown-value", f"{what} is not known to this version: it has no name", count)
    fields = ((("field", f"of {name}"), count) for name, count in sorted(packets.unknowns.fields.items()))
    for (noun, which), count in (*sorted(packets.odd.items()), *fields):
        standing = counted(count, f"{noun} {which} is", f"{noun}s {which} are")
        packets.note(Severity.WARNING, "unknown-field", f"{standing} not known to this version: passed over", count)
    dangling = packets.unknowns.dangling_texts
    if dangling:
        names = counted(dangling, "name of a definition refers", "names of definitions refer")
        message = f"{names} to strings that are not there: left empty"
        packets.note(Severity.ERROR, "dangling-definition", message, dangling, "strings")
    major, minor = profile.session.schema_version
    if (major, minor) > SCHEMA_VERSION:
        message = f"a newer schema ({major}.{minor}) wrote it; what only that knows was passed over"
        packets.note(Severity.INFO, "newer-schema", message)
