"""Traces of torch.profiler (Kineto's JSON), and whatever else writes Chrome's trace event format, as a `HostTrace`.

Read: `{"traceEvents": [...]}` or a bare array, plain or gzip, in any formatting and of any size: in memory are the
columns, the text around the events and one block of events. Times become whole nanoseconds from their decimal text. Every
event keeps its place in the document, so that a sink can copy what it need not change. Text that is no JSON is read a second
time, as far as it is good (`_salvage_document`); the document is then the mended text.

Not read: whatever has no column; it stays in the document.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import BinaryIO, Final

import numpy as np

from rblnpb.columns import ABSENT
from rblnpb.errors import CheckError, Finding, FormatError, NotAProfileError, Severity, TruncatedError, UsageError
from rblnpb.wording import counted

from ..host_trace import ALL_COLUMNS, CORE_COLUMNS
from ..timeline import Document, HostEvents, HostTrace
from ._document import DocumentPass, InputDocument, open_document
from ._event_array import Surroundings, split_events
from ._event_columns import EventColumns
from ._json_errors import JsonSyntaxError
from ._json_metadata import TraceMetadata, read_metadata
from ._reading_jobs import worthwhile_jobs
from ._salvage_document import NoEventsError, SalvagedDocument, SalvagePass
from ._salvage_report import DAMAGE_CODES
from .text_limits import DEFAULT_TEXT_LIMITS, ExpansionError, TextLimits

__all__ = ["DAMAGE_CODES", "Progress", "read_document", "read_host", "read_mended"]

Progress = Callable[[int, int], None]
"""Called after each block with the bytes of the file that were read so far, and with how many it has."""

_NO_UNICODE: Final = "odd-characters"


def read_host(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    strict: bool = False,
    progress: Progress | None = None,
    columns: Collection[str] = ALL_COLUMNS,
    limits: TextLimits = DEFAULT_TEXT_LIMITS,
    jobs: int | None = 1,
) -> HostTrace:
    """Read a host trace.

    Args:
        source: A path, or an open binary stream, which is read to its end. What its bytes are is told by them, never by
            a name.
        strict: Raise when something is odd or broken, instead of reading what is whole and reporting the rest in `findings`.
        progress: See `Progress`.
        columns: Names of the columns of `HostEvents` that are needed; those of `CORE_COLUMNS` always are. The others are
            neither read, nor kept, nor is it reported what is odd about them; using one raises AttributeError.
            `VIEW_COLUMNS` and `TABLE_COLUMNS` name what it takes for a purpose.
        limits: How much its text may ask for.
        jobs: By how many processes a large file may be read, the one that asks among them; None: by as many as there are cores
            for it, 8 at most. One more reads for each 128 MiB, or 12 MiB of gzip data. The trace is the same for any number.

    Returns:
        One row per event in the order of the file. `start_ns` is Unix time where the file says when its zero was
        (`has_base_time`), else the file's own clock; a duration is rounded by itself, so that the end of an event is the
        sum of both columns.

    Raises:
        FormatError: The file cannot be opened, or there is no whole event in it; or `strict`, and it is no JSON: with byte, line
            and column.
        NotAProfileError: It is something else, or JSON without events.
        TruncatedError: It ends before the first whole event; or `strict`, and it ends early: says how many events were whole.
        CheckError: `strict`, and a finding is a warning or worse.
        UsageError: There is no column of such a name, or not one job.

    Example:
        >>> from rblnpb import converters
        >>> host = converters.read_host("rblnpb/data/transformer_step.json.gz", columns=["external_id"])
        >>> host.events
        HostEvents(4414 events: phase, category, name, track, start_ns, duration_ns, external_id)
    """
    document = open_document(source, limits)
    wanted = _known(columns)
    progress = progress and _Forward(progress)
    try:
        host, ignored_bytes = _read_together(document, progress, wanted, jobs) or _read_alone(document, progress, wanted)
    except FormatError as error:
        if strict or isinstance(error, ExpansionError):
            raise
        return _salvaged(document, progress, columns, error)
    findings = host.findings
    if count := ignored_bytes:
        message = f"{counted(count, 'byte')} after the gzip data: no gzip data, ignored"
        findings += (Finding(Severity.WARNING, "bytes-after-gzip", message, count),)
    grave = tuple(finding for finding in findings if finding.severity > Severity.INFO)
    if strict and grave:
        raise CheckError(document.name, grave)
    return replace(host, findings=findings)


def read_mended(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    progress: Progress | None = None,
    columns: Collection[str] = ALL_COLUMNS,
    jobs: int | None = 1,
) -> HostTrace:
    """Read a host trace whose text is to be sound: JSON that is not all Unicode, which `read_host` leaves as it is, is mended too.

    Raises:
        FormatError, NotAProfileError, TruncatedError, UsageError: As for `read_host`.
    """
    host = read_host(source, progress=progress, columns=columns, jobs=jobs)
    is_odd = any(finding.code == _NO_UNICODE for finding in host.findings)
    return _salvaged(host.document, progress, columns) if is_odd and isinstance(host.document, InputDocument) else host


def read_document(document: Document, blocks: Iterator[bytes], columns: Collection[str] = ALL_COLUMNS) -> HostTrace:
    """Read a host trace, wherever its text comes from.

    Args:
        document: What the trace keeps, so that its text can be read again.
        blocks: The first reading of it.
        columns: As for `read_host`.

    Raises:
        FormatError, NotAProfileError, TruncatedError, UsageError: As for `read_host`.
    """
    made = EventColumns(_known(columns))
    watch = _UnicodeWatch(blocks)
    try:
        around = split_events(iter(watch), made.take, document.name)
        metadata = read_metadata(around)
    except JsonSyntaxError as error:
        raise _syntax_error(document, error, len(made)) from error
    except TruncatedError as error:
        raise _cut(document, error.reason, error.offset, len(made)) from error
    return _host_trace(document, made, around, metadata, watch)


def _read_alone(document: InputDocument, progress: Progress | None, columns: frozenset[str]) -> tuple[HostTrace, int]:
    """The trace, and how many bytes behind its gzip data are none."""
    reading = DocumentPass(document)
    host = read_document(document, _reported(reading, document.size_bytes, progress), columns)
    return host, reading.ignored_bytes


def _read_together(
    document: InputDocument, progress: Progress | None, columns: frozenset[str], jobs: int | None
) -> tuple[HostTrace, int] | None:
    """The same by several processes; None when it is a matter for one."""
    jobs = worthwhile_jobs(document, jobs)
    if jobs == 1:
        return None
    # Late, for what starts processes takes its time to load.
    from ._shared_reading import read_together

    def report(stored_bytes: int) -> None:
        if progress is not None:
            progress(stored_bytes, document.size_bytes)

    found = read_together(document, columns, jobs, report)
    if found is None:
        return None
    try:
        metadata = read_metadata(found.around)
    except JsonSyntaxError:
        return None
    # All of its text was found to be Unicode.
    return _host_trace(document, found.made, found.around, metadata, _UnicodeWatch(iter(()))), found.ignored_bytes


def _known(columns: Collection[str]) -> frozenset[str]:
    """These columns and those that always are read."""
    if unknown := sorted(set(columns) - ALL_COLUMNS):
        raise UsageError(f"events of a host trace have no column {unknown[0]!r}; there are {', '.join(sorted(ALL_COLUMNS))}")
    return CORE_COLUMNS.union(columns)


def _host_trace(
    document: Document,
    made: EventColumns,
    around: Surroundings,
    metadata: TraceMetadata,
    watch: _UnicodeWatch,
) -> HostTrace:
    """The trace of what was read."""
    events = made.finish(metadata.base_time_ns)
    odd = made.odd.findings()
    known = (*metadata.findings, *odd)
    if around.is_bare_array and (len(events) or odd) and not events.phase.any():
        reason = 'it is JSON, but no trace: no element of its array is an event with a phase ("ph")'
        raise NotAProfileError(document.name, f"{reason}; torch.profiler writes traces by prof.export_chrome_trace(path)")
    return HostTrace(
        document=document,
        events=events,
        strings=made.strings,
        tracks=made.tracks,
        base_time_ns=metadata.base_time_ns,
        has_base_time=metadata.has_base_time,
        head=around.head,
        tail=around.tail,
        metadata=metadata.values,
        thread_names=made.thread_names,
        process_names=made.process_names,
        process_labels=made.process_labels,
        findings=(*known, *watch.findings(known), *_findings(events)),
    )


def _salvaged(
    original: InputDocument, progress: Progress | None, columns: Collection[str], error: FormatError | None = None
) -> HostTrace:
    """What is whole of a trace that is no JSON, or no Unicode, and what had to be mended or left out of it.

    Raises:
        FormatError: `error`, when there is no whole event, or it is no trace at all.
    """
    document = SalvagedDocument(original)
    reading = SalvagePass(document)
    try:
        host = read_document(document, _reported(reading, original.size_bytes, progress), columns)
    except (FormatError, NoEventsError) as again:
        raise (error or again) from again
    if error is not None and (not reading.tally or not len(host.events)):
        raise error
    return replace(host, findings=(*reading.tally.findings(), *host.findings))


class _UnicodeWatch:
    """Passes the blocks of a text on, and tells whether all of it is Unicode: the part that no column is of, too."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._decoder: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder("utf-8")()
        self._is_between = True

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            if self._decoder is not None and not (self._is_between and block.isascii()):
                self._watch(self._decoder, block)
            yield block

    def _watch(self, decoder: codecs.IncrementalDecoder, block: bytes) -> None:
        try:
            decoder.decode(block)
            self._is_between = not decoder.getstate()[0]
        except UnicodeDecodeError:
            self._decoder = None

    def findings(self, known: Collection[Finding]) -> Iterator[Finding]:
        """What the bytes tell that no event does."""
        if self._decoder is None and all(finding.code != _NO_UNICODE for finding in known):
            message = "the text is not all Unicode; U+FFFD stands for what is not"
            yield Finding(Severity.WARNING, _NO_UNICODE, message)


