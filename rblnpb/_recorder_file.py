"""The file of a recorder: what is pending becomes packets, each of them whole whatever the disk does."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import BinaryIO, Final

import numpy as np

from rblnpb._recorder_buffer import LossCount, Pending
from rblnpb._recorder_display import RecordedDisplay
from rblnpb.clock import Clock, ClockMap, ClockSnapshot, clock_maps
from rblnpb.columns import CHUNK_LIMIT, Dependencies, DeviceSlices, Int64, Table
from rblnpb.profile import LossReason, Session
from rblnpb.record_times import bounds
from rblnpb.strings import StringTable
from rblnpb.writer import StreamWriter

__all__ = ["RecorderFile"]

_ORDINALS_KEPT: Final = 1 << 20
"""Latest device slices to which a dependency can refer."""

_READINGS_KEPT: Final = 128
"""Latest readings of each clock by which chunks are placed in the index."""

_NOWHERE: Final = -1
"""Ordinal of a device slice that is not in the file."""


class RecorderFile:
    """Turns what is pending into packets, and knows which device slice stands where. Used by one thread at a time."""

    def __init__(self, file: BinaryIO, session: Session, codec: str, *, display: bool | None) -> None:
        # The header comes first, and only the end tells whether there are few enough slices to be shown.
        session = replace(session, has_display_packets=display is not False)
        self._display = RecordedDisplay(session, display=display)
        self._writer = StreamWriter(_WholeWrites(file), session, codec=codec)  # type: ignore[arg-type]  # it only writes
        self._is_undefined = False
        self._clocks: list[Clock] = []
        self._readings: defaultdict[int, deque[ClockSnapshot]] = defaultdict(lambda: deque(maxlen=_READINGS_KEPT))
        # File ordinals of the latest device slices, by the number that the recorder gave them, which begins at _first.
        self._ordinals = np.empty(0, np.int64)
        self._first = 0

    def write(self, pending: Pending, strings: StringTable) -> list[tuple[int, LossReason, int]]:
        """Write it all; gives kind, reason and number of the records that could not be written.

        Args:
            pending: What is to be written.
            strings: The session's table, which may grow meanwhile; what the file does not have of it is written.
        """
        failures: list[tuple[int, LossReason, int]] = []
        try:
            new = strings.rows(len(self._writer.strings))
            self._writer.define(strings=new, commands=pending.commands, **pending.rows)
        except Exception:  # noqa: BLE001 -- as below
            # Records without what they refer to would be nonsense, so nothing more is written.
            self._is_undefined = True
        with contextlib.suppress(Exception):
            self._display.define(pending)
        # Without these readings the others place the records; a check says how well.
        with contextlib.suppress(Exception):
            self._writer.snapshots(pending.snapshots)
        maps: Mapping[int, ClockMap] = {}
        # Without maps the index does not tell when records are, and who reads a window looks at all of them.
        with contextlib.suppress(Exception):
            maps = self._maps(pending)
        for kind in pending.kinds():
            before = self._writer.written[kind]
            try:
                failures += self._table(*pending.table(kind), maps)
            except Exception:  # noqa: BLE001 -- too little memory, say: the program that is recorded has no part in it
                lost = pending.count(kind) - (self._writer.written[kind] - before)
                failures += [(kind, LossReason.WRITE_FAILED, lost)] if lost else []
        return failures

    def write_losses(self, losses: LossCount) -> bool:
        """Write losses; whether the file took them. Who asks the recorder gets them in any case."""
        try:
            self._writer.losses(losses.rows())
        except Exception:  # noqa: BLE001 -- as above
            return False
        return True

    def close(self, ended_monotonic_ns: int, ended_real_ns: int, take_losses: Callable[[], LossCount]) -> None:
        """Write display packets, the last losses and the closing packet, if the file takes them.

        Without the closing packet a reader sees that the recording did not end well.

        Args:
            ended_monotonic_ns, ended_real_ns: End of the recording, in the host's clocks; 0 = not known.
            take_losses: Gives the losses that are not written yet. Asked as late as can be, for threads that do not stop go on to
                lose; where the file does not take them, the totals count them all the same.
        """
        with contextlib.suppress(Exception):
            for packets in self._display.packets(self._writer.strings.rows()):
                self._writer.display(packets)
        losses = take_losses()
        unwritten = () if self.write_losses(losses) else losses.rows()
        with contextlib.suppress(Exception):
            self._writer.close(ended_monotonic_ns=ended_monotonic_ns, ended_real_ns=ended_real_ns, unwritten=unwritten)

    def _maps(self, pending: Pending) -> Mapping[int, ClockMap]:
        """Maps of the clocks so far, by their latest readings."""
        self._clocks += pending.rows.get("clocks", ())
        for reading in pending.snapshots:
            self._readings[reading.clock_id].append(reading)
        return clock_maps(self._clocks, list(itertools.chain(*self._readings.values())))

    def _table(self, whole: Table, numbers: Int64, maps: Mapping[int, ClockMap]) -> list[tuple[int, LossReason, int]]:
        failures: list[tuple[int, LossReason, int]] = []
        table = self._resolved(whole) if isinstance(whole, Dependencies) else whole
        if len(table) < len(whole):
            failures.append((table.kind, LossReason.INVALID, len(whole) - len(table)))
        ordinals = np.full(len(table), _NOWHERE, np.int64)
        for rows in _chunk_rows(table):
            chunk = table.take(rows)
            reason = self._chunk(chunk, maps)
            if reason is None:
                end = self._writer.written[table.kind]
                ordinals[rows] = np.arange(end - len(chunk), end)
            else:
                failures.append((table.kind, reason, len(chunk)))
        if isinstance(table, DeviceSlices):
            self._remember(numbers, ordinals)
        return failures

    def _chunk(self, chunk: Table, maps: Mapping[int, ClockMap]) -> LossReason | None:
        if self._is_undefined:
            return LossReason.WRITE_FAILED
        start_ns, end_ns = bounds(chunk, maps)
        try:
            self._writer.chunk(chunk, start_monotonic_ns=start_ns, end_monotonic_ns=end_ns)
        except OSError:
            return LossReason.WRITE_FAILED
        except (ValueError, OverflowError):
            return LossReason.INVALID
        self._display.keep(chunk)
        return None

    def _remember(self, numbers: Int64, ordinals: Int64) -> None:
        end = max(self._first + len(self._ordinals), int(numbers.max()) + 1)
        first = max(self._first, end - _ORDINALS_KEPT)
        before = self._ordinals[first - self._first :]
        known = np.full(end - first, _NOWHERE, np.int64)
        known[: len(before)] = before
        is_kept = numbers >= first
        known[numbers[is_kept] - first] = ordinals[is_kept]
        self._first, self._ordinals = first, known

    def _resolved(self, table: Dependencies) -> Dependencies:
        """The dependencies between slices that are in the file, by their ordinals there."""
        if not len(self._ordinals):
            return Dependencies.empty()
        ends = []
        for numbers in (table.predecessor_ordinal, table.successor_ordinal):
            at = numbers - self._first
            is_known = (at >= 0) & (at < len(self._ordinals))
            ends.append(np.where(is_known, self._ordinals[np.where(is_known, at, 0)], _NOWHERE))
        whole = (ends[0] != _NOWHERE) & (ends[1] != _NOWHERE)
        return Dependencies.of(predecessor_ordinal=ends[0][whole], successor_ordinal=ends[1][whole])


class _WholeWrites:
    """A file that takes a packet whole or not at all: what a full disk leaves of one is taken back."""

    def __init__(self, file: BinaryIO) -> None:
        # Who drops a buffer closes what is below it.
        self._given = file
        if isinstance(file, (io.BufferedWriter, io.BufferedRandom)):
            # What is in its buffer would die with the process, and be written twice by one that is forked off.
            file.flush()
            self._file: BinaryIO = file.raw  # type: ignore[assignment]  # all of it that is used
        else:
            self._file = file
        self._is_broken = False

    def write(self, data: memoryview) -> int:
        if self._is_broken:
            raise OSError("the end of the file is not whole")
        done = 0
        try:
            begin = self._file.tell()
        except (OSError, ValueError):
            # A pipe has no places.
            begin = -1
        try:
            while done < len(data):
                taken = self._file.write(data[done:])
                if not taken:
                    # Of one that does not block. To try on would be to hang with a pipe that nobody reads.
                    raise OSError(errno.EAGAIN, "the file takes nothing")
                done += taken
        except Exception as error:
            # An error of the system says that nothing more was taken; who knows it of others.
            is_whole = not done and isinstance(error, OSError)
            self._is_broken = not self._take_back(begin) and not is_whole
            raise error if isinstance(error, OSError) else OSError(str(error)) from error
        return done

    def _take_back(self, begin: int) -> bool:
        try:
            self._file.truncate(self._file.seek(begin))
        except Exception:  # noqa: BLE001 -- whatever the file of another raises
            return False
        return True


def _chunk_rows(table: Table) -> Iterator[Int64 | slice]:
    """Rows of each chunk: of one clock, and no more than a chunk holds."""
    clock_ids = getattr(table, "clock_id", None)
    if clock_ids is None or not (clock_ids != clock_ids[:1]).any():
        # Nearly always: then nothing is moved.
        yield from (slice(at, min(at + CHUNK_LIMIT, len(table))) for at in range(0, len(table), CHUNK_LIMIT))
        return
    for clock_id in np.unique(clock_ids).tolist():
        rows = np.flatnonzero(clock_ids == clock_id)
        for at in range(0, len(rows), CHUNK_LIMIT):
            yield rows[at : at + CHUNK_LIMIT]
