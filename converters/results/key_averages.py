"""Rows of torch's key_averages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rblnpb.errors import Finding

from ..timeline import Bool, Int64

__all__ = ["KeyAverages"]

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KeyAverages:
    """Rows of the table in order of first appearance; all columns have the same length n.

    A total counts an event with everything it called, `self_` without. Times are sums over the events of a row.

    Attributes:
        name: The name of the row.
        kind: `op`, `device`, `annotation` or `runtime`: what the first event of the row is.
        count: int64[n]; events.
        self_cpu_time_total_ns, cpu_time_total_ns, self_device_time_total_ns, device_time_total_ns: int64[n]; exact.
        self_cpu_time_total_us, cpu_time_total_us, self_device_time_total_us, device_time_total_us: float64[n]; with
            torch's roundings. Self time may be negative where events cross.
        cpu_memory_bytes, self_cpu_memory_bytes, device_memory_bytes, self_device_memory_bytes: int64[n]; allocated
            less freed.
        flops: int64[n]; 0 where none were counted.
        input_shapes: Such as `[[2, 3], []]`; empty where rows were not told apart by shape.
        is_device: bool[n]; the row is of slices on a device.
        is_annotation: bool[n]; the row is of ranges that somebody named.
        is_async: bool[n]; the first event of the row may end on another thread.
        is_top_level: bool[n]; nothing called the first event of the row.
        device_name: What the table calls the device.
        profile_memory, with_flops: Whether the trace was recorded with these on, so that the table has their columns.
        findings: What was left out, and why.
    """

    name: tuple[str, ...]
    kind: tuple[str, ...]
    count: Int64
    self_cpu_time_total_ns: Int64
    cpu_time_total_ns: Int64
    self_device_time_total_ns: Int64
    device_time_total_ns: Int64
    self_cpu_time_total_us: Float64
    cpu_time_total_us: Float64
    self_device_time_total_us: Float64
    device_time_total_us: Float64
    cpu_memory_bytes: Int64
    self_cpu_memory_bytes: Int64
    device_memory_bytes: Int64
    self_device_memory_bytes: Int64
    flops: Int64
    input_shapes: tuple[str, ...]
    is_device: Bool
    is_annotation: Bool
    is_async: Bool
    is_top_level: Bool
    device_name: str
    profile_memory: bool
    with_flops: bool
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.name)
