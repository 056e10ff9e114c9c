"""Files to profiles.

`read` gives the one session of a file as an immutable `Profile`, `read_all` gives every session, `open_profile` gives the
chunks one by one as views of the mapped file. What is whole is read, what is not is named: a cut, a damaged packet, a lost
packet, a repeated packet, two writers, things of a newer schema.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from rblnpb import codec as wire
from rblnpb.invariants import check, without_dangling
from rblnpb.columns import CHUNK_LIMIT, Table, TableBuilder
from rblnpb.container import BODY_NAMES, MAGIC, SCHEMA_VERSION, Buffer, Frame, Scan, looks_like, scan
from rblnpb.errors import CheckError, Finding, FormatError, MergeError, NotAProfileError, Severity, TruncatedError, VersionError
from rblnpb.profile import KINDS, Profile

__all__ = ["Chunk", "ProfileFile", "is_profile", "open_profile", "read", "read_all"]

Input = str | os.PathLike[str] | bytes | BinaryIO


def is_profile(head: bytes) -> bool:
    """Whether an input that begins with these bytes (a few hundred are enough) is one of ours."""
    return head[:1] == b"\x0a" and b"\xc2\xc5\x03" in head[:16] and MAGIC.encode() in head[:256]


def read(source: Input, strict: bool = False) -> Profile:  # noqa: FBT001, FBT002  # the interface page fixes this call
    """The profile in a file.

    Args:
        source: Name of a file, its bytes, or a binary stream.
        strict: Raise on the first finding of severity warning or error instead of returning what is whole.

    Returns:
        The one session of the input, checked; `findings` say what is missing or odd.

    Raises:
        NotAProfileError: The input is something else; the message says what it looks like.
        TruncatedError: It ends before anything could be read.
        VersionError: A newer major version wrote it.
        MergeError: It holds several sessions; `read_all` gives them all.
        FormatError: It cannot be opened, or contradicts the schema.
        CheckError: `strict`, and something is missing or odd.

    Example:
        >>> import io, rblnpb
        >>> buffer = io.BytesIO()
        >>> rblnpb.write(rblnpb.Profile(rblnpb.Session(session_id=7, npu="atom")), buffer)
        >>> rblnpb.read(buffer.getvalue()).session.npu
        'atom'
    """
    profiles = read_all(source, strict=strict)
    if len(profiles) > 1:
        ids = ", ".join(f"{profile.session.session_id:016x}" for profile in profiles[:4])
        raise MergeError(
            f"cannot read {_name(source)} as one profile: it holds {len(profiles)} sessions ({ids}), as files put together do; "
            "rblnpb.read_all gives them all"
        )
    return profiles[0]


def read_all(source: Input, strict: bool = False) -> list[Profile]:  # noqa: FBT001, FBT002  # as read
    """Every session of a file, in the order in which they begin. Arguments and errors as for `read`, any number of sessions.

    Raises:
        NotAProfileError, TruncatedError, VersionError, FormatError, CheckError: As for `read`.
    """
    with open_profile(source) as file:
        profiles = [_assemble(file, session_id) for session_id in file.session_ids]
    if strict:
        for profile in profiles:
            serious = tuple(finding for finding in profile.findings if finding.severity >= Severity.WARNING)
            if serious:
                raise CheckError(file.name, serious)
    return profiles


@dataclass(frozen=True)
class Chunk:
    """One chunk of a file.

    Attributes:
        frame: Where it stands.
        head: What it says of itself.
        records: Its records; None when this version does not know their kind. Raw columns are views of the file: they are
            valid while the `ProfileFile` is open.
    """

    frame: Frame
    head: wire.ChunkHead
    records: Table | None


class ProfileFile:
    """An open profile: its packets are known, its records are decoded when they are asked for.

    Use it as a context manager. Views of raw columns must be dropped before it closes, or it stays mapped until they are.
    """

    def __init__(self, name: str, data: Buffer, scanned: Scan, mapped: mmap.mmap | None = None) -> None:
        self.name = name
        self.data = data
        self.scan = scanned
        self._mapped = mapped

    def __enter__(self) -> ProfileFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file. Views that are still held keep it mapped."""
        if isinstance(self.data, memoryview):
            # A view that a caller still holds keeps the mapping alive; the last one to go closes it.
            with contextlib.suppress(BufferError):
                self.data.release()
            if self._mapped is not None:
                with contextlib.suppress(BufferError):
                    self._mapped.close()

    @property
    def session_ids(self) -> tuple[int, ...]:
        """Sessions in the order in which they begin."""
        return tuple(dict.fromkeys(frame.session_id for frame in self.scan.frames))

    def chunks(self, kind: type[Table] | None = None) -> Iterator[Chunk]:
        """The chunks in file order, of one kind of record or of all.

        Args:
            kind: A class of `rblnpb.columns`, such as DeviceSlices.

        Raises:
            FormatError: A chunk is damaged.
        """
        for frame in self.scan.frames:
            if BODY_NAMES.get(frame.body) != "chunk":
                continue
            try:
                head, records = wire.decode_chunk(self.data, frame.start, frame.end)
            except wire.CodecError as error:
                raise FormatError(self.name, str(error), offset=frame.offset, place="chunk") from error
            if kind is None or head.kind == kind.kind:
                yield Chunk(frame, head, records)


