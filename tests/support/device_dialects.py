"""The same small run as each maker of devices writes it: for every launch a call on its thread, and what the device did for it.

The vendor's own two emitters are in `vendor_traces`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.support.vendor_traces import DEVICE_PID, HOST_PID, Json, Launch, at, first_emitter, metadata, newer_emitter, span

CALL_NS = 50
WAIT_NS, OVERLAP_NS = 5_000, 20_000
"""Rows that are no work, longer than all work: who counts them is found out."""


@dataclass(frozen=True)
class Dialect:
    """How one maker writes a run.

    Attributes:
        rows: The rows of some launches, without the ops around them.
        rule: The rule by which its work is joined with ops.
        work: Durations of the work of one launch, in ns, by kind.
    """

    rows: Callable[[Iterable[Launch]], list[Json]]
    rule: str
    work: dict[str, tuple[int, ...]]


def without_launches(rows: Iterable[Json]) -> list[Json]:
    """The rows of a run that was launched before the trace began: what stands on threads of the host is not in it."""
    return [row for row in rows if row["ph"] == "M" or (row["pid"] != HOST_PID and row["ph"] != "s")]


def cuda(launches: Iterable[Launch]) -> list[Json]:
    """Kineto on CUDA as of torch 2: a correlation id on everything, annotations and waits among the work."""
    rows = []
    for launch in launches:
        number = launch.launch_id
        rows += [
            span("cuda_runtime", "cudaLaunchKernelExC", launch.at_ns, launch.at_ns + CALL_NS, tid=launch.tid, correlation=number),
            *_on_device(launch, "kernel", "gpu_memcpy", "gpu_memset", correlation=number, stream=7),
            span(
                "cuda_sync", "Stream Wait", launch.device_ns, launch.device_ns + WAIT_NS, pid=DEVICE_PID, tid=7, correlation=number
            ),
            span("gpu_user_annotation", "step", launch.device_ns, launch.device_ns + WAIT_NS, pid=DEVICE_PID, tid=7),
            span("overhead", "Buffer Flush", launch.at_ns, launch.at_ns + WAIT_NS, pid=-1, tid=0),
        ]
    return rows


def cuda_2021(launches: Iterable[Launch]) -> list[Json]:
    """Kineto on CUDA as of torch 1.9: capitals, ids of threads as texts, "external id"."""
    rows = []
    for launch in launches:
        number = launch.launch_id
        rows += [
            span("Runtime", "cudaLaunchKernel", launch.at_ns, launch.at_ns + CALL_NS, tid=str(launch.tid), correlation=number),
            *_on_device(launch, "Kernel", "Memcpy", "Memset", correlation=number, tid="stream 7"),
        ]
    return rows


def rocm(launches: Iterable[Launch]) -> list[Json]:
    """Kineto on ROCm: runtime calls of HIP, and device rows with a kind."""
    rows = []
    for launch in launches:
        number = launch.launch_id
        rows += [
            span(
                "hip_runtime", "hipExtModuleLaunchKernel", launch.at_ns, launch.at_ns + CALL_NS, tid=launch.tid, correlation=number
            ),
            *_on_device(launch, "kernel", "gpu_memcpy", "gpu_memset", correlation=number, kind="Dispatch Kernel"),
        ]
    return rows


def xpu(launches: Iterable[Launch]) -> list[Json]:
    """Kineto on XPU, with another spelling of ids."""
    rows = []
    for launch in launches:
        number = {"Correlation ID": launch.launch_id}
        rows += [
            span("xpu_runtime", "urEnqueueKernelLaunch", launch.at_ns, launch.at_ns + CALL_NS, tid=launch.tid, **number),
            *_on_device(launch, "kernel", "gpu_memcpy", "gpu_memset", **number),
            span("xpu_sync", "wait", launch.device_ns, launch.device_ns + WAIT_NS, pid=DEVICE_PID, tid=7, **number),
        ]
    return rows


def mtia(launches: Iterable[Launch]) -> list[Json]:
    """Kineto on MTIA: calls of the runtime stand in the device's process too, under the ids of the calls on the host."""
    rows = []
    for launch in launches:
        number = launch.launch_id
        end_ns = launch.device_ns + WAIT_NS
        rows += [
            span("mtia_runtime", "runFunction", launch.at_ns, launch.at_ns + CALL_NS, tid=launch.tid, correlation=number),
            *_on_device(launch, "mtia_ccp_events", "mtia_ccp_events", "mtia_workloadd", correlation=number),
            span("mtia_runtime", "synchronize", launch.device_ns, end_ns, pid=DEVICE_PID, tid=9, correlation=number),
            span("mtia_insight", "insight", launch.device_ns, end_ns, pid=DEVICE_PID, tid=9, correlation=number),
        ]
    return rows


