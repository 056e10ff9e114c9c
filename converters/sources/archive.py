"""Host traces that were archived in a profile, given back: every byte of the trace's text, and so the very same `HostTrace`.

How an event is written stands in the profile as a layout; `proto/README.md`, section 5, says how columns and layouts make the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from rblnpb.columns import TextArray, TraceEvents
from rblnpb.errors import Finding, FormatError, Severity
from rblnpb.profile import Profile, TraceDocument
from rblnpb.wording import counted

from ..event_layouts import EventTexts, Layout, texts_of
from ..host_trace import ALL_COLUMNS
from ..timeline import Bool, HostTrace
from ._document import BLOCK_BYTES
from .kineto import read_document

__all__ = ["ArchiveDocument", "archived_trace"]

_STEP_ROWS: Final = 4096
_LEAST_LIMIT_BYTES: Final = 1 << 31
_MOST_GROWTH: Final = 1000
"""How much longer than the columns a text may be: a layout of a few bytes may stand for much, though not for any amount."""
_NO_DOCUMENT: Final = TraceDocument(b'{"traceEvents":[', b"]}")


@dataclass(frozen=True, eq=False)
class ArchiveDocument:
    """The text of an archived trace, made anew for every pass.

    Attributes:
        name: What messages call it.
        events: Columns of its events.
        frame: What is around them.
        strings: Texts that the columns refer to.
        layouts: How events are written, by row of `strings`.
    """

    name: str
    events: TraceEvents
    frame: TraceDocument
    strings: tuple[str, ...]
    layouts: dict[int, Layout] = field(repr=False)

    def blocks(self) -> Iterator[bytes]:
        """The document, from its first byte to its last, in blocks as a file of it is read.

        Raises:
            FormatError: It is longer than any trace of so many columns would be.
        """
        rest = b""
        for more in self._texts():
            text = rest + more
            whole_bytes = len(text) - len(text) % BLOCK_BYTES
            for start in range(0, whole_bytes, BLOCK_BYTES):
                yield text[start : start + BLOCK_BYTES]
            rest = text[whole_bytes:]
        yield rest

    def _texts(self) -> Iterator[bytes]:
        texts = EventTexts(self.strings)
        allowed_bytes = max(_LEAST_LIMIT_BYTES, _MOST_GROWTH * _size_bytes(self.events))
        yield self.frame.head
        for first in range(0, len(self.events), _STEP_ROWS):
            text = self._written(self.events.take(slice(first, first + _STEP_ROWS)), texts)
            allowed_bytes -= len(text)
            if allowed_bytes < 0:
                reason = "its archived events claim to be far longer than their columns: it is made to fill the memory"
                raise FormatError(self.name, reason)
            # Where the first events are lost, the next one is the first, and what parted it from them is no longer right.
            yield text if first else text.lstrip(b", \t\r\n")
        yield self.frame.tail

    def _written(self, events: TraceEvents, texts: EventTexts) -> bytes:
        made = np.array(texts_of(events.text, np.arange(len(events))), object)
        for row in np.unique(events.layout_strindex).tolist():
            if row:
                places = np.flatnonzero(events.layout_strindex == row)
                made[places] = texts.written(self.layouts[row].pieces, events, places)
        return b"".join(made.tolist())


def archived_trace(profile: Profile, name: str | None = None, *, columns: Collection[str] = ALL_COLUMNS) -> HostTrace:
    """The host trace that a profile archives.

    Args:
        profile: With archived events.
        name: What messages call it; None: the session.
        columns: As for `read_host`.

    Returns:
        The trace as `read_host` made it of the file that was archived. Its findings begin with what is odd about the profile.

    Raises:
        FormatError: Events or layouts are none that this version knows, or what they make is no JSON.

    Example:
        >>> import io, rblnpb
        >>> from rblnpb import converters
        >>> host, file = converters.read_host("rblnpb/data/transformer_step.json.gz"), io.BytesIO()
        >>> archived = converters.write_profile(None, host, file)
        >>> again = converters.archived_trace(rblnpb.read(file.getvalue()))
        >>> b"".join(again.document.blocks()) == b"".join(host.document.blocks())
        True
    """
    name = name or f"session {profile.session.session_id:016x}"
    events, findings = _whole_events(profile.trace_events)
    document = ArchiveDocument(
        name, events, profile.trace_document or _NO_DOCUMENT, profile.strings, _layouts(name, events, profile.strings)
    )
    host = read_document(document, document.blocks(), columns)
    return replace(host, findings=(*findings, *host.findings))


def _whole_events(events: TraceEvents) -> tuple[TraceEvents, tuple[Finding, ...]]:
    """The events that can be told, and how many cannot, because the strings are lost that say how they are written."""
    is_whole: Bool = (events.layout_strindex != 0) | (events.text.sizes() != 0)
    lost = int((~is_whole).sum())
    if not lost:
        return events, ()
    message = f"{counted(lost, 'archived event has', 'archived events have')} neither text nor layout: left out"
    return events.take(is_whole), (Finding(Severity.ERROR, "events-not-told", message, lost, "trace_events"),)


def _layouts(name: str, events: TraceEvents, strings: tuple[str, ...]) -> dict[int, Layout]:
    rows = np.unique(events.layout_strindex).tolist()
    try:
        return {row: Layout.of(strings[row].encode()) for row in rows if row}
    except ValueError as error:
        raise FormatError(name, f"{error}; a newer version wrote it") from error


def _size_bytes(events: TraceEvents) -> int:
    """What the columns take in memory."""
    return sum(
        len(column.text) + column.ends.nbytes if isinstance(column, TextArray) else column.nbytes
        for column in events.columns().values()
    )
