"""Segments of a trace, read by whoever has their numbers: by the process that reads the trace, or by one that it began.

The other one is this module in a process of its own: it is told what to read on its standard input, and its standard output gives
the rows, as pickles, which nobody but the two processes ever sees.
"""

from __future__ import annotations

import pickle
import signal
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO, Final

from rblnpb.errors import FormatError
from rblnpb.process_memory import keep_freed_memory

from ..json_text import is_utf8
from ._document import DocumentPass, InputDocument
from ._event_array import CutSizes, EventArray, read_tail
from ._event_columns import EventColumns, EventRows
from ._json_blocks import EventBlock, Gap
from ._json_errors import JsonSyntaxError
from ._text_window import TextWindow

NUMBER: Final = struct.Struct("<q")
"""How numbers are written between the two processes."""


@dataclass(frozen=True)
class SegmentPlan:
    """What it takes to read any segment of a trace.

    Attributes:
        document: A file.
        is_packed: Whether it is gzip data.
        offset: Where in its text the first event may begin.
        gap: What stands between two events.
        sizes: How it is cut.
        columns: Names of the columns that are wanted.
    """

    document: InputDocument
    is_packed: bool
    offset: int
    gap: Gap
    sizes: CutSizes
    columns: frozenset[str]


@dataclass(frozen=True, eq=False)
class TextEnd:
    """What follows the events.

    Attributes:
        tail, offset: See `Surroundings`.
        ignored_bytes: See `DocumentPass`.
    """

    tail: bytes
    offset: int
    ignored_bytes: int


@dataclass(frozen=True, eq=False)
class Segment:
    """What is in a segment.

    Attributes:
        rows: Its events.
        stored_bytes: How much of what is stored was read to its end.
        end: What follows; None unless it is the last one.
    """

    rows: EventRows
    stored_bytes: int
    end: TextEnd | None


class SegmentReader:
    """Reads segments of a trace, the later ones after the earlier ones."""

    def __init__(self, plan: SegmentPlan) -> None:
        """Begin at the first segment.

        All of them go through one object of columns. One that cannot be read leaves some of its events there, which would come
        with the next one; but the first None ends the reading of the trace, whoever gave it, and nothing behind it is used.
        """
        self._plan = plan
        self._made = EventColumns(plan.columns)
        self._move(0)

    def _move(self, start: int) -> None:
        self._reading = DocumentPass(self._plan.document, start)
        self._window = TextWindow(iter(self._reading), start)

    def read(self, number: int) -> Segment | None:
        """A segment; None when it has anything in it that is not written as usual, or when there is no such segment.

        Whoever reads the whole trace is the one to say what is wrong.
        """
        try:
            return self._read(number)
        except (JsonSyntaxError, FormatError):
            return None

    def _read(self, number: int) -> Segment | None:
        plan = self._plan
        start = plan.offset + number * plan.sizes.segment_bytes
        if not plan.is_packed:
            self._move(start)
        if not self._window.skip_to(start):
            return None
        array = EventArray(self._window, self._take, plan.sizes, plan.offset, plan.gap)
        if number and not array.find_segment(number):
            return None
        following = array.cut_segment(number)
        if following not in (number + 1, None):
            return None
        end = None
        if following is None:
            tail, offset = read_tail(self._window)
            end = TextEnd(tail, offset, self._reading.ignored_bytes)
        return Segment(self._made.cut_off(), self._reading.stored_bytes, end)

    def _take(self, block: EventBlock) -> bool:
        # Not all of an event is decoded, and a decoder does not look at what it skips.
        if not is_utf8(bytes(block.text)):
            raise JsonSyntaxError("the text is not all Unicode", block.offset)
        return self._made.take(block)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Read the segments that are asked for, until nobody asks any more.

    Args:
        requests: A pickle of the plan, and the number of each segment that is wanted, in ascending order.
        answers: Gets a pickle for each number, its length before it, and is closed.
    """
    try:
        reader = SegmentReader(pickle.load(requests))  # noqa: S301  # of the process that began this one
    except EOFError:
        return
    found: SimpleQueue[bytes | None] = SimpleQueue()
    # Who asks may be reading a segment too: the next one is begun before this one is taken.
    sender = Thread(target=_send, args=(found, answers))
    sender.start()
    try:
        while number := requests.read(NUMBER.size):
            found.put(pickle.dumps(reader.read(*NUMBER.unpack(number)), pickle.HIGHEST_PROTOCOL))
    finally:
        found.put(None)
        sender.join()


def _send(found: SimpleQueue[bytes | None], answers: BinaryIO) -> None:
    # Where nobody takes them any more, nobody asks for more either. Whatever ends this, nobody must wait for more.
    with suppress(BrokenPipeError), answers:
        while (answer := found.get()) is not None:
            answers.write(NUMBER.pack(len(answer)))
            answers.write(answer)
            answers.flush()


def main() -> None:
    """What a process runs that another one began to read with it."""
    # Ctrl-C reaches all processes of a terminal; the one that began the others ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_freed_memory()
    serve(sys.stdin.buffer, sys.stdout.buffer)
