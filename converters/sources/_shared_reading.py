"""A large trace, read by several processes: as many cores decode its events, and what comes of it is what one would have read.

Nothing is mended and nothing is refused here. Where anything of the text is not as it should be, or a process is lost, nothing is
said, and the trace is read again by one process, which tells what is wrong.

Processes, for the decoder keeps the interpreter's lock; and new ones, since neither can a process with threads be forked, nor may a
script that reads a trace be run once more by a module that starts processes for it.
"""

from __future__ import annotations

import json
import os
import pickle
import selectors
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from itertools import count
from pathlib import Path
from typing import Final, cast

import rblnpb
from rblnpb.errors import FormatError

from ..json_text import is_utf8
from ._document import DocumentPass, InputDocument
from ._event_array import USUAL_SIZES, CutSizes, Surroundings, read_head, usual_gap
from ._event_columns import EventColumns
from ._json_errors import JsonSyntaxError
from ._text_window import TextWindow
from ._trace_segments import NUMBER, Segment, SegmentPlan, SegmentReader

_MOST_ASKED: Final = 2
"""Segments that are asked for of another process before it has read them."""
_MOST_AHEAD: Final = 4
"""Segments for each process that are kept for what comes before them: several, for it takes a process some of them to start."""
_PIPE_BYTES: Final = 1 << 20
_PIPE: Final = subprocess.PIPE
_PROGRAM: Final = (
    "import json, sys\nsys.path[:] = json.loads(sys.argv[1])\nfrom rblnpb.converters.sources._trace_segments import main\nmain()"
)


@dataclass(frozen=True, eq=False)
class SharedReading:
    """What several processes read of a trace.

    Attributes:
        made: Its events.
        around: What stands around them.
        ignored_bytes: See `DocumentPass`.
    """

    made: EventColumns
    around: Surroundings
    ignored_bytes: int


def read_together(
    document: InputDocument,
    columns: frozenset[str],
    jobs: int,
    report: Callable[[int], None],
    sizes: CutSizes = USUAL_SIZES,
) -> SharedReading | None:
    """Read a trace by several processes, this one among them.

    Args:
        document: A file.
        columns: Names of the columns that are wanted.
        jobs: How many processes, 2 at least.
        report: Called with the bytes of the file that were read so far.
        sizes: How the text is cut.

    Returns:
        What one process reads, in the very order of strings and tracks; None when one should: something is wrong, or no other
        process can be had.
    """
    identity = _identity(document)
    try:
        plan, head = _plan(document, columns, sizes)
    except (JsonSyntaxError, FormatError):
        return None
    if plan is None:
        return None
    with ExitStack() as running:
        try:
            processes = [running.enter_context(_reading_process(plan)) for _ in range(jobs - 1)]
            with closing(_in_order(SegmentReader(plan), processes)) as segments:
                found = _joined(segments, plan, head, report)
        except _LostProcessError:
            return None
    # Each process has opened the file by itself: it has to have been the same one.
    return found if identity == _identity(document) else None


def _plan(document: InputDocument, columns: frozenset[str], sizes: CutSizes) -> tuple[SegmentPlan | None, bytes]:
    """How the segments of a document are read, and what stands before them; no plan when its events are written in no usual way.

    Raises:
        JsonSyntaxError: The text in front of the events is no JSON, or it ends early.
        FormatError: The document cannot be read, or it is something else.
    """
    window = TextWindow(iter(DocumentPass(document)))
    head = read_head(window, document.name)
    gap = usual_gap(window, sizes)
    plan = None if gap is None else SegmentPlan(document, document.is_packed, window.offset, gap, sizes, columns)
    return plan, head


def _joined(
    segments: Iterator[Segment | None], plan: SegmentPlan, head: bytes, report: Callable[[int], None]
) -> SharedReading | None:
    """The segments as one trace; None at the first one that is None: neither it nor any that follows is used.

    Raises:
        _LostProcessError: As for `_in_order`.
    """
    made = EventColumns(plan.columns)
    for segment in segments:
        if segment is None:
            return None
        made.append(segment.rows)
        report(segment.stored_bytes)
        if segment.end is not None:
            around = Surroundings(head, segment.end.tail, segment.end.offset)
            return SharedReading(made, around, segment.end.ignored_bytes) if is_utf8(head + around.tail) else None
    return None