class _Forward:
    """Tells of progress, but nothing of what is read once more until that is further on."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._most_bytes = -1

    def __call__(self, done_bytes: int, size_bytes: int) -> None:
        if done_bytes >= self._most_bytes:
            self._most_bytes = done_bytes
            self._progress(done_bytes, size_bytes)


def _reported(reading: DocumentPass | SalvagePass, size_bytes: int, progress: Progress | None) -> Iterator[bytes]:
    for block in reading:
        if progress is not None:
            progress(reading.stored_bytes, size_bytes)
        yield block


def _findings(events: HostEvents) -> Iterator[Finding]:
    if not len(events):
        yield Finding(Severity.INFO, "no-events", "the trace has no events")
    is_empty = (events.phase == 0) & (events.name == 0) & (events.category == 0)
    is_empty &= (events.start_ns == ABSENT) & (events.duration_ns == ABSENT)
    if count := int(is_empty.sum()):
        message = f"{counted(count, 'event says', 'events say')} nothing, as the {{}} at the end of a trace of JAX"
        yield Finding(Severity.INFO, "empty-event", message, count)
    if count := int((events.phase == 0).sum()) - int(is_empty.sum()):
        yield Finding(Severity.WARNING, "no-phase", f'{counted(count, "event has", "events have")} no known phase ("ph")', count)
    is_backwards = (events.duration_ns < 0) & (events.duration_ns != ABSENT)
    if count := int(is_backwards.sum()):
        yield Finding(
            Severity.WARNING,
            "negative-duration",
            f"{counted(count, 'event ends before it starts', 'events end before they start')}",
            count,
        )
    is_endless = (events.phase == ord("X")) & (events.duration_ns == ABSENT)
    if count := int(is_endless.sum()):
        yield Finding(
            Severity.WARNING,
            "no-duration",
            f"{counted(count, 'complete event has', 'complete events have')} no duration",
            count,
        )


def _syntax_error(document: Document, error: JsonSyntaxError, whole_events: int) -> FormatError:
    if error.is_cut:
        return _cut(document, "the JSON ends early", error.offset, whole_events)
    reason = f"the JSON is broken: {error.reason}; Kineto writes a quote in the name of an event as it is"
    return FormatError(document.name, reason, offset=error.offset, place=_place(document, error.offset))


def _cut(document: Document, reason: str, offset: int, whole_events: int) -> TruncatedError:
    hint = "was the profiled program stopped while it exported, or the file copied in part?"
    reason = f"{reason}, after {counted(whole_events, 'whole event')}; {hint}"
    return TruncatedError(document.name, reason, offset=offset, place=_place(document, offset))


def _place(document: Document, offset: int) -> str:
    """Line and column of a byte of the document, both from 1 on, the column in characters."""
    line, column, position = 1, 1, 0
    for block in document.blocks():
        text = block[: offset - position]
        position += len(text)
        line += text.count(b"\n")
        if b"\n" in text:
            column, text = 1, text[text.rindex(b"\n") + 1 :]
        # Bytes 0x80 to 0xBF go on with a character.
        column += int(np.count_nonzero(np.frombuffer(text, np.uint8) & 0xC0 != 0x80))
        if position == offset:
            break
    return f"line {line}, column {column}"
