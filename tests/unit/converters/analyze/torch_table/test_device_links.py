"""Device rows of a trace and whose they are."""

from __future__ import annotations

import numpy as np
import pytest

from rblnpb.converters.analyze.torch_table.device_links import device_name, no_device, recorded_links
from tests.support.torch_events import ORIGIN_NS, Event, host_trace

OP = Event("cpu_op", "aten::mm", 100, 50, external_id=3)


def kernel(name: str, external_id: int, category: str = "kernel") -> Event:
    return Event(category, name, 200, 10, tid=0, pid=0, external_id=external_id)


def links_of(*events: Event) -> list[tuple[str, int, int, int, bool]]:
    links = recorded_links(host_trace(*events))
    columns = (links.start_ns - ORIGIN_NS, links.duration_ns, links.host_row, links.is_annotation)
    return [(links.strings[links.name[row]], *(column[row].item() for column in columns)) for row in range(len(links))]


def test_work_belongs_to_the_op_whose_id_it_has() -> None:
    # Row 0 is the session, row 1 the op.
    assert links_of(OP, kernel("k", 3), kernel("c", 3, "gpu_memcpy"), kernel("old", 3, "Kernel")) == [
        ("k", 200, 10, 1, False),
        ("c", 200, 10, 1, False),
        ("old", 200, 10, 1, False),
    ]


def test_every_row_says_where_it_stands_in_the_trace() -> None:
    assert recorded_links(host_trace(OP, kernel("k", 3), OP, kernel("c", 3))).event.tolist() == [2, 4]


def test_work_without_an_id_or_with_a_strangers_belongs_to_nothing() -> None:
    assert links_of(OP, Event("cpu_op", "none", 0, 9), kernel("k", 0), kernel("k", 4)) == [("k", 200, 10, -1, False)] * 2


def test_an_annotation_on_the_device_and_a_wait_have_ids_of_their_own() -> None:
    rows = links_of(OP, kernel("range", 3, "gpu_user_annotation"), kernel("wait", 3, "cuda_sync"))

    assert rows == [("range", 200, 10, -1, True), ("wait", 200, 10, -1, False)]


def test_what_torch_does_not_list_launches_nothing() -> None:
    left_out = Event("cpu_op", "aten::is_leaf", 100, 50, external_id=3)
    collective = Event("user_annotation", "nccl:all_reduce", 100, 50, external_id=3)

    assert links_of(left_out, collective, kernel("k", 3)) == [("k", 200, 10, -1, False)]


def test_a_trace_without_devices_has_the_links_of_none() -> None:
    links = recorded_links(host_trace(OP))

    assert (len(links), links.strings) == (len(no_device()), no_device().strings)
    assert all(len(column) == 0 for column in vars(links).values() if isinstance(column, np.ndarray))


def test_the_device_is_called_as_its_process() -> None:
    trace = host_trace(OP, kernel("k", 3), processes={0: "rbln:0", 7: "python"})

    assert device_name(trace) == "RBLN"


def test_a_process_that_has_the_hosts_name_tells_nothing() -> None:
    trace = host_trace(OP, kernel("k", 3), processes={0: "atom", 7: "atom"})

    assert device_name(trace) == "RBLN"


def test_the_runtime_that_launched_tells_more_than_a_process() -> None:
    launch = Event("cuda_runtime", "cudaLaunchKernel", 110, 5, external_id=3)

    assert device_name(host_trace(OP, launch, processes={0: "python", 7: "python"})) == "CUDA"


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("hip_runtime", "CUDA"),
        ("xpu_driver", "XPU"),
        ("mtia_ccp_events", "MTIA"),
        ("hpu_op", "HPU"),
        ("privateuse1_driver", "RBLN"),
    ],
)
def test_categories_tell_whose_the_device_is(category: str, name: str) -> None:
    assert device_name(host_trace(OP, Event(category, "row", 110, 5, pid=0, tid=0), processes={0: "NPU 0", 7: "python"})) == name


def test_an_ascend_is_called_as_torch_npu_calls_it() -> None:
    assert device_name(host_trace(OP, processes={1_000_007: "Ascend Hardware", 7: "Python"})) == "NPU"


def test_without_any_hint_the_device_is_ours() -> None:
    assert device_name(host_trace(OP)) == "RBLN"
