"""Files to profiles.

`read` gives the one session of a file as an immutable `Profile`, `read_all` gives every session, `open_profile` gives the
chunks one by one as views of the mapped file. What is whole is read, what is not is named: a cut, a damaged packet, a lost
packet, a repeated packet, two writers, things of a newer schema.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from rblnpb import codec as wire
from rblnpb.assembly import SessionSource, assemble, session_bounds
from rblnpb.columns import Table
from rblnpb.container import BODY_NAMES, MAGIC, SCHEMA_VERSION, Buffer, Frame, Gap, Scan, scan
from rblnpb.errors import CheckError, Finding, FormatError, MergeError, NotAProfileError, Severity, TruncatedError, VersionError
from rblnpb.limits import DEFAULT_LIMITS, Budget, Limits
from rblnpb.profile import Profile
from rblnpb.signatures import is_profile, looks_like
from rblnpb.stored_slices import StoredSlices
from rblnpb.wording import counted

__all__ = ["Chunk", "ProfileFile", "open_profile", "read", "read_all"]

_FIRST_BYTES: Final = re.compile(rb"\x0a(?:[\x80-\xff]{0,4}|[\x80-\xff]{0,4}[\x00-\x7f](?:\xc2?|\xc2\xc5|\xc2\xc5\x03.*))", re.S)
"""What a profile cut in its first packet begins with: tag, a length, then the tag of the payload, each as far as it goes."""

Input = str | os.PathLike[str] | bytes | BinaryIO


def read(
    source: Input,
    strict: bool = False,  # noqa: FBT001, FBT002  # read(path, True) is promised
    *,
    window: tuple[int, int] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Profile:
    """The profile in a file.

    Args:
        source: Name of a file, its bytes, or a binary stream.
        strict: Raise on the first finding of severity warning or error instead of returning what is whole.
        window: First moment and the one after the last, in ns of the host's monotonic clock (CLOCK_MONOTONIC): only records that
            overlap it are read, and the launches of these; see `ProfileFile.profile`. None: all.
        limits: What the file may ask for.

    Returns:
        The one session of the input, checked; `findings` say what is missing or odd.

    Raises:
        NotAProfileError: The input is something else; the message says what it looks like.
        TruncatedError: It ends before anything could be read.
        VersionError: A newer major version wrote it.
        MergeError: It holds several sessions; `read_all` gives them all.
        FormatError: It cannot be opened, or contradicts the schema.
        CheckError: `strict`, and something is missing or odd.
        ValueError: The window ends before it starts.

    Example:
        >>> import io, rblnpb
        >>> buffer = io.BytesIO()
        >>> rblnpb.write(rblnpb.Profile(rblnpb.Session(session_id=7, npu="atom")), buffer)
        >>> rblnpb.read(buffer.getvalue()).session.npu
        'atom'
    """
    with open_profile(source, limits=limits) as file:
        profile = file.profile(window=window)
    if strict:
        _refuse_odd(file.name, profile)
    return profile


def read_all(
    source: Input,
    strict: bool = False,  # noqa: FBT001, FBT002  # as read
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Profile]:
    """Every session of a file, in the order in which they begin. Arguments and errors as for `read`, any number of sessions.

    Raises:
        NotAProfileError, TruncatedError, VersionError, FormatError, CheckError: As for `read`.
    """
    with open_profile(source, limits=limits) as file:
        budget = Budget(file.name, len(file.data), limits)
        profiles = [assemble(file.source(session_id), budget)[0] for session_id in file.session_ids]
    if strict:
        for profile in profiles:
            _refuse_odd(file.name, profile)
    return profiles


def _refuse_odd(name: str, profile: Profile) -> None:
    serious = tuple(finding for finding in profile.findings if finding.severity >= Severity.WARNING)
    if serious:
        raise CheckError(name, serious)


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

    Attributes:
        name: Of the input, for errors.
        data: All of the input.
        scan: What walking it found.
        limits: What it may ask for.
        sessions: Packets by session, in file order, sessions in the order in which they begin.
    """

    def __init__(self, name: str, data: Buffer, scanned: Scan, limits: Limits, mapped: mmap.mmap | None = None) -> None:
        self.name = name
        self.data = data
        self.scan = scanned
        self.limits = limits
        self.sessions = _by_session(scanned)
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
        return tuple(self.sessions)

    def profile(self, session_id: int | None = None, *, window: tuple[int, int] | None = None) -> Profile:
        """What `read` gives: one session as a whole, or a window of it.

        A window holds what the session defines, its clock readings and losses in full. Of the records it holds those that overlap
        it, exactly as their moments are defined (a moment in it, or a time from before its end to after its start), the launches
        that these name, whenever they were, dependencies between its device slices, and archived events in full. Records that
        cannot be placed belong to every window. The index tells which chunks are needed; without one all are looked at. Chunks
        outside are not, so damage there is not found. A finding says that this is a window.

        Args:
            session_id: None: the only one.
            window: First moment and the one after the last, ns of the host's monotonic clock; None: all.

        Raises:
            MergeError: There are several sessions and none is named.
            KeyError: There is no such session.
            ValueError: The window ends before it starts.
            FormatError: As for `read`.
        """
        return self._assembled(session_id, window, keeps_slices=True)[0]

    def profile_and_slices(
        self, session_id: int | None = None, *, window: tuple[int, int] | None = None
    ) -> tuple[Profile, StoredSlices]:
        """One session without its device slices, and those where they stand: for recordings that are larger than the memory.

        The profile has the same findings as the one that `read` gives, and its dependencies refer to the same rows; its table of
        device slices alone is empty. The slices can be asked for while the file is open.

        Args:
            session_id, window: As for `profile`.

        Raises:
            MergeError, KeyError, ValueError, FormatError: As for `profile`. What device slices would take in memory is not bounded.

        Example:
            >>> import io, rblnpb
            >>> buffer = io.BytesIO()
            >>> rblnpb.write(rblnpb.Profile(rblnpb.Session(session_id=7)), buffer)
            >>> with rblnpb.open_profile(buffer.getvalue()) as file:
            ...     profile, slices = file.profile_and_slices()
            ...     print(profile.session.session_id, sum(len(block) for _, block in slices.blocks()))
            7 0
        """
        return self._assembled(session_id, window, keeps_slices=False)

    def bounds_ns(self, session_id: int | None = None) -> tuple[int, int] | None:
        """First start and last end of the records, in ns of the host's monotonic clock; None when none can be placed.

        The index tells them where there is one; chunks that it does not tell of are read.

        Args:
            session_id: None: the only one.

        Raises:
            MergeError, KeyError, FormatError: As for `profile`.
        """
        return session_bounds(self.source(session_id), Budget(self.name, len(self.data), self.limits))

    def source(self, session_id: int | None = None) -> SessionSource:
        """The packets of a session; None: of the only one.

        Raises:
            MergeError, KeyError: As for `profile`.
        """
        session_id = self._only_session() if session_id is None else session_id
        return SessionSource(self.data, session_id, self.sessions[session_id], tuple(_file_findings(self)))

    def _assembled(
        self, session_id: int | None, window: tuple[int, int] | None, *, keeps_slices: bool
    ) -> tuple[Profile, StoredSlices]:
        if window is not None and window[0] > window[1]:
            raise ValueError(f"a window ends after it starts: {window[0]:,} to {window[1]:,} ns")
        budget = Budget(self.name, len(self.data), self.limits)
        return assemble(self.source(session_id), budget, keeps_slices=keeps_slices, window=window)

    def _only_session(self) -> int:
        if len(self.sessions) > 1:
            ids = ", ".join(f"{session_id:016x}" for session_id in self.session_ids[:4])
            raise MergeError(
                f"cannot read {self.name} as one profile: it holds {len(self.sessions)} sessions ({ids}), as files put together "
                "do; rblnpb.read_all gives them all"
            )
        return self.session_ids[0]

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
                if kind is not None and wire.chunk_head(self.data, frame.start, frame.end).kind != kind.kind:
                    continue
                head, records = wire.decode_chunk(self.data, frame.start, frame.end, text_bytes=self.limits.text_bytes)
            except wire.CodecError as error:
                raise FormatError(self.name, str(error), offset=frame.offset, place="chunk") from error
            yield Chunk(frame, head, records)


