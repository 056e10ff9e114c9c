"""Device work as the table counts it, and the op that each piece of it belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...dialect import linked_rows
from ...timeline import Bool, HostTrace, Id, Int32, Int64
from .torch_rows import (
    DEVICE_ANNOTATION_CATEGORIES,
    DEVICE_CATEGORIES,
    kind_table,
    launching_rows,
    timed_rows,
)

__all__ = ["DEFAULT_DEVICE_NAME", "DeviceLinks", "device_name", "no_device", "recorded_links"]

DEFAULT_DEVICE_NAME: Final = "RBLN"

_CATEGORY_OF: Final = {
    "cuda_runtime": "CUDA",
    "cuda_driver": "CUDA",
    "hip_runtime": "CUDA",
    "Runtime": "CUDA",
    "xpu_runtime": "XPU",
    "xpu_driver": "XPU",
    "mtia_runtime": "MTIA",
    "mtia_ccp_events": "MTIA",
    "hpu_op": "HPU",
}
"""Category to the device that torch knows by it; torch calls a device of ROCm CUDA as well."""

_NEWER_PROCESS: Final = re.compile(r"NPU \d+")
"""What the vendor's newer emitter calls a device; torch has its name for it from elsewhere."""

_ASCEND_PROCESS: Final = "Ascend Hardware"


@dataclass(frozen=True, eq=False)
class DeviceLinks:
    """Slices of devices, one row each, in the order in which they were recorded; all columns have the same length n.

    Attributes:
        strings: Texts of the names.
        name: int32[n]; row of `strings`.
        start_ns: int64[n]; clock of the host trace's `start_ns`.
        duration_ns: int64[n]; not negative.
        host_row: int64[n]; row of `HostTrace.events`: the op that the time belongs to; -1 = none.
        is_annotation: bool[n]; a range that somebody named, not work: shown, but not part of any total.
        event: int64[n]; row of `HostTrace.events` that shows the slice; -1 = the trace does not hold it.
    """

    strings: tuple[str, ...]
    name: Int32
    start_ns: Int64
    duration_ns: Int64
    host_row: Int64
    is_annotation: Bool
    event: Int64

    def __len__(self) -> int:
        return len(self.start_ns)


def no_device() -> DeviceLinks:
    """Links of a trace without devices."""
    nothing = np.empty(0, np.int64)
    return DeviceLinks((), np.empty(0, np.int32), nothing, nothing, nothing, np.empty(0, np.bool_), nothing)


def recorded_links(host: HostTrace) -> DeviceLinks:
    """The device rows that a host trace holds itself, with the links that it makes itself.

    Torch lists them all, waits too, and lets an annotation own work that has its id.

    Args:
        host: The trace.

    Returns:
        One row per device slice of the trace, in file order; names are rows of `host.strings`.
    """
    events = host.events
    kinds = np.array([0 if text in DEVICE_CATEGORIES else -1 for text in host.strings], np.int32)
    rows = timed_rows(host, kinds)
    if not len(rows):
        return no_device()
    category = events.category[rows]
    annotation = np.array([text in DEVICE_ANNOTATION_CATEGORIES for text in host.strings], np.bool_)[category]
    return DeviceLinks(
        host.strings,
        events.name[rows],
        events.start_ns[rows],
        events.duration_ns[rows],
        linked_rows(host, rows, launching_rows(host)),
        annotation,
        rows,
    )


def device_name(host: HostTrace) -> str:
    """What the table calls the device, in capitals.

    The trace does not name it. The categories of calls and of work tell, or else the name of the process that stands
    for device 0, unless that is merely the host's own name again.

    Args:
        host: The trace.

    Returns:
        Such as `CUDA` or `RBLN`; the latter where nothing tells.
    """
    for category, name in _CATEGORY_OF.items():
        if category in host.strings and len(host.rows("X", category)):
            return name
    if _ASCEND_PROCESS in host.process_names.values():
        return "NPU"
    name = host.process_names.get(0, "")
    if not name or _NEWER_PROCESS.fullmatch(name):
        return DEFAULT_DEVICE_NAME
    hosts_names = {host.process_names.get(pid) for pid in _host_processes(host)}
    word = re.match(r"[A-Za-z]+", name)
    return word[0].upper() if word and name not in hosts_names else DEFAULT_DEVICE_NAME


def _host_processes(host: HostTrace) -> set[Id]:
    rows = timed_rows(host, kind_table(host))
    return {host.tracks[row].pid for row in np.unique(host.events.track[rows]).tolist()}
