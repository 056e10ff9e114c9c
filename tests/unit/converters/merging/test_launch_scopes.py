"""Which launch a record names where several processes count alike."""

from __future__ import annotations

import numpy as np

from rblnpb.converters.merging.launch_scopes import Identified, identified, launch_in_process, launch_in_scope
from tests.support.vendor_traces import host_trace, op, span


def table(*rows: tuple[int, int, int]) -> Identified:
    """Rows of (id, time, process)."""
    return Identified(*np.array(rows, np.int64).reshape(-1, 3).T)


def test_in_a_process_only_its_own_launches_count() -> None:
    launches = table((5, 10, 0), (5, 20, 1), (6, 30, 0), (0, 0, 0))
    assert launch_in_process(launches, table((5, 99, 0), (5, 99, 1), (6, 99, 1), (0, 99, 0))).tolist() == [0, 1, -1, -1]


def test_an_id_of_one_process_is_that_processes_whatever_the_device() -> None:
    assert launch_in_scope(table((5, 10, 0), (6, 10, 1)), table((5, 20, 7), (6, 20, 7))).tolist() == [0, 1]


def test_a_shared_id_belongs_to_the_process_that_launches_the_rest_of_the_device() -> None:
    launches = table((1, 10, 0), (1, 11, 1), (100, 20, 0), (200, 21, 1))
    records = table((1, 50, 0), (1, 51, 1), (100, 60, 0), (200, 61, 1))
    assert launch_in_scope(launches, records).tolist() == [0, 1, 2, 3]


def test_where_every_id_is_shared_the_rows_of_a_device_stay_together() -> None:
    launches = table((1, 10, 0), (1, 20, 1), (2, 30, 0), (2, 25, 1), (3, 40, 0), (3, 35, 1))
    found = launch_in_scope(launches, table((1, 50, 0), (2, 51, 0), (3, 52, 0)))
    assert found.tolist() == [0, 2, 4]


def test_within_the_process_it_is_the_last_launch_before_the_record() -> None:
    launches = table((1, 10, 0), (1, 11, 1), (1, 100, 0), (1, 101, 1), (7, 0, 1))
    assert launch_in_scope(launches, table((1, 50, 4), (1, 150, 4), (7, 160, 4))).tolist() == [1, 3, 4]


def test_nothing_names_nothing() -> None:
    assert launch_in_scope(table(), table((1, 0, 0))).tolist() == [-1]
    assert launch_in_scope(table((1, 0, 0), (1, 0, 1)), table()).tolist() == []
    assert launch_in_process(table(), table((1, 0, 0))).tolist() == [-1]


def test_a_process_id_written_as_a_text_is_the_same_process() -> None:
    trace = host_trace([op("a", 0, 1), span("cpu_op", "b", 0, 1, pid="4242"), span("cpu_op", "c", 0, 1, pid="other")])
    assert identified(trace, np.arange(3), np.ones(3, np.int64)).process.tolist() == [0, 0, 1]
