"""Copies between host and device in a host trace: which rows make them, and which way the data goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from rblnpb.row_order import order_by

from ...dialect import DeviceRows, device_rows
from ...timeline import HostTrace, Int64, Timeline
from .host_stack import HostStack
from .input_checks import COPIES

__all__ = ["COPY", "DOWNLOAD", "LAUNCH", "NOTHING", "UPLOAD", "WAIT", "call_purposes", "copy_directions"]

NOTHING, LAUNCH, WAIT, COPY, UPLOAD, DOWNLOAD = range(6)
"""What a call of a runtime is for, as the row of the device that it leads to tells; COPY: across devices, whichever way."""

_UPLOAD: Final = re.compile(r"HtoD|H2D|HostToDevice|M2D")
_DOWNLOAD: Final = re.compile(r"DtoH|D2H|DeviceToHost|D2M")
_IMPLEMENTED_BY_DEVICES: Final = ("aten::_copy_from", "aten::_copy_from_and_resize")


def call_purposes(host: HostTrace, rows: Int64) -> Int64:
    """What calls of a runtime are for.

    Args:
        host: The trace.
        rows: int64[n]; rows of its events.

    Returns:
        int64[n]; NOTHING where no row of a device has the call's correlation id, and nothing else tells.
    """
    devices = device_rows(host)
    purpose = _device_purposes(host, devices)
    ids = host.events.correlation_id[devices.rows]
    order = order_by(ids)
    place = np.searchsorted(ids[order], host.events.correlation_id[rows])
    found = np.append(order, -1)[place]
    is_it = (found >= 0) & (np.append(ids, 0)[found] == host.events.correlation_id[rows]) & (host.events.correlation_id[rows] != 0)
    told = np.where(is_it, np.append(purpose, NOTHING)[found], NOTHING)
    # Every maker's name for it has this word; traces of some have no row of a device for a wait.
    waits = np.array(["synchronize" in text.lower() for text in host.strings], np.bool_)[host.events.name[rows]]
    return np.where(waits & (told == NOTHING), WAIT, told)


def _device_purposes(host: HostTrace, devices: DeviceRows) -> Int64:
    """int64[n]; for each row of a device what the call that led to it is for."""
    kinds = [LAUNCH if kind in ("compute", "copy", "collective") else WAIT if kind == "sync" else NOTHING for kind in devices.kinds]
    purpose = np.array([*kinds, NOTHING], np.int64)[devices.kind]
    direction = _directions(host.strings)[host.events.name[devices.rows]]
    return np.where((purpose == LAUNCH) & (direction != NOTHING), direction, purpose)


def _directions(names: Sequence[str]) -> Int64:
    """int64[n]; UPLOAD, DOWNLOAD or NOTHING."""
    found = [UPLOAD if _UPLOAD.search(text) else DOWNLOAD if _DOWNLOAD.search(text) else NOTHING for text in names]
    return np.array(found, np.int64)


def copy_directions(timeline: Timeline, host: HostTrace, stack: HostStack, purpose: Int64) -> Int64:
    """Which rows of a stack copy across devices, and which way.

    Args:
        timeline: Merged.
        host: `timeline.host`.
        stack: Its rows.
        purpose: int64[n]; of those that are calls, else NOTHING.

    Returns:
        int64[n]; UPLOAD, DOWNLOAD, COPY where the way is not known, NOTHING elsewhere. Of operators that copy within each other,
        all have it, up to the one that was called first.
    """
    found = np.where(purpose >= COPY, purpose, NOTHING)
    found[stack.named(*_IMPLEMENTED_BY_DEVICES) & stack.is_op] = COPY
    slices = timeline.slices
    shown = np.flatnonzero((slices.event >= 0) & (slices.host_row >= 0))
    direction = _directions(host.strings)[host.events.name[slices.event[shown]]]
    shown, direction = shown[direction != NOTHING], direction[direction != NOTHING]
    place = np.full(len(host.events) + 1, -1, np.int64)
    place[stack.row] = np.arange(len(stack))
    owner = place[slices.host_row[shown]]
    copies = stack.named(*COPIES)
    is_copy = (owner >= 0) & copies[owner] if len(owner) else np.zeros(0, np.bool_)
    found[owner[is_copy]] = direction[is_copy]
    climbing = np.flatnonzero(found != NOTHING)
    while len(climbing):
        above = stack.op_parent[climbing]
        is_one = (above >= 0) & copies[above]
        climbing, above = climbing[is_one], above[is_one]
        # A way that is known stands, whichever of several calls tells it.
        np.maximum.at(found, above, found[climbing])
        climbing = np.unique(above)
    return found
