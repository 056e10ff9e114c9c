"""A lock that neither a signal handler nor a process that is forked off can wait for in vain."""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable

__all__ = ["ProcessLock"]


class ProcessLock:
    """A lock of the threads of one process, as the context of a `with`.

    The thread that holds it may take it again, as a signal handler does that runs in its midst. In a process that is forked off
    another thread that held it at that moment does not exist, and would never let go: there nobody holds it.

    Example:
        >>> lock = ProcessLock()
        >>> with lock, lock:
        ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=functools.partial(_call, weakref.WeakMethod(self._renew)))

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _renew(self) -> None:
        # What the thread that forked holds itself it will also give back.
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = threading.RLock()


def _call(reference: weakref.WeakMethod[Callable[[], None]]) -> None:
    method = reference()
    if method is not None:
        method()