def open_profile(source: Input) -> ProfileFile:
    """A profile's packets, mapped and not yet decoded; see `ProfileFile`.

    Args:
        source: Name of a file, its bytes, or a binary stream.

    Raises:
        NotAProfileError, TruncatedError, VersionError, FormatError: As for `read`.
    """
    name = _name(source)
    data, mapped = _buffer(source, name)
    scanned = scan(data)
    try:
        _require_header(name, data, scanned)
    except FormatError:
        ProfileFile(name, data, scanned, mapped).close()
        raise
    return ProfileFile(name, data, scanned, mapped)


def _name(source: Input) -> str:
    if isinstance(source, bytes):
        return "<bytes>"
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<stream>"))


def _buffer(source: Input, name: str) -> tuple[Buffer, mmap.mmap | None]:
    if isinstance(source, bytes):
        return memoryview(source), None
    if not isinstance(source, (str, os.PathLike)):
        return memoryview(source.read()), None
    try:
        with Path(source).open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                # A pipe has no size either; an empty file reads as nothing.
                return memoryview(file.read()), None
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return memoryview(mapped), mapped
    except IsADirectoryError as error:
        raise FormatError(name, "it is a folder; name the file") from error
    except OSError as error:
        raise FormatError(name, (error.strerror or str(error)).lower()) from error


def _require_header(name: str, data: Buffer, scanned: Scan) -> None:
    """Refuse what is no profile, or one of a newer major version."""
    first = next((frame for frame in scanned.frames if BODY_NAMES.get(frame.body) == "header"), None)
    if first is None:
        head = bytes(data[:4096])
        if is_profile(head):
            raise TruncatedError(name, "it ends inside its first packet: nothing of it can be read", offset=scanned.end)
        if scanned.frames:
            raise FormatError(name, "its first packet is no header: the beginning is missing", offset=0)
        raise NotAProfileError(
            name, f"it is {looks_like(head)}" if not head else f"it is no rblnpb profile; it looks like {looks_like(head)}"
        )
    try:
        header = wire.parse("header", data[first.start : first.end])
    except wire.CodecError as error:
        raise FormatError(name, str(error), offset=first.offset, place="header") from error
    if header.magic != MAGIC:
        raise NotAProfileError(name, f"its header says {header.magic[:20]!r}, not {MAGIC!r}", offset=first.offset)
    if header.schema_major > SCHEMA_VERSION[0]:
        found, known = f"{header.schema_major}.{header.schema_minor}", ".".join(map(str, SCHEMA_VERSION))
        reason = f"schema {found} wrote it and this version reads up to {known}: install a newer rblnpb"
        raise VersionError(name, reason, offset=first.offset, place="header")


@dataclass
class _Reading:
    """State of assembling one session."""

    name: str
    header: Any = None
    closing: Any = None
    unknowns: wire.Unknowns = field(default_factory=wire.Unknowns)
    findings: list[Finding] = field(default_factory=list)
    chunks: dict[int, list[tuple[Frame, int]]] = field(default_factory=dict)
    odd: Counter[str] = field(default_factory=Counter)
    snapshots: list[Any] = field(default_factory=list)
    losses: list[Any] = field(default_factory=list)
    document: Any = None

    def __post_init__(self) -> None:
        self.tables = wire.Tables(self.unknowns)

    def note(self, severity: Severity, code: str, message: str, count: int = 1, where: str = "") -> None:
        self.findings.append(Finding(severity, code, message, count, where))

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
        else:
            self.closing = message

    def records(self, file: ProfileFile, table: type[Table]) -> Table:
        """The records of all readable chunks of a kind, in file order."""
        frames = self.chunks.get(table.kind, [])
        builder = TableBuilder(table, sum(count for _, count in frames))
        for frame, _ in frames:
            try:
                head, part = wire.decode_chunk(file.data, frame.start, frame.end)
            except wire.CodecError as error:
                self.leave_out(frame, "chunk", error)
                continue
            assert part is not None  # its kind was looked at before
            builder.append(part)
            for number in head.unknown_columns:
                self.odd[f"column {number} of {table.label}"] += 1
        return builder.table()

    def leave_out(self, frame: Frame, body: str, reason: Exception) -> None:
        """Note a packet that cannot be read."""
        place = f"byte {frame.offset}"
        self.note(Severity.ERROR, "unreadable-packet", f"a {body} packet at {place} was left out: {reason}", where=place)