def _by_session(scanned: Scan) -> Mapping[int, Sequence[Frame]]:
    sessions: dict[int, list[Frame]] = {}
    for frame in scanned.frames:
        sessions.setdefault(frame.session_id, []).append(frame)
    return sessions


def _file_findings(file: ProfileFile) -> Iterator[Finding]:
    """What is odd about the stream as a whole; every session of it gets it."""
    end, size = file.scan.end, file.scan.size
    if end < size:
        message = f"the last {size - end:,} of {size:,} bytes are no whole packet ({file.scan.reason}): read up to byte {end:,}"
        yield Finding(Severity.WARNING, "truncated", message, where=f"byte {end}")
    yield from _gap_findings(file.scan.gaps)
    for offset in file.scan.unreadable:
        message = f"a packet at byte {offset} is of no session that can be told: it was left out"
        yield Finding(Severity.ERROR, "unreadable-packet", message, where=f"byte {offset}")
    if len(file.sessions) > 1:
        message = f"the file holds {len(file.sessions)} sessions, as several writers or files put together leave it"
        yield Finding(Severity.WARNING, "several-sessions", message, len(file.sessions))


_NAMED_GAPS: Final = 8
"""Most gaps that are named one by one."""


def _gap_findings(gaps: Sequence[Gap]) -> Iterator[Finding]:
    for gap in gaps[:_NAMED_GAPS]:
        passed = f"{counted(gap.size, 'byte was', 'bytes were')} passed over" if gap.size else "nothing was passed over"
        message = f"a packet is damaged at byte {gap.offset} ({gap.reason}): {passed} up to the next payload that is whole"
        yield Finding(Severity.ERROR, "damaged-stream", message, max(gap.size, 1), where=f"byte {gap.offset}")
    more = gaps[_NAMED_GAPS:]
    if more:
        size = sum(gap.size for gap in more)
        damaged = counted(len(more), "more packet is", "more packets are")
        message = f"{damaged} damaged: {counted(size, 'byte was', 'bytes were')} passed over"
        yield Finding(Severity.ERROR, "damaged-stream", message, max(size, 1), where=f"byte {more[0].offset}")


