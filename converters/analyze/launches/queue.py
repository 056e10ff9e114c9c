"""How many launches are under way at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...results import QueueUse
from ...timeline import Int64
from .launch_work import LaunchWork

__all__ = ["queue_use", "queues"]


def queues(work: LaunchWork) -> tuple[QueueUse, tuple[QueueUse, ...]]:
    """The queue of all devices together, and that of each."""
    everything = queue_use("", work.submitted_ns, work.end_ns)
    of_device = list(work.by_device())
    if len(of_device) == 1:
        return everything, (replace(everything, device=of_device[0][0]),)
    return everything, tuple(queue_use(name, work.submitted_ns[own], work.end_ns[own]) for name, own in of_device)


def queue_use(device: str, submitted_ns: Int64, end_ns: Int64) -> QueueUse:
    """The number of launches that are submitted and not done, over time.

    A launch counts from its submission until its last work ends. What happens at one moment is one step, so that a launch that
    takes no time at all, or whose work ends before it according to clocks that do not fit, never shows; the number is never
    below 0.

    Args:
        device: Whose queue it is.
        submitted_ns, end_ns: int64[n]; any clock, any order.

    >>> queue_use("", np.array([0, 2]), np.array([5, 9])).length.tolist()
    [1, 2, 1, 0]
    """
    # Two sorted columns are merged faster than sorted as one.
    both = np.concatenate((np.sort(submitted_ns), np.sort(np.maximum(end_ns, submitted_ns))))
    order = np.argsort(both, kind="stable")
    is_last = np.diff(both[order], append=both[order[-1:]] + 1) > 0
    time_ns = both[order[is_last]]
    length = np.cumsum(np.where(order < len(submitted_ns), 1, -1))[is_last]
    passed_ns = np.diff(time_ns)
    longest = int(length.max(initial=0))
    time_at = np.zeros(longest + 1, np.int64)
    np.add.at(time_at, length[:-1], passed_ns)
    span_ns = int(time_ns[-1] - time_ns[0]) if len(time_ns) else 0
    changes = np.diff(length, prepend=0) != 0
    # Products may leave 64 bits; there are no more of them than lengths.
    length_time_ns = sum(at * spent for at, spent in enumerate(time_at.tolist()))
    return QueueUse(
        device=device,
        launch_count=len(submitted_ns),
        max_length=longest,
        mean_length=length_time_ns / span_ns if span_ns else 0.0,
        span_ns=span_ns,
        length_time_ns=length_time_ns,
        time_at_length_ns=tuple(time_at.tolist()),
        # Moments at which nothing changes are no steps of the queue.
        time_ns=time_ns[changes],
        length=length[changes].astype(np.int64),
    )
