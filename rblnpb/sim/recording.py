"""A recording of the live runtime: the file, its name, and what goes into it launch by launch."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from rblnpb.clock import HOST_REALTIME, ClockSnapshot
from rblnpb.columns import Dependencies, HostSlices, Overheads
from rblnpb.errors import OutputError
from rblnpb.profile import HostActivity, Session
from rblnpb.reader import read
from rblnpb.recorder import DROPPED, Recorder
from rblnpb.report import generation_report, render
from rblnpb.sim.calls import Calls
from rblnpb.sim.clockwork import SNAPSHOT_INTERVAL_NS
from rblnpb.sim.records import Batch, device_slices, workload_slices
from rblnpb.sim.scene import Scene

__all__ = ["Recording", "open_profile_file", "profile_file_name"]

_FILES_OF_A_MILLISECOND: Final = 1_000


def profile_file_name(started_real_ns: int, ordinal: int) -> str:
    """Name of a profile: start in UTC to the millisecond, and its ordinal.

    >>> profile_file_name(1_795_962_120_123_000_000, 0)
    'rbln_20261129_142200123_0.pb'
    """
    start = datetime.fromtimestamp(started_real_ns // 10**9, timezone.utc)
    return f"rbln_{start:%Y%m%d_%H%M%S}{started_real_ns // 10**6 % 1_000:03d}_{ordinal}.pb"


def open_profile_file(directory: Path, started_real_ns: int) -> tuple[Path, BinaryIO, int]:
    """A new profile in a folder, which is made when it is not there: its path, the file without a buffer, and its ordinal.

    Raises:
        OutputError: It cannot be created.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for ordinal in range(_FILES_OF_A_MILLISECOND):
            path = directory / profile_file_name(started_real_ns, ordinal)
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
            except FileExistsError:
                continue
            return path, os.fdopen(descriptor, "wb", buffering=0), ordinal
    except OSError as error:
        raise OutputError(f"cannot write a profile in {directory}: {error.strerror or error}") from error
    raise OutputError(f"cannot write a profile in {directory}: it holds {_FILES_OF_A_MILLISECOND:,} of this millisecond")


class Recording:
    """What the runtime writes while it runs. `host` may be called from any thread, the rest from one at a time."""

    def __init__(
        self,
        session: Session,
        directory: Path,
        scene: Scene,
        clock: Callable[[], int],
        real_clock: Callable[[], int],
        *,
        display: bool | None = None,
    ) -> None:
        """Begin a new profile in a folder, define the device and read its clock; `display` is as of `Recorder`.

        Raises:
            OutputError: It cannot be written.
        """
        self._clock = clock
        self._real_clock = real_clock
        self._process_id = session.process_id
        self._program_count = 0
        self._last_slices: dict[tuple[int, int], int] = {}
        self._snapshot_ns = 0
        self.path, self._file, ordinal = open_profile_file(directory, session.started_real_ns)
        try:
            session = replace(session, file_ordinal=ordinal)
            self._recorder = Recorder(self._file, session, clock=clock, real_clock=real_clock, display=display)
        except OutputError:
            self._file.close()
            self.path.unlink(missing_ok=True)
            raise
        self.intern = self._recorder.intern
        self._recorder.define(clocks=[scene.clock.clock], devices=[scene.device], engines=scene.engines)
        self.read_clocks(scene)

    def end(self, scene: Scene) -> str:
        """Complete the file; gives the generation report, as text.

        Raises:
            RblnpbError: The file cannot be read back.
        """
        self.read_clocks(scene)
        self._recorder.close()
        self._file.close()
        profile = read(self.path)
        if self._recorder.losses:
            # A file that is full may not tell all of them.
            profile = profile.replace(losses=self._recorder.losses)
        return render(generation_report(profile, str(self.path)))

    def read_clocks(self, scene: Scene) -> None:
        """Read the device's clock and real time."""
        before_ns = self._clock()
        read_ns = self._clock()
        between_ns = self._clock()
        real_ns = self._real_clock()
        after_ns = self._clock()
        self._snapshot_ns = after_ns
        self._recorder.snapshot(
            ClockSnapshot(scene.clock.clock.clock_id, int(scene.clock.ticks(read_ns)), before_ns, between_ns),
            ClockSnapshot(HOST_REALTIME, real_ns, between_ns, after_ns),
        )

    def call(self, scene: Scene, calls: Calls, batch: Batch) -> None:
        """Record one call: its program when it is new, its launch, and what the device will do."""
        fresh = scene.compiled.programs[self._program_count :]
        self._program_count = len(scene.compiled.programs)
        self._recorder.define(programs=fresh, commands=scene.compiled.commands)
        self._recorder.record(calls.launches())
        self._recorder.record(workload_slices(scene.clock, scene.workload_engine_id, calls, [batch]))
        slices = device_slices(scene.compiled, scene.clock, calls, [batch])
        first = self._recorder.record(slices)
        caller = batch.program, int(calls.load.instance[0])
        before = self._last_slices.get(caller, DROPPED)
        carried = np.flatnonzero(scene.compiled.is_carried[scene.compiled.rows(batch.program)])
        if DROPPED not in (before, first) and len(carried):
            self._recorder.record(Dependencies.of(predecessor_ordinal=before + carried, successor_ordinal=first + carried))
        self._last_slices[caller] = first
        if self._clock() - self._snapshot_ns >= SNAPSHOT_INTERVAL_NS:
            self.read_clocks(scene)

    def host(
        self, activity: HostActivity, start_ns: int, end_ns: int, thread_id: int, launch_id: int, size_bytes: int | None = None
    ) -> None:
        """Record what the runtime did on the host."""
        self._recorder.add(
            HostSlices,
            activity=activity,
            start_ns=start_ns,
            duration_ns=end_ns - start_ns,
            process_id=self._process_id,
            thread_id=thread_id,
            launch_id=launch_id,
            size_bytes=size_bytes,
        )

    def overhead(self, **columns: float | str | None) -> None:
        """Record work that nobody asked for; columns of `Overheads`, texts where those have string rows."""
        self._recorder.add(Overheads, **columns)

    def discard(self) -> None:
        """Stop, and leave no file behind."""
        # What other threads still record is refused from here on, before it meets a file that is closed.
        self._recorder.end()
        self._file.close()
        self.path.unlink(missing_ok=True)
