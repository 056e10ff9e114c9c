"""What a runtime calls while it runs: records go into a bounded buffer, and from there into the file chunk by chunk.

    any thread: add, record  ->  buffer of each kind  ->  whoever fills it: chunk  ->  file

What is written at one time is ordered by clock, so that each clock has whole chunks; within a clock records keep their order.
Two locks: one for the buffers, held for a moment, and one for the file. Who finds a buffer full enough writes it; others meanwhile
go on recording, up to the capacity, and never wait for the disk. No thread waits in the background, but the main thread has one
write, and waits for it: signal handlers run in the main thread alone, so that the exception of one cuts no packet, and none waits
for a file that the code below it holds.

The file is whole packets at every moment, so that whatever ends the process leaves a profile that can be read. It is not synced to
the disk: what a killed process wrote is safe with the system, and only for a loss of power the program would have to wait.
"""

from __future__ import annotations

import _thread
import atexit
import functools
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import BinaryIO, Final

from rblnpb._recorder_buffer import LossCount, Pending
from rblnpb._recorder_file import RecorderFile
from rblnpb._recorder_rows import packed_row
from rblnpb.clock import Clock, ClockSnapshot
from rblnpb.columns import CHUNK_LIMIT, Table
from rblnpb.errors import OutputError
from rblnpb.profile import KINDS, Commands, Device, Engine, Loss, LossReason, Program, Session
from rblnpb.strings import StringTable

__all__ = ["DROPPED", "Recorder"]

DROPPED: Final = -1
"""What `Recorder.add` and `Recorder.record` give when nothing was kept."""


