"""When runtimes record: windows with a beginning and an end, for all runtime instances of a process.

    which work is recorded: where the process starts, RBLN_PROFILER=1     when it is recorded: start ... done

Without a window everything is recorded from the first launch to the end of the process, into one file. A window writes files of its
own: one of all instances (Multi Stream), or one of each instance that ran in it (Single Stream).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from rblnpb.naming import NameStyle
from rblnpb.process_lock import ProcessLock
from rblnpb.sim.runtime import Runtime

__all__ = ["Control", "NewRuntime", "Window"]

NewRuntime = Callable[[NameStyle, "Path | None"], Runtime]
"""Makes a runtime whose slices are named in a style and whose first profile goes to a folder; None = where profiles go."""

_ALL: Final = 0
"""Place of the runtime that stands for all instances, which are counted from 1."""


class Window:
    """One window.

    Attributes:
        directory: Where its profiles go; None = where all go.
        is_single_stream: Whether each instance has a file of its own.
        paths: Its profiles, in the order of the instances, once it is over.
    """

    def __init__(self, directory: Path | None, *, is_single_stream: bool) -> None:
        """A window that has begun."""
        self.directory = directory
        self.is_single_stream = is_single_stream
        self.paths: tuple[Path, ...] = ()


class Control:
    """The runtimes of one process, and when they record. Any thread may use it; a window is of the whole process.

    Example:
        >>> import io, tempfile, time
        >>> from rblnpb import sim
        >>> said, settings = io.StringIO(), {"RBLN_PROFILER": "1"}
        >>> def new_runtime(style, directory):
        ...     clocks = {"clock": time.monotonic_ns, "real_clock": time.time_ns}
        ...     return sim.Runtime(environ=settings, stream=said, name_style=style, directory=directory, **clocks)
        >>> control = sim.Control(new_runtime, said)
        >>> with tempfile.TemporaryDirectory() as folder, control.profile(folder, single_stream=True) as window:
        ...     for number in (1, 2):
        ...         with control.instance(number) as runtime:
        ...             launched = runtime.launch("mm", thread_id=42, instance=number)
        >>> len(window.paths)
        2
    """

    def __init__(self, new_runtime: NewRuntime, stream: TextIO, *, is_profiling: bool = True) -> None:
        """Without a runtime: each begins when it is first used.

        Args:
            new_runtime: Makes one.
            stream: Takes the line that says why a window records nothing.
            is_profiling: Whether runtimes record at all.
        """
        self._new_runtime, self._stream, self._is_profiling = new_runtime, stream, is_profiling
        self._process_id = os.getpid()
        self._lock = ProcessLock()
        self._runtimes: dict[int, Runtime] = {}
        self._window: Window | None = None
        self._was_ended = False
        self._behind: set[int] = set()
        self._thread = threading.local()

    @property
    def window(self) -> Window | None:
        """The window that is open."""
        return self._window

    @property
    def instance_number(self) -> int:
        """Runtime instance that runs what this thread launches; 1 outside of `instance`."""
        number: int = getattr(self._thread, "number", 1)
        return number

    @contextmanager
    def instance(self, number: int) -> Iterator[Runtime]:
        """What this thread launches in the block runs on this runtime instance, from 1; gives its runtime.

        Raises:
            ValueError: The number is below 1.
        """
        if number < 1:
            raise ValueError(f"runtime instances are counted from 1, not from {number}")
        before, self._thread.number = self.instance_number, number
        try:
            yield self.runtime()
        finally:
            self._thread.number = before

    def runtime(self) -> Runtime:
        """The runtime of this thread's instance."""
        window = self._window
        place = self.instance_number if window is not None and window.is_single_stream else _ALL
        if place in self._behind or place not in self._runtimes:
            with self._lock:
                self._catch_up(place)
        return self._runtimes[place]

    def start(self, output_dir: str | os.PathLike[str] | None = None, *, single_stream: bool = False) -> Window:
        """Begin a window. A recording that goes on is dropped with its file, as the vendor's runtime does.

        A process that was forked off records nothing of the one that it came from, but may have windows of its own.

        Args:
            output_dir: Where its profiles go; None = where all go.
            single_stream: A file for each instance instead of one for all.

        Raises:
            RuntimeError: A window is open.
        """
        with self._lock:
            if os.getpid() != self._process_id:
                self._process_id, self._runtimes, self._window = os.getpid(), {}, None
            if self._window is not None:
                raise RuntimeError("a profiling window is open already, and there is one at a time: done() ends it")
            for runtime in self._runtimes.values():
                runtime.drop_session()
            self._behind = set(self._runtimes)
            self._window = Window(None if output_dir is None else Path(output_dir), is_single_stream=single_stream)
            if not self._is_profiling:
                print("rblnpb: nothing is recorded: RBLN_PROFILER=1 was not set when the process started", file=self._stream)
            elif not single_stream:
                # A window without a launch is a profile as well; of instances, only those that run have one.
                self.runtime()
            return self._window

    def done(self) -> tuple[Path, ...]:
        """End the window, or without one the recording of the process; what is launched from now on is not recorded.

        Returns:
            The profiles that are whole, in the order of the instances.
        """
        with self._lock:
            window, self._window, self._was_ended = self._window, None, True
            ended = [self._runtimes[place].end_session() for place in sorted(self._runtimes)]
            self._behind = set()
            paths = tuple(path for path in ended if path is not None)
            if window is not None:
                window.paths = paths
            return paths

    @contextmanager
    def profile(self, output_dir: str | os.PathLike[str] | None = None, *, single_stream: bool = False) -> Iterator[Window]:
        """A window around a block; see `start`. Gives the window, whose `paths` are known after the block."""
        window = self.start(output_dir, single_stream=single_stream)
        try:
            yield window
        finally:
            self.done()

    def _catch_up(self, place: int) -> None:
        """Let a runtime record what is recorded now."""
        window, runtime = self._window, self._runtimes.get(place)
        directory = window.directory if window is not None else None
        if runtime is None:
            style = NameStyle.MULTI_STREAM if place == _ALL else NameStyle.SINGLE_STREAM
            runtime = self._runtimes[place] = self._new_runtime(style, directory)
            if window is None and self._was_ended:
                runtime.drop_session()
        elif place in self._behind:
            runtime.begin_session(directory)
        self._behind.discard(place)
