"""Rows of Huawei's Ascend: a process whose slices have no category, and names that say what they are.

torch_npu writes the tasks of the device into a process of this name. Beside it stand processes of derived rows, "Overlap Analysis"
and "Communication" among them, which repeat the same time and are no work of their own.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ..timeline import Bool, HostTrace, Int32, Int64
from .categories import KINDS, has_category

__all__ = ["task_kinds", "task_mask"]

_PROCESS: Final = "Ascend Hardware"
_KINDS: Final = (
    # Tasks of the scheduler are called as their type is; some carry the name of the queue's entry.
    (
        re.compile(
            r"(?:event|notify)_?(?:wait|record|reset)\w*|write_value\w*|profil(?:ing|er)_\w+|place_?holder\w*", re.IGNORECASE
        ),
        "sync",
    ),
    (re.compile(r"memcpy\w*|sdma\w*|pcie_dma\w*", re.IGNORECASE), "copy"),
    (re.compile(r"hcom_.*", re.IGNORECASE), "collective"),
)


def task_mask(host: HostTrace) -> Bool:
    """bool[n]; which events of the trace are of such a device, if they are slices."""
    events = host.events
    is_hardware = np.array([host.process_names.get(track.pid, "").startswith(_PROCESS) for track in host.tracks], np.bool_)
    if not is_hardware.any():
        return np.zeros(len(events), np.bool_)
    mask: Bool = is_hardware[events.track] & has_category(host, "")[events.category]
    return mask


def task_kinds(host: HostTrace, slices: Int64) -> Int32:
    """int32[n]; for each of these slices of the trace, if it is a task of such a device: row of `KINDS`, else -1."""
    kind = np.full(len(slices), -1, np.int32)
    rows = np.flatnonzero(task_mask(host)[slices])
    names, of_row = np.unique(host.events.name[slices[rows]], return_inverse=True)
    by_name = np.array([KINDS.index(_kind(host.strings[name])) for name in names.tolist()], np.int32)
    kind[rows] = by_name[of_row] if len(rows) else by_name
    return kind


def _kind(name: str) -> str:
    return next((kind for pattern, kind in _KINDS if pattern.fullmatch(name)), "compute")