class Recorder:
    """Records one session into a file while it happens. Every method may be called from any thread.

    What goes wrong with the file while recording does not reach the caller: a record that cannot be kept is counted, by kind and
    reason. A process that was forked off records nothing. Who forgets to close a recorder loses nothing that Python can save: it is
    closed when nobody has it any more, or when the interpreter ends.

    Example:
        >>> import io, time, rblnpb
        >>> from rblnpb.columns import Launches
        >>> file = io.BytesIO()
        >>> with rblnpb.Recorder(file, rblnpb.Session(session_id=7), clock=time.monotonic_ns) as recorder:
        ...     recorder.add(Launches, launch_id=1, start_ns=1_000, thread_id=42)
        0
        >>> len(rblnpb.read(file.getvalue()).launches)
        1
    """

    def __init__(
        self,
        file: BinaryIO,
        session: Session,
        *,
        clock: Callable[[], int],
        real_clock: Callable[[], int] | None = None,
        codec: str = "zstd",
        display: bool | None = None,
        capacity: int = 4 * CHUNK_LIMIT,
        flush_interval_ns: int = 1_000_000_000,
    ) -> None:
        """Begin the file.

        Args:
            file: Open for writing bytes (`open(path, "xb")`: two recordings in one file would be none). A buffer that Python gave
                it is passed by, since it would die with the process. It stays the caller's.
            session: What the recording says of itself; its end is taken when it ends.
            clock: The host's monotonic clock, ns.
            real_clock: The host's real-time clock, ns; None = the end in real time stays unknown.
            codec: See `StreamWriter`.
            display: Whether the file shows itself in Perfetto's viewer, see `rblnpb.write`. Slices that may be shown stay in memory
                until the recording ends, a hundred bytes each: None, of a recording of usual size; True, of any.
            capacity: Records of one kind that are kept until they are written; more are dropped.
            flush_interval_ns: A recording call writes what there is when so much time has passed since the last writing, or when
                one kind fills a chunk or the capacity.

        Raises:
            ValueError: The capacity is below 1, or as `StreamWriter` says.
            OutputError: The file cannot be written.
        """
        self._is_closed = True
        if capacity < 1:
            raise ValueError(f"a recorder keeps at least one record, not {capacity}")
        self._process_id = os.getpid()
        self._clock = clock
        self._real_clock = real_clock
        self._capacity = capacity
        self._flush_records = min(CHUNK_LIMIT, capacity)
        self._flush_interval_ns = flush_interval_ns
        self._last_flush_ns = clock()
        # A signal handler may record while its own thread does.
        self._lock = threading.RLock()
        self._writing = threading.Lock()
        self._pending = Pending()
        self._strings = StringTable()
        self._next_numbers = dict.fromkeys(KINDS, 0)
        self._losses = LossCount()
        self._unwritten_losses = LossCount()
        self._ended_ns: tuple[int, int] | None = None
        try:
            self._output = RecorderFile(file, session, codec, display=display)
        except OSError as error:
            raise OutputError(f"cannot write the profile: {error.strerror or error}") from error
        self._is_closed = False
        self._at_exit = functools.partial(_close, weakref.ref(self))
        atexit.register(self._at_exit)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What was not kept so far, one row a kind and reason, in the order they were first noticed."""
        if self._is_forked:
            return ()
        with self._lock:
            return self._losses.rows()

    def intern(self, text: str) -> int:
        """Row of a text in the session's string table, for `_strindex` columns of whole tables; 0 in a forked process."""
        if self._is_forked:
            return 0
        with self._lock:
            return self._strings.intern(text)

    def define(
        self,
        *,
        clocks: Sequence[Clock] = (),
        devices: Sequence[Device] = (),
        engines: Sequence[Engine] = (),
        programs: Sequence[Program] = (),
        commands: Commands | None = None,
        threads: Sequence[tuple[int, str]] = (),
    ) -> None:
        """Add rows to the session's tables; they are in the file before the records that refer to them.

        Args:
            clocks, devices, engines, threads: New rows.
            programs: New programs; their commands are rows of `commands`.
            commands: The whole command table: that of the call before, and more.
        """
        if self._is_forked:
            return
        with self._lock:
            names = [row.name for rows in (clocks, devices, engines, programs) for row in rows]
            names += [text for program in programs for text in (program.op, program.compile_id)]
            self._strings.intern_all([*names, *(name for _, name in threads)])
            # The exception of a signal handler may come between: commands without their programs do no harm, the others would.
            self._pending.commands = commands or self._pending.commands
            self._pending.define(clocks=clocks, devices=devices, engines=engines, programs=programs, threads=threads)

    def snapshot(self, *snapshots: ClockSnapshot) -> None:
        """Add clock readings."""
        if self._is_forked:
            return
        with self._lock:
            self._pending.snapshots.extend(snapshots)

    def add(self, kind: type[Table], /, **columns: float | str | None) -> int:
        """Record one thing.

        Args:
            kind: Which table, such as `DeviceSlices`.
            **columns: Values by column name; the others are zero, or absent where they may be, as None is. A text is interned.

        Returns:
            Its number, by which dependencies refer to device slices: they ascend from 0 for each kind, and one of a record that was
            not kept is not given again. DROPPED when it was not kept.

        Raises:
            TypeError: A column that the kind does not have, or one of byte strings.
        """
        if self._is_forked:
            return DROPPED
        now_ns = self._clock()
        with self._lock:
            number = self._reserve(kind.kind, 1)
            row = packed_row(kind, number, columns, self._strings)
            kept, is_due = self._put(kind.kind, row, 1, number, now_ns)
        if is_due:
            self._write_due(now_ns)
        return number if kept else DROPPED

    def record(self, table: Table) -> int:
        """Record many things of one kind; as many of the first of them as there is room for.

        Args:
            table: The records. Dependencies refer to device slices by what `add` and `record` gave for them.

        Returns:
            Number of the first as `add` gives it, the next ones have the next, whatever others record meanwhile; DROPPED when none
            was kept.
        """
        if self._is_forked:
            return DROPPED
        count, size = len(table), self._flush_records
        with self._lock:
            number = self._reserve(table.kind, count)
        kept = 0
        for at in range(0, count, size):
            part = table.take(slice(at, at + size)) if count > size else table
            now_ns = self._clock()
            with self._lock:
                more, is_due = self._put(table.kind, part, len(part), number + at, now_ns, following=count - at - len(part))
            if is_due:
                self._write_due(now_ns)
            kept += more
            if more < len(part):
                break
        return number if kept else DROPPED

    def flush(self) -> None:
        """Write everything that there is; while another thread writes, wait for it first."""
        if not (self._is_closed or self._is_forked):
            _undisturbed(functools.partial(self._flush, self._clock()))

    def end(self) -> None:
        """End the recording: what comes later is counted, not kept. The file is completed by `close`."""
        if self._is_forked:
            return
        now_ns = self._clock(), self._real_clock() if self._real_clock else 0
        with self._lock:
            self._ended_ns = self._ended_ns or now_ns

    def close(self) -> None:
        """End the recording and complete the file: losses, display packets, totals and index. The file itself stays open.

        What threads that go on add after that is in `losses` alone.
        """
        if self._is_closed or self._is_forked:
            return
        self.end()
        _undisturbed(self._complete)
        atexit.unregister(self._at_exit)

    def __del__(self) -> None:
        # Nobody has it, so no signal handler either; and to start a thread here could wait for a lock of the code in between.
        if not (self._is_closed or self._is_forked):
            self.end()
            self._complete()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def _is_forked(self) -> bool:
        """Whether this is another process: there, a lock may be held by a thread that does not exist."""
        return os.getpid() != self._process_id

    def _reserve(self, kind: int, count: int) -> int:
        """The first of so many numbers, which no other record gets."""
        number = self._next_numbers[kind]
        self._next_numbers[kind] += count
        return number

    def _put(
        self, kind: int, records: Table | bytes | None, count: int, number: int, now_ns: int, *, following: int = 0
    ) -> tuple[int, bool]:
        """Keep the first of some records, numbered from `number` on, as far as there is room.

        The others are counted as lost, and with them those that follow in their table. Gives how many were kept, and whether it is
        time to write.
        """
        waiting = self._pending.counts[kind]
        room = self._capacity - waiting
        kept, reason = (count if count <= room else max(room, 0)), LossReason.BUFFER_FULL
        if self._ended_ns is not None:
            kept, reason = 0, LossReason.AFTER_END
        elif records is None:
            kept, reason = 0, LossReason.INVALID
        if kept < count:
            self._lose(kind, reason, count - kept + following, now_ns)
        if records is not None and kept:
            self._pending.put(kind, records, kept, number)
        return kept, waiting + kept >= self._flush_records or now_ns - self._last_flush_ns >= self._flush_interval_ns

    def _write_due(self, now_ns: int) -> None:
        if self._ended_ns is None and not self._writing.locked():
            _undisturbed(functools.partial(self._flush, now_ns, is_waiting=False))

    def _lose(self, kind: int, reason: LossReason, count: int, now_ns: int) -> None:
        for losses in (self._losses, self._unwritten_losses):
            losses.add(kind, reason, count, now_ns, now_ns)

    def _take_losses(self) -> LossCount:
        """What was lost and is not in the file yet, which is up to who asks now."""
        with self._lock:
            losses, self._unwritten_losses = self._unwritten_losses, LossCount()
        return losses

    def _complete(self) -> None:
        self._flush(self._clock())
        with self._writing:
            if not self._is_closed and self._ended_ns is not None:
                self._is_closed = True
                self._output.close(*self._ended_ns, self._take_losses)

    def _flush(self, now_ns: int, *, is_waiting: bool = True) -> None:
        if not self._writing.acquire(blocking=is_waiting):
            return
        try:
            if self._is_closed:
                return
            with self._lock:
                pending, self._pending = self._pending, Pending()
                self._last_flush_ns = now_ns
            failures = self._output.write(pending, self._strings)
            with self._lock:
                for kind, reason, count in failures:
                    self._lose(kind, reason, count, now_ns)
            losses = self._take_losses()
            if not self._output.write_losses(losses):
                with self._lock:
                    # The next time there may be room for them.
                    losses.merge(self._unwritten_losses)
                    self._unwritten_losses = losses
        finally:
            self._writing.release()


def _undisturbed(write: Callable[[], None]) -> None:
    """Let something be written where no signal handler runs; what one raises meanwhile passes when the file is whole again."""
    if threading.get_ident() != threading.main_thread().ident:
        write()
        return
    done = threading.Lock()
    done.acquire()

    def write_and_tell() -> None:
        try:
            write()
        finally:
            done.release()

    try:
        # threading.Thread would take a lock that the code below a signal handler may hold.
        _thread.start_new_thread(write_and_tell, ())
    except RuntimeError:
        # The interpreter ends, or the process has all the threads that it may have.
        write_and_tell()
    try:
        with done:
            pass
    finally:
        with done:
            pass


def _close(reference: weakref.ref[Recorder]) -> None:
    recorder = reference()
    if recorder is not None:
        recorder.close()