def hpu(launches: Iterable[Launch]) -> list[Json]:
    """Kineto on Gaudi: one category for what the device does."""
    rows = []
    for launch in launches:
        number = launch.launch_id
        rows += [
            span("hpu_runtime", "launch", launch.at_ns, launch.at_ns + CALL_NS, tid=launch.tid, correlation=number),
            *_on_device(launch, "hpu_op", "hpu_op", "hpu_op", correlation=number),
        ]
    return rows


HARDWARE_PID, OVERLAP_PID, CANN_PID = 1_000_007, 1_000_009, 1_000_005


def ascend(launches: Iterable[Launch]) -> list[Json]:
    """torch_npu on Ascend: no ids, arrows alone; device rows without a category beside derived ones; times as texts."""
    rows = [
        metadata("process_name", HOST_PID, name="Python"),
        metadata("process_name", CANN_PID, name="CANN"),
        metadata("process_name", HARDWARE_PID, name="Ascend Hardware"),
        metadata("process_labels", HARDWARE_PID, labels="NPU"),
        metadata("process_name", OVERLAP_PID, name="Overlap Analysis"),
    ]
    for launch in launches:
        begin = launch.device_ns
        tasks = (("aclnnMatmul_MatMulV2_MatMulV2", 0, 700), ("MEMCPY_ASYNC", 700, 900), ("EVENT_WAIT", 900, 900 + WAIT_NS))
        rows.append(
            _plain("Node@launch", launch.at_ns, launch.at_ns + CALL_NS, CANN_PID, launch.tid, connection_id=launch.launch_id)
        )
        for place, (name, start, end) in enumerate(tasks):
            rows.append(_plain(name, begin + start, begin + end, HARDWARE_PID, 2, connection_id=launch.launch_id))
            for category, pid in (("async_npu", HOST_PID), ("HostToDevice", CANN_PID)):
                flow = {"cat": category, "name": category, "id": f"{launch.launch_id}.{place}", "bp": "e"}
                rows += [
                    {"ph": "s", **flow, "pid": pid, "tid": launch.tid, "ts": _text(launch.at_ns)},
                    {"ph": "f", **flow, "pid": HARDWARE_PID, "tid": 2, "ts": _text(begin + start)},
                ]
        rows += [_plain(name, begin, begin + OVERLAP_NS, OVERLAP_PID, tid) for tid, name in enumerate(("Computing", "Free"))]
    return rows


def _plain(name: str, start_ns: int, end_ns: int, pid: int, tid: int, **args: Any) -> Json:
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": _text(start_ns), "dur": (end_ns - start_ns) / 1000, "args": args}


def _text(time_ns: int) -> str:
    return f"{at(time_ns):.3f}"


def _on_device(launch: Launch, work: str, copy: str, fill: str, *, tid: Any = 7, **args: Any) -> list[Json]:
    """A kernel of 700 ns, a copy of 100, and a fill of 50."""
    rows, begin = [], launch.device_ns
    for category, duration_ns in ((work, 700), (copy, 100), (fill, 50)):
        rows.append(span(category, category, begin, begin + duration_ns, pid=DEVICE_PID, tid=tid, **args))
        begin += duration_ns
    return rows


_GPU = {"compute": (700,), "copy": (100, 50)}
DIALECTS = {
    "first emitter": Dialect(first_emitter, "launch-id", {"compute": (700,), "copy": (100, 100)}),
    "newer emitter": Dialect(newer_emitter, "launch-id", {"compute": (700,), "copy": (200,), "collective": (50,)}),
    "cuda": Dialect(cuda, "correlation", _GPU),
    "cuda of 2021": Dialect(cuda_2021, "correlation", _GPU),
    "rocm": Dialect(rocm, "correlation", _GPU),
    "xpu": Dialect(xpu, "correlation", _GPU),
    "mtia": Dialect(mtia, "correlation", {"compute": (700, 100, 50)}),
    "hpu": Dialect(hpu, "correlation", {"compute": (700, 100, 50)}),
    "ascend": Dialect(ascend, "flow", {"compute": (700,), "copy": (200,)}),
}
