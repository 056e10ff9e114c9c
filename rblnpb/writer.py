"""Profiles to files: a stream writer that only appends, and `write`, which writes a whole profile through it."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final

import numpy as np

from rblnpb import codec as wire
from rblnpb.clock import HOST_MONOTONIC, Clock, ClockSnapshot, clock_maps
from rblnpb.columns import CHUNK_LIMIT, HostSlices, Launches, Overheads, Table, TextArray, TraceEvents
from rblnpb.container import payload
from rblnpb.display import display_packets, is_shown
from rblnpb.errors import CheckError, Finding, RblnpbError, Severity
from rblnpb.invariants import contradictions
from rblnpb.output import open_output
from rblnpb.profile import KINDS, Commands, Device, Engine, Loss, Profile, Program, Session, TraceDocument
from rblnpb.record_times import bounds
from rblnpb.strings import StringTable

__all__ = ["EventChunks", "StreamWriter", "write", "write_archive"]

EventChunks = Callable[[StringTable], Iterable[TraceEvents]]
"""Makes archived events, a chunk at a time, whose texts are rows of the given table, which may grow with every chunk."""

_HOST_KINDS: Final = (Launches, HostSlices, Overheads)


class StreamWriter:
    """Appends the packets of one session to a binary file; never seeks, so a pipe will do.

    Not thread-safe. Every call writes whole packets: whatever happens after it returns, what it wrote can be read.

    Attributes:
        strings: The session's table.
        written: Records in the file, by kind.
    """

    def __init__(self, file: BinaryIO, session: Session, *, codec: str = "zstd", strings: Sequence[str] = ("",)) -> None:
        """Write the header.

        Args:
            file: Open for writing bytes; stays the caller's.
            session: What the recording says of itself; its end is given to `close`.
            codec: How columns are stored: "zstd", "zlib", "none" (transformed only) or "raw".
            strings: Rows that the string table begins with, as they are: rows that repeat one keep their place. The first `define`
                sends them.

        Raises:
            ValueError: An unknown codec, or a session id outside 1 to 2**64 - 1.
        """
        _refuse_unknown_codec(codec)
        if not 0 < session.session_id < 1 << 64:
            raise ValueError(f"a session id is a number from 1 to 2**64 - 1, not {session.session_id}")
        self.strings = StringTable(strings)
        self._file = file
        self._session_id = session.session_id
        self._codec = codec
        self._sequence = 0
        self._offset = 0
        self._sent_strings = 1
        self.written = dict.fromkeys(KINDS, 0)
        self._dropped = dict.fromkeys(KINDS, 0)
        self._index: list[Any] = []
        self._packet(8, wire.encode_header(session))

    def define(
        self,
        *,
        strings: Sequence[str] = (),
        clocks: Sequence[Clock] = (),
        devices: Sequence[Device] = (),
        engines: Sequence[Engine] = (),
        programs: Sequence[Program] = (),
        commands: Commands | None = None,
        threads: Sequence[tuple[int, str]] = (),
    ) -> None:
        """Add rows to the session's tables.

        Args:
            strings: New texts, interned in this order; names in the other rows are interned after them.
            clocks, devices, engines, threads: New rows.
            programs: New programs; their commands are rows of `commands`, the whole table (row 0 = none).
            commands: Needed with programs that have commands.
        """
        self.strings.intern_all(strings)
        self.strings.intern_all(row.name for rows in (clocks, devices, engines, programs) for row in rows)
        self.strings.intern_all(text for program in programs for text in (program.op, program.compile_id))
        self.strings.intern_all(name for _, name in threads)
        content = wire.encode_definitions(
            self.strings.intern,
            first_strindex=self._sent_strings if len(self.strings) > self._sent_strings else 0,
            strings=self.strings.rows(self._sent_strings),
            clocks=clocks,
            devices=devices,
            engines=engines,
            programs=programs,
            commands=commands,
            threads=threads,
        )
        if content:
            self._sent_strings = len(self.strings)
            self._packet(9, content)

    def snapshots(self, snapshots: Sequence[ClockSnapshot]) -> None:
        """Append clock readings."""
        if snapshots:
            self._packet(10, wire.encode_snapshots(snapshots))

    def chunk(self, table: Table, *, start_monotonic_ns: int | None = None, end_monotonic_ns: int | None = None) -> None:
        """Append records of one kind and one clock.

        Args:
            table: 1 to 65,536 records; one `clock_id` throughout, where the kind has one.
            start_monotonic_ns, end_monotonic_ns: Least start and greatest end in the host monotonic clock, for the index; None =
                not known.

        Raises:
            ValueError: No record, too many, of several clocks, or with a value that its column cannot hold; nothing was written.
        """
        if not 0 < len(table) <= CHUNK_LIMIT:
            raise ValueError(f"a chunk holds 1 to {CHUNK_LIMIT:,} records, not {len(table):,}")
        clock_ids = getattr(table, "clock_id", None)
        if clock_ids is not None and (clock_ids != clock_ids[0]).any():
            raise ValueError("the records of a chunk are of one clock")
        clock_id = int(clock_ids[0]) if clock_ids is not None else HOST_MONOTONIC if isinstance(table, _HOST_KINDS) else 0
        summary = wire.ChunkSummary(offset_bytes=self._offset, kind=table.kind, count=len(table), clock_id=clock_id)
        self._packet(11, wire.encode_chunk(table, clock_id, self.written[table.kind], self._codec))
        summary.size_bytes = self._offset - summary.offset_bytes
        if start_monotonic_ns is not None and end_monotonic_ns is not None:
            summary.start_monotonic_ns, summary.end_monotonic_ns = start_monotonic_ns, end_monotonic_ns
        self._index.append(summary)
        self.written[table.kind] += len(table)

    def losses(self, losses: Sequence[Loss]) -> None:
        """Append losses; they count in the totals of their kind."""
        if losses:
            self._packet(12, wire.encode_losses(losses))
        self._count_dropped(losses)

    def trace_document(self, document: TraceDocument) -> None:
        """Append the frame of archived host events."""
        self._packet(13, wire.encode_trace_document(document, self._codec))

    def display(self, packets: bytes) -> None:
        """Append ready Perfetto packets, which our reader passes over."""
        self._append(packets)

    def close(self, *, ended_real_ns: int = 0, ended_monotonic_ns: int = 0, unwritten: Sequence[Loss] = ()) -> None:
        """Append the closing packet: totals and index. The file stays open.

        Args:
            ended_real_ns, ended_monotonic_ns: End of the recording, in the host's clocks; 0 = not known.
            unwritten: Losses that the file had no room for; the totals count them all the same.
        """
        self._count_dropped(unwritten)
        totals = {kind: (self.written[kind], self._dropped[kind]) for kind in KINDS}
        self._packet(14, wire.encode_closing(totals, self._index, ended_real_ns, ended_monotonic_ns))

    def _count_dropped(self, losses: Sequence[Loss]) -> None:
        for loss in losses:
            if loss.kind in self._dropped:
                # The losses hold every count; their total ends where its field does.
                self._dropped[loss.kind] = min(self._dropped[loss.kind] + loss.count, (1 << 64) - 1)

    def _packet(self, body: int, content: bytes) -> None:
        self._append(payload(self._session_id, self._sequence, body, content))
        self._sequence += 1

    def _append(self, data: bytes) -> None:
        # A raw file may take less than it was given.
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) or len(view) :]
        self._offset += len(data)


def write(
    profile: Profile,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    codec: str = "zstd",
    display: bool | None = None,
    force: bool = False,
) -> None:
    r"""Write a profile; the same profile gives the same bytes.

    Records keep their order, and a chunk is of one clock, so a chunk begins wherever the clock changes. Where the slices of two
    devices take turns, each of them costs a chunk of its own: about 100 bytes with its row of the index. `Recorder` orders what it
    writes at one time by clock; who makes a profile in another way does well to do the same.

    Args:
        profile: It is checked first. One that was not ended properly is written without a closing packet.
        path: Name of the file, which appears whole or not at all, or a binary stream.
        codec: "zstd", "zlib", "none" or "raw"; raw columns are read without a copy.
        display: Whether Perfetto display packets are added, by which the Perfetto UI shows the slices of the file as it is. None:
            while they are few, see `rblnpb.display.DISPLAY_LIMIT`.
        force: Overwrite a file that is there.

    Raises:
        CheckError: Read back, the file would hold another profile: a record or a definition refers to something that the profile
            does not define, an id is defined twice, or a value is one that the schema cannot hold.
        OutputError: The file is there already, or cannot be written.
        ValueError: An unknown codec.

    Example:
        >>> import io, rblnpb
        >>> buffer = io.BytesIO()
        >>> rblnpb.write(rblnpb.Profile(rblnpb.Session(session_id=7)), buffer)
        >>> buffer.getvalue()[:1]
        b'\n'
    """
    if not isinstance(path, (str, os.PathLike)):
        _write_to(profile, path, codec, display=display)
        return
    with open_output(path, force=force) as file:
        _write_to(profile, file, codec, display=display)


def write_archive(
    profile: Profile, file: BinaryIO, events: EventChunks, *, codec: str = "zstd", display: bool | None = None
) -> None:
    """Write a profile with archived events that are made while they are written: in memory is one chunk of them.

    Args:
        profile: As for `write`; with a trace document and without events of its own.
        file: Open for writing bytes; stays the caller's.
        events: See `EventChunks`; each chunk has 1 to 65,536 events.
        codec, display: As for `write`.

    Raises:
        CheckError, ValueError: As for `write`.
    """
    _write_to(profile, file, codec, display=display, events=events)


def _refuse_unknown_codec(codec: str) -> None:
    if codec not in wire.CODECS:
        raise ValueError(f"codec {codec!r} is none of {', '.join(wire.CODECS)}")


def _write_to(profile: Profile, file: Any, codec: str, *, display: bool | None, events: EventChunks | None = None) -> None:
    _refuse_unknown_codec(codec)
    findings = contradictions(profile)
    if findings:
        raise _refusal(*findings)
    slice_count = len(profile.device_slices) + len(profile.workload_slices)
    packets = display_packets(profile) if is_shown(slice_count, display=display) else iter(())
    first = next(packets, b"")
    session = dataclasses.replace(profile.session, has_display_packets=bool(first))
    try:
        writer = StreamWriter(file, session, codec=codec, strings=profile.strings)
        _write_all(writer, profile, itertools.chain([first], packets), events)
    except RblnpbError:
        # Of whoever makes the events.
        raise
    except (ValueError, OverflowError) as error:
        # Of the codec for columns, of protobuf for the numbers of definitions: both say what and why.
        raise _refusal(Finding(Severity.ERROR, "impossible-value", str(error))) from error


def _refusal(*findings: Finding) -> CheckError:
    return CheckError("the profile to write", findings, "read back, it would be another one")


def _write_all(writer: StreamWriter, profile: Profile, display: Iterable[bytes], events: EventChunks | None) -> None:
    writer.define(
        clocks=profile.clocks,
        devices=profile.devices,
        engines=profile.engines,
        programs=profile.programs,
        commands=profile.commands,
        threads=profile.threads,
    )
    writer.snapshots(profile.clock_snapshots)
    for packets in display:
        writer.display(packets)
    if profile.trace_document is not None:
        writer.trace_document(profile.trace_document)
    maps = clock_maps(profile.clocks, profile.clock_snapshots)
    for kind in KINDS:
        for part in _chunks(profile.table(kind)):
            start_ns, end_ns = bounds(part, maps)
            writer.chunk(part, start_monotonic_ns=start_ns, end_monotonic_ns=end_ns)
    for chunk in events(writer.strings) if events else ():
        writer.define()
        writer.chunk(chunk)
    writer.losses(profile.losses)
    if profile.is_complete:
        writer.close(ended_real_ns=profile.session.ended_real_ns, ended_monotonic_ns=profile.session.ended_monotonic_ns)


_TEXT_TARGET: Final = 1 << 26
"""A chunk ends before its strings are longer than this together, so that who reads it needs little memory."""


def _chunks(table: Table) -> Iterator[Table]:
    """The records in their order, cut where a chunk is full, where the clock changes, and where its strings grow long."""
    steps = [column.ends // _TEXT_TARGET for column in table.columns().values() if isinstance(column, TextArray)]
    if "clock_id" in table.columns():
        steps.append(table.columns()["clock_id"])
    changes = [np.flatnonzero(np.diff(step)) + 1 for step in steps]
    edges = [0, *np.unique(np.concatenate([*changes, np.empty(0, np.int64)])).tolist(), len(table)]
    for first, last in itertools.pairwise(edges):
        for start in range(first, last, CHUNK_LIMIT):
            yield table.take(slice(start, min(start + CHUNK_LIMIT, last)))
