"""Memory records and the events that they fall into."""

from __future__ import annotations

import numpy as np

from rblnpb.converters.analyze.torch_table.memory import MemoryUse, memory_use


def use(events: list[tuple[int, int]], records: list[tuple[int, int, int]]) -> MemoryUse:
    start, end = (np.array([event[side] for event in events], np.int64) for side in range(2))
    time, cpu, device = (np.array([record[side] for record in records], np.int64) for side in range(3))
    return memory_use(start, end, time, cpu, device)


def test_both_ends_of_an_event_belong_to_it() -> None:
    found = use([(10, 20)], [(9, 1, 0), (10, 2, 0), (20, 4, 0), (21, 8, 0)])

    assert found.cpu_bytes.tolist() == [6]
    assert found.is_claimed.tolist() == [False, True, True, False]


def test_every_event_around_a_record_gets_it_and_freeing_counts_against() -> None:
    found = use([(0, 100), (50, 60)], [(55, -8, 3)])

    assert found.cpu_bytes.tolist() == [-8, -8]
    assert found.device_bytes.tolist() == [3, 3]


def test_records_need_not_be_in_order() -> None:
    found = use([(0, 5)], [(7, 1, 0), (3, 2, 0)])

    assert found.cpu_bytes.tolist() == [2]
    assert found.is_claimed.tolist() == [False, True]


def test_without_records_there_is_no_use() -> None:
    found = use([(0, 5)], [])

    assert (found.cpu_bytes.tolist(), found.device_bytes.tolist(), found.is_claimed.tolist()) == ([0], [0], [])


def test_an_event_that_ends_before_it_starts_holds_nothing() -> None:
    assert use([(10, 5)], [(7, 1, 0)]).cpu_bytes.tolist() == [0]
