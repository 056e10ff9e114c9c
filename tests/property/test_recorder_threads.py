"""Eight threads that record at once: whatever the disk does meanwhile, each record is in the file once or counted as lost."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import rblnpb
from rblnpb.columns import Launches
from rblnpb.profile import LossReason, Session
from rblnpb.recorder import DROPPED, Recorder

THREADS, TURNS = 8, 30


class SlowDisk(io.BytesIO):
    """Takes its time, in which the other threads go on recording."""

    def __init__(self, delay_s: float) -> None:
        super().__init__()
        self.delay_s = delay_s

    def write(self, data: Any) -> int:
        time.sleep(self.delay_s)
        return super().write(data)


@contextmanager
def quick_switches() -> Iterator[None]:
    """Threads take turns so often that they meet inside calls, which are short."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Recording(threading.Thread):
    """Records one at a time and several at a time, by turns; notes what was kept, and the most that waited to be written."""

    def __init__(self, recorder: Recorder, thread_id: int, bulk: int, start: threading.Barrier) -> None:
        super().__init__()
        self.recorder, self.thread_id, self.bulk, self.barrier = recorder, thread_id, bulk, start
        self.offered = self.most_waiting = 0
        self.numbers: list[int] = []

    def run(self) -> None:
        self.barrier.wait()
        for turn in range(TURNS):
            count = self.bulk if turn % 2 else 1
            ids = range(self.offered + 1, self.offered + 1 + count)
            if count == 1:
                number = self.recorder.add(Launches, launch_id=ids[0], thread_id=self.thread_id)
            else:
                number = self.recorder.record(Launches.of(launch_id=list(ids), thread_id=self.thread_id))
            self.offered += count
            self.numbers += [] if number == DROPPED else [number]
            self.most_waiting = max(self.most_waiting, self.recorder._pending.counts.get(Launches.kind, 0))


@pytest.mark.parametrize(
    ("capacity", "bulk", "delay_s"),
    [
        (1, 2, 0),
        (7, 30, 1e-4),
        (100, 3, 1e-3),
        (1 << 16, 20, 1e-3),  # holds them all
    ],
)
def test_what_eight_threads_record_is_kept_or_counted(capacity: int, bulk: int, delay_s: float) -> None:
    file = SlowDisk(delay_s)
    recorder = Recorder(file, Session(7), clock=time.monotonic_ns, capacity=capacity, display=False)
    barrier = threading.Barrier(THREADS)
    threads = [Recording(recorder, thread_id, bulk, barrier) for thread_id in range(1, THREADS + 1)]
    with quick_switches():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    recorder.close()
    profile = rblnpb.read(file.getvalue())

    lost = sum(loss.count for loss in recorder.losses)
    offered = sum(thread.offered for thread in threads)
    assert {loss.reason for loss in recorder.losses} <= ({LossReason.BUFFER_FULL} if capacity < offered else set())
    # The file tells of losses as they come, a row at a time.
    assert sum(loss.count for loss in profile.losses) == lost
    assert len(profile.launches) + lost == offered
    assert max(thread.most_waiting for thread in threads) <= capacity
    given_numbers = [number for thread in threads for number in thread.numbers]
    assert len(given_numbers) == len(set(given_numbers))
    for thread in threads:
        own = profile.launches.launch_id[profile.launches.thread_id == thread.thread_id].tolist()
        # Each at most once, and in the order in which its thread recorded them.
        assert own == sorted(set(own))
