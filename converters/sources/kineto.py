"""Traces of torch.profiler (Kineto's JSON), and what else writes Chrome's trace event format, as a `HostTrace`.

Read: `{"traceEvents": [...]}` or a bare array, plain or gzip, in any formatting, of any size: only the columns, the text
around the events and one block of events are in memory. Times become whole nanoseconds from their decimal text. Every
event keeps its place in the document, so that a sink can copy what it need not change.

Ignored: whatever has no column stays in the document only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import BinaryIO, Final

from rblnpb.errors import CheckError, Finding, FormatError, NotAProfileError, Severity, TruncatedError

from ..timeline import HostTrace
from ._document import DocumentPass, InputDocument, open_document
from ._event_columns import EventColumns
from ._json_blocks import Surroundings, split_events
from ._json_errors import JsonSyntaxError, find_syntax_error
from ._json_head import EVENTS_KEY

Progress = Callable[[int, int], None]


def read_host(
    source: str | os.PathLike[str] | BinaryIO, *, strict: bool = False, progress: Progress | None = None
) -> HostTrace:
    """Read a host trace."""
    document = open_document(source)
    reading = DocumentPass(document)
    columns = EventColumns()

    def blocks():
        for block in reading:
            if progress is not None:
                progress(reading.stored_bytes, document.size_bytes)
            yield block

    around = split_events(blocks(), columns.take, document.name)
    metadata = json.loads((around.head + around.tail).decode("utf-8-sig"))
    metadata = metadata if isinstance(metadata, dict) else {}
    metadata.pop(EVENTS_KEY, None)
    base_time_ns = int(metadata.get("baseTimeNanoseconds", 0))
    return HostTrace(
        document=document,
        events=columns.finish(base_time_ns),
        strings=columns.strings,
        tracks=columns.tracks,
        base_time_ns=base_time_ns,
        has_base_time="baseTimeNanoseconds" in metadata,
        head=around.head,
        tail=around.tail,
        metadata=metadata,
        thread_names=columns.thread_names,
        process_names=columns.process_names,
        process_labels=columns.process_labels,
    )
