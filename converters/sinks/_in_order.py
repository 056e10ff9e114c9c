"""Work on several cores whose results come in the order of what it was given."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.thread import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_order"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


def in_order(make: Callable[[_Given], _Made], given: Iterable[_Given], jobs: int) -> Iterator[_Made]:
    """What `make` makes of each thing given, in their order; so many are worked on at a time.

    Args:
        make: Called in threads when there are several jobs; what it works on is to release the interpreter's lock, as numpy does.
        given: Taken one by one in the caller's thread.
        jobs: 1 or less: in the caller's thread.

    >>> list(in_order(abs, [-1, 2, -3], 2))
    [1, 2, 3]
    """
    if jobs <= 1:
        yield from map(make, given)
        return
    waiting: deque[Future[_Made]] = deque()
    with ThreadPoolExecutor(jobs) as pool:
        for one in given:
            waiting.append(pool.submit(make, one))
            if len(waiting) > jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
