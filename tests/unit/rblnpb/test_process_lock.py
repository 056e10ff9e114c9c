"""A lock that nobody waits for in vain."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from rblnpb.process_lock import ProcessLock

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")


def in_child(work: object) -> int:
    """Exit status of some work in a process that is forked off, which is stopped when it hangs."""
    child = os.fork()
    if not child:
        signal.alarm(5)
        try:
            work()  # type: ignore[operator]
        except BaseException:  # noqa: BLE001 -- the code tells it
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def take(lock: ProcessLock) -> bool:
    """Whether another thread gets the lock within a moment."""
    taken = threading.Event()

    def hold() -> None:
        with lock:
            taken.set()

    threading.Thread(target=hold, daemon=True).start()
    return taken.wait(0.2)


def test_one_thread_has_it_at_a_time() -> None:
    lock = ProcessLock()
    with lock:
        assert not take(lock)
    assert take(lock)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_what_another_thread_held_at_the_fork_is_free_in_the_child() -> None:
    lock, may_end = ProcessLock(), threading.Event()
    is_held = threading.Event()

    def hold() -> None:
        with lock:
            is_held.set()
            may_end.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    status = in_child(lock.__enter__)
    may_end.set()
    thread.join()
    assert status == 0


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_what_the_thread_that_forks_holds_it_gives_back_in_the_child() -> None:
    lock = ProcessLock()
    lock.__enter__()

    def give_back() -> None:
        lock.__exit__()
        assert take(lock)

    status = in_child(give_back)
    lock.__exit__()
    assert (status, take(lock)) == (0, True)
