"""One session from its packets: what is whole becomes a profile, what is not becomes a counted finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

import numpy as np

from rblnpb import codec as wire
from rblnpb.columns import CHUNK_LIMIT, Dependencies, DeviceSlices, Int64, Launches, Table, TextArray, frozen
from rblnpb.container import BODY_NAMES, SCHEMA_VERSION, Buffer, Frame
from rblnpb.errors import Finding, FormatError, Severity
from rblnpb.invariants import check, without_wild_samples
from rblnpb.profile import KINDS, HostActivity, OverheadKind, Profile
from rblnpb.references import Fault, ReferenceLimits, fault_findings, mended, reference_limits
from rblnpb.slice_facts import SliceFacts
from rblnpb.stored_slices import StoredChunk, StoredSlices
from rblnpb.wording import counted

__all__ = ["Budget", "TableBuilder", "assemble"]

_FREE_BYTES: Final = 2 << 30
_EXPANSION: Final = 1_000
"""A file may fill _FREE_BYTES of memory, or this many times its own size. More is a bomb: a few bytes can claim a full chunk."""


class Budget:
    """Memory that the records of one file may fill, those of all its sessions together."""

    def __init__(self, name: str, file_bytes: int) -> None:
        """For the file of this name and size."""
        self.name = name
        self._file_bytes = file_bytes
        self._allowed_bytes = max(_FREE_BYTES, _EXPANSION * file_bytes)
        self._spent_bytes = 0

    def spend(self, size_bytes: int) -> None:
        """Count memory that records need, before it is taken where their number tells it.

        Raises:
            FormatError: It is more than is left.
        """
        self._spent_bytes += size_bytes
        if self._spent_bytes > self._allowed_bytes:
            reason = (
                f"its chunks claim more than {self._allowed_bytes:,} bytes of records, which {self._file_bytes:,} bytes do not "
                "hold: it is made to fill the memory (rblnpb.open_profile reads it chunk by chunk)"
            )
            raise FormatError(self.name, reason)


AnyTable = TypeVar("AnyTable", bound=Table)
Place = tuple[Frame, wire.ChunkHead]


def assemble(
    data: Buffer,
    session_id: int,
    frames: Sequence[Frame],
    file_findings: Sequence[Finding],
    budget: Budget,
    *,
    keeps_slices: bool = True,
) -> tuple[Profile, StoredSlices]:
    """The profile that the packets of one session make, checked, and its device slices where they stand.

    Args:
        data: All of the input.
        session_id: The session.
        frames: Its packets, in file order, at least one.
        file_findings: What is odd about the file as a whole.
        budget: Of the file; what the records take is spent.
        keeps_slices: Whether the profile holds its device slices too. Without them its findings are the same.

    Raises:
        FormatError: The chunks claim more memory than a file of this size may.
    """
    reading = _Reading(data, budget, keeps_slices)
    for frame in _in_sequence(reading, frames):
        reading.read(frame)
    reading.findings.extend(file_findings)
    if reading.header is None:
        reading.note(Severity.ERROR, "no-header", "the session has no readable header: what it says of itself is unknown")
        reading.header = wire.parse("header", b"")
    tables = reading.tables
    profile = Profile(
        session=wire.session(session_id, reading.header, reading.closing, reading.unknowns),
        strings=tuple(tables.strings),
        clocks=tuple(tables.clocks),
        devices=tuple(tables.devices),
        engines=tuple(tables.engines),
        programs=tuple(tables.programs),
        commands=tables.commands(),
        threads=tuple(tables.threads),
        clock_snapshots=tuple(reading.snapshots),
        losses=tuple(reading.losses),
        trace_document=reading.document,
        is_complete=reading.closing is not None,
    )
    return _with_records(profile, reading)


def _with_records(profile: Profile, reading: _Reading) -> tuple[Profile, StoredSlices]:
    """The profile with its records and with every finding."""
    tables: dict[str, Any] = {}
    faults: list[Fault] = []
    counts: dict[int, int] = {}
    limits = reference_limits(profile, 0)
    launches, found = mended(reading.records(Launches), limits)
    faults += found
    slices, stored, facts, found = _slices(reading, launches, limits)
    faults += found
    limits = reference_limits(profile, facts.count)
    for table in KINDS.values():
        if table is Launches or table is DeviceSlices:
            continue
        records = reading.records(table)
        counts[table.kind] = len(records)
        if isinstance(records, Dependencies):
            records = _by_row(records, stored)
        tables[table.label], found = mended(records, limits)
        faults += found
    counts |= {Launches.kind: len(launches), DeviceSlices.kind: facts.count}
    profile = profile.replace(launches=launches, **tables)
    _note_totals(counts, reading)
    _note_unknown(profile, reading)
    profile, wild = without_wild_samples(profile)
    wild_ids, dangling = (fault_findings(fault for fault in faults if fault.is_wild is is_wild) for is_wild in (True, False))
    findings = (*reading.findings, *wild_ids, *wild, *dangling, *check(profile, facts))
    return profile.replace(device_slices=slices, findings=findings), StoredSlices(reading.budget.name, reading.data, stored, limits)


def _slices(
    reading: _Reading, launches: Launches, limits: ReferenceLimits
) -> tuple[DeviceSlices, list[StoredChunk], SliceFacts, list[Fault]]:
    """The device slices if they are kept; the chunks that can be read; what the checks ask of them; what is wrong with them."""
    facts = SliceFacts(launches)
    stored: list[StoredChunk] = []
    faults: list[Fault] = []
    places = reading.chunks.get(DeviceSlices.kind, [])
    builder = TableBuilder(DeviceSlices, reading.capacity(DeviceSlices) if reading.keeps_slices else 0)
    for frame, head in places:
        part = reading.chunk_records(frame, DeviceSlices)
        if part is None:
            continue
        block, found = mended(part, limits, facts.count)
        faults += found
        stored.append(StoredChunk(frame, head.first_ordinal, facts.count, len(block)))
        facts.add(block)
        if reading.keeps_slices:
            builder.append(block)
    return builder.table(), stored, facts, faults


class TableBuilder(Generic[AnyTable]):
    """Collects parts of one table in arrays of the final size, so that a large file is held once, not twice."""

    def __init__(self, table: type[AnyTable], capacity: int) -> None:
        """Room for `capacity` records of the kind."""
        self._table = table
        self._count = 0
        self._arrays = {name: np.empty(capacity, dtype) for name, (dtype, _) in table.schema().items() if dtype is not None}
        self._texts: dict[str, list[TextArray]] = {name: [] for name, (dtype, _) in table.schema().items() if dtype is None}

    def append(self, part: AnyTable) -> None:
        """Take the records of a part of the same kind; they must fit the capacity."""
        stop = self._count + len(part)
        for name, array in self._arrays.items():
            array[self._count : stop] = getattr(part, name)
        for name, texts in self._texts.items():
            texts.append(getattr(part, name))
        self._count = stop

    def table(self) -> AnyTable:
        """What was collected, in the order it came."""
        arrays: dict[str, Any] = {name: frozen(array[: self._count]) for name, array in self._arrays.items()}
        return self._table(**arrays, **{name: TextArray.concat(texts) for name, texts in self._texts.items()})


@dataclass
class _Reading:
    """State of assembling one session."""

    data: Buffer
    budget: Budget
    keeps_slices: bool
    header: Any = None
    closing: Any = None
    unknowns: wire.Unknowns = field(default_factory=wire.Unknowns)
    findings: list[Finding] = field(default_factory=list)
    chunks: dict[int, list[Place]] = field(default_factory=dict)
    odd: Counter[str] = field(default_factory=Counter)
    snapshots: list[Any] = field(default_factory=list)
    losses: list[Any] = field(default_factory=list)
    document: Any = None

    def __post_init__(self) -> None:
        self.tables = wire.Tables(self.unknowns)

    def note(self, severity: Severity, code: str, message: str, count: int = 1, where: str = "") -> None:
        self.findings.append(Finding(severity, code, message, count, where))

    def read(self, frame: Frame) -> None:
        """Keep what a packet says; of a chunk, where it stands."""
        body = BODY_NAMES.get(frame.body)
        try:
            if body is None:
                self.odd[f"packets of body {frame.body}"] += 1
            elif body == "chunk":
                self.place_chunk(frame, wire.chunk_head(self.data, frame.start, frame.end))
            else:
                self.take(body, wire.parse(body, self.data[frame.start : frame.end]))
        except wire.CodecError as error:
            self.leave_out(frame, str(body), error)

    def take(self, body: str, message: Any) -> None:
        """Keep what a small message says."""
        if body == "header":
            self.header = self.header or message
        elif body == "definitions":
            self.tables.add(message)
        elif body == "clock_snapshots":
            self.snapshots += wire.clock_snapshots(message)
        elif body == "losses":
            self.losses += wire.losses(message, self.unknowns)
        elif body == "trace_document":
            self.document = wire.trace_document(message)
            self.budget.spend(len(self.document.head) + len(self.document.tail))
        else:
            self.closing = message
        self.unknowns.look_into(message)

    def place_chunk(self, frame: Frame, head: wire.ChunkHead) -> None:
        """Keep where the records of a chunk are, or count them when their kind is not known."""
        if head.kind not in KINDS:
            self.odd[f"records of kind {head.kind}"] += max(min(head.count, CHUNK_LIMIT), 1)
            return
        self.chunks.setdefault(head.kind, []).append((frame, head))
        if head.kind == DeviceSlices.kind and not self.keeps_slices:
            return
        widths = (dtype.itemsize for dtype, _ in KINDS[head.kind].schema().values() if dtype is not None)
        self.budget.spend(min(head.count, CHUNK_LIMIT) * sum(widths))

    def capacity(self, table: type[Table]) -> int:
        """Most records of a kind that the chunks can hold."""
        return sum(min(head.count, CHUNK_LIMIT) for _, head in self.chunks.get(table.kind, []))

    def records(self, table: type[AnyTable]) -> AnyTable:
        """The records of a kind in all chunks that can be read, in the order of their packets."""
        builder = TableBuilder(table, self.capacity(table))
        for frame, _ in self.chunks.get(table.kind, []):
            part = self.chunk_records(frame, table)
            if part is not None:
                builder.append(part)
        return builder.table()

    def chunk_records(self, frame: Frame, table: type[AnyTable]) -> AnyTable | None:
        """The records of a chunk; None when it cannot be read, which is noted."""
        try:
            head, part = wire.decode_chunk(self.data, frame.start, frame.end)
        except wire.CodecError as error:
            self.leave_out(frame, "chunk", error)
            return None
        assert isinstance(part, table)  # its kind was looked at before
        for number in head.unknown_columns:
            self.odd[f"column {number} of {table.label}"] += 1
        self.budget.spend(sum(len(getattr(part, name).text) for name, (dtype, _) in table.schema().items() if dtype is None))
        return part

    def leave_out(self, frame: Frame, body: str, reason: Exception) -> None:
        """Note a packet that cannot be read."""
        place = f"byte {frame.offset}"
        self.note(Severity.ERROR, "unreadable-packet", f"a {body} packet at {place} was left out: {reason}", where=place)


def _in_sequence(reading: _Reading, frames: Sequence[Frame]) -> Iterator[Frame]:
    """The intact packets of a session in the order of their ordinals, each once; what is odd about them is noted."""
    seen: dict[int, Frame | None] = {}
    repeated = contradicting = 0
    # Buffers that are flushed by several threads may stand in another order than they were filled in.
    ordered = sorted(frames, key=lambda frame: frame.sequence)
    for frame in ordered:
        known = seen.get(frame.sequence)
        if not frame.is_intact(reading.data):
            seen.setdefault(frame.sequence, None)
            place, body = f"byte {frame.offset}", BODY_NAMES.get(frame.body, "unknown")
            message = f"a {body} packet at {place} does not have its checksum: it was left out"
            reading.note(Severity.ERROR, "damaged-packet", message, where=place)
        elif known is None:
            seen[frame.sequence] = frame
            yield frame
        elif known.body == frame.body and _content(reading, known) == _content(reading, frame):
            repeated += 1
        else:
            contradicting += 1
            yield frame
    if ordered != list(frames):
        moved = sum(mine is not theirs for mine, theirs in zip(ordered, frames, strict=True))
        message = (
            f"{counted(moved, 'packet does', 'packets do')} not stand in the order of the ordinals: all were read in that order"
        )
        reading.note(Severity.INFO, "packets-out-of-order", message, moved)
    if repeated:
        standing = counted(repeated, "packet stands", "packets stand")
        message = f"{standing} twice in the file, as when a buffer is written again: each was read once"
        reading.note(Severity.WARNING, "repeated-packet", message, repeated)
    if contradicting:
        message = (
            f"{counted(contradicting, 'packet has', 'packets have')} the ordinal of another one: two writers used one session id"
        )
        reading.note(Severity.ERROR, "two-writers", message, contradicting)
    missing = max(seen) + 1 - len(seen)
    if missing:
        message = f"{counted(missing, 'packet is', 'packets are')} missing between the others: records or definitions are lost"
        reading.note(Severity.ERROR, "missing-packet", message, missing)


def _content(reading: _Reading, frame: Frame) -> Buffer:
    return reading.data[frame.start : frame.end]


def _by_row(dependencies: Dependencies, stored: Sequence[StoredChunk]) -> Dependencies:
    """The dependencies by rows of the device slices that can be read; -1 where the chunk of a slice is missing.

    Args:
        dependencies: By ordinals in the session.
        stored: The chunks of the slices.
    """
    counts = np.array([chunk.count for chunk in stored], np.int64)
    starts = np.array([chunk.first_row for chunk in stored], np.int64)
    # An ordinal that no int64 holds is of no record.
    firsts = np.array([min(chunk.first_ordinal, 1 << 62) for chunk in stored], np.int64)
    if np.array_equal(firsts, starts):
        return dependencies
    order = np.argsort(firsts, kind="stable")

    def rows(ordinals: Int64) -> Int64:
        at = np.searchsorted(firsts[order], ordinals, side="right") - 1
        chunk = order[np.maximum(at, 0)]
        inside = ordinals - firsts[chunk]
        found: Int64 = np.where((at >= 0) & (inside < counts[chunk]), starts[chunk] + inside, -1)
        return found

    return Dependencies.of(
        predecessor_ordinal=rows(dependencies.predecessor_ordinal), successor_ordinal=rows(dependencies.successor_ordinal)
    )


def _note_totals(counts: Mapping[int, int], reading: _Reading) -> None:
    if reading.closing is None:
        return
    for total in reading.closing.totals:
        if total.kind in KINDS and total.written != counts[total.kind]:
            label = KINDS[total.kind].label
            message = f"{counts[total.kind]:,} {label} were read, the closing packet says {total.written:,}"
            reading.note(Severity.ERROR, "total-differs", message, abs(total.written - counts[total.kind]), label)


def _note_unknown(profile: Profile, reading: _Reading) -> None:
    for enum, values in ((HostActivity, profile.host_slices.activity), (OverheadKind, profile.overheads.overhead)):
        for value, count in zip(*np.unique(values[values > max(enum)], return_counts=True), strict=True):
            reading.unknowns.counts[f"{enum.__name__} {value}"] += int(count)
    for what, count in sorted(reading.unknowns.counts.items()):
        reading.note(Severity.WARNING, "unknown-value", f"{what} is not known to this version: it has no name", count)
    for what, count in sorted(reading.odd.items()):
        reading.note(Severity.WARNING, "unknown-field", f"{count:,} {what} are not known to this version: passed over", count)
    for what, count in sorted(reading.unknowns.fields.items()):
        message = f"{counted(count, f'field of {what} is', f'fields of {what} are')} not known to this version: passed over"
        reading.note(Severity.WARNING, "unknown-field", message, count)
    dangling = reading.unknowns.dangling_texts
    if dangling:
        names = counted(dangling, "name of a definition refers", "names of definitions refer")
        message = f"{names} to strings that are not there: left empty"
        reading.note(Severity.ERROR, "dangling-definition", message, dangling, "strings")
    major, minor = profile.session.schema_version
    if (major, minor) > SCHEMA_VERSION:
        message = f"a newer schema ({major}.{minor}) wrote it; what only that knows was passed over"
        reading.note(Severity.INFO, "newer-schema", message)
