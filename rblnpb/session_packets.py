"""The packets of one session: the small ones read, the chunks placed, and what is odd about them noted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rblnpb import codec as wire
from rblnpb.chunk_index import ChunkIndex
from rblnpb.columns import CHUNK_LIMIT, DeviceSlices, Launches
from rblnpb.container import BODY_NAMES, Buffer, Frame
from rblnpb.errors import Finding, Severity
from rblnpb.limits import Budget
from rblnpb.profile import KINDS
from rblnpb.windows import Window
from rblnpb.wording import counted

__all__ = ["PlacedChunk", "SessionPackets"]


@dataclass(frozen=True)
class PlacedChunk:
    """A chunk of a known kind.

    Attributes:
        frame: Where it stands.
        head: What it says of itself.
        is_outside: Whether none of its records overlaps the window, by the index.
    """

    frame: Frame
    head: wire.ChunkHead
    is_outside: bool

    @property
    def count(self) -> int:
        """Records, at most those that a chunk may hold."""
        return min(self.head.count, CHUNK_LIMIT)


@dataclass
class SessionPackets:
    """What the packets of a session say, as far as it is read.

    Attributes:
        data: All of the input.
        budget: Of the file.
        keeps_slices: Whether memory is taken for device slices.
        chunks: Those that are wanted, by kind, in the order of their ordinals.
        odd: How many of what this version does not know, by a noun and which of these.
        findings: So far.
        header, closing: Messages; None when they are missing.
    """

    data: Buffer
    budget: Budget
    keeps_slices: bool = True
    header: Any = None
    closing: Any = None
    unknowns: wire.Unknowns = field(default_factory=wire.Unknowns)
    findings: list[Finding] = field(default_factory=list)
    chunks: dict[int, list[PlacedChunk]] = field(default_factory=dict)
    odd: Counter[tuple[str, str]] = field(default_factory=Counter)
    snapshots: list[Any] = field(default_factory=list)
    losses: list[Any] = field(default_factory=list)
    document: Any = None
    _header_offset: int = 0
    _defined: int = 0

    def __post_init__(self) -> None:
        self.tables = wire.Tables(self.unknowns)
        self._order = _Order(self)

    def note(self, severity: Severity, code: str, message: str, count: int = 1, where: str = "") -> None:
        """Add a finding."""
        self.findings.append(Finding(severity, code, message, count, where))

    def read_small(self, frames: Iterable[Frame]) -> None:
        """Keep what packets other than chunks say; those of the session in the order of their ordinals."""
        for frame in self._order.intact(frames):
            body = BODY_NAMES.get(frame.body)
            if body is None:
                self.odd["packet", f"of body {frame.body}"] += 1
                continue
            try:
                message = self._parsed(body, self.data[frame.start : frame.end])
                self._take(body, message, frame)
            except wire.CodecError as error:
                self.leave_out(frame, body, error)

    def _parsed(self, body: str, content: Buffer) -> Any:
        """The message of a body, whose rows are counted before memory is taken for too many."""
        limit = self.budget.limits.definition_count
        room = limit - self._defined
        # A row takes two bytes or more.
        if len(content) // 2 > room and wire.row_count_up_to(body, content, room + 1) > room:
            raise wire.CodecError(f"with it the session defines more than {limit:,} rows (Limits.definition_count)")
        message = wire.parse(body, content)
        self._defined += wire.row_count(message)
        return message

    def _take(self, body: str, message: Any, frame: Frame) -> None:
        if body == "header":
            if self.header is None:
                self.header, self._header_offset = message, frame.offset
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

    def index(self) -> ChunkIndex:
        """The index of the session, once its small packets are read."""
        return ChunkIndex(self.closing, self._header_offset)

    def place_chunks(self, frames: Iterable[Frame], window: Window | None) -> None:
        """Keep where chunks are, in the order of their ordinals; of those of a window the others are passed over."""
        index = self.index()
        for frame in frames:
            is_outside = window is not None and self._is_outside(frame, index, window)
            if is_outside is None:
                self._order.pass_over(frame)
                continue
            for intact in self._order.intact((frame,)):
                try:
                    self._place(intact, wire.chunk_head(self.data, intact.start, intact.end), is_outside=is_outside)
                except wire.CodecError as error:
                    self.leave_out(intact, "chunk", error)

    def _is_outside(self, frame: Frame, index: ChunkIndex, window: Window) -> bool | None:
        """Whether a chunk holds no record that overlaps the window; None when it need not be looked at for that.

        Launches are looked at all the same: those of slices in the window may be before it.
        """
        try:
            head = wire.chunk_head(self.data, frame.start, frame.end)
        except wire.CodecError:
            return False
        bounds = index.bounds(frame, head)
        if bounds is None or window.may_hold(head.clock_id, *bounds):
            return False
        return True if head.kind == Launches.kind else None

    def _place(self, frame: Frame, head: wire.ChunkHead, *, is_outside: bool) -> None:
        if head.kind not in KINDS:
            self.odd["record", f"of kind {head.kind}"] += max(min(head.count, CHUNK_LIMIT), 1)
            return
        placed = PlacedChunk(frame, head, is_outside)
        self.chunks.setdefault(head.kind, []).append(placed)
        if head.kind != DeviceSlices.kind or self.keeps_slices:
            widths = (dtype.itemsize for dtype, _ in KINDS[head.kind].schema().values() if dtype is not None)
            self.budget.spend(placed.count * sum(widths))

    def note_order(self, frames: Sequence[Frame], ordered: Sequence[Frame]) -> None:
        """Note what is odd about the ordinals, once all packets were looked at.

        Args:
            frames: All packets of the session in file order.
            ordered: The same in the order of their ordinals.
        """
        self._order.note(frames, ordered)

    def leave_out(self, frame: Frame, body: str, reason: Exception) -> None:
        """Note a packet that cannot be read."""
        place = f"byte {frame.offset}"
        self.note(Severity.ERROR, "unreadable-packet", f"a {body} packet at {place} was left out: {reason}", where=place)


class _Order:
    """Takes each packet of a session once, and counts what ordinals tell: packets that are lost, repeated, or of two writers."""

    def __init__(self, packets: SessionPackets) -> None:
        self._packets = packets
        self._seen: dict[int, Frame | None] = {}
        self._repeated = self._contradicting = 0

    def pass_over(self, frame: Frame) -> None:
        """A packet is there and not looked at."""
        self._seen.setdefault(frame.sequence, None)

    def intact(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Those that have their checksum and are no repetition."""
        for frame in frames:
            known = self._seen.get(frame.sequence)
            if frame.unknown_count:
                self._packets.unknowns.fields["Payload"] += frame.unknown_count
            if not frame.is_intact(self._packets.data):
                self._seen.setdefault(frame.sequence, None)
                place, body = f"byte {frame.offset}", BODY_NAMES.get(frame.body, "unknown")
                message = f"a {body} packet at {place} does not have its checksum: it was left out"
                self._packets.note(Severity.ERROR, "damaged-packet", message, where=place)
            elif known is None:
                self._seen[frame.sequence] = frame
                yield frame
            elif known.body == frame.body and self._content(known) == self._content(frame):
                self._repeated += 1
            else:
                self._contradicting += 1
                yield frame

    def _content(self, frame: Frame) -> Buffer:
        return self._packets.data[frame.start : frame.end]

    def note(self, frames: Sequence[Frame], ordered: Sequence[Frame]) -> None:
        """Note what was counted."""
        note = self._packets.note
        moved = sum(mine is not theirs for mine, theirs in zip(ordered, frames, strict=True))
        if moved:
            standing = counted(moved, "packet does", "packets do")
            message = f"{standing} not stand in the order of the ordinals: all were read in that order"
            note(Severity.INFO, "packets-out-of-order", message, moved)
        if self._repeated:
            standing = counted(self._repeated, "packet stands", "packets stand")
            message = f"{standing} twice in the file, as when a buffer is written again: each was read once"
            note(Severity.WARNING, "repeated-packet", message, self._repeated)
        if self._contradicting:
            having = counted(self._contradicting, "packet has", "packets have")
            message = f"{having} the ordinal of another one: two writers used one session id"
            note(Severity.ERROR, "two-writers", message, self._contradicting)
        missing = max(self._seen) + 1 - len(self._seen)
        if missing:
            message = f"{counted(missing, 'packet is', 'packets are')} missing between the others: records or definitions are lost"
            note(Severity.ERROR, "missing-packet", message, missing)
