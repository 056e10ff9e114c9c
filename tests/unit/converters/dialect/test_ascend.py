"""Tasks of an Ascend: told by the process they stand in, and by their names."""

from __future__ import annotations

import pytest

from rblnpb.converters.dialect import device_rows
from tests.support.vendor_traces import HOST_PID, Json, host_trace, metadata, op

PROCESS = 1_000_007


def task(name: str, pid: int = PROCESS, **more: str) -> Json:
    return {"ph": "X", "name": name, "pid": pid, "tid": 2, "ts": "5000000.100", "dur": 0.5, **more}


def kinds(*events: Json, process: str = "Ascend Hardware") -> list[tuple[str, bool]]:
    rows = device_rows(host_trace([op("aten::mm", 0, 9), metadata("process_name", PROCESS, name=process), *events]))
    return [(rows.kinds[kind], is_work) for kind, is_work in zip(rows.kind.tolist(), rows.is_work.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("name", "kind", "is_work"),
    [
        ("aclnnMatmul_MatMulV2_MatMulV2", "compute", True),
        ("eventful_kernel", "compute", True),
        ("MEMCPY_ASYNC", "copy", True),
        ("SDMA_SQE", "copy", True),
        ("hcom_allReduce__123_0_1", "collective", True),
        ("EVENT_WAIT", "sync", False),
        ("EVENT_RECORD", "sync", False),
        ("Notify_Wait", "sync", False),
        ("NOTIFY_WAIT_SQE", "sync", False),
        ("PROFILING_ENABLE", "sync", False),
    ],
)
def test_a_task_is_what_its_name_says(name: str, kind: str, is_work: bool) -> None:
    assert kinds(task(name)) == [(kind, is_work)]


@pytest.mark.parametrize("process", ["Overlap Analysis", "Communication", "CANN", "AI Core Freq", "python"])
def test_rows_of_other_processes_are_none(process: str) -> None:
    assert kinds(task("Computing"), process=process) == []


def test_rows_with_a_category_are_none() -> None:
    assert kinds(task("aten::mm", cat="cpu_op"), task("enqueue", cat="enqueue")) == []


def test_rows_of_the_host_without_a_category_are_none() -> None:
    assert kinds(task("AscendCL@aclopExecute", pid=HOST_PID)) == []


def test_times_as_texts_are_exact() -> None:
    trace = host_trace([metadata("process_name", PROCESS, name="Ascend Hardware"), task("k") | {"ts": "1699529623106750.062"}])
    rows = device_rows(trace).rows
    assert (trace.events.start_ns[rows] - trace.base_time_ns).tolist() == [1_699_529_623_106_750_062]