def open_profile(source: Input, *, limits: Limits = DEFAULT_LIMITS) -> ProfileFile:
    """A profile's packets, mapped and not yet decoded; see `ProfileFile`.

    Args:
        source: Name of a file, its bytes, or a binary stream.
        limits: What the file may ask for; what is read chunk by chunk is bounded by that of one chunk.

    Raises:
        NotAProfileError, TruncatedError, VersionError, FormatError: As for `read`.
    """
    name = _name(source)
    data, mapped = _buffer(source, name)
    scanned = scan(data)
    try:
        _require_header(name, data, scanned)
    except FormatError:
        ProfileFile(name, data, scanned, limits, mapped).close()
        raise
    return ProfileFile(name, data, scanned, limits, mapped)


def _name(source: Input) -> str:
    if isinstance(source, bytes):
        return "<bytes>"
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<stream>"))


def _buffer(source: Input, name: str) -> tuple[Buffer, mmap.mmap | None]:
    if isinstance(source, bytes):
        return memoryview(source), None
    try:
        if not isinstance(source, (str, os.PathLike)):
            return memoryview(source.read()), None
        with Path(source).open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                # A pipe has no size either; an empty file reads as nothing.
                return memoryview(file.read()), None
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return memoryview(mapped), mapped
    except IsADirectoryError as error:
        raise FormatError(name, "it is a folder; name the file in it") from error
    except FileNotFoundError as error:
        raise FormatError(name, "there is no such file; a recording leaves rbln_*.pb in RBLN_PROFILER_DIR") from error
    except OSError as error:
        raise FormatError(name, (error.strerror or str(error)).lower()) from error
    except ValueError as error:
        # A name with a zero byte in it, for which no system call was made, or a stream that is closed.
        raise FormatError(name, str(error)) from error


def _require_header(name: str, data: Buffer, scanned: Scan) -> None:
    """Refuse what is no profile, and sessions of a newer major version."""
    headers = [frame for frame in scanned.frames if BODY_NAMES.get(frame.body) == "header"]
    if not headers:
        _refuse_headless(name, data, scanned)
    for frame in headers:
        if not frame.is_intact(data):
            # What a damaged header says of its version is not to be believed; who reads the session reports it.
            continue
        try:
            header = wire.parse("header", data[frame.start : frame.end])
        except wire.CodecError:
            continue
        if header.magic != MAGIC:
            raise NotAProfileError(name, f"its header says {header.magic[:20]!r}, not {MAGIC!r}", offset=frame.offset)
        if header.schema_major > SCHEMA_VERSION[0]:
            found, known = f"{header.schema_major}.{header.schema_minor}", ".".join(map(str, SCHEMA_VERSION))
            reason = f"schema {found} wrote it and this version reads up to {known}: install a newer rblnpb"
            raise VersionError(name, reason, offset=frame.offset, place="header")


def _refuse_headless(name: str, data: Buffer, scanned: Scan) -> None:
    if scanned.frames or scanned.unreadable:
        raise FormatError(name, "none of its packets is a header that can be read: the beginning is missing or damaged", offset=0)
    head = bytes(data[:4096])
    if is_profile(head) or (head and scanned.end == 0 and _FIRST_BYTES.fullmatch(head[:9])):
        reason = f"it ends inside its first packet, after {len(data):,} bytes: nothing of it can be read"
        raise TruncatedError(name, reason, offset=scanned.end)
    what = looks_like(head)
    raise NotAProfileError(name, f"it is {what}" if not head else f"it is no rblnpb profile; it looks like {what}")
