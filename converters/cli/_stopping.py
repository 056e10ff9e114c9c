"""Signals that ask the process to end: they end a command as Ctrl-C does, so that what it has begun to write is taken away."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

__all__ = ["Stopped", "leave_signals_alone", "stopping"]

_NUMBERS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(KeyboardInterrupt):
    """A signal asks the process to end.

    Attributes:
        signal_number: Which one.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__()
        self.signal_number = signal_number


@contextmanager
def stopping() -> Iterator[None]:
    """In the block, in the main thread, SIGTERM and SIGHUP raise `Stopped`; one that is handled or ignored (nohup) stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    try:
        for number in _NUMBERS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _stop)
        yield
    finally:
        leave_signals_alone()


def leave_signals_alone() -> None:
    """Let the signals do again what they do in any process: a script that is run has them to itself."""
    for number in _NUMBERS:
        if signal.getsignal(number) is _stop:
            signal.signal(number, signal.SIG_DFL)


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise Stopped(number)
