"""What the categories of a host trace mean: which rows are ops, which are calls of a runtime, which are work of a device.

A category alone does not always tell: `privateuse1_driver` is a wait in the vendor's first emitter and a collective in its newer
one, and `privateuse1_runtime` stands for markers on host threads as well as for rows of a device. Both emitters are told apart by
the marker that they put on the launching thread (RBLN-SW/torch-rbln, `rbln_kineto_emitter`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from .timeline import ABSENT, Bool, HostTrace, Int64

__all__ = ["ANNOTATIONS", "OPS", "DeviceRows", "device_rows", "op_rows", "slice_rows"]

OPS: Final = ("cpu_op", "Operator")
"""Categories of operators: the only rows that own a launch. Capitals: torch up to 1.10."""

ANNOTATIONS: Final = ("user_annotation", "python_function")
"""Categories of ranges that somebody named, or a tracer saw: a launch may lie in one, none owns one."""

_DEVICE_KINDS: Final = {
    "kernel": ("compute", True),
    "Kernel": ("compute", True),
    "gpu_memcpy": ("copy", True),
    "Memcpy": ("copy", True),
    "gpu_memset": ("copy", True),
    "Memset": ("copy", True),
    "mtia_ccp_events": ("compute", True),
    "mtia_workloadd": ("compute", True),
    "hpu_op": ("compute", True),
    "cuda_sync": ("sync", False),
    "gpu_user_annotation": ("annotation", False),
}
"""Category to (kind, whether it is work), for rows that are a device's in every dialect."""

_CALLS: Final = ("cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "xpu_driver", "mtia_runtime")
"""Calls of other makers' runtimes, which launch work by correlation id."""

_VENDOR_RUNTIME: Final = "privateuse1_runtime"
_VENDOR_DRIVER: Final = "privateuse1_driver"
_NEWER_MARKER: Final = "rbln launch"


def slice_rows(host: HostTrace, *categories: str) -> Int64:
    """Rows of complete slices ("X" with a start and a duration that is not negative) of these categories, ascending."""
    rows = host.rows("X", *categories)
    events = host.events
    timed: Int64 = rows[(events.start_ns[rows] != ABSENT) & (events.duration_ns[rows] >= 0)]
    return timed


def op_rows(host: HostTrace) -> Int64:
    """Rows of operators, ascending: what may own a launch."""
    return slice_rows(host, *OPS)


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """What a host trace holds of devices; three groups of rows of its events, each ascending.

    Attributes:
        rows: int64[n]; slices of devices.
        kinds: n kinds, such as "compute".
        is_work: bool[n]; whether each is busy time.
        markers: int64[m]; zero-length rows of the vendor on host threads, one a launch, joined by launch id.
        calls: int64[k]; runtime calls on host threads, joined by correlation id.
    """

    rows: Int64
    kinds: tuple[str, ...]
    is_work: Bool
    markers: Int64
    calls: Int64

    def __len__(self) -> int:
        return len(self.rows)


def device_rows(host: HostTrace) -> DeviceRows:
    """The device side of a host trace, as its dialect writes it."""
    vendor = slice_rows(host, _VENDOR_RUNTIME, _VENDOR_DRIVER)
    is_on_host = _is_on_host(host, vendor)
    markers = vendor[is_on_host & (host.events.launch_id[vendor] != 0)]
    is_newer = any(host.strings[row] == _NEWER_MARKER for row in np.unique(host.events.name[markers]).tolist())
    kinds = dict(_DEVICE_KINDS)
    kinds[_VENDOR_RUNTIME] = ("host", False)
    kinds[_VENDOR_DRIVER] = ("collective", True) if is_newer else ("sync", False)
    candidates = slice_rows(host, *kinds)
    vendor_codes = [code for code, text in enumerate(host.strings) if text in (_VENDOR_RUNTIME, _VENDOR_DRIVER)]
    is_vendor = np.isin(host.events.category[candidates], vendor_codes)
    rows = candidates[~is_vendor | ~_is_on_host(host, candidates)]
    of_category = [kinds.get(text, ("", False)) for text in host.strings]
    category = host.events.category[rows].tolist()
    return DeviceRows(
        rows=rows,
        kinds=tuple(of_category[code][0] for code in category),
        is_work=np.array([of_category[code][1] for code in category], np.bool_),
        markers=markers,
        calls=slice_rows(host, *_CALLS),
    )


def _is_on_host(host: HostTrace, rows: Int64) -> Bool:
    """Whether each row stands in a process that also runs operators or annotations."""
    pids = {host.tracks[track].pid for track in np.unique(host.events.track[slice_rows(host, *OPS, *ANNOTATIONS)]).tolist()}
    on_host = np.array([track.pid in pids for track in host.tracks], np.bool_)
    return on_host[host.events.track[rows]] if len(rows) else np.zeros(0, np.bool_)
