"""What each category of rows stands for. Capitals: torch up to 1.10."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ..timeline import Bool, HostTrace, Int32

__all__ = [
    "ANNOTATIONS",
    "DEVICE_KINDS",
    "KINDS",
    "LAUNCHED",
    "OPS",
    "OWN_FRAME",
    "OWN_RUNTIME",
    "OWN_WAIT",
    "SHARED_KINDS",
    "VENDOR",
    "WORKING_KINDS",
    "has_category",
    "kind_codes",
]

OPS: Final = ("cpu_op", "Operator")
"""Categories of operators: the only rows that own a launch."""

ANNOTATIONS: Final = ("user_annotation", "python_function")
"""Categories of ranges that somebody named, or a tracer saw: a launch may lie in one, none owns one."""

LAUNCHED: Final = frozenset({"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"})
"""Categories of device work whose "External id" is that of the op which launched it; on every other row it is the row's own."""

VENDOR: Final = ("privateuse1_runtime", "privateuse1_driver")
"""Categories of the vendor's, on threads of the host and on devices."""

OWN_RUNTIME, OWN_FRAME, OWN_WAIT = "rbln_runtime", "rbln_workload", "rbln_sync"
"""Traces that we write for viewers call so what is no work: calls of the runtime, frames and work of the host, waits of devices."""

WORKING_KINDS: Final = 3
"""How many of `KINDS`, from the front, are busy time."""

KINDS: Final = ("compute", "copy", "collective", "sync", "annotation", "host")

DEVICE_KINDS: Final[Mapping[str, str]] = {
    "kernel": "compute",
    "Kernel": "compute",
    "gpu_memcpy": "copy",
    "Memcpy": "copy",
    "gpu_memset": "copy",
    "Memset": "copy",
    "mtia_ccp_events": "compute",
    "mtia_workloadd": "compute",
    "hpu_op": "compute",
    "cuda_sync": "sync",
    "cuda_event": "sync",
    "xpu_sync": "sync",
    "gpu_user_annotation": "annotation",
    "cuda_profiler_range": "annotation",
    "xpu_scope_profiler": "annotation",
    OWN_WAIT: "sync",
    OWN_FRAME: "host",
}
"""Category to kind, for rows that are a device's wherever they stand; the last two are of merged traces that we write."""

SHARED_KINDS: Final[Mapping[str, str]] = {
    "privateuse1_runtime": "host",
    "privateuse1_driver": "sync",
    "mtia_runtime": "host",
    "mtia_insight": "host",
    "collective_comm": "collective",
}
"""Category to kind where the row stands in a process of a device; in a process of the host it is a call there."""


def kind_codes(host: HostTrace, kinds: Mapping[str, str]) -> Int32:
    """int32[strings]; for each text, as a category: row of `KINDS`, -1 = none."""
    codes = np.full(len(host.strings), -1, np.int32)
    for row, text in host.used(host.events.category):
        codes[row] = KINDS.index(kinds[text]) if text in kinds else -1
    return codes


def has_category(host: HostTrace, *categories: str) -> Bool:
    """bool[strings]; whether each text is one of these categories."""
    mask = np.zeros(len(host.strings), np.bool_)
    mask[[row for row, text in host.used(host.events.category) if text in categories]] = True
    return mask
