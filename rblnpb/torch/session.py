"""What the device is told to run: programs into the simulated runtime, and work that nobody asked for."""

from __future__ import annotations

import atexit
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rblnpb.profile import HostActivity, OverheadKind
from rblnpb.sim import Runtime
from rblnpb.torch.choices import Choices, is_on

__all__ = ["DeviceSession"]

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
        self._choices = choices
        self._is_profiled = is_on(choices.environ.get("RBLN_PROFILER"))
        self._lock = threading.Lock()
        self._runtime: Runtime | None = None
        self._shapes: set[tuple[object, ...]] = set()
        self._ops: set[str] = set()

    @property
    def is_bridged(self) -> bool:
        """Whether device events go to torch.profiler: the vendor's bridge stays inactive on ATOM."""
        return self._is_profiled and self.npu != "atom"

    @property
    def is_recording(self) -> bool:
        """Whether what happens now is recorded."""
        return self._is_profiled and self._begun().is_recording

    def begin_window(self) -> None:
        """A profiling window of torch begins: the profile is about it alone."""
        if self.is_bridged:
            self._begun().begin_session()

    def end_window(self) -> Path | None:
        """The window ends: the report is printed. Gives its profile, if there is a whole one."""
        return self._begun().end_session() if self.is_bridged else None

    def launch(self, op: str) -> None:
        """Run the program of an operator on the device, and wait for it, as the profiled runtime does."""
        if self.is_recording:
            self._begun().launch(_PROGRAM_OF.get(op, op), thread_id=threading.get_native_id())

    def compiled(self, op: str, signature: tuple[object, ...]) -> None:
        """Note that an operator runs with these shapes and types; the first time, a program is compiled for them."""
        if (op, *signature) in self._shapes:
            return
        is_known = op in self._ops
        self._shapes.add((op, *signature))
        self._ops.add(op)
        self.overhead(
            OverheadKind.RECOMPILATION, op, "new shape or type" if is_known else "first call", start_ns=time.monotonic_ns()
        )

    def copied(self, activity: HostActivity, start_ns: int, size_bytes: int) -> None:
        """Record a copy that began at this host monotonic time and is done."""
        if self.is_recording:
            thread_id = threading.get_native_id()
            self._begun().copied(activity, start_ns, time.monotonic_ns(), thread_id=thread_id, size_bytes=size_bytes)

    def overhead(
        self,
        kind: OverheadKind,
        op: str,
        reason: str,
        *,
        start_ns: int,
        duration_ns: int | None = None,
        size_bytes: int | None = None,
    ) -> None:
        """Record work that the program did not ask for, with the line of the program that led to it."""
        if self.is_recording:
            self._begun().overhead(
                kind,
                op,
                reason,
                start_ns=start_ns,
                thread_id=threading.get_native_id(),
                place=_place(),
                duration_ns=duration_ns,
                size_bytes=size_bytes,
            )

    def synchronize(self) -> None:
        """Wait until the device has done everything: it has, for each launch of a profiled runtime waits."""

    def _begun(self) -> Runtime:
        runtime = self._runtime
        if runtime is None:
            with self._lock:
                if self._runtime is None:
                    self._runtime = self._new_runtime()
                    atexit.register(self._runtime.close)
                runtime = self._runtime
        return runtime

    def _new_runtime(self) -> Runtime:
        return Runtime(
            environ=self._choices.environ,
            clock=time.monotonic_ns,
            real_clock=time.time_ns,
            stream=sys.stdout,
            npu=self.npu,
            directory=self._choices.directory,
            wait_until=_waiter(time.monotonic_ns),
            host_name=socket.gethostname(),
            boot_id=_boot_id(),
        )


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


def _place() -> str:
    """The innermost line outside of torch and of this package, as `file:line(function)`; "" in a thread of torch's own."""
    frame = sys._getframe(1)  # noqa: SLF001 -- the stack is not offered otherwise without building all of it
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("torch.", "rblnpb.torch.")) and name not in ("torch", "rblnpb.torch"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}({frame.f_code.co_name})"
        if frame.f_back is None:
            break
        frame = frame.f_back
    return ""