def _in_order(reader: SegmentReader, processes: Sequence[_ReadingProcess]) -> Generator[Segment | None, None, None]:
    """The segments, by whomever they are read; None for one that nobody can read in this way.

    Raises:
        _LostProcessError: A process has ended.
    """
    numbers, following = count(), 0
    held: dict[int, Segment | None] = {}
    with selectors.DefaultSelector() as answering:
        for process in processes:
            answering.register(process.answers, selectors.EVENT_READ, process)
        while True:
            # What this process has read of what comes later would fill the memory while another one is slow.
            is_far_ahead = len(held) >= _MOST_AHEAD * (1 + len(processes))
            if not is_far_ahead:
                number = next(numbers)
                held[number] = reader.read(number)
            for process in processes:
                process.ask(numbers)
            for key, _ in answering.select(None if is_far_ahead else 0):
                number, segment = key.data.receive()
                held[number] = segment
            while following in held:
                yield held.pop(following)
                following += 1


class _LostProcessError(Exception):
    """A process that should read has ended, or was never had."""


class _ReadingProcess:
    """A process that reads segments.

    Attributes:
        answers: Where they come from.
    """

    def __init__(self, requests: FileIO, answers: FileIO) -> None:
        self.answers = answers
        self._requests = requests
        self._asked: deque[int] = deque()

    def begin(self, plan: SegmentPlan) -> None:
        """Tell it what it is asked for segments of."""
        self._write(pickle.dumps(plan, pickle.HIGHEST_PROTOCOL))

    def ask(self, numbers: Iterator[int]) -> None:
        """Give it something to do for as long as it may take this process to read a segment, and to come back."""
        while len(self._asked) < _MOST_ASKED:
            self._asked.append(next(numbers))
            self._write(NUMBER.pack(self._asked[-1]))

    def receive(self) -> tuple[int, Segment | None]:
        """The first segment that it was asked for and has not given."""
        segment: Segment | None = pickle.loads(self._read(*NUMBER.unpack(self._read(NUMBER.size))))  # noqa: S301  # begun here
        return self._asked.popleft(), segment

    def _write(self, data: bytes) -> None:
        try:
            self._requests.write(data)
        except OSError as error:
            raise _LostProcessError from error

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            count = self.answers.readinto(view)
            if not count:
                raise _LostProcessError
            view = view[count:]
        return data


@contextmanager
def _reading_process(plan: SegmentPlan) -> Iterator[_ReadingProcess]:
    """A process that reads segments; it ends with the block.

    It finds what it imports where this process does, whatever its environment says, and whatever lies in the folder where it runs.

    Raises:
        _LostProcessError: It cannot be had.
    """
    home = str(Path(rblnpb.__file__).resolve().parents[1])
    path = json.dumps([*(entry for entry in sys.path if isinstance(entry, str)), home])
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, path]
    try:
        process = subprocess.Popen(command, bufsize=0, stdin=_PIPE, stdout=_PIPE, stderr=subprocess.DEVNULL)  # noqa: S603  # ourselves
    except OSError as error:
        raise _LostProcessError from error
    # Unbuffered, they are the files themselves: what a buffer held could not be waited for.
    requests, answers = cast("FileIO", process.stdin), cast("FileIO", process.stdout)
    try:
        _widen(answers)
        reading = _ReadingProcess(requests, answers)
        reading.begin(plan)
        yield reading
    finally:
        # There is nothing that it could leave behind.
        process.kill()
        answers.close()
        requests.close()
        process.wait()


def _widen(answers: FileIO) -> None:
    """Let a pipe hold more, where the system has a way: two processes that hand over little at once wait for each other a lot."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(answers.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _identity(document: InputDocument) -> tuple[int, ...]:
    try:
        status = os.stat(document.path)
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
