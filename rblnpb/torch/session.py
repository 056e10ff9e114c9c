"""What the device is told to run: programs into the simulated runtime, and work that nobody asked for."""

from __future__ import annotations

import atexit
import itertools
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Final

from rblnpb.naming import NameStyle
from rblnpb.process_lock import ProcessLock
from rblnpb.profile import HostActivity, OverheadKind
from rblnpb.sim import Control, Runtime
from rblnpb.torch.choices import Choices, is_on
from rblnpb.torch.explain_counts import SLOW_COPIES, Counts, Group, Key
from rblnpb.torch.explain_memory import DeviceMemory

__all__ = ["DeviceSession"]

_PLACES_TRACED: Final = 2
_WARM: Final = Key(Group.WARM)
_NO_CROSSINGS: Final[Mapping[str, int]] = MappingProxyType({})
_PROGRAM_OF: Final = {"aten::mm": "mm"}
"""Operators with a program of their own; the others are compiled under their names."""


class DeviceSession:
    """The runtime of this process. It begins with the first program or profiling window, as the vendor's does.

    Without RBLN_PROFILER=1 at the start of the process nothing is simulated but the values: no program is laid out.
    """

    def __init__(self, choices: Choices) -> None:
        """A session that has not begun.

        Args:
            choices: How the device is to behave.
        """
        self.npu = choices.npu
        self.is_checking = not is_on(choices.environ.get("TORCH_RBLN_DEPLOY"))
        self.is_attributing = choices.is_attributing
        self.counts = Counts()
        self.memory = DeviceMemory()
        self._choices = choices
        self._is_profiled = is_on(choices.environ.get("RBLN_PROFILER"))
        self._lock = ProcessLock()
        self.control = Control(self._new_runtime, sys.stdout, is_profiling=self._is_profiled)
        self.is_torch_recording = False
        self._shapes: set[tuple[object, ...]] = set()
        self._ops: set[str] = set()

    @property
    def is_bridged(self) -> bool:
        """Whether device events go to torch.profiler: the vendor's bridge stays inactive on ATOM."""
        return self._is_profiled and self.npu != "atom"

    @property
    def is_recording(self) -> bool:
        """Whether what happens now is recorded."""
        return self._is_profiled and self.control.runtime().is_recording

    def begin_window(self) -> None:
        """A profiling window of torch begins: the profile is about it alone.

        Raises:
            RuntimeError: A window of `rblnpb.torch.profiler` is open: one of the two drives the runtime, never both.
        """
        if self.is_bridged:
            if self.control.window is not None:
                raise RuntimeError(
                    "a window of rblnpb.torch.profiler is open, and torch.profiler would record into it: done() ends it"
                )
            self.control.runtime().begin_session()
            self.is_torch_recording = True

    def end_window(self) -> Path | None:
        """The window ends: the report is printed. Gives its profile, if there is a whole one."""
        self.is_torch_recording = False
        return self.control.runtime().end_session() if self.is_bridged else None

    def launch(self, op: str) -> None:
        """Run the program of an operator on the device, and wait for it, as the profiled runtime does."""
        if self.is_recording:
            instance = self.control.instance_number
            self.control.runtime().launch(_PROGRAM_OF.get(op, op), thread_id=threading.get_native_id(), instance=instance)
        elif self._is_profiled:
            self.control.runtime().say_unrecorded()

    def compiled(self, op: str, signature: tuple[object, ...]) -> None:
        """Note that an operator runs with these shapes and types; the first time, a program is compiled for them."""
        program = (op, *signature)
        if program in self._shapes:
            self.counts.add(_WARM)
            return
        with self._lock:
            is_compiled, is_known = program in self._shapes, op in self._ops
            self._shapes.add(program)
            self._ops.add(op)
        if is_compiled:
            # Another thread was faster.
            self.counts.add(_WARM)
            return
        reason = "new shape or type" if is_known else "first call"
        self.counts.add(Key(Group.RECOMPILATION, op, reason))
        self._note(OverheadKind.RECOMPILATION, op, reason, start_ns=time.monotonic_ns())

    def fell_back(self, op: str, reason: str, start_ns: int) -> None:
        """Note that the host computed an operator, from this host monotonic time until now."""
        took_ns = time.monotonic_ns() - start_ns
        self.counts.add(Key(Group.FALLBACK, op, reason), duration_ns=took_ns)
        self._note(OverheadKind.CPU_FALLBACK, op, reason, start_ns=start_ns, duration_ns=took_ns)

    def copied(self, activity: HostActivity, start_ns: int, size_bytes: int) -> None:
        """Record a copy that began at this host monotonic time and is done."""
        self.called("h2v" if activity is HostActivity.COPY_IN else "v2h", start_ns)
        if self.is_recording:
            thread_id = threading.get_native_id()
            self.control.runtime().copied(activity, start_ns, time.monotonic_ns(), thread_id=thread_id, size_bytes=size_bytes)

    def called(self, primitive: str, start_ns: int) -> None:
        """Count a call into the runtime that began at this host monotonic time and is done."""
        self.counts.add(Key(Group.PRIMITIVE, primitive), duration_ns=time.monotonic_ns() - start_ns)

    def took_detour(
        self, way: str, start_ns: int, size_bytes: int, *, rejected: str = "", crossings: Mapping[str, int] = _NO_CROSSINGS
    ) -> None:
        """Note a copy through the host that nobody asked for; it began at this host monotonic time and is done.

        Args:
            way: One of `BOUNCES` or `SLOW_COPIES`.
            start_ns, size_bytes: Of the copy.
            rejected: Why it was not done on the device, when the runtime was asked to.
            crossings: Bytes that went from device to host, "d2h", and from host to device, "h2d".
        """
        took_ns = time.monotonic_ns() - start_ns
        group = Group.SLOW_COPY if way in SLOW_COPIES else Group.BOUNCE
        self.counts.add(Key(group, way, rejected), size_bytes=size_bytes, duration_ns=took_ns)
        for direction, crossed_bytes in crossings.items():
            self.counts.add(Key(Group.CROSSING, direction), size_bytes=crossed_bytes)
        kind = OverheadKind.HOST_COPY
        self._note(kind, "aten::copy_", way, traced_as=way, start_ns=start_ns, duration_ns=took_ns, size_bytes=size_bytes)

    def _note(
        self,
        kind: OverheadKind,
        op: str,
        reason: str,
        *,
        start_ns: int,
        duration_ns: int | None = None,
        size_bytes: int | None = None,
        traced_as: str = "",
    ) -> None:
        """Record work that the program did not ask for, with the line of the program that led to it."""
        if self.counts.is_tracing:
            self.counts.place(traced_as or op, " <- ".join(itertools.islice(_places(), _PLACES_TRACED)))
        if self.is_recording:
            self.control.runtime().overhead(
                kind,
                op,
                reason,
                start_ns=start_ns,
                thread_id=threading.get_native_id(),
                place=next(_places(), ""),
                duration_ns=duration_ns,
                size_bytes=size_bytes,
            )

    def synchronize(self) -> None:
        """Wait until the device has done everything: it has, for each launch of a profiled runtime waits."""

    def _new_runtime(self, style: NameStyle, directory: Path | None) -> Runtime:
        runtime = Runtime(
            environ=self._choices.environ,
            clock=time.monotonic_ns,
            real_clock=time.time_ns,
            stream=sys.stdout,
            npu=self.npu,
            directory=directory or self._choices.directory,
            name_style=style,
            wait_until=_waiter(time.monotonic_ns),
            host_name=socket.gethostname(),
            boot_id=_boot_id(),
        )
        atexit.register(runtime.close)
        return runtime


def _waiter(clock: Callable[[], int]) -> Callable[[int], None]:
    """Device times are microseconds away: asking the clock is nearer to them than any sleep."""

    def wait_until(time_ns: int) -> None:
        while clock() < time_ns:
            pass

    return wait_until


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _places() -> Iterator[str]:
    """Lines outside of torch and of this package, as `file:line(function)`, from the innermost; none in a thread of torch's own."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 -- the stack is not offered otherwise without building all of it
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name == "runpy":
            # What started the program is no part of it.
            return
        if not name.startswith(("torch.", "rblnpb.torch.")) and name not in ("torch", "rblnpb.torch"):
            yield f"{frame.f_code.co_filename}:{frame.f_lineno}({frame.f_code.co_name})"
        frame = frame.f_back
