"""How many launches are under way."""

from __future__ import annotations

import numpy as np

from rblnpb.converters.analyze.launches.queue import queue_use
from rblnpb.converters.results import QueueUse


def use(*launches: tuple[int, int]) -> QueueUse:
    submitted, ends = np.array(launches, np.int64).reshape(-1, 2).T
    return queue_use("d", submitted, ends)


def steps(queue: QueueUse) -> list[tuple[int, int]]:
    return list(zip(queue.time_ns.tolist(), queue.length.tolist(), strict=True))


def test_launches_count_from_their_submission_to_their_last_end() -> None:
    queue = use((0, 10), (4, 20))
    assert steps(queue) == [(0, 1), (4, 2), (10, 1), (20, 0)]
    assert (queue.max_length, queue.span_ns, queue.time_at_length_ns) == (2, 20, (0, 14, 6))
    assert (queue.length_time_ns, queue.mean_length) == (26, 1.3)


def test_time_between_launches_is_at_length_0() -> None:
    assert use((0, 2), (7, 8)).time_at_length_ns == (5, 3)


def test_a_launch_at_the_end_of_another_makes_the_queue_no_longer() -> None:
    queue = use((0, 5), (5, 9))
    assert (queue.max_length, steps(queue)) == (1, [(0, 1), (9, 0)])


def test_work_that_ends_before_its_launch_never_makes_the_queue_negative() -> None:
    queue = use((10, 3), (20, 25))
    assert steps(queue) == [(20, 1), (25, 0)]
    assert (queue.launch_count, queue.time_at_length_ns) == (2, (10, 5))


def test_launches_that_take_no_time_do_not_show() -> None:
    queue = use((5, 5))
    assert (queue.max_length, queue.span_ns, queue.time_at_length_ns, queue.mean_length) == (0, 0, (0,), 0.0)


def test_without_launches_there_is_no_time() -> None:
    queue = use()
    assert (queue.launch_count, queue.max_length, queue.time_at_length_ns, steps(queue)) == (0, 0, (0,), [])
