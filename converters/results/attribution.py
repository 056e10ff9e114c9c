"""Where the device's time comes from: by op, by module, by Python frame; as a table, and as stacks for flame graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rblnpb.errors import Finding

from ..timeline import Int64

__all__ = ["FRAME_KINDS", "AttributionTable", "CallStacks", "DeviceCoverage", "DeviceTime", "Frame"]

FRAME_KINDS: Final = ("thread", "python", "module", "annotation", "op", "stage", "none")
"""What a frame of a stack may be. "none" stands where there is nothing to name: work on no op, and time in no module."""


@dataclass(frozen=True)
class Frame:
    """One frame of a stack; the same name of the same kind is one frame.

    Attributes:
        name: Such as `aten::mm`, `nn.Module: Linear_0` or `model.py(12): forward`, without addresses of objects.
        kind: One of `FRAME_KINDS`.
    """

    name: str
    kind: str


@dataclass(frozen=True)
class DeviceTime:
    """Some work of devices.

    Attributes:
        slices: How many slices.
        sum_ns: Their durations, added.
        busy_ns: Their part of the busy time, which is the time in which anything runs: where several slices run at once, a moment
            belongs to the one that began first. So the parts of several groups of slices add up.
    """

    slices: int
    sum_ns: int
    busy_ns: int


@dataclass(frozen=True)
class DeviceCoverage:
    """How much of the device's time there is an answer for.

    Attributes:
        total: All work of all devices.
        on_ops: On an op.
        unattributed: On none; with `on_ops` it is the total.
        by_rule: Both of them, by the row of `JOIN_RULES` that led to the op or says why none did; rules with slices alone.
        in_module: Launched in a module.
        in_module_by_forward: On an op of a backward pass that no module called, where a module called the op of the forward pass.
        in_python: Launched in a Python frame.
        in_python_by_forward: On an op of a backward pass that none called, where one called the op of the forward pass.
        in_python_on_no_op: The part of `in_python` that is on no op: a graph that Python replayed, say. By op it is unattributed;
            by module and Python frame it is where it was launched.
        launches: Submissions by the host.
        launches_on_ops: Those that were made in an op.
    """

    total: DeviceTime
    on_ops: DeviceTime
    unattributed: DeviceTime
    by_rule: dict[str, DeviceTime]
    in_module: DeviceTime
    in_module_by_forward: DeviceTime
    in_python: DeviceTime
    in_python_by_forward: DeviceTime
    in_python_on_no_op: DeviceTime
    launches: int
    launches_on_ops: int


@dataclass(frozen=True, eq=False)
class AttributionTable:
    """Device and host time by frame; all columns have the same length n and hold exact integers of any size.

    Self is what no further frame of the table lies around: work whose innermost frame this is, and time in which it is. A total
    adds what the frame called, and counts a frame that called itself once. Self times add up to all there is; rows of the kind
    "none" hold what has no frame.

    Attributes:
        by: "op", "module", "python" or "all": which frames are rows.
        frame: What the row speaks of, in order of first appearance.
        calls: How often the host ran it.
        launches_self, launches_total: Submissions to devices.
        slices_self, slices_total: Slices of work.
        device_self_sum_ns, device_total_sum_ns: Durations, added.
        device_self_union_ns, device_total_union_ns: Time in which at least one of the slices runs. Unions of rows may overlap.
        device_total_by_forward_ns: The part of `device_total_sum_ns` that is here by the op of the forward pass alone.
        host_self_ns, host_total_ns: On the host, summed over calls and threads.
        sources: Names of the inputs.
        coverage: How much of all device time the rows explain.
        findings: What was odd or left out.
    """

    by: str
    frame: tuple[Frame, ...]
    calls: tuple[int, ...]
    launches_self: tuple[int, ...]
    launches_total: tuple[int, ...]
    slices_self: tuple[int, ...]
    slices_total: tuple[int, ...]
    device_self_sum_ns: tuple[int, ...]
    device_self_union_ns: tuple[int, ...]
    device_total_sum_ns: tuple[int, ...]
    device_total_union_ns: tuple[int, ...]
    device_total_by_forward_ns: tuple[int, ...]
    host_self_ns: tuple[int, ...]
    host_total_ns: tuple[int, ...]
    sources: tuple[str, ...]
    coverage: DeviceCoverage
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.frame)


@dataclass(frozen=True, eq=False)
class CallStacks:
    """Distinct stacks with what each weighs; a stack is a row that knows its caller's row. All columns have the same length m.

    Attributes:
        by: Which frames the stacks are made of, below the thread.
        weight: "device-sum", "device-union" or "host-self": what is weighed.
        frames: Distinct frames.
        parent: int64[m]; row of the stack without its innermost frame, which stands before this one; -1 = it has one frame.
        frame: int64[m]; row of `frames`: the innermost one.
        weight_ns: Exact integers, not negative; what this very stack weighs, without what further frames add. They add up to the
            durations of all work, to the busy time, or to the time of all threads.
        sources: Names of the inputs.
        coverage: How much of the device's time is on ops, in modules and in Python frames.
        findings: What was odd or left out.
    """

    by: str
    weight: str
    frames: tuple[Frame, ...]
    parent: Int64
    frame: Int64
    weight_ns: tuple[int, ...]
    sources: tuple[str, ...]
    coverage: DeviceCoverage
    findings: tuple[Finding, ...]

    def __len__(self) -> int:
        return len(self.weight_ns)
