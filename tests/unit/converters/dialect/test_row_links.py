"""Links that a trace writes down itself."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.dialect import is_linked, linked_ids, linked_rows, op_rows, owner_rows
from tests.support.vendor_traces import Json, host_trace, op, span

OPS = (op("aten::mm", 0, 9, external_id=1), op("aten::add", 10, 19, external_id=2), op("aten::add", 20, 29, external_id=2))


def row(external_id: int, category: str = "kernel", **args: int) -> Json:
    return span(category, "k", 30, 40, pid=0, tid=7, **{"External id": external_id}, **args)


def test_the_first_row_of_an_id_owns_it() -> None:
    trace = host_trace(OPS)
    assert owner_rows(trace, op_rows(trace), np.array([1, 2, 3, 0])).tolist() == [0, 1, -1, -1]


def test_ids_beyond_63_bits_have_owners() -> None:
    trace = host_trace([op("aten::mm", 0, 9, external_id=2**63 + 1)])
    assert owner_rows(trace, op_rows(trace), trace.events.external_id[:1]).tolist() == [0]


@pytest.mark.parametrize(("event", "expected"), [(row(2), 2), (row(2, correlation=2), 0), (row(-1), 0), (row(0), 0)])
def test_a_rows_own_number_is_no_link(event: Json, expected: int) -> None:
    trace = host_trace([event])
    assert linked_ids(trace, np.array([0])).tolist() == [expected]


@pytest.mark.parametrize(
    ("category", "linked", "as_torch_does"),
    [("kernel", True, 0), ("Memset", True, 0), ("privateuse1_driver", True, -1), ("cuda_sync", False, -1)],
)
def test_the_id_of_an_op_is_on_work_and_the_rows_own_on_all_else(category: str, linked: bool, as_torch_does: int) -> None:
    trace = host_trace([*OPS, row(1, category)])
    rows = np.array([3])
    assert is_linked(trace, rows).tolist() == [linked]
    assert linked_rows(trace, rows, op_rows(trace)).tolist() == [as_torch_does]
