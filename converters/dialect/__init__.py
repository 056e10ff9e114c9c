"""What the rows of a host trace mean: which are ops, which are calls of a runtime, which are work of a device.

Every maker of a device writes Kineto's format in a way of its own. What they have in common is their use of ids and of arrows,
never the names of their calls; so nothing here or above knows a call by its name.
"""

from __future__ import annotations

from .categories import ANNOTATIONS, LAUNCHED, OPS
from .compiled_graphs import compile_id_rows
from .device_rows import DeviceRows, device_rows
from .host_rows import annotation_rows, host_window, op_rows, slice_rows
from .own_runtime import frame_mask, runtime_rows, runtime_tids, submission_mask
from .row_links import NO_ID, is_linked, linked_ids, linked_rows, owner_rows

__all__ = [
    "ANNOTATIONS",
    "LAUNCHED",
    "NO_ID",
    "OPS",
    "DeviceRows",
    "annotation_rows",
    "compile_id_rows",
    "device_rows",
    "frame_mask",
    "host_window",
    "is_linked",
    "linked_ids",
    "linked_rows",
    "op_rows",
    "owner_rows",
    "runtime_rows",
    "runtime_tids",
    "slice_rows",
    "submission_mask",
]
