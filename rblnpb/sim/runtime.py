"""The runtime of a simulated device, for programs that run: each launch is recorded as it happens.

RBLN_PROFILER=1  ->  Runtime  ->  launch, launch, ...  ->  close: the generation report, and rbln_<date>_<time>_<seq>.pb
"""

from __future__ import annotations

import os
import threading
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
from rblnpb.profile import HostActivity, Session
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

        Raises:
            UsageError: There is no such NPU.
        """
        self._process_id = os.getpid()
        self._clock, self._stream, self._wait_until = clock, stream, wait_until
        self._lock = threading.Lock()
        self._launch_count = 0
        self._call_counts: Counter[int] = Counter()
        self._rows: dict[str, int] = {}
        self._npu = npu
        self._free_ns = 0
        self._intern = StringTable().intern
        self._recording: Recording | None = None
        self._path: Path | None = None
        started_ns, started_real_ns = clock(), real_clock()
        self._scene = Scene.of(npu, started_ns, (), self._intern, Draws(seed))
        if environ.get("RBLN_PROFILER", "").strip().lower() not in ("1", "true"):
            return
        session = Session(
            session_id=Draws(seed, self._process_id, started_ns, started_real_ns).identity(),
            started_real_ns=started_real_ns,
            started_monotonic_ns=started_ns,
            host_name=host_name,
            boot_id=boot_id,
            process_id=self._process_id,
            tool_name="rblnpb.sim",
            tool_version=__version__,
            name_style=name_style,
            drained_after_each_run=wait_until is not None,
            settings=tuple(sorted(item for item in environ.items() if item[0].startswith("RBLN_"))),
            npu=npu,
        )
        try:
            folder = Path(directory or environ.get("RBLN_PROFILER_DIR") or ".")
            self._recording = Recording(session, folder, self._scene, clock, real_clock)
            self._intern, self._path = self._recording.intern, self._recording.path
        except RblnpbError as error:
            print(f"rblnpb: nothing is recorded: {error}", file=stream)

    @property
    def path(self) -> Path | None:
        """The profile that is, or was, recorded; None when there is none."""
        return self._path

    def launch(self, program: str, *, thread_id: int, instance: int = 1) -> Launched:
        """Run a program on the device.

        Args:
            program: One of `PROGRAMS`, or any operator as `namespace::op`. The first time it is compiled.
            thread_id: Native id of the calling thread.
            instance: Runtime instance, from 1.

        Raises:
            UsageError: There is no such program.
        """
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
            if self._recording:
                self._recording.call(self._scene, calls, batch)
        if self._wait_until:
            self._wait_until(launched.end_ns)
        if self._recording:
            waits = [(HostActivity.WAIT, submitted_ns, self._clock())] if self._wait_until else []
            compiles = [(HostActivity.COMPILE, begin_ns, launch_ns)] if is_new else []
            for work, from_ns, to_ns in (*compiles, (HostActivity.SUBMIT, launch_ns, submitted_ns), *waits):
                self._recording.host(work, from_ns, to_ns, thread_id, launched.launch_id)
        return launched

    def close(self) -> None:
        """End the recording, and print its report and its file. A process that was forked off says and writes nothing."""
        with self._lock:
            recording, self._recording = self._recording, None
        if recording is None or os.getpid() != self._process_id:
            return
        try:
            text = recording.end(self._scene)
        except RblnpbError as error:
            text = f"rblnpb: the profile is not complete: {error}"
        print(text, file=self._stream)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

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
        return Load(row, length_ns, nothing, nothing, nothing, process, thread, launch, number, ordinal)
