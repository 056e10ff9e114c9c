"""Start and stop of a recording from Python, as the vendor's `rebel.profiler` has it, for the simulated device of this process.

    with profile(output_dir="./temp") as window:      start("./temp")
        model(x)                                      model(x)
    window.paths                                      done()

RBLN_PROFILER=1 at the start of the process says that its work can be recorded; a window says when. A window of torch.profiler that
asks for the device is such a window too: there is one at a time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rblnpb.sim.control import Window

__all__ = ["done", "instance", "profile", "start"]


def start(output_dir: str | os.PathLike[str] | None = None, *, single_stream: bool = False) -> Window:
    """Begin a window. A recording that goes on is dropped with its file.

    Args:
        output_dir: Where its profiles go; None = RBLN_PROFILER_DIR, or else the current folder.
        single_stream: A file for each runtime instance (Single Stream) instead of one for all (Multi Stream).

    Raises:
        RuntimeError: A window is open, of this module or of torch.profiler; or the process has no simulated device.
    """
    session = _session()
    if session.is_torch_recording:
        raise RuntimeError("torch.profiler records the device now, and there is one window at a time")
    window: Window = session.control.start(output_dir, single_stream=single_stream)
    return window


def done() -> tuple[Path, ...]:
    """End the window, or without one the recording of the process. What the device does from now on is not recorded.

    Returns:
        The profiles that are whole, in the order of the runtime instances.

    Raises:
        RuntimeError: The process has no simulated device.
    """
    paths: tuple[Path, ...] = _session().control.done()
    return paths


@contextmanager
def profile(output_dir: str | os.PathLike[str] | None = None, *, single_stream: bool = False) -> Iterator[Window]:
    """A window around a block; see `start`. Gives the window, whose `paths` are known after the block."""
    window = start(output_dir, single_stream=single_stream)
    try:
        yield window
    finally:
        done()


@contextmanager
def instance(number: int) -> Iterator[None]:
    """What this thread runs on the device in the block runs on this runtime instance, from 1.

    Raises:
        ValueError: The number is below 1.
        RuntimeError: The process has no simulated device.
    """
    with _session().control.instance(number):
        yield


def _session() -> Any:
    """What the device of this process runs; torch is looked up and never loaded."""
    session = getattr(getattr(sys.modules.get("torch"), "rbln", None), "session", None)
    if session is None:
        raise RuntimeError("this process has no simulated device: rblnpb run, RBLNPB_SIM=1 or rblnpb.torch.activate brings it up")
    return session