def _assemble(file: ProfileFile, session_id: int) -> Profile:
    reading = _Reading(file.name)
    frames = [frame for frame in file.scan.frames if frame.session_id == session_id]
    for frame in _in_sequence(file, frames, reading):
        body = BODY_NAMES.get(frame.body)
        place = f"byte {frame.offset}"
        if body is None:
            reading.odd[f"packets of body {frame.body}"] += 1
            continue
        if not frame.is_intact(file.data):
            message = f"a {body} packet at {place} does not have its checksum: it was left out"
            reading.note(Severity.ERROR, "damaged-packet", message, where=place)
            continue
        try:
            if body != "chunk":
                reading.take(body, wire.parse(body, file.data[frame.start : frame.end]))
                continue
            head = wire.chunk_head(file.data, frame.start, frame.end)
        except wire.CodecError as error:
            reading.leave_out(frame, body, error)
            continue
        if head.kind in KINDS:
            reading.chunks.setdefault(head.kind, []).append((frame, min(head.count, CHUNK_LIMIT)))
        else:
            reading.odd[f"records of kind {head.kind}"] += head.count
    _note_end(file, reading)
    return _finish(file, reading, session_id)


def _in_sequence(file: ProfileFile, frames: list[Frame], reading: _Reading) -> Iterator[Frame]:
    """The packets of a session, each once; repeated, missing and contradicting ones are noted."""
    seen: dict[int, Frame] = {}
    repeated = contradicting = 0
    for frame in frames:
        known = seen.get(frame.sequence)
        if known is None:
            seen[frame.sequence] = frame
            yield frame
        elif file.data[known.start : known.end] == file.data[frame.start : frame.end]:
            repeated += 1
        else:
            contradicting += 1
            yield frame
    if repeated:
        message = f"{repeated} packets stand twice in the file, as when a buffer is written again: each was read once"
        reading.note(Severity.WARNING, "repeated-packet", message, repeated)
    if contradicting:
        message = f"{contradicting} packets have the ordinal of another one: two writers used one session id"
        reading.note(Severity.ERROR, "two-writers", message, contradicting)
    missing = max(seen) + 1 - len(seen)
    if missing:
        message = f"{missing} packets are missing between the others: records or definitions are lost"
        reading.note(Severity.ERROR, "missing-packet", message, missing)


def _note_end(file: ProfileFile, reading: _Reading) -> None:
    lost = file.scan.size - file.scan.end
    if lost:
        why, end = file.scan.reason, file.scan.end
        message = f"the last {lost:,} of {file.scan.size:,} bytes are no whole packet ({why}): read up to byte {end:,}"
        reading.note(Severity.WARNING, "truncated", message, where=f"byte {file.scan.end}")
    if len(file.session_ids) > 1:
        message = f"the file holds {len(file.session_ids)} sessions, as several writers or files put together leave it"
        reading.note(Severity.INFO, "several-sessions", message, len(file.session_ids))


def _finish(file: ProfileFile, reading: _Reading, session_id: int) -> Profile:
    if reading.header is None:
        reading.note(Severity.ERROR, "no-header", "the session has no readable header: what it says of itself is unknown")
        reading.header = wire.parse("header", b"")
    tables = reading.tables
    records: dict[str, Any] = {table.label: reading.records(file, table) for table in KINDS.values()}
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
        **records,
    )
    _note_totals(profile, reading)
    _note_unknown(profile, reading)
    profile, dangling = without_dangling(profile)
    return profile.replace(findings=(*reading.findings, *dangling, *check(profile)))


def _note_totals(profile: Profile, reading: _Reading) -> None:
    if reading.closing is None:
        return
    for total in reading.closing.totals:
        if total.kind in KINDS and total.written != len(profile.table(total.kind)):
            label = KINDS[total.kind].label
            message = f"{len(profile.table(total.kind)):,} {label} were read, the closing packet says {total.written:,}"
            reading.note(Severity.ERROR, "total-differs", message, abs(total.written - len(profile.table(total.kind))), label)


def _note_unknown(profile: Profile, reading: _Reading) -> None:
    for what, count in sorted(reading.unknowns.counts.items()):
        reading.note(Severity.WARNING, "unknown-value", f"{what} is not known to this version: read as unknown", count)
    for what, count in sorted(reading.odd.items()):
        reading.note(Severity.WARNING, "unknown-field", f"{count:,} {what} are not known to this version: passed over", count)
    major, minor = profile.session.schema_version
    if (major, minor) > SCHEMA_VERSION:
        message = f"a newer schema ({major}.{minor}) wrote it; what only that knows was passed over"
        reading.note(Severity.INFO, "newer-schema", message)
