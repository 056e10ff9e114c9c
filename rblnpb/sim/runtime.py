"""The runtime of a simulated device, for programs that run: each launch is recorded as it happens.

RBLN_PROFILER=1  ->  Runtime  ->  launch, launch, ...  ->  close: the generation report, and rbln_<date>_<time>_<seq>.pb
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, TextIO

import numpy as np

from rblnpb._version import __version__
from rblnpb.columns import Int64
from rblnpb.errors import RblnpbError
from rblnpb.naming import NameStyle
from rblnpb.process_lock import ProcessLock
from rblnpb.profile import HostActivity, OverheadKind, Session
from rblnpb.sim.calls import Calls, Load
from rblnpb.sim.draws import Draws
from rblnpb.sim.npu import npu_of
from rblnpb.sim.programs import recipe
from rblnpb.sim.recording import Recording
from rblnpb.sim.scene import BOOT_ID, HOST_NAME, Scene
from rblnpb.strings import StringTable

__all__ = ["Launched", "Runtime"]

_LATENCY_NS: Final = 4_000


@dataclass(frozen=True)
class Launched:
    """One launch: its number, when it was submitted, and when the device begins and ends it, in the host monotonic clock."""

    launch_id: int
    launch_ns: int
    start_ns: int
    end_ns: int


class Runtime:
    """Runs programs on a simulated device, and records them when `RBLN_PROFILER` is `1` or `true`.

    The setting is read once, here. Unset, nothing is recorded or written; launching works all the same. Launches may come from any
    thread. What keeps a profile from being written is said on the stream; it does not disturb the program.

    Example:
        >>> import io, tempfile, time
        >>> from rblnpb import sim
        >>> said = io.StringIO()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     settings = {"RBLN_PROFILER": "1", "RBLN_PROFILER_DIR": folder}
        ...     with sim.Runtime(environ=settings, clock=time.monotonic_ns, real_clock=time.time_ns, stream=said) as runtime:
        ...         launched = runtime.launch("mm", thread_id=42)
        >>> said.getvalue().splitlines()[0]
        'RBLN Profiler Generation Status Report'
    """

    def __init__(  # noqa: PLR0913 -- the world around the runtime, piece by piece
        self,
        *,
        environ: Mapping[str, str],
        clock: Callable[[], int],
        real_clock: Callable[[], int],
        stream: TextIO,
        npu: str = "rebel100",
        directory: str | os.PathLike[str] | None = None,
        wait_until: Callable[[int], None] | None = None,
        name_style: NameStyle = NameStyle.MULTI_STREAM,
        host_name: str = HOST_NAME,
        boot_id: str = BOOT_ID,
        seed: int = 0,
        display: bool | None = None,
    ) -> None:
        """Start the runtime, and the recording if it is asked for.

        Args:
            environ: Environment variables: RBLN_PROFILER, RBLN_PROFILER_DIR; all that begin with RBLN_ are recorded as settings.
            clock, real_clock: The host's monotonic and real-time clocks, ns.
            stream: Takes the report.
            npu: "rebel100" or "atom".
            directory: Where the profile goes; None = RBLN_PROFILER_DIR, or else the current folder.
            wait_until: Returns when the host's monotonic clock has reached a time; with it every launch waits for the device. None:
                no launch waits, and the device may work beyond the end of the recording.
            name_style: How slice names are spelled.
            host_name, boot_id: Identity of the host, see `Session`.
            seed: Of everything that is drawn.
            display: Whether the profile shows itself in Perfetto's viewer, see `Recorder`.

        Raises:
            UsageError: There is no such NPU.
        """
        self._process_id = os.getpid()
        self._clock, self._real_clock, self._stream, self._wait_until = clock, real_clock, stream, wait_until
        self._lock = ProcessLock()
        self._is_said = False
        self._launch_count = 0
        self._call_counts: Counter[int] = Counter()
        self._rows: dict[str, int] = {}
        self._npu = npu
        self._free_ns = 0
        self._intern = StringTable().intern
        self._recording: Recording | None = None
        self._path: Path | None = None
        self._seed, self._host_name, self._boot_id, self._name_style = seed, host_name, boot_id, name_style
        self._settings = tuple(sorted(item for item in environ.items() if item[0].startswith("RBLN_")))
        self._folder = Path(directory or environ.get("RBLN_PROFILER_DIR") or ".")
        self._display = display
        self._scene = Scene.of(npu, clock(), (), self._intern, Draws(seed))
        self._is_profiling = environ.get("RBLN_PROFILER", "").strip().lower() in ("1", "true")
        self._record_anew(self._folder)

    @property
    def path(self) -> Path | None:
        """The profile that is, or was, recorded; None when there is none."""
        return self._path

    @property
    def is_profiling(self) -> bool:
        """Whether the runtime was started to be profiled."""
        return self._is_profiling

    @property
    def is_recording(self) -> bool:
        """Whether a launch would be recorded now."""
        return self._recording is not None and os.getpid() == self._process_id

    def begin_session(self, directory: str | os.PathLike[str] | None = None) -> None:
        """Begin a profile of its own for what comes now: launches and calls are counted from the first.

        A recording that is open is dropped with its file, as the vendor's runtime does. Does nothing when profiling is off, and in
        a process that was forked off.

        Args:
            directory: Where the profile goes; None = where the first one did.
        """
        self.drop_session()
        with self._lock:
            if os.getpid() == self._process_id:
                self._record_anew(self._folder if directory is None else Path(directory))

    def drop_session(self) -> None:
        """End the recording without a report, and without its file; in a process that was forked off, nothing happens."""
        with self._lock:
            if self.is_recording and self._recording:
                self._recording.discard()
                self._recording = None

    def end_session(self) -> Path | None:
        """End the recording as `close` does; what is launched from now on is not recorded.

        Returns:
            The profile; None when none was recorded, or it is not whole.
        """
        return self._end()

    def launch(self, program: str, *, thread_id: int, instance: int = 1) -> Launched:
        """Run a program on the device.

        Args:
            program: One of `PROGRAMS`, or any operator as `namespace::op`. The first time it is compiled.
            thread_id: Native id of the calling thread.
            instance: Runtime instance, from 1.

        Raises:
            UsageError: There is no such program.
        """
        self.say_unrecorded()
        with self._lock:
            begin_ns = self._clock()
            row, is_new = self._compiled(program)
            launch_ns = self._clock()
            batch = self._scene.lay_out(row, np.zeros(1, np.int64))
            submitted_ns = self._clock()
            latency_ns = int(self._scene.draws.around([_LATENCY_NS], 25)[0])
            start_ns = max(submitted_ns + latency_ns, self._free_ns)
            load = self._load(row, batch.layout.length_ns, thread_id, instance)
            calls = Calls(load, np.array([begin_ns]), np.array([launch_ns]), np.array([start_ns]), ())
            self._free_ns = int(calls.end_ns[0])
            launched = Launched(int(load.launch_id[0]), launch_ns, start_ns, self._free_ns)
            recording = self._recording
            if recording:
                recording.call(self._scene, calls, batch)
        if self._wait_until:
            self._wait_until(launched.end_ns)
        if recording:
            waits = [(HostActivity.WAIT, submitted_ns, self._clock())] if self._wait_until else []
            compiles = [(HostActivity.COMPILE, begin_ns, launch_ns)] if is_new else []
            for work, from_ns, to_ns in (*compiles, (HostActivity.SUBMIT, launch_ns, submitted_ns), *waits):
                recording.host(work, from_ns, to_ns, thread_id, launched.launch_id)
        return launched

    def say_unrecorded(self) -> None:
        """Say, once, in a process that was forked off while it was recorded, that what it launches is in no profile."""
        if self._recording is not None and os.getpid() != self._process_id and not self._is_said:
            self._is_said = True
            whence = f"process {os.getpid()} was forked off from process {self._process_id}"
            text = f"rblnpb: {whence}, which is recorded; what it launches is not, but for windows that it begins itself"
            print(text, file=self._stream)

    def copied(self, activity: HostActivity, start_ns: int, end_ns: int, *, thread_id: int, size_bytes: int) -> None:
        """Record a copy between host and device that the program asked for: COPY_IN or COPY_OUT, host monotonic clock."""
        recording = self._recording
        if recording:
            recording.host(activity, start_ns, end_ns, thread_id, 0, size_bytes)

    def overhead(
        self,
        kind: OverheadKind,
        op: str,
        reason: str,
        *,
        start_ns: int,
        thread_id: int,
        place: str = "",
        duration_ns: int | None = None,
        size_bytes: int | None = None,
    ) -> None:
        """Record work that the program did not ask for.

        Args:
            kind: What was done.
            op: For which operator, such as "aten::sub.out".
            reason: Why.
            start_ns, duration_ns: Host monotonic clock; None = no duration.
            thread_id: Native id of the thread.
            place: Line of the program, as `file:line(function)`.
            size_bytes: Bytes moved; None = none.
        """
        recording = self._recording
        if recording:
            recording.overhead(
                overhead=kind,
                op_strindex=op,
                reason_strindex=reason,
                place_strindex=place,
                start_ns=start_ns,
                duration_ns=duration_ns,
                thread_id=thread_id,
                size_bytes=size_bytes,
            )

    def close(self) -> None:
        """End the recording, and print its report and its file. A process that was forked off says and writes nothing."""
        self._end()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _record_anew(self, folder: Path) -> None:
        """Open a profile when the runtime is profiled; what keeps it from being written is said."""
        self._recording = None
        self._launch_count = 0
        self._call_counts.clear()
        if not self._is_profiling:
            return
        started_ns, started_real_ns = self._clock(), self._real_clock()
        session = Session(
            session_id=Draws(self._seed, self._process_id, started_ns, started_real_ns).identity(),
            started_real_ns=started_real_ns,
            started_monotonic_ns=started_ns,
            host_name=self._host_name,
            boot_id=self._boot_id,
            process_id=self._process_id,
            tool_name="rblnpb.sim",
            tool_version=__version__,
            name_style=self._name_style,
            drained_after_each_run=self._wait_until is not None,
            settings=self._settings,
            npu=self._npu,
        )
        try:
            self._recording = Recording(session, folder, self._scene, self._clock, self._real_clock, display=self._display)
        except RblnpbError as error:
            print(f"rblnpb: nothing is recorded: {error}", file=self._stream)
        else:
            self._path, self._intern = self._recording.path, self._recording.intern
            # A file has a string table of its own, so what was compiled before gets rows in it.
            self._scene = self._scene.interned(self._intern)

    def _end(self) -> Path | None:
        with self._lock:
            recording, self._recording = self._recording, None
        if recording is None or os.getpid() != self._process_id:
            return None
        try:
            print(recording.end(self._scene), file=self._stream)
        except RblnpbError as error:
            print(f"rblnpb: the profile is not complete: {error}", file=self._stream)
            return None
        return recording.path

    def _compiled(self, program: str) -> tuple[int, bool]:
        """Place of a program in the scene, and whether it had to be compiled for that."""
        row = self._rows.get(program)
        if row is not None:
            return row, False
        self._scene = self._scene.with_program(recipe(program, npu_of(self._npu)), self._intern)
        row = self._rows[program] = len(self._rows)
        return row, True

    def _load(self, program: int, length_ns: Int64, thread_id: int, instance: int) -> Load:
        """The next call, alone."""
        self._launch_count += 1
        sequence = self._call_counts[instance]
        self._call_counts[instance] += 1
        row, nothing, process, thread, launch, number, ordinal = np.array(
            [[program], [0], [self._process_id], [thread_id], [self._launch_count], [instance], [sequence]], np.int64
        )
        return Load(row, length_ns, nothing, nothing, nothing, process, thread, launch, number, ordinal, nothing)
