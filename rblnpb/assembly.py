"""One session from its packets: what is whole becomes a profile, what is not becomes a counted finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from rblnpb import codec as wire
from rblnpb.columns import CHUNK_LIMIT, Dependencies, DeviceSlices, Int64, Table, TextArray, frozen
from rblnpb.container import BODY_NAMES, SCHEMA_VERSION, Buffer, Frame
from rblnpb.errors import Finding, FormatError, Severity
from rblnpb.invariants import check, without_dangling, without_wild_launches, without_wild_samples
from rblnpb.profile import KINDS, HostActivity, OverheadKind, Profile
from rblnpb.wording import counted

__all__ = ["Budget", "TableBuilder", "assemble"]

_FREE_BYTES: Final = 2 << 30
_EXPANSION: Final = 1_000
"""A file may fill _FREE_BYTES of memory, or this many times its own size. More is a bomb: a few bytes can claim a full chunk."""


class Budget:
    """Memory that the records of one file may fill, those of all its sessions together."""

    def __init__(self, name: str, file_bytes: int) -> None:
        """For the file of this name and size."""
        self._name = name
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
            raise FormatError(self._name, reason)


Place = tuple[Frame, wire.ChunkHead]


def assemble(data: Buffer, session_id: int, frames: Sequence[Frame], file_findings: Sequence[Finding], budget: Budget) -> Profile:
    """The profile that the packets of one session make, checked.

    Args:
        data: All of the input.
        session_id: The session.
        frames: Its packets, in file order, at least one.
        file_findings: What is odd about the file as a whole.
        budget: Of the file; what the records take is spent.

    Raises:
        FormatError: The chunks claim more memory than a file of this size may.
    """
    reading = _Reading(data, budget)
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
        **reading.records(),
    )
    _note_totals(profile, reading)
    _note_unknown(profile, reading)
    profile, wild_launches = without_wild_launches(profile)
    profile, wild = without_wild_samples(profile)
    profile, dangling = without_dangling(profile)
    return profile.replace(findings=(*reading.findings, *wild_launches, *wild, *dangling, *check(profile)))


class TableBuilder:
    """Collects parts of one table in arrays of the final size, so that a large file is held once, not twice."""

    def __init__(self, table: type[Table], capacity: int) -> None:
        """Room for `capacity` records of the kind."""
        self._table = table
        self._count = 0
        self._arrays = {name: np.empty(capacity, dtype) for name, (dtype, _) in table.schema().items() if dtype is not None}
        self._texts: dict[str, list[TextArray]] = {name: [] for name, (dtype, _) in table.schema().items() if dtype is None}

    def append(self, part: Table) -> None:
        """Take the records of a part of the same kind; they must fit the capacity."""
        stop = self._count + len(part)
        for name, array in self._arrays.items():
            array[self._count : stop] = getattr(part, name)
        for name, texts in self._texts.items():
            texts.append(getattr(part, name))
        self._count = stop

    def table(self) -> Table:
        """What was collected, in the order it came."""
        arrays: dict[str, Any] = {name: frozen(array[: self._count]) for name, array in self._arrays.items()}
        return self._table(**arrays, **{name: TextArray.concat(texts) for name, texts in self._texts.items()})


@dataclass
class _Reading:
    """State of assembling one session."""

    data: Buffer
    budget: Budget
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
        widths = (dtype.itemsize for dtype, _ in KINDS[head.kind].schema().values() if dtype is not None)
        self.budget.spend(min(head.count, CHUNK_LIMIT) * sum(widths))

    def records(self) -> dict[str, Any]:
        """The records of all readable chunks, in the order of their packets: a table by its label."""
        tables: dict[str, Any] = {}
        # Of the chunks of device slices that are there: ordinal of the first record, and number of records.
        stands: list[tuple[int, int]] = []
        for table in KINDS.values():
            places = self.chunks.get(table.kind, [])
            builder = TableBuilder(table, sum(min(head.count, CHUNK_LIMIT) for _, head in places))
            for frame, head in places:
                part = self.chunk_records(frame, table)
                if part is None:
                    continue
                builder.append(part)
                if table is DeviceSlices:
                    stands.append((head.first_ordinal, len(part)))
            tables[table.label] = builder.table()
        tables[Dependencies.label] = _by_row(tables[Dependencies.label], stands)
        return tables

    def chunk_records(self, frame: Frame, table: type[Table]) -> Table | None:
        """The records of a chunk; None when it cannot be read, which is noted."""
        try:
            head, part = wire.decode_chunk(self.data, frame.start, frame.end)
        except wire.CodecError as error:
            self.leave_out(frame, "chunk", error)
            return None
        assert part is not None  # its kind was looked at before
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


def _by_row(dependencies: Dependencies, stands: Sequence[tuple[int, int]]) -> Dependencies:
    """The dependencies by rows of the table of device slices; -1 where the chunk of a slice is missing.

    Args:
        dependencies: By ordinals in the session.
        stands: Ordinal of the first record, and number of records, of each chunk of device slices in the table's order.
    """
    counts = np.array([count for _, count in stands], np.int64)
    starts = np.cumsum(counts) - counts
    # An ordinal that no int64 holds is of no record.
    firsts = np.array([min(first, 1 << 62) for first, _ in stands], np.int64)
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


def _note_totals(profile: Profile, reading: _Reading) -> None:
    if reading.closing is None:
        return
    for total in reading.closing.totals:
        if total.kind in KINDS and total.written != len(profile.table(total.kind)):
            label = KINDS[total.kind].label
            message = f"{len(profile.table(total.kind)):,} {label} were read, the closing packet says {total.written:,}"
            reading.note(Severity.ERROR, "total-differs", message, abs(total.written - len(profile.table(total.kind))), label)


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
